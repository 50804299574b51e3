/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the journal of --undo of each change before it is made. Without --undo nothing happens. */
#include <errno.h>
#include <stdio.h>

#include "broker/windows/broker.h"
#include "launch/windows/wine.h"
#include "undo/keep.h"
#include "undo/windows/fs.h"

/* A name as the journal wants it. */
struct told {
    struct keep_place place;
    struct fs_stat st;
    struct place found;
};

static void told_close(struct told *t)
{
    place_close(&t->found);
}
#define auto_told __attribute__((cleanup(told_close)))

/* Said at once: from here on it is too late to stop. */
static void report_lost(struct request *r, struct str path, const char *reason)
{
    request_event(r, &(struct audit_event){.type = AUDIT_ALLOW,
                                           .op = AUDIT_FILE_WRITE,
                                           .target = path,
                                           .verdict = CORDON_ALLOW,
                                           .rule = str_of(policy_rule_id(RULE_UNDO_LOST)),
                                           .why = str_of(reason),
                                           .notable = true});
}

/*
 * The journal answered -EALREADY: true if it is to be asked again, from the start, because the lock
 * was released. A long copy is made by the first worker that needs it; others on that file look
 * again until it is there.
 */
static bool await_copy(struct broker *b, int rc)
{
    enum { LOOK_MS = 20 };
    if (rc != -EALREADY)
        return false;
    struct keep_copying *copy = keep_next_copy(b->undo);
    LeaveCriticalSection(&b->undo_lock);
    if (copy)
        keep_make_copy(copy);
    else
        Sleep(LOOK_MS);
    EnterCriticalSection(&b->undo_lock);
    return true;
}

/* Under the undo lock. True if the change may be made; otherwise it has been answered, and the lock
   is released. */
static bool answer(struct request *r, struct str path, int rc)
{
    struct broker *b = r->broker;
    uint64_t count;
    char why[160];
    const char *reason = keep_lost(b->undo, &count);
    bool lost = count != b->undo_lost;
    b->undo_lost = count;
    if (rc == 0) {
        if (lost)
            report_lost(r, path, reason);
        return true;
    }
    LeaveCriticalSection(&b->undo_lock);
    if (rc == -ENOSPC) {
        snprintf(why, sizeof why, "it could not be taken back: %s", reason ? reason : "not kept");
        request_deny_text(r, AUDIT_FILE_WRITE, path, str_of(policy_rule_id(RULE_UNDO_STRICT)),
                          str_of(why),
                          STR("--undo instead of --undo=strict, or a higher --undo-limit"));
    }
    request_answer(r, rc == -ENOSPC         ? STATUS_DISK_FULL
                      : rc == -EXDEV        ? STATUS_NOT_SAME_DEVICE
                      : rc == -ENAMETOOLONG ? STATUS_NAME_TOO_LONG
                                            : STATUS_SHARING_VIOLATION);
    return false;
}

/* A stream of a file is not covered. */
static bool is_covered(const struct request *r, struct str path)
{
    return r->broker->undo && str_find_char(path, ':', 2) >= path.n;
}

static const char *slashes(struct request *r, struct str path)
{
    char *copy = (char *)arena_copy(&r->arena, path).p;
    if (copy)
        fs_use_slashes(copy);
    return copy;
}

/* The open object itself. */
static int tell_open(struct request *r, HANDLE file, struct str path, struct told *out)
{
    const char *text = slashes(r, path);
    if (!text)
        return -ENOMEM;
    int rc = fs_stat_of(file, &out->st);
    out->place = (struct keep_place){(fs_file)file, "", text, &out->st};
    return rc ? rc : path.n > UNDO_LONGEST_PATH ? -ENAMETOOLONG : 0;
}

static int tell_text(struct request *r, const struct place *place, struct str path,
                     struct told *out)
{
    const char *text = slashes(r, path);
    const char *leaf = text ? strrchr(text, '/') : NULL;
    if (!leaf || path.n > UNDO_LONGEST_PATH)
        return leaf ? -ENAMETOOLONG : -ENOMEM;
    out->place = (struct keep_place){(fs_file)place->folder, leaf + 1, text, NULL};
    return 0;
}

/* A name in a folder. What is there now is looked up, and its name taken as the folder spells
   it. */
static int tell_name(struct request *r, const struct place *place, struct told *out)
{
    HANDLE file;
    struct str path = place->path.text;
    bool there = place_look(place, false, &file) >= 0;
    int rc = there ? fs_stat_of(file, &out->st) : 0;
    struct str spelled = there ? place_path_of(r, file) : STR_NONE;
    if (there)
        NtClose(file);
    if (rc == 0)
        rc = tell_text(r, place, spelled.p && str_eqi(spelled, path) ? spelled : path, out);
    if (there && rc == 0)
        out->place.st = &out->st;
    return rc;
}

/* The name of an open object. */
static int tell_own_name(struct request *r, HANDLE file, struct str path, struct told *out)
{
    struct path name = {.class = PATH_FILE, .text = path, .base = path};
    struct fs_stat st;
    int rc = fs_stat_of(file, &st);
    if (rc)
        return rc;
    if (place_find(r, &name, &out->found) < 0 || !out->found.folder)
        return -EAGAIN;
    rc = tell_name(r, &out->found, out);
    if (rc == 0 && (!out->place.st || st.inode != out->st.inode || st.device != out->st.device))
        rc = -EAGAIN;
    return rc;
}

