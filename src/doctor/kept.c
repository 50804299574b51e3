/* SPDX-License-Identifier: Apache-2.0 */
/* What Cordon keeps on this machine beyond a run: docs/questions.md has the same list. */
#include <stdio.h>

#include "doctor/doctor.h"
#include "launch/disk.h"
#include "undo/store.h"

static void keep(struct doctor *d, const char *what, struct str folder, const char *name,
                 const char *remove)
{
    struct doctor_kept kept = {.what = what, .remove = remove};
    int n = snprintf(kept.path, sizeof kept.path, "%.*s%s", STR_ARG(folder), name);
    if (n > 0 && n < (int)sizeof kept.path && disk_there(kept.path) && d->kept_count < DOCTOR_KEPT)
        d->kept[d->kept_count++] = kept;
}

static void look_for_session(void *context, struct str name)
{
    bool *any = context;
    *any |= str_starts(name, STR("cordon-session-"));
}

static void look_for_journal(void *context, struct str name)
{
    bool *any = context;
    *any |= name.n && ascii_is_digit(name.p[0]);
}

void doctor_keep(struct doctor *d)
{
    enum { MOST_IN_TEMP = 20000 };
    auto_arena struct arena arena = {0};
    bool windows = disk_dialect() == PATH_WINDOWS;
    struct str local, home, temp = STR("/tmp");
    bool sessions = false, any = false;
    char journals[1024];
    if (store_name(journals, sizeof journals))
        disk_children(&arena, str_of(journals), MOST_IN_TEMP, look_for_journal, &any);
    if (any)
        keep(d, "journals of --undo", str_of(journals), "", "cordon runs --drop all");
    if (windows && disk_variable(&arena, STR("LOCALAPPDATA"), &local)) {
        keep(d, "caches of --for", local, "\\cordon-tools", "delete the folder");
        keep(d, "how programs start here", local, "\\cordon-ladder.txt", "delete the file");
    } else if (!windows && disk_variable(&arena, STR("XDG_CACHE_HOME"), &local) &&
               str_starts(local, STR("/"))) {
        keep(d, "caches of --for", local, "/cordon-tools", "delete the folder");
        keep(d, "Wine prefixes", local, "/cordon", "delete the folder");
    } else if (!windows && disk_variable(&arena, STR("HOME"), &home)) {
        keep(d, "caches of --for", home, "/.cache/cordon-tools", "delete the folder");
        keep(d, "Wine prefixes", home, "/.cache/cordon", "delete the folder");
    }
    disk_variable(&arena, windows ? STR("TEMP") : STR("TMPDIR"), &temp);
    disk_children(&arena, temp, MOST_IN_TEMP, look_for_session, &sessions);
    if (sessions)
        keep(d, "folders of sessions (cordon-session-*)", temp, "",
             "delete them, or leave them: a later run of a session removes those that were unused "
             "for a day");
}
