/* SPDX-License-Identifier: Apache-2.0 */
/* The policy: plain settings are compiled once into an immutable policy, which then answers
   questions. Nothing here touches the disk: callers supply the facts. */
#ifndef CORDON_POLICY_RULES_H
#define CORDON_POLICY_RULES_H

#include "base/arena.h"
#include "base/buf.h"
#include "cordon.h"
#include "policy/path.h"

enum policy_mode { POLICY_READ_ONLY = 0, POLICY_WORKSPACE_WRITE, POLICY_FULL_ACCESS };
enum policy_git {
    POLICY_GIT_PROTECT = 0,
    POLICY_GIT_COMMIT, /* what a commit writes */
    POLICY_GIT_FULL    /* all but what could be planted: hooks, configuration, attributes */
};
enum policy_net {
    POLICY_NET_OFF = 0,
    POLICY_NET_LOOPBACK,
    POLICY_NET_PROXY,
    POLICY_NET_ALLOW,
    POLICY_NET_ON
};
enum policy_temp {
    POLICY_TEMP_PRIVATE = 0,
    POLICY_TEMP_SHARED,  /* all of the caller's */
    POLICY_TEMP_SESSION, /* a folder for all runs of a session */
    POLICY_TEMP_OWN      /* the caller's, but only what this run or its session created there */
};

/* Settings: zero is a valid, tight policy (read-only, no network). Strings are borrowed until
   policy_compile() returns. */

struct policy_entry {
    struct str given; /* as the person wrote it, for remedies: "." */
    struct str path;  /* lists of paths: the final path, or empty to normalise given */
    struct str from;  /* where it was written, for `why --list`: "--root", "p.json:3:5" */
    bool link;        /* roots: the folder named is itself a link */
    bool create;      /* roots: a run creates the folder if it does not exist */
    bool made;        /* roots: it was created for this run */
};

struct policy_list {
    struct policy_entry *items;
    size_t count, capacity;
};

/* A copy of the entry's strings goes into the arena; CORDON_E_NOMEM. */
int policy_list_add(struct arena *arena, struct policy_list *list, struct policy_entry entry);

/* Folders too broad for a root, all normalized, all optional. The parents of home (C:\Users), drive
   roots and everything that contains one of these are too broad as well. */
struct policy_machine {
    struct str home, windows, program_files, program_files_x86, program_data;
    uint32_t user; /* Linux: the caller's number, for names in temp that end in one */
};

struct policy_limits {
    uint64_t timeout_ms, processes, memory; /* 0: none */
};

struct policy_settings {
    struct path_context paths; /* dialect, cwd and volume names, for entries without a final path */
    struct policy_machine machine;

    enum policy_mode mode;
    enum policy_git git;
    enum policy_temp temp;
    enum policy_net net;
    struct str temp_path; /* the run's temp folder, normal; empty: none */
    struct str temp_own; /* with POLICY_TEMP_OWN: the folder in it that TMPDIR names; empty: none */
    struct str session;  /* names the runs that share what they create in temp; may be empty */
    struct str proxy;    /* of POLICY_NET_PROXY: host:port */
    bool strict, allow_broad_root;
    bool no_temp; /* temp_path is not writable, as in read-only mode */
    struct policy_limits limits;

    struct policy_list roots, deny_write;
    struct policy_list deny_read, allow_read; /* deny_read: "@credentials" too */
    struct policy_list unprotect;             /* names, for example .vscode */
    struct policy_list net_allow;             /* example.com, *.example.com */
    struct policy_list allow_tools, deny_tools;
    struct policy_list sockets; /* Linux: local sockets of servers outside that can be reached */
    struct policy_list self;    /* Cordon's own binary, audit file, policy file, stub folder */
    /* The real git folders of roots that are worktrees: of each the shared one, and in its folder
       worktrees the root's own. And git folders in roots that are not called .git. */
    struct policy_list git_dirs;
    struct policy_list git_obeys; /* what git obeys in a root, outside its folder */
    bool git_later;        /* both are found when a change is judged first: policy_find_later() */
    struct str large_root; /* a root with more folders than are looked at for git; or empty */

    /* Where the single values come from; empty: default. */
    struct str mode_from, git_from, temp_from, net_from, strict_from;
};

/* Rule ids: RULE_NONE is no rule. */
enum policy_rule {
    RULE_NONE = 0,
#define POLICY_RULE(name, id, effect, text, fix, denied, allowed) RULE_##name,
#include "policy/rules.def"
    POLICY_RULE_COUNT
};

/* A line of rules.def. */
struct policy_rule_info {
    const char *id; /* "roots.outside" */
    bool denies;
    const char *text;             /* one line: what it is for */
    const char *fix;              /* how to allow it; "" if it only allows */
    const char *denied, *allowed; /* an example each; denied is "" if it only allows */
};

