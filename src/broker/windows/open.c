/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and creates files for the tree. Nothing is truncated, overwritten or deleted by the open
 * itself: the file is opened, the open file is judged, and only then is it changed. The handle that
 * the tree gets lacks the rights by which it could be turned into more.
 */
#include "broker/windows/open.h"
#include "launch/windows/wine.h"
#include "undo/fs.h"

enum {
    MOST_LINKS = 32,
    WRITES_DATA = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_WRITE_EA | FILE_DELETE_CHILD,
    WRITES = WRITES_DATA | FILE_WRITE_ATTRIBUTES,
    /* With these a file can be given another name in its folder (MS-FSA, FileLinkInformation). */
    NEVER_GIVEN_OF_FILES = NEVER_GIVEN | FILE_WRITE_ATTRIBUTES | FILE_WRITE_EA | FILE_DELETE_CHILD,
    /* A folder handle with a write right can create files in it or turn it into a junction. */
    NEVER_GIVEN_OF_FOLDERS = NEVER_GIVEN | WRITES,
    /* Without any other right nothing of a file's content can be read. */
    READS = FILE_READ_DATA | FILE_EXECUTE
};

static bool is_overwriting(const struct open_wish *w)
{
    return w->disposition != FILE_OPEN && w->disposition != FILE_OPEN_IF &&
           w->disposition != FILE_CREATE;
}

static ACCESS_MASK without_generic(ACCESS_MASK access)
{
    static const struct {
        ACCESS_MASK generic, specific;
    } map[] = {{GENERIC_READ, FILE_GENERIC_READ},
               {GENERIC_WRITE, FILE_GENERIC_WRITE},
               {GENERIC_EXECUTE, FILE_GENERIC_EXECUTE},
               {GENERIC_ALL, FILE_ALL_ACCESS}};
    for (size_t i = 0; i < sizeof map / sizeof *map; i++)
        if (access & map[i].generic)
            access = (access & ~map[i].generic) | map[i].specific;
    return access;
}

static bool read_wish(struct request *r, struct open_wish *w)
{
    const uint64_t *n = r->wire.numbers;
    for (size_t i = 1; i < 6; i++)
        if (n[i] > UINT32_MAX)
            return false;
    *w = (struct open_wish){.access = without_generic((ACCESS_MASK)n[1]),
                            .share = (ULONG)n[2] & SHARE_ALL,
                            .disposition = (ULONG)n[3],
                            .options = (ULONG)n[4],
                            .attributes = (ULONG)n[5],
                            .flags = n[6],
                            .allocation.QuadPart = (LONGLONG)n[7]};
    w->maximum = w->access & MAXIMUM_ALLOWED;
    w->access &= ~(ACCESS_MASK)MAXIMUM_ALLOWED;
    /* Folders are never overwritten; asking for both kinds at once is invalid. */
    bool overwrites = w->disposition == FILE_SUPERSEDE || w->disposition == FILE_OVERWRITE ||
                      w->disposition == FILE_OVERWRITE_IF;
    bool folder = w->options & FILE_DIRECTORY_FILE;
    return w->disposition <= FILE_MAXIMUM_DISPOSITION && !(folder && overwrites) &&
           !(folder && w->options & FILE_NON_DIRECTORY_FILE) &&
           !(w->options & FILE_DELETE_ON_CLOSE && !(w->access & DELETE) && !w->maximum);
}

NTSTATUS open_at(HANDLE folder, UNICODE_STRING *leaf, ACCESS_MASK access, ULONG share,
                 ULONG disposition, ULONG options, const struct open_wish *w, HANDLE *out)
{
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    LARGE_INTEGER allocation = w ? w->allocation : (LARGE_INTEGER){0};
    ULONG case_flag = w && w->flags & WIRE_CASE_SENSITIVE ? 0 : OBJ_CASE_INSENSITIVE;
    InitializeObjectAttributes(&object, leaf, case_flag, folder, w ? w->security : NULL);
    return NtCreateFile(out, access, &object, &io, allocation.QuadPart ? &allocation : NULL,
                        w ? w->attributes : 0, share, disposition,
                        options | FILE_COMPLETE_IF_OPLOCKED, NULL, 0);
}

