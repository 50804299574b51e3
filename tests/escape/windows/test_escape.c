/*
 * Ways out of the sandbox, by door. Each is tried inside, where it must have no effect, and without
 * the sandbox, where it must have it. Together with the attempts of test_run, test_hostile,
 * test_race and test_kill. What steps around the agent is a list of its own at the end: under plain
 * Wine it gets through (nothing but the agent confines there), on Windows the token must stop it.
 *
 * An effect as in bed.h; # means that the probe's own call succeeded, where a handle is all that
 * there is to see. %S% in a line is the number of a process outside.
 */
#include "bed.h"

struct attempt {
    const char *door, *what, *line, *effect;
    const char *options; /* NULL: none */
};

#define MADE "+out\\new"

static const struct attempt attempts[] = {
    /* paths */
    {"paths", "forward slashes", "%P% write ../out/new", MADE, NULL},
    {"paths", "another case", "%P% write ..\\OUT\\NEW", MADE, NULL},
    {"paths", "\\\\.\\C:\\", "%P% write \\\\.\\%T%\\out\\new", MADE, NULL},
    {"paths", "without a drive", "%P% unroot-write ..\\out\\new", MADE, NULL},
    {"paths", "relative to the drive", "%P% write C:..\\out\\new", MADE, NULL},
    {"paths", "a short name", "%P% short-write ..\\outside-folder new", "+outside-folder\\new",
     NULL},
    {"paths", "\\DosDevices", "%P% nt-write \\DosDevices\\ ..\\out\\new", MADE, NULL},
    {"paths", "\\??\\", "%P% nt-write \\??\\ ..\\out\\new", MADE, NULL},
    {"paths", "the Unix file system by Z:", "%P% unix-write z ..\\out new", MADE, NULL},
    {"paths", "the Unix file system by \\\\?\\unix", "%P% unix-write unix ..\\out new", MADE, NULL},
    {"paths", "many dots", "%P% write sub\\.\\..\\.\\..\\out\\.\\new", MADE, NULL},
    {"paths", "dots behind a name that does not exist", "%P% write nothing\\..\\..\\out\\new", MADE,
     NULL},
    {"paths", "a trailing dot", "%P% write ..\\out\\new.", MADE, NULL},
    {"paths", "a trailing blank", "%P% write \"..\\out\\new \"", MADE, NULL},
    /* links */
    {"links", "a hard link by cmd", "cmd /c mklink /H ..\\out\\new file", MADE, NULL},
    {"links", "ReplaceFile outside", "%P% replace-file file ..\\out\\file", "=out\\file|old-in",
     NULL},
    {"links", "truncate through a hard link", "%P% truncate hard", "=out\\file|x", NULL},
    {"links", "everything through a hard link", "%P% open-all hard", "=out\\file|x", NULL},
    {"links", "times through a hard link", "%P% times hard", "<out\\file", NULL},
    {"links", "a link out, relative", "%P% link ..\\out\\new sub\\..\\file", MADE, NULL},
    /* handles */
    {"handles", "an empty name below a read handle", "%P% reopen empty ..\\out\\file",
     "=out\\file|x", NULL},
    {"handles", "ReOpenFile of a read handle", "%P% reopen api ..\\out\\file", "=out\\file|x",
     NULL},
    {"handles", "attributes by a handle for nothing", "%P% basic ..\\out\\secret", "!out\\secret",
     NULL},
    {"handles", "a folder handle outside", "%P% relative ..\\out new", MADE, NULL},
    {"handles", "rename by a read handle", "%P% rename-read-only ..\\out\\secret ..\\out\\new",
     MADE, NULL},
    {"handles", "a granted handle renamed to .git", "%P% rename-granted file .git", "+ws\\.git",
     NULL},
    {"handles", "a granted handle renamed out", "%P% rename-granted file ..\\out\\new", MADE, NULL},
    {"handles", "handles of a process outside", "%P% reach %S% 40", "#", NULL},
    /* processes */
    {"processes", "memory of a process outside", "%P% reach %S% 28", "#", NULL},
    {"processes", "a thread in a process outside", "%P% reach %S% 2", "#", NULL},
    {"processes", "end a process outside", "%P% reach %S% 1", "#", NULL},
    {"processes", "suspend a process outside", "%P% reach %S% 800", "#", NULL},
    {"processes", "settings of a process outside", "%P% reach %S% 200", "#", NULL},
    {"processes", "a child of a process outside", "%P% reach %S% 80", "#", NULL},
    {"processes", "every right", "%P% reach %S% 1FFFFF", "#", NULL},
    {"processes", "the rights to a process's own rights", "%P% reach %S% 40000", "#", NULL},
    {"processes", "a thread's context", "%P% reach-thread %S% 10", "#", NULL},
    {"processes", "a thread's suspension", "%P% reach-thread %S% 2", "#", NULL},
    {"processes", "every right to a thread", "%P% reach-thread %S% 1FFFFF", "#", NULL},
    {"processes", "debug a process outside", "%P% debug %S%", "#", NULL},
    {"processes", "WinExec", "%P% winexec \"%P% write ..\\out\\new\"", MADE, NULL},
    {"processes", "system()", "%P% system \"%P% write ..\\out\\new\"", MADE, NULL},
    {"processes", "CreateProcessWithToken", "%P% with-token \"%P% write ..\\out\\new\"", MADE,
     NULL},
    {"processes", "a script made and run", "cmd /c \"echo %P% write ..\\out\\new> s.cmd & s.cmd\"",
     MADE, NULL},
    {"processes", "a copy of the program", "cmd /c \"copy %P% p2.exe & p2 write ..\\out\\new\"",
     MADE, NULL},
    {"processes", "a loop of cmd", "cmd /c for %i in (1 2) do @echo x> ..\\out\\new", MADE, NULL},
    {"processes", "cmd within cmd within cmd", "cmd /c cmd /c \"cmd /c echo x> ..\\out\\new\"",
     MADE, NULL},
    {"processes", "pushd", "cmd /c \"pushd ..\\out & echo x> new\"", MADE, NULL},
    {"processes", "cd /d", "cmd /c \"cd /d %T%\\out & echo x> new\"", MADE, NULL},
    {"processes", "type", "cmd /c type file > ..\\out\\new", MADE, NULL},
    {"processes", "copy", "cmd /c copy file ..\\out\\new", MADE, NULL},
    {"processes", "xcopy", "cmd /c xcopy /y file ..\\out\\made\\", "+out\\made\\file", NULL},
    {"processes", "md", "cmd /c md ..\\out\\made", "+out\\made", NULL},
    {"processes", "rd", "cmd /c rd ..\\out\\empty", "-out\\empty", NULL},
    {"processes", "ren", "cmd /c ren ..\\out\\file new", MADE, NULL},
    {"processes", ">>", "cmd /c echo x>> ..\\out\\file", "=out\\file|x", NULL},
    {"processes", "del of everything", "cmd /c del /q ..\\out\\*", "-out\\file", NULL},
    /* shell */
    {"shell", "ShellExecute", "%P% shell %P% \"write ..\\out\\new\"", MADE, NULL},
    {"shell", "start /b", "cmd /c start /wait /b %P% write ..\\out\\new", MADE, NULL},
    {"shell", "start in another folder", "cmd /c start /wait /b /d ..\\out %P% write new", MADE,
     NULL},
    {"shell", "ShellExecute of a script",
     "cmd /c \"echo %P% write ..\\out\\new> s.bat & %P% shell "
     "s.bat & %P% sleep 1500\"",
     MADE, NULL},
    /* registry */
    {"registry", "a key", "%P% registry Software\\CordonEscape v", "KSoftware\\CordonEscape", NULL},
    {"registry", "a volatile key", "%P% registry-volatile Software\\CordonEscape",
     "KSoftware\\CordonEscape", NULL},
    {"registry", "reg add", "cmd /c reg add HKCU\\Software\\CordonEscape /f",
     "KSoftware\\CordonEscape", NULL},
    {"registry", "a value of a key that is there", "%P% registry-value Software CordonEscape", "#",
     NULL},
    {"registry", "a move at the next start", "%P% reboot-move file ..\\out\\new", "#", NULL},
    /* devices */
    {"devices", "the first disk", "%P% device \\\\.\\PhysicalDrive0", "#", NULL},
    {"devices", "the volume", "%P% device \\\\.\\C:", "#", NULL},
    {"devices", "the volume by \\\\?\\", "%P% device \\\\?\\C:", "#", NULL},
    {"devices", "a mailslot", "%P% mailslot \\\\.\\mailslot\\cordon-escape", "#", NULL},
    /* streams */
    {"streams", "of a file", "%P% write file:s", "+ws\\file:s", NULL},
    {"streams", "of a new file", "%P% write fresh:s", "+ws\\fresh:s", NULL},
    {"streams", "of a folder", "%P% write sub:s", "+ws\\sub:s", NULL},
    {"streams", "with a type", "%P% write file:s:$DATA", "+ws\\file:s:$DATA", NULL},
    {"streams", "by a copy", "%P% copy file file:s", "+ws\\file:s", NULL},
    {"streams", "by appending", "%P% append fresh:s", "+ws\\fresh:s", NULL},
    {"streams", "a folder", "%P% mkdir sub:d", "+ws\\sub:d", NULL},
    {"streams", "by a rename", "%P% rename file fresh:s", "+ws\\fresh:s", NULL},
    {"streams", "by a link", "%P% link fresh:s file", "+ws\\fresh:s", NULL},
    {"streams", "relative to a folder", "%P% relative sub fresh:s", "+ws\\sub\\fresh:s", NULL},
    {"streams", "by cmd", "cmd /c echo x> fresh:s", "+ws\\fresh:s", NULL},
    /* names */
    {"names", ".git", "%P% mkdir .git", "+ws\\.git", NULL},
    {"names", ".Git by \\\\?\\", "%P% mkdir \\\\?\\%T%\\ws\\.Git", "+ws\\.Git", NULL},
    {"names", ".git with a dot", "%P% mkdir .git.", "+ws\\.git", NULL},
    {"names", ".git by a rename", "%P% rename sub .git", "+ws\\.git", NULL},
    {"names", ".git by a link", "%P% link .git file", "+ws\\.git", NULL},
    {"names", ".git by a copy", "%P% copy file .git", "+ws\\.git", NULL},
    {"names", ".git by dots", "%P% mkdir sub\\..\\.git", "+ws\\.git", NULL},
    {"names", ".git relative to a folder", "%P% relative . .git", "+ws\\.git", NULL},
    {"names", ".husky", "%P% mkdir .husky", "+ws\\.husky", NULL},
    {"names", ".githooks", "%P% mkdir .githooks", "+ws\\.githooks", NULL},
    {"names", ".idea", "%P% mkdir sub\\.idea", "+ws\\sub\\.idea", NULL},
    {"names", ".vscode", "cmd /c md .vscode", "+ws\\.vscode", NULL},
    {"names", ".agents", "%P% mkdir .AGENTS", "+ws\\.agents", NULL},
    {"names", ".gemini", "%P% mkdir .gemini", "+ws\\.gemini", NULL},
    {"names", ".codex", "%P% mkdir .codex", "+ws\\.codex", NULL},
    {"names", ".mcp.json", "cmd /c echo x> .MCP.json", "+ws\\.mcp.json", NULL},
    {"names", "a nested hook", "%P% write repo\\.git\\hooks\\post-merge",
     "+ws\\repo\\.git\\hooks\\post-merge", NULL},
    {"names", "a nested config.worktree", "%P% write repo\\.git\\config.worktree",
     "+ws\\repo\\.git\\config.worktree", NULL},
    {"names", "a nested commondir", "%P% write repo\\.git\\commondir", "+ws\\repo\\.git\\commondir",
     NULL},
    {"names", "a nested info\\attributes",
     "cmd /c \"md repo\\.git\\info & echo x> repo\\.git\\info\\attributes\"",
     "+ws\\repo\\.git\\info\\attributes", NULL},
    {"names", "the nested folder around it moved and back",
     "cmd /c \"%P% rename repo\\.git repo\\g & echo x> repo\\g\\config & %P% rename repo\\g "
     "repo\\.git\"",
     "=ws\\repo\\.git\\config|x", NULL},
    /* environment */
    {"environment", "TEMP turned to outside",
     "%P% env-child TEMP %T%\\out \"echo x> %TEMP%\\..\\out\\new\"", MADE, NULL},
    {"environment", "a second cordon without a sandbox",
     "%C% run --quiet --mode full-access -- %P% write ..\\out\\new", MADE, NULL},
    {"environment", "a second cordon with another root",
     "%C% run --quiet --root . --root ..\\out -- %P% write ..\\out\\new", MADE, NULL},
};

