/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions of a run while it runs: what can be asked, which answers are offered, and what was
 * allowed for the rest of the run. It decides and remembers; it knows no threads, descriptors or
 * terminals, and its clock is the caller's.
 */
#ifndef CORDON_ASK_ASK_H
#define CORDON_ASK_ASK_H

#include "audit/event.h"
#include "base/buf.h"
#include "policy/rules.h"

enum {
    ASK_MOST_WAITING = 1000, /* calls, over all questions */
    ASK_MOST_REMEMBERED = 4096,
    ASK_MOST_CHOICES = 6,
    ASK_DEFAULT_TIMEOUT_S = 60,
    ASK_LONGEST_TIMEOUT_S = 86400
};

/* Zero cannot be asked. */
enum ask_kind {
    ASK_NOTHING = 0,
    ASK_CHANGE,  /* a file or folder: write, create, delete, rename, attributes */
    ASK_READ,    /* a file that a deny-read rule names */
    ASK_CONNECT, /* a host and port */
    ASK_SOCKET,  /* a local socket of a server outside */
    ASK_TOOL,    /* a program that a tool rule refuses */
    ASK_COMMAND  /* a command about which the guard says "ask" */
};

/* Zero is the safe answer. */
enum ask_answer { ASK_NO = 0, ASK_NEVER, ASK_ONCE, ASK_RUN };

/* How far an answer reaches, narrowest first. */
enum ask_scope {
    ASK_CALL = 0, /* this call */
    ASK_PATH,     /* this path */
    ASK_FOLDER,   /* the folder that contains it, and everything below */
    ASK_ADDRESS,  /* this host and port */
    ASK_HOST,     /* this host, any port */
    ASK_PROGRAM,  /* this tool */
    ASK_WORDS     /* this command */
};

enum ask_by {
    ASK_BY_NOBODY = 0, /* time-out */
    ASK_BY_TERMINAL,
    ASK_BY_CALLBACK, /* of cordon_run() */
    ASK_BY_FD,       /* --ask-fd */
    ASK_BY_CLOSED,   /* whoever answers has gone */
    ASK_BY_PIPE      /* --ask-pipe */
};

/* "once", "folder", "terminal" and so on. */
const char *ask_answer_name(enum ask_answer answer);
const char *ask_scope_name(enum ask_scope scope);
const char *ask_by_name(enum ask_by by);

/* What a call does beside what its name says. At most one of these holds for a call. */
struct ask_detail {
    const char *key;    /* of the JSON, a constant; NULL: nothing */
    struct str text;    /* of "size" and "replaces" a decimal number */
    struct str value;   /* of "attribute": its beginning */
    size_t value_bytes; /* of all of it */
};

/* As many bytes of a value are shown. */
enum { ASK_MOST_VALUE = 1024 };

/* A question. Strings are borrowed for the call. */
struct ask_subject {
    enum ask_kind kind;
    enum audit_op op;
    struct str target; /* a final path, HOST:PORT, the tool's path, or the command */
    struct str other;  /* of a rename or link: its other end */
    bool arrives;      /* the target is where it goes, other where it comes from */
    struct str link;   /* the text of a symbolic link that would be made or moved */
    struct ask_detail detail;
    struct str exact; /* what tells it from others of the same names: the objects, all the words */
    struct str command; /* of ASK_TOOL and ASK_COMMAND: the words that would be started */
    struct str folder;  /* of ASK_CHANGE: can be allowed as a whole; empty: cannot */
    struct str host;    /* of ASK_CONNECT */
    struct str name;    /* of ASK_TOOL: its rule; of ASK_COMMAND: what tells it from every other */
    struct str rule, why, fix, image, cmdline;
    uint32_t pid;
};

/* What separates the names in a full path. */
char ask_separator(struct str path);

/* True if an option could allow what this rule denies: other denials are never asked about. */
bool ask_can_lift(enum ask_kind kind, enum policy_rule rule);

/*
 * True if a change that the rules deny for its place alone could be asked about: with every folder a
 * root nothing else denies it. wide is such a policy (ask_wide_policy). Protected names, .git, hard
 * links and Cordon's own files stay closed.
 */
bool ask_can_change(const struct policy *wide, enum policy_rule denied,
                    const struct policy_request *request);

/* True for a folder that is a root or holds one: rules go by names, so it keeps its own. */
bool ask_holds_root(const struct policy *policy, struct str path);

/* The policy with the whole file system as its root and all other rules as they are. The caller
   frees it with policy_free(). */
int ask_wide_policy(const struct policy *policy, struct policy **out);

