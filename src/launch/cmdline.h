/* SPDX-License-Identifier: Apache-2.0 */
/* Windows command lines: how a program, a batch file and cmd receive their arguments. Portable;
   UTF-8 in and out. On failure the outputs are undefined and error holds a sentence. */
#ifndef CORDON_LAUNCH_CMDLINE_H
#define CORDON_LAUNCH_CMDLINE_H

#include "base/arena.h"
#include "base/buf.h"

enum {
    CMDLINE_MAX_UNITS = 32766, /* of CreateProcess, without the NUL */
    CMDLINE_MAX_CMD = 8191     /* of cmd.exe */
};

/* The way Windows starts a file, by its extension. */
enum cmdline_kind {
    CMDLINE_OTHER = 0, /* a document, or no extension: its first bytes decide */
    CMDLINE_PROGRAM,   /* .exe, .com */
    CMDLINE_BATCH,     /* .bat, .cmd: cmd reads it */
    CMDLINE_SCRIPT     /* .ps1, .py …: needs its interpreter named */
};
enum cmdline_kind cmdline_kind_of(struct str path);

/* The last component, and its extension with the dot (empty: none; a leading dot is no
   extension). */
struct str cmdline_name(struct str path);
struct str cmdline_extension(struct str path);

/* True if the program word means cmd: cmd or cmd.exe, with or without a folder. */
bool cmdline_is_cmd(struct str program);

/* The next extension of a PATHEXT list, starting at *at; false at its end. Entries without a dot or
   with a separator are skipped. An empty list means Windows' default. */
bool cmdline_next_extension(struct str pathext, size_t *at, struct str *extension);

/* Appends "x.ps1 is a PowerShell script; type: powershell -File x.ps1" for a CMDLINE_SCRIPT. */
void cmdline_advise(struct buf *error, struct str path);

/* True if the C runtime splits tail into exactly these arguments, the first as a program name. */
bool cmdline_reads_as(struct str tail, const char *const *argv, size_t argc);

/* For programs with a C runtime: quoted so that it reproduces argv. CORDON_E_VALUE if argv[0]
   contains a quote, CORDON_E_TOOBIG. */
int cmdline_join(struct buf *out, const char *const *argv, size_t argc, struct buf *error);

/* For cmd itself, whose quotes differ from the C runtime's: a single argument after /c is taken as
   it is; several are joined, with quotes around those that contain a blank and no quote. */
int cmdline_join_cmd(struct buf *out, const char *const *argv, size_t argc, struct buf *error);

/*
 * For a batch file: cmd "…" with arguments that reach cmd and the batch file unchanged. What cannot
 * be passed safely is refused with CORDON_E_VALUE: quotes, percent signs, control characters. argv
 * excludes the program.
 */
int cmdline_join_batch(struct buf *out, struct str cmd, struct str script, const char *const *argv,
                       size_t argc, struct buf *error);

#endif
