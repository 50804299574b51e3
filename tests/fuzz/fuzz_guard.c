/* SPDX-License-Identifier: Apache-2.0 */
/* The whole guard: the first byte chooses the form of the question, the rest is its text. */
#include "guard_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 64 };
    static struct guard *g;
    struct str words[MOST];
    bool syntax_error;
    if (size == 0 || (!g && guard_new(&g)))
        return 0;
    struct str text = {(const char *)data + 1, size - 1};
    struct guard_question q = {.show = data[0] & 8};
    switch (data[0] % 5) {
    case 0: q.cmdline = text.n ? text : STR(""); break;
    case 1: q.shell = GUARD_CMD; break;
    case 2: q.shell = GUARD_POWERSHELL; break;
    case 3: q.shell = GUARD_BASH; break;
    default: {
        /* Arguments end at newlines. */
        size_t count = 0;
        for (size_t pos = 0; pos <= text.n && count < MOST;) {
            size_t end = str_find_char(text, '\n', pos);
            words[count++] = str_slice(text, pos, end);
            pos = end + 1;
        }
        q.argv = words;
        q.argc = count;
    }
    }
    q.text = text;
    q.script_file = data[0] & 16;
    guard_fuzz_ask(g, &q, &syntax_error);
    return 0;
}