void open_give(struct request *r, const struct open_wish *w, HANDLE file, ACCESS_MASK without,
               ULONG_PTR information)
{
    HANDLE there;
    /* Windows closes our handle even where it makes none over there. */
    if (!DuplicateHandle(GetCurrentProcess(), file, r->client->process, &there,
                         w->access & ~without, w->flags & WIRE_INHERIT ? TRUE : FALSE,
                         DUPLICATE_CLOSE_SOURCE)) {
        request_answer(r, STATUS_INSUFFICIENT_RESOURCES); /* exiting, or out of handles */
        return;
    }
    r->answer.handle = (uint64_t)(uintptr_t)there;
    r->answer.information = information;
    request_answer(r, STATUS_SUCCESS);
}

static ACCESS_MASK never_given(bool directory)
{
    return directory ? NEVER_GIVEN_OF_FOLDERS : NEVER_GIVEN_OF_FILES;
}

/* ---- what is asked of an existing file ---- */

static bool is_allowed(struct request *r, HANDLE file, struct policy_request *question,
                       enum policy_access access, enum audit_op op, bool quietly)
{
    struct policy_answer answer = {0};
    question->access = access;
    policy_decide(r->broker->policy, question, &answer);
    if (answer.verdict != CORDON_ALLOW && !quietly &&
        broker_ask_change(r, file, question, &answer, op) == ASK_WAITS)
        return false;
    if (answer.verdict != CORDON_ALLOW && !quietly)
        request_deny(r, op, question, &answer, STR_NONE);
    else if (!quietly)
        request_grant(r, op, question, &answer);
    return answer.verdict == CORDON_ALLOW;
}

/* A right that is never handed out: where somebody can be asked, that is done when the process uses
   it, by a request of its own. */
static bool is_left_for_later(struct request *r, struct policy_request *question,
                              enum policy_access access, bool quietly)
{
    struct policy_answer answer = {0};
    if (quietly || !r->broker->asks)
        return false;
    question->access = access;
    policy_decide(r->broker->policy, question, &answer);
    return answer.verdict != CORDON_ALLOW && broker_ask_may_change(r, question, &answer);
}

/* Reads almost always pass: no event for them. */
static bool allows_reading(struct request *r, const struct open_wish *w, HANDLE file,
                           struct policy_request *question, bool quietly)
{
    struct policy_answer answer = {0};
    if (!(w->access & READS) && !w->maximum)
        return true;
    question->access = POLICY_READ;
    policy_decide(r->broker->policy, question, &answer);
    enum ask_ruling ruling = answer.verdict == CORDON_ALLOW ? ASK_GRANTS
                             : quietly                      ? ASK_DENIES
                                       : broker_ask_read(r, file, question, &answer);
    if (ruling == ASK_DENIES && !quietly)
        request_deny(r, AUDIT_FILE_READ, question, &answer, STR_NONE);
    return ruling == ASK_GRANTS;
}

