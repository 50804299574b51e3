/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model and a kernel that honours tokens are asked the same questions: objects are made with
 * the descriptors of objects.def, opened by a thread that wears each token, and the answers
 * compared with the model's. Every difference is a fault of one of them. Where the kernel holds
 * nothing to its token (found out by trying) there is nothing to compare.
 */
#include "wire/windows/nt.h"

#include <sddl.h>
#include <stdio.h>
#include <stdlib.h>

#include "access.h"
#include "base/buf.h"
#include "launch/windows/boundary.h"
#include "launch/windows/token.h"
#include "tap.h"

NTSYSAPI NTSTATUS NTAPI NtCreateEvent(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, int, BOOLEAN);
NTSYSAPI NTSTATUS NTAPI NtOpenEvent(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);
NTSYSAPI NTSTATUS NTAPI NtCreateSection(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, LARGE_INTEGER *,
                                        ULONG, ULONG, HANDLE);
NTSYSAPI NTSTATUS NTAPI NtOpenSection(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);
NTSYSAPI NTSTATUS NTAPI NtCreateDirectoryObject(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);
NTSYSAPI NTSTATUS NTAPI NtOpenDirectoryObject(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);

enum { MOST_GROUPS = 64 };

static struct arena arena;
static struct token_run who;

static const char *text_of(PSID sid)
{
    char *text = NULL;
    if (!ConvertSidToStringSidA(sid, &text))
        return "S-1-0-0";
    const char *out = arena_copy(&arena, str_of(text)).p;
    LocalFree(text);
    return out;
}

/* SDDL with the names of the table replaced by SIDs of this machine. */
static const char *filled(const char *sddl)
{
    const char *names[][2] = {{"USER", text_of(who.user)},
                              {"LOGON", text_of(who.logon)},
                              {"RUN", text_of(who.sid)},
                              {"OTHER", "S-1-0-21-22-23-24"}};
    struct buf out = {0};
    while (*sddl) {
        size_t i = 0;
        while (i < 4 && strncmp(sddl, names[i][0], strlen(names[i][0])) != 0)
            i++;
        if (i < 4)
            buf_add(&out, str_of(names[i][1]));
        else
            buf_char(&out, *sddl);
        sddl += i < 4 ? strlen(names[i][0]) : 1;
    }
    const char *copy = arena_copy(&arena, buf_str(&out)).p;
    buf_free(&out);
    return copy;
}

/* A token as the kernel has it, and as the model is told it. */
struct pair {
    const char *name;
    HANDLE worn;
    struct model_token model;
    const char *sids[MOST_GROUPS], *deny_only[MOST_GROUPS], *restricting[MOST_GROUPS];
};

static TOKEN_GROUPS *groups_of(HANDLE token, TOKEN_INFORMATION_CLASS class)
{
    DWORD size = 0;
    GetTokenInformation(token, class, NULL, 0, &size);
    TOKEN_GROUPS *groups = arena_alloc(&arena, size + sizeof *groups);
    return groups && GetTokenInformation(token, class, groups, size, &size) ? groups : NULL;
}

static bool make_pair(const char *name, const struct token_options *how, struct pair *out)
{
    struct launch_failure failure;
    HANDLE token;
    size_t enabled = 0, denying = 0, restricting = 0;
    *out = (struct pair){.name = name};
    if (token_make(&who, how, &token, &failure) ||
        !DuplicateTokenEx(token, TOKEN_ALL_ACCESS, NULL, SecurityImpersonation, TokenImpersonation,
                          &out->worn))
        return false;
    TOKEN_GROUPS *groups = groups_of(token, TokenGroups);
    TOKEN_GROUPS *restricted = groups_of(token, TokenRestrictedSids);
    if (!groups || !restricted)
        return false;
    out->sids[enabled++] = text_of(who.user);
    for (DWORD i = 0; i < groups->GroupCount && i < MOST_GROUPS - 2; i++) {
        if (groups->Groups[i].Attributes & SE_GROUP_USE_FOR_DENY_ONLY)
            out->deny_only[denying++] = text_of(groups->Groups[i].Sid);
        else if (groups->Groups[i].Attributes & SE_GROUP_ENABLED)
            out->sids[enabled++] = text_of(groups->Groups[i].Sid);
    }
    for (DWORD i = 0; i < restricted->GroupCount && i < MOST_GROUPS - 1; i++)
        out->restricting[restricting++] = text_of(restricted->Groups[i].Sid);
    out->model = (struct model_token){name,           how->medium ? MODEL_MEDIUM : MODEL_LOW,
                                      true,           out->sids,
                                      out->deny_only, out->restricting};
    CloseHandle(token);
    return true;
}

/* ---- objects that can be made with any descriptor ---- */

