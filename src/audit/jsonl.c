/* SPDX-License-Identifier: Apache-2.0 */
/* Spelling events as JSON lines. */
#include "audit/jsonl.h"

#include "base/json.h"

const char *audit_op_name(enum audit_op op)
{
    static const char *const names[AUDIT_OP_COUNT] = {"",
#define AUDIT_OP_NAME(name, text) text,
                                                      AUDIT_OPS(AUDIT_OP_NAME)
#undef AUDIT_OP_NAME
    };
    return op < AUDIT_OP_COUNT ? names[op] : "";
}

/* Days to a date by the civil calendar, eras of 400 years beginning in March. */
void audit_spell_time(struct buf *out, uint64_t ms)
{
    uint64_t days = ms / 86400000 + 719468;
    unsigned of_day = (unsigned)(ms % 86400000);
    uint64_t era = days / 146097;
    unsigned day = (unsigned)(days % 146097);
    unsigned year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    unsigned of_year = day - (365 * year + year / 4 - year / 100);
    unsigned march = (5 * of_year + 2) / 153;
    unsigned month = march < 10 ? march + 3 : march - 9;
    uint64_t full = era * 400 + year + (month <= 2);
    buf_fmt(out, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", (unsigned)full, month,
            of_year - (153 * march + 2) / 5 + 1, of_day / 3600000, of_day / 60000 % 60,
            of_day / 1000 % 60, of_day % 1000);
}

static void put_text(struct json_writer *w, struct str key, struct str value)
{
    if (value.n)
        json_put(w, key, value);
}

static void put_number(struct json_writer *w, struct str key, uint64_t value)
{
    json_put_number(w, key, (long long)value);
}

static void put_cmdline(struct json_writer *w, const struct audit_line *line)
{
    if (line->raw || line->event->cmdline.n == 0) {
        put_text(w, STR("cmdline"), line->event->cmdline);
        return;
    }
    auto_buf struct buf masked = {0};
    audit_mask(&masked, line->event->cmdline);
    put_text(w, STR("cmdline"), masked.failed ? STR("***") : buf_str(&masked));
}

static void put_start(struct json_writer *w, const struct audit_event *e)
{
    put_text(w, STR("version"), e->version);
    put_text(w, STR("mode"), e->mode);
    json_key(w, STR("roots"));
    json_open(w, '[');
    for (size_t i = 0; i < e->root_count; i++)
        json_string(w, e->roots[i]);
    json_close(w, ']');
    put_text(w, STR("net"), e->net);
    put_text(w, STR("git"), e->git);
    put_text(w, STR("boundary"), e->boundary);
    put_text(w, STR("boundary_detail"), e->boundary_detail);
}

static void put_undo(struct json_writer *w, const struct audit_event *e)
{
    if (!e->undo.n)
        return;
    put_text(w, STR("undo"), e->undo);
    put_number(w, STR("created"), e->created);
    put_number(w, STR("modified"), e->modified);
    put_number(w, STR("deleted"), e->deleted);
    put_number(w, STR("renamed"), e->renamed);
}

void audit_spell(struct buf *out, const struct audit_line *line)
{
    static const char *const types[AUDIT_TYPE_COUNT] = {"start", "deny", "allow",  "ask",   "spawn",
                                                        "exit",  "end",  "answer", "change"};
    static const char *const verdicts[] = {"deny", "ask", "allow"};
    const struct audit_event *e = line->event;
    struct json_writer w = {.out = out};
    auto_buf struct buf time = {0};
    audit_spell_time(&time, e->time);
    json_open(&w, '{');
    json_put_number(&w, STR("v"), 1);
    json_put(&w, STR("run"), line->run);
    json_put(&w, STR("type"), str_of(types[e->type]));
    json_put(&w, STR("time"), buf_str(&time));
    put_number(&w, STR("seq"), line->sequence);
    if (e->pid)
        put_number(&w, STR("pid"), e->pid);
    if (e->ppid)
        put_number(&w, STR("ppid"), e->ppid);
    put_text(&w, STR("image"), e->image);
    put_text(&w, STR("op"), str_of(audit_op_name(e->op)));
    put_text(&w, STR("target"), e->target);
    put_text(&w, STR("target2"), e->target2);
    put_cmdline(&w, line);
    if (e->type == AUDIT_DENY || e->type == AUDIT_ALLOW || e->type == AUDIT_ASK ||
        (e->type == AUDIT_ANSWER && !str_eq(e->choice, STR(AUDIT_FAILED))))
        json_put(&w, STR("verdict"), str_of(verdicts[e->verdict]));
    put_text(&w, STR("choice"), e->choice);
    put_text(&w, STR("scope"), e->scope);
    put_text(&w, STR("by"), e->by);
    put_text(&w, STR("rule"), e->rule);
    put_text(&w, STR("why"), e->why);
    put_text(&w, STR("fix"), e->fix);
    if (e->quiet)
        json_put_bool(&w, STR("quiet"), true);
    if (line->count) {
        put_number(&w, STR("count"), line->count);
        put_number(&w, STR("first"), line->first);
    }
    if (e->type == AUDIT_START)
        put_start(&w, e);
    if (e->type == AUDIT_EXIT)
        put_number(&w, STR("code"), e->code);
    if (e->type == AUDIT_END) {
        put_number(&w, STR("exit"), e->code);
        put_number(&w, STR("duration_ms"), e->duration_ms);
        put_number(&w, STR("denied"), line->totals.denied);
        put_number(&w, STR("asked"), line->totals.asked);
        put_number(&w, STR("allowed"), line->totals.allowed);
        put_undo(&w, e);
    }
    json_close(&w, '}');
    buf_char(out, '\n');
}
