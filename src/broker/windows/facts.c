/* What the file system says about an open file. */
#include <stdlib.h>

#include "broker/windows/broker.h"

static size_t id_find(const struct id_set *set, struct file_id id)
{
    size_t i = 0;
    while (i < set->count && (set->items[i].id != id.id || set->items[i].volume != id.volume))
        i++;
    return i;
}

uint32_t id_set_count(const struct id_set *set, struct file_id id)
{
    size_t at = id_find(set, id);
    return at < set->count ? set->counts[at] : 0;
}

bool id_set_add(struct id_set *set, struct file_id id)
{
    size_t at = id_find(set, id);
    if (at < set->count) {
        set->counts[at]++;
        return true;
    }
    if (set->count == set->capacity) {
        size_t capacity = set->capacity ? set->capacity * 2 : 64;
        struct file_id *items = realloc(set->items, capacity * sizeof *items);
        if (items)
            set->items = items;
        uint32_t *counts = items ? realloc(set->counts, capacity * sizeof *counts) : NULL;
        if (!counts)
            return false;
        set->counts = counts;
        set->capacity = capacity;
    }
    set->items[set->count] = id;
    set->counts[set->count++] = 1;
    return true;
}

void id_set_drop(struct id_set *set, struct file_id id)
{
    size_t at = id_find(set, id);
    if (at == set->count)
        return;
    set->count--;
    set->items[at] = set->items[set->count];
    set->counts[at] = set->counts[set->count];
}

NTSTATUS facts_of(HANDLE file, struct facts *out)
{
    BY_HANDLE_FILE_INFORMATION info;
    if (!GetFileInformationByHandle(file, &info))
        return STATUS_ACCESS_DENIED;
    *out = (struct facts){
        .directory = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY,
        .reparse = info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT,
        .links = info.nNumberOfLinks,
        .id = {info.dwVolumeSerialNumber,
               (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow}};
    if (out->directory)
        out->links = 1;
    return STATUS_SUCCESS;
}

/* Name surrogates are links; of the other tags only Microsoft's own are ordinary files. */
static enum policy_reparse reparse_of(HANDLE file)
{
    FILE_ATTRIBUTE_TAG_INFO tag;
    enum { APP_EXECUTION_LINK = 0x8000001B };
    if (!GetFileInformationByHandleEx(file, FileAttributeTagInfo, &tag, sizeof tag))
        return POLICY_STRANGE;
    if (IsReparseTagNameSurrogate(tag.ReparseTag))
        return POLICY_LINK;
    return IsReparseTagMicrosoft(tag.ReparseTag) && tag.ReparseTag != APP_EXECUTION_LINK
               ? POLICY_NOT_REPARSE
               : POLICY_STRANGE;
}

bool facts_own_repository(struct request *r, struct str path)
{
    struct broker *b = r->broker;
    bool own = false;
    if (b->repositories.count == 0)
        return false;
    for (size_t end, at = path_root_length(PATH_WINDOWS, path); at < path.n; at = end) {
        end = str_find_char(path, '\\', at + 1);
        if (!str_eqi(str_slice(path, at + 1, end), STR(".git")))
            continue;
        struct path folder = {.class = PATH_FILE, .text = str_slice(path, 0, end)};
        auto_place struct place place = {0};
        struct facts facts;
        /* As a folder with an empty name in it: opened as it is, whoever it is now. */
        auto_buf struct buf inside = {0};
        buf_add(&inside, folder.text);
        buf_add(&inside, STR("\\x"));
        folder.text = buf_str(&inside);
        if (place_find(r, &folder, &place) < 0 || facts_of(place.folder, &facts) < 0)
            return false;
        EnterCriticalSection(&b->lock);
        own = id_set_count(&b->repositories, facts.id) > 0;
        LeaveCriticalSection(&b->lock);
        if (!own)
            return false;
    }
    return own;
}

void facts_apply(struct request *r, HANDLE file, const struct facts *facts,
                 struct policy_request *question)
{
    struct broker *b = r->broker;
    question->facts.seen = true;
    question->facts.exists = true;
    question->facts.directory = facts->directory;
    question->facts.links = facts->links;
    if (facts->links > 1) {
        EnterCriticalSection(&b->lock);
        question->facts.links_inside = id_set_count(&b->linked, facts->id) + 1 == facts->links;
        LeaveCriticalSection(&b->lock);
    }
    if (facts->reparse)
        question->facts.reparse = reparse_of(file);
}
