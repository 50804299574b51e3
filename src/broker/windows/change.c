/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes by handle: rename, link, delete, attributes, reparse points, security. The tree's own
 * handle has no right to any of them; the broker judges where the file is and makes the change on a
 * handle of its own, reopened from the same file.
 */
#include "broker/windows/ask.h"
#include "broker/windows/index.h"

#include "base/utf.h"
#include "undo/fs.h"

/* A file of the tree, seen through one of its handles. */
struct subject {
    HANDLE
    borrowed;   /* a duplicate of the tree's handle, which may block: never queried */
    HANDLE own; /* the same file, reopened: only this one is queried */
    struct facts facts;
    struct policy_request question;
};

static void subject_close(struct subject *s)
{
    if (s->borrowed)
        NtClose(s->borrowed);
    if (s->own)
        NtClose(s->own);
}
#define auto_subject __attribute__((cleanup(subject_close)))

/* Reopens the same file with the right that the change needs. */
static NTSTATUS reopen(HANDLE file, ACCESS_MASK access, HANDLE *out)
{
    UNICODE_STRING itself = {0};
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    InitializeObjectAttributes(&object, &itself, OBJ_CASE_INSENSITIVE, file, NULL);
    return NtOpenFile(out, access | SYNCHRONIZE, &object, &io, SHARE_ALL,
                      FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_REPARSE_POINT |
                          FILE_OPEN_FOR_BACKUP_INTENT | FILE_COMPLETE_IF_OPLOCKED);
}

static NTSTATUS subject_of(struct request *r, uint64_t handle, struct subject *s)
{
    NTSTATUS status = place_borrow(r, handle, &s->borrowed);
    if (status >= 0)
        status = reopen(s->borrowed, FILE_READ_ATTRIBUTES, &s->own);
    if (status < 0)
        return status;
    struct str path = place_path_of(r, s->own);
    status = facts_of(s->own, &s->facts);
    if (!path.p || status < 0) {
        request_deny_unknown(r, AUDIT_FILE_ATTRIBUTES, path,
                             "the system does not say what or where it is");
        return STATUS_ACCESS_DENIED;
    }
    struct path_context context = {.dialect = PATH_WINDOWS};
    char *normal = arena_alloc(&r->arena, path.n + 16);
    if (!normal || path_normalize(&context, path, normal, path.n + 16, &s->question.path))
        return STATUS_INSUFFICIENT_RESOURCES;
    facts_apply(r, s->own, &s->facts, &s->question);
    s->question.facts.created_by_run = facts_created_by_run(r, s->own, s->question.path.text);
    s->question.facts.existing = path_parent(PATH_WINDOWS, s->question.path.text);
    return STATUS_SUCCESS;
}

static NTSTATUS set_information(const struct subject *s, ACCESS_MASK access, void *information,
                                ULONG size, int class)
{
    HANDLE file;
    IO_STATUS_BLOCK io;
    NTSTATUS status = reopen(s->own, access, &file);
    if (status < 0)
        return status;
    status = NtSetInformationFile(file, &io, information, size, class);
    NtClose(file);
    return status;
}

/* ---- a new name ---- */

/* A bare name refers to the file's own folder. */
static NTSTATUS target_name(struct request *r, const struct subject *from, struct path *out)
{
    const uint16_t *units = r->wire.text[0].p;
    bool bare = r->wire.numbers[1] == 0 && r->wire.text[0].n >= 2 && units[0] != '\\';
    bool pass;
    if (!bare) {
        NTSTATUS status = place_name(r, r->wire.numbers[1], 0, out, &pass);
        return pass ? STATUS_ACCESS_DENIED : status;
    }
    auto_buf struct buf whole = {0};
    struct path_context context = {.dialect = PATH_WINDOWS};
    buf_add(&whole, path_parent(PATH_WINDOWS, from->question.path.text));
    buf_char(&whole, '\\');
    utf_from16(&whole, units, r->wire.text[0].n / 2);
    char *normal = whole.failed ? NULL : arena_alloc(&r->arena, whole.n + 16);
    struct str given = arena_copy(&r->arena, buf_str(&whole));
    if (!normal || !given.p || path_normalize(&context, given, normal, whole.n + 16, out))
        return STATUS_INSUFFICIENT_RESOURCES;
    return STATUS_SUCCESS;
}

