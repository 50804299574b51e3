/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines from any arguments: programs get them back, and cmd finds nothing to run in what a
   batch file gets. */
#include <stdlib.h>

#include "launch/cmdline.h"

#define MUST(condition)   \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

enum { MOST_WORDS = 16, MOST_BYTES = 4096 };

/* Outside quotes nothing means anything to cmd; inside, only %NAME% would. */
static bool is_inert(struct str line)
{
    bool quoted = false;
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        if (c == '"')
            quoted = !quoted;
        else if (c == '%' || c == '\n' || c == '\r' || (!quoted && memchr("&|<>^()!,;=", c, 11)))
            return false;
    }
    return !quoted;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char prefix[] = "c.exe /e:on /v:off /d /s /c \"";
    char bytes[MOST_BYTES + 1];
    const char *argv[MOST_WORDS + 1] = {"C:\\t.bat"};
    size_t count = 1;
    if (size > MOST_BYTES)
        return 0;
    if (size)
        memcpy(bytes, data, size);
    bytes[size] = '\0';
    for (size_t i = 0; i < size && count < MOST_WORDS; i += strlen(bytes + i) + 1)
        argv[count++] = bytes + i;
    struct buf out = {0}, error = {0};
    if (cmdline_join(&out, argv, count, &error) == 0)
        MUST(cmdline_reads_as(buf_str(&out), argv, count));
    buf_reset(&out);
    if (cmdline_join_batch(&out, STR("c.exe"), STR("C:\\t.bat"), argv + 1, count - 1, &error) ==
        0) {
        MUST(str_starts(buf_str(&out), STR(prefix)) && str_ends(buf_str(&out), STR("\"")));
        struct str inner = str_slice(buf_str(&out), sizeof prefix - 1, out.n - 1);
        MUST(is_inert(inner) && cmdline_reads_as(inner, argv, count));
    }
    buf_reset(&out);
    cmdline_join_cmd(&out, argv, count, &error);
    buf_free(&out);
    buf_free(&error);
    return 0;
}
