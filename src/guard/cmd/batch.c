/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch files of cmd: labels, goto, subroutines and setlocal.
 *
 * A subroutine is read where it is called, with its arguments. A goto is not followed, but where a
 * goto leads to, every variable may hold whatever the text sets it to anywhere; the text is read
 * again until that is all known.
 */
#include "guard/cmd/cmd.h"

/* ---- labels ---- */

static unsigned hash_of(struct str name)
{
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < name.n; i++)
        hash = (hash ^ (unsigned char)ascii_lower(name.p[i])) * 16777619u;
    return hash % CMD_LABEL_BUCKETS;
}

static struct str name_at_colon(struct str s, size_t colon)
{
    size_t end = colon + 1;
    while (end < s.n && !cmd_is_blank(s.p[end]) && !ascii_is_in(s.p[end], "\r\n:+&|<>()"))
        end++;
    return str_slice(s, colon + 1, end);
}

static size_t blanks_end(struct str s, size_t from)
{
    while (from < s.n && (cmd_is_blank(s.p[from]) || s.p[from] == '\r'))
        from++;
    return from;
}

void cmd_find_labels(struct cmd_reader *r)
{
    struct cmd_label **buckets[CMD_LABEL_BUCKETS], *last = NULL; /* the ends of their chains */
    struct str s = r->source;
    if (!str_has_char(s, '\n'))
        return;
    for (size_t line = 0, end; line < s.n; line = end + 1) {
        end = str_find_char(s, '\n', line);
        size_t colon = blanks_end(s, line);
        struct str name = colon < end && s.p[colon] == ':' ? name_at_colon(s, colon) : STR_NONE;
        if (name.n == 0)
            continue;
        if (!r->labels) {
            r->labels = ARENA_ARRAY(r->arena, CMD_LABEL_BUCKETS, struct cmd_label *);
            for (size_t i = 0; r->labels && i < CMD_LABEL_BUCKETS; i++)
                buckets[i] = &r->labels[i];
        }
        struct cmd_label *label = r->labels && r->label_count < CMD_MAX_LABELS
                                      ? ARENA_NEW(r->arena, struct cmd_label)
                                      : NULL;
        if (!label) {
            guard_limit(r->g, word_unknown((uint32_t)line, (uint32_t)end));
            return;
        }
        *label =
            (struct cmd_label){.name = name, .line = line, .behind = end < s.n ? end + 1 : end};
        unsigned hash = hash_of(name);
        *buckets[hash] = label;
        buckets[hash] = &label->chain;
        if (last)
            last->next = label;
        else
            r->label_list = label;
        last = label;
        r->label_count++;
    }
}

/* The label that goto and call find: the next one of that name, or the first. */
static struct cmd_label *find_label(const struct cmd_reader *r, struct str name)
{
    struct cmd_label *first = NULL;
    for (struct cmd_label *l = r->labels ? r->labels[hash_of(name)] : NULL; l; l = l->chain) {
        if (!str_eqi(l->name, name))
            continue;
        if (l->line >= r->next)
            return l;
        first = first ? first : l;
    }
    return first;
}

/* The label whose line is next; NULL if it is another line. */
static struct cmd_label *label_here(struct cmd_reader *r)
{
    if (!r->labels)
        return NULL;
    while (r->next < r->source.n && ascii_is_in(r->source.p[r->next], "\r\n"))
        r->next++;
    size_t colon = blanks_end(r->source, r->next);
    if (colon >= r->source.n || r->source.p[colon] != ':')
        return NULL;
    struct str name = name_at_colon(r->source, colon);
    for (struct cmd_label *l = r->labels[hash_of(name)]; l; l = l->chain)
        if (l->line <= colon && colon < l->behind)
            return l;
    return NULL;
}

/* ---- all that a variable holds ---- */

void cmd_assign(struct cmd_reader *r, struct var *var, struct var_state state)
{
    vars_assign(&r->vars, var, state);
    if (!r->labels || !var)
        return;
    struct var *ever = vars_find(&r->ever, var->name);
    if (!ever) {
        vars_make(&r->ever, var->name, state);
        r->grew = true;
        return;
    }
    if (r->pass && ever->state.unknown)
        return;
    struct var_state all = vars_union(&r->ever, ever->state, state);
    if (all.count == ever->state.count && all.unknown == ever->state.unknown)
        return;
    all.unknown |= r->pass > 0; /* a value that comes of others may grow without end */
    ever->state = all;
    r->grew = true;
}

/* The text goes on here from several places. */
static void merge(struct cmd_reader *r)
{
    enum { COST = 16 }; /* of a variable, in bytes of the budget */
    r->merges = true;
    if (!guard_spend(r->g, COST * r->ever.count))
        return;
    for (size_t i = 0; i < r->ever.bucket_count; i++)
        for (struct var *ever = r->ever.buckets[i]; ever; ever = ever->next) {
            struct var *var = cmd_variable(r, ever->name);
            if (var)
                vars_assign(&r->vars, var, vars_union(&r->vars, var->state, ever->state));
        }
}

