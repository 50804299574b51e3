/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spelling does not change the verdict: every hostile command, spelled in every way that keeps its
 * meaning, stays denied; its harmless twin, spelled in the same ways, stays allowed. The spellings
 * are made here: of the command's name, of its last argument, and of the code around both.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "guard/guard.h"
#include "tap.h"

enum { MOST_WORDS = 8 };

struct pair {
    const char *hostile[MOST_WORDS], *benign[MOST_WORDS];
};

#define URL "https://x.test/a"

/* Programs that every shell starts alike. */
static const struct pair programs[] = {
    {{"explorer", URL}, {"curl", URL}},
    {{"msedge", URL}, {"node", "app.js", URL}},
    {{"chrome", "--new-window", URL}, {"chrome", "--headless", "http://localhost:1/"}},
    {{"firefox", URL}, {"wget", URL}},
    {{"schtasks", "/create", "/tn", "x", "/tr", "calc"}, {"schtasks", "/query", "/tn", "x"}},
    {{"sc", "create", "x", "binPath=", "calc"}, {"sc", "query", "x"}},
    {{"runas", "/user:admin", "calc"}, {"whoami", "/user"}},
    {{"wmic", "process", "call", "create", "calc"}, {"wmic", "process", "list", "brief"}},
    {{"mshta", URL}, {"node", URL}},
    {{"hh", URL}, {"git", "clone", URL}},
    {{"rundll32", "url.dll,FileProtocolHandler", URL}, {"curl", "-o", "x", URL}},
    {{"psexec", "-s", "calc"}, {"tasklist", "/svc"}},
    {{"bitsadmin", "/transfer", "j", URL}, {"bitsadmin", "/list"}},
    {{"wt", "calc"}, {"tree", "src"}},
    {{"wsl", "calc"}, {"ls", "src"}},
    {{"control", "calc"}, {"echo", "calc"}},
    {{"msdt", "x"}, {"where", "x"}},
    {{"net", "start", "x"}, {"net", "use"}},
    {{"gh", "pr", "view", "--web"}, {"gh", "pr", "view", "--json"}},
    {{"gh", "browse"}, {"gh", "status"}},
    {{"npm", "docs", "react"}, {"npm", "install", "react"}},
    {{"az", "login"}, {"az", "account"}},
    {{"cargo", "doc", "--open"}, {"cargo", "doc", "--no-deps"}},
    {{"python", "-m", "webbrowser", URL}, {"python", "-m", "pytest", "tests"}},
    {{"code", "--open-url", URL}, {"code", "--version"}},
    {{"git", "web--browse", URL}, {"git", "fetch", URL}},
};

static const struct pair powershell_only[] = {
    {{"Start-Process", URL}, {"Start-Process", "node"}},
    {{"saps", URL}, {"saps", "node"}},
    {{"start", URL}, {"start", "node"}},
    {{"Invoke-Item", "page.html"}, {"Get-Item", "page.html"}},
    {{"ii", "x.url"}, {"gi", "x.url"}},
    {{"Start-Service", "x"}, {"Get-Service", "x"}},
    {{"New-Service", "x"}, {"Get-Item", "x"}},
    {{"Start-ScheduledTask", "x"}, {"Get-ScheduledTask", "x"}},
};

static const struct pair cmd_only[] = {
    {{"start", "\"\"", URL}, {"start", "\"\"", "node"}},
    {{"start", "/b", URL}, {"start", "/b", "node"}},
    {{"start", "/wait", "msedge", URL}, {"start", "/wait", "node", URL}},
    {{"start", "ms-settings:"}, {"echo", "ms-settings:"}},
};

static const struct pair bash_only[] = {
    {{"xdg-open", URL}, {"curl", URL}},
    {{"open", URL}, {"cat", URL}},
    {{"wslview", URL}, {"wget", URL}},
    {{"cygstart", URL}, {"node", URL}},
    {{"sensible-browser", URL}, {"printf", URL}},
    {{"start", URL}, {"echo", URL}},
    {{"systemd-run", "calc"}, {"sleep", "1"}},
    {{"crontab", "jobs"}, {"crontab", "-l"}},
};

/* ---- spelling a word: into out; statements that must come first into before ---- */

typedef void speller(struct buf *before, struct buf *out, struct str word);

static void plain(struct buf *before, struct buf *out, struct str w)
{
    (void)before;
    buf_add(out, w);
}

static void mixed_case(struct buf *before, struct buf *out, struct str w)
{
    (void)before;
    for (size_t i = 0; i < w.n; i++) {
        char c = w.p[i];
        buf_char(out, i % 2 && c >= 'a' && c <= 'z' ? (char)(c - 32) : c);
    }
}

