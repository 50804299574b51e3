/* SPDX-License-Identifier: Apache-2.0 */
#include "prompt/prompt.h"

#include "report/collect.h"

enum {
    MOST_HINTS = 3,
    QUIET_MS = 500,
    PASTE_MS = 40, /* nobody types two keys so quickly */
    GAP_MS = 2000, /* this process did not run */
    SHOWN_HEAD = 400,
    SHOWN_TAIL = 200,
    CTRL_C = 3,
    ERASE = 0x7F
};

/* In quotes and without what cannot be seen; the middle of a long text is left out. */
static void add_text(struct buf *out, struct str text)
{
    auto_buf struct buf clean = {0};
    struct str head = text, tail = STR_NONE;
    if (text.n > SHOWN_HEAD + SHOWN_TAIL) {
        head = str_cut(text, SHOWN_HEAD);
        size_t from = text.n - SHOWN_TAIL;
        while (from < text.n && ((unsigned char)text.p[from] & 0xC0) == 0x80)
            from++;
        tail = str_from(text, from);
    }
    report_clean(&clean, head);
    if (tail.n)
        buf_fmt(&clean, "[... %zu more bytes ...]", text.n - head.n - tail.n);
    report_clean(&clean, tail);
    buf_char(out, '"');
    for (size_t i = 0; i < clean.n; i++) {
        if (clean.p[i] == '"')
            buf_char(out, '\\');
        buf_char(out, clean.p[i]);
    }
    buf_char(out, '"');
}

/* A program of the system by its name alone, any other by its whole path. */
static struct str program_name(struct str image)
{
    static const struct str folders[] = {
        {"/usr/bin/", 9}, {"/bin/", 5}, {"/usr/sbin/", 10}, {"/sbin/", 6}};
    struct str windows = STR("C:\\Windows\\System32\\");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (str_starts(image, folders[i]) && !str_has_char(str_from(image, folders[i].n), '/'))
            return str_from(image, folders[i].n);
    if (str_startsi(image, windows) && !str_has_char(str_from(image, windows.n), '\\'))
        return str_from(image, windows.n);
    return image;
}

static void add_choice(struct prompt *p, const struct ask_question *q, const struct ask_choice *c,
                       struct buf *out)
{
    char key = c->answer == ASK_ONCE    ? 'o'
               : c->answer == ASK_NO    ? 'n'
               : c->answer == ASK_NEVER ? 'N'
               : c->scope == ASK_FOLDER ? 'f'
               : c->scope == ASK_HOST   ? 'h'
                                        : 'r';
    p->keys[(int)key] = *c;
    p->offered[(int)key] = true;
    buf_fmt(out, "  [%c] ", key);
    switch (key) {
    case 'o': buf_add(out, STR("once")); break;
    case 'n': buf_add(out, STR("no")); break;
    case 'N': buf_add(out, STR("never in this run")); break;
    case 'f':
        buf_add(out, STR("all in "));
        add_text(out, q->subject.folder);
        break;
    case 'h': buf_add(out, STR("this host, any port")); break;
    default: buf_add(out, STR("for this run")); break;
    }
}

/* Ends whatever sequence was begun, takes back what could hide or move text (margins, no wrapping,
   insertion, colours, other characters, a status line, a held screen), and begins a line at the
   bottom. */
#define CLEAR                                                                                     \
    "\x18\x1b\\\x1b]R\x1b\\\x1b[4i\x1b[!p\x1b[?2026l\x1b[0$}\x1b[?69l\x1b[?6l\x1b[r\x1b[?7h\x1b[" \
    "4l\x1b(B\x0f\x1b[0m"                                                                         \
    "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b[999;1H\r\n\x1b[J"
#define END_OF_LINE "\x1b[K\r\n"

/* What the call does beside what its name says, on a line of its own. */
static void add_detail(struct buf *out, const struct ask_detail *d)
{
    static const struct {
        const char *key, *before, *after;
        bool foreign; /* the text is the program's own */
    } words[] = {{"size", "and cuts it to ", " bytes", false},
                 {"replaces", "and replaces the file of ", " bytes that is there", false},
                 {"mode", "with the mode ", "", false},
                 {"owner", "to the owner and group ", "", false},
                 {"times", "to the times: ", "", false},
                 {"attributes", "to the attributes ", "", false},
                 {"attribute", "sets the attribute ", "", true},
                 {"removed_attribute", "removes the attribute ", "", true}};
    for (size_t i = 0; d->key && i < sizeof words / sizeof *words; i++) {
        if (strcmp(d->key, words[i].key) != 0)
            continue;
        buf_fmt(out, END_OF_LINE "  %s", words[i].before);
        if (words[i].foreign)
            add_text(out, d->text);
        else
            buf_add(out, d->text);
        buf_add(out, str_of(words[i].after));
        if (strcmp(d->key, "attribute") == 0) {
            buf_add(out, STR(" to "));
            add_text(out, d->value);
            buf_fmt(out, " (%zu bytes)", d->value_bytes);
        }
    }
}

