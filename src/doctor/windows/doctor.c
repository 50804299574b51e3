/* SPDX-License-Identifier: Apache-2.0 */
/* The checks on Windows: settings, folders, and a command that really runs. */
#include "doctor/doctor.h"

#include <stdio.h>
#include <windows.h>

#include <aclapi.h>

#include "base/utf.h"
#include "launch/windows/wine.h"
#include "lib/system.h"

typedef LONG WINAPI get_version(OSVERSIONINFOW *info);
typedef const char *CDECL get_wine_version(void);

/* GetProcAddress returns a generic pointer; its type is known here. */
#define FUNCTION(type, name) ((type *)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), name))

enum { OLDEST_BUILD = 17763 /* Windows 10 1809 */ };

static void narrow(char *out, size_t capacity, const wchar_t *text)
{
    auto_buf struct buf copy = {0};
    utf_from16(&copy, (const uint16_t *)text, wcslen(text));
    snprintf(out, capacity, "%s", buf_cstr(&copy));
}

static void examine_version(struct doctor *d)
{
    OSVERSIONINFOW info = {.dwOSVersionInfoSize = sizeof info};
    SYSTEM_INFO machine;
    get_version *version = FUNCTION(get_version, "RtlGetVersion");
    get_wine_version *wine = FUNCTION(get_wine_version, "wine_get_version");
    if (version)
        version(&info);
    GetNativeSystemInfo(&machine);
    snprintf(d->os, sizeof d->os, "Windows %lu.%lu build %lu%s%s%s", info.dwMajorVersion,
             info.dwMinorVersion, info.dwBuildNumber, wine ? " (Wine " : "", wine ? wine() : "",
             wine ? ")" : "");
    if (info.dwBuildNumber < OLDEST_BUILD && !wine)
        doctor_finding(d, "windows.old", true, "this Windows is older than Windows 10 1809",
                       "update Windows");
    if (machine.wProcessorArchitecture != PROCESSOR_ARCHITECTURE_AMD64)
        doctor_finding(d, "windows.machine", true, "this is not an x64 Windows",
                       "use a machine with an x64 processor; ARM64 is not supported");
}

/* A DWORD of HKLM; missing is 0. */
static DWORD registry_number(const wchar_t *key, const wchar_t *name)
{
    DWORD value = 0, size = sizeof value;
    if (RegGetValueW(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_DWORD, NULL, &value, &size))
        return 0;
    return value;
}

static void examine_settings(struct doctor *d)
{
    bool paths = registry_number(L"SYSTEM\\CurrentControlSet\\Control\\FileSystem",
                                 L"LongPathsEnabled") == 1;
    bool developer =
        registry_number(L"SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\AppModelUnlock",
                        L"AllowDevelopmentWithoutDevLicense") == 1;
    doctor_layer(d, "long paths", paths, "LongPathsEnabled in the registry");
    doctor_layer(d, "symlinks", developer, "Developer Mode in the registry");
    if (!paths)
        doctor_finding(d, "windows.long-paths", false,
                       "long paths are off: programs fail at 260 characters, inside and outside",
                       "set HKLM\\SYSTEM\\CurrentControlSet\\Control\\FileSystem LongPathsEnabled "
                       "to 1");
    if (!developer)
        doctor_finding(d, "windows.developer-mode", false,
                       "Developer Mode is off: symlinks cannot be made without an administrator",
                       "Settings, System, For developers, Developer Mode");
}

static void examine_user(struct doctor *d)
{
    HANDLE token;
    TOKEN_ELEVATION elevation = {0};
    DWORD size;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return;
    if (GetTokenInformation(token, TokenElevation, &elevation, sizeof elevation, &size) &&
        elevation.TokenIsElevated && !wine_is_always_elevated())
        doctor_finding(d, "user.elevated", true, "cordon was started elevated",
                       "start it from an ordinary console, or give run --allow-elevated");
    CloseHandle(token);
}

static void examine_session(struct doctor *d)
{
    DWORD session = 1;
    if (ProcessIdToSessionId(GetCurrentProcessId(), &session) && session == 0 && !wine_is_here())
        doctor_finding(d, "windows.session-0", false,
                       "this is session 0, that of services and ssh: programs that use windows "
                       "(user32) cannot start there in the sandbox",
                       "use it from a session with a desktop");
}

