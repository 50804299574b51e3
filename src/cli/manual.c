/* SPDX-License-Identifier: Apache-2.0 */
/* The page cordon.1, in the macros of man(7), from the tables. */
#include "cli/commands.h"
#include "launch/settings.h"

/* A backslash, and a dot or quote at the start of a line, are special to roff, where a plain - is a
   hyphen. */
static void put(struct buf *out, const char *text)
{
    bool begin = true;
    for (const char *p = text; *p; p++) {
        if (begin && (*p == '.' || *p == '\''))
            buf_add(out, STR("\\&"));
        begin = *p == '\n';
        if (*p == '\\')
            buf_add(out, STR("\\e"));
        else if (*p == '-')
            buf_add(out, STR("\\-"));
        else
            buf_char(out, *p);
    }
}

static void line(struct buf *out, const char *macro, const char *text)
{
    buf_add(out, str_of(macro));
    put(out, text);
    buf_char(out, '\n');
}

static void option(struct buf *out, const char *name, char letter, const char *value,
                   const char *help)
{
    buf_add(out, STR(".TP\n\\fB"));
    if (letter)
        buf_fmt(out, "\\-%c\\fR, \\fB", letter);
    buf_add(out, STR("\\-\\-"));
    put(out, name);
    buf_add(out, STR("\\fR"));
    if (*value) {
        buf_add(out, STR(" \\fI"));
        put(out, value);
        buf_add(out, STR("\\fR"));
    }
    buf_char(out, '\n');
    line(out, "", help);
}

static void command(struct buf *out, const struct cli_command *c)
{
    line(out, ".SS cordon ", c->name);
    buf_add(out, STR(".nf\n"));
    line(out, "", c->usage);
    buf_add(out, STR(".fi\n.PP\n"));
    buf_fmt(out, "%s: ", c->name);
    put(out, c->summary);
    buf_add(out, STR(".\n"));
    line(out, "", c->about);
    buf_add(out, STR(".PP\nExit codes: "));
    put(out, c->codes);
    buf_add(out, STR(".\n"));
    for (size_t i = 0; i < cli_option_count; i++)
        if (strcmp(cli_options[i].command, c->name) == 0)
            option(out, cli_options[i].name, cli_options[i].letter, cli_options[i].value,
                   cli_options[i].help);
    buf_add(out, STR(".PP\nExample:\n.RS\n.nf\n"));
    line(out, "", c->example);
    buf_add(out, STR(".fi\n.RE\n"));
}

void manual_write(struct buf *out)
{
    buf_fmt(out, ".TH CORDON 1 \"\" \"cordon %s\" \"User Commands\"\n", cordon_version());
    buf_add(out, STR(".SH NAME\ncordon \\- run commands that an AI agent wrote so that they cannot "
                     "leave their folders\n.SH SYNOPSIS\n"));
    for (size_t i = 0; i < cli_command_count; i++) {
        const char *usage = cli_commands[i].usage;
        char first[256];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(usage, "\n"), usage);
        line(out, i ? ".br\n" : "", first);
    }
    buf_add(out, STR(".SH COMMANDS\n"));
    for (size_t i = 0; i < cli_command_count; i++)
        command(out, &cli_commands[i]);
    buf_add(out, STR(".SH POLICY OPTIONS\nTaken by run, why, sandbox and hook.\n"));
    for (size_t i = 0; i < settings_info_count; i++)
        option(out, settings_infos[i].name.p, 0, settings_infos[i].value.p,
               settings_infos[i].help.p);
    buf_add(out, STR(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nNo colours.\n.TP\n.B CORDON\nSet to 1 "
                     "inside a run.\n"));
}
