/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in place of a tool that must not run: says so and exits with 126. A small separate program
   embedded in cordon.exe. No C library. */
#include <windows.h>

static char *put(char *at, const char *end, const char *text)
{
    while (*text && at < end)
        *at++ = *text++;
    return at;
}

/* ssh of "C:\x\ssh.exe" -v, as it was called; as UTF-8 where it is ASCII. */
static char *put_name(char *at, const char *end)
{
    const WCHAR *line = GetCommandLineW();
    BOOL quoted = *line == '"';
    DWORD start = quoted, n = start;
    while (line[n] && line[n] != '"' && (quoted || (line[n] != ' ' && line[n] != '\t')))
        if (line[n++] == '\\' || line[n - 1] == '/')
            start = n;
    for (DWORD i = start; i < n && line[i] != '.' && at < end; i++)
        *at++ = line[i] < 128 ? (char)line[i] : '?';
    return at;
}

void stub_main(void);

void stub_main(void)
{
    char text[4096], *at = text;
    const char *end = text + 4000;
    DWORD written;
    at = put(at, end, "cordon: sandbox denied: ");
    at = put_name(at, end);
    at = put(at, end, " is blocked in the sandbox (rule tool.");
    at = put_name(at, end);
    at = put(at, end, "); allow with --allow-tool ");
    at = put_name(at, end);
    at = put(at, end, "\r\n");
    WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, (DWORD)(at - text), &written, NULL);
    ExitProcess(126);
}