/* The folder of a path if it could be a root; empty otherwise. */
struct str ask_folder_of(const struct policy *policy, struct str path);

struct ask_choice {
    enum ask_answer answer;
    enum ask_scope scope;
};

/* The answers that are offered, narrowest first and refusals last; returns how many. */
size_t ask_choices(const struct ask_subject *subject, struct ask_choice out[ASK_MOST_CHOICES]);

/* ---- the questions of one run ---- */

struct ask_decision {
    enum ask_answer answer;
    enum ask_scope scope;
    enum ask_by by;
    bool allowed;
    bool again; /* it was for one call, and another one took it: ask again */
};

struct ask_question {
    uint64_t id; /* from 1 */
    struct ask_subject subject;
    struct ask_choice choices[ASK_MOST_CHOICES];
    size_t choice_count;
    bool shown, decided, taken;
    uint64_t deadline; /* if shown */
    struct ask_decision decision;
    size_t waiting; /* calls */
    struct arena arena;
    uint64_t hash;
    struct ask_question *next;
};

struct ask;

/* serial: one question is shown at a time; if nobody answers it, those waiting after it are denied
   too. NULL if memory runs out. */
struct ask *ask_new(bool serial, uint64_t timeout_ms);
void ask_free(struct ask *a);

/* The earlier answers of this run: ASK_RUN, ASK_NEVER, or ASK_NO if they say nothing. */
enum ask_answer ask_remembered(const struct ask *a, const struct ask_subject *subject);

/* True for a folder that an answer allows, and for every folder around one or around a path that one
   allows: answers go by names, so these keep theirs. */
bool ask_holds_allowed(const struct ask *a, struct str path);

/* One more call waits for this question; an equal one that is open is joined. CORDON_E_TOOBIG if too
   many wait, CORDON_E_REFUSED after ask_close(), CORDON_E_NOMEM. */
int ask_join(struct ask *a, const struct ask_subject *subject, uint64_t *id);

bool ask_is_decided(const struct ask *a, uint64_t id);

/* The question if it is decided, NULL otherwise. Nothing changes it then, and it lives until the last
   call has left it. *first: nobody has taken the decision before. */
const struct ask_question *ask_take(struct ask *a, uint64_t id, bool *first);

/* A call no longer waits: it took the decision, or its caller is gone. The last one takes the
   question with it. */
void ask_leave(struct ask *a, uint64_t id);

/* The next question to show, which then counts as shown; NULL if there is none. It lives until the
   last call has left it. */
const struct ask_question *ask_next(struct ask *a, uint64_t now);

/* A question that is shown and open; NULL: there is none of that number. */
const struct ask_question *ask_shown(const struct ask *a, uint64_t id);

/* A shown question that was closed without an answer of its own since the last call; false: none. */
struct ask_closed {
    uint64_t id;
    bool timed_out; /* false: its caller is gone */
};
bool ask_next_closed(struct ask *a, struct ask_closed *out);

/* 0; CORDON_E_UNKNOWN for a question that is not open, CORDON_E_VALUE for an answer that is not
   offered. */
int ask_answer(struct ask *a, uint64_t id, enum ask_answer answer, enum ask_scope scope,
               enum ask_by by);

/* The first deadline; UINT64_MAX: none. */
uint64_t ask_deadline(const struct ask *a);

/* Whoever answers was not there for so long: the shown questions stay open longer. */
void ask_delay(struct ask *a, uint64_t ms);

/* Decides with no whatever nobody answered in time. */
void ask_expire(struct ask *a, uint64_t now);

/* Nobody answers any more: no to every question, open or to come. */
void ask_close(struct ask *a);

/* Calls this for each question that is decided, from within the function that decides it. */
void ask_on_decision(struct ask *a, void (*told)(void *context, const struct ask_question *q),
                     void *context);

/* ---- as JSON, one object a line ---- */

void ask_spell(const struct ask_question *q, struct buf *out);
void ask_spell_closed(const struct ask_closed *closed, struct buf *out);
void ask_spell_error(uint64_t id, const char *why, struct buf *out); /* id 0: unknown */

/* Reads an answer's words; scope may be empty: the narrowest that is offered with the answer.
   CORDON_E_VALUE for words that there are not. */
int ask_read_words(const struct ask_question *q, struct str answer, struct str scope,
                   enum ask_answer *out, enum ask_scope *reach);

/* The answer in a line, applied. 0, or a code, and then *id (0: unknown) and *why say what is wrong;
   the question stays open. */
int ask_take_line(struct ask *a, struct str line, enum ask_by by, uint64_t *id, const char **why);

#endif
