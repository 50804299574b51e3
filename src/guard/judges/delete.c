/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that delete files, registry keys or disks. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

static bool has_letter(struct str option, char letter)
{
    return str_starts(option, STR("-")) && !str_starts(option, STR("--")) &&
           str_has_char(option, letter);
}

/* getopt takes --rec for --recursive. */
static bool is_abbreviated(struct str arg, struct str option)
{
    return arg.n > 2 && str_starts(option, arg);
}

/* rm and its kind: flags anywhere before --, targets everywhere else. */
void judge_rm(struct guard *g, const struct guard_call *call)
{
    struct str who = name_program(call->words[0].text);
    unsigned flags = str_eqi(who, STR("shred")) || str_eqi(who, STR("srm")) ? GUARD_FORCE : 0;
    for (size_t i = 1; i < call->count && !str_eq(call->words[i].text, STR("--")); i++) {
        struct str arg = call->words[i].text;
        if (is_abbreviated(arg, STR("--recursive")) || has_letter(arg, 'r') || has_letter(arg, 'R'))
            flags |= GUARD_RECURSE;
        if (is_abbreviated(arg, STR("--force")) || has_letter(arg, 'f'))
            flags |= GUARD_FORCE;
    }
    bool options = true;
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (options && str_eq(arg, STR("--")))
            options = false;
        else if (!options || arg.n == 0 || arg.p[0] != '-')
            guard_delete(g, who, call->words[i], flags);
    }
}

/* Every argument that is no option goes, by force. */
static void judge_all_deleted(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i < call->count; i++)
        if (call->words[i].text.n && call->words[i].text.p[0] != '-')
            guard_delete(g, name_program(call->words[0].text), call->words[i],
                         GUARD_RECURSE | GUARD_FORCE);
}

/* rimraf and the like always go all the way. */
void judge_rimraf(struct guard *g, const struct guard_call *call)
{
    judge_all_deleted(g, call);
}

/* cmd's del and rd when something other than cmd names them, for example `cmd` under a wrapper. */
void judge_cmd_delete(struct guard *g, const struct guard_call *call)
{
    unsigned flags = 0;
    for (size_t i = 1; i < call->count; i++) {
        if (name_is_one_of(call->words[i].text, STR("/s|//s")))
            flags |= GUARD_RECURSE;
        if (name_is_one_of(call->words[i].text, STR("/f|/q|//f|//q")))
            flags |= GUARD_FORCE;
    }
    for (size_t i = 1; i < call->count; i++)
        if (call->words[i].text.n && call->words[i].text.p[0] != '/' &&
            call->words[i].text.p[0] != '-')
            guard_delete(g, name_program(call->words[0].text), call->words[i], flags);
}

/* A pattern below the start of find, for the files that it finds. Empty without memory. */
static struct str below(struct guard *g, struct str start, struct str pattern)
{
    char *p = arena_alloc(&g->arena, start.n + 1 + pattern.n);
    if (!p)
        return STR_NONE;
    memcpy(p, start.p, start.n);
    p[start.n] = '/';
    memcpy(p + start.n + 1, pattern.p, pattern.n);
    return (struct str){p, start.n + 1 + pattern.n};
}

/* True if find leaves alone what the test at i finds, depth parentheses deep:
   ( -name a -o -name b ) -prune -o … */
static bool is_pruned(const struct guard_call *call, size_t i, int depth)
{
    enum { FARTHEST = 64 };
    bool other = false, pruned = false;
    size_t end = call->count - i > FARTHEST ? i + FARTHEST : call->count;
    for (i += 2; i < end; i++) {
        struct str arg = call->words[i].text;
        bool either = name_is_one_of(arg, STR("-o|-or"));
        if (pruned && either)
            return depth == 0;
        if (str_eq(arg, STR(")"))) {
            depth--;
            other = false; /* that branch is a part of the group */
        } else if (pruned) {
            return false; /* find goes on with what it does not enter */
        } else if (str_eq(arg, STR("-prune"))) {
            pruned = !other;
            if (other)
                return false;
        } else if (name_is_one_of(arg, STR("-name|-iname|-path|-ipath|-wholename|-type"))) {
            i++;
        } else if (either) {
            other = true;
        } else if (!name_is_one_of(arg, STR("-a|-and"))) {
            return false;
        }
    }
    return false;
}

/* find . -delete: without a test for names or the like, everything goes, the .git of a root too. */
static bool takes_all(const struct guard_call *call, size_t from)
{
    size_t i = from;
    for (; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (name_is_one_of(arg, STR("-delete|-exec|-execdir")))
            return true;
        bool negated = name_is_one_of(arg, STR("!|-not"));
        if (negated && i + 2 < call->count &&
            name_is_one_of(call->words[i + 1].text, STR("-name|-iname|-path|-ipath")) &&
            str_findi(call->words[i + 2].text, STR("git"), 0) == call->words[i + 2].text.n)
            i += 2;
        else if (str_eq(arg, STR("-name")) && i + 1 < call->count &&
                 str_eq(call->words[i + 1].text, STR("*")))
            i++;
        else if (name_is_one_of(arg, STR("-type|-mindepth|-maxdepth")))
            i++;
        else if (!name_is_one_of(arg, STR("-depth|-d|-print|-xdev|-mount|-follow")))
            return false;
    }
    return false;
}

