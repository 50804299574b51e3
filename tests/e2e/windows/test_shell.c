/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shell: handing a URL to the browser, opening documents, shortcuts and programs, and the four
 * failures that this project began with, each tried in several ways that do not depend on each
 * other.
 *
 * The browser of this test is the probe under a browser's name, outside the workspace; what it is
 * given it writes into ws\seen, which even a confined program could write: so nothing but its not
 * running keeps that file away. %U% is the URL: https where the test may say what opens it (Wine),
 * a scheme of its own on Windows.
 */
#include "harness.h"

#define SEEN "+ws\\seen"
#define CLASSES "Software\\Classes\\"

struct attempt {
    const char *what, *line, *effect;
};

/* Nothing is opened. */
static const struct attempt urls[] = {
    {"Start-Process (ShellExecuteEx as .NET calls it)", "%P% shell-verb %U%", SEEN},
    {"ShellExecute", "%P% shell-plain %U%", SEEN},
    {"ShellExecute by a child of a child", "cmd /c cmd /c %P% shell-verb %U%", SEEN},
    {"start", "cmd /c start %U% & %P% sleep 500", SEEN},
    {"start with a title and options", "cmd /c start \"t\" /b /wait %U% & %P% sleep 500", SEEN},
    {"start in a script", "cmd /c >s.cmd echo start %U%&s.cmd & %P% sleep 500", SEEN},
    {"start put together", "cmd /v:on /c set a=start& set b=%U%& !a! !b!& %P% sleep 500", SEEN},
    {"explorer", "cmd /c explorer %U% & %P% sleep 500", SEEN},
    {"rundll32 url.dll", "cmd /c rundll32 url.dll,FileProtocolHandler %U% & %P% sleep 500", SEEN},
    {"rundll32 shell32.dll", "cmd /c rundll32 shell32.dll,ShellExec_RunDLL %U% & %P% sleep 500",
     SEEN},
    {"Shell.Application", "%P% com-shell %U%", SEEN},
    {"a .url file",
     "cmd /c >l.url echo [InternetShortcut]&>>l.url echo URL=%U%&%P% shell-plain %T%\\ws\\l.url",
     SEEN},
    {"a .url file by start",
     "cmd /c >l.url echo [InternetShortcut]&>>l.url echo URL=%U%&start l.url & %P% sleep 500",
     SEEN},
    {"a shortcut to the browser",
     "cmd /c %P% shortcut l.lnk %T%\\host\\firefox.exe \"opened %T%\\ws\\seen %U%\" & %P% "
     "shell-plain l.lnk",
     SEEN},
    {"the default program, by the registry", "%P% default-program %K% %U%", SEEN},
    {"the browser itself", "%T%\\host\\firefox.exe opened %T%\\ws\\seen %U%", SEEN},
    {"the browser by cmd", "cmd /c %T%\\host\\firefox opened %T%\\ws\\seen %U%", SEEN},
    {"the browser by WMI", "%P% com-wmi \"%T%\\host\\firefox.exe opened %T%\\ws\\seen %U%\"", SEEN},
};

/* The opened program is a child, confined like every other. */
static const struct attempt outside[] = {
    {"a document whose program writes outside", "%P% shell-verb doc.cordonout", "+out\\new"},
    {"the same by Shell.Application", "%P% com-shell %T%\\ws\\doc.cordonout", "+out\\new"},
    {"the same by a shortcut",
     "cmd /c %P% shortcut l.lnk %T%\\ws\\doc.cordonout & %P% shell-plain l.lnk", "+out\\new"},
};
static const struct attempt inside[] = {
    {"a program", "cmd /c copy %P% mine.exe & %P% shell %T%\\ws\\mine.exe \"write new\"",
     "+ws\\new"},
    {"a script", "cmd /c >s.bat echo %P% write %T%\\ws\\new&%P% shell-verb s.bat", "+ws\\new"},
    {"a document (Invoke-Item)", "%P% shell-verb doc.cordonin", SEEN},
    {"a document by the short form", "%P% shell-plain doc.cordonin", SEEN},
    {"a document by Shell.Application", "%P% com-shell %T%\\ws\\doc.cordonin", SEEN},
    {"a program by Shell.Application", "%P% com-shell %P% \"write %T%\\ws\\new\"", "+ws\\new"},
    {"a program by start", "cmd /c start /wait /b %P% write new", "+ws\\new"},
    {"a shortcut to a program",
     "cmd /c %P% shortcut l.lnk %P% \"write %T%\\ws\\new\" & %P% shell-plain l.lnk", "+ws\\new"},
};

