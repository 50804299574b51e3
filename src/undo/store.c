/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of journals: listing, reading, dropping. */
#include "undo/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cordon.h"

fs_file store_lock(fs_file store)
{
    fs_file file = fs_open_file(store, ".lock", FS_CREATE);
    if (file == -EEXIST)
        file = fs_open_file(store, ".lock", FS_CHANGE);
    int rc = file < 0 ? 0 : fs_lock(file, true, true);
    if (rc == 0)
        return file;
    fs_close(file);
    return rc;
}

/* An id is one name, and never a hidden one. */
static bool is_id(const char *id)
{
    return id[0] && id[0] != '.' && strlen(id) < STORE_LONGEST_ID && !strchr(id, '/');
}

fs_file store_open_run(fs_file store, const char *id)
{
    return is_id(id) ? fs_open_folder(store, id) : -ENOENT;
}

fs_file store_take_lock(fs_file folder, bool exclusive, bool *live)
{
    fs_file file = fs_open_file(folder, "lock", FS_CHANGE);
    *live = file >= 0 && fs_lock(file, exclusive, false) == -EWOULDBLOCK;
    if (*live) {
        fs_close(file);
        file = -1;
    }
    return file;
}

static uint64_t bytes_in(fs_file folder)
{
    auto_arena struct arena arena = {0};
    const char **names;
    size_t count;
    struct fs_stat st;
    uint64_t total = 0;
    if (fs_list(folder, &arena, &names, &count))
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (fs_stat(folder, names[i], &st))
            continue;
        if (fs_is_file(st.mode))
            total += st.taken;
        if (fs_is_folder(st.mode) && strcmp(names[i], "objects") == 0) {
            fs_file below = fs_open_folder(folder, names[i]);
            total += below < 0 ? 0 : bytes_in(below);
            fs_close(below);
        }
    }
    return total;
}

/* The head alone; its strings lie in the arena. Most are short. */
static int read_head(fs_file folder, struct arena *arena, struct undo_head *out)
{
    static const size_t sizes[] = {4096, UNDO_LONGEST_RECORD};
    struct undo_record record;
    int rc = 0;
    fs_file file = fs_open_file(folder, "log", FS_READ_KEPT);
    for (size_t i = 0; i < 2 && rc == 0; i++) {
        size_t at = 0;
        char *text = arena_alloc(arena, sizes[i]);
        int64_t n = file < 0 || !text ? -1 : fs_read(file, text, sizes[i], 0);
        rc = n < 0 ? CORDON_E_SYNTAX : undo_read((struct str){text, (size_t)n}, &at, out, &record);
    }
    fs_close(file);
    return rc == 1 ? 0 : rc == 0 ? CORDON_E_SYNTAX : rc;
}

static int newest_first(const void *a, const void *b)
{
    const struct store_run *left = a, *right = b;
    if (left->head.time != right->head.time)
        return left->head.time > right->head.time ? -1 : 1;
    return strcmp(right->id, left->id);
}

static struct str read_undone(fs_file folder, struct arena *arena)
{
    char text[STORE_LONGEST_ID];
    fs_file file = fs_open_file(folder, "undone", FS_READ);
    int64_t n = file < 0 ? -1 : fs_read(file, text, sizeof text, 0);
    fs_close(file);
    return n > 0 ? arena_copy(arena, (struct str){text, (size_t)n}) : STR_NONE;
}

static void look_at(fs_file folder, struct arena *arena, struct store_run *run)
{
    auto_arena struct arena scratch = {0};
    fs_file lock = store_take_lock(folder, false, &run->live);
    uint64_t length;
    bool ended = store_take_length(lock, &length);
    struct undo_head *h = &run->head;
    fs_close(lock);
    int rc = read_head(folder, &scratch, h);
    run->other = rc == CORDON_E_UNKNOWN;
    run->damaged = rc && !run->other;
    run->bytes = bytes_in(folder);
    run->undone = read_undone(folder, arena);
    struct fs_stat st;
    run->empty = fs_stat(folder, "empty", &st) == 0;
    if (rc) {
        *h = (struct undo_head){0};
        return;
    }
    h->run = arena_copy(arena, h->run);
    h->session = arena_copy(arena, h->session);
    h->command = arena_copy(arena, h->command);
    h->undoes = arena_copy(arena, h->undoes);
    run->half = h->undoes.n && !run->undone.n && !run->live && !ended;
    for (uint32_t i = 0; i < h->root_count; i++)
        h->roots[i].path = arena_copy(arena, h->roots[i].path);
}

