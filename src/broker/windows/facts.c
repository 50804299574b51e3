/* SPDX-License-Identifier: Apache-2.0 */
/* The file system's facts about an open file. */
#include "base/utf.h"
#include "broker/windows/broker.h"

NTSTATUS facts_of(HANDLE file, struct facts *out)
{
    FILE_STANDARD_INFORMATION standard;
    FILE_BASIC_INFORMATION basic;
    IO_STATUS_BLOCK io;
    NTSTATUS status =
        NtQueryInformationFile(file, &io, &standard, sizeof standard, FileStandardInformation);
    if (status >= 0)
        status = NtQueryInformationFile(file, &io, &basic, sizeof basic, FileBasicInformation);
    if (status < 0)
        return status;
    *out = (struct facts){.directory = standard.Directory,
                          .reparse = basic.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT,
                          .links = standard.Directory ? 1 : standard.NumberOfLinks};
    return STATUS_SUCCESS;
}

bool facts_id(HANDLE file, struct file_id *out)
{
    FILE_ID_INFO whole;
    BY_HANDLE_FILE_INFORMATION info;
    uint64_t half[2];
    /* On ReFS the number has 128 bits; the rest of it stands where others have the time of
       birth. */
    if (GetFileInformationByHandleEx(file, FileIdInfo, &whole, sizeof whole)) {
        memcpy(half, &whole.FileId, sizeof half);
        *out = (struct file_id){whole.VolumeSerialNumber, half[0], half[1]};
        return true;
    }
    if (!GetFileInformationByHandle(file, &info))
        return false;
    *out = (struct file_id){info.dwVolumeSerialNumber,
                            (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow, 0};
    return true;
}

/* Name surrogates are links; among the other tags only Microsoft's own are ordinary files. */
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
    if (b->repositories.used == 0)
        return false;
    for (size_t end, at = path_root_length(PATH_WINDOWS, path); at < path.n; at = end) {
        end = str_find_char(path, '\\', at + 1);
        if (!str_eqi(str_slice(path, at + 1, end), STR(".git")))
            continue;
        struct path name = {.class = PATH_FILE, .text = str_slice(path, 0, end)};
        auto_place struct place place = {0};
        struct file_id id;
        HANDLE file;
        if (place_find(r, &name, &place) < 0 || !place.folder ||
            place_look(&place, false, &file) < 0)
            return false;
        bool known = facts_id(file, &id);
        NtClose(file);
        if (!known)
            return false;
        EnterCriticalSection(&b->lock);
        own = id_set_count(&b->repositories, id) > 0;
        LeaveCriticalSection(&b->lock);
        if (!own)
            return false;
    }
    return own;
}

bool facts_created_by_run(struct request *r, HANDLE file, struct str path)
{
    struct broker *b = r->broker;
    struct file_id id;
    bool probe = false;
    if (b->probes.used && facts_id(file, &id)) {
        EnterCriticalSection(&b->lock);
        probe = id_set_count(&b->probes, id) > 0;
        LeaveCriticalSection(&b->lock);
    }
    return probe || facts_own_repository(r, path);
}

/* True if the rules allow writing a file under this name. */
static bool is_inside(struct request *r, struct str name)
{
    struct policy_request question = {.path = {.class = PATH_FILE, .text = name, .base = name},
                                      .access = POLICY_WRITE,
                                      .facts = {.seen = true, .exists = true, .links = 1}};
    struct policy_answer answer = {0};
    policy_decide(r->broker->policy, &question, &answer);
    return answer.verdict == CORDON_ALLOW;
}

/* The path of a folder on a file's volume, by its file number. */
static struct str folder_by_id(struct request *r, HANDLE file, LONGLONG id)
{
    UNICODE_STRING name = {sizeof id, sizeof id, (wchar_t *)&id};
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    HANDLE folder;
    InitializeObjectAttributes(&object, &name, 0, file, NULL);
    if (NtOpenFile(&folder, FILE_READ_ATTRIBUTES | SYNCHRONIZE, &object, &io, SHARE_ALL,
                   FILE_OPEN_BY_FILE_ID | FILE_DIRECTORY_FILE | FILE_SYNCHRONOUS_IO_NONALERT) < 0)
        return STR_NONE;
    struct str path = place_path_of(r, folder);
    NtClose(folder);
    return path;
}

/* Asks the open file itself for its names: a file found by path could be another one by now. */
static bool names_are_inside(struct request *r, HANDLE file, uint32_t links)
{
    enum { MOST = 64 * 1024 };
    unsigned char *bytes = arena_alloc(&r->arena, MOST);
    IO_STATUS_BLOCK io;
    if (!bytes ||
        NtQueryInformationFile(file, &io, bytes, MOST, (FILE_INFORMATION_CLASS)NT_HARD_LINKS) < 0)
        return false;
    const struct nt_link_names *all = (const void *)bytes;
    size_t end = io.Information < MOST ? io.Information : MOST;
    uint32_t count = 0;
    if (end < offsetof(struct nt_link_names, first) || all->entries != links)
        return false;
    for (size_t at = offsetof(struct nt_link_names, first); count < links;) {
        const struct nt_link_name *entry = (const void *)(bytes + at);
        if (at + offsetof(struct nt_link_name, name) > end ||
            entry->units > (end - at - offsetof(struct nt_link_name, name)) / 2)
            return false;
        auto_buf struct buf name = {0};
        buf_add(&name, folder_by_id(r, file, entry->folder));
        if (name.n && name.p[name.n - 1] != '\\')
            buf_char(&name, '\\');
        utf_from16(&name, (const uint16_t *)entry->name, entry->units);
        if (name.failed || name.n < 3 || !is_inside(r, buf_str(&name)))
            return false;
        count++;
        if (entry->next == 0 || entry->next > end - at)
            break;
        at += entry->next;
    }
    return count == links;
}

/* True if the rules allow writing every name of the file: this run gave it all but one, or the file
   system lists them. */
static bool all_names_inside(struct request *r, HANDLE file, uint32_t links)
{
    struct broker *b = r->broker;
    struct file_id id;
    if (!facts_id(file, &id))
        return false;
    EnterCriticalSection(&b->lock);
    bool ours = id_set_count(&b->linked, id) + 1 == links;
    LeaveCriticalSection(&b->lock);
    return ours || names_are_inside(r, file, links);
}

void facts_unlinked(struct request *r, HANDLE file, const struct facts *facts)
{
    struct file_id id;
    if (facts->links < 2 || !facts_id(file, &id))
        return;
    EnterCriticalSection(&r->broker->lock);
    id_set_take(&r->broker->linked, id);
    LeaveCriticalSection(&r->broker->lock);
}

void facts_apply(struct request *r, HANDLE file, const struct facts *facts,
                 struct policy_request *question)
{
    question->facts.seen = true;
    question->facts.exists = true;
    question->facts.directory = facts->directory;
    question->facts.links = facts->links;
    if (facts->links > 1)
        question->facts.links_inside = all_names_inside(r, file, facts->links);
    if (facts->reparse)
        question->facts.reparse = reparse_of(file);
}
