/* SPDX-License-Identifier: Apache-2.0 */
#include "undo/ends.h"

#include <stdlib.h>

#include "base/siphash.h"
#include "launch/machine.h"

static const char name[] = "ends";

/* As they are in the file, after the key, in the byte order of this machine: a journal does not
   travel. */
struct ends_file {
    uint32_t entry, mode, links, flags;
    uint64_t size, hash;
};

enum { AS_BEFORE = 1, NO_HASH = 2 };

/* What a file holds, or where a link leads. */
static bool read_whole(const struct restore_spot *spot, struct buf *content)
{
    const struct fs_stat *st = &spot->st;
    if (!fs_is_link(st->mode))
        return fs_is_file(st->mode) && st->size <= ENDS_LARGEST &&
               restore_read_after(spot, ENDS_LARGEST, content);
    char target[UNDO_LONGEST_TEXT];
    int n = fs_read_link(spot->parent, spot->leaf, target, sizeof target);
    if (n <= 0 || (size_t)n >= sizeof target)
        return false;
    buf_add(content, (struct str){target, (size_t)n});
    return !content->failed;
}

/* False if it cannot be read, or is too large. content is used and reused. */
static bool describe(const uint64_t key[2], uint32_t entry, const struct restore_spot *spot,
                     struct buf *content, struct ends_file *out)
{
    const struct fs_stat *st = &spot->st;
    buf_reset(content);
    if (!spot->exists || !read_whole(spot, content))
        return false;
    *out =
        (struct ends_file){entry, st->mode, st->links, 0, st->size, siphash(key, buf_str(content))};
    return true;
}

void ends_begin(struct ends_writer *w)
{
    *w = (struct ends_writer){0};
    /* Chosen when the tree is dead, so that no file can have been written to fit it. */
    w->known = machine_random(w->key, sizeof w->key);
    buf_add(&w->out, (struct str){(const char *)w->key, sizeof w->key});
}

void ends_add(struct ends_writer *w, const struct store_journal *j, uint32_t entry,
              const struct restore_spot *spot, bool same)
{
    const struct fs_stat *st = &spot->st;
    struct ends_file file;
    /* Somebody else may have been faster. */
    if (!w->known || !spot->exists || undo_time_compare(st->changed, j->end) > 0 ||
        w->files == ENDS_MOST_FILES)
        return;
    if (w->bytes + st->size <= ENDS_MOST_BYTES && describe(w->key, entry, spot, &w->content, &file))
        w->bytes += file.size;
    else
        file = (struct ends_file){entry, st->mode, st->links, NO_HASH, st->size, 0};
    file.flags |= same ? AS_BEFORE : 0;
    buf_add(&w->out, (struct str){(const char *)&file, sizeof file});
    w->files++;
}

void ends_finish(struct ends_writer *w, const struct store_journal *j)
{
    fs_file file = w->files && !w->out.failed ? fs_open_file(j->folder, name, FS_CREATE_KEPT) : -1;
    if (file >= 0)
        fs_write(file, w->out.p, w->out.n, 0);
    fs_close(file);
    buf_free(&w->out);
    buf_free(&w->content);
}

static int by_entry(const void *a, const void *b)
{
    const struct ends_file *left = a, *right = b;
    return left->entry < right->entry ? -1 : left->entry > right->entry;
}

void ends_read(const struct store_journal *j, struct ends *out)
{
    struct fs_stat st;
    fs_file file = fs_open_file(j->folder, name, FS_READ_KEPT);
    *out = (struct ends){0};
    if (file >= 0 && fs_stat(file, "", &st) == 0 && st.size > sizeof out->key &&
        st.size - sizeof out->key <= ENDS_MOST_FILES * sizeof *out->items &&
        fs_read(file, out->key, sizeof out->key, 0) == sizeof out->key)
        out->items = malloc((size_t)st.size);
    int64_t n = out->items ? fs_read(file, out->items, (size_t)st.size, sizeof out->key) : 0;
    fs_close(file);
    out->count = n > 0 ? (size_t)n / sizeof *out->items : 0;
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, by_entry);
}

void ends_free(struct ends *ends)
{
    free(ends->items);
    *ends = (struct ends){0};
}

static const struct ends_file *find(const struct ends *ends, uint32_t entry)
{
    struct ends_file key = {.entry = entry};
    return entry && ends->count ? bsearch(&key, ends->items, ends->count, sizeof key, by_entry)
                                : NULL;
}

bool ends_of(const struct ends *ends, uint32_t entry, struct ends_state *out)
{
    const struct ends_file *was = find(ends, entry);
    if (was)
        *out = (struct ends_state){was->mode, was->size, was->flags & AS_BEFORE};
    return was != NULL;
}

bool ends_match(const struct ends *ends, uint32_t entry, const struct restore_spot *spot)
{
    auto_buf struct buf content = {0};
    struct ends_file now;
    const struct ends_file *was = find(ends, entry);
    return was && !(was->flags & NO_HASH) && spot->exists && spot->st.size == was->size &&
           spot->st.mode == was->mode && spot->st.links == was->links &&
           describe(ends->key, entry, spot, &content, &now) && now.hash == was->hash;
}