/* What the tests of find's expression name that agents obey; otherwise all below the start. */
static struct word found_by(struct guard *g, const struct guard_call *call, struct word start)
{
    enum guard_shell shell = g->shell;
    struct word all = start, found = start;
    bool obeyed = false, comma = false; /* what follows a comma gets everything */
    int depth = 0;
    for (size_t i = 1; i < call->count; i++)
        comma |= str_eq(call->words[i].text, STR(","));
    g->shell = GUARD_NO_SHELL; /* whose wildcards find a dot at the beginning */
    for (size_t i = 1; i + 1 < call->count && !obeyed && !g->stopped; i++) {
        struct str pattern = call->words[i + 1].text;
        depth += str_eq(call->words[i].text, STR("(")) - str_eq(call->words[i].text, STR(")"));
        if (!name_is_one_of(call->words[i].text, STR("-name|-iname|-path|-ipath|-wholename")) ||
            pattern.n == 0 || name_is_one_of(call->words[i - 1].text, STR("!|-not")) ||
            str_find(pattern, STR(".."), 0) < pattern.n || (!comma && is_pruned(call, i, depth)))
            continue;
        found.text = below(g, start.text, pattern);
        obeyed = guard_obeyed(g, found) || guard_place_of(g, found.text) == GUARD_PLACE_GIT;
    }
    g->shell = shell;
    all.text = below(g, start.text, STR("*"));
    return obeyed ? found : all;
}

/* find START -exec PROGRAM {} ; */
static void judge_find_exec(struct guard *g, const struct guard_call *call, size_t from,
                            struct word found)
{
    size_t end = from;
    while (end < call->count && !str_eq(call->words[end].text, STR(";")) &&
           !str_eq(call->words[end].text, STR("+")))
        end++;
    struct word *words = ARENA_ARRAY(&g->arena, end - from, struct word);
    if (!words || !found.text.p) {
        guard_limit(g, call->words[0]);
        return;
    }
    for (size_t i = from; i < end; i++) {
        words[i - from] = call->words[i];
        if (str_eq(call->words[i].text, STR("{}")))
            words[i - from].text = found.text;
    }
    guard_program(g, &(struct guard_call){.from = call->from, .words = words, .count = end - from});
}

/* fd appends each file that it finds, unless {} marks its place. */
static void judge_fd_exec(struct guard *g, const struct guard_call *call, size_t from,
                          struct word start)
{
    size_t count = call->count - from;
    struct word *words = ARENA_ARRAY(&g->arena, count + 1, struct word);
    struct word found = start;
    found.text = below(g, start.text, STR("*"));
    if (!words || !found.text.p) {
        guard_limit(g, start);
        return;
    }
    bool placed = false;
    for (size_t i = 0; i < count; i++) {
        words[i] = call->words[from + i];
        bool here = str_starts(words[i].text, STR("{"));
        if (here)
            words[i].text = found.text;
        placed |= here;
    }
    if (!placed)
        words[count++] = found;
    guard_program(g, &(struct guard_call){.from = call->from, .words = words, .count = count});
}

/* -delete, -exec rm … */
static bool removes(const struct guard_call *call, size_t i)
{
    return str_eq(call->words[i].text, STR("-delete")) ||
           (i + 1 < call->count && name_is_one_of(name_program(call->words[i + 1].text),
                                                  STR("rm|rmdir|unlink|shred|srm")));
}

void judge_find(struct guard *g, const struct guard_call *call)
{
    /* find.exe of Windows looks for text and takes no path first. */
    struct word start = {
        .text = STR("."), .start = call->words[0].start, .end = call->words[0].end};
    size_t i = 1;
    while (i < call->count && name_is_one_of(call->words[i].text, STR("-H|-L|-P")))
        i++;
    if (i < call->count && call->words[i].text.n && call->words[i].text.p[0] != '-' &&
        call->words[i].text.p[0] != '(' && call->words[i].text.p[0] != '!')
        start = call->words[i];
    struct word found = {.text = STR_NONE};
    bool named = i < call->count && call->words[i].text.p == start.text.p;
    bool all = takes_all(call, i + named);
    for (; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (!found.text.p && name_is_one_of(arg, STR("-delete|-exec|-execdir|-ok|-okdir")))
            found = all && removes(call, i) ? start : found_by(g, call, start);
        if (str_eq(arg, STR("-delete"))) {
            enum guard_shell shell = g->shell;
            g->shell = GUARD_NO_SHELL; /* whose wildcards find a dot at the beginning */
            guard_delete(g, STR("find -delete"), found, GUARD_RECURSE);
            g->shell = shell;
        } else if (name_is_one_of(arg, STR("-exec|-execdir|-ok|-okdir"))) {
            judge_find_exec(g, call, i + 1, found);
        } else if (str_eq(arg, STR("-fprintf")) && i + 2 < call->count) {
            guard_write(g, STR("find"), call->words[i + 1], true);
            guard_wrote(g, call->words[i + 1].text, call->words[i + 2].text, true);
        }
    }
}

