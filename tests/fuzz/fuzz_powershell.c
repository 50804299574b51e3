/* SPDX-License-Identifier: Apache-2.0 */
/* The PowerShell reader. What it accepts stays read when a launch is appended: never allow. */
#include "guard_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct guard *g;
    bool syntax_error;
    if (!g && guard_new(&g))
        return 0;
    struct guard_question q = {
        .shell = GUARD_POWERSHELL, .text = {(const char *)data, size}, .show = true};
    guard_fuzz_ask(g, &q, &syntax_error);
    /* A backtick at the end of a word takes the newline, CR LF too, into the word. */
    size_t end = size && data[size - 1] == '\r' ? size - 1 : size;
    if (syntax_error || (end && data[end - 1] == '`'))
        return 0;
    guard_fuzz_append(g, &q, STR("\nStart-Process https://x.test"));
    return 0;
}
