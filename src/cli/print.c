/* SPDX-License-Identifier: Apache-2.0 */
/* Output for people: errors, colours, spans, suggestions. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/utf.h"
#include "cli/cli.h"
#include "report/collect.h"

static char last[1024];
static bool answered;

static void print_line(const char *format, va_list args)
{
    vsnprintf(last, sizeof last, format, args);
    auto_buf struct buf clean = {0};
    report_clean_lines(&clean, str_of(last));
    fflush(stdout);
    fprintf(stderr, "cordon: %s\n", buf_cstr(&clean));
}

const char *print_last(void)
{
    return last;
}

bool print_answered(void)
{
    return answered;
}

void print_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
}

int print_failure(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
    return EXIT_FAILED;
}

const char *print_style(enum print_style style)
{
    static const char *const escapes[] = {"\033[0m",  "\033[1m",  "\033[31m",
                                          "\033[33m", "\033[32m", "\033[2m"};
    const char *no_color = getenv("NO_COLOR");
    if ((no_color && no_color[0]) || !cli_is_terminal(stdout))
        return "";
    return escapes[style];
}

enum print_style print_verdict_style(enum cordon_verdict verdict)
{
    return verdict == CORDON_DENY ? PRINT_RED : verdict == CORDON_ASK ? PRINT_YELLOW : PRINT_GREEN;
}

/* One column for each character, so that carets stand under what they mean. */
static size_t columns(struct str s)
{
    size_t n = 0;
    for (size_t pos = 0; pos < s.n; n++)
        utf_decode(s, &pos);
    return n;
}

void print_span(struct str text, size_t start, size_t end)
{
    enum { BEFORE = 60, LONGEST = 100 };
    size_t from = start, to;
    while (from > 0 && text.p[from - 1] != '\n' && start - from < BEFORE)
        from--;
    while (from < start && ((unsigned char)text.p[from] & 0xC0) == 0x80)
        from++;
    for (to = start; to < text.n && text.p[to] != '\n' && to - from < LONGEST; to++)
        ;
    while (to < text.n && to > start && ((unsigned char)text.p[to] & 0xC0) == 0x80)
        to--;
    if (end > to)
        end = to;
    auto_buf struct buf line = {0};
    for (size_t i = from; i < to; i++)
        buf_char(&line, (unsigned char)text.p[i] < 0x20 || text.p[i] == 0x7F ? ' ' : text.p[i]);
    printf("  %.*s\n  %*s%s", (int)line.n, line.n ? line.p : "",
           (int)columns(str_slice(text, from, start)), "", print_style(PRINT_BOLD));
    size_t carets = columns(str_slice(text, start, end));
    for (size_t i = 0; i < (carets ? carets : 1); i++)
        putchar('^');
    printf("%s\n", print_style(PRINT_PLAIN));
}

void print_row(const char *before, struct str foreign, const char *after)
{
    auto_buf struct buf clean = {0};
    report_clean(&clean, foreign);
    printf("%s%s%s", before, buf_cstr(&clean), after);
}

bool print_out(struct str s)
{
    answered = true;
    bool good = fwrite(s.p, 1, s.n, stdout) == s.n && fflush(stdout) == 0;
    /* The reader has what it wanted: head, or a pager that was closed. */
    if (!good && errno == EPIPE)
        exit(EXIT_UNREAD);
    return good;
}

const char *print_nearest(const char *word, const char *const *names, size_t count)
{
    size_t best = 3;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t distance = str_distance(str_of(word), str_of(names[i]), best);
        bool is_prefix = strlen(word) >= 3 && str_startsi(str_of(names[i]), str_of(word));
        bool is_near = distance < best && 2 * distance <= strlen(word) + 1;
        if (is_near || (is_prefix && !nearest)) {
            nearest = names[i];
            best = is_near ? distance : best;
        }
    }
    return nearest;
}