static void add_names(struct buf *out, const struct ask_subject *s)
{
    add_text(out, s->other.n && s->arrives ? s->other : s->target);
    if (s->other.n) {
        buf_add(out, STR(" to "));
        add_text(out, s->arrives ? s->target : s->other);
    }
    if (s->link.n) {
        buf_add(out, s->other.n ? STR(", which is a link to ") : STR(" as a link to "));
        add_text(out, s->link);
    }
}

static void show(struct prompt *p, const struct ask_question *q, uint64_t seconds)
{
    static const struct str verbs[][2] = {
        {{"file.write", 10}, {"write", 5}},        {{"file.create", 11}, {"create", 6}},
        {{"file.delete", 11}, {"delete", 6}},      {{"file.rename", 11}, {"rename", 6}},
        {{"file.link", 9}, {"link", 4}},           {{"file.read", 9}, {"read", 4}},
        {{"net.connect", 11}, {"connect to", 10}}, {{"pipe.connect", 12}, {"connect to", 10}},
        {{"process.start", 13}, {"start", 5}},     {{"guard", 5}, {"run", 3}}};
    const struct ask_subject *s = &q->subject;
    struct str op = str_of(audit_op_name(s->op)), verb = STR("change");
    auto_buf struct buf out = {0};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (str_eq(op, verbs[i][0]))
            verb = verbs[i][1];
    buf_add(&out, STR(CLEAR "cordon: "));
    if (s->image.n)
        add_text(&out, program_name(s->image));
    else
        buf_add(&out, STR("a program"));
    buf_add(&out, STR(" wants to "));
    buf_add(&out, verb);
    buf_char(&out, ' ');
    add_names(&out, s);
    buf_add(&out, STR("   rule "));
    buf_add(&out, s->rule);
    add_detail(&out, &s->detail);
    if (s->command.n) {
        buf_add(&out, STR(END_OF_LINE "  as "));
        add_text(&out, s->command);
    }
    buf_add(&out, STR(END_OF_LINE));
    memset(p->offered, 0, sizeof p->offered);
    for (size_t i = 0; i < q->choice_count; i++)
        add_choice(p, q, &q->choices[i], &out);
    buf_fmt(&out, END_OF_LINE "  a letter and Enter (%llu s: no) > \x1b[J",
            (unsigned long long)seconds);
    buf_add(&p->screen, buf_str(&out));
    p->shown = q->id;
    p->last = gate_clock();
    p->wrong = 0;
    p->length = 0;
    p->sequence = false;
    p->hints = 0;
}

static void end_question(struct prompt *p, const char *words)
{
    buf_add(&p->screen, str_of(words));
    buf_add(&p->screen, STR("\r\n"));
    p->shown = 0;
}

static void answer(struct prompt *p, struct desk *desk, struct ask_choice choice)
{
    desk_lock(desk);
    ask_answer(desk->ask, p->shown, choice.answer, choice.scope, ASK_BY_TERMINAL);
    desk_unlock(desk);
    buf_add(&p->screen, STR(" "));
    end_question(p, ask_answer_name(choice.answer));
}

/* A key was no answer: why not, and which ones are. */
static void hint(struct prompt *p, const char *why)
{
    auto_buf struct buf out = {0};
    if (p->hints++ >= MOST_HINTS) {
        buf_add(&p->screen, STR("\a"));
        return;
    }
    buf_fmt(&out, "\a" END_OF_LINE "  %s; type", why);
    const char *before = " ";
    for (const char *key = "orfhnN"; *key; key++)
        if (p->offered[(int)*key]) {
            buf_fmt(&out, "%s%c", before, *key);
            before = *key == 'n' && p->offered['N'] ? " or " : ", ";
        }
    buf_add(&out, STR(", then Enter > \x1b[J"));
    buf_add(&p->screen, buf_str(&out));
}

/* A key for the command. A person who meant it for the question is told so, once. */
static void pass_key(struct prompt *p, char key, bool typed, uint64_t now)
{
    p->sequence = !typed || (p->sequence && now - p->last < QUIET_MS);
    p->last = now;
    p->length = 0;
    buf_char(&p->typed, key);
    if (!p->sequence && !p->hints)
        hint(p, "that was too early and went to the command");
}

