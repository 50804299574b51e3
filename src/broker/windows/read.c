/* SPDX-License-Identifier: Apache-2.0 */
/* Reads that the agent cannot decide by itself: deny-read rules, and names that lead to other machines, devices and
   pipes. */
#include "broker/windows/ask.h"
#include "broker/windows/broker.h"
#include "launch/windows/wine.h"

/* A missing file is no secret: the caller learns just that. What is there can be asked about; true
   if it is answered. */
static bool is_missing_or_asked(struct request *r, struct policy_request *question,
                                const struct policy_answer *answer)
{
    HANDLE file;
    enum ask_ruling ruling = ASK_DENIES;
    const struct path *path = &question->path;
    auto_place struct place place = {0};
    NTSTATUS status = place_find(r, path, &place);
    if (status >= 0)
        status =
            place.folder ? place_look(&place, wine_hides_links(), &file) : STATUS_ACCESS_DENIED;
    if (status >= 0) {
        struct str final = place_path_of(r, file);
        if (final.p)
            question->path = (struct path){.class = PATH_FILE, .text = final, .base = final};
        r->two_steps = r->wire.text[0].n > 0; /* the agent opens it and asks about what it has */
        ruling = broker_ask_read(r, file, question, answer);
        NtClose(file);
    }
    request_answer(r, ruling == ASK_GRANTS ? STATUS_SUCCESS : status);
    return status == STATUS_OBJECT_NAME_NOT_FOUND || status == STATUS_OBJECT_PATH_NOT_FOUND ||
           ruling != ASK_DENIES;
}

/* Nothing lies below: \\.\GLOBALROOT\Device\Mup\h\s would be another machine. */
static bool is_bare_device(const struct path *path)
{
    struct str prefixes[] = {STR("\\\\.\\"), STR("\\Device\\"), STR("\\")};
    size_t i = 0;
    while (i < 2 && !str_startsi(path->text, prefixes[i]))
        i++;
    return path->class == PATH_DEVICE && !str_has_char(str_from(path->text, prefixes[i].n), '\\');
}

void open_handle_read(struct request *r)
{
    enum { HARMLESS = FILE_READ_ATTRIBUTES | SYNCHRONIZE | READ_CONTROL | FILE_READ_EA };
    struct path path;
    bool pass;
    NTSTATUS status = place_name(r, r->wire.numbers[0], 0, &path, &pass);
    if (status < 0 || pass) {
        request_answer(r, pass ? STATUS_SUCCESS : status);
        return;
    }
    /* Nothing can be read from a device through such a handle, and its kind is no secret. */
    bool harmless = !(r->wire.numbers[1] & ~(uint64_t)HARMLESS);
    if (harmless && (is_bare_device(&path) || path.class == PATH_VOLUME ||
                     (path.class == PATH_FILE && !place_is_remote(r->broker, &path)))) {
        request_answer(r, STATUS_SUCCESS);
        return;
    }
    if (path.class == PATH_FILE && place_is_remote(r->broker, &path))
        path.class = PATH_UNC;
    struct policy_request question = {.path = path, .access = POLICY_READ};
    struct policy_answer answer = {0};
    enum audit_op op = path.class == PATH_PIPE ? AUDIT_PIPE_CONNECT : AUDIT_FILE_READ;
    if (path.class == PATH_PIPE)
        question.facts.created_by_run = pipe_is_ours(r->broker, path.text);
    policy_decide(r->broker->policy, &question, &answer);
    if (answer.verdict == CORDON_ALLOW ||
        (path.class == PATH_UNC && r->broker->remote_roots && drives_of(r->broker, path.text))) {
        request_grant(r, op, &question, &answer);
        request_answer(r, STATUS_SUCCESS);
    } else if (answer.rule != RULE_READ_DENIED || path.class != PATH_FILE ||
               !is_missing_or_asked(r, &question, &answer)) {
        request_deny(r, op, &question, &answer, STR_NONE);
    }
}
