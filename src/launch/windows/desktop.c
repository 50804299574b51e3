/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private desktops, on the current window station rather than one of their own: only administrators
 * may name a window station, and an unnamed one is shared by the whole logon session, so it would
 * not be private; and a process changes its station as a whole, which a library must not do to its
 * host. What the station shares, clipboard and atoms, is closed by the job's user-interface limits.
 */
#include "launch/windows/desktop.h"

#include <ntsecapi.h>
#include <stdbool.h>
#include <stdio.h>

/* Loaded once, on demand: commands that start nothing do not pay for the window system. */
static struct {
    HWINSTA(WINAPI *station)(void);
    BOOL(WINAPI *describe)(HANDLE, int, PVOID, DWORD, DWORD *);
    HDESK(WINAPI *create)(LPCWSTR, LPCWSTR, DEVMODEW *, DWORD, ACCESS_MASK, SECURITY_ATTRIBUTES *);
    BOOL(WINAPI *close)(HDESK);
} user;

static BOOL CALLBACK load_user(INIT_ONCE *once, void *argument, void **result)
{
    (void)once, (void)argument, (void)result;
    HMODULE library = LoadLibraryExW(L"user32.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (!library)
        return FALSE;
    user.station = (void *)GetProcAddress(library, "GetProcessWindowStation");
    user.describe = (void *)GetProcAddress(library, "GetUserObjectInformationW");
    user.create = (void *)GetProcAddress(library, "CreateDesktopW");
    user.close = (void *)GetProcAddress(library, "CloseDesktop");
    return user.station && user.describe && user.create && user.close;
}

/* Everything except journaling and switching to it, which could show the user a screen made by the
   tree. */
static const DWORD tree_access = DESKTOP_READOBJECTS | DESKTOP_CREATEWINDOW | DESKTOP_CREATEMENU |
                                 DESKTOP_HOOKCONTROL | DESKTOP_ENUMERATE | DESKTOP_WRITEOBJECTS |
                                 READ_CONTROL;

/* Without this entry an owner may always rewrite the DACL, and the tree runs as the owner. */
static bool bind_owner(struct token_descriptor *d)
{
    BYTE sid[SECURITY_MAX_SID_SIZE];
    DWORD size = sizeof sid;
    return CreateWellKnownSid(WinCreatorOwnerRightsSid, NULL, sid, &size) &&
           AddAccessAllowedAce(&d->dacl.acl, ACL_REVISION, READ_CONTROL, sid);
}

int desktop_make(const struct token_run *r, HANDLE *out, wchar_t *name, size_t capacity,
                 struct launch_failure *f)
{
    wchar_t station[64], full[DESKTOP_NAME_UNITS];
    DWORD random[2], size = 0;
    struct token_descriptor d;
    static INIT_ONCE loaded = INIT_ONCE_STATIC_INIT;
    if (!InitOnceExecuteOnce(&loaded, load_user, NULL, NULL))
        return launch_fail(f, "cannot load the window system (user32.dll)");
    if (!user.describe(user.station(), UOI_NAME, station, sizeof station, &size))
        return launch_fail(f, "cannot name the window station (GetUserObjectInformation)");
    if (!RtlGenRandom(random, sizeof random))
        return launch_fail_words(f, "cannot name a desktop: cannot read random bytes");
    int n = swprintf(full, DESKTOP_NAME_UNITS, L"%ls\\cordon-%08lx%08lx", station, random[0],
                     random[1]);
    if (n < 0 || (size_t)n >= capacity)
        return launch_fail_words(f, "cannot name a desktop: the window station's name is too long");
    int rc = token_describe(r, tree_access, &d, f);
    if (rc)
        return rc;
    if (!bind_owner(&d))
        return launch_fail(f, "cannot write the desktop's security descriptor");
    HDESK desktop =
        user.create(full + wcslen(station) + 1, NULL, NULL, 0, tree_access, &d.attributes);
    if (!desktop)
        return launch_fail(f, "cannot make a private desktop (CreateDesktop)");
    wcscpy(name, full);
    *out = desktop;
    return 0;
}

void desktop_close(HANDLE desktop)
{
    user.close(desktop);
}
