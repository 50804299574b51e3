/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of coding agents: one event before a tool runs in, one answer out. Whatever goes wrong is
 * a refusal, because agents run the tool when a hook fails in any other way.
 */
#ifndef CORDON_HOOK_HOOK_H
#define CORDON_HOOK_HOOK_H

#include "lib/api.h"

enum hook_agent {
#define AGENT(id, name, event, folder, file, variable, tools) HOOK_##id,
#include "hook/agents.def"
#undef AGENT
    HOOK_AGENT_COUNT
};

/* The differences between agents (agents.def). */
struct hook_agent_info {
    const char *name;
    struct str event;          /* before a tool runs */
    const char *folder, *file; /* of its settings, in the home folder and in a project */
    struct str variable;       /* names that folder in another place; empty: none does */
    struct str tools;          /* those that are judged, as a pattern */
};
extern const struct hook_agent_info hook_agents[HOOK_AGENT_COUNT];

enum {
    HOOK_MAX_EVENT = 4 * 1024 * 1024,
    HOOK_MAX_WRAPPED = 120 * 1000,       /* bytes of a rewritten command: one argument on Linux */
    HOOK_MAX_WRAPPED_WINDOWS = 30 * 1000 /* a whole command line there is 32,767 units */
};

bool hook_find_agent(struct str name, enum hook_agent *out);

struct hook_options {
    enum hook_agent agent;
    enum guard_shell shell;   /* of a tool that does not tell; GUARD_NO_SHELL: as the agent does */
    bool windows;             /* the agent runs on Windows */
    bool strict;              /* ask is a refusal */
    bool wrap, approve;       /* rewrite the command into a run; let it through without a prompt */
    bool inside;              /* this is a sandbox of Cordon already: nothing is rewritten */
    bool confined_shell;      /* the agent starts its shell by the file that --install wrote */
    struct str program;       /* the path of cordon, for wrap */
    const char *const *words; /* options that a rewritten command repeats */
    size_t word_count;
    struct str project; /* the agent's project folder, if it names one by environment */
    struct str state;   /* the folder of the agent's own settings and state; empty: unknown */
};

/* Judges the event; the policy has the options of the command line and was not used yet. out gets
   the answer: nothing, or one line of JSON. CORDON_E_NOMEM: there is no answer, exit with 2. */
int hook_answer(struct cordon_policy *p, const struct hook_options *o, struct str event,
                struct buf *out);

/* The answer that refuses, for what goes wrong before an event is there. */
int hook_refuse(enum hook_agent agent, struct str reason, struct buf *out);

/* ---- paths.c ---- */

struct hook_path {
    struct str text;
    const char *action; /* of cordon_why() */
};

/* All files that a patch of apply_patch names, each spelling that a tool may take for it.
   CORDON_E_SYNTAX if there is none, CORDON_E_NOMEM. */
int hook_patch_paths(struct arena *arena, struct str patch, struct hook_path **out, size_t *count);

/* ---- wrap.c ---- */

/* Appends s as one word for sh and bash, in single quotes. */
void hook_quote_sh(struct buf *out, struct str s);

/* Appends a word of a line that PowerShell reads in an agent's settings. False for one that would not
   reach the program as it is: Windows PowerShell drops empty words, a quotation mark and the
   backslash behind a blank, and Gemini CLI puts variables in the place of $name. */
bool hook_powershell_word(struct buf *out, struct str s);

/* The command as one that runs it confined, for the shell that the tool uses (bash or PowerShell).
   session may be empty. CORDON_E_TOOBIG, CORDON_E_VALUE if the shell cannot be told so,
   CORDON_E_NOMEM. */
int hook_wrap(const struct hook_options *o, enum guard_shell shell, struct str root,
              struct str session, struct str command, struct buf *out);

/* ---- settings.c ---- */

/* The folder of the agent's settings for all projects; false if the home folder is unknown. */
bool hook_folder(enum hook_agent agent, struct buf *out);

/* An entry in an agent's settings. */
struct hook_entry {
    struct str command; /* a line for the agent's shell; the program alone if there are words */
    const struct str *words; /* arguments of a program that is started without a shell */
    size_t word_count;
    bool powershell;  /* the agent has to be told that PowerShell reads the line */
    struct str shell; /* the file by which the agent is to start its shell; empty: as before */
};

/* The settings text with the hook in it, everything else byte for byte. An entry of Cordon's that
   is there already is replaced. CORDON_E_SYNTAX with a sentence if the text is not what the agent
   would read; *changed is false if there is nothing to do. */
int hook_install(enum hook_agent agent, struct str text, const struct hook_entry *entry,
                 struct buf *out, bool *changed, struct buf *error);

/* The same without any entry of Cordon's. */
int hook_remove(enum hook_agent agent, struct str text, struct buf *out, bool *changed,
                struct buf *error);

/* Cordon's first entry in a settings text: its place, the handler and the pattern of its group,
   which may be NULL. */
bool hook_find(struct arena *arena, enum hook_agent agent, struct str text, size_t *group,
               size_t *handler, const struct json_value **entry, const struct json_value **matcher);

/* True if the file is one that --install writes for the agent's shell. */
bool hook_is_shell(struct str path);

/* ---- trust.c ---- */

enum hook_trust { HOOK_NOT_THERE = 0, HOOK_UNTRUSTED, HOOK_CHANGED, HOOK_OFF, HOOK_TRUSTED };

/* Whether Codex runs Cordon's hook: file is the absolute path of hooks.json, as Codex spells it,
   hooks its text, config the text of config.toml. Codex skips what a person has not trusted. */
enum hook_trust hook_codex_trust(struct str file, struct str hooks, struct str config);

#endif