/* Every requested right must pass. */
static bool allows_existing(struct request *r, const struct open_wish *w, HANDLE file,
                            struct policy_request *question, bool quietly)
{
    bool folder = question->facts.directory;
    bool on_close = w->options & FILE_DELETE_ON_CLOSE;
    bool deletes = (w->access & DELETE) || on_close;
    bool overwrites = w->disposition != FILE_OPEN && w->disposition != FILE_OPEN_IF;
    if (!allows_reading(r, w, file, question, quietly))
        return false;
    static const struct ask_detail emptied = {.key = "size", .text = {"0", 1}};
    r->detail = overwrites && !folder ? &emptied : NULL;
    if (((w->access & WRITES_DATA) || overwrites) && !folder &&
        !is_allowed(r, file, question, POLICY_WRITE, AUDIT_FILE_WRITE, quietly))
        return false;
    r->detail = NULL;
    if (((w->access & FILE_WRITE_ATTRIBUTES) || (folder && (w->access & WRITES_DATA))) &&
        !is_left_for_later(r, question, POLICY_ATTRIBUTES, quietly) &&
        !is_allowed(r, file, question, POLICY_ATTRIBUTES, AUDIT_FILE_ATTRIBUTES, quietly))
        return false;
    if (deletes && !(!on_close && is_left_for_later(r, question, POLICY_DELETE, quietly)) &&
        !is_allowed(r, file, question, POLICY_DELETE, AUDIT_FILE_DELETE, quietly))
        return false;
    if ((w->access & (WRITE_DAC | WRITE_OWNER)) &&
        !is_left_for_later(r, question, POLICY_SECURITY, quietly) &&
        !is_allowed(r, file, question, POLICY_SECURITY, AUDIT_FILE_SECURITY, quietly))
        return false;
    return true;
}

/* ---- making ---- */

static void remember(struct request *r, struct id_set *set, HANDLE file)
{
    struct file_id id;
    if (!facts_id(file, &id))
        return;
    EnterCriticalSection(&r->broker->lock);
    id_set_add(set, id);
    LeaveCriticalSection(&r->broker->lock);
}

static void remember_repository(struct request *r, const struct place *place, HANDLE file)
{
    if (str_eqi(path_leaf(PATH_WINDOWS, place->path.text), STR(".git")))
        remember(r, &r->broker->repositories, file);
}

/* STATUS_OBJECT_NAME_COLLISION if something exists already; then nothing has been answered. */
static NTSTATUS make(struct request *r, struct open_wish *w, const struct place *place)
{
    HANDLE file;
    UNICODE_STRING leaf = place->leaf;
    bool folder = w->options & FILE_DIRECTORY_FILE;
    struct policy_request question = {.path = place->path, .access = POLICY_CREATE};
    struct policy_answer answer = {0};
    question.path.folder = question.path.folder || folder;
    question.facts =
        (struct policy_facts){.seen = true,
                              .directory = folder,
                              .created_by_run = facts_own_repository(r, place->path.text),
                              .existing = path_parent(PATH_WINDOWS, place->path.text)};
    policy_decide(r->broker->policy, &question, &answer);
    if (answer.verdict != CORDON_ALLOW) {
        /* A caller that merely finds it there gets what it would have got without us. */
        if (place_look(place, false, &file) >= 0) {
            NtClose(file);
            return STATUS_OBJECT_NAME_COLLISION;
        }
        r->detail = NULL;
        enum ask_ruling ruling =
            broker_ask_change(r, place->folder, &question, &answer, AUDIT_FILE_CREATE);
        if (ruling == ASK_DENIES)
            request_deny(r, AUDIT_FILE_CREATE, &question, &answer, STR_NONE);
        if (ruling != ASK_GRANTS)
            return STATUS_ACCESS_DENIED;
    }
    if (r->broker->undo && place_look(place, false, &file) >= 0) {
        NtClose(file); /* nothing to record */
        return STATUS_OBJECT_NAME_COLLISION;
    }
    if (!record_create(r, place, folder ? FS_FOLDER : FS_REGULAR))
        return STATUS_ACCESS_DENIED;
    NTSTATUS status = open_at(place->folder, &leaf, w->access | FILE_READ_ATTRIBUTES,
                              w->share | (w->access & DELETE ? FILE_SHARE_DELETE : 0), FILE_CREATE,
                              w->options | FILE_OPEN_REPARSE_POINT, w, &file);
    record_after(r, status, place);
    if (status < 0) {
        request_answer(r, status);
        return status;
    }
    request_grant(r, AUDIT_FILE_CREATE, &question, &answer);
    remember_repository(r, place, file);
    if (answer.rule == RULE_TEMP_PROBE)
        remember(r, &r->broker->probes, file);
    open_give(r, w, file, never_given(folder), FILE_CREATED);
    return STATUS_SUCCESS;
}

