/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of journals. The input is a list of records without their frames, so that the fuzzer
   does not have to guess checks; and it is read raw, too. */
#include <stdlib.h>

#include "undo/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(struct str log)
{
    auto_undo_model struct undo_model m = {0};
    struct undo_change *changes;
    size_t count;
    if (undo_model_read(&m, log) || undo_model_replay(&m))
        return;
    if (undo_model_changes(&m, &changes, &count))
        return;
    for (size_t i = 0; i < count; i++)
        if (changes[i].path.n > (size_t)UNDO_LONGEST_PATH * UNDO_LONGEST_PATH)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_buf struct buf log = {0};
    struct undo_head head = {
        .run = STR("r"), .root_count = 2, .roots = {{STR("/a"), 1, 1}, {STR("/b"), 1, 2}}};
    read_all((struct str){(const char *)data, size});
    undo_put_head(&log, &head);
    while (size >= 2) {
        size_t n = data[0] | (size_t)data[1] << 8;
        n = n > size - 2 ? size - 2 : n;
        struct str payload = {(const char *)data + 2, n};
        uint64_t check = undo_hash(payload);
        for (int i = 0; i < 4; i++)
            buf_char(&log, (char)(n >> (8 * i)));
        for (int i = 0; i < 4; i++)
            buf_char(&log, (char)(check >> (8 * i)));
        buf_add(&log, payload);
        data += 2 + n;
        size -= 2 + n;
    }
    if (!log.failed)
        read_all(buf_str(&log));
    return 0;
}