static void look_at_target(struct request *r, const struct place *place,
                           struct policy_request *question)
{
    HANDLE file;
    struct facts facts;
    question->path = place->path;
    question->facts.seen = true;
    question->facts.existing = path_parent(PATH_WINDOWS, place->path.text);
    if (place_look(place, false, &file) >= 0) {
        if (facts_of(file, &facts) >= 0)
            facts_apply(r, file, &facts, question);
        question->facts.exists = true;
        NtClose(file);
    }
    question->facts.created_by_run = facts_own_repository(r, place->path.text);
}

/* file: one that may be renamed, or linked. */
static NTSTATUS move_to(HANDLE file, const struct place *to, ULONG flags, bool link)
{
    union {
        struct nt_rename info;
        unsigned char bytes[sizeof(struct nt_rename) + 1024];
    } small;
    IO_STATUS_BLOCK io;
    bool ex = flags & ~(ULONG)NT_REPLACE_IF_EXISTS;
    ULONG size = (ULONG)offsetof(struct nt_rename, name) + to->leaf.Length;
    if (size + sizeof(WCHAR) > sizeof small)
        return STATUS_OBJECT_NAME_INVALID;
    memset(&small, 0, sizeof small);
    small.info.flags = flags;
    small.info.root = to->folder;
    small.info.length = to->leaf.Length;
    memcpy(small.info.name, to->leaf.Buffer, to->leaf.Length);
    if (size < sizeof(struct nt_rename))
        size = sizeof(struct nt_rename);
    int class = link ? (ex ? NT_LINK_EX : NT_LINK) : (ex ? NT_RENAME_EX : NT_RENAME);
    return NtSetInformationFile(file, &io, &small, size, (FILE_INFORMATION_CLASS) class);
}

static NTSTATUS move_subject(const struct subject *from, const struct place *to, ULONG flags,
                             bool link)
{
    HANDLE file;
    NTSTATUS status = reopen(from->own, link ? FILE_WRITE_ATTRIBUTES : DELETE, &file);
    if (status < 0)
        return status;
    status = move_to(file, to, flags, link);
    NtClose(file);
    return status;
}

/* Decides again if the new name is an index, whose content matters. */
static void decide_index(struct request *r, const struct subject *from, const struct place *to,
                         struct policy_request *question, struct policy_answer *answer,
                         struct index_copy *copy)
{
    HANDLE lock;
    if (reopen(from->own, FILE_READ_DATA, &lock) < 0)
        return;
    question->facts.index_judged = index_judge(r, lock, to, copy);
    NtClose(lock);
    if (copy->judged)
        policy_decide_pair(r->broker->policy, &from->question, question, answer);
    else
        answer->name = copy->why;
}

static NTSTATUS mark_deleted(const struct subject *s, ULONG flags);

/* The copy gets the name, and the lock file goes. */
static void place_index(struct request *r, const struct subject *lock, const struct place *to,
                        struct index_copy *copy)
{
    if (!index_make(r, to, copy))
        return;
    if (!record_rename(r, copy->file, copy->place.path.text, to, false)) {
        index_drop(r, copy);
        return;
    }
    NTSTATUS status = move_to(copy->file, to, (ULONG)r->wire.numbers[2], false);
    record_after(r, status, NULL);
    request_answer(r, status);
    if (status < 0) {
        index_drop(r, copy);
        request_answer(r, status);
        return;
    }
    if (!record_remove(r, lock->own, lock->question.path.text))
        return;
    status = mark_deleted(lock, NT_DISPOSITION_DELETE | NT_DISPOSITION_POSIX);
    if (status < 0)
        status = mark_deleted(lock, NT_DISPOSITION_DELETE);
    record_after(r, status, NULL);
    if (status >= 0)
        facts_unlinked(r, lock->own, &lock->facts);
}

