/*
 * Names of objects that programs of one user share: those of msys2 and Cygwin keep their processes,
 * terminals and locks in an object directory \BaseNamedObjects\msys-2.0S5-KEY (cygwin1S5-KEY). In a
 * run it is one of the run's own, or its programs would meet those outside.
 */
#ifndef CORDON_WIRE_SHARED_NAME_H
#define CORDON_WIRE_SHARED_NAME_H

#include <stddef.h>
#include <stdint.h>

enum { SHARED_NAME_TAG = 9 }; /* units that a name of the run is longer */

/* Writes the name with the run's number behind it and returns its units; 0 if it is none of these
   names, or does not fit. */
size_t shared_name_of_run(const uint16_t *name, size_t units, uint32_t run, uint16_t *out,
                          size_t room);

#endif