void cmd_doubt(struct cmd_reader *r)
{
    if (!guard_spend(r->g, r->vars.count))
        return;
    for (size_t i = 0; i < r->vars.bucket_count; i++)
        for (struct var *var = r->vars.buckets[i]; var; var = var->next) {
            struct var_state state = var->state;
            state.unknown = true;
            cmd_assign(r, var, state);
        }
}

/* ---- goto, exit, shift ---- */

void cmd_leave(struct cmd_reader *r, struct cmd_label *target)
{
    if (r->maybe) {
        r->left = true;
    } else {
        r->dead = true;
        r->target = target;
    }
}

static bool same_folder(struct str a, struct str b)
{
    return a.p == b.p || (a.p && b.p && str_eq(a, b));
}

/* A goto leads there, from the folder that is current now. */
static void lead_to(struct cmd_reader *r, struct cmd_label *label)
{
    struct str folder = guard_folder(r->g);
    bool differs = label->jumped && !same_folder(label->folder, folder) &&
                   !same_folder(label->folder, STR("\xFF"));
    r->grew |= !label->jumped || differs; /* what stands there is read again */
    if (!label->jumped)
        label->folder = folder;
    else if (differs)
        label->folder = STR("\xFF");
    label->jumped = true;
    r->merges = true;
}

void cmd_goto(struct cmd_reader *r, const struct cmd_text *t)
{
    if (!r->batch)
        return; /* on the command line it does nothing */
    struct str s = cmd_word(r, t, 0, t->n).text;
    size_t from = blanks_end(s, 0);
    if (from < s.n && s.p[from] == ':')
        from++;
    struct str name = name_at_colon(s, from - 1);
    struct cmd_label *label = find_label(r, name);
    if (str_has_char(name, GUARD_HOLE))
        for (struct cmd_label *l = r->label_list; l; l = l->next)
            lead_to(r, l);
    else if (label)
        lead_to(r, label);
    cmd_leave(r, label);
}

void cmd_shift(struct cmd_reader *r)
{
    struct cmd_arguments *a = &r->arguments;
    if (r->maybe) {
        a->known = false;
    } else if (a->count) {
        a->values++;
        a->count--;
    }
}

/* The text goes on at a label that gotos lead to. */
static void arrive(struct cmd_reader *r, const struct cmd_label *label)
{
    merge(r);
    if (!same_folder(label->folder, guard_folder(r->g)))
        guard_set_folder(r->g, STR("\xFF"));
}

/* ---- subroutines ---- */

static void end_locals(struct cmd_reader *r, unsigned count)
{
    while (r->local_count > count)
        cmd_endlocal(r);
}

/* From r->next to where the subroutine returns. */
static void run_subroutine(struct cmd_reader *r)
{
    unsigned jumps = 0, locals = r->local_count;
    while (r->next < r->source.n && !guard_stopped(r->g)) {
        struct cmd_label *label = label_here(r);
        if (label) {
            label->ran = true;
            if (label->jumped)
                arrive(r, label);
        }
        size_t start = r->next;
        cmd_read_unit(r);
        if (!guard_spend(r->g, r->next - start + 1))
            break;
        if (!r->dead)
            continue;
        if (!r->target || ++jumps > CMD_MAX_JUMPS)
            break;
        if (jumps == CMD_MAX_JUMPS)
            r->arguments.known = false;
        r->next = r->target->line;
        r->dead = false;
    }
    r->left |= jumps > CMD_MAX_JUMPS;
    end_locals(r, locals);
}

/* The rest of the reader is as before once it has returned. */
static void enter(struct cmd_reader *r, struct cmd_label *label, struct cmd_arguments arguments)
{
    struct cmd_reader saved = *r;
    bool silent = r->silent;
    r->silent |= label->ran;
    label->active = true;
    r->arguments = arguments;
    r->next = label->line;
    r->maybe = 0;
    r->loops = NULL;
    r->dead = r->left = false;
    r->calls++;
    run_subroutine(r);
    r->calls--;
    bool left = r->left;
    r->next = saved.next;
    r->unit = saved.unit;
    r->pos = saved.pos;
    r->nesting = saved.nesting;
    r->ambiguous = saved.ambiguous;
    r->input = saved.input;
    r->arguments = saved.arguments;
    r->maybe = saved.maybe;
    r->loops = saved.loops;
    r->dead = saved.dead;
    r->left = saved.left;
    r->target = saved.target;
    r->silent = silent;
    label->active = false;
    if (left) /* it may have returned before */
        merge(r);
}

static struct cmd_arguments split_arguments(struct cmd_reader *r, const struct cmd_text *t,
                                            size_t from)
{
    struct cmd_arguments a = {.known = true};
    size_t capacity = 0;
    from = cmd_skip_blanks(t, from);
    a.all = from < t->n ? str_from(cmd_str(t), from) : STR("");
    for (size_t i = from, end; i < t->n; i = cmd_skip_blanks(t, end)) {
        end = cmd_token_end(t, i);
        if (a.count == capacity) {
            struct str *values = arena_grow(r->arena, a.values, &capacity, sizeof *values);
            if (!values)
                return (struct cmd_arguments){0};
            a.values = values;
        }
        a.values[a.count++] = str_slice(cmd_str(t), i, end);
    }
    return a;
}

