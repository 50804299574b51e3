/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and checks of messages. */
#include "wire/wire.h"

#include <string.h>

static const struct {
    const char *name;
    unsigned char numbers, texts;
} requests[WIRE_OPS] = {
    {"nothing", 0, 0},
#define REQUEST(name, numbers, texts) {#name, numbers, texts},
#include "wire/requests.def"
#undef REQUEST
};

static size_t padded(uint32_t size)
{
    return ((size_t)size + 3) & ~(size_t)3;
}

size_t wire_text_at(const uint32_t text_size[WIRE_TEXTS], unsigned text)
{
    size_t at = sizeof(struct wire_message);
    for (unsigned i = 0; i < text; i++)
        at += padded(text_size[i]);
    return at;
}

size_t wire_size(enum wire_op op, const uint32_t text_size[WIRE_TEXTS])
{
    if (op <= WIRE_NOTHING || op >= WIRE_OPS)
        return 0;
    for (unsigned i = 0; i < WIRE_TEXTS; i++)
        if (text_size[i] > WIRE_MAX_TEXT || (i >= requests[op].texts && text_size[i]))
            return 0;
    return wire_text_at(text_size, WIRE_TEXTS);
}

bool wire_decode(const void *message, size_t size, struct wire_request *out)
{
    struct wire_message head;
    struct wire_request r = {0};
    if (size < sizeof head || size > WIRE_MAX_MESSAGE)
        return false;
    memcpy(&head, message, sizeof head);
    if (head.op >= WIRE_OPS || size != wire_size((enum wire_op)head.op, head.text_size))
        return false;
    for (unsigned i = requests[head.op].numbers; i < WIRE_NUMBERS; i++)
        if (head.numbers[i])
            return false;
    r.op = (enum wire_op)head.op;
    r.sequence = head.sequence;
    memcpy(r.numbers, head.numbers, sizeof r.numbers);
    for (unsigned i = 0; i < requests[head.op].texts; i++) {
        r.text[i].p = (const unsigned char *)message + wire_text_at(head.text_size, i);
        r.text[i].n = head.text_size[i];
    }
    *out = r;
    return true;
}

const char *wire_op_name(uint32_t op)
{
    return op < WIRE_OPS ? requests[op].name : "unknown";
}
