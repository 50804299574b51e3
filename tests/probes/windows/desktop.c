/* SPDX-License-Identifier: Apache-2.0 */
/* The shell and the desktop: opening, windows, messages, hooks, the clipboard. */
#include "wire/windows/nt.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <ddeml.h>
#include <shellapi.h>
#include <shlwapi.h>

#include "probe.h"

static bool put_text(const wchar_t *path, const wchar_t *text)
{
    char bytes[600];
    DWORD n;
    HANDLE file = CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    snprintf(bytes, sizeof bytes, "%ls", text);
    bool good =
        file != INVALID_HANDLE_VALUE && WriteFile(file, bytes, (DWORD)strlen(bytes), &n, NULL);
    CloseHandle(file);
    return good;
}

/* opened FILE WHAT: what a browser or another default program of the tests does. */
int do_opened(void)
{
    return result(put_text(word(0), word(1)));
}

/* shell-plain WHAT: ShellExecute, the short form. */
int do_shell_plain(void)
{
    INT_PTR code = (INT_PTR)ShellExecuteW(NULL, NULL, word(0), NULL, NULL, SW_HIDE);
    Sleep(1000);
    return code > 32 ? 0 : (int)code + 1;
}

/* shell-verb WHAT: with the flags of .NET's Process.Start, which Start-Process and Invoke-Item
   use. */
int do_shell_verb(void)
{
    SHELLEXECUTEINFOW info = {.cbSize = sizeof info,
                              .fMask = SEE_MASK_NOCLOSEPROCESS | SEE_MASK_FLAG_DDEWAIT |
                                       SEE_MASK_FLAG_NO_UI,
                              .lpFile = word(0),
                              .nShow = SW_SHOWNORMAL};
    if (!ShellExecuteExW(&info))
        return last_error();
    if (info.hProcess)
        WaitForSingleObject(info.hProcess, 5000);
    return 0;
}

/* default-program SCHEME URL: what the registry says opens it, started directly. */
int do_default_program(void)
{
    wchar_t key[200], line[1200] = L"", whole[1400] = L"", *at;
    LONG size = sizeof line;
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION made;
    swprintf(key, 200, L"%ls\\shell\\open\\command", word(0));
    if (RegQueryValueW(HKEY_CLASSES_ROOT, key, line, &size) || !(at = wcsstr(line, L"%1")))
        return 2;
    swprintf(whole, 1400, L"%.*ls%ls%ls", (int)(at - line), line, word(1), at + 2);
    if (!CreateProcessW(NULL, whole, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &made))
        return last_error();
    WaitForSingleObject(made.hProcess, 5000);
    return 0;
}

/* ---- windows ---- */

static const wchar_t *file_of_server;
enum { WM_DO_IT = WM_APP + 7 };

static LRESULT CALLBACK on_message(HWND window, UINT message, WPARAM w, LPARAM l)
{
    if (message == WM_DO_IT || message == WM_COPYDATA)
        put_text(file_of_server, L"told");
    if (message == WM_CLOSE)
        PostQuitMessage(0);
    return DefWindowProcW(window, message, w, l);
}

static HDDEDATA CALLBACK on_dde(UINT type, UINT form, HCONV conversation, HSZ first, HSZ second,
                                HDDEDATA data, ULONG_PTR one, ULONG_PTR two)
{
    (void)form, (void)conversation, (void)first, (void)second, (void)data, (void)one, (void)two;
    if (type == XTYP_EXECUTE)
        put_text(file_of_server, L"executed");
    return type == XTYP_CONNECT   ? (HDDEDATA)(ULONG_PTR)TRUE
           : type == XTYP_EXECUTE ? (HDDEDATA)(ULONG_PTR)DDE_FACK
                                  : NULL;
}

/* window-server NAME FILE: a window and a DDE server of that name; what they are told to do is to
   write FILE. Says "ready" in FILE.ready. */
int do_window_server(void)
{
    wchar_t ready[700];
    DWORD dde = 0;
    MSG m;
    WNDCLASSW class = {.lpfnWndProc = on_message, .lpszClassName = word(0)};
    file_of_server = word(1);
    RegisterClassW(&class);
    if (!CreateWindowW(word(0), word(0), WS_OVERLAPPED, 0, 0, 10, 10, NULL, NULL, NULL, NULL))
        return last_error();
    DdeInitializeW(&dde, on_dde, 0, 0);
    DdeNameService(dde, DdeCreateStringHandleW(dde, word(0), CP_WINUNICODE), 0, DNS_REGISTER);
    swprintf(ready, 700, L"%ls.ready", word(1));
    put_text(ready, L"ready");
    while (GetMessageW(&m, NULL, 0, 0) > 0)
        DispatchMessageW(&m);
    return 0;
}

