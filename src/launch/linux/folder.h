/* SPDX-License-Identifier: Apache-2.0 */
/* Lists a folder without malloc: a process forked from a multithreaded program must not wait for a
   lock whose holder does not exist in it. */
#ifndef CORDON_LAUNCH_LINUX_FOLDER_H
#define CORDON_LAUNCH_LINUX_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

struct folder {
    int fd; /* the caller's */
    long filled, at;
    bool is_link; /* the name of the last call is one */
    _Alignas(8) char entries[4096];
};

static inline struct folder folder_of(int fd)
{
    return (struct folder){.fd = fd};
}

/* The next name except "." and "..", valid until the next call; NULL at the end. */
const char *folder_next(struct folder *f);

#endif
