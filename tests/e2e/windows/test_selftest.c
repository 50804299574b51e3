/* cordon selftest proves every promise that this machine can show; what is not tried says why. */
#include "bed.h"

static unsigned number_behind(const struct buf *out, const char *key)
{
    size_t at = str_find(buf_str(out), str_of(key), 0);
    return at < out->n ? (unsigned)strtoul(out->p + at + strlen(key), NULL, 10) : 9999;
}

int main(void)
{
    auto_buf struct buf out = {0}, before = {0}, after = {0};
    bed_make("selftest");
    fresh();
    char temp[MAX_PATH];
    GetTempPathA(MAX_PATH, temp);
    uint64_t begin = GetTickCount64();
    struct command c = command_start("%C% selftest --json");
    int code = command_end(&c, 280000, &out);
    unsigned seconds = (unsigned)((GetTickCount64() - begin) / 1000);
    unsigned linux_only = 0;
    for (size_t at = 0; (at = str_find(buf_str(&out), STR("a meaning on Linux only"), at)) < out.n;
         at++)
        linux_only++;
    unsigned passed = number_behind(&out, "\"pass\":"), failed = number_behind(&out, "\"fail\":");
    unsigned unproven = number_behind(&out, "\"not_proven\":");
    unsigned untried = number_behind(&out, "\"not_tried\":") - linux_only;
    if (!ok(code == 0 && failed == 0 && unproven == 0,
            "selftest: %u proven, %u failed, %u not proven, %u not tried, %u s", passed, failed,
            unproven, untried, seconds)) {
        size_t at = 0;
        for (struct str all = buf_str(&out); at < all.n; at++)
            if (str_starts(str_from(all, at), STR("\"result\":\"fail\"")) ||
                str_starts(str_from(all, at), STR("\"result\":\"not_proven\"")))
                note("%.400s", all.p + (at > 120 ? at - 120 : 0));
    }
    ok(passed >= 58 && untried <= 8, "selftest: at most 8 are not tried");
    char pattern[MAX_PATH + 40];
    WIN32_FIND_DATAA found;
    snprintf(pattern, sizeof pattern, "%s\\cordon-selftest-*", temp);
    HANDLE find = FindFirstFileA(pattern, &found);
    /* This test's own bed has the same beginning. */
    bool left = false;
    if (find != INVALID_HANDLE_VALUE)
        do
            left = left || !strstr(top, found.cFileName);
        while (FindNextFileA(find, &found));
    FindClose(find);
    ok(!left, "selftest: cleans up after itself");
    buf_reset(&out);
    ok(run("%C% selftest --only 999", &out) == 125 && has(&out, "no promise 999"),
       "selftest: a number that is none");
    return bed_done();
}
