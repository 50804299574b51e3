/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promise 38: a link in the workspace is turned between a folder inside and one outside, thousands
 * of times, while a program in the sandbox writes, creates, renames, links and deletes through it
 * from several threads. Nothing outside may change; without the sandbox something does. The link is
 * one of the Unix file system under Wine, turned by a native helper.
 */
#include "harness.h"

enum { TURNS = 10000 };

static char *(CDECL *unix_name)(const wchar_t *);

static bool to_unix(const char *name, char *out, size_t size)
{
    wchar_t wide[2 * MAX_PATH];
    swprintf(wide, 2 * MAX_PATH, L"%hs", path_of(name));
    char *found = unix_name ? unix_name(wide) : NULL;
    if (found)
        snprintf(out, size, "%s", found);
    HeapFree(GetProcessHeap(), 0, found);
    return found != NULL;
}

static void fill(const char *folder)
{
    char name[80];
    CreateDirectoryA(path_of(folder), NULL);
    snprintf(name, sizeof name, "%s\\keep", folder);
    put(name, "old");
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "%s\\victim-%d", folder, i);
        put(name, "victim");
    }
}

/* Starts the helper; false if there is none. */
static bool start_turning(PROCESS_INFORMATION *helper, unsigned turns)
{
    char script[600], ws[600], out[600], stop[600], line[3000], full[MAX_PATH];
    STARTUPINFOA startup = {.cb = sizeof startup};
    wchar_t wide[MAX_PATH];
    GetFullPathNameA("tests\\e2e\\windows\\programs\\flip.pl", MAX_PATH, full, NULL);
    swprintf(wide, MAX_PATH, L"%hs", full);
    char *found = unix_name ? unix_name(wide) : NULL;
    if (!found || !to_unix("ws", ws, sizeof ws) || !to_unix("out", out, sizeof out) ||
        !to_unix("ws", stop, sizeof stop))
        return false;
    snprintf(script, sizeof script, "%s", found);
    /* The stop file lies beside the workspace, which is where out lies. */
    snprintf(line, sizeof line,
             "\\\\?\\unix\\usr\\bin\\perl \"%s\" \"%s/link\" \"%s/inside\" \"%s\" %u \"%s.stop\"",
             script, ws, ws, out, turns, out);
    return CreateProcessA(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, helper);
}

static unsigned stop_turning(PROCESS_INFORMATION *helper)
{
    unsigned turns = 0;
    put("out.stop", "");
    for (int waited = 0; waited < 7000 && !exists("out.stop.turns"); waited++)
        Sleep(10);
    Sleep(50);
    FILE *f = fopen(path_of("out.stop.turns"), "rb");
    if (f) {
        if (fscanf(f, "%u", &turns) != 1)
            turns = 0;
        fclose(f);
    }
    DeleteFileA(path_of("out.stop.turns"));
    DeleteFileA(path_of("out.stop"));
    CloseHandle(helper->hProcess);
    CloseHandle(helper->hThread);
    return turns;
}

/* Compares the outside folder with its state before. */
static bool unchanged(bool sandbox, unsigned ms, unsigned turns, unsigned *turned, struct buf *said,
                      bool *possible)
{
    auto_buf struct buf before = {0}, after = {0}, line = {0};
    PROCESS_INFORMATION helper;
    fresh();
    DeleteFileA(path_of("ws\\hard"));
    fill("ws\\inside");
    fill("out");
    list_tree(path_of("out"), "", &before);
    *possible = start_turning(&helper, turns);
    if (!*possible)
        return false;
    for (int waited = 0; waited < 500 && !exists("ws\\link"); waited++)
        Sleep(10);
    *possible = exists("ws\\link");
    buf_fmt(&line, "%%P%% race link %u", ms);
    if (*possible && sandbox)
        confined("--quiet", buf_cstr(&line), said);
    else if (*possible)
        run(buf_cstr(&line), said);
    *turned = stop_turning(&helper);
    list_tree(path_of("out"), "", &after);
    bool same = before.n > 0 && str_eq(buf_str(&before), buf_str(&after));
    if (!same && sandbox)
        note("%.*s", (int)(after.n < 3000 ? after.n : 3000), after.p);
    return same;
}

int main(void)
{
    auto_buf struct buf said = {0};
    unsigned turned = 0, ms = harness_soak() ? 60000 : 8000, granted = 0, refused = 0;
    bool possible;
    unix_name = (void *)GetProcAddress(GetModuleHandleA("kernel32"), "wine_get_unix_file_name");
    harness_make("race");
    bool held = unchanged(true, ms, TURNS, &turned, &said, &possible);
    if (!possible) {
        skip("38 a link turned while writing", "needs Wine and perl to turn a Unix link");
        return harness_done();
    }
    sscanf(buf_cstr(&said), "granted %u, refused %u", &granted, &refused);
    ok(held, "38 nothing outside changed");
    ok(turned >= TURNS, "38 the link was turned %u times", turned);
    ok(granted > 100 && refused > 100, "38 meanwhile %u calls were granted and %u refused", granted,
       refused);
    bool control = !unchanged(false, 1000, 100, &turned, NULL, &possible);
    ok(possible && control, "38 control: without the sandbox files outside change");
    return harness_done();
}