/* The key of the answer whose letter or word begins with, or (whole) is, the line; 0: none. */
static char key_of(const struct prompt *p, struct str line, bool whole)
{
    static const struct {
        struct str word;
        char key;
    } words[] = {{{"yes", 3}, 'o'}, {{"once", 4}, 'o'}, {{"run", 3}, 'r'}, {{"folder", 6}, 'f'},
                 {{"all", 3}, 'f'}, {{"host", 4}, 'h'}, {{"no", 2}, 'n'},  {{"never", 5}, 'N'}};
    if (line.n == 1) {
        char key = line.p[0] == 'y' || line.p[0] == 'Y' ? 'o' : line.p[0]; /* the narrowest yes */
        if (p->offered[(int)key])
            return key;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (p->offered[(int)words[i].key] &&
            (whole ? str_eqi(words[i].word, line) : str_startsi(words[i].word, line)))
            return words[i].key;
    return 0;
}

/* One more key of an answer, which Enter completes. */
static void add_to_line(struct prompt *p, char key, uint64_t now)
{
    struct str line = {p->line, p->length + 1};
    bool fits = line.n <= sizeof p->line;
    if (fits)
        p->line[p->length] = key;
    if (fits && key_of(p, line, false)) {
        p->length++;
        buf_char(&p->screen, key);
        return;
    }
    p->wrong = now;
    if (!p->length)
        hint(p, "that is no answer here");
    else
        buf_char(&p->screen, '\a');
    for (; p->length; p->length--)
        buf_add(&p->screen, STR("\b \b"));
}

static void end_line(struct prompt *p, struct desk *desk, uint64_t now)
{
    char key = key_of(p, (struct str){p->line, p->length}, true);
    if (key) {
        answer(p, desk, p->keys[(int)key]);
        return;
    }
    p->wrong = now;
    hint(p, p->length ? "that is no answer here" : "no letter was typed");
    p->length = 0;
}

void prompt_key(struct prompt *p, struct desk *desk, char key)
{
    uint64_t now = gate_clock();
    bool plain = key >= ' ' && key < ERASE, enter = key == '\r' || key == '\n';
    bool typed = plain || enter || key == ERASE || key == '\b';
    if (key == CTRL_C) {
        answer(p, desk, (struct ask_choice){ASK_NO, ASK_CALL});
        buf_char(&p->typed, key);
    } else if (now - p->last < QUIET_MS || !typed) {
        pass_key(p, key, typed, now);
    } else if (now - p->wrong < PASTE_MS) {
        p->wrong = now; /* the rest of something pasted, which may hold a letter and an Enter */
        p->length = 0;
    } else if (enter) {
        end_line(p, desk, now);
    } else if (plain) {
        add_to_line(p, key, now);
    } else if (p->length) {
        p->length--;
        buf_add(&p->screen, STR("\b \b"));
    } else {
        p->wrong = now;
        hint(p, "that is no answer here");
    }
}

void prompt_went_on(struct prompt *p)
{
    p->stopped = true;
}

/* The time in which nobody could answer is given back. */
static void look_at_gap(struct prompt *p, struct desk *desk, uint64_t now)
{
    uint64_t gap = p->looked ? now - p->looked : 0;
    bool went_on = p->stopped || gap > GAP_MS;
    p->looked = now;
    p->stopped = false;
    if (!went_on)
        return;
    ask_delay(desk->ask, gap);
    const struct ask_question *q = p->shown ? ask_shown(desk->ask, p->shown) : NULL;
    if (q && q->deadline > now)
        show(p, q, (q->deadline - now) / 1000);
}

int prompt_look(struct prompt *p, struct desk *desk, bool gone, int most_ms)
{
    struct ask_closed closed;
    uint64_t now = gate_clock(), until;
    desk_lock(desk);
    if (gone)
        ask_close(desk->ask);
    look_at_gap(p, desk, now);
    ask_expire(desk->ask, now);
    while (ask_next_closed(desk->ask, &closed))
        if (closed.id == p->shown)
            end_question(p, closed.timed_out ? "no answer: no" : "not needed any more");
    const struct ask_question *q = p->shown || gone ? NULL : ask_next(desk->ask, now);
    if (q)
        show(p, q, (q->deadline - now) / 1000);
    until = ask_deadline(desk->ask);
    desk_unlock(desk);
    if (until == UINT64_MAX || until > now + (uint64_t)most_ms)
        return most_ms;
    return until > now ? (int)(until - now) : 0;
}

void prompt_end(struct prompt *p)
{
    if (p->shown)
        end_question(p, "not needed any more");
}

void prompt_free(struct prompt *p)
{
    buf_free(&p->screen);
    buf_free(&p->typed);
}
