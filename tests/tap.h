/* SPDX-License-Identifier: Apache-2.0 */
/* TAP: ok(condition, "what"), note(), skip(), and tap_done() as the last word of main(). */
#ifndef CORDON_TESTS_TAP_H
#define CORDON_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"

static int tap_count, tap_failed;

__attribute__((unused)) PRINTF_LIKE(2, 3) static bool ok(bool passed, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    if (!passed)
        tap_failed++;
    fflush(stdout);
    return passed;
}

/* Details of a failure, after it. */
__attribute__((unused)) PRINTF_LIKE(1, 2) static void note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("# ");
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

__attribute__((unused)) static void skip(const char *what, const char *why)
{
    printf("ok %d - %s # SKIP %s\n", ++tap_count, what, why);
}

/* A program that ran no test has failed. */
__attribute__((unused)) static int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed || tap_count == 0;
}

#endif