/* The copy that leaves in place of the file; false if the call has been answered. A file that is
   mapped cannot be deleted, and so it cannot leave. */
static bool take_leaving(struct request *r, const struct subject *from, struct index_copy *copy)
{
    HANDLE file = NULL;
    IO_STATUS_BLOCK io;
    NTSTATUS status = reopen(from->own, DELETE | FILE_READ_DATA, &file);
    for (BOOLEAN goes = TRUE; status >= 0; goes = FALSE) {
        status = NtSetInformationFile(file, &io, &goes, sizeof goes,
                                      (FILE_INFORMATION_CLASS)NT_DISPOSITION);
        if (!goes)
            break;
    }
    /* Programs that are told to copy do so; many try again when they are denied. */
    if (status == STATUS_CANNOT_DELETE || status == STATUS_SHARING_VIOLATION ||
        (status >= 0 && !index_take(file, copy)))
        status = STATUS_NOT_SAME_DEVICE;
    if (file)
        NtClose(file);
    request_answer(r, status);
    return status >= 0;
}

/* For a question: where a link that is moved leads now. */
static struct str leads_to(struct request *r, const struct subject *link)
{
    struct path target;
    return link_target(r, link->own, link->question.path.text, &target) ? target.text : STR("?");
}

/* The change that was allowed. */
static void make_name(struct request *r, struct subject *from, struct place *place,
                      struct index_copy *copy, bool link)
{
    struct broker *b = r->broker;
    struct file_id id;
    if (r->leaves && !take_leaving(r, from, copy))
        return;
    if (copy->judged) {
        place_index(r, from, place, copy);
        return;
    }
    if (!record_rename(r, from->own, from->question.path.text, place, link))
        return;
    NTSTATUS status = move_subject(from, place, (ULONG)r->wire.numbers[2], link);
    record_after(r, status, NULL);
    if (status >= 0 && link && facts_id(from->own, &id)) {
        EnterCriticalSection(&b->lock);
        id_set_add(&b->linked, id);
        LeaveCriticalSection(&b->lock);
    }
    request_answer(r, status);
}

static void give_name(struct request *r, bool link)
{
    auto_subject struct subject from = {0};
    auto_place struct place place = {0};
    struct path name;
    struct policy_request to = {.access = link ? POLICY_LINK_TO : POLICY_RENAME_TO};
    struct policy_answer answer = {0};
    auto_index_copy struct index_copy copy = {0};
    NTSTATUS status = subject_of(r, r->wire.numbers[0], &from);
    if (status >= 0)
        status = target_name(r, &from, &name);
    if (status >= 0 && name.class == PATH_FILE)
        status = place_find(r, &name, &place);
    if (status < 0) {
        request_answer(r, status);
        return;
    }
    if (name.class == PATH_FILE && !place.folder)
        name = place.path;
    from.question.access = link ? POLICY_LINK_FROM : POLICY_RENAME_FROM;
    to.path = name;
    if (place.folder)
        look_at_target(r, &place, &to);
    policy_decide_pair(r->broker->policy, &from.question, &to, &answer);
    if (answer.rule == RULE_GIT_INDEX && answer.target && !link && place.folder &&
        !from.facts.directory)
        decide_index(r, &from, &place, &to, &answer, &copy);
    enum audit_op op = link ? AUDIT_FILE_LINK : AUDIT_FILE_RENAME;
    if (from.question.facts.reparse == POLICY_LINK)
        r->link = leads_to(r, &from);
    /* A second name would stay, and by it the run could go on changing the file. */
    if (answer.verdict != CORDON_ALLOW && place.folder && !link &&
        broker_ask_pair(r, (const HANDLE[]){from.own, place.folder},
                        (const struct policy_request[]){from.question, to}, &answer) == ASK_WAITS)
        return;
    if (answer.verdict != CORDON_ALLOW) {
        if (answer.target)
            request_deny(r, op, &to, &answer, from.question.path.text);
        else
            request_deny(r, op, &from.question, &answer, to.path.text);
        return;
    }
    if (!place.folder || place.leaf.Length == 0) {
        request_answer(r, STATUS_ACCESS_DENIED);
        return;
    }
    request_grant(r, op, &to, &answer);
    make_name(r, &from, &place, &copy, link);
}

