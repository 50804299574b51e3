/* SPDX-License-Identifier: Apache-2.0 */
/* Named pipes: who owns them. The program connects with its own token: the broker is never a pipe's
   client. */
#include <stdlib.h>

#include "base/utf.h"
#include "broker/windows/broker.h"
#include "launch/windows/wide.h"

enum { MOST_PIPES = 1 << 20 };

/* FNV-1a of the name after \pipe\, case folded. */
static uint64_t hash_of(struct str path)
{
    uint64_t hash = 0xCBF29CE484222325;
    for (size_t i = 0; i < path.n; i++)
        hash = (hash ^ (unsigned char)ascii_lower(path.p[i])) * 0x100000001B3;
    return hash ? hash : 1;
}

bool pipe_is_ours(struct broker *b, struct str name)
{
    uint64_t hash = hash_of(name);
    bool found = false;
    if (b->ask_pipe.n && str_eqi(name, b->ask_pipe))
        return false;
    EnterCriticalSection(&b->lock);
    for (size_t i = 0; i < b->pipes.count && !found; i++)
        found = b->pipes.hashes[i] == hash;
    LeaveCriticalSection(&b->lock);
    return found;
}

static bool remember(struct broker *b, struct str name)
{
    bool good = true;
    if (pipe_is_ours(b, name))
        return true;
    EnterCriticalSection(&b->lock);
    if (b->pipes.count == b->pipes.capacity) {
        size_t capacity = b->pipes.capacity ? 2 * b->pipes.capacity : 64;
        uint64_t *hashes =
            capacity <= MOST_PIPES ? realloc(b->pipes.hashes, capacity * sizeof *hashes) : NULL;
        good = hashes != NULL;
        if (good) {
            b->pipes.hashes = hashes;
            b->pipes.capacity = capacity;
        }
    }
    if (good)
        b->pipes.hashes[b->pipes.count++] = hash_of(name);
    LeaveCriticalSection(&b->lock);
    return good;
}

/* Adding an instance to a pipe that a process outside serves would make the name ours, and the next
   client could reach either. Asking does not make us a client. */
static bool is_taken(struct request *r, struct str path)
{
    wchar_t *name = wide_of(&r->arena, path);
    return !name || WaitNamedPipeW(name, 1) || GetLastError() != ERROR_FILE_NOT_FOUND;
}

void pipe_handle(struct request *r)
{
    struct path path;
    bool pass;
    NTSTATUS status = place_name(r, r->wire.numbers[1], 0, &path, &pass);
    if (status < 0 || pass || path.class != PATH_PIPE) {
        request_answer(r, status < 0 ? status : STATUS_OBJECT_NAME_INVALID);
        return;
    }
    if (r->wire.numbers[0] == WIRE_PIPE_MADE) {
        request_answer(r, remember(r->broker, path.text) ? STATUS_SUCCESS
                                                         : STATUS_INSUFFICIENT_RESOURCES);
        return;
    }
    if (r->wire.numbers[0] == WIRE_PIPE_MAKE &&
        (pipe_is_ours(r->broker, path.text) || !is_taken(r, path.text))) {
        request_answer(r, STATUS_SUCCESS);
        return;
    }
    struct policy_request question = {.path = path, .access = POLICY_WRITE};
    question.facts.created_by_run = pipe_is_ours(r->broker, path.text);
    if (request_allows(r, &question,
                       r->wire.numbers[0] == WIRE_PIPE_MAKE ? AUDIT_PIPE_CREATE
                                                            : AUDIT_PIPE_CONNECT))
        request_answer(r, STATUS_SUCCESS);
}
