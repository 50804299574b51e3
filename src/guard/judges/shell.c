/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that hand a URL, a document or a folder to the desktop's shell. */
#include "guard/judges/judges.h"
#include "guard/names.h"

static const char *const opens = "hands this to the desktop, which opens it outside the sandbox";

static bool is_switch(struct str text)
{
    return text.n && (text.p[0] == '/' || text.p[0] == '-');
}

void judge_explorer(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i < call->count; i++)
        if (guard_is_url(call->words[i].text)) {
            guard_open(g, STR("explorer"), call->words[i], NULL, 0, call->from);
            return;
        }
    guard_find(g, GUARD_LAUNCH_OUTSIDE, call->words[call->count > 1 ? 1 : 0], STR("explorer"),
               "hands this to the desktop's own process, outside the sandbox",
               "list folders with dir or ls, start programs by their name");
}

void judge_opener(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (is_switch(arg) && arg.p[0] == '-')
            continue;
        guard_find(g, GUARD_LAUNCH_URL, call->words[i], name_program(call->words[0].text), opens,
                   NULL);
        return;
    }
}

void judge_gio(struct guard *g, const struct guard_call *call)
{
    if (call->count > 2 && name_is_one_of(call->words[1].text, STR("open|launch")))
        guard_find(g, GUARD_LAUNCH_URL, call->words[2], STR("gio"), opens, NULL);
    for (size_t i = 2; i < call->count && name_is_one_of(call->words[1].text, STR("remove|trash"));
         i++)
        if (!str_starts(call->words[i].text, STR("-")))
            guard_delete(g, STR("gio remove"), call->words[i], GUARD_RECURSE | GUARD_FORCE);
}

/* start "title" /switches target arguments, in Git Bash and in argv; the cmd reader has its own. */
void judge_start(struct guard *g, const struct guard_call *call)
{
    struct str name = call->words[0].text;
    if (call->from == GUARD_BASH && str_has_char(name, '/') && name.p[0] != '/')
        return; /* ./start is a file of the workspace */
    size_t i = 1;
    if (i < call->count && call->words[i].quoted &&
        (call->words[i].text.n == 0 || str_has_char(call->words[i].text, ' ')) &&
        !guard_is_url(call->words[i].text))
        i++;
    for (; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (arg.n == 0)
            continue;
        if (arg.p[0] != '/' && arg.p[0] != '-')
            break;
        if (name_is_one_of(arg, STR("/d|//d|/machine|/node|/affinity")))
            i++;
    }
    if (i < call->count)
        guard_open(g, STR("start"), call->words[i], call->words + i + 1, call->count - i - 1,
                   call->from);
}

/* The decision on an entry point; one that is not listed can do anything: ask. A number stands for
   any entry point of its library. */
static enum cordon_verdict judge_entry(struct str library, struct str entry)
{
    enum { DENY = CORDON_DENY, ALLOW = CORDON_ALLOW };
    static const struct entry_pool {
#define ENTRY(library, entry, verdict) char ROW(l)[sizeof library], ROW(e)[sizeof entry];
#include "guard/tables/rundll32.def"
#undef ENTRY
    } pool = {
#define ENTRY(library, entry, verdict) library, entry,
#include "guard/tables/rundll32.def"
#undef ENTRY
    };
    static const struct {
        uint16_t library, entry;
        uint8_t verdict;
    } entries[] = {
#define ENTRY(library, entry, verdict) \
    {PLACE(entry_pool, ROW(l)), PLACE(entry_pool, ROW(e)), verdict},
#include "guard/tables/rundll32.def"
#undef ENTRY
    };
    bool number = entry.n && entry.p[0] == '#';
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (str_eqi(library, name_at(&pool, entries[i].library)) &&
            (number ? entries[i].verdict == DENY
                    : str_startsi(entry, name_at(&pool, entries[i].entry))))
            return (enum cordon_verdict)entries[i].verdict;
    return CORDON_ASK;
}

/* rundll32 -sta {class}, -localserver class: makes a COM object. */
static bool makes_object(struct str first)
{
    return name_is_one_of(first, STR("-sta|/sta|-localserver|/localserver"));
}

/* rundll32 library,entry arguments; the comma may be a blank, the library may lack .dll. */
void judge_rundll32(struct guard *g, const struct guard_call *call)
{
    if (call->count < 2)
        return;
    struct str first = call->words[1].text;
    size_t comma = str_find_char(first, ',', 0);
    struct str library = name_leaf(str_slice(first, 0, comma));
    if (str_endsi(library, STR(".dll")) || str_endsi(library, STR(".ocx")))
        library.n -= 4;
    struct str entry = str_trim(str_from(first, comma + 1));
    size_t rest = 2;
    if (entry.n == 0 && call->count > 2) {
        entry = call->words[2].text;
        rest = 3;
    }
    if (entry.n && entry.p[0] == ',')
        entry = str_from(entry, 1);
    struct word target = rest < call->count ? call->words[rest] : call->words[1];
    enum cordon_verdict verdict = judge_entry(library, entry);
    if (makes_object(first))
        verdict = CORDON_DENY;
    for (size_t i = 1; i < call->count; i++)
        if (guard_is_url(call->words[i].text))
            verdict = CORDON_DENY;
    if (verdict == CORDON_DENY)
        guard_find(g, GUARD_LAUNCH_URL, target, STR("rundll32"), opens,
                   "start the program by its name");
    else if (verdict == CORDON_ASK && word_known(call->words[1]))
        guard_find(g, GUARD_OPAQUE_COMMAND, call->words[1], STR("rundll32"),
                   "calls a function of a library, which can do anything",
                   "start a program by its name");
    else if (verdict == CORDON_ASK)
        guard_opaque_command(g, call->words[1], STR_NONE);
}
