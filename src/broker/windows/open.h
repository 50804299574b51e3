/* SPDX-License-Identifier: Apache-2.0 */
/* One open of the tree while it is handled: shared by open.c (files) and device.c (the rest). */
#ifndef CORDON_BROKER_WINDOWS_OPEN_H
#define CORDON_BROKER_WINDOWS_OPEN_H

#include "broker/windows/ask.h"

enum {
    /* With DELETE a file can be renamed to anything; with the next two its protection can be
       changed. */
    NEVER_GIVEN = DELETE | WRITE_DAC | WRITE_OWNER | ACCESS_SYSTEM_SECURITY
};

/* The caller's request. */
struct open_wish {
    ACCESS_MASK access;
    ULONG share, disposition, options, attributes;
    uint64_t flags;
    LARGE_INTEGER allocation;
    SECURITY_DESCRIPTOR *security; /* of a new file; NULL: inherited from its folder */
    bool maximum;                  /* MAXIMUM_ALLOWED: denied rights are left out */
};

/* Opens a name below a folder as the wish says; w NULL: without attributes, list and size. */
NTSTATUS open_at(HANDLE folder, UNICODE_STRING *leaf, ACCESS_MASK access, ULONG share,
                 ULONG disposition, ULONG options, const struct open_wish *w, HANDLE *out);

/* Gives the handle to the process without these rights, closes it here, and answers. */
void open_give(struct request *r, const struct open_wish *w, HANDLE file, ACCESS_MASK without,
               ULONG_PTR information);

/* Judges and answers an open of a name that is not a file. */
void open_device(struct request *r, struct open_wish *w, const struct path *path);

/* A socket is created by opening AFD with an attribute that says which kind. The tree's own call
   continues; only if its token was refused is the socket opened here, with the same attribute. */
void open_device_socket(struct request *r, struct open_wish *w);

#endif
