/* SPDX-License-Identifier: Apache-2.0 */
/* Audit files: any bytes make a report, and nothing of them becomes markup or a control
   character. */
#include <stdlib.h>

#include "report/collect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct report *r;
    auto_buf struct buf page = {0}, text = {0}, json = {0};
    if (report_new(&r))
        return 0;
    struct str rest = {(const char *)data, size};
    while (rest.n) {
        size_t end = str_find_char(rest, '\n', 0);
        report_line(r, str_slice(rest, 0, end), end == rest.n);
        rest = str_from(rest, end + 1);
    }
    report_finish(r);
    report_page(r, STR("a"), &page);
    report_text(r, STR("a"), &text);
    report_json(r, STR("a"), &json);
    for (size_t i = 0; i < page.n; i++)
        if ((unsigned char)page.p[i] < 0x20 && page.p[i] != '\n')
            abort();
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < 0x20 && text.p[i] != '\n')
            abort();
    /* The page's own script, the one its content policy names, is the only one. */
    size_t own = str_findi(buf_str(&page), STR("<script"), 0);
    if (own == page.n || str_findi(buf_str(&page), STR("<script"), own + 1) < page.n)
        abort();
    report_free(r);
    return 0;
}
