/* SPDX-License-Identifier: Apache-2.0 */
/* Opens names that are not files: devices, pipes, streams and sockets. Most of them pass, and the
   token decides; the few that the token refuses and every program needs are opened here. */
#include <wchar.h>

#include "broker/windows/open.h"

static void open_nul(struct request *r, struct open_wish *w)
{
    HANDLE file;
    UNICODE_STRING name;
    RtlInitUnicodeString(&name, L"\\Device\\Null");
    NTSTATUS status = open_at(
        NULL, &name, w->access, w->share, FILE_OPEN,
        w->options & (FILE_SYNCHRONOUS_IO_ALERT | FILE_SYNCHRONOUS_IO_NONALERT), NULL, &file);
    if (status < 0) {
        r->answer.flags |= WIRE_PASS;
        return;
    }
    open_give(r, w, file, NEVER_GIVEN, FILE_OPENED);
}

/* Sockets and cryptography for a token that was refused: opened here, under the device's own
   name. */
static void open_brokered(struct request *r, struct open_wish *w, const struct path *path)
{
    HANDLE file;
    UNICODE_STRING name;
    wchar_t text[80];
    struct str below = str_startsi(path->text, STR("\\Device\\")) ? str_from(path->text, 8)
                                                                  : str_from(path->text, 4);
    struct policy_request question = {.path = *path, .access = POLICY_WRITE};
    struct policy_answer answer = {0};
    policy_decide(r->broker->policy, &question, &answer);
    if (answer.rule != RULE_DEVICE_BROKERED || below.n > 60) {
        request_answer(r, STATUS_ACCESS_DENIED); /* as the token says */
        return;
    }
    swprintf(text, 80, L"\\Device\\%.*hs", (int)below.n, below.p);
    RtlInitUnicodeString(&name, text);
    NTSTATUS status = open_at(
        NULL, &name, w->access, w->share, FILE_OPEN,
        w->options & (FILE_SYNCHRONOUS_IO_ALERT | FILE_SYNCHRONOUS_IO_NONALERT), NULL, &file);
    request_answer(r, status);
    if (status >= 0)
        open_give(r, w, file, NEVER_GIVEN, FILE_OPENED);
}

/* A missing stream is "not found", as without us; only its file is inspected. */
static bool is_missing_stream(struct request *r, const struct path *path)
{
    HANDLE file;
    auto_place struct place place = {0};
    NTSTATUS status = place_find(r, path, &place);
    if (status >= 0)
        status = place.folder ? place_look(&place, false, &file) : STATUS_ACCESS_DENIED;
    if (status >= 0)
        NtClose(file);
    return status == STATUS_OBJECT_NAME_NOT_FOUND || status == STATUS_OBJECT_PATH_NOT_FOUND;
}

void open_device(struct request *r, struct open_wish *w, const struct path *path)
{
    bool opens = w->disposition == FILE_OPEN;
    if (path->class == PATH_STREAM && opens && is_missing_stream(r, path)) {
        request_answer(r, STATUS_OBJECT_NAME_NOT_FOUND);
        return;
    }
    /* Opening never makes a pipe, whatever the disposition: the file system of pipes ignores it. */
    bool writes = opens || path->class == PATH_PIPE;
    struct policy_request question = {.path = *path,
                                      .access = writes ? POLICY_WRITE : POLICY_CREATE};
    enum audit_op op = path->class == PATH_PIPE     ? AUDIT_PIPE_CONNECT
                       : path->class == PATH_DEVICE ? AUDIT_DEVICE_OPEN
                       : opens                      ? AUDIT_FILE_WRITE
                                                    : AUDIT_FILE_CREATE;
    if (path->class == PATH_PIPE)
        question.facts.created_by_run = pipe_is_ours(r->broker, path->text);
    if (!request_allows(r, &question, op))
        return;
    if (path->class == PATH_NUL)
        open_nul(r, w);
    else if (w->flags & WIRE_WAS_REFUSED)
        open_brokered(r, w, path);
    else
        r->answer.flags |= WIRE_PASS;
}

void open_device_socket(struct request *r, struct open_wish *w)
{
    HANDLE file;
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    if (!network_allows_socket(r, r->wire.text[1].p, r->wire.text[1].n))
        return;
    if (!(w->flags & WIRE_WAS_REFUSED)) {
        r->answer.flags |= WIRE_PASS;
        request_answer(r, STATUS_SUCCESS);
        return;
    }
    RtlInitUnicodeString(&name, L"\\Device\\Afd\\Endpoint");
    InitializeObjectAttributes(&object, &name, OBJ_CASE_INSENSITIVE, NULL, NULL);
    NTSTATUS status =
        NtCreateFile(&file, w->access, &object, &io, NULL, 0, w->share, FILE_OPEN_IF,
                     w->options & (FILE_SYNCHRONOUS_IO_ALERT | FILE_SYNCHRONOUS_IO_NONALERT),
                     (void *)r->wire.text[1].p, (ULONG)r->wire.text[1].n);
    request_answer(r, status);
    if (status >= 0)
        open_give(r, w, file, NEVER_GIVEN, FILE_OPENED);
}