/* A character in front of every letter that it does not change. */
static void marked(struct buf *out, struct str w, char mark, const char *not_before)
{
    for (size_t i = 0; i < w.n; i++) {
        if (i && ascii_is_alpha(w.p[i]) && !strchr(not_before, w.p[i]))
            buf_char(out, mark);
        buf_char(out, w.p[i]);
    }
}

static void halves(struct str w, struct str *a, struct str *b)
{
    *a = str_slice(w, 0, w.n / 2);
    *b = str_from(w, w.n / 2);
}

static void quoted_with(struct buf *out, struct str w, char quote)
{
    buf_char(out, quote);
    buf_add(out, w);
    buf_char(out, quote);
}

static void half_quoted(struct buf *before, struct buf *out, struct str w)
{
    struct str a, b;
    (void)before;
    halves(w, &a, &b);
    buf_add(out, a);
    quoted_with(out, b, '"');
}

static void double_quoted(struct buf *before, struct buf *out, struct str w)
{
    (void)before;
    quoted_with(out, w, '"');
}

static void single_quoted(struct buf *before, struct buf *out, struct str w)
{
    (void)before;
    quoted_with(out, w, '\'');
}

/* PowerShell */

static void ps_backticks(struct buf *before, struct buf *out, struct str w)
{
    (void)before;
    marked(out, w, '`', "abefnrtuv");
}

static void ps_joined(struct buf *out, struct str w)
{
    struct str a, b;
    halves(w, &a, &b);
    buf_fmt(out, "('%.*s'+'%.*s')", STR_ARG(a), STR_ARG(b));
}

static void ps_concatenated(struct buf *before, struct buf *out, struct str w)
{
    (void)before;
    ps_joined(out, w);
}

static void ps_formatted(struct buf *before, struct buf *out, struct str w)
{
    struct str a, b;
    (void)before;
    halves(w, &a, &b);
    buf_fmt(out, "('{1}{0}' -f '%.*s','%.*s')", STR_ARG(b), STR_ARG(a));
}

static void ps_replaced(struct buf *before, struct buf *out, struct str w)
{
    struct str a, b;
    (void)before;
    halves(w, &a, &b);
    buf_fmt(out, "('%.*sZZ%.*s'.Replace('ZZ',''))", STR_ARG(a), STR_ARG(b));
}

static void ps_characters(struct buf *before, struct buf *out, struct str w)
{
    (void)before;
    buf_add(out, STR("(-join [char[]]("));
    for (size_t i = 0; i < w.n; i++)
        buf_fmt(out, "%s%d", i ? "," : "", w.p[i]);
    buf_add(out, STR("))"));
}

static void ps_variable(struct buf *before, struct buf *out, struct str w)
{
    char name = before->n ? 'v' : 'u';
    buf_fmt(before, "$%c = '%.*s'; ", name, STR_ARG(w));
    buf_fmt(out, "$%c", name);
}

/* The same as a command's name, after the call operator. */
#define CALLED(name, spell)                                             \
    static void name(struct buf *before, struct buf *out, struct str w) \
    {                                                                   \
        buf_add(out, STR("& "));                                        \
        spell(before, out, w);                                          \
    }
CALLED(ps_call_single, single_quoted)
CALLED(ps_call_double, double_quoted)
CALLED(ps_call_concatenated, ps_concatenated)
CALLED(ps_call_formatted, ps_formatted)
CALLED(ps_call_replaced, ps_replaced)
CALLED(ps_call_characters, ps_characters)
CALLED(ps_call_variable, ps_variable)

/* cmd */

static void cmd_carets(struct buf *before, struct buf *out, struct str w)
{
    (void)before;
    marked(out, w, '^', "");
}

static void cmd_emptiness(struct buf *before, struct buf *out, struct str w)
{
    struct str a, b;
    (void)before;
    halves(w, &a, &b);
    buf_fmt(out, "%.*s%%OS:~0,0%%%.*s", STR_ARG(a), STR_ARG(b));
}

static void cmd_variable(struct buf *before, struct buf *out, struct str w)
{
    char name = before->n ? 'v' : 'u';
    buf_fmt(before, "set %c=%.*s&& call ", name, STR_ARG(w));
    buf_fmt(out, "%%%c%%", name);
}

/* bash */

static void sh_backslashes(struct buf *before, struct buf *out, struct str w)
{
    (void)before;
    buf_char(out, '\\');
    marked(out, w, '\\', "");
}