void cmd_call_label(struct cmd_reader *r, const struct cmd_text *t, size_t from)
{
    struct str s = cmd_str(t), name = name_at_colon(s, from);
    struct cmd_label *label = find_label(r, name);
    if (str_has_char(name, GUARD_HOLE))
        merge(r);
    if (!label)
        return;
    if (label->active || r->calls == CMD_MAX_CALLS) {
        merge(r);
        guard_set_folder(r->g, STR("\xFF"));
        return;
    }
    enter(r, label, split_arguments(r, t, from + 1 + name.n));
}

/* ---- setlocal ---- */

void cmd_setlocal(struct cmd_reader *r)
{
    if (!r->locals)
        r->locals = ARENA_ARRAY(r->arena, CMD_MAX_LOCALS, struct cmd_local);
    if (!r->locals || r->local_count == CMD_MAX_LOCALS) {
        r->unbalanced = true;
        return;
    }
    struct cmd_local *local = &r->locals[r->local_count++];
    *local = (struct cmd_local){.delayed = r->delayed, .folder = guard_folder(r->g)};
    vars_fork_begin(&r->vars, &local->vars);
    local->level = r->vars.forks;
}

/* Perhaps the variables are what they were, perhaps not. */
static void doubt_since(struct cmd_reader *r, const struct var_change *mark)
{
    for (struct var_change *c = r->vars.log; c && c != mark; c = c->older)
        if (guard_spend(r->g, 1))
            vars_assign(&r->vars, c->var, vars_union(&r->vars, c->var->state, c->state));
}

void cmd_endlocal(struct cmd_reader *r)
{
    struct cmd_local *local = r->local_count ? &r->locals[r->local_count - 1] : NULL;
    if (!local && r->unbalanced)
        cmd_doubt(r);
    if (!local)
        return;
    if (r->vars.forks != local->level) {
        doubt_since(r, local->vars.mark);
        return;
    }
    r->local_count--;
    vars_branch_end(&r->vars, &local->vars);
    if (!r->batch) { /* on the command line neither does anything */
        vars_fork_end(&r->vars, &local->vars, false);
        return;
    }
    vars_fork_drop(&r->vars, &local->vars);
    r->delayed = local->delayed;
    guard_set_folder(r->g, local->folder);
}

/* ---- the whole text ---- */

/* The lines behind a goto or exit, up to the next label: judged, but nothing they set counts. */
struct unreached {
    struct cmd_fork fork;
    bool open;
};

static void reach_label(struct cmd_reader *r, struct cmd_label *label, struct unreached *u)
{
    if (r->dead && !label->jumped) { /* a subroutine, or nothing */
        r->next = label->next ? label->next->line : r->source.n;
        return;
    }
    struct str folder = guard_folder(r->g);
    if (u->open) {
        cmd_branch_end(r, &u->fork);
        cmd_fork_drop(r, &u->fork);
        folder = label->folder;
    }
    u->open = r->dead = false;
    label->ran = true;
    if (!label->jumped)
        return;
    guard_set_folder(r->g, folder);
    arrive(r, label);
}

static void run_pass(struct cmd_reader *r)
{
    struct unreached u = {.open = false};
    while (r->next < r->source.n && !guard_stopped(r->g)) {
        struct cmd_label *label = label_here(r);
        size_t next = r->next;
        if (label)
            reach_label(r, label, &u);
        if (r->next != next)
            continue;
        cmd_read_unit(r);
        if (r->dead && !u.open) {
            u.open = true;
            cmd_fork_begin(r, &u.fork);
        }
    }
    /* what nothing called is judged with arguments that nobody knows */
    for (struct cmd_label *l = r->label_list; l && !guard_stopped(r->g); l = l->next)
        if (!l->ran)
            enter(r, l, (struct cmd_arguments){0});
}

void cmd_run_batch(struct cmd_reader *r)
{
    struct str folder = guard_folder(r->g);
    bool delayed = r->delayed;
    for (;;) {
        r->grew = false;
        run_pass(r);
        if (!r->labels || !r->merges || !r->grew || guard_stopped(r->g))
            return;
        if (++r->pass == CMD_MAX_PASSES || !guard_spend(r->g, r->source.n)) {
            guard_limit(r->g, word_unknown(0, (uint32_t)r->source.n));
            return;
        }
        guard_set_folder(r->g, folder);
        r->vars = (struct vars){.arena = r->arena, .fold_case = true};
        r->delayed = delayed;
        r->next = 0;
        r->dead = r->left = r->unbalanced = false;
        r->local_count = 0;
        r->silent = true;
        for (struct cmd_label *l = r->label_list; l; l = l->next)
            l->ran = false;
    }
}
