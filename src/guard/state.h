/* SPDX-License-Identifier: Apache-2.0 */
/* The guard's own state, for guard.c and the judges; readers use effects.h only. */
#ifndef CORDON_GUARD_STATE_H
#define CORDON_GUARD_STATE_H

#include "guard/files.h"

/* The first characters of the words that judges look for in code; see embedded.c. */
enum { CODE_INDEX_BITS = 1 << 16 };
struct code_index {
    bool filled;
    uint64_t starts[CODE_INDEX_BITS / 64];
};

/* The kind of value in an environment variable, by its name; see judges/variable.c. */
enum variable_kind {
    VARIABLE_OTHER = 0,
    VARIABLE_COMMAND,
    VARIABLE_MAYBE_COMMAND, /* of some programs; a script's own variable may have such a name */
    VARIABLE_OPTIONS,
    VARIABLE_PROMPT,
    VARIABLE_BASH_FILE,
    VARIABLE_PYTHON_FILE,
    VARIABLE_FUNCTION
};
enum { KNOWN_VARIABLES = 32, KNOWN_VARIABLE_LENGTH = 21 };
struct known_variable {
    char name[KNOWN_VARIABLE_LENGTH];
    uint8_t length; /* 0: the place is free */
    uint8_t kind;   /* enum variable_kind */
    bool loads;     /* the value names code that another program loads */
    bool agents;    /* agents take it for a part of their settings */
};

/* A program's name and its rows in the tables; scripts call the same few programs all the time. */
enum { KNOWN_NAMES = 64, KNOWN_LENGTH = 15 };
struct known_name {
    char name[KNOWN_LENGTH];
    uint8_t length; /* 0: the place is free */
    uint16_t program, handler, lolbas, changer;
    bool wraps, browser, texts;
};

/* The names that launchers may have, by a hash of their ends; see judges/program.c. */
enum { LAUNCHER_BITS = 1 << 12 };
struct launcher_filter {
    bool filled;
    uint64_t bits[LAUNCHER_BITS / 64];
};

struct guard {
    struct arena arena;
    struct guard_question question;
    struct guard_finding findings[GUARD_MAX_FINDINGS];
    size_t finding_count;
    enum cordon_verdict verdict;
    struct guard_read *reads;
    size_t read_count, read_capacity;
    size_t command_count;
    size_t spent; /* of GUARD_MAX_EXPANSION */
    size_t text_length;
    unsigned depth;         /* 0: the outermost text */
    unsigned program_depth; /* programs that start programs: env nohup timeout … */
    size_t frame_start,
        frame_end;          /* below depth 0: the span of the carrier in the outermost text */
    enum guard_shell shell; /* of the text that is being read */
    struct str text;        /* that is being read; words point into it; may be empty */
    struct str folder;      /* see guard_folder */
    struct guard_files files;
    unsigned temporaries; /* names that guard_temporary gave */
    struct str unread[GUARD_MAX_UNREAD];
    size_t unread_count;
    struct buf scratch; /* one sentence at a time */
    struct code_index code_index;
    struct known_name names[KNOWN_NAMES];
    struct known_variable variables[KNOWN_VARIABLES];
    struct launcher_filter launchers;
    const char *spelled_in; /* the text in which a protected name was looked for */
    struct str spelled;     /* and the one that was found; "": none */
    bool stopped;
    bool path_changed;  /* see guard_path_changed */
    bool skips_unknown; /* see guard_skip_unknown */
    unsigned skipped;
    bool dot_glob;       /* see guard_find_dots */
    bool cd_path;        /* cd looks for folders elsewhere, too (CDPATH) */
    bool settings_moved; /* the text sets a variable that agents obey, or hides all of them */
};

/* The place of a path, for deletions and script files. */
enum guard_place {
    GUARD_PLACE_UNKNOWN = 0, /* not constant, not a file path, or no roots are known */
    GUARD_PLACE_OUTSIDE,
    GUARD_PLACE_ROOT, /* a root itself, or a folder that holds one */
    GUARD_PLACE_GIT,
    GUARD_PLACE_PROTECTED, /* inside a root, but a protected name */
    GUARD_PLACE_INSIDE
};
enum guard_place guard_place_of(struct guard *g, struct str path);
/* The same by a policy; NULL: no roots are known. */
enum guard_place guard_place_in(struct guard *g, const struct policy *policy, struct str path);

/* The path as a policy spells it; empty if it cannot be. */
struct path guard_normal_path(struct guard *g, const struct policy *policy, struct str path);

/* Agents, editors or Cordon obey the file; nothing is reported. */
bool guard_obeyed(struct guard *g, struct word target);
/* What an agent keeps for its own work below a protected name. */
bool guard_own_work(struct guard *g, struct word target);

/* The word's span in the outermost text. */
void guard_outer_span(const struct guard *g, struct word at, size_t *start, size_t *end);

/* Keeps a finding that is complete but for its sentences, and returns it; NULL if it is known, or
   if there is no room. The verdict counts in any case. */
struct guard_finding *guard_keep(struct guard *g, const struct guard_finding *f);

/* Unknown stretches become an ellipsis, so that the result is text for people. */
struct str guard_without_holes(struct guard *g, struct str text);

/* Reads text one level deeper, with READ_ flags; findings inside point at the carrier's span. */
void guard_read_deeper(struct guard *g, enum guard_shell shell, struct word carrier,
                       struct str text, unsigned flags);

/* A program that the default policy refuses by its name. */
void guard_tool(struct guard *g, struct word program);

/* The path as seen from where the command was started. */
struct str guard_from_start(struct guard *g, struct str path);

/* Inside a folder that guard_temporary named. */
bool guard_is_temporary(struct str path);

/* A path on another machine: \\server\share. */
bool guard_is_share(struct str path);

/* A browser by its program's name. */
bool guard_is_browser(struct str name);
/* The rows of that table. */
size_t guard_browser_count(void);
struct str guard_browser_at(size_t row);

/* The name of a program that opens things or runs others, where such a name begins a command. */
bool guard_is_opener(struct str word);

/* The same for a name that is no everyday word, wherever it stands; also as the name of a desktop
   file (firefox.desktop, org.mozilla.firefox). */
bool guard_is_launcher(struct guard *g, struct str word);

/* The first word of a text is such a name. */
bool guard_starts_launcher(struct guard *g, struct str text);

/* An interpreter's one-line program (node -e, python -c): judged by what its strings say. */
void guard_code(struct guard *g, struct str who, struct word code);

/* Code that is built or loaded later holds such a thing. */
bool guard_source_opens(struct guard *g, struct word code);

/* The same for an argument of a program that can run commands (vim -c, tar --to-command): where the
   name of a program that opens things stands in it, the text from there on is a command. */
void guard_embedded(struct guard *g, struct str who, struct word text);
/* The same for a text that hardly ever holds commands: only an opener with its address counts. */
void guard_carried(struct guard *g, struct word text);
/* The same where any word of the text that is such a name is started, with arguments or without. */
void guard_commands(struct guard *g, struct word text);
/* Two words of a command that are an opener and its address. */
bool guard_is_opening(struct guard *g, struct str word, struct str next);

#endif