/* Around the agent: what nothing but the token stops. */
static const struct attempt around[] = {
    {"agent", "its own system call", "%P% syscall ..\\out\\new", MADE, NULL},
    {"agent", "a stub from a second ntdll", "%P% fresh ..\\out\\new", MADE, NULL},
    {"agent", "the hooks taken away", "%P% unhook ..\\out\\new", MADE, NULL},
    {"agent", "the agent's own trampoline", "%P% trampoline ..\\out\\new", MADE, NULL},
    {"agent", "the agent's code overwritten", "%P% overwrite-agent ..\\out\\new", MADE, NULL},
};

static char sleeper[20];

static void fill_in(const char *line, char *out, size_t size)
{
    const char *at = strstr(line, "%S%");
    if (at)
        snprintf(out, size, "%.*s%s%s", (int)(at - line), line, sleeper, at + 3);
    else
        snprintf(out, size, "%s", line);
}

static void bare(void)
{
    fresh();
    put("ws\\file", "old-in");
    remove_tree(path_of("outside-folder"));
    CreateDirectoryA(path_of("outside-folder"), NULL);
    RegDeleteKeyA(HKEY_CURRENT_USER, "Software\\CordonEscape");
}

static bool has_effect(const struct attempt *a, int code)
{
    return a->effect[0] == '#' ? code == 0 : holds(a->effect);
}

