/* SPDX-License-Identifier: Apache-2.0 */
/* Questions in, answers out: frames of nested code, findings, limits. Judges nothing itself. */
#include "guard/state.h"

#include <stdlib.h>

const struct guard_rule_info guard_rules[GUARD_RULE_COUNT] = {
#define RULE(name, id, verdict, why, fix, about, example1, example2) \
    {{id, sizeof(id) - 1}, verdict, why, fix, about, {example1, example2}},
#include "guard/tables/rules.def"
#undef RULE
};

int guard_new(struct guard **out)
{
    struct guard *g = calloc(1, sizeof *g);
    if (!g)
        return CORDON_E_NOMEM;
    g->arena.limit = GUARD_MAX_MEMORY;
    *out = g;
    return 0;
}

void guard_free(struct guard *g)
{
    if (!g)
        return;
    arena_free(&g->arena);
    buf_free(&g->scratch);
    free(g);
}

struct arena *guard_arena(struct guard *g)
{
    return &g->arena;
}

bool guard_stopped(const struct guard *g)
{
    return g->stopped;
}

void guard_limit(struct guard *g, struct word at)
{
    if (g->stopped)
        return;
    guard_find(g, GUARD_OPAQUE_LIMIT, at, STR("this"), NULL, NULL);
    g->stopped = true;
}

bool guard_spend(struct guard *g, size_t count)
{
    if (!g->stopped && count <= GUARD_MAX_EXPANSION - g->spent) {
        g->spent += count;
        return true;
    }
    guard_limit(g, (struct word){0});
    return false;
}

void guard_outer_span(const struct guard *g, struct word at, size_t *start, size_t *end)
{
    *start = g->depth ? g->frame_start : at.start;
    *end = g->depth ? g->frame_end : at.end;
    if (*end > g->text_length)
        *end = g->text_length;
    if (*start > *end)
        *start = *end;
}

struct str guard_without_holes(struct guard *g, struct str text)
{
    if (!str_has_char(text, GUARD_HOLE))
        return text;
    buf_reset(&g->scratch);
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != GUARD_HOLE)
            buf_char(&g->scratch, text.p[i]);
        else if (i == 0 || text.p[i - 1] != GUARD_HOLE)
            buf_add(&g->scratch, STR("\xE2\x80\xA6"));
    }
    return arena_copy(&g->arena, buf_str(&g->scratch));
}

static bool already_found(const struct guard *g, const struct guard_finding *f)
{
    for (size_t i = 0; i < g->finding_count; i++) {
        const struct guard_finding *old = &g->findings[i];
        /* Text that is unknown as a whole has no known command in it either. */
        bool same = str_eq(old->id, f->id) ||
                    (old->rule == GUARD_OPAQUE_TEXT && f->rule == GUARD_OPAQUE_COMMAND);
        if (same && old->start == f->start && old->end == f->end &&
            str_eq(old->resolved, f->resolved))
            return true;
    }
    return false;
}

struct guard_finding *guard_keep(struct guard *g, const struct guard_finding *f)
{
    if (f->verdict < g->verdict)
        g->verdict = f->verdict;
    if (already_found(g, f))
        return NULL;
    size_t slot = g->finding_count;
    if (slot == GUARD_MAX_FINDINGS) {
        /* Full: a worse finding takes the place of a milder one, so the verdict has its reason. */
        for (slot = 0; slot < GUARD_MAX_FINDINGS && g->findings[slot].verdict <= f->verdict; slot++)
            ;
        if (slot == GUARD_MAX_FINDINGS)
            return NULL;
    } else {
        g->finding_count++;
    }
    g->findings[slot] = *f;
    return &g->findings[slot];
}

void guard_find(struct guard *g, enum guard_rule rule, struct word at, struct str who,
                const char *why, const char *fix)
{
    if (g->stopped)
        return;
    const struct guard_rule_info *info = &guard_rules[rule];
    struct guard_finding f = {.rule = rule, .id = info->id, .verdict = info->verdict};
    guard_outer_span(g, at, &f.start, &f.end);
    f.resolved = guard_without_holes(g, at.text);
    struct guard_finding *kept = guard_keep(g, &f);
    if (!kept)
        return;
    who = guard_without_holes(g, who.n ? who : STR("this"));
    buf_reset(&g->scratch);
    buf_add(&g->scratch, who);
    buf_char(&g->scratch, ' ');
    buf_add(&g->scratch, str_of(why ? why : info->why));
    kept->why = arena_copy(&g->arena, buf_str(&g->scratch));
    kept->fix = str_of(fix ? fix : info->fix);
}

void guard_opaque_command(struct guard *g, struct word at, struct str who)
{
    if (g->skips_unknown && str_eq(at.text, STR("\xFF")))
        g->skipped++;
    else
        guard_find(g, GUARD_OPAQUE_COMMAND, at, who.n ? who : STR("the command's name"), NULL,
                   NULL);
}

