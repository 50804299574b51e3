/* SPDX-License-Identifier: Apache-2.0 */
/* The temp folder of one run, or of all runs of a session. */
#ifndef CORDON_LAUNCH_TEMP_H
#define CORDON_LAUNCH_TEMP_H

#include "launch/settings.h"

/* Creates the folder that the settings ask for below the shared one and returns its path in the
   arena. On failure a sentence is in the settings' error. For settings.make_temp. */
int temp_make(struct settings *s, struct str shared, struct str *out);

/* Linux: makes the folder that temp_make() has only named, for --temp=own without a session. If it
   cannot be made, programs find no TMPDIR and take the temp folder. */
void temp_make_own(struct settings *s);

/* Linux: caches that programs keep in the temp folder under one name for each user. The first ones
   hold code that the program runs later. */
enum temp_cache {
    TEMP_JEST = 0,
    TEMP_TSX,
    TEMP_PLAYWRIGHT,
    TEMP_PYTEST,
    TEMP_NUGET,
    TEMP_CACHES,
    TEMP_CODE_END = TEMP_PYTEST
};

/* Where it lies; false if that is not known. */
bool temp_cache(enum temp_cache which, struct str temp, char *out, size_t capacity);

/* The list of what a session's runs created in the caller's temp folder, for --temp=own; -1 in
   record: there is no session. On failure a sentence is in the settings' error. */
int temp_record(struct settings *s, const char *folder, int *record);

/* From here on other runs may remove it. */
void temp_release(struct settings *s);

/* Removes the folder and everything in it without following links; true if there was something. */
bool temp_remove(const char *path);

#endif
