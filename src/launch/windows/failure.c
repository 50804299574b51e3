/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences for failed steps. Never prints. */
#include "launch/windows/failure.h"

#include <stdio.h>

#include "base/utf.h"
#include "cordon.h"

enum { LONGEST_MESSAGE = 256 };

/* Windows' text in English, or in the user's language where English is not installed. */
static DWORD message_of(DWORD error, wchar_t *out)
{
    const DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
    DWORD n = FormatMessageW(flags, NULL, error, MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US), out,
                             LONGEST_MESSAGE, NULL);
    if (n == 0)
        n = FormatMessageW(flags, NULL, error, 0, out, LONGEST_MESSAGE, NULL);
    while (n > 0 && (out[n - 1] <= L' ' || out[n - 1] == L'.'))
        n--;
    for (DWORD i = 0; i < n; i++)
        if (out[i] < L' ')
            out[i] = L' ';
    return n;
}

/* Truncated to what fits, never in the middle of a character. */
static void store(struct launch_failure *f, struct buf *text)
{
    size_t n = text->failed ? 0 : text->n;
    if (n >= sizeof f->text) {
        n = sizeof f->text - 1;
        while (n > 0 && ((unsigned char)text->p[n] & 0xC0) == 0x80)
            n--;
    }
    if (n)
        memcpy(f->text, text->p, n);
    f->text[n] = '\0';
}

static void describe(struct launch_failure *f, const char *step, DWORD error, const char *number)
{
    wchar_t message[LONGEST_MESSAGE];
    auto_buf struct buf text = {0};
    DWORD n = message_of(error, message);
    buf_fmt(&text, "%s: ", step);
    if (n)
        utf_from16(&text, (const uint16_t *)message, n);
    else
        buf_add(&text, STR("Windows has no words for it"));
    buf_fmt(&text, " (%s)", number);
    store(f, &text);
}

int launch_fail_error(struct launch_failure *f, const char *step, DWORD error)
{
    char number[40];
    snprintf(number, sizeof number, "Windows error %lu", (unsigned long)error);
    describe(f, step, error, number);
    return CORDON_E_CONFINE;
}

int launch_fail(struct launch_failure *f, const char *step)
{
    return launch_fail_error(f, step, GetLastError());
}

int launch_fail_status(struct launch_failure *f, const char *step, LONG status)
{
    typedef ULONG(NTAPI * to_error)(LONG status);
    to_error convert =
        (to_error)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlNtStatusToDosError");
    char number[40];
    snprintf(number, sizeof number, "status 0x%08lx", (unsigned long)status);
    describe(f, step, convert ? convert(status) : ERROR_MR_MID_NOT_FOUND, number);
    return CORDON_E_CONFINE;
}

int launch_fail_words(struct launch_failure *f, const char *sentence)
{
    auto_buf struct buf text = {0};
    buf_add(&text, str_of(sentence));
    store(f, &text);
    return CORDON_E_CONFINE;
}
