/* SPDX-License-Identifier: Apache-2.0 */
/* Which handler answers which request. */
#include "base/utf.h"
#include "broker/windows/ask.h"

static const struct {
    enum audit_op op;
    enum policy_rule rule;
    const char *why;
} refusals[WIRE_REFUSED_COUNT] = {
    [WIRE_REFUSED_EA] = {AUDIT_FILE_ATTRIBUTES, RULE_FILE_EXTENDED,
                         "extended attributes can carry what no rule can see"},
    [WIRE_REFUSED_VOLUME] = {AUDIT_FILE_ATTRIBUTES, RULE_PATH_DEVICE,
                             "this would change the volume itself"},
    [WIRE_REFUSED_MAILSLOT] = {AUDIT_PIPE_CREATE, RULE_PATH_MAILSLOT,
                               "mailslots receive from anyone"},
    [WIRE_REFUSED_PROCESS_CLONE] = {AUDIT_PROCESS_START, RULE_PROCESS_CLONE,
                                    "a process made in this way could not be confined"},
    [WIRE_REFUSED_REGISTRY] = {AUDIT_REGISTRY_WRITE, RULE_REGISTRY_WRITE,
                               "the registry is not for the command to change"},
    [WIRE_REFUSED_HIVE] = {AUDIT_REGISTRY_WRITE, RULE_REGISTRY_HIVE,
                           "registry files are not loaded, saved or replaced from inside"},
    [WIRE_REFUSED_LINK_OBJECT] =
        {AUDIT_DEVICE_OPEN, RULE_PATH_DEVICE,
         "drive letters and device names are not for the command to change"},
    [WIRE_REFUSED_SYSTEM] = {AUDIT_DEVICE_OPEN, RULE_PROCESS_SYSTEM,
                             "this changes the whole system"},
    [WIRE_REFUSED_TRANSACTION] = {AUDIT_FILE_WRITE, RULE_FILE_TRANSACTION,
                                  "Cordon would make the change outside the transaction"},
};

static struct str text_of(struct request *r, unsigned text)
{
    auto_buf struct buf out = {0};
    utf_from16(&out, r->wire.text[text].p, r->wire.text[text].n / 2);
    return out.failed ? STR_NONE : arena_copy(&r->arena, buf_str(&out));
}

static void refused(struct request *r)
{
    uint64_t kind = r->wire.numbers[0];
    if (kind == 0 || kind >= WIRE_REFUSED_COUNT) {
        r->malformed = true;
        return;
    }
    request_deny_text(r, refusals[kind].op, text_of(r, 0),
                      str_of(policy_rule_id(refusals[kind].rule)), str_of(refusals[kind].why),
                      STR(POLICY_NO_REMEDY));
}

/* In the order of requests.def; NULL: no agent asks this. */
static void (*const handlers[WIRE_OPS])(struct request *r) = {
    [WIRE_OPEN] = open_handle,         [WIRE_READ] = open_handle_read,
    [WIRE_DELETE] = change_delete,     [WIRE_RENAME] = change_rename,
    [WIRE_LINK] = change_link,         [WIRE_DISPOSITION] = change_disposition,
    [WIRE_BASIC] = change_basic,       [WIRE_CONTROL] = change_control,
    [WIRE_SECURITY] = change_security, [WIRE_REFUSED] = refused,
    [WIRE_START] = process_start,      [WIRE_STARTED] = process_started,
    [WIRE_NETWORK] = network_handle,   [WIRE_PIPE] = pipe_handle,
    [WIRE_REACH] = process_reach,      [WIRE_SERVICE] = service_handle,
    [WIRE_CLOSED] = change_closed,
};

void broker_dispatch(struct request *r)
{
    r->answer.status = (uint32_t)STATUS_ACCESS_DENIED;
    if (handlers[r->wire.op])
        handlers[r->wire.op](r);
    else
        r->malformed = true;
    broker_ask_served(r);
    if (r->waits) {
        r->answer.flags = WIRE_WAITS;
        r->answer.status = (uint32_t)STATUS_ACCESS_DENIED;
    }
}
