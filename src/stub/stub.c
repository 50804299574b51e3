/*
 * What stands on PATH in the place of a tool that must not run: says so and exits with 126. Made
 * into a small program of its own, which cordon.exe carries inside and links under each tool's
 * name. No C library.
 */
#include <windows.h>

static char *put(char *at, const char *end, const char *text)
{
    while (*text && at < end)
        *at++ = *text++;
    return at;
}

/* ssh of C:\x\ssh.exe, as UTF-8 where it is ASCII. */
static char *put_name(char *at, const char *end)
{
    WCHAR path[1024];
    DWORD n = GetModuleFileNameW(NULL, path, 1024), start = n;
    while (start > 0 && path[start - 1] != '\\')
        start--;
    for (DWORD i = start; i < n && path[i] != '.' && at < end; i++)
        *at++ = path[i] < 128 ? (char)path[i] : '?';
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