void change_rename(struct request *r)
{
    give_name(r, false);
}

void change_link(struct request *r)
{
    give_name(r, true);
}

/* ---- deleting ---- */

static NTSTATUS mark_deleted(const struct subject *s, ULONG flags)
{
    BOOLEAN plain = flags & NT_DISPOSITION_DELETE ? TRUE : FALSE;
    if (flags & ~(ULONG)NT_DISPOSITION_DELETE)
        return set_information(s, DELETE, &flags, sizeof flags, NT_DISPOSITION_EX);
    return set_information(s, DELETE, &plain, sizeof plain, NT_DISPOSITION);
}

void change_disposition(struct request *r)
{
    auto_subject struct subject s = {0};
    NTSTATUS status = subject_of(r, r->wire.numbers[0], &s);
    s.question.access = POLICY_DELETE;
    if (status < 0)
        request_answer(r, status);
    else if (request_allows_change(r, s.own, &s.question, AUDIT_FILE_DELETE)) {
        bool deletes = r->wire.numbers[1] & NT_DISPOSITION_DELETE;
        if (deletes && !record_remove(r, s.own, s.question.path.text))
            return;
        status = mark_deleted(&s, (ULONG)r->wire.numbers[1]);
        if (deletes)
            record_after(r, status, NULL);
        if (status >= 0 && deletes)
            facts_unlinked(r, s.own, &s.facts);
        request_answer(r, status);
    }
}

void change_delete(struct request *r)
{
    auto_subject struct subject s = {0};
    auto_place struct place place = {0};
    struct path name;
    bool pass;
    NTSTATUS status = place_name(r, r->wire.numbers[0], 0, &name, &pass);
    if (status >= 0 && !pass && name.class == PATH_FILE)
        status = place_find(r, &name, &place);
    if (status < 0) {
        request_answer(r, status);
        return;
    }
    if (!place.folder) {
        struct policy_request question = {.path = place.path.text.n ? place.path : name,
                                          .access = POLICY_DELETE};
        if (!pass && request_allows(r, &question, AUDIT_FILE_DELETE))
            request_answer(r, STATUS_ACCESS_DENIED);
        return;
    }
    /* The name itself, even if it is a link: what is marked is what was judged. */
    status = place_open(&place, 0, FILE_OPEN_REPARSE_POINT, &s.own);
    struct str final = status < 0 ? STR_NONE : place_path_of(r, s.own);
    if (status >= 0 && (!final.p || facts_of(s.own, &s.facts) < 0)) {
        request_deny_unknown(r, AUDIT_FILE_DELETE, place.path.text,
                             "the system does not say what or where it is");
        return;
    }
    if (status < 0) {
        request_answer(r, status);
        return;
    }
    s.question = (struct policy_request){.path = {.class = PATH_FILE, .text = final, .base = final},
                                         .access = POLICY_DELETE};
    facts_apply(r, s.own, &s.facts, &s.question);
    s.question.facts.created_by_run = facts_created_by_run(r, s.own, final);
    s.question.facts.existing = path_parent(PATH_WINDOWS, final);
    if (!request_allows_change(r, s.own, &s.question, AUDIT_FILE_DELETE))
        return;
    if (!record_remove(r, s.own, final))
        return;
    status = mark_deleted(&s, NT_DISPOSITION_DELETE);
    record_after(r, status, NULL);
    if (status >= 0)
        facts_unlinked(r, s.own, &s.facts);
    request_answer(r, status);
}

/* ---- attributes, reparse points, security ---- */

