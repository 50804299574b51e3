/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether Codex runs the hook. It skips every hook whose hash is not in its config.toml:
 *   [hooks.state."FILE:pre_tool_use:GROUP:HANDLER"]
 *   trusted_hash = "sha256:…"
 * The hash is that of the handler as Codex reads it, in JSON with sorted keys and without blanks.
 */
#include "base/sha256.h"
#include "hook/hook.h"

/* The text after the header of a table, up to the next header; empty if it is not there. */
static struct str find_table(struct str config, struct str key)
{
    static const struct str quotes[] = {STR("\""), STR("'")};
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++) {
        auto_buf struct buf header = {0};
        buf_add(&header, STR("[hooks.state."));
        buf_add(&header, quotes[i]);
        for (size_t j = 0; j < key.n; j++) {
            if (i == 0 && (key.p[j] == '\\' || key.p[j] == '"'))
                buf_char(&header, '\\');
            buf_char(&header, key.p[j]);
        }
        buf_add(&header, quotes[i]);
        buf_char(&header, ']');
        size_t at = header.failed ? config.n : str_find(config, buf_str(&header), 0);
        if (at >= config.n || (at > 0 && config.p[at - 1] != '\n'))
            continue;
        size_t from = at + header.n;
        return str_slice(config, from, str_find(config, STR("\n["), from));
    }
    return STR_NONE;
}

/* The value of a line "name = value" of a table; empty if there is none. */
static struct str find_value(struct str table, struct str name)
{
    for (size_t pos = 0; pos < table.n;) {
        size_t end = str_find_char(table, '\n', pos);
        struct str line = str_trim(str_slice(table, pos, end));
        size_t equals = str_find_char(line, '=', 0);
        if (equals < line.n && str_eq(str_trim(str_slice(line, 0, equals)), name))
            return str_trim(str_from(line, equals + 1));
        pos = end + 1;
    }
    return STR_NONE;
}

static void add_hash(struct buf *out, struct str matcher, const struct json_value *handler)
{
    auto_buf struct buf text = {0};
    const struct json_value *command = json_get(handler, STR("command"));
    struct json_writer w = {.out = &text};
    json_open(&w, '{');
    json_put(&w, STR("event_name"), STR("pre_tool_use"));
    json_key(&w, STR("hooks"));
    json_open(&w, '[');
    json_open(&w, '{');
    json_put_bool(&w, STR("async"), false);
    json_put(&w, STR("command"), command ? command->text : STR_NONE);
    json_put_number(&w, STR("timeout"), 600);
    json_put(&w, STR("type"), STR("command"));
    json_close(&w, '}');
    json_close(&w, ']');
    json_put(&w, STR("matcher"), matcher);
    json_close(&w, '}');
    buf_add(out, STR("\"sha256:"));
    sha256_hex(out, buf_str(&text));
    buf_char(out, '"');
    out->failed = out->failed || text.failed;
}

enum hook_trust hook_codex_trust(struct str file, struct str hooks, struct str config)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf key = {0}, hash = {0};
    size_t group, handler;
    const struct json_value *entry = NULL, *matcher = NULL;
    if (!hook_find(&arena, HOOK_CODEX, hooks, &group, &handler, &entry, &matcher))
        return HOOK_NOT_THERE;
    buf_add(&key, file);
    buf_fmt(&key, ":pre_tool_use:%u:%u", (unsigned)group, (unsigned)handler);
    add_hash(&hash, matcher ? matcher->text : STR_NONE, entry);
    if (key.failed || hash.failed)
        return HOOK_UNTRUSTED;
    struct str table = find_table(config, buf_str(&key));
    struct str trusted = find_value(table, STR("trusted_hash"));
    if (!trusted.n)
        return HOOK_UNTRUSTED;
    if (!str_eq(trusted, buf_str(&hash)))
        return HOOK_CHANGED;
    return str_eq(find_value(table, STR("enabled")), STR("false")) ? HOOK_OFF : HOOK_TRUSTED;
}
