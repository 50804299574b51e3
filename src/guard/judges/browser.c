/* SPDX-License-Identifier: Apache-2.0 */
/* Browsers: denied unless they run headless on local pages. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

static const struct browser_pool {
#define BROWSER(name) char ROW(n)[sizeof name];
#include "guard/tables/browsers.def"
#undef BROWSER
} browser_pool = {
#define BROWSER(name) name,
#include "guard/tables/browsers.def"
#undef BROWSER
};

static const uint16_t browsers[] = {
#define BROWSER(name) PLACE(browser_pool, ROW(n)),
#include "guard/tables/browsers.def"
#undef BROWSER
};

bool guard_is_browser(struct str name)
{
    return NAME_KNOWN(browser_pool, browsers, name);
}

size_t guard_browser_count(void)
{
    return NAME_ROWS(browsers);
}

struct str guard_browser_at(size_t row)
{
    return name_at(&browser_pool, browsers[row]);
}

static bool is_local_page(struct str url)
{
    static const struct str local[] = {STR("http://localhost"), STR("https://localhost"),
                                       STR("http://127.0.0.1"), STR("https://127.0.0.1"),
                                       STR("http://[::1]"),     STR("https://[::1]"),
                                       STR("file:///"),         STR("about:blank")};
    if (str_startsi(url, STR("data:"))) /* a page of its own text, if that leads nowhere */
        return !name_has_one_of(url, STR("http|base64|script|refresh|src|href|%"));
    for (size_t i = 0; i < NAME_ROWS(local); i++) {
        if (!str_startsi(url, local[i]))
            continue;
        /* localhost.example.com and localhost@example.com are not local. */
        struct str rest = str_from(url, local[i].n);
        if (i >= 6 || rest.n == 0 || rest.p[0] == '/' || rest.p[0] == '?' || rest.p[0] == '#' ||
            (rest.p[0] == ':' && !str_has_char(rest, '@')))
            return true;
    }
    return false;
}

/* What is no URL is a file if it is spelled like one; evil.com and evil.com/x are pages. */
static bool is_local_file(struct str arg)
{
    size_t slash = str_find_char(arg, '/', 0), back = str_find_char(arg, '\\', 0);
    if (slash == 0 || back == 0) /* //server is another machine */
        return !guard_is_share(arg) && !str_starts(arg, STR("//"));
    if (str_starts(arg, STR("./")) || str_starts(arg, STR("../")) || str_starts(arg, STR("~/")) ||
        str_starts(arg, STR(".\\")) || str_starts(arg, STR("..\\")))
        return true;
    size_t first = slash < back ? slash : back;
    struct str host = str_slice(arg, 0, first);
    if (str_has_char(host, '@'))
        return false;
    if (first == arg.n && name_is_one_of(name_extension(arg), STR("html|htm|xhtml|mht|svg|pdf|xml|"
                                                                  "txt|json|md|png|jpg|webp|gif")))
        return true;
    size_t colon = str_find_char(host, ':', 0);
    bool drive = colon == 1 && host.n == 2;
    struct str name = str_slice(host, 0, colon);
    return drive || name_is_one_of(name, STR("localhost|127.0.0.1")) ||
           (colon == host.n && first < arg.n && !str_has_char(name, '.'));
}

/* Headless, and every page it is given is local; or it only prints its version. */
static bool browser_is_harmless(const struct guard_call *call)
{
    bool headless = false, page = false, only_pages = false;
    if (call->count == 2 &&
        name_is_one_of(call->words[1].text, STR("--version|-version|-v|--help|--product-version")))
        return true;
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (!word_known(call->words[i]) ||
            name_has_one_of(arg, STR("launcher|cmd-prefix|--proxy-|-rules")))
            return false;
        if (name_is_one_of(arg, STR("--headless|-headless")) && !only_pages) {
            headless |= !str_endsi(arg, STR("=false"));
        } else if (str_eq(arg, STR("--"))) {
            only_pages = true;
        } else if (arg.n && arg.p[0] != '-') {
            page = true;
            if (guard_is_url(arg) ? !is_local_page(arg) : !is_local_file(arg))
                return false;
        } else {
            /* A URL inside an option: --app=https://… */
            struct str value = str_from(arg, str_find_char(arg, '=', 0) + 1);
            if (str_find(value, STR("://"), 0) < value.n && !is_local_page(value))
                return false;
        }
    }
    return headless && page;
}

void judge_browser(struct guard *g, const struct guard_call *call)
{
    if (browser_is_harmless(call))
        return;
    struct word at = call->words[0];
    for (size_t i = 1; i < call->count; i++)
        if (guard_is_url(call->words[i].text))
            at = call->words[i];
    guard_find(g, GUARD_LAUNCH_BROWSER, at, name_program(call->words[0].text), NULL, NULL);
}
