/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that copy, fetch, unpack or change files. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

/* The folder of -t DIR and --target-directory=DIR; text.p NULL: none is named. */
static struct word target_folder(const struct guard_call *call)
{
    for (size_t i = 1; i < call->count; i++) {
        struct word word = call->words[i];
        bool sticks = str_starts(word.text, STR("--target-directory="));
        size_t letter = 1; /* -at DIR, -atDIR */
        while (letter < word.text.n && word.text.p[0] == '-' && word.text.p[letter] != 't' &&
               ascii_is_alpha(word.text.p[letter]) && !ascii_is_in(word.text.p[letter], "gmoS"))
            letter++;
        bool is_letter =
            str_starts(word.text, STR("-")) && letter < word.text.n && word.text.p[letter] == 't';
        if (sticks)
            word.text = str_from(word.text, 19);
        else if (is_letter && letter + 1 < word.text.n)
            word.text = str_from(word.text, letter + 1);
        else if (is_letter || str_eq(word.text, STR("--target-directory")))
            word = i + 1 < call->count ? call->words[i + 1] : word;
        else
            continue;
        return word;
    }
    return (struct word){.text = STR_NONE};
}

/* What is copied into a folder gets its own name there, and a link is a second way to the file. */
static void judge_sources(struct guard *g, const struct guard_call *call, struct word target,
                          bool links)
{
    struct str who = name_program(call->words[0].text);
    for (size_t i = 1; i < call->count; i++) {
        struct word word = call->words[i];
        if (word.text.n == 0 || word.text.p[0] == '-' || word.text.p == target.text.p)
            continue;
        guard_brings(g, who, word, target.text);
        if (links)
            guard_protects(g, who, word, false);
    }
}

/* cp, copy, ren …: the last argument is the new name of those before it. */
void judge_copy(struct guard *g, const struct guard_call *call)
{
    struct str who = name_program(call->words[0].text);
    struct word names[2] = {{.text = STR_NONE}, {.text = STR_NONE}}, folder = target_folder(call);
    bool moves = name_is_one_of(who, STR("mv|move|ren|rename"));
    bool links = name_is_one_of(who, STR("mklink")), second = links;
    second |= name_is_one_of(who, STR("link|ln"));
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (arg.n > 1 && (arg.p[0] == '-' || (arg.p[0] == '/' && arg.n == 2))) {
            links |= str_eqi(who, STR("ln")) && (str_eq(arg, STR("--symbolic")) ||
                                                 (arg.p[1] != '-' && str_has_char(arg, 's')));
            second |= str_eqi(who, STR("cp")) &&
                      (name_is_one_of(arg, STR("--link|--symbolic-link")) ||
                       (arg.p[1] != '-' && (str_has_char(arg, 'l') || str_has_char(arg, 's'))));
            continue;
        }
        names[0] = names[1];
        names[1] = call->words[i];
        if (moves && names[0].text.p) { /* it is gone from there */
            guard_write(g, who, names[0], true);
            guard_delete(g, who, names[0],
                         guard_place_of(g, names[0].text) == GUARD_PLACE_GIT ? GUARD_RECURSE : 0);
        }
    }
    if (folder.text.n) {
        guard_write(g, who, folder, true);
        judge_sources(g, call, folder, second);
        if (moves)
            guard_delete(g, who, names[1], 0);
    }
    if (!names[0].text.p)
        return;
    if (str_eqi(who, STR("mklink"))) { /* the link comes first */
        struct word link = names[0];
        names[0] = names[1];
        names[1] = link;
    }
    if (!folder.text.n)
        judge_sources(g, call, names[1], second);
    if (links)
        guard_linked(g, names[0].text, names[1].text);
    else if (moves)
        guard_moved(g, names[0].text, names[1].text);
    else
        guard_copied(g, names[0].text, names[1].text);
    guard_write(g, who, names[1], true);
}

/* tee FILE, sponge FILE: the file gets the input. */
void judge_tee(struct guard *g, const struct guard_call *call)
{
    struct str who = name_program(call->words[0].text);
    bool append = call->count > 1 && name_is_one_of(call->words[1].text, STR("-a|--append"));
    for (size_t i = 1; i < call->count; i++) {
        struct word file = call->words[i];
        if (file.text.n == 0 || file.text.p[0] == '-')
            continue;
        guard_write(g, who, file, !guard_is_confined(g));
        if (call->input.text.p)
            guard_wrote(g, file.text, call->input.text, append);
    }
}

/* The name under which a URL is stored: its last part, without a query. */
static struct str url_leaf(struct str url)
{
    return name_leaf(str_slice(url, 0, str_find_char(url, '?', 0)));
}

