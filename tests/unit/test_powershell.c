/* SPDX-License-Identifier: Apache-2.0 */
/* The PowerShell reader: names and arguments as --show gives them, limits, both versions. */
#include "guard/guard.h"
#include "tap.h"

static struct guard *guard;

static struct guard_answer ask(struct str text)
{
    struct guard_answer answer = {0};
    struct guard_question q = {.shell = GUARD_POWERSHELL, .text = text, .show = true};
    if (guard_check(guard, &q, &answer))
        answer.verdict = CORDON_DENY;
    return answer;
}

/* "name arg arg; name arg", with ~ for what is not known. */
static void spell(const struct guard_answer *a, struct buf *out)
{
    for (size_t i = 0; i < a->read_count; i++) {
        const struct guard_read *r = &a->reads[i];
        buf_add(out, i ? STR("; ") : STR(""));
        buf_add(out, str_has_char(r->name.text, GUARD_HOLE) ? STR("~") : r->name.text);
        for (size_t k = 0; k < r->count; k++) {
            buf_char(out, ' ');
            buf_add(out, str_has_char(r->args[k].text, GUARD_HOLE) ? STR("~") : r->args[k].text);
        }
    }
}

static void reads(const char *text, const char *expected)
{
    auto_buf struct buf out = {0};
    struct guard_answer a = ask(str_of(text));
    spell(&a, &out);
    if (!ok(str_eq(buf_str(&out), str_of(expected)), "reads %s", text))
        note("got: %s", buf_cstr(&out));
}

static const char *const words[][2] = {
    {"tool a'b c'd", "tool ab cd"},
    {"tool 'a'b", "tool a b"},
    {"tool \"a`\"b\"", "tool a\"b"},
    {"tool \"x\"\"y\"", "tool x\"y"},
    {"tool 'it''s'", "tool it's"},
    {"tool a` b", "tool a b"},
    {"tool a`,b", "tool a,b"},
    {"tool $x", "tool ~"},
    {"tool a$x", "tool ~"},
    {"tool $x.y z", "tool ~ z"},
    {"tool 1kb -2 .5", "tool 1kb -2 .5"},
    {"tool -Name:value", "tool -Name:value"},
    {"tool -Name: value", "tool -Name:value"},
    {"tool -Name=value", "tool -Name=value"},
    {"tool -a.b", "tool -a .b"},
    {"tool -x\"y\"", "tool -xy"},
    {"tool --long -- -x", "tool --long -- -x"},
    {"tool --% a | more", "tool --% a ; more"},
    {"tool --% \"a | b\" c", "tool --% \"a | b\" c"},
    {"tool a#b #c", "tool a#b"},
    {"tool<#x#>y", "tool<#x#>y"},
    {"tool > out.txt 2>&1 x", "tool x"},
    {"tool>out", "tool>out"},
    {"tool a{b}", "tool a ~; b"},
    {"tool a(b)", "tool a ~; b"},
    {"tool \"$(inner x) y\"", "tool ~; inner x"},
    {"tool 'a','b' c", "tool ~ c"},
    {"tool @args @{a=1}", "tool ~ ~"},
    {"tool [IO.Path]::Combine", "tool [IO.Path]::Combine"},
    {"7z a", "7z a"},
    {"& 'my tool' x", "my tool x"},
    {"& $tool x", "~ x"},
    {". .\\lib.ps1", ".\\lib.ps1"},
    {"$x = tool y", "tool y"},
    {"if (a) { b } elseif (c) { d } else { e }", "a; b; c; d; e"},
    {"foreach ($i in items) { use $i }", "items; use ~"},
    {"a | % { b } | ? { c }", "a; % ~; b; ? ~; c"},
    {"function f { g }", "g"},
    {"try { a } catch [X] { b } finally { c }", "a; b; c"},
    {"switch (x) { 1 { a } default { b } }", "x; a; b"},
    {"do { a } until (b)", "a; b"},
    {"a && b || c", "a; b; c"},
    {"@'\nstart x\n'@ | out", "out"},
    {"-join (a b)", "a b"},
    {"return a b", "a b"},
    {"I`F (1) {a}", "IF ~ ~; a"},
    {"[x]::Call((a b))", "a b"},
    {"$a.b((c), {d})", "c; d"},
    {"", ""},
};

static void test_limits(void)
{
    static char text[GUARD_MAX_INPUT + 1];
    static const char *const bricks[] = {"(", "{",  "$(", "\"a", "'a\n", "`\n",  "@\"", "[",
                                         "$", "a;", "&",  "|",   "\"$(", "@{a=", "-a ", "if(1){"};
    for (size_t i = 0; i < sizeof bricks / sizeof *bricks; i++) {
        size_t n = strlen(bricks[i]);
        for (size_t k = 0; k < GUARD_MAX_INPUT; k++)
            text[k] = bricks[i][k % n];
        struct guard_answer a = ask((struct str){text, GUARD_MAX_INPUT - 1});
        ok(a.verdict != CORDON_ALLOW || a.read_count < 2, "1 MiB of brick %zu", i);
    }
    struct str deep = STR("((((((((((((((((((((((((1))))))))))))))))))))))))");
    ok(ask(deep).verdict == CORDON_ALLOW, "24 brackets are fine");
    memset(text, '(', 400);
    ok(ask((struct str){text, 400}).finding_count > 0, "400 are not");
    ok(ask(STR("$x='iex $x; iex $x'; iex $x")).verdict != CORDON_ALLOW, "text that runs itself");
    ok(ask(STR("function f { f; f }; f")).verdict == CORDON_ALLOW, "a function that calls itself");
    ok(ask(STR("while ($true) { $i += 'x' }")).verdict == CORDON_ALLOW, "an endless loop");
}

static void test_versions(void)
{
    ok(ask(STR("R`emove-Item x -Force")).verdict == CORDON_ASK, "`e is a letter in 5.1");
    ok(ask(STR("a && b")).verdict == CORDON_ALLOW, "&& is fine in 7");
    ok(ask(STR("a &&")).verdict == CORDON_ASK, "an open && is fine in neither");
    ok(ask(STR("sc create x binPath= calc")).verdict == CORDON_DENY, "sc is a program in 7");
}

static void test_spans(void)
{
    struct guard_answer a = ask(STR("Get-Date; start 'https://x.test'"));
    ok(a.finding_count == 1 && a.findings[0].start == 16 && a.findings[0].end == 32,
       "the span is the argument");
    a = ask(STR("Get-Date; iex 'start https://x.test'"));
    ok(a.finding_count == 1 && a.findings[0].start == 14 && a.findings[0].end == 36,
       "the span of code in text is the text");
    ok(str_eq(a.findings[0].resolved, STR("https://x.test")), "and resolved is the URL");
    ok(a.read_count == 3 && a.reads[2].depth == 2, "commands in text are one level deeper");
}

int main(void)
{
    if (!ok(guard_new(&guard) == 0, "a guard"))
        return tap_done();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        reads(words[i][0], words[i][1]);
    test_versions();
    test_spans();
    test_limits();
    guard_free(guard);
    return tap_done();
}