/* Keeps an open file as it is, before it changes in the given way. */
static bool keep_file(struct request *r, HANDLE file, struct str path,
                      int (*keep)(struct keep *, const struct keep_place *))
{
    struct told told;
    if (!is_covered(r, path))
        return true;
    EnterCriticalSection(&r->broker->undo_lock);
    int rc;
    do {
        rc = tell_open(r, file, path, &told);
        if (rc == 0)
            rc = keep(r->broker->undo, &told.place);
    } while (await_copy(r->broker, rc));
    bool good = answer(r, path, rc);
    if (good)
        LeaveCriticalSection(&r->broker->undo_lock);
    return good;
}

bool record_write(struct request *r, HANDLE file, struct str path)
{
    return keep_file(r, file, path, keep_write);
}

bool record_attributes(struct request *r, HANDLE file, struct str path)
{
    return keep_file(r, file, path, keep_attributes);
}

bool record_create(struct request *r, const struct place *place, uint32_t type)
{
    auto_told struct told told = {0};
    if (!r->broker->undo)
        return true;
    EnterCriticalSection(&r->broker->undo_lock);
    int rc = is_covered(r, place->path.text) ? tell_name(r, place, &told) : 0;
    if (rc == 0 && told.place.path)
        rc = keep_create(r->broker->undo, &told.place, type);
    return answer(r, place->path.text, rc);
}

bool record_remove(struct request *r, HANDLE file, struct str path)
{
    auto_told struct told told = {0};
    if (!r->broker->undo)
        return true;
    EnterCriticalSection(&r->broker->undo_lock);
    int rc;
    do {
        told_close(&told);
        rc = is_covered(r, path) ? tell_own_name(r, file, path, &told) : 0;
        if (rc == 0 && told.place.path)
            rc = keep_remove(r->broker->undo, &told.place);
    } while (await_copy(r->broker, rc));
    return answer(r, path, rc);
}

/* The new spelling of a name: of this file, or of one that it replaces. The record of a rename names
   the one that is there, and the spelling is noted when the rename is done. */
static int spell(struct request *r, const struct told *own, const struct place *to, bool link,
                 struct told *out)
{
    const char *wanted = slashes(r, to->path.text);
    if (!out->place.st || wine_keeps_spelling() || !wanted || strcmp(out->place.path, wanted) == 0)
        return wanted ? 0 : -ENOMEM;
    if (link || (out->st.inode == own->st.inode && out->st.device == own->st.device))
        return tell_text(r, to, to->path.text, out);
    r->spelled = out->place.path;
    r->spelling = arena_copy(&r->arena, to->path.text);
    return r->spelling.p ? 0 : -ENOMEM;
}

/* One attempt, under the lock. */
static int try_rename(struct request *r, HANDLE file, struct str path, const struct place *to,
                      bool link)
{
    auto_told struct told first = {0}, second = {0};
    struct broker *b = r->broker;
    r->spelled = NULL;
    int rc = tell_own_name(r, file, path, &first);
    if (rc == 0)
        rc = tell_name(r, to, &second);
    if (rc == 0)
        rc = spell(r, &first, to, link, &second);
    if (rc == 0)
        rc = link ? keep_link(b->undo, &first.place, &second.place)
                  : keep_rename(b->undo, &first.place, &second.place, false);
    return rc;
}

bool record_rename(struct request *r, HANDLE file, struct str path, const struct place *to,
                   bool link)
{
    struct broker *b = r->broker;
    int rc;
    if (!b->undo)
        return true;
    EnterCriticalSection(&b->undo_lock);
    do
        rc = try_rename(r, file, path, to, link);
    while (await_copy(b, rc));
    return answer(r, path, rc);
}

/* The rename is done, and its new name has another spelling than the one that was there. */
static void note_spelling(struct request *r)
{
    struct path name = {.class = PATH_FILE, .text = r->spelling, .base = r->spelling};
    auto_told struct told from = {0};
    const char *path = slashes(r, r->spelling);
    if (!path || place_find(r, &name, &from.found) < 0 || !from.found.folder ||
        tell_name(r, &from.found, &from) || !from.place.st)
        return;
    struct keep_place to = {from.place.parent, strrchr(path, '/') + 1, path, NULL};
    from.place.path = r->spelled;
    from.place.leaf = strrchr(r->spelled, '/') + 1;
    if (keep_rename(r->broker->undo, &from.place, &to, false) == 0)
        keep_after(r->broker->undo, 0, NULL);
}

void record_after(struct request *r, NTSTATUS status, const struct place *made)
{
    auto_told struct told told = {0};
    struct broker *b = r->broker;
    if (!b->undo)
        return;
    bool known = made && status >= 0 && tell_name(r, made, &told) == 0;
    keep_after(b->undo, status < 0 ? EIO : 0, known ? &told.place : NULL);
    if (r->spelled && status >= 0)
        note_spelling(r);
    r->spelled = NULL;
    LeaveCriticalSection(&b->undo_lock);
}

bool record_replace(struct request *r, HANDLE file, struct str path, uint32_t type)
{
    auto_told struct told told = {0};
    struct broker *b = r->broker;
    if (!b->undo)
        return true;
    EnterCriticalSection(&b->undo_lock);
    int rc;
    do {
        told_close(&told);
        rc = is_covered(r, path) ? tell_own_name(r, file, path, &told) : 0;
        if (rc == 0 && told.place.path)
            rc = keep_replace(b->undo, &told.place, type);
    } while (await_copy(b, rc));
    return answer(r, path, rc);
}
