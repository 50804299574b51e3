/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of objects in the directory that all sessions share, where the token of a run may make
 * none: those become objects of the run's own directory. msys2 and Cygwin keep their processes,
 * terminals and locks below such a name (\\BaseNamedObjects\\msys-2.0S5-KEY, cygwin1S5-KEY), and in
 * a run would meet those outside: always the run's own.
 */
#ifndef CORDON_WIRE_SHARED_NAME_H
#define CORDON_WIRE_SHARED_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum shared_name {
    SHARED_NAME_NONE,   /* of a session, or none of these */
    SHARED_NAME_GLOBAL, /* the run's own if the shared one is refused */
    SHARED_NAME_ALWAYS  /* the run's own, even if a shared one exists */
};

/* relative: the name stands below a directory's handle. *start: where the name in the run's own
   directory begins. */
enum shared_name shared_name_read(const uint16_t *name, size_t units, bool relative, size_t *start);

#endif