static bool make_object(enum model_type type, OBJECT_ATTRIBUTES *object, HANDLE *out)
{
    LARGE_INTEGER size = {.QuadPart = 4096};
    switch (type) {
    case MODEL_EVENT: return NtCreateEvent(out, EVENT_ALL_ACCESS, object, 0, FALSE) >= 0;
    case MODEL_SECTION:
        return NtCreateSection(out, SECTION_ALL_ACCESS, object, &size, PAGE_READWRITE, SEC_COMMIT,
                               NULL) >= 0;
    case MODEL_DIRECTORY: return NtCreateDirectoryObject(out, 0xF000F, object) >= 0;
    default: return false;
    }
}

static NTSTATUS open_object(enum model_type type, OBJECT_ATTRIBUTES *object, ACCESS_MASK right,
                            HANDLE *out)
{
    switch (type) {
    case MODEL_EVENT: return NtOpenEvent(out, right, object);
    case MODEL_SECTION: return NtOpenSection(out, right, object);
    default: return NtOpenDirectoryObject(out, right, object);
    }
}

#define X(name_, type_, sddl_, right_, run_, user_) {name_, sddl_, MODEL_##type_, right_},
static const struct row {
    const char *name, *sddl;
    enum model_type type;
    uint32_t right;
} rows[] = {
#include "objects.def"
};
#undef X

/* Every descriptor of the table for every type that can have it here, with every single right. */
static void compare(const struct row *row, enum model_type type, const char *type_name,
                    const struct pair *pairs, size_t pair_count)
{
    static const uint32_t rights[] = {0x1,      0x2,        0x4,        0x8,
                                      0x10000,  0x20000,    0x40000,    0x80000,
                                      0x100000, 0x80000000, 0x40000000, 0x20000000};
    static unsigned number;
    wchar_t path[80];
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES object;
    PSECURITY_DESCRIPTOR descriptor = NULL;
    struct model_object model = {0};
    const char *sddl = filled(row->sddl), *where;
    HANDLE made = NULL;
    unsigned asked = 0, differ = 0;
    if (!model_read(&arena, type, sddl, &model, &where) ||
        !ConvertStringSecurityDescriptorToSecurityDescriptorA(sddl, SDDL_REVISION_1, &descriptor,
                                                              NULL))
        return;
    swprintf(path, 80, L"\\BaseNamedObjects\\cordon-agree-%lu-%u", GetCurrentProcessId(), number++);
    RtlInitUnicodeString(&name, path);
    InitializeObjectAttributes(&object, &name, OBJ_CASE_INSENSITIVE, NULL, descriptor);
    if (!make_object(type, &object, &made)) {
        skip(row->name, "its descriptor cannot be given to an object here");
        LocalFree(descriptor);
        return;
    }
    object.SecurityDescriptor = NULL;
    for (size_t p = 0; p < pair_count; p++)
        for (size_t r = 0; r < sizeof rights / sizeof *rights; r++) {
            HANDLE opened = NULL;
            SetThreadToken(NULL, pairs[p].worn);
            NTSTATUS status = open_object(type, &object, rights[r], &opened);
            SetThreadToken(NULL, NULL);
            bool granted = model_check(&pairs[p].model, &model, rights[r]) == MODEL_GRANTED;
            asked++;
            if ((status >= 0) != granted && differ++ < 4)
                note("%s, right %08x: model %s, kernel %08lx", pairs[p].name, (unsigned)rights[r],
                     granted ? "grants" : "refuses", (unsigned long)status);
            if (status >= 0)
                NtClose(opened);
        }
    ok(differ == 0, "%s as %s: %u questions, %u answered differently", row->name, type_name, asked,
       differ);
    NtClose(made);
    LocalFree(descriptor);
}

int main(void)
{
    struct launch_failure failure;
    struct boundary tried = {0};
    struct pair pairs[3];
    HANDLE token = NULL;
    if (token_run_sid(&who, &failure) == 0 &&
        token_make(&who, &(struct token_options){0}, &token, &failure) == 0 &&
        !groups_of(token, TokenRestrictedSids)) {
        skip("the model and the kernel agree", "this kernel knows no restricting SIDs");
        return tap_done();
    }
    if (!token || !make_pair("the run's", &(struct token_options){0}, &pairs[0]) ||
        !make_pair("with Everyone", &(struct token_options){.everyone = true}, &pairs[1]) ||
        !make_pair("Medium", &(struct token_options){.medium = true}, &pairs[2])) {
        ok(false, "the tokens can be made");
        return tap_done();
    }
    boundary_try(pairs[0].worn, &tried);
    if (!boundary_is_kernel(&tried)) {
        skip("the model and the kernel agree", "this kernel holds nothing to its token");
        return tap_done();
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool first = true;
        for (size_t j = 0; j < i; j++)
            first = first && strcmp(rows[j].sddl, rows[i].sddl) != 0;
        if (!first)
            continue;
        compare(&rows[i], MODEL_EVENT, "an event", pairs, 3);
        compare(&rows[i], MODEL_SECTION, "a section", pairs, 3);
        compare(&rows[i], MODEL_DIRECTORY, "a directory", pairs, 3);
    }
    arena_free(&arena);
    return tap_done();
}