/*
 * A time that was set survives only if the same open is not written to and closed afterwards
 * (MS-FSA 2.1.4.17). The open being written to is the tree's own, so the times are set again when
 * it is closed. -1: the time stays as it is now; -2: later writes update it again.
 */
static void keep_times(struct request *r, const struct subject *s, const struct nt_basic *wanted)
{
    enum { STAYS = -1, MOVES = -2 };
    struct nt_basic now, kept = {0};
    PUBLIC_OBJECT_BASIC_INFORMATION tree = {0};
    IO_STATUS_BLOCK io;
    const LARGE_INTEGER *from[] = {&wanted->created, &wanted->accessed, &wanted->written,
                                   &wanted->changed};
    LARGE_INTEGER *to[] = {&kept.created, &kept.accessed, &kept.written, &kept.changed};
    bool any = false;
    /* A handle that cannot write changes no times. */
    if (s->facts.directory ||
        NtQueryObject(s->borrowed, ObjectBasicInformation, &tree, sizeof tree, NULL) < 0 ||
        !(tree.GrantedAccess & (FILE_WRITE_DATA | FILE_APPEND_DATA)) ||
        NtQueryInformationFile(s->own, &io, &now, sizeof now, (FILE_INFORMATION_CLASS)NT_BASIC) < 0)
        return;
    const LARGE_INTEGER *is[] = {&now.created, &now.accessed, &now.written, &now.changed};
    for (size_t i = 0; i < 4; i++) {
        LONGLONG value = from[i]->QuadPart;
        if (value != 0 && value != MOVES)
            to[i]->QuadPart = value == STAYS ? is[i]->QuadPart : value;
        any = any || to[i]->QuadPart;
    }
    HANDLE file;
    if (any && reopen(s->own, FILE_WRITE_ATTRIBUTES, &file) >= 0) {
        times_keep(r->client, r->wire.numbers[0], file, &kept);
        r->answer.flags |= WIRE_SAY_CLOSED;
    } else {
        times_forget(r->client, r->wire.numbers[0]);
    }
}

static void spell_time(struct buf *out, const char *what, LONGLONG value)
{
    FILETIME time = {(DWORD)value, (DWORD)((uint64_t)value >> 32)};
    SYSTEMTIME utc;
    if (value == 0 || !FileTimeToSystemTime(&time, &utc))
        return;
    buf_fmt(out, "%s%s %04u-%02u-%02uT%02u:%02u:%02u.%07uZ", out->n ? ", " : "", what, utc.wYear,
            utc.wMonth, utc.wDay, utc.wHour, utc.wMinute, utc.wSecond,
            (unsigned)(value % 10000000));
}

/* For a question: the attributes and times that would be set. */
static void tell_basic(struct request *r, const struct nt_basic *basic, struct buf *out,
                       struct ask_detail *detail)
{
    static const struct {
        ULONG bit;
        const char *name;
    } names[] = {{FILE_ATTRIBUTE_READONLY, "read-only"},
                 {FILE_ATTRIBUTE_HIDDEN, "hidden"},
                 {FILE_ATTRIBUTE_SYSTEM, "system"},
                 {FILE_ATTRIBUTE_ARCHIVE, "archive"}};
    bool first = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (basic->attributes & names[i].bit) {
            buf_fmt(out, "%s%s", first ? "" : " ", names[i].name);
            first = false;
        }
    if (basic->attributes == FILE_ATTRIBUTE_NORMAL)
        buf_add(out, STR("none"));
    else if (basic->attributes && first)
        buf_fmt(out, "0x%lX", basic->attributes);
    spell_time(out, "created", basic->created.QuadPart);
    spell_time(out, "modified", basic->written.QuadPart);
    spell_time(out, "accessed", basic->accessed.QuadPart);
    *detail = (struct ask_detail){.key = basic->attributes ? "attributes" : "times",
                                  .text = buf_str(out)};
    r->detail = out->n ? detail : NULL;
}