/* ---- opening ---- */

/* Does what FILE_OVERWRITE does, on a file that is already open and judged. */
static NTSTATUS overwrite(const struct open_wish *w, HANDLE file)
{
    enum { KEPT = FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM, SETTABLE = 0x31A7 };
    struct nt_basic basic = {0};
    LARGE_INTEGER nothing = {0};
    IO_STATUS_BLOCK io;
    NTSTATUS status =
        NtQueryInformationFile(file, &io, &basic, sizeof basic, (FILE_INFORMATION_CLASS)NT_BASIC);
    if (status < 0)
        return status;
    /* Windows does not overwrite a hidden file for a caller that does not specify the attribute. */
    if ((basic.attributes & KEPT & ~w->attributes) || (basic.attributes & FILE_ATTRIBUTE_READONLY))
        return STATUS_ACCESS_DENIED;
    status = NtSetInformationFile(file, &io, &nothing, sizeof nothing,
                                  (FILE_INFORMATION_CLASS)NT_END_OF_FILE);
    ULONG wanted = (w->attributes & SETTABLE) | FILE_ATTRIBUTE_ARCHIVE;
    if (status >= 0 && (basic.attributes & SETTABLE) != wanted) {
        basic = (struct nt_basic){.attributes = wanted};
        NtSetInformationFile(file, &io, &basic, sizeof basic, (FILE_INFORMATION_CLASS)NT_BASIC);
    }
    return status;
}

/* Records what the open, or the handle that it gives, can change. True: record_after must be called
   if it deletes. */
static bool undo_open(struct request *r, const struct open_wish *w, HANDLE seen, struct str path,
                      const struct facts *facts)
{
    if (!facts->directory && ((w->access & WRITES_DATA) || is_overwriting(w)) &&
        !record_write(r, seen, path))
        return false;
    return !(w->options & FILE_DELETE_ON_CLOSE) || record_remove(r, seen, path);
}

/* Reopens the file that was judged, by an empty name relative to it. */
static NTSTATUS open_judged(struct request *r, struct open_wish *w, HANDLE seen, struct str path,
                            const struct facts *facts)
{
    HANDLE file;
    UNICODE_STRING itself = {0};
    bool overwrites = w->disposition != FILE_OPEN && w->disposition != FILE_OPEN_IF;
    ULONG share = w->share | (w->access & DELETE ? FILE_SHARE_DELETE : 0);
    ACCESS_MASK access = w->access | FILE_READ_ATTRIBUTES;
    if (overwrites)
        access |= FILE_WRITE_DATA | FILE_WRITE_ATTRIBUTES | SYNCHRONIZE;
    if (r->broker->undo && !undo_open(r, w, seen, path, facts))
        return STATUS_ACCESS_DENIED; /* it has been answered */
    NTSTATUS status = open_at(seen, &itself, access, share, FILE_OPEN, w->options, w, &file);
    if (w->options & FILE_DELETE_ON_CLOSE)
        record_after(r, status, NULL);
    if (status >= 0 && overwrites) {
        status = overwrite(w, file);
        if (status < 0)
            NtClose(file);
    }
    if (status >= 0) {
        if (w->options & FILE_DELETE_ON_CLOSE)
            facts_unlinked(r, file, facts);
        open_give(r, w, file, never_given(facts->directory),
                  !overwrites                        ? FILE_OPENED
                  : w->disposition == FILE_SUPERSEDE ? FILE_SUPERSEDED
                                                     : FILE_OVERWRITTEN);
    } else {
        request_answer(r, status);
    }
    return status;
}