static int later_name_first(const void *a, const void *b)
{
    return strcmp(*(const char *const *)b, *(const char *const *)a);
}

/* The names in the store. An id begins with its date: the newest come first. */
static int list_names(fs_file store, struct arena *arena, const char ***names, size_t *count)
{
    int rc = fs_list(store, arena, names, count);
    if (rc)
        return rc == -ENOMEM ? CORDON_E_NOMEM : CORDON_E_OPEN;
    if (*count)
        qsort(*names, *count, sizeof **names, later_name_first);
    return 0;
}

int store_list(fs_file store, struct arena *arena, struct store_run **out, size_t *count)
{
    auto_arena struct arena scratch = {0};
    struct store_run *runs = NULL;
    const char **names;
    size_t n = 0, capacity = 0, name_count;
    int rc = list_names(store, &scratch, &names, &name_count);
    if (rc)
        return rc;
    for (size_t i = 0; rc == 0 && n < STORE_MOST_RUNS && i < name_count; i++) {
        fs_file folder = store_open_run(store, names[i]);
        if (folder < 0)
            continue;
        if (n == capacity) {
            struct store_run *more = arena_grow(arena, runs, &capacity, sizeof *runs);
            rc = more ? 0 : CORDON_E_NOMEM;
            runs = more ? more : runs;
        }
        if (rc == 0) {
            runs[n] = (struct store_run){0};
            snprintf(runs[n].id, sizeof runs[n].id, "%.39s", names[i]);
            look_at(folder, arena, &runs[n++]);
        }
        fs_close(folder);
    }
    if (rc)
        return rc;
    if (n)
        qsort(runs, n, sizeof *runs, newest_first);
    *out = runs;
    *count = n;
    return 0;
}

static void empty_folder(fs_file folder)
{
    auto_arena struct arena arena = {0};
    const char **names;
    size_t count;
    if (fs_list(folder, &arena, &names, &count))
        return;
    for (size_t i = 0; i < count; i++)
        fs_remove(folder, names[i], false);
}

bool store_drop(fs_file store, const char *id)
{
    fs_file folder = store_open_run(store, id);
    bool live;
    if (folder < 0)
        return false;
    fs_file lock = store_take_lock(folder, true, &live);
    if (!live) {
        fs_file objects = fs_open_folder(folder, "objects");
        if (objects >= 0) {
            empty_folder(objects);
            fs_close(objects);
            fs_remove(folder, "objects", true);
        }
        empty_folder(folder);
    }
    fs_close(lock);
    fs_close(folder);
    return !live && fs_remove(store, id, true) == 0;
}

static bool has_same_root(const struct store_run *a, const struct store_run *b)
{
    return a->head.root_count && b->head.root_count &&
           str_eq(a->head.roots[0].path, b->head.roots[0].path);
}

static void note_pruned(const struct store_run *run, struct store_pruned *out)
{
    char root[UNDO_LONGEST_PATH] = "";
    if (!out || run->empty)
        return;
    if (run->head.root_count)
        snprintf(root, sizeof root, "%.*s", STR_ARG(run->head.roots[0].path));
    if (out->count++ == 0)
        snprintf(out->root, sizeof out->root, "%s", root);
    out->others = out->others || strcmp(out->root, root) != 0;
}

/* An undo that was killed on its way, or has not ended: it is needed to finish it. */
static bool is_unfinished_undo(fs_file store, const char *id)
{
    auto_arena struct arena arena = {0};
    struct undo_head head = {0};
    uint64_t length;
    fs_file folder = store_open_run(store, id);
    fs_file lock = folder < 0 ? -1 : fs_open_file(folder, "lock", FS_READ);
    bool unfinished = folder >= 0 && !store_take_length(lock, &length) &&
                      read_head(folder, &arena, &head) == 0 && head.undoes.n;
    fs_close(lock);
    fs_close(folder);
    return unfinished;
}