/* dde-client NAME: [do] to the server of that name, as programs were told to open documents. */
int do_dde_client(void)
{
    DWORD dde = 0;
    wchar_t text[] = L"[do]";
    DdeInitializeW(&dde, on_dde, APPCMD_CLIENTONLY, 0);
    HSZ name = DdeCreateStringHandleW(dde, word(0), CP_WINUNICODE);
    HCONV conversation = DdeConnect(dde, name, name, NULL);
    return conversation && DdeClientTransaction((BYTE *)text, sizeof text, conversation, NULL, 0,
                                                XTYP_EXECUTE, 3000, NULL)
               ? 0
               : 1;
}

/* window-post NAME HOW: a message to the window, posted, sent, or with data. */
int do_window_post(void)
{
    HWND window = FindWindowW(word(0), NULL);
    COPYDATASTRUCT data = {1, 0, NULL};
    DWORD_PTR answer;
    if (!window)
        return 1;
    if (wcscmp(word(1), L"posted") == 0)
        return result(PostMessageW(window, WM_DO_IT, 0, 0));
    return SendMessageTimeoutW(window, wcscmp(word(1), L"data") == 0 ? WM_COPYDATA : WM_DO_IT, 0,
                               (LPARAM)&data, SMTO_NORMAL, 2000, &answer)
               ? 0
               : last_error();
}

static LRESULT CALLBACK on_hook(int code, WPARAM w, LPARAM l)
{
    return CallNextHookEx(NULL, code, w, l);
}

/* window-hook NAME: a hook on the thread of the window. */
int do_window_hook(void)
{
    HWND window = FindWindowW(word(0), NULL);
    DWORD thread = window ? GetWindowThreadProcessId(window, NULL) : 0;
    if (!thread)
        return 1;
    return result(
        SetWindowsHookExW(WH_GETMESSAGE, on_hook, GetModuleHandleW(L"user32.dll"), thread) != NULL);
}

/* clipboard TEXT: there from now on. */
int do_clipboard(void)
{
    size_t size = (wcslen(word(0)) + 1) * sizeof(wchar_t);
    HGLOBAL memory = GlobalAlloc(GMEM_MOVEABLE, size);
    memcpy(GlobalLock(memory), word(0), size);
    GlobalUnlock(memory);
    return result(OpenClipboard(NULL) && EmptyClipboard() &&
                  SetClipboardData(CF_UNICODETEXT, memory) && CloseClipboard());
}

/* ---- the machine ---- */

/* logon LINE: a program under another account, by the secondary logon service. */
int do_logon(void)
{
    wchar_t line[1200];
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION made;
    swprintf(line, 1200, L"%ls", word(0));
    if (!CreateProcessWithLogonW(L"nobody", NULL, L"nothing", LOGON_NETCREDENTIALS_ONLY, NULL, line,
                                 0, NULL, NULL, &startup, &made))
        return last_error();
    WaitForSingleObject(made.hProcess, 5000);
    return 0;
}

NTSYSAPI NTSTATUS NTAPI NtCreateSymbolicLinkObject(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *,
                                                   UNICODE_STRING *);
NTSYSAPI NTSTATUS NTAPI NtSystemDebugControl(int, void *, ULONG, void *, ULONG, ULONG *);

NTSYSAPI NTSTATUS NTAPI NtOpenDirectoryObject(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);
NTSYSAPI NTSTATUS NTAPI NtCreateDirectoryObject(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);

/* directory HOW NAME: an object directory, open (of somebody), make (and opened again), hold. */
int do_directory(void)
{
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES object;
    HANDLE made, opened;
    RtlInitUnicodeString(&name, word(1));
    InitializeObjectAttributes(&object, &name, OBJ_CASE_INSENSITIVE | OBJ_OPENIF, NULL, NULL);
    NTSTATUS status = STATUS_SUCCESS;
    if (wcscmp(word(0), L"open") != 0)
        status = NtCreateDirectoryObject(&made, 0xF, &object);
    if (status >= 0)
        status = NtOpenDirectoryObject(&opened, 0xF, &object);
    if (status >= 0 && wcscmp(word(0), L"hold") == 0)
        Sleep(INFINITE);
    return status_result(status);
}

/* debug-control: the kernel's own state. */
int do_debug_control(void)
{
    unsigned char version[64];
    ULONG n;
    return status_result(NtSystemDebugControl(0, NULL, 0, version, sizeof version, &n));
}

/* link-object NAME TARGET. */
int do_link_object(void)
{
    UNICODE_STRING name, target;
    OBJECT_ATTRIBUTES object;
    HANDLE link;
    RtlInitUnicodeString(&name, word(0));
    RtlInitUnicodeString(&target, word(1));
    InitializeObjectAttributes(&object, &name, OBJ_CASE_INSENSITIVE, NULL, NULL);
    return status_result(NtCreateSymbolicLinkObject(&link, 0xF0001, &object, &target));
}
