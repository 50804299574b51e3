/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that knows about Wine. Nothing here may weaken a decision on Windows. */
#ifndef CORDON_LAUNCH_WINDOWS_WINE_H
#define CORDON_LAUNCH_WINDOWS_WINE_H

#include <windows.h>

#include <stdbool.h>

static inline bool wine_is_here(void)
{
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != NULL;
}

/* Wine 8 kills a process that calls FindFirstFileNameW. Without its names a hard link counts as
   having names outside. */
static inline bool wine_lacks_link_names(void)
{
    return wine_is_here();
}

/* Wine 8 has no files below a volume's device, and its driver crashes if it is opened before it has
   started. */
static inline bool wine_lacks_device_paths(void)
{
    return wine_is_here();
}

/* Wine 8 shows links on its Unix side as reparse points, follows them whatever an open says, and
   does not tell where they lead: there the file that was reached is judged by its own path. */
static inline bool wine_hides_links(void)
{
    return wine_is_here();
}

/* The server's end of a console gives Wine's programs neither its device nor a name. */
static inline bool wine_is_console_server(bool is_file, bool has_device, bool has_name)
{
    return wine_is_here() && is_file && !has_device && !has_name;
}

/* Wine passes a pipe of its Unix side on unchanged, and programs that query a pipe's kind (node)
   fail: it is relayed through a Windows pipe. */
static inline bool wine_is_unix_pipe(HANDLE file)
{
    DWORD flags;
    return wine_is_here() && GetFileType(file) == FILE_TYPE_PIPE &&
           !GetNamedPipeInfo(file, &flags, NULL, NULL, NULL);
}

/* Wine shows the whole Unix file system as a drive. */
static inline char wine_unix_drive(void)
{
    return wine_is_here() ? 'Z' : 0;
}

/* Every program under Wine reports that it is elevated, which means nothing there. */
static inline bool wine_is_always_elevated(void)
{
    return wine_is_here();
}

/* Desktops separate nothing under Wine, and loading its window system costs as much as a whole
   process. */
static inline bool wine_desktops_separate_nothing(void)
{
    return wine_is_here();
}

/* Under Wine 8 nothing that a program writes to a pseudoconsole arrives. */
static inline bool wine_lacks_pseudoconsoles(void)
{
    return wine_is_here();
}

/* Where the launcher has no console, a program under Wine has none either and needs none: a console
   of its own would cost a whole process. On Windows it would get a visible one. */
static inline DWORD wine_console_flags(DWORD usual)
{
    return wine_is_here() && GetConsoleCP() == 0 ? 0 : usual;
}

/* Under Wine 8 a file that replaces another gets the old name's spelling, and a rename that changes
   case alone does nothing. */
static inline bool wine_keeps_spelling(void)
{
    return wine_is_here();
}

#endif
