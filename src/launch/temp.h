/* SPDX-License-Identifier: Apache-2.0 */
/* The temp folder of one run, or of all runs of a session. */
#ifndef CORDON_LAUNCH_TEMP_H
#define CORDON_LAUNCH_TEMP_H

#include "launch/settings.h"

/* Creates the folder that the settings ask for below the shared one and returns its path in the
   arena. On failure a sentence is in the settings' error. For settings.make_temp. */
int temp_make(struct settings *s, struct str shared, struct str *out);

/* The list of what a session's runs created in the caller's temp folder, for --temp=own; -1 in
   record: there is no session. On failure a sentence is in the settings' error. */
int temp_record(struct settings *s, const char *folder, int *record);

/* From here on other runs may remove it. */
void temp_release(struct settings *s);

/* Removes the folder and everything in it without following links; true if there was something. */
bool temp_remove(const char *path);

#endif