/* fd PATTERN FOLDER… -x PROGRAM {} */
void judge_fd(struct guard *g, const struct guard_call *call)
{
    struct word start = {
        .text = STR("."), .start = call->words[0].start, .end = call->words[0].end};
    unsigned positional = 0;
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (name_is_one_of(arg, STR("-x|-X|--exec|--exec-batch"))) {
            judge_fd_exec(g, call, i + 1, start);
            return;
        }
        if (arg.n && arg.p[0] == '-')
            i += name_is_one_of(arg, STR("-e|-E|-t|-d|-S|-j|-C|--extension|--exclude|--type|"
                                         "--max-depth|--base-directory|--size")) &&
                 !str_has_char(arg, '=');
        else if (++positional == 2)
            start = call->words[i];
    }
}

/* cmake -E rm, remove_directory, copy, env …; anything else builds. */
void judge_cmake(struct guard *g, const struct guard_call *call)
{
    if (call->count < 4 || !str_eq(call->words[1].text, STR("-E"))) {
        judge_embedded(g, call);
        return;
    }
    struct guard_call inner = {
        .from = call->from, .words = call->words + 2, .count = call->count - 2};
    if (name_is_one_of(call->words[2].text, STR("rm|remove|remove_directory")))
        judge_all_deleted(g, &inner);
    else
        guard_program(g, &inner);
}

/* reg add KEY /v NAME */
static void judge_reg_value(struct guard *g, struct word key, struct word name)
{
    char *p = arena_alloc(&g->arena, key.text.n + name.text.n + 1);
    if (!p || key.text.n == 0 || name.text.n == 0)
        return;
    memcpy(p, key.text.p, key.text.n);
    p[key.text.n] = '\\';
    memcpy(p + key.text.n + 1, name.text.p, name.text.n);
    name.text = (struct str){p, key.text.n + name.text.n + 1};
    guard_write(g, STR("reg"), name, false);
}

void judge_reg(struct guard *g, const struct guard_call *call)
{
    if (call->count > 2 && str_eqi(call->words[1].text, STR("delete")))
        guard_delete(g, STR("reg delete"), call->words[2], GUARD_REGISTRY | GUARD_RECURSE);
    for (size_t i = 2; i < call->count; i++) { /* reg add KEY, reg copy KEY KEY */
        if (!name_is_one_of(call->words[1].text, STR("add|copy")))
            break;
        if (i < 4)
            guard_write(g, STR("reg"), call->words[i], false);
        if (str_eqi(call->words[i - 1].text, STR("/v")))
            judge_reg_value(g, call->words[2], call->words[i]);
    }
    if (call->count > 1 && name_is_one_of(call->words[1].text, STR("import|restore|load")))
        guard_find(g, GUARD_PLANT_STARTUP, call->words[0], STR("reg"),
                   "changes keys that only the file names", NULL);
}

void judge_robocopy(struct guard *g, const struct guard_call *call)
{
    struct word folders[2] = {{.text = STR_NONE}, {.text = STR_NONE}};
    size_t count = 0;
    bool mirrors = false, moves = false;
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text;
        moves |= name_is_one_of(arg, STR("/mov|/move"));
        mirrors |= name_is_one_of(arg, STR("/mir|/purge"));
        if (count < 2 && arg.n && (arg.p[0] != '/' || str_has_char(str_from(arg, 1), '/')))
            folders[count++] = call->words[i];
    }
    if (count < 2)
        return;
    guard_write(g, STR("robocopy"), folders[1], false);
    if (moves)
        guard_delete(g, STR("robocopy /move"), folders[0], GUARD_RECURSE | GUARD_FORCE);
    if (mirrors)
        guard_delete(g, STR("robocopy /mir"), folders[1], GUARD_RECURSE | GUARD_FORCE);
}

void judge_dd(struct guard *g, const struct guard_call *call)
{
    struct str from = STR_NONE, to = STR_NONE;
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text;
        struct word file = call->words[i];
        file.text = str_from(arg, 3);
        if (str_starts(arg, STR("if=")))
            from = file.text;
        if (str_starts(arg, STR("of=")) && file.text.n) {
            guard_write(g, STR("dd"), file, true);
            to = file.text;
            if (call->input.text.p)
                guard_wrote(g, file.text, call->input.text, false);
        }
        if (str_startsi(arg, STR("of=/dev/")) && !str_eq(arg, STR("of=/dev/null")) &&
            !str_startsi(arg, STR("of=/dev/std")))
            guard_find(g, GUARD_DESTROY_DISK, call->words[i], STR("dd"), NULL, NULL);
    }
    if (from.n && to.n)
        guard_copied(g, from, to);
}