/* The four failures this project began with; Start-Process is above. */
static const struct attempt began[] = {
    {"a stream: by the program's own call", "%P% create fresh:s", "+ws\\fresh:s"},
    {"a stream: by the shell", "cmd /c echo x> fresh:s", "+ws\\fresh:s"},
    {"a stream: by the name of an open folder", "%P% relative . fresh:s", "+ws\\fresh:s"},
    {"a stream: by a copy", "cmd /c copy file fresh:s", "+ws\\fresh:s"},
    {".GiT: a new folder", "%P% mkdir .GiT", "+ws\\.GiT"},
    {".GiT: by the shell", "cmd /c md .GiT\\hooks", "+ws\\.GiT\\hooks"},
    {".GiT: by a rename", "%P% rename sub .GiT", "+ws\\.GiT"},
    {".GiT: by an object name", "%P% nt-write \\??\\ .GiT", "+ws\\.GiT"},
    {"the host's ssh: by name", "cmd /c ssh opened %T%\\ws\\seen x", SEEN},
    {"the host's ssh: by its path", "%T%\\host\\ssh.exe opened %T%\\ws\\seen x", SEEN},
    {"the host's ssh: from another folder", "cmd /c cd %T%\\host & ssh.exe opened %T%\\ws\\seen x",
     SEEN},
    {"the host's ssh: by a child of a child", "cmd /c cmd /c cmd /c ssh opened %T%\\ws\\seen x",
     SEEN},
    {"the host's ssh: by a script", "cmd /c >s.cmd echo @ssh opened %T%\\ws\\seen x&s.cmd", SEEN},
};

static const char scheme[] = "cordon-test", url[] = "cordon-test://cordon.test/x";

/* Wine reads the machine's classes only. */
static HKEY classes(void)
{
    return GetProcAddress(GetModuleHandleA("ntdll"), "wine_get_version") ? HKEY_LOCAL_MACHINE
                                                                         : HKEY_CURRENT_USER;
}

static void fill_in(const char *line, struct buf *out)
{
    for (; *line; line++) {
        if (strncmp(line, "%U%", 3) == 0 || strncmp(line, "%K%", 3) == 0) {
            buf_add(out, str_of(line[1] == 'U' ? url : scheme));
            line += 2;
        } else {
            buf_char(out, *line);
        }
    }
}

static void set_class(const char *name, const char *value)
{
    char key[200];
    auto_buf struct buf text = {0};
    HKEY made;
    snprintf(key, sizeof key, CLASSES "%s", name);
    expand(&text, value);
    if (RegCreateKeyExA(classes(), key, 0, NULL, 0, KEY_WRITE, NULL, &made, NULL))
        return;
    RegSetValueExA(made, NULL, 0, REG_SZ, (const BYTE *)buf_cstr(&text), (DWORD)text.n + 1);
    if (!strchr(name, '\\') && name[0] != '.')
        RegSetValueExA(made, "URL Protocol", 0, REG_SZ, (const BYTE *)"", 1);
    RegCloseKey(made);
}

