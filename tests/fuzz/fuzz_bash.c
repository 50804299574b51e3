/* SPDX-License-Identifier: Apache-2.0 */
/* The bash reader: any text, and any text that parses with a command after it that must be
   seen. */
#include "guard_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct guard *g;
    if (!g && guard_new(&g))
        abort();
    struct str text = {(const char *)data, size};
    struct guard_question q = {.shell = GUARD_BASH, .text = text, .show = true};
    bool syntax_error;
    guard_fuzz_ask(g, &q, &syntax_error);
    if (syntax_error)
        return 0;
    /* A document without its end swallows the rest, a function may take the name, \ joins lines. */
    if (str_find(text, STR("<<"), 0) < size || str_findi(text, STR("xdg"), 0) < size ||
        str_findi(text, STR("\\"), 0) < size)
        return 0;
    guard_fuzz_append(g, &q, STR("\nxdg-open https://x.test"));
    return 0;
}
