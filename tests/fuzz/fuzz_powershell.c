/* The PowerShell reader. What it accepts stays read when a launch is appended: never allow. */
#include "guard_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char launch[] = "\nStart-Process https://x.test";
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
    auto_buf struct buf longer = {0};
    buf_add(&longer, q.text);
    buf_add(&longer, STR(launch));
    if (longer.failed)
        return 0;
    q.text = buf_str(&longer);
    if (guard_fuzz_ask(g, &q, &syntax_error) == CORDON_ALLOW)
        abort();
    return 0;
}