/* More than are listed: the oldest go. */
static void drop_unlisted(fs_file store)
{
    auto_arena struct arena arena = {0};
    const char **names;
    size_t count;
    if (list_names(store, &arena, &names, &count))
        return;
    for (size_t i = STORE_MOST_RUNS; i < count; i++)
        if (store_is_id(names[i]) && !is_unfinished_undo(store, names[i]))
            store_drop(store, names[i]);
}

void store_prune(fs_file store, const struct store_limits *limits, struct store_pruned *pruned)
{
    auto_arena struct arena arena = {0};
    struct store_run *runs;
    const struct store_run *own = NULL;
    size_t count;
    uint64_t total = 0, same = 0;
    if (pruned)
        *pruned = (struct store_pruned){0};
    drop_unlisted(store);
    if (store_list(store, &arena, &runs, &count))
        return;
    for (size_t i = 0; i < count && limits->run && !own; i++)
        if (strcmp(limits->run, runs[i].id) == 0)
            own = &runs[i];
    for (size_t i = 0; i < count; i++) {
        uint64_t here = own && has_same_root(own, &runs[i]) ? runs[i].bytes : 0;
        total += runs[i].bytes;
        same += here;
        if ((total <= limits->all && (!here || same <= limits->same_root)) || runs[i].live ||
            runs[i].half || &runs[i] == own || !store_drop(store, runs[i].id))
            continue;
        total -= runs[i].bytes;
        same -= here;
        note_pruned(&runs[i], pruned);
    }
}

bool store_is_id(const char *word)
{
    /* 20260131-235959-0a1b */
    static const char shape[] = "00000000-000000-xxxx";
    for (size_t i = 0; i < sizeof shape - 1; i++)
        if (shape[i] == '-'   ? word[i] != '-'
            : shape[i] == 'x' ? ascii_hex(word[i]) < 0
                              : !ascii_is_digit(word[i]))
            return false;
    return word[sizeof shape - 1] == '\0';
}

bool store_below(struct str folder, struct str path)
{
    return fs_path_starts(path, folder) &&
           (path.n == folder.n || path.p[folder.n] == '/' || folder.p[folder.n - 1] == '/');
}

bool store_is_forward(const struct store_run *runs, size_t count, const struct store_run *run)
{
    bool forward = true;
    for (int steps = 0; run->head.undoes.n && steps < 64; steps++) {
        const struct store_run *target = NULL;
        for (size_t i = 0; i < count && !target; i++)
            if (str_eq(str_of(runs[i].id), run->head.undoes))
                target = &runs[i];
        forward = !forward;
        if (!target)
            break;
        run = target;
    }
    return forward;
}

bool store_note_empty(fs_file store, const char *id, bool spare)
{
    auto_arena struct arena arena = {0};
    struct store_run *runs;
    size_t count, own = 0;
    fs_file run = spare ? -1 : store_open_run(store, id);
    fs_file note = run < 0 ? -1 : fs_open_file(run, "empty", FS_CREATE);
    bool noted = spare || note >= 0;
    fs_close(note);
    fs_close(run);
    if (store_list(store, &arena, &runs, &count))
        return noted;
    while (own < count && strcmp(runs[own].id, id) != 0)
        own++;
    for (size_t i = own + 1; i < count; i++)
        if (runs[i].empty && has_same_root(&runs[i], &runs[own]))
            store_drop(store, runs[i].id);
    return noted;
}

/* The newest run in or, if below is set, beneath a folder; empty: also one that changed nothing. */
static const struct store_run *newest(const struct store_run *runs, size_t count, struct str folder,
                                      bool below, bool empty)
{
    for (size_t i = 0; i < count; i++) {
        const struct store_run *r = &runs[i];
        bool fits = false;
        for (uint32_t k = 0; k < r->head.root_count; k++)
            fits = fits || (below ? store_below(folder, r->head.roots[k].path)
                                  : store_below(r->head.roots[k].path, folder));
        if (fits && (empty || !r->empty) && !r->undone.n && !r->damaged && !r->other &&
            store_is_forward(runs, count, r))
            return r;
    }
    return NULL;
}

