/* SPDX-License-Identifier: Apache-2.0 */
/* Options of any program whose value is a command or a browser. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

/* Options and settings with such a part in their name hold a command. */
static bool names_command(struct str option)
{
    static const char parts[] =
        "cmd|command|exec|program|editor|pager|shell|rsh|ssh|viewer|launcher|"
        "wrapper|runner|askpass|hook|invoke|helper|opener|handler|terminal|"
        "emulator|compiler|tunnel|action|spawn|load-pack|receive-pack";
    struct str rest = STR(parts);
    for (size_t end; rest.n; rest = str_from(rest, end + 1)) {
        end = str_find_char(rest, '|', 0);
        if (str_findi(option, str_slice(rest, 0, end), 0) < option.n)
            return true;
    }
    return false;
}

/* --rsh=firefox, --diff-cmd firefox, core.editor=firefox. */
static void judge_option(struct guard *g, const struct guard_call *call, struct str option,
                         struct word value)
{
    if (names_command(option)) {
        guard_commands(g, value);
        return;
    }
    if (str_findi(option, STR("browser"), 0) == option.n)
        return;
    bool hidden =
        name_is_one_of(name_program(call->words[0].text), STR("playwright|pytest|cypress"));
    for (size_t i = 1; i < call->count; i++) {
        if (str_findi(call->words[i].text, STR("headless"), 0) < call->words[i].text.n)
            return;
        hidden &= str_findi(call->words[i].text, STR("headed"), 0) == call->words[i].text.n;
    }
    if (hidden)
        return; /* they show no window by default */
    guard_find(g, GUARD_OPAQUE_COMMAND, value, name_program(call->words[0].text),
               "starts a browser that its arguments name, perhaps with a window",
               "give --headless, if it knows that option");
}

void judge_options(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i < call->count && !guard_stopped(g); i++) {
        struct word word = call->words[i], next = {.text = STR("")};
        size_t equals = str_find_char(word.text, '=', 0);
        if (equals == word.text.n)
            equals = str_find_char(word.text, ' ', 0); /* -o 'ProxyCommand firefox' */
        struct str option = str_slice(word.text, 0, equals);
        if (equals < word.text.n) {
            next = word;
            next.text = str_from(word.text, equals + 1);
            size_t inner = str_find_char(next.text, '=', 0); /* --action=exec=firefox */
            if (inner + 1 < next.text.n && !guard_starts_launcher(g, next.text)) {
                option = str_slice(word.text, 0, equals + 1 + inner);
                next.text = str_from(next.text, inner + 1);
            }
        } else if (word.text.n > 2 && word.text.p[0] == '-' && i + 1 < call->count) {
            next = call->words[i + 1];
        } else {
            continue;
        }
        if (next.text.n > 1 && guard_starts_launcher(g, next.text))
            judge_option(g, call, option, next);
        else if (str_has_char(next.text, ' ') && word.text.p[0] == '-' && names_command(option))
            guard_commands(g, next);
    }
}