void change_basic(struct request *r)
{
    auto_subject struct subject s = {0};
    const uint64_t *n = r->wire.numbers;
    struct nt_basic basic = {
        .created.QuadPart = (LONGLONG)n[1],
        .accessed.QuadPart = (LONGLONG)n[2],
        .written.QuadPart = (LONGLONG)n[3],
        /* With a journal this time is what tells a later change by a person. */
        .changed.QuadPart = r->broker->undo ? 0 : (LONGLONG)n[4],
        .attributes = (ULONG)n[5]};
    auto_buf struct buf told = {0};
    struct ask_detail detail;
    if (r->broker->asks)
        tell_basic(r, &basic, &told, &detail);
    NTSTATUS status = subject_of(r, n[0], &s);
    s.question.access = POLICY_ATTRIBUTES;
    if (status < 0) {
        request_answer(r, status);
    } else if (request_allows_change(r, s.own, &s.question, AUDIT_FILE_ATTRIBUTES) &&
               record_attributes(r, s.own, s.question.path.text)) {
        status = set_information(&s, FILE_WRITE_ATTRIBUTES, &basic, sizeof basic, NT_BASIC);
        request_answer(r, status);
        if (status >= 0 && (n[1] || n[2] || n[3] || n[4]))
            keep_times(r, &s, &basic);
    }
}

void change_closed(struct request *r)
{
    times_closed(r->client, r->wire.numbers[0]);
    request_answer(r, STATUS_SUCCESS);
}

void change_control(struct request *r)
{
    enum { SET_REPARSE = 0x900A4, DELETE_REPARSE = 0x900AC };
    auto_subject struct subject s = {0};
    HANDLE file;
    IO_STATUS_BLOCK io;
    ULONG code = (ULONG)r->wire.numbers[1];
    NTSTATUS status = subject_of(r, r->wire.numbers[0], &s);
    if (status < 0) {
        request_answer(r, status);
        return;
    }
    s.question.access = code == DELETE_REPARSE ? POLICY_DELETE : POLICY_REPARSE;
    if (code == SET_REPARSE && !link_read(r, r->wire.text[0].p, r->wire.text[0].n,
                                          s.question.path.text, &s.question.facts.target))
        s.question.facts.target = (struct path){0};
    if (!request_allows(r, &s.question, AUDIT_FILE_LINK))
        return;
    if (code != SET_REPARSE && code != DELETE_REPARSE) {
        request_deny_text(r, AUDIT_FILE_ATTRIBUTES, s.question.path.text,
                          str_of(policy_rule_id(RULE_FILE_EXTENDED)),
                          STR("object ids and encryption can carry what no rule can see"),
                          STR(POLICY_NO_REMEDY));
        return;
    }
    if (!record_replace(r, s.own, s.question.path.text,
                        code == SET_REPARSE ? FS_LINK
                        : s.facts.directory ? FS_FOLDER
                                            : FS_REGULAR))
        return;
    status = reopen(s.own, FILE_WRITE_ATTRIBUTES, &file);
    if (status >= 0) {
        status = NtFsControlFile(file, NULL, NULL, NULL, &io, code, (void *)r->wire.text[0].p,
                                 (ULONG)r->wire.text[0].n, NULL, 0);
        NtClose(file);
    }
    record_after(r, status, NULL);
    request_answer(r, status);
}

void change_security(struct request *r)
{
    auto_subject struct subject s = {0};
    NTSTATUS status = subject_of(r, r->wire.numbers[0], &s);
    s.question.access = POLICY_SECURITY;
    if (status < 0)
        request_answer(r, status);
    else if (request_allows_change(r, s.own, &s.question, AUDIT_FILE_SECURITY) &&
             record_attributes(r, s.own, s.question.path.text)) {
        HANDLE file;
        status = reopen(s.own, WRITE_DAC | READ_CONTROL, &file);
        if (status >= 0) {
            status = security_set(r, file);
            NtClose(file);
        }
        request_answer(r, status);
    }
}