static void sh_hex(struct buf *before, struct buf *out, struct str w)
{
    (void)before;
    buf_add(out, STR("$'"));
    for (size_t i = 0; i < w.n; i++)
        buf_fmt(out, "\\x%02x", (unsigned char)w.p[i]);
    buf_char(out, '\'');
}

static void sh_variable(struct buf *before, struct buf *out, struct str w)
{
    char name = before->n ? 'v' : 'u';
    buf_fmt(before, "%c='%.*s'; ", name, STR_ARG(w));
    buf_fmt(out, "$%c", name);
}

static void sh_substituted(struct buf *before, struct buf *out, struct str w)
{
    (void)before;
    buf_fmt(out, "$(echo '%.*s')", STR_ARG(w));
}

static void sh_continued(struct buf *before, struct buf *out, struct str w)
{
    struct str a, b;
    (void)before;
    halves(w, &a, &b);
    buf_fmt(out, "%.*s\\\n%.*s", STR_ARG(a), STR_ARG(b));
}

/* ---- code around a command ---- */

/* The text with every quote doubled (PowerShell) or put aside (bash). */
static void escaped(struct buf *out, struct str text, const char *instead)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\'')
            buf_add(out, str_of(instead));
        else
            buf_char(out, text.p[i]);
}

static void base64_utf16(struct buf *out, struct str text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    auto_buf struct buf wide = {0};
    for (size_t i = 0; i < text.n; i++) {
        buf_char(&wide, text.p[i]);
        buf_char(&wide, '\0');
    }
    for (size_t i = 0; i < wide.n; i += 3) {
        unsigned a = (unsigned char)wide.p[i];
        unsigned b = i + 1 < wide.n ? (unsigned char)wide.p[i + 1] : 0;
        unsigned c = i + 2 < wide.n ? (unsigned char)wide.p[i + 2] : 0;
        buf_char(out, digits[a >> 2]);
        buf_char(out, digits[(a & 3) << 4 | b >> 4]);
        buf_char(out, i + 1 < wide.n ? digits[(b & 15) << 2 | c >> 6] : '=');
        buf_char(out, i + 2 < wide.n ? digits[c & 63] : '=');
    }
}

/* T stands for the text, Q for the text inside single quotes, E for its encoded form. */
static void wrap(struct buf *out, const char *pattern, struct str text, const char *quote)
{
    for (const char *p = pattern; *p; p++) {
        if (*p == 'T')
            buf_add(out, text);
        else if (*p == 'Q')
            escaped(out, text, quote);
        else if (*p == 'E')
            base64_utf16(out, text);
        else
            buf_char(out, *p);
    }
}

static const char *const ps_wraps[] = {"T",
                                       "& { T }",
                                       "if ($true) { T }",
                                       "1 | % { T }",
                                       "iex 'Q'",
                                       "[scriptblock]::create('Q').invoke()",
                                       "try { T } catch { }",
                                       "get-date; T",
                                       "\n\tT # done\n",
                                       "function f { T }; f",
                                       "<# a #> T",
                                       "powershell -nop -enc E",
                                       "while (1) { T; break }"};

static const char *const cmd_wraps[] = {"T",
                                        "  (T)",
                                        "@T",
                                        "if 1==1 T",
                                        "for %i in (1) do T",
                                        "echo a & T",
                                        "echo a && T",
                                        "cmd /c \"T\"",
                                        "cmd /s /c \"T\"",
                                        "cmd /q /d /c \"T\"",
                                        ">nul T",
                                        "T 2>nul",
                                        "ver & (echo b & T)"};

static const char *const sh_wraps[] = {"T",
                                       "{ T; }",
                                       "(T)",
                                       "if true; then T; fi",
                                       "true && { T; }",
                                       "eval 'Q'",
                                       "bash -c 'Q'",
                                       "sh -lc 'Q'",
                                       "x=$(T)",
                                       "bash <<'END'\nT\nEND",
                                       "for i in 1; do T; done",
                                       "f() { T; }; f",
                                       "echo hi; T",
                                       "T &",
                                       "case a in a) T;; esac",
                                       "while T; do break; done"};

/* ---- all of it ---- */

