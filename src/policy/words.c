/* SPDX-License-Identifier: Apache-2.0 */
/* The words of options and policy keys. */
#include "policy/load.h"

int policy_read_mode(struct str word, enum policy_mode *mode)
{
    if (str_eq(word, STR("read-only")))
        *mode = POLICY_READ_ONLY;
    else if (str_eq(word, STR("workspace-write")))
        *mode = POLICY_WORKSPACE_WRITE;
    else if (str_eq(word, STR("full-access")) || str_eq(word, STR("danger-full-access")))
        *mode = POLICY_FULL_ACCESS;
    else
        return CORDON_E_VALUE;
    return 0;
}

int policy_read_git(struct str word, enum policy_git *git)
{
    if (str_eq(word, STR("protect")))
        *git = POLICY_GIT_PROTECT;
    else if (str_eq(word, STR("commit")))
        *git = POLICY_GIT_COMMIT;
    else if (str_eq(word, STR("full")))
        *git = POLICY_GIT_FULL;
    else
        return CORDON_E_VALUE;
    return 0;
}

const char *policy_git_word(enum policy_git git)
{
    switch (git) {
    case POLICY_GIT_PROTECT: return "protect";
    case POLICY_GIT_COMMIT: return "commit";
    case POLICY_GIT_FULL: return "full";
    }
    return "protect";
}

/* mark stands in front of each in the list. */
static int read_names(struct arena *arena, struct str names, struct str mark, struct str from,
                      struct policy_list *list)
{
    if (names.n == 0)
        return CORDON_E_VALUE;
    for (size_t start = 0; start <= names.n;) {
        size_t end = str_find_char(names, ',', start);
        struct str name = str_trim(str_slice(names, start, end));
        if (name.n == 0)
            return CORDON_E_VALUE;
        auto_buf struct buf marked = {0};
        buf_add(&marked, mark);
        buf_add(&marked, name);
        int rc =
            marked.failed
                ? CORDON_E_NOMEM
                : policy_list_add(arena, list,
                                  (struct policy_entry){.given = buf_str(&marked), .from = from});
        if (rc)
            return rc;
        start = end + 1;
    }
    return 0;
}

int policy_read_net(struct arena *arena, struct str word, struct str from,
                    struct policy_settings *settings)
{
    static const struct {
        struct str word;
        enum policy_net net;
    } plain[] = {{{"off", 3}, POLICY_NET_OFF},
                 {{"loopback", 8}, POLICY_NET_LOOPBACK},
                 {{"allow", 5}, POLICY_NET_ALLOW},
                 {{"on", 2}, POLICY_NET_ON}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (str_eq(word, plain[i].word)) {
            settings->net = plain[i].net;
            return 0;
        }
    if (str_starts(word, STR("proxy="))) {
        struct policy_peer peer;
        struct str proxy = arena_copy(arena, str_from(word, 6));
        if (!proxy.p)
            return CORDON_E_NOMEM;
        if (policy_parse_peer(proxy, &peer))
            return CORDON_E_VALUE;
        settings->proxy = proxy;
        settings->net = POLICY_NET_PROXY;
        return 0;
    }
    if (!str_starts(word, STR("allow=")))
        return CORDON_E_VALUE;
    struct policy_list names = settings->net_allow;
    struct str allowed = str_from(word, 6), head = STR(";deny=");
    size_t semicolon = str_find_char(allowed, ';', 0);
    struct str denied = str_from(allowed, semicolon);
    allowed.n = semicolon;
    if (denied.n && !str_starts(denied, head))
        return CORDON_E_VALUE;
    int rc = read_names(arena, allowed, STR_NONE, from, &names);
    if (rc == 0 && denied.n)
        rc = read_names(arena, str_from(denied, head.n), STR("!"), from, &names);
    if (rc)
        return rc;
    settings->net_allow = names;
    settings->net = POLICY_NET_ALLOW;
    return 0;
}

int policy_read_session(struct arena *arena, struct str word, struct str *id)
{
    if (word.n == 0 || word.n > 64)
        return CORDON_E_VALUE;
    /* It becomes part of a name. */
    for (size_t i = 0; i < word.n; i++)
        if (!ascii_is_alnum(word.p[i]) && word.p[i] != '-' && word.p[i] != '_')
            return CORDON_E_VALUE;
    word = arena_copy(arena, word);
    if (!word.p)
        return CORDON_E_NOMEM;
    *id = word;
    return 0;
}

int policy_read_temp(struct arena *arena, struct str word, struct policy_settings *settings)
{
    struct str head = STR("session=");
    if (str_eq(word, STR("private"))) {
        settings->temp = POLICY_TEMP_PRIVATE;
        return 0;
    }
    if (str_eq(word, STR("shared"))) {
        settings->temp = POLICY_TEMP_SHARED;
        return 0;
    }
    if (str_eq(word, STR("own"))) {
        settings->temp = POLICY_TEMP_OWN;
        return 0;
    }
    if (!str_starts(word, head))
        return CORDON_E_VALUE;
    int rc = policy_read_session(arena, str_from(word, head.n), &settings->session);
    if (rc == 0)
        settings->temp = POLICY_TEMP_SESSION;
    return rc;
}

int policy_read_memory(struct str word, uint64_t *bytes)
{
    unsigned shift = 0;
    if (word.n) {
        switch (ascii_lower(word.p[word.n - 1])) {
        case 'k': shift = 10; break;
        case 'm': shift = 20; break;
        case 'g': shift = 30; break;
        default: break;
        }
    }
    if (shift)
        word.n--;
    uint64_t value = 0;
    for (size_t i = 0; i < word.n; i++) {
        if (!ascii_is_digit(word.p[i]) || value > UINT64_MAX >> 40)
            return CORDON_E_VALUE;
        value = value * 10 + (uint64_t)(word.p[i] - '0');
    }
    if (word.n == 0 || value == 0 || value > UINT64_MAX >> (shift + 1))
        return CORDON_E_VALUE;
    *bytes = value << shift;
    return 0;
}