/* All empty for RULE_NONE and numbers that are no rule. */
struct policy_rule_info policy_rule_info(enum policy_rule rule);
const char *policy_rule_id(enum policy_rule rule);
const char *policy_rule_text(enum policy_rule rule);

/* A word of a remedy, quoted so that the system's shells take it as it is. */
void policy_add_word(struct buf *out, enum path_dialect dialect, struct str word);

/* The remedy of a denial that no option lifts. */
#define POLICY_NO_REMEDY "this cannot be overridden"

/* Compiling. The policy owns copies of everything and is freed with policy_free(). Fails with
   CORDON_E_VALUE, CORDON_E_REFUSED (a root that is too broad or a link), CORDON_E_CONFLICT,
   CORDON_E_UNKNOWN, CORDON_E_TOOBIG or CORDON_E_NOMEM and one
   sentence in *error. */
struct policy;
int policy_compile(const struct policy_settings *settings, struct policy **out, struct buf *error);
void policy_free(struct policy *policy);

/* With git_later: whole gives the policy that has the git folders too. It is called for every question about
   a change to a file, from any thread; NULL refuses the change, as does a policy without this call. */
typedef const struct policy *policy_whole(void *context);
void policy_find_later(struct policy *policy, policy_whole *whole, void *context);

/* "protect", "commit", "full". */
const char *policy_git_word(enum policy_git git);

/* True if path is folder or lies below it in the eyes of the file system; both normal. */
bool policy_is_below(enum path_dialect dialect, struct str folder, struct str path);

/* Why this folder cannot be a root: NULL if it can. */
const char *policy_broad_root(enum path_dialect dialect, const struct policy_machine *machine,
                              struct str normal);

/* True for the file of a semaphore with a name, on Linux. */
bool policy_is_semaphore(struct str path);

/* True for what lies below /proc, /sys and /dev, but for /dev/shm. */
bool policy_is_kernels(enum path_dialect dialect, struct str folder);

/* The settings as compiled: normal paths, the policy's own strings. */
const struct policy_settings *policy_settings_of(const struct policy *policy);

/* The path rules as one flat block for the agent (image.h); lives as long as the policy. */
struct str policy_image(const struct policy *policy);

/* Questions about files. */

enum policy_access {
    POLICY_NO_ACCESS = 0, /* refused: a request that was not filled in */
    POLICY_READ,
    POLICY_WRITE,       /* an existing file's content */
    POLICY_CREATE,      /* a new file or folder; of an existing file: overwrite */
    POLICY_DELETE,      /* one name */
    POLICY_RENAME_FROM, /* this name disappears */
    POLICY_RENAME_TO,   /* this name appears, or is replaced */
    POLICY_LINK_FROM,   /* the file gets another name */
    POLICY_LINK_TO,     /* this name appears */
    POLICY_ATTRIBUTES,  /* attributes, times, per-folder case sensitivity */
    POLICY_SECURITY,    /* owner and access list */
    POLICY_REPARSE      /* becomes a junction, symlink or other reparse point */
};

enum policy_reparse {
    POLICY_NOT_REPARSE = 0, /* also placeholders of OneDrive, WOF, ProjFS, dedup: ordinary files */
    POLICY_LINK,            /* a name surrogate: junction, symlink */
    POLICY_STRANGE          /* app-execution link or an unknown tag */
};

/* For a path in the temp folder of POLICY_TEMP_OWN: who owns the entry that contains it. */
enum policy_temp_entry { POLICY_ENTRY_FOREIGN = 0, POLICY_ENTRY_NEW, POLICY_ENTRY_OWN };

struct policy_facts {
    bool seen; /* the file system was asked; false: assumed, and case is ignored */
    bool exists;
    bool directory;
    bool created_by_run; /* the object; of a path in a nested .git: that .git; of a pipe: its server
                            is in the tree */
    enum policy_reparse reparse;
    struct path target; /* POLICY_REPARSE, or write through POLICY_LINK: where it ends */
    uint32_t links;     /* 0: unknown, taken as 1 */
    bool links_inside;  /* the rules allow writing every name of the file */
    enum policy_temp_entry entry;
    bool symlink;       /* it is a symbolic link, or becomes one */
    bool takes_head;    /* removing a part of a nested .git removes HEAD first, which disables it */
    size_t git_end;     /* the end of a folder on the way that git takes for a repository by its
                           form, if the rest of the path is about what git obeys in it; 0: none */
    bool revives_git;   /* this HEAD would enable such a folder again, which the run had disabled */
    bool guards_new;    /* in a root, a .git that the run makes is to hold no commands */
    bool config_judged; /* POLICY_RENAME_TO of its config: this one holds none, or no new ones;
                           POLICY_CREATE: it is made empty, and stays so */
    bool index_judged;  /* POLICY_RENAME_TO of an index: its names stay in the working tree */
    struct str existing; /* its deepest existing parent folder, for the remedy; may be empty */
    struct str bare;     /* the repository without a working tree around it, likewise */
};

