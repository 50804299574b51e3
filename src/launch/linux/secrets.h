/* SPDX-License-Identifier: Apache-2.0 */
/* The files and folders that deny-read rules name on this machine: final paths and inodes, looked
   up once before the start. */
#ifndef CORDON_LAUNCH_LINUX_SECRETS_H
#define CORDON_LAUNCH_LINUX_SECRETS_H

#include <sys/stat.h>

#include "base/arena.h"
#include "policy/rules.h"

struct secret {
    struct str path; /* final as far as it exists; NUL-terminated */
    bool exists;
    dev_t device;
    ino_t inode;
    bool fixed;     /* no writable folder contains it, so the kernel itself can prevent reading */
    uint32_t entry; /* of the settings' deny_read, from 1 */
};

struct secrets {
    struct secret *items;
    size_t count;
    struct str *allowed; /* final paths of allow-read */
    size_t allowed_count;
    struct str hidden; /* a folder outside all writable ones that only the kernel closes; may be
                          empty */
};

/* Looks up the rules of the compiled settings; false if memory runs out. */
bool secrets_find(struct arena *arena, const struct policy_settings *s, struct secrets *out);

#endif
