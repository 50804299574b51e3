/* SPDX-License-Identifier: Apache-2.0 */
/* A program's version resource, from any bytes: bounded work, no read outside. */
#include <stdint.h>
#include <string.h>

#include "launch/version.h"

struct file {
    const uint8_t *bytes;
    size_t size, reads;
};

static bool read_at(void *context, uint64_t at, void *out, size_t count)
{
    struct file *f = context;
    if (++f->reads > 20000)
        __builtin_trap();
    if (at > f->size || count > f->size - at)
        return false;
    memcpy(out, f->bytes + at, count);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena arena = {0};
    struct file f = {data, size, 0};
    struct str name = version_find(&arena, read_at, &f);
    if (name.n > 3 * 260)
        __builtin_trap();
    return 0;
}