void guard_opaque_text(struct guard *g, struct word at, struct str who)
{
    guard_find(g, GUARD_OPAQUE_TEXT, at, who, NULL, NULL);
}

void guard_command(struct guard *g, enum guard_shell shell, struct word name,
                   const struct word *args, size_t count, uint32_t start, uint32_t end)
{
    if (g->stopped)
        return;
    if (++g->command_count > GUARD_MAX_COMMANDS) {
        guard_limit(g, name);
        return;
    }
    if (!g->question.show)
        return;
    if (g->read_count == g->read_capacity) {
        struct guard_read *reads =
            arena_grow(&g->arena, g->reads, &g->read_capacity, sizeof *reads);
        if (!reads) {
            guard_limit(g, name);
            return;
        }
        g->reads = reads;
    }
    struct guard_read *r = &g->reads[g->read_count++];
    *r = (struct guard_read){shell, name, args, count, g->depth + 1, 0, 0};
    guard_outer_span(g, (struct word){.start = start, .end = end}, &r->start, &r->end);
}

static void read_in(struct guard *g, enum guard_shell shell, struct str text, unsigned flags)
{
    enum guard_shell outer = g->shell;
    struct str around = g->text;
    g->shell = shell;
    g->text = text;
    switch (shell) {
    case GUARD_CMD: cmd_read(g, text, flags); break;
    case GUARD_POWERSHELL: powershell_read(g, text); break;
    case GUARD_BASH: bash_read(g, text); break;
    case GUARD_NO_SHELL: break;
    }
    g->shell = outer;
    g->text = around;
}

bool guard_enter(struct guard *g, struct word code, struct guard_frame *outer)
{
    if (g->stopped)
        return false;
    if (g->depth + 1 >= GUARD_MAX_DEPTH) {
        guard_limit(g, code);
        return false;
    }
    *outer = (struct guard_frame){g->frame_start, g->frame_end};
    guard_outer_span(g, code, &g->frame_start, &g->frame_end);
    g->depth++;
    return true;
}

unsigned guard_depth(const struct guard *g)
{
    return g->depth;
}

void guard_leave(struct guard *g, struct guard_frame outer)
{
    g->depth--;
    g->frame_start = outer.start;
    g->frame_end = outer.end;
}

void guard_read_deeper(struct guard *g, enum guard_shell shell, struct word carrier,
                       struct str text, unsigned flags)
{
    struct guard_frame outer;
    if (g->stopped || !guard_spend(g, text.n) || !guard_enter(g, carrier, &outer))
        return;
    struct str folder = g->folder;
    read_in(g, shell, text, flags);
    g->folder = folder;
    guard_leave(g, outer);
}

void guard_nested(struct guard *g, enum guard_shell shell, struct word code)
{
    guard_read_deeper(g, shell, code, code.text, 0);
}

void guard_nested_cmd(struct guard *g, struct word code, unsigned flags)
{
    guard_read_deeper(g, GUARD_CMD, code, code.text, flags);
}

struct str guard_folder(const struct guard *g)
{
    return g->folder;
}

void guard_set_folder(struct guard *g, struct str folder)
{
    g->folder = folder;
}

struct str guard_from_start(struct guard *g, struct str path)
{
    bool absolute = path.n && (path.p[0] == '/' || path.p[0] == '\\' || path.p[0] == '~' ||
                               (path.n > 1 && path.p[1] == ':'));
    if (!g->folder.p || absolute)
        return path;
    if (!guard_spend(g, g->folder.n + path.n))
        return STR("\xFF");
    char *p = arena_alloc(&g->arena, g->folder.n + path.n + 1);
    if (!p) {
        guard_limit(g, (struct word){0});
        return STR("\xFF");
    }
    memcpy(p, g->folder.p, g->folder.n);
    p[g->folder.n] = '/';
    if (path.n)
        memcpy(p + g->folder.n + 1, path.p, path.n);
    return (struct str){p, g->folder.n + 1 + path.n};
}

void guard_change_folder(struct guard *g, struct str path)
{
    bool searched = g->cd_path && path.n && !ascii_is_in(path.p[0], "/.~");
    if (path.n)
        g->folder = searched ? STR("\xFF") : guard_from_start(g, path);
}

bool guard_path_changed(const struct guard *g)
{
    return g->path_changed;
}

void guard_find_dots(struct guard *g)
{
    g->dot_glob = true;
}

unsigned guard_skipped(const struct guard *g)
{
    return g->skipped;
}

bool guard_skip_unknown(struct guard *g, bool skips)
{
    bool before = g->skips_unknown;
    g->skips_unknown = skips;
    return before;
}