struct policy_request {
    struct path path; /* from path_normalize; with seen facts the final path */
    enum policy_access access;
    struct policy_facts facts;
};

struct policy_answer {
    enum cordon_verdict verdict;
    enum policy_rule rule;
    bool other_device;  /* a move that must be answered with NOT_SAME_DEVICE / EXDEV */
    bool target;        /* of two paths, the second one decided */
    uint32_t entry;     /* which entry of the rule's list, from 1; 0: none */
    const char *name;   /* the protected name, tool or thing that decided; may be NULL */
    const char *brings; /* the file with that name that an index would bring; NULL: not about one */
    const char
        *config; /* why this config of a repository is refused even with --git=full; empty: it
                           is not; NULL: not known */
};

/* The protected name in the name of a file below a working tree, with slashes; NULL if it has none
   that is closed there. */
const char *policy_protects(const struct policy *policy, struct str name);

/* Under a microsecond, no allocation, any thread. */
void policy_decide(const struct policy *policy, const struct policy_request *request,
                   struct policy_answer *answer);

/* Rename (RENAME_FROM, RENAME_TO) and link (LINK_FROM, LINK_TO): both ends must pass, and a
   folder's rules must not change on the way. */
void policy_decide_pair(const struct policy *policy, const struct policy_request *from,
                        const struct policy_request *to, struct policy_answer *answer);

/* Appends one sentence for people and the remedy: the options to type, or that there is none. fix
   stays empty for what is allowed. For a pair pass the request that decided (answer.target). */
void policy_explain(const struct policy *policy, const struct policy_request *request,
                    const struct policy_answer *answer, struct buf *why, struct buf *fix);

/* Questions about the network. */

struct policy_peer {
    struct str host; /* a name, or an IPv4 or IPv6 literal without brackets */
    uint16_t port;
    bool in_run;      /* a listener of this run's own tree */
    bool answered;    /* whoever was asked allowed this very host */
    struct str found; /* an address that the name leads to, for the remedy; may be empty */
    bool granted;     /* whoever was asked allowed the name to lead to that very address */
};

/* True if "localhost", or "localhost" with this port, is one of the allowed names: this machine by any
   of its addresses, directly or through the proxy. */
bool policy_net_local(const struct policy *policy, uint16_t port);

/* Splits HOST:PORT and [v6]:PORT; CORDON_E_SYNTAX. */
int policy_parse_peer(struct str text, struct policy_peer *out);
void policy_net_decide(const struct policy *policy, const struct policy_peer *peer,
                       struct policy_answer *answer);
/* Whether the filtering proxy may dial an address of a peer that is allowed (net_may_dial). */
struct net_host;
bool policy_net_may_dial(const struct policy *policy, const struct policy_peer *peer,
                         const struct net_host *address);
void policy_net_explain(const struct policy *policy, const struct policy_peer *peer,
                        const struct policy_answer *answer, struct buf *why, struct buf *fix);

/* Questions about services outside the run that are called by RPC (interfaces.def). */

struct policy_service {
    unsigned char id[16]; /* of the interface, a GUID in memory */
    uint32_t procedure;   /* where single procedures may be called */
};

void policy_service_decide(const struct policy *policy, const struct policy_service *service,
                           struct policy_answer *answer);
void policy_service_explain(const struct policy_service *service,
                            const struct policy_answer *answer, struct buf *why, struct buf *fix);

/* Questions about programs (`why run`, and the broker for every child). */

struct policy_program {
    struct str name;     /* as called: ssh, ssh.exe, C:\x\ssh.exe */
    struct path path;    /* where it was found, if known (class PATH_MALFORMED: not known) */
    struct str original; /* the original file name in its version resource, if known */
    bool seen;           /* path is a final path */
};

void policy_tool_decide(const struct policy *policy, const struct policy_program *program,
                        struct policy_answer *answer);
/* True if a stub may answer in place of the tool: it was called by its own name, by a caller that
   reads the output. */
bool policy_tool_speaks(enum path_dialect dialect, struct str called, enum policy_rule rule);
/* True for a tool that is of no use without the network, and does not ask a proxy for it. */
bool policy_tool_logs_in(struct str name);

void policy_tool_explain(const struct policy *policy, const struct policy_program *program,
                         const struct policy_answer *answer, struct buf *why, struct buf *fix);

/* Every program name for which a stub is placed on PATH, without an extension: "ssh". On Windows
   only the remote login tools: files named after Windows' own programs look like an attack. */
void policy_tool_names(const struct policy *policy, void (*each)(void *context, struct str name),
                       void *context);

/* The effective policy in the order in which it is applied, for `why --list`. */
struct policy_line {
    unsigned order;
    enum policy_rule rule;
    const char *effect; /* "deny" or "allow" */
    struct str what;
    struct str from;
    bool elsewhere; /* only another system has it */
};

/* The lines live in the arena. */
int policy_list_rules(const struct policy *policy, struct arena *arena, struct policy_line **lines,
                      size_t *count);

#endif
