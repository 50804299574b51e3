/* SPDX-License-Identifier: Apache-2.0 */
/* The cmd reader, on the command line and as a batch file; a command after any text must be
   seen. */
#include "guard_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * True if cmd itself would not run what follows: a comment or a label, an open quote, a caret or a
 * redirection that takes the next character, a percent sign or the set of a loop that is still
 * open.
 */
static bool swallows(struct str text)
{
    size_t line = text.n;
    while (line > 0 && text.p[line - 1] != '\n')
        line--;
    struct str last = str_from(text, line);
    if (str_findi(text, STR("rem"), 0) < text.n || str_has_char(text, ':') ||
        str_has_char(last, '"') || str_has_char(text, '^') || str_has_char(last, '<') ||
        str_has_char(last, '>') || str_has_char(text, '%') || str_has_char(text, '!'))
        return true;
    return str_findi(text, STR("for"), 0) < text.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct guard *g;
    if (!g && guard_new(&g))
        abort();
    struct str text = {(const char *)data, size};
    struct guard_question q = {.shell = GUARD_CMD, .text = text, .show = true};
    bool syntax_error;
    guard_fuzz_ask(g, &q, &syntax_error);
    q.script_file = true;
    guard_fuzz_ask(g, &q, &syntax_error);
    if (swallows(text))
        return 0;
    guard_fuzz_append(g, &q, STR("& start https://x.test"));
    q.script_file = false;
    guard_fuzz_append(g, &q, STR("& start https://x.test"));
    return 0;
}
