/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the readers report and the judges decide.
 *
 * A reader (cmd.c, powershell.c, bash.c) decodes text into words, follows its shell's own builtins,
 * aliases, variables and functions, and hands every effect to one of the judges below. Readers
 * never decide what is dangerous about a program, a URL or a path: judges do, from tables/.
 *
 * Spans of words are byte offsets into the text that is being read; the guard maps them to the
 * outermost text. Everything lives in guard_arena().
 */
#ifndef CORDON_GUARD_EFFECTS_H
#define CORDON_GUARD_EFFECTS_H

#include "guard/guard.h"

struct guard;

struct arena *guard_arena(struct guard *g);

/* True once a limit was hit; readers then return at once. */
bool guard_stopped(const struct guard *g);

/* A limit was hit (or memory is used up): one opaque.limit finding, and everything stops. */
void guard_limit(struct guard *g, struct word at);

/* Takes count bytes from the expansion budget; false (after guard_limit) when it is used up. Call
   it for text made larger than it stands in the input: variables, folding, decoding. */
bool guard_spend(struct guard *g, size_t count);

/* ---- words ---- */

static inline bool word_known(struct word w)
{
    return w.text.p && !str_has_char(w.text, GUARD_HOLE);
}

/* A word that cannot be known at all. */
static inline struct word word_unknown(uint32_t start, uint32_t end)
{
    return (struct word){.text = STR("\xFF"), .start = start, .end = end};
}

/* ---- findings ---- */

/*
 * Reports rule at a word. who is the usual name of the command ("Start-Process"), why a
 * predicate for it ("hands this URL to the shell, …") and fix a suggestion; NULL takes the rule's
 * own.
 */
void guard_find(struct guard *g, enum guard_rule rule, struct word at, struct str who,
                const char *why, const char *fix);

/* ---- effects of a command; each may report any number of findings ---- */

/* Records a command for --show and counts it. Call once for each command found, in order of its
   start, before judging it; name.text with holes is shown as null. */
void guard_command(struct guard *g, enum guard_shell shell, struct word name,
                   const struct word *args, size_t count, uint32_t start, uint32_t end);

/* A program started with arguments (words[0] is the program as written: name or path). */
struct guard_call {
    enum guard_shell from;    /* the shell that calls it, GUARD_NO_SHELL for argv */
    const struct word *words; /* decoded, redirections removed */
    size_t count;             /* at least 1 */
    struct str raw;           /* the undecoded rest of the command line after the program, if the
                                 caller passes it verbatim (cmd, CreateProcess); "" otherwise */
    struct word input;        /* text on its standard input, if something is piped or redirected in;
                                 text.p NULL: nothing is; holes: not known */
};
void guard_program(struct guard *g, const struct guard_call *call);

/*
 * A file, folder, program or URL is handed to the shell (ShellExecute, xdg-open …): denied for
 * URLs, documents and folders, judged like a program otherwise.
 */
void guard_open(struct guard *g, struct str who, struct word target, const struct word *args,
                size_t count, enum guard_shell from);

/* True if ShellExecute would take text (holes allowed after the scheme) as a URL, URI or host. */
bool guard_is_url(struct str text);

/* A deletion. Only forced or recursive ones are judged, and any of what guard_protects knows; target
   may be a wildcard. */
enum {
    GUARD_RECURSE = 1,
    GUARD_FORCE = 2,
    GUARD_REGISTRY = 4,
    GUARD_QUIET = 8,   /* many files without a question: judged where the place is known */
    GUARD_HIDDEN = 16, /* a wildcard finds hidden names, too */
};
void guard_delete(struct guard *g, struct str who, struct word target, unsigned flags);

/* The command word, or text that will be run as code, cannot be known. */
void guard_opaque_command(struct guard *g, struct word at, struct str who);
void guard_opaque_text(struct guard *g, struct word at, struct str who);

/* ---- code inside code ---- */

/* Reads code.text in another shell, or in the same one, one level deeper. Holes in it are kept: the
   readers treat them as unknown stretches. Findings inside point at code's span. */
void guard_nested(struct guard *g, enum guard_shell shell, struct word code);
/* The same for cmd with READ_ flags. */
void guard_nested_cmd(struct guard *g, struct word code, unsigned flags);

/* For a reader that reads such code itself, to keep its variables: between the two calls every
   finding and command belongs to the code. False at the depth limit. */
struct guard_frame {
    size_t start, end;
};
bool guard_enter(struct guard *g, struct word code, struct guard_frame *outer);
void guard_leave(struct guard *g, struct guard_frame outer);

/* The number of such levels around the code that is being read; 0: it is the outermost text. */
unsigned guard_depth(const struct guard *g);

