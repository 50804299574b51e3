/* SPDX-License-Identifier: Apache-2.0 */
/* A command rewritten so that the agent's own shell starts it confined. Quoting for two shells. */
#include "base/utf.h"
#include "hook/hook.h"

void hook_quote_sh(struct buf *out, struct str s)
{
    buf_char(out, '\'');
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\'')
            buf_add(out, STR("'\\''"));
        else
            buf_char(out, s.p[i]);
    buf_char(out, '\'');
}

/* PowerShell takes five characters for a quote there; each is written twice. */
static void quote_powershell(struct buf *out, struct str s)
{
    buf_char(out, '\'');
    for (size_t pos = 0; pos < s.n;) {
        size_t start = pos;
        int32_t code = utf_decode(s, &pos);
        struct str bytes = str_slice(s, start, pos);
        buf_add(out, bytes);
        if (code == '\'' || (code >= 0x2018 && code <= 0x201B))
            buf_add(out, bytes);
    }
    buf_char(out, '\'');
}

/* Words of letters need no quotes, and the hook is found again by them. The rest is quoted: bare,
   PowerShell splits -a:b and -a.b, makes a list of a,b, and a variable of @a. */
static bool is_bare(struct str s)
{
    bool bare = s.n > 0 && !ascii_is_digit(s.p[0]) && !str_eq(s, STR("--"));
    for (size_t i = 0; i < s.n; i++)
        bare = bare && (ascii_is_alnum(s.p[i]) || s.p[i] == '-');
    return bare;
}

bool hook_powershell_word(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (ascii_is_in(s.p[i], "\"$\x7F") || (unsigned char)s.p[i] < 0x20)
            return false;
    bool ends = s.n && s.p[s.n - 1] == '\\' && str_has_char(s, ' ');
    if (s.n == 0 || ends)
        return false;
    if (is_bare(s))
        buf_add(out, s);
    else
        quote_powershell(out, s);
    return true;
}

static void quote(struct buf *out, enum guard_shell shell, struct str s)
{
    if (shell == GUARD_BASH)
        hook_quote_sh(out, s);
    else
        quote_powershell(out, s);
}

static void base64(struct buf *out, const unsigned char *p, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t bits = (uint32_t)p[i] << 16;
        bits |= i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0;
        bits |= i + 2 < n ? p[i + 2] : 0;
        buf_char(out, digits[bits >> 18]);
        buf_char(out, digits[bits >> 12 & 63]);
        buf_char(out, i + 1 < n ? digits[bits >> 6 & 63] : '=');
        buf_char(out, i + 2 < n ? digits[bits & 63] : '=');
    }
}

/* UTF-16, little endian, as -EncodedCommand wants it. */
static int add_encoded(struct buf *out, struct str command)
{
    size_t count;
    auto_arena struct arena arena = {0};
    int rc = utf_length16(command, &count);
    if (rc)
        return rc;
    uint16_t *units = ARENA_ARRAY(&arena, count + 1, uint16_t);
    unsigned char *bytes = ARENA_ARRAY(&arena, 2 * count + 1, unsigned char);
    if (!units || !bytes)
        return CORDON_E_NOMEM;
    rc = utf_to16(command, units, count, &count);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        bytes[2 * i] = (unsigned char)(units[i] & 0xFF);
        bytes[2 * i + 1] = (unsigned char)(units[i] >> 8);
    }
    if (rc == 0)
        base64(out, bytes, 2 * count);
    return rc;
}

/* Ids that could be read as anything else are left out. */
static bool is_plain_id(struct str id)
{
    for (size_t i = 0; i < id.n; i++)
        if (!ascii_is_alnum(id.p[i]) && id.p[i] != '-' && id.p[i] != '_')
            return false;
    return id.n > 0 && id.n <= 64;
}

int hook_wrap(const struct hook_options *o, enum guard_shell shell, struct str root,
              struct str session, struct str command, struct buf *out)
{
    auto_buf struct buf text = {0};
    bool has_temp = false;
    int rc = 0;
    if (shell != GUARD_BASH && shell != GUARD_POWERSHELL)
        return CORDON_E_VALUE;
    if (shell == GUARD_POWERSHELL)
        buf_add(&text, STR("& "));
    quote(&text, shell, o->program);
    buf_add(&text, STR(" run"));
    for (size_t i = 0; i < o->word_count; i++) {
        struct str word = str_of(o->words[i]);
        has_temp = has_temp || str_eq(word, STR("--temp")) || str_starts(word, STR("--temp="));
        buf_char(&text, ' ');
        quote(&text, shell, word);
    }
    if (root.n) {
        buf_add(&text, STR(" --root "));
        quote(&text, shell, root);
    }
    if (!has_temp && is_plain_id(session)) {
        /* Programs of Linux name /tmp literally. */
        buf_add(&text, o->windows ? STR(" '--temp=session=") : STR(" '--temp=own' '--session="));
        buf_add(&text, session);
        buf_char(&text, '\'');
    }
    if (shell == GUARD_BASH) {
        /* The shell that reads this. Codex takes the person's, which may be zsh; Gemini CLI takes
           bash and refuses "$(". Never bash from PATH: on Windows that may be another system's. */
        buf_add(&text, o->agent == HOOK_CODEX && !o->windows
                           ? STR(" -- \"${BASH:-$(readlink /proc/$$/exe)}\" -c ")
                           : STR(" -- \"$BASH\" -c "));
        hook_quote_sh(&text, command);
    } else {
        buf_add(&text, STR(" '--' (Get-Process -Id $PID).Path -NoProfile -NonInteractive "
                           "-OutputFormat Text -EncodedCommand "));
        rc = add_encoded(&text, command);
    }
    if (rc)
        return rc;
    if (text.failed)
        return CORDON_E_NOMEM;
    if (text.n > (o->windows ? HOOK_MAX_WRAPPED_WINDOWS : HOOK_MAX_WRAPPED))
        return CORDON_E_TOOBIG;
    buf_add(out, buf_str(&text));
    return out->failed ? CORDON_E_NOMEM : 0;
}
