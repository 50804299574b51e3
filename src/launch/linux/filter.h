/* SPDX-License-Identifier: Apache-2.0 */
/* The seccomp filter, generated from calls.def: which system calls pass, are refused, or go to the
   broker. */
#ifndef CORDON_LAUNCH_LINUX_FILTER_H
#define CORDON_LAUNCH_LINUX_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILTER_MAX = 1024 };

/* Numbers and shapes of one architecture. */
enum filter_arch { FILTER_X86_64 = 0, FILTER_ARM64 };

struct filter_plan {
    int landlock_abi; /* what the kernel's Landlock supports */
    bool reads;       /* every open is judged, including those for reading */
    bool datagrams;   /* the network is on */
};

/* Writes the program; returns its length, or 0 if it does not fit. */
size_t filter_make(enum filter_arch arch, const struct filter_plan *plan, struct sock_filter *out,
                   size_t capacity);

/* The name of a call in this table, for messages; NULL if it is not there. */
const char *filter_name(enum filter_arch arch, long number);

#endif