static void try_all(void)
{
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        const struct attempt *a = &attempts[i];
        auto_buf struct buf out = {0}, control = {0}, before = {0}, after = {0};
        char line[2000];
        fill_in(a->line, line, sizeof line);
        bare();
        bool already = a->effect[0] != '#' && has_effect(a, 1);
        list_tree(path_of("out"), "", &before);
        int code = confined(a->options ? a->options : "--quiet", line, &out);
        list_tree(path_of("out"), "", &after);
        bool stopped = !has_effect(a, code) && str_eq(buf_str(&before), buf_str(&after));
        bare();
        code = run(line, &control);
        bool happens = has_effect(a, code);
        if (!ok(!already && stopped && happens, "%s: %s", a->door, a->what)) {
            note("stopped %d, happens without the sandbox %d (%d)", stopped, happens, code);
            note_output(&out);
            note_output(&control);
        }
    }
}

static void try_around(void)
{
    bool wine = GetProcAddress(GetModuleHandleA("ntdll"), "wine_get_version") != NULL;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        auto_buf struct buf out = {0};
        bare();
        int code = confined("--quiet", around[i].line, &out);
        bool escaped = has_effect(&around[i], code);
        if (!ok(escaped == wine, "%s: %s: %s", around[i].door, around[i].what,
                wine ? "wine: gets around" : "windows: must be denied"))
            note_output(&out);
    }
}