/* MAXIMUM_ALLOWED was refused: what reading allows. */
static void open_for_reading(struct request *r, struct open_wish *w, HANDLE seen, struct str path,
                             const struct facts *facts)
{
    w->access = (w->access & ~(ACCESS_MASK)(WRITES | NEVER_GIVEN)) | FILE_GENERIC_READ |
                FILE_GENERIC_EXECUTE;
    w->disposition = FILE_OPEN;
    w->options &= ~(ULONG)FILE_DELETE_ON_CLOSE;
    open_judged(r, w, seen, path, facts);
}

/* Queries the facts about what was opened again. */
static bool question_of(struct request *r, HANDLE seen, const struct place *place,
                        struct facts *facts, struct policy_request *question)
{
    struct str final = facts_of(seen, facts) < 0 ? STR_NONE : place_path_of(r, seen);
    if (!final.p) {
        request_deny_unknown(r, AUDIT_FILE_WRITE, place->path.text,
                             "the system does not say what or where it is");
        return false;
    }
    *question = (struct policy_request){.path = {.class = PATH_FILE, .text = final, .base = final}};
    size_t stream = str_find_char(final, ':', 2);
    if (place->path.class == PATH_UNC || place->path.class == PATH_WSL)
        question->path.class = place->path.class;
    else if (stream < final.n)
        question->path = (struct path){PATH_STREAM, final, str_slice(final, 0, stream), false};
    facts_apply(r, seen, facts, question);
    question->facts.created_by_run = facts_created_by_run(r, seen, final);
    return true;
}

/* Where a link leads, read from the link itself; STATUS_REPARSE. */
static NTSTATUS follow(struct request *r, HANDLE link, const struct policy_request *question,
                       struct path *again)
{
    if (link_target(r, link, question->path.text, again))
        return STATUS_REPARSE;
    request_deny_unknown(r, AUDIT_FILE_WRITE, question->path.text,
                         "the system does not say where this link leads");
    return STATUS_ACCESS_DENIED;
}

/* Judges it as what it is, then reopens it. */
static NTSTATUS open_seen(struct request *r, struct open_wish *w, HANDLE seen,
                          const struct facts *facts, struct policy_request *question)
{
    struct open_wish all = *w;
    if (w->maximum) {
        /* If it may not be read, no part of it is handed out. */
        if (!allows_reading(r, w, seen, question, false))
            return STATUS_ACCESS_DENIED;
        all.access |= FILE_ALL_ACCESS;
    }
    if (!allows_existing(r, &all, seen, question, w->maximum)) {
        if (!w->maximum)
            return STATUS_ACCESS_DENIED;
        open_for_reading(r, w, seen, question->path.text, facts);
        return STATUS_SUCCESS;
    }
    if (w->maximum)
        w->access |= FILE_ALL_ACCESS & ~(ACCESS_MASK)(WRITE_DAC | WRITE_OWNER);
    if (facts->directory && is_overwriting(w))
        return w->options & FILE_NON_DIRECTORY_FILE ? STATUS_FILE_IS_A_DIRECTORY
                                                    : STATUS_OBJECT_NAME_COLLISION;
    return open_judged(r, w, seen, question->path.text, facts);
}

/* Opens an existing file: STATUS_OBJECT_NAME_NOT_FOUND if there is none. *again is set to the
   target of a link, which must be judged from the beginning. */
static NTSTATUS open_existing(struct request *r, struct open_wish *w, const struct place *place,
                              struct path *again)
{
    HANDLE seen;
    struct facts facts;
    struct policy_request question;
    bool on_link = w->options & FILE_OPEN_REPARSE_POINT;
    NTSTATUS status = place_look(place, false, &seen);
    if (status < 0)
        return status;
    status = STATUS_ACCESS_DENIED;
    if (question_of(r, seen, place, &facts, &question)) {
        struct str final = question.path.text;
        bool link = question.facts.reparse == POLICY_LINK;
        bool moved = !str_eq(path_parent(PATH_WINDOWS, final),
                             path_parent(PATH_WINDOWS, place->path.text)) &&
                     !str_eq(final, place->path.text);
        if (link && !on_link && !wine_hides_links()) {
            status = follow(r, seen, &question, again);
        } else if (moved && !(link && on_link)) {
            *again = (struct path){.class = PATH_FILE, .text = final, .base = final};
            status = STATUS_REPARSE;
        } else {
            status = open_seen(r, w, seen, &facts, &question);
        }
    }
    NtClose(seen);
    return status;
}