static void set_classes(void)
{
    char key[100];
    snprintf(key, sizeof key, "%s\\shell\\open\\command", scheme);
    set_class(scheme, "URL: a test of cordon");
    set_class(key, "\"%T%\\host\\firefox.exe\" opened \"%T%\\ws\\seen\" \"%1\"");
    set_class(".cordonin", "cordonin");
    set_class("cordonin\\shell\\open\\command", "\"%P%\" opened \"%T%\\ws\\seen\" \"%1\"");
    set_class(".cordonout", "cordonout");
    set_class("cordonout\\shell\\open\\command", "\"%P%\" opened \"%T%\\out\\new\" \"%1\"");
}

static void drop_classes(void)
{
    static const char *const names[] = {".cordonin", "cordonin", ".cordonout", "cordonout"};
    char key[200];
    for (size_t i = 0; i < 5; i++) {
        snprintf(key, sizeof key, CLASSES "%s", i < 4 ? names[i] : scheme);
        RegDeleteTreeA(classes(), key);
    }
}

static void bare(void)
{
    fresh();
    put("ws\\doc.cordonin", "x");
    put("ws\\doc.cordonout", "x");
}

static void try_denied(const char *group, const struct attempt *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        auto_buf struct buf line = {0}, out = {0};
        fill_in(list[i].line, &line);
        bare();
        bool before = holds(list[i].effect);
        confined(NULL, buf_cstr(&line), &out);
        bool stopped = !before && !holds(list[i].effect);
        bool said = has(&out, "sandbox denied") || has(&out, "cordon:");
        bare();
        run(buf_cstr(&line), NULL);
        for (int waited = 0; waited < 300 && !holds(list[i].effect); waited++)
            Sleep(50); /* some of them do not wait */
        bool happens = holds(list[i].effect);
        if (!ok(stopped && said && happens, "%s: %s", group, list[i].what)) {
            note("stopped %d, said %d, happens without the sandbox %d", stopped, said, happens);
            note_output(&out);
        }
    }
}

static void try_allowed(void)
{
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        auto_buf struct buf out = {0};
        bare();
        bool before = holds(inside[i].effect);
        confined(NULL, inside[i].line, &out);
        if (!ok(!before && holds(inside[i].effect), "opened inside, confined: %s", inside[i].what))
            note_output(&out);
    }
}

/* The workspace's own ssh comes first, runs, and is confined; then the host's would come. */
static void try_shim(void)
{
    bare();
    CreateDirectoryA(path_of("ws\\bin"), NULL);
    CopyFileA(probe, path_of("ws\\bin\\ssh.exe"), FALSE);
    int code = confined("--quiet", "cmd /c ssh opened %T%\\ws\\shim x", NULL);
    ok(code == 0 && exists("ws\\shim"), "the host's ssh: control: the workspace's own runs");
    confined("--quiet", "cmd /c ssh write ..\\out\\new", NULL);
    ok(!exists("out\\new"), "the host's ssh: the workspace's own is confined");
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

int main(void)
{
    harness_make("shell");
    auto_buf struct buf path = {0};
    CreateDirectoryA(path_of("host"), NULL);
    CopyFileA(probe, path_of("host\\firefox.exe"), FALSE);
    CopyFileA(probe, path_of("host\\ssh.exe"), FALSE);
    const char *old = getenv("PATH");
    buf_fmt(&path, "%s\\ws\\bin;%s\\host;%s", top, top, old ? old : "");
    SetEnvironmentVariableA("PATH", buf_cstr(&path));
    set_classes();
    bare();
    /* Wine starts its desktop for the first window, in whatever job that is: here it is
       nobody's. */
    struct command window = command_start("%P% window-server cordon-shell ..\\out\\told");
    for (int i = 0; i < 250 && !exists("out\\told.ready"); i++)
        Sleep(20);
    try_denied("a URL", urls, COUNT(urls));
    try_denied("opened", outside, COUNT(outside));
    try_denied("as it began", began, COUNT(began));
    try_allowed();
    try_shim();
    drop_classes();
    TerminateProcess(window.process, 0);
    command_end(&window, 1000, NULL);
    return harness_done();
}