/* A handle for writing outside that the launcher's caller left inheritable. */
static void try_inherited(void)
{
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    char line[80];
    bare();
    HANDLE file = CreateFileA(path_of("out\\file"), GENERIC_WRITE,
                              FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, &inherit,
                              OPEN_EXISTING, 0, NULL);
    snprintf(line, sizeof line, "%%P%% use-handle %u", (unsigned)(uintptr_t)file);
    confined("--quiet", line, NULL);
    bool stopped = is_text("out\\file", "old");
    run(line, NULL);
    CloseHandle(file);
    ok(stopped && is_text("out\\file", "xld"), "handles: one that was left to be inherited");
}

/* True if somebody connected to one of the two instances. */
static bool came(HANDLE pipe, OVERLAPPED *wait)
{
    DWORD n;
    return WaitForSingleObject(wait->hEvent, 0) == WAIT_OBJECT_0 &&
           (GetOverlappedResult(pipe, wait, &n, FALSE) || true);
}

static bool reached(const char *line, bool sandbox)
{
    OVERLAPPED wait = {.hEvent = CreateEventA(NULL, TRUE, FALSE, NULL)};
    HANDLE pipe =
        CreateNamedPipeA("\\\\.\\pipe\\cordon-escape", PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED,
                         PIPE_TYPE_BYTE, PIPE_UNLIMITED_INSTANCES, 512, 512, 0, NULL);
    ConnectNamedPipe(pipe, &wait);
    if (sandbox)
        confined("--quiet", line, NULL);
    else
        run(line, NULL);
    bool found = came(pipe, &wait);
    CloseHandle(pipe);
    CloseHandle(wait.hEvent);
    return found;
}

static void try_pipes(void)
{
    static const struct {
        const char *what, *line;
    } ways[] = {
        {"connected to", "%P% pipe-client \\\\.\\pipe\\cordon-escape"},
        {"another case", "%P% pipe-client \\\\.\\PIPE\\Cordon-Escape"},
        {"CallNamedPipe", "%P% pipe-call \\\\.\\pipe\\cordon-escape"},
        {"by a child", "cmd /c %P% pipe-client \\\\.\\pipe\\cordon-escape"},
        {"one more instance of it, then connected to",
         "%P% pipe-second \\\\.\\pipe\\cordon-escape"},
    };
    fresh();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bool inside = reached(ways[i].line, true), control = reached(ways[i].line, false);
        if (!ok(!inside && control, "pipes: %s", ways[i].what))
            note("reached inside %d, without the sandbox %d", inside, control);
    }
}

int main(void)
{
    bed_make("escape");
    CreateDirectoryA(path_of("ws"), NULL);
    struct command other = command_start("%P% sleep 300000");
    snprintf(sleeper, sizeof sleeper, "%lu", (unsigned long)other.pid);
    try_all();
    try_inherited();
    try_pipes();
    try_around();
    ok(WaitForSingleObject(other.process, 0) == WAIT_TIMEOUT, "the process outside lives");
    TerminateProcess(other.process, 0);
    command_end(&other, 1000, NULL);
    RegDeleteKeyA(HKEY_CURRENT_USER, "Software\\CordonEscape");
    HKEY key;
    if (RegOpenKeyExA(HKEY_CURRENT_USER, "Software", 0, KEY_SET_VALUE, &key) == 0) {
        RegDeleteValueA(key, "CordonEscape");
        RegCloseKey(key);
    }
    return bed_done();
}