static void examine_shells(struct doctor *d)
{
    wchar_t found[MAX_PATH];
    bool windows = SearchPathW(NULL, L"powershell.exe", NULL, MAX_PATH, found, NULL) > 0;
    bool seven = SearchPathW(NULL, L"pwsh.exe", NULL, MAX_PATH, found, NULL) > 0;
    doctor_layer(d, "PowerShell", windows || seven, "%s on PATH",
                 windows ? "powershell.exe"
                 : seven ? "pwsh.exe"
                         : "neither is");
    if (!windows && !seven)
        doctor_finding(d, "powershell.missing", false, "PowerShell is not on PATH",
                       "agents on Windows use it: put its folder on PATH");
}

/* True if the access list lets Everyone, Users or Authenticated Users create files there. */
static bool others_may_write(const wchar_t *folder)
{
    static const WELL_KNOWN_SID_TYPE groups[] = {WinWorldSid, WinBuiltinUsersSid,
                                                 WinAuthenticatedUserSid};
    PSECURITY_DESCRIPTOR descriptor = NULL;
    PACL list = NULL;
    bool found = false;
    if (GetNamedSecurityInfoW((wchar_t *)folder, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, NULL,
                              NULL, &list, NULL, &descriptor))
        return false;
    for (DWORD i = 0; list && i < list->AceCount && !found; i++) {
        ACCESS_ALLOWED_ACE *entry;
        if (!GetAce(list, i, (void **)&entry) || entry->Header.AceType != ACCESS_ALLOWED_ACE_TYPE ||
            (entry->Header.AceFlags & INHERIT_ONLY_ACE) ||
            !(entry->Mask & (FILE_ADD_FILE | GENERIC_WRITE | GENERIC_ALL)))
            continue;
        for (size_t j = 0; j < sizeof groups / sizeof *groups; j++)
            found = found || IsWellKnownSid((PSID)&entry->SidStart, groups[j]);
    }
    LocalFree(descriptor);
    return found;
}

static void examine_folder(struct doctor *d, const wchar_t *folder)
{
    char name[300], text[480];
    wchar_t alias[MAX_PATH + 16];
    narrow(name, sizeof name, folder);
    if (wcslen(folder) < MAX_PATH && others_may_write(folder)) {
        snprintf(text, sizeof text, "everybody may write into %s, which is on PATH", name);
        doctor_finding(d, "path.writable", false, text,
                       "take the right to write from Users, or take the folder out of PATH");
    }
    if (wcslen(folder) >= MAX_PATH || !wcsstr(folder, L"WindowsApps"))
        return;
    _snwprintf(alias, MAX_PATH + 15, L"%ls\\python.exe", folder);
    alias[MAX_PATH + 15] = L'\0';
    DWORD attributes = GetFileAttributesW(alias);
    if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_REPARSE_POINT)) {
        snprintf(text, sizeof text, "python.exe in %s is an alias of the Store", name);
        doctor_finding(d, "path.store-alias", false, text,
                       "such aliases do not start in the sandbox: switch it off in Settings, Apps, "
                       "App execution aliases");
    }
}

static void examine_path(struct doctor *d)
{
    static wchar_t path[32768];
    DWORD n = GetEnvironmentVariableW(L"PATH", path, 32768);
    if (n == 0 || n >= 32768)
        return;
    for (wchar_t *p = path, *next; p; p = next) {
        next = wcschr(p, L';');
        if (next)
            *next++ = L'\0';
        if (*p)
            examine_folder(d, p);
    }
}

static void examine_drive(struct doctor *d)
{
    wchar_t cwd[1024], root[8] = L"?:\\";
    DWORD n = GetCurrentDirectoryW(1024, cwd);
    if (n == 0 || n >= 1024)
        return;
    root[0] = cwd[0];
    bool share = cwd[0] == L'\\' && cwd[1] == L'\\';
    if (share || GetDriveTypeW(root) == DRIVE_REMOTE)
        doctor_finding(d, "root.network", false,
                       "the current directory is on a network drive, where the token of the "
                       "sandbox does not reach: what is there is interposed only",
                       "work in a folder on a local drive");
}

void doctor_system(struct doctor *d)
{
    examine_version(d);
    doctor_layer(d, "boundary", strcmp(d->boundary, "kernel") == 0, "%s%s%s", d->boundary,
                 d->boundary_detail[0] ? ": " : "", d->boundary_detail);
    examine_shells(d);
    examine_settings(d);
    examine_user(d);
    examine_session(d);
    examine_path(d);
    examine_drive(d);
    static const char *const nothing[] = {"cmd", "/d", "/c", "exit"};
    doctor_try(d, 4, nothing, "tried: cmd with the token, in its job, with the agent in it",
               "if the step is the agent's, a security product may have stopped it: allow "
               "cordon.exe there, and try again");
    const char *word = d->boundary;
    d->domains =
        (struct doctor_domains){word, word, word, word, "interposed", "interposed", "interposed"};
}
