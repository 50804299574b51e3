/* SPDX-License-Identifier: Apache-2.0 */
/* Masks what looks like a secret in a command line: known token shapes, and values of options named
   after one. One mask too many is better than one too few. */
#include "audit/audit.h"

/* Tokens begin like this and continue with letters, digits, - and _. */
static const struct {
    struct str prefix;
    size_t shortest; /* of what follows */
} tokens[] = {
    {STR("ghp_"), 20},       {STR("gho_"), 20},   {STR("ghu_"), 20},  {STR("ghs_"), 20},
    {STR("ghr_"), 20},       {STR("glpat-"), 16}, {STR("sk-"), 16},   {STR("sk_live_"), 10},
    {STR("rk_live_"), 10},   {STR("xoxb-"), 10},  {STR("xoxp-"), 10}, {STR("xoxa-"), 10},
    {STR("xoxs-"), 10},      {STR("AKIA"), 16},   {STR("ASIA"), 16},  {STR("AIza"), 30},
    {STR("ya29."), 20},      {STR("eyJ"), 20},    {STR("npm_"), 30},  {STR("pypi-"), 16},
    {STR("dop_v1_"), 30},    {STR("hf_"), 20},    {STR("SG."), 20},   {STR("AccountKey="), 20},
    {STR("github_pat_"), 20}};

/* Words in the name of an option, variable or header whose value is a secret. */
static const struct str names[] = {STR("password"),   STR("passwd"),     STR("pwd"),
                                   STR("secret"),     STR("token"),      STR("apikey"),
                                   STR("api-key"),    STR("api_key"),    STR("credential"),
                                   STR("bearer"),     STR("passphrase"), STR("private-key"),
                                   STR("access-key"), STR("access_key"), STR("authorization")};

static bool is_token_char(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '/' || c == '+' ||
           c == '=';
}

static bool is_name_char(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == '_';
}

/* Length of a token at pos, or 0. */
static size_t token_at(struct str s, size_t pos)
{
    if (pos > 0 && ascii_is_alnum(s.p[pos - 1]))
        return 0;
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        if (!str_starts(str_from(s, pos), tokens[i].prefix))
            continue;
        size_t end = pos + tokens[i].prefix.n;
        while (end < s.n && is_token_char(s.p[end]))
            end++;
        if (end - pos - tokens[i].prefix.n >= tokens[i].shortest)
            return end - pos;
    }
    return 0;
}

static bool names_a_secret(struct str name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_findi(name, names[i], 0) < name.n)
            return true;
    return false;
}

/* End of the value at pos: the closing quote, or the next blank. */
static size_t value_end(struct str s, size_t pos)
{
    if (pos < s.n && (s.p[pos] == '"' || s.p[pos] == '\'')) {
        size_t close = str_find_char(s, s.p[pos], pos + 1);
        return close < s.n ? close + 1 : s.n;
    }
    while (pos < s.n && s.p[pos] != ' ' && s.p[pos] != '\t' && s.p[pos] != '"' &&
           s.p[pos] != '\'' && s.p[pos] != '&' && s.p[pos] != ';')
        pos++;
    return pos;
}

/* "--password=two words" is one argument: its value ends where its quote does. */
static size_t quoted_end(struct str s, size_t pos)
{
    while (pos < s.n && !(s.p[pos] == '"' && s.p[pos - 1] != '\\'))
        pos++;
    return pos;
}

/* After a name like --password or API_TOKEN: where its value begins, or 0 if there is none. */
static size_t value_begin(struct str s, size_t name_end, bool is_option)
{
    size_t pos = name_end;
    if (pos < s.n && (s.p[pos] == '=' || s.p[pos] == ':')) {
        pos++;
        while (pos < s.n && s.p[pos] == ' ' && s.p[pos - 1] != '=')
            pos++;
    } else if (is_option && pos < s.n && s.p[pos] == ' ') {
        pos++;
    } else {
        return 0;
    }
    return pos < s.n && s.p[pos] != '-' ? pos : 0;
}

/* user:secret@ in a URL: the secret's place. */
static bool userinfo_at(struct str s, size_t pos, size_t *begin, size_t *end)
{
    if (!str_starts(str_from(s, pos), STR("://")))
        return false;
    size_t colon = 0;
    for (size_t i = pos + 3; i < s.n && !strchr(" \t\"'/?#", s.p[i]); i++) {
        if (s.p[i] == ':' && !colon)
            colon = i;
        if (s.p[i] == '@' && colon && i > colon + 1) {
            *begin = colon + 1;
            *end = i;
            return true;
        }
    }
    return false;
}

void audit_mask(struct buf *out, struct str s)
{
    for (size_t pos = 0; pos < s.n;) {
        size_t begin, end, length = token_at(s, pos);
        if (length) {
            buf_add(out, STR("***"));
            pos += length;
            continue;
        }
        if (userinfo_at(s, pos, &begin, &end)) {
            buf_add(out, str_slice(s, pos, begin));
            buf_add(out, STR("***"));
            pos = end;
            continue;
        }
        if (!is_name_char(s.p[pos])) {
            buf_char(out, s.p[pos++]);
            continue;
        }
        size_t name_end = pos;
        while (name_end < s.n && is_name_char(s.p[name_end]))
            name_end++;
        struct str name = str_slice(s, pos, name_end);
        begin = names_a_secret(name)
                    ? value_begin(s, name_end, name.p[0] == '-' || str_eqi(name, STR("bearer")))
                    : 0;
        bool quoted = pos > 0 && s.p[pos - 1] == '"' && (pos < 2 || s.p[pos - 2] == ' ');
        end = begin ? value_end(s, begin) : 0;
        if (begin && quoted && s.p[name_end] == '=' && end < s.n && s.p[end] != '"')
            end = quoted_end(s, begin);
        /* "Authorization: Bearer x": the scheme is not the secret. */
        if (begin && str_startsi(str_from(s, begin), STR("bearer ")))
            begin = begin + 7, end = value_end(s, begin);
        else if (begin && str_startsi(str_from(s, begin), STR("basic ")))
            begin = begin + 6, end = value_end(s, begin);
        if (begin && end > begin) {
            buf_add(out, str_slice(s, pos, begin));
            buf_add(out, STR("***"));
            pos = end;
        } else {
            buf_add(out, name);
            pos = name_end;
        }
    }
}
