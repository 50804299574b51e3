/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that take another program's command line as an argument. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

static int hex_digit(char c)
{
    return ascii_is_digit(c)                      ? c - '0'
           : ascii_is_alpha(c) && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                  : -1;
}

/* @file, @path, @fname and @relpath of forfiles at i: how long they are; 0: none of them. */
static size_t found_name(struct str text, size_t i)
{
    static const struct str names[] = {STR("@relpath"), STR("@fname"), STR("@file"), STR("@path")};
    for (size_t k = 0; k < NAME_ROWS(names); k++)
        if (str_startsi(str_from(text, i), names[k]))
            return names[k].n;
    return 0;
}

/* forfiles takes 0x41 for the character A, and @file and its like for what it finds in the
   folder. */
static struct str without_hex(struct guard *g, struct str text, struct str folder)
{
    size_t finds = 0, n = 0;
    for (size_t i = 0; i < text.n; i++)
        finds += text.p[i] == '@';
    if (!guard_spend(g, finds * folder.n))
        return STR("\xFF");
    char *out = arena_alloc(guard_arena(g), text.n + finds * folder.n + 1);
    for (size_t i = 0; out && i < text.n; i++) {
        int high = -1, low = -1;
        if (i + 3 < text.n && text.p[i] == '0' && (text.p[i + 1] | 32) == 'x') {
            high = hex_digit(text.p[i + 2]);
            low = hex_digit(text.p[i + 3]);
        }
        bool code = high >= 0 && low >= 0;
        size_t found = text.p[i] == '@' ? found_name(text, i) : 0;
        if (found && str_startsi(str_from(text, i), STR("@path"))) {
            str_copy(out + n, folder);
            n += folder.n;
        }
        out[n++] = code ? (char)(high * 16 + low) : found ? GUARD_HOLE : text.p[i];
        i += code ? 3 : found ? found - 1 : 0;
    }
    return (struct str){out, n};
}

/* The folder of /p with a backslash behind it; "": none is named. */
static struct str forfiles_folder(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i + 1 < call->count; i++) {
        struct str folder = call->words[i + 1].text;
        if (!name_is_one_of(call->words[i].text, STR("/p|-p|//p")) || folder.n == 0)
            continue;
        while (folder.n && folder.p[folder.n - 1] == '\\')
            folder.n--;
        char *p = arena_alloc(guard_arena(g), folder.n + 1);
        if (!p)
            return STR("\xFF");
        str_copy(p, folder);
        p[folder.n] = '\\';
        return (struct str){p, folder.n + 1};
    }
    return STR("");
}

void judge_forfiles(struct guard *g, const struct guard_call *call)
{
    struct str folder = forfiles_folder(g, call), outer = guard_folder(g);
    for (size_t i = 1; i + 1 < call->count; i++) {
        if (!name_is_one_of(call->words[i].text, STR("/c|-c|//c")))
            continue;
        size_t count;
        struct str line = without_hex(g, call->words[i + 1].text, folder);
        struct word *words = winargv_split(guard_arena(g), line, &count);
        if (!words) {
            guard_limit(g, call->words[i + 1]);
            return;
        }
        for (size_t j = 0; j < count; j++) {
            words[j].start = call->words[i + 1].start;
            words[j].end = call->words[i + 1].end;
        }
        guard_change_folder(g, folder);
        if (count)
            guard_program(g, &(struct guard_call){.words = words, .count = count});
        guard_set_folder(g, outer);
        return;
    }
}

/* The value of -S among env's options, itself an option or the end of several; false: none. */
static bool split_string(const struct guard_call *call, size_t i, struct str *out)
{
    static const struct str name = STR("--split-string");
    struct str arg = call->words[i].text;
    if (str_starts(arg, name) && (arg.n == name.n || arg.p[name.n] == '=')) {
        *out = str_from(arg, name.n + 1);
        return true;
    }
    if (arg.n < 2 || arg.p[0] != '-' || arg.p[1] == '-')
        return false;
    size_t at = 1;
    while (at < arg.n && arg.p[at] != 'S' && arg.p[at] != 'u' && arg.p[at] != 'C')
        at++;
    *out = str_from(arg, at + 1);
    return at < arg.n && arg.p[at] == 'S';
}

/* env -S 'PROGRAM ARG…' ARG…: the words of one word, and those after it. */
void judge_env(struct guard *g, const struct guard_call *call)
{
    struct str code;
    for (size_t i = 1; i < call->count && str_starts(call->words[i].text, STR("-")); i++) {
        if (!split_string(call, i, &code)) {
            g->settings_moved |=
                name_is_one_of(call->words[i].text, STR("-i|-|--ignore-environment|"
                                                        "-u|--unset")) ||
                str_starts(call->words[i].text, STR("-u"));
            i += name_is_one_of(call->words[i].text, STR("-u|--unset|-C|--chdir"));
            continue;
        }
        auto_buf struct buf text = {0};
        for (buf_add(&text, code); ++i < call->count;) {
            buf_char(&text, ' ');
            buf_add(&text, call->words[i].text);
        }
        struct word whole = call->words[1];
        whole.text = arena_copy(guard_arena(g), buf_str(&text));
        if (text.failed || !whole.text.p)
            guard_limit(g, whole);
        else
            guard_nested(g, GUARD_BASH, whole);
        return;
    }
}

/* Every argument is a command line of its own: concurrently "a" "b". */
void judge_shell_arguments(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i < call->count && !guard_stopped(g); i++)
        if (call->words[i].text.n && call->words[i].text.p[0] != '-' &&
            str_has_char(call->words[i].text, ' '))
            guard_nested(g, GUARD_CMD, call->words[i]);
}

/* script -c CODE, watch CODE. */
void judge_shell_option(struct guard *g, const struct guard_call *call)
{
    bool is_watch = str_eqi(name_program(call->words[0].text), STR("watch"));
    for (size_t i = 1; i + 1 < call->count; i++)
        if ((name_is_one_of(call->words[i].text, STR("--command")) ||
             (str_starts(call->words[i].text, STR("-")) &&
              str_ends(call->words[i].text, STR("c")))) &&
            !is_watch)
            guard_nested(g, GUARD_BASH, call->words[i + 1]);
    /* script FILE COMMAND … is the way of BSD */
    size_t i = is_watch ? wrapped_program(call, 1, STR("-n|--interval|-q"))
                        : wrapped_program(call, 1, STR("-c|--command|-t|-T|-E|-o|-O|-B|-I|-m")) + 1;
    if (i < call->count && str_has_char(call->words[i].text, ' '))
        guard_nested(g, GUARD_BASH, call->words[i]);
    else
        judge_rest(g, call, i);
    if (!is_watch && call->input.text.p && i >= call->count) /* its shell reads the input */
        guard_nested(g, GUARD_BASH, call->input);
}

void judge_nodemon(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i + 1 < call->count; i++)
        if (name_is_one_of(call->words[i].text, STR("-x|--exec")))
            guard_nested(g, GUARD_CMD, call->words[i + 1]);
}