/* Reads a script file like guard_nested if the policy says it lies inside the roots and it exists.
   False if it was not read (then it is a program like any other). */
bool guard_script(struct guard *g, struct word path);
/* The script is, or is a copy of, a program that opens things: *path is that one then. */
bool guard_script_opens(struct guard *g, struct word *path);
/* The same for a file that is given to an interpreter by name: if the text wrote it, its extension
   does not matter. GUARD_NO_SHELL: a language that is only judged by what its strings say. */
bool guard_script_as(struct guard *g, struct word path, enum guard_shell shell);

/*
 * The folder that relative paths start from, as the text has changed it: p NULL if it is
 * unchanged, a hole if it is unknown. Readers set it at cd and restore it after a subshell.
 */
struct str guard_folder(const struct guard *g);
void guard_set_folder(struct guard *g, struct str folder);
void guard_change_folder(struct guard *g, struct str path);

/* The command is about to run in the sandbox (guard_question.confined). */
bool guard_is_confined(const struct guard *g);

/* A file (or a registry key) is written: a finding if programs outside run its content, or if
   replaces is set and the file is known to lie outside the roots. */
void guard_write(struct guard *g, struct str who, struct word target, bool replaces);

/* True, with a finding, if programs outside obey the file: a protected name, a folder of an agent's
   settings, or Cordon's own file. guard_write and guard_delete ask it themselves. */
bool guard_protects(struct guard *g, struct str who, struct word target, bool deletes);

/* The same for a file or folder that is copied or moved into a folder under its own name. */
void guard_brings(struct guard *g, struct str who, struct word source, struct str folder);

/* The text writes a file; if it runs it later, guard_script reads this instead of the disk. */
void guard_wrote(struct guard *g, struct str path, struct str content, bool append);
/* The content that the text wrote into that file; p NULL if it wrote none. */
struct str guard_written(const struct guard *g, struct str path);
/* The same for a file whose content is unknown before the run, for example a download. */
void guard_wrote_unknown(struct guard *g, struct str path);
/* The same file under another name; it may also be a program that is run by the new one. */
void guard_copied(struct guard *g, struct str from, struct str to);

/* The same file or folder, which is no longer where it was: history stays history. */
void guard_moved(struct guard *g, struct str from, struct str to);

/* A symbolic link: as guard_copied, and a deletion below the link is one below its target. */
void guard_linked(struct guard *g, struct str to, struct str link);

/* The folder that commands run in now; a hole if it is unknown. */
struct str guard_current(struct guard *g);
/* The text says where programs are looked for: files that it wrote may be among them. */
bool guard_path_changed(const struct guard *g);
/* While true, a command whose whole name is unknown is no finding: it is judged again where it is
   known. Returns what it was before. */
bool guard_skip_unknown(struct guard *g, bool skips);
/* How many were skipped so far. */
unsigned guard_skipped(const struct guard *g);
/* From here on * finds names that begin with a dot, too (shopt -s dotglob). */
void guard_find_dots(struct guard *g);
/* The name of a new temporary file or folder, another each time; the text may delete it. */
struct str guard_temporary(struct guard *g);

/* Text in which bash expands commands, without running it: a prompt, an index. */
void guard_expanded(struct guard *g, struct word text);
/* A command to which the program that runs it adds arguments: a pager, an editor, a callback. */
void guard_callback(struct guard *g, struct word code);

/* An environment variable is set; some hold commands that other programs run (PAGER, PS4 …). */
void guard_variable(struct guard *g, struct str name, struct word value);
/* It is taken out of the environment. */
void guard_unset(struct guard *g, struct str name);

/* Value of a well-known Windows environment variable (COMSPEC, SystemRoot, …), which every machine
   has alike; false if it is not known before the run. Name in any case. */
bool guard_environment(struct str name, struct str *value);

/* ---- the readers: one function per language, one per program that takes code as arguments ---- */

enum { READ_DELAYED_EXPANSION = 1, READ_BATCH_FILE = 2 };

void cmd_read(struct guard *g, struct str text, unsigned flags);
void powershell_read(struct guard *g, struct str text);
void bash_read(struct guard *g, struct str text);

/* cmd.exe, powershell.exe/pwsh and sh/bash by their own argument rules; call->words[0] is the
 * shell. */
void cmd_program(struct guard *g, const struct guard_call *call);
void powershell_program(struct guard *g, const struct guard_call *call);
void bash_program(struct guard *g, const struct guard_call *call);

/* ---- winargv.c: the C runtime's rules ---- */

/* Splits a command line; spans point into it. NULL when memory is used up. */
struct word *winargv_split(struct arena *arena, struct str line, size_t *count);

/* Appends one argument, quoted so that winargv_split gives it back. */
void winargv_quote(struct buf *out, struct str argument);

#endif