/* curl, wget, certutil …: the content of the file that they write is unknown. */
void judge_download(struct guard *g, const struct guard_call *call)
{
    struct str who = name_program(call->words[0].text);
    bool wget = str_eqi(who, STR("wget")), curl = str_eqi(who, STR("curl"));
    bool by_url = wget;
    char option = wget ? 'O' : 'o';
    for (size_t i = 1; i < call->count; i++) {
        struct word word = call->words[i];
        struct str arg = word.text;
        struct word file = {.text = STR_NONE};
        if (str_starts(arg, STR("--output"))) {
            size_t equals = str_find_char(arg, '=', 0);
            file = equals < arg.n || i + 1 == call->count ? word : call->words[i + 1];
            if (equals < arg.n)
                file.text = str_from(arg, equals + 1);
        } else if (str_starts(arg, STR("--remote-name"))) {
            by_url = true;
        } else if (arg.n > 1 && arg.p[0] == '-' && arg.p[1] != '-') {
            /* one letter, or the last of several; the name may stick to it: -sSLo x, -ox */
            size_t at = str_find_char(arg, option, 1);
            by_url |= curl && str_has_char(arg, 'O');
            if (at < arg.n && at + 1 < arg.n && at == 1) {
                file = word;
                file.text = str_from(arg, 2);
            } else if (at + 1 == arg.n && i + 1 < call->count) {
                file = call->words[i + 1];
            }
        } else if (by_url && guard_is_url(arg)) {
            file = word;
            file.text = url_leaf(arg);
        } else if (!wget && !curl && i + 1 == call->count && i > 1) {
            file = word; /* certutil, expand: the last argument */
        }
        if (file.text.n && !str_eq(file.text, STR("-"))) {
            guard_write(g, who, file, true);
            guard_wrote_unknown(g, file.text);
        }
    }
}

/* The command that sed runs by 1e command or s/x/command/e; "" if it runs none. */
static struct str sed_command(struct str script)
{
    for (size_t i = str_find(script, STR("e "), 0); i < script.n;
         i = str_find(script, STR("e "), i + 1))
        if (i == 0 || !ascii_is_alpha(script.p[i - 1]))
            return str_from(script, i + 2);
    size_t end = script.n;
    while (end > 0 && ascii_is_alpha(script.p[end - 1]))
        end--;
    if (end < 2 || script.p[0] != 's' || script.p[end - 1] != script.p[1] ||
        !str_has_char(str_from(script, end), 'e'))
        return STR("");
    size_t from = end - 1;
    while (from > 2 && script.p[from - 1] != script.p[1])
        from--;
    return str_slice(script, from, end - 1);
}

/* sed -i, truncate, rsync, chmod -R, tar -x: files that are changed where they are. */
void judge_change(struct guard *g, const struct guard_call *call)
{
    struct str who = name_program(call->words[0].text);
    struct str always = STR("truncate|rsync"), option = STR("");
    bool unpacks = name_is_one_of(who, STR("tar|bsdtar|unzip"));
    bool changes = name_is_one_of(who, always), extracts = str_eqi(who, STR("unzip"));
    struct word target = {.text = STR_NONE}, folder = target;
    bool deletes = false; /* what is only here, or all of it */
    for (size_t i = 1; i < call->count; i++) {
        struct word word = call->words[i];
        bool is_option = word.text.n > 1 && word.text.p[0] == '-';
        option = is_option ? word.text : STR("");
        if (name_is_one_of(who, STR("sed|gsed"))) {
            changes |= str_starts(option, STR("-i")) || str_starts(option, STR("--in-place"));
            struct word command = word;
            command.text = sed_command(word.text);
            guard_commands(g, command);
        } else if (name_is_one_of(who, STR("chmod|chown|chgrp")))
            changes |= name_is_one_of(option, STR("-R|--recursive"));
        deletes |= str_starts(option, STR("--delete")) || str_starts(option, STR("--remove-files"));
        changes |= deletes;
        extracts |= unpacks && ((i == 1 && str_has_char(word.text, 'x')) ||
                                name_is_one_of(option, STR("-x|--extract|--get")));
        if (unpacks && name_is_one_of(option, STR("-C|-d|--directory")) && i + 1 < call->count)
            folder = call->words[i + 1];
        if (!is_option)
            target = word;
    }
    if (changes && target.text.n) {
        guard_write(g, who, target, true);
        if (deletes || !name_is_one_of(who, STR("sed|gsed")))
            guard_delete(g, who, target, deletes ? GUARD_RECURSE : 0);
    }
    if (extracts && folder.text.n)
        guard_write(g, who, folder, true);
    if (!name_is_one_of(who, STR("truncate|unzip|chmod|chown|chgrp")))
        judge_embedded(g, call);
}