struct str guard_current(struct guard *g)
{
    struct str cwd = g->question.cwd;
    if (!g->folder.p)
        return cwd.n ? cwd : STR("\xFF");
    bool whole =
        g->folder.n && (ascii_is_in(g->folder.p[0], "/\\~") || g->folder.p[0] == GUARD_HOLE ||
                        (g->folder.n > 1 && g->folder.p[1] == ':'));
    if (whole || !cwd.n)
        return whole ? g->folder : STR("\xFF");
    char *p = guard_spend(g, cwd.n + g->folder.n) ? arena_alloc(&g->arena, cwd.n + g->folder.n + 1)
                                                  : NULL;
    if (!p)
        return STR("\xFF");
    memcpy(p, cwd.p, cwd.n);
    p[cwd.n] = '/';
    memcpy(p + cwd.n + 1, g->folder.p, g->folder.n);
    return (struct str){p, cwd.n + 1 + g->folder.n};
}

#define TEMPORARY "/tmp/tmp.XXXXXXXXXX"

struct str guard_temporary(struct guard *g)
{
    enum { DIGITS = 3, MOST = 1000 };
    struct str prefix = STR(TEMPORARY);
    char *p = g->temporaries < MOST ? arena_alloc(&g->arena, prefix.n + DIGITS) : NULL;
    if (!p)
        return STR("\xFF");
    memcpy(p, prefix.p, prefix.n);
    unsigned number = g->temporaries++;
    for (size_t i = DIGITS; i > 0; i--, number /= 10)
        p[prefix.n + i - 1] = (char)('0' + number % 10);
    return (struct str){p, prefix.n + DIGITS};
}

bool guard_is_temporary(struct str path)
{
    return str_starts(path, STR(TEMPORARY)) && str_find(path, STR(".."), 0) == path.n;
}

/* Joins argv as a Windows command line; the words point into it. */
static struct word *words_of_argv(struct guard *g, struct str *line)
{
    const struct guard_question *q = &g->question;
    struct word *words = ARENA_ARRAY(&g->arena, q->argc, struct word);
    if (!words)
        return NULL;
    buf_reset(&g->scratch);
    for (size_t i = 0; i < q->argc; i++) {
        if (i)
            buf_char(&g->scratch, ' ');
        words[i].start = (uint32_t)g->scratch.n;
        winargv_quote(&g->scratch, q->argv[i]);
        words[i].end = (uint32_t)g->scratch.n;
        words[i].text = q->argv[i];
        words[i].quoted = words[i].end - words[i].start != q->argv[i].n;
    }
    *line = arena_copy(&g->arena, buf_str(&g->scratch));
    return line->p ? words : NULL;
}

static void check_words(struct guard *g, const struct word *words, size_t count, struct str raw)
{
    if (count == 0)
        return;
    guard_command(g, GUARD_NO_SHELL, words[0], words + 1, count - 1, words[0].start,
                  words[count - 1].end);
    guard_program(g, &(struct guard_call){.words = words, .count = count, .raw = raw});
}

static int check_question(struct guard *g, struct str *text)
{
    const struct guard_question *q = &g->question;
    if (q->argv) {
        size_t total = 0;
        for (size_t i = 0; i < q->argc; i++)
            total += q->argv[i].n + 1;
        if (total > GUARD_MAX_INPUT) {
            *text = STR("");
            guard_limit(g, (struct word){0});
            return 0;
        }
        struct word *words = words_of_argv(g, text);
        if (!words)
            return CORDON_E_NOMEM;
        g->text_length = text->n;
        check_words(g, words, q->argc, STR_NONE);
        return 0;
    }
    *text = q->shell == GUARD_NO_SHELL ? q->cmdline : q->text;
    g->text_length = text->n;
    if (text->n > GUARD_MAX_INPUT) {
        guard_limit(g, (struct word){0});
    } else if (q->shell == GUARD_NO_SHELL) {
        size_t count;
        struct word *words = winargv_split(&g->arena, *text, &count);
        if (!words)
            return CORDON_E_NOMEM;
        check_words(g, words, count, count ? str_from(*text, words[0].end) : STR_NONE);
    } else {
        read_in(g, q->shell, *text, q->script_file ? READ_BATCH_FILE : 0);
    }
    return 0;
}

int guard_check(struct guard *g, const struct guard_question *question, struct guard_answer *answer)
{
    arena_reset(&g->arena);
    g->question = *question;
    g->finding_count = 0;
    g->verdict = CORDON_ALLOW;
    g->reads = NULL;
    g->read_count = g->read_capacity = 0;
    g->command_count = g->spent = 0;
    g->depth = g->program_depth = 0;
    g->files = (struct guard_files){0};
    g->shell = GUARD_NO_SHELL;
    g->folder = STR_NONE;
    g->unread_count = 0;
    g->temporaries = 0;
    g->path_changed = g->settings_moved = g->dot_glob = g->cd_path = g->skips_unknown = false;
    g->spelled_in = NULL;
    g->stopped = false;
    struct str text = STR_NONE;
    int rc = check_question(g, &text);
    if (rc)
        return rc;
    *answer = (struct guard_answer){.verdict = g->verdict,
                                    .text = text,
                                    .findings = g->findings,
                                    .finding_count = g->finding_count,
                                    .reads = g->reads,
                                    .read_count = g->read_count,
                                    .unread = g->unread,
                                    .unread_count = g->unread_count};
    return 0;
}