static void take_choice(const struct store_run *found, const struct store_run *other, bool below,
                        struct store_choice *out)
{
    *out = (struct store_choice){.empty = found->empty, .below = below};
    snprintf(out->id, sizeof out->id, "%s", found->id);
    snprintf(out->root, sizeof out->root, "%.*s", STR_ARG(found->head.roots[0].path));
    snprintf(out->other, sizeof out->other, "%s", other ? other->id : "");
}

static bool choose_named(fs_file store, const char *wanted, struct store_choice *out, char *why,
                         size_t capacity)
{
    fs_file run = store_open_run(store, wanted);
    if (run < 0) {
        snprintf(why, capacity, "no run %.60s; cordon runs lists them", wanted);
        return false;
    }
    fs_close(run);
    *out = (struct store_choice){.empty = false};
    snprintf(out->id, sizeof out->id, "%s", wanted);
    return true;
}

bool store_choose(fs_file store, const char *wanted, const char *folder, bool shows,
                  struct store_choice *out, char *why, size_t capacity)
{
    const char *verb = shows ? "changes" : "undo";
    auto_arena struct arena arena = {0};
    struct store_run *runs;
    size_t count;
    if (wanted)
        return choose_named(store, wanted, out, why, capacity);
    if (store_list(store, &arena, &runs, &count)) {
        snprintf(why, capacity, "cannot read the folder of journals");
        return false;
    }
    const struct store_run *found = newest(runs, count, str_of(folder), false, true);
    const struct store_run *below = newest(runs, count, str_of(folder), true, false);
    bool newer = found && below && below < found;
    if (found && (shows || !newer)) {
        const struct store_run *before =
            found->empty ? newest(runs, count, str_of(folder), false, false) : NULL;
        take_choice(found, newer ? below : before, newer, out);
        return true;
    }
    if (found)
        snprintf(why, capacity,
                 "the last run changed %.160s, below this folder: cordon undo %s takes it back; "
                 "cordon undo %s takes back the last one of %.160s",
                 below->head.roots[0].path.p, below->id, found->id, found->head.roots[0].path.p);
    else if (below)
        snprintf(why, capacity,
                 "no run with --undo had this folder as its root; of the last one below it, in "
                 "%.200s: cordon %s %s",
                 below->head.roots[0].path.p, verb, below->id);
    else
        snprintf(why, capacity,
                 "no run with --undo that changed this folder is left to take back; cordon runs "
                 "lists all");
    return false;
}

bool store_overlap(const struct undo_head *one, const struct undo_head *other)
{
    for (uint32_t i = 0; i < one->root_count; i++)
        for (uint32_t k = 0; k < other->root_count; k++) {
            struct str a = one->roots[i].path, b = other->roots[k].path;
            if (store_below(a, b) || store_below(b, a))
                return true;
        }
    return false;
}

void store_find_live(fs_file store, const struct undo_head *head, bool undos,
                     char id[STORE_LONGEST_ID])
{
    auto_arena struct arena arena = {0};
    const char **names;
    size_t count;
    id[0] = '\0';
    if (fs_list(store, &arena, &names, &count))
        return;
    for (size_t i = 0; i < count && !id[0]; i++) {
        struct undo_head other = {0};
        bool live;
        fs_file folder = store_open_run(store, names[i]);
        if (folder < 0 || str_eq(str_of(names[i]), head->run)) {
            fs_close(folder);
            continue;
        }
        fs_close(store_take_lock(folder, false, &live));
        /* One whose head cannot be read may be any. */
        if (live && (read_head(folder, &arena, &other) ||
                     (store_overlap(&other, head) && (!undos || other.undoes.n))))
            snprintf(id, STORE_LONGEST_ID, "%.39s", names[i]);
        fs_close(folder);
    }
}