/* One attempt with the name as it is now; STATUS_REPARSE with *again: judge that instead. */
static NTSTATUS try_open(struct request *r, struct open_wish *w, const struct place *place,
                         struct path *again)
{
    NTSTATUS status;
    bool can_make = w->disposition == FILE_CREATE || w->disposition == FILE_OPEN_IF ||
                    w->disposition == FILE_OVERWRITE_IF || w->disposition == FILE_SUPERSEDE;
    bool make_first = can_make && w->disposition != FILE_OPEN_IF;
    for (int tries = 0; tries < 8; tries++) {
        if (make_first && place->leaf.Length) {
            status = make(r, w, place);
            if (status != STATUS_OBJECT_NAME_COLLISION)
                return status;
            if (w->disposition == FILE_CREATE) {
                request_answer(r, status);
                return status;
            }
        }
        status = open_existing(r, w, place, again);
        if (status != STATUS_OBJECT_NAME_NOT_FOUND || !can_make) {
            request_answer(r, status < 0 && status != STATUS_ACCESS_DENIED
                                  ? status
                                  : (NTSTATUS)r->answer.status);
            return status;
        }
        make_first = true; /* it did not exist, or has just vanished */
    }
    request_answer(r, STATUS_ACCESS_DENIED);
    return STATUS_ACCESS_DENIED;
}

/*
 * The usual case: an existing file below a root, with no link on the way. It is opened relative to
 * the root's handle, which changes nothing, and judged by where it really is. False if this is not
 * the usual case: then nothing has been answered.
 */
static bool open_below_root(struct request *r, struct open_wish *w, const struct path *path)
{
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    UNICODE_STRING below;
    HANDLE file;
    struct facts facts;
    struct policy_request question = {.path = *path, .facts = {.exists = true}};
    ULONG wanted = w->options & ~(ULONG)FILE_OPEN_REPARSE_POINT;
    /* With --undo a file is kept before it is opened for writing. */
    if (r->broker->undo && (w->access & WRITES_DATA))
        return false;
    if ((w->disposition != FILE_OPEN && w->disposition != FILE_OPEN_IF) || w->maximum ||
        path->folder || (w->options & (FILE_DELETE_ON_CLOSE | FILE_OPEN_REPARSE_POINT)))
        return false;
    const struct broker_root *root = place_root(r, path, &below);
    /* Not even opened if the name alone is refused. */
    if (!root || !allows_existing(r, w, NULL, &question, true))
        return false;
    InitializeObjectAttributes(&object, &below, OBJ_CASE_INSENSITIVE | OBJ_DONT_REPARSE,
                               root->folder, NULL);
    NTSTATUS status = NtCreateFile(&file, w->access | FILE_READ_ATTRIBUTES, &object, &io, NULL, 0,
                                   w->share | (w->access & DELETE ? FILE_SHARE_DELETE : 0),
                                   FILE_OPEN, wanted | FILE_COMPLETE_IF_OPLOCKED, NULL, 0);
    if (status < 0) {
        /* A result that does not depend on a link's target is the answer. */
        bool final = status == STATUS_SHARING_VIOLATION || status == STATUS_FILE_IS_A_DIRECTORY ||
                     status == STATUS_DELETE_PENDING;
        if (final)
            request_answer(r, status);
        return final;
    }
    /* Opened under another name: there was a link on the way, which is resolved step by step. */
    struct str where = place_path_of(r, file);
    bool judged = where.p && str_eqi(where, path->text) && facts_of(file, &facts) >= 0;
    if (judged) {
        question =
            (struct policy_request){.path = {.class = PATH_FILE, .text = where, .base = where}};
        facts_apply(r, file, &facts, &question);
        question.facts.created_by_run = facts_created_by_run(r, file, where);
        if (allows_existing(r, w, file, &question, false)) {
            open_give(r, w, file, never_given(facts.directory), FILE_OPENED);
            return true;
        }
    }
    NtClose(file);
    return judged;
}

