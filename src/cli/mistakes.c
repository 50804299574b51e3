/* SPDX-License-Identifier: Apache-2.0 */
/* Common typing mistakes, and what to type instead. */
#include "cli/cli.h"
#include "launch/disk.h"

static bool is_in_folder(const char *word)
{
    return word[0] == '.' || strchr(word, '/') || strchr(word, '\\');
}

int mistake_dashes(const struct arguments *args, const char *name)
{
    const char *word = args->items[args->next];
    const char *more = args->count - args->next > 1 ? " \xE2\x80\xA6" : "";
    /* A word before the option that belongs to its value: perhaps two halves of one path. */
    const char *before = args->next > 1 ? args->items[args->next - 1] : "";
    const char *option = args->next > 2 ? args->items[args->next - 2] : "";
    if (strcmp(option, "--net") == 0 && strcmp(before, "allow") == 0)
        return print_failure("a host is allowed with --net=allow=%s", word);
    if (strcmp(name, "check") == 0 && strchr(word, ' '))
        return print_failure("a whole line is for a shell: cordon check --shell %s \"%s\"",
                             disk_dialect() == PATH_WINDOWS ? "powershell" : "bash", word);
    /* Only a path has blanks. */
    bool path = strcmp(option, "--root") == 0 || strcmp(option, "--create-root") == 0 ||
                strcmp(option, "--deny-read") == 0 || strcmp(option, "--deny-write") == 0 ||
                strcmp(option, "--allow-read") == 0 || strcmp(option, "--cwd") == 0;
    if (path && before[0] != '-' && is_in_folder(before) && is_in_folder(word))
        return print_failure("give %s once for each folder: %s %s %s %s", option, option, before,
                             option, word);
    if (path && before[0] != '-')
        return print_failure(
            "put -- in front of the command: cordon %s \xE2\x80\xA6 -- %s%s; or, if "
            "%s belongs to %s, put both in quotes: %s \"%s %s\"",
            name, word, more, word, option, option, before, word);
    return print_failure("put -- in front of the command: cordon %s %s-- %s%s", name,
                         args->next > 1 ? "\xE2\x80\xA6 " : "", word, more);
}

/* Words that shells know and that are not programs. */
static bool is_builtin(struct str name)
{
    static const char *const posix[] = {"alias", "cd",     "eval", "exec",   "export", "pushd",
                                        "set",   "source", "type", "ulimit", "umask",  "unset"};
    static const char *const windows[] = {
        "assoc",  "cd",   "cls", "copy", "date",  "del", "dir",   "echo", "erase", "md",  "mkdir",
        "mklink", "move", "rd",  "ren",  "rmdir", "set", "start", "time", "type",  "ver", "vol"};
    bool here = disk_dialect() == PATH_WINDOWS;
    const char *const *list = here ? windows : posix;
    size_t count = here ? sizeof windows / sizeof *windows : sizeof posix / sizeof *posix;
    for (size_t i = 0; i < count; i++)
        if (str_eqi(name, str_of(list[i])))
            return true;
    return false;
}

const char *mistake_program(const char *program)
{
    struct str name = str_of(program);
    bool windows = disk_dialect() == PATH_WINDOWS;
    if (!name.n)
        return "its name is empty; is a variable not set?";
    if (name.p[0] == '\'')
        return "cmd takes only \"\xE2\x80\xA6\" for quotes";
    if (is_builtin(name))
        return windows ? "it is built into cmd: cordon run -- cmd /c \xE2\x80\xA6"
                       : "it is built into the shell: cordon run -- sh -c '\xE2\x80\xA6'";
    if (strpbrk(program, "|&;<>"))
        return windows ? "that is for a shell: cordon run -- cmd /c \"\xE2\x80\xA6\""
                       : "that is for a shell: cordon run -- sh -c '\xE2\x80\xA6'";
    if (str_has_char(name, '=') && !str_has_char(name, '/'))
        return windows ? "set variables before cordon"
                       : "set variables with env: -- env NAME=VALUE \xE2\x80\xA6";
    if (!windows && !str_has_char(name, '/') && disk_is_file(program))
        return "it is in this folder: put ./ in front of its name";
    if (str_has_char(name, ' ') && !str_has_char(name, '/') && !str_has_char(name, '\\'))
        return "if these are several words, leave out the quotes around them";
    return "";
}