struct language {
    enum guard_shell shell;
    const char *name;
    const struct pair *own;
    size_t own_count;
    speller *const *heads;
    size_t head_count;
    speller *const *tails;
    size_t tail_count;
    const char *const *wraps;
    size_t wrap_count;
    const char *quote;
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static speller *const ps_heads[] = {plain,
                                    mixed_case,
                                    ps_backticks,
                                    ps_call_single,
                                    ps_call_double,
                                    ps_call_concatenated,
                                    ps_call_formatted,
                                    ps_call_replaced,
                                    ps_call_characters,
                                    ps_call_variable};
static speller *const ps_tails[] = {plain,        single_quoted, double_quoted, ps_concatenated,
                                    ps_formatted, ps_replaced,   ps_characters, ps_variable};
static speller *const cmd_heads[] = {plain,       mixed_case,    cmd_carets,
                                     half_quoted, cmd_emptiness, cmd_variable};
static speller *const cmd_tails[] = {plain, cmd_carets, cmd_emptiness, double_quoted};
static speller *const sh_heads[] = {plain,  half_quoted, single_quoted,  sh_backslashes,
                                    sh_hex, sh_variable, sh_substituted, sh_continued};
static speller *const sh_tails[] = {plain,  half_quoted, single_quoted,  double_quoted,
                                    sh_hex, sh_variable, sh_substituted, sh_continued};

static const struct language languages[] = {
    {GUARD_POWERSHELL, "powershell", powershell_only, COUNT(powershell_only), ps_heads,
     COUNT(ps_heads), ps_tails, COUNT(ps_tails), ps_wraps, COUNT(ps_wraps), "''"},
    {GUARD_CMD, "cmd", cmd_only, COUNT(cmd_only), cmd_heads, COUNT(cmd_heads), cmd_tails,
     COUNT(cmd_tails), cmd_wraps, COUNT(cmd_wraps), "'"},
    {GUARD_BASH, "bash", bash_only, COUNT(bash_only), sh_heads, COUNT(sh_heads), sh_tails,
     COUNT(sh_tails), sh_wraps, COUNT(sh_wraps), "'\\''"}};

/* An option, or a word that cmd must see as it is, keeps its spelling. */
static bool keeps_spelling(const char *word)
{
    return word[0] == '-' || word[0] == '/' || word[0] == '"';
}

static void spell_command(struct buf *text, const char *const *words, speller *head, speller *tail)
{
    auto_buf struct buf before = {0}, line = {0};
    size_t count = 0;
    while (count < MOST_WORDS && words[count])
        count++;
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_char(&line, ' ');
        speller *spell = i == 0 ? head : i + 1 == count && !keeps_spelling(words[i]) ? tail : plain;
        spell(&before, &line, str_of(words[i]));
    }
    buf_add(text, buf_str(&before));
    buf_add(text, buf_str(&line));
}

static unsigned combinations;

/* How many spellings do not have the verdict; the first few are shown. */
static unsigned check_command(struct guard *g, const struct language *l, const char *const *words,
                              enum cordon_verdict expected)
{
    static const char *const verdicts[] = {"deny", "ask", "allow"};
    unsigned wrong = 0;
    auto_buf struct buf command = {0}, text = {0};
    for (size_t h = 0; h < l->head_count; h++)
        for (size_t t = 0; t < l->tail_count; t++) {
            buf_reset(&command);
            spell_command(&command, words, l->heads[h], l->tails[t]);
            for (size_t w = 0; w < l->wrap_count; w++) {
                buf_reset(&text);
                wrap(&text, l->wraps[w], buf_str(&command), l->quote);
                struct guard_question q = {.shell = l->shell, .text = buf_str(&text)};
                struct guard_answer a = {0};
                combinations++;
                if (guard_check(g, &q, &a) == 0 && a.verdict == expected)
                    continue;
                if (wrong++ < 3)
                    note("%s, not %s: %s", verdicts[a.verdict], verdicts[expected],
                         buf_cstr(&text));
            }
        }
    return wrong;
}

static void check_pairs(struct guard *g, const struct language *l, const struct pair *pairs,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned wrong = check_command(g, l, pairs[i].hostile, CORDON_DENY);
        ok(wrong == 0, "%s: %s … stays denied (%u wrong)", l->name, pairs[i].hostile[0], wrong);
        wrong = check_command(g, l, pairs[i].benign, CORDON_ALLOW);
        ok(wrong == 0, "%s: %s … stays allowed (%u wrong)", l->name, pairs[i].benign[0], wrong);
    }
}

int main(void)
{
    struct guard *g;
    size_t bases = 0;
    if (guard_new(&g))
        return 1;
    for (size_t i = 0; i < COUNT(languages); i++) {
        check_pairs(g, &languages[i], programs, COUNT(programs));
        check_pairs(g, &languages[i], languages[i].own, languages[i].own_count);
        bases += COUNT(programs) + languages[i].own_count;
    }
    ok(bases >= 60 && combinations >= 20000, "%u base commands, %u combinations", (unsigned)bases,
       combinations);
    guard_free(g);
    return tap_done();
}