/* ---- the requests ---- */

static bool is_file_class(const struct path *path)
{
    return path->class == PATH_FILE || path->class == PATH_UNC || path->class == PATH_WSL ||
           path_is_zone(path);
}

/* A place that was not opened: another machine, or not a file. */
static void refuse_unopened(struct request *r, struct open_wish *w, const struct path *path)
{
    struct policy_request question = {.path = *path, .access = POLICY_READ};
    if (is_file_class(path)) {
        if (request_allows(r, &question, AUDIT_FILE_READ))
            request_deny_unknown(r, AUDIT_FILE_READ, path->text, "it was not opened");
    } else {
        open_device(r, w, path);
    }
}

/* An open that is no open of a file by its name; true: it has been answered. */
static bool open_unusual(struct request *r, struct open_wish *w, const struct path *path)
{
    if (w->options & FILE_OPEN_BY_FILE_ID) {
        request_deny_text(r, AUDIT_FILE_WRITE, STR("a file by its number"),
                          str_of(policy_rule_id(RULE_PATH_MALFORMED)),
                          STR("a file that is opened by its number has no name to judge"),
                          STR("open it by its path"));
        return true;
    }
    if (!(w->flags & WIRE_HAS_EA))
        return false;
    if (path->class == PATH_DEVICE && str_startsi(path->text, STR("\\Device\\Afd\\")))
        open_device_socket(r, w);
    else if (path->class == PATH_DEVICE || path->class == PATH_CONSOLE)
        open_device(r, w, path);
    else
        request_answer(r, STATUS_EAS_NOT_SUPPORTED);
    return true;
}

void open_handle(struct request *r)
{
    struct open_wish w;
    struct path path;
    bool pass;
    if (!read_wish(r, &w)) {
        request_answer(r, STATUS_INVALID_PARAMETER);
        return;
    }
    NTSTATUS status = place_name(r, r->wire.numbers[0], 0, &path, &pass);
    if (status < 0 || pass) {
        r->answer.flags |= pass ? WIRE_PASS : 0;
        request_answer(r, status);
        return;
    }
    if (open_unusual(r, &w, &path))
        return;
    SECURITY_DESCRIPTOR security;
    if (w.flags & WIRE_HAS_LIST) {
        if (!security_make(r, 1, &security)) {
            request_answer(r, STATUS_INVALID_SECURITY_DESCR);
            return;
        }
        if (w.flags & WIRE_PROTECTED_LIST)
            SetSecurityDescriptorControl(&security, SE_DACL_PROTECTED, SE_DACL_PROTECTED);
        w.security = &security;
    }
    if (path.class == PATH_FILE && open_below_root(r, &w, &path))
        return;
    for (int links = 0; links < MOST_LINKS; links++) {
        struct path again;
        auto_place struct place place = {0};
        if (!is_file_class(&path)) {
            open_device(r, &w, &path);
            return;
        }
        status = place_find(r, &path, &place);
        if (status < 0) {
            request_answer(r, status);
            return;
        }
        if (!place.folder || !is_file_class(&place.path)) {
            refuse_unopened(r, &w, &place.path);
            return;
        }
        if (try_open(r, &w, &place, &again) != STATUS_REPARSE)
            return;
        path = again;
    }
    request_deny_unknown(r, AUDIT_FILE_WRITE, path.text, "too many links on the way");
}
