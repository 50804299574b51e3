/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker on Windows: a thread per sandboxed process (more while several requests wait) that
 * answers what the agent asks. Everything that arrives is hostile: copied once, checked, then
 * judged.
 */
#ifndef CORDON_BROKER_WINDOWS_BROKER_H
#define CORDON_BROKER_WINDOWS_BROKER_H

#include "wire/windows/nt.h"

#include "audit/event.h"
#include "base/arena.h"
#include "base/buf.h"
#include "broker/id_set.h"
#include "guard/guard.h"
#include "launch/windows/inject.h"
#include "launch/windows/token.h"
#include "policy/rules.h"

enum {
    BROKER_MOST_WORKERS = 8,
    BROKER_LONGEST_IMAGE = 1024,
    BROKER_MOST_NEWCOMERS = 256,
    BROKER_MOST_TIMES = 64
};

struct broker_client;
struct broker_asks;

/* A place that can be written, open from the start: its drive letter can be changed later. */
struct broker_root {
    struct str path; /* final, of the policy */
    HANDLE folder;
};

/* The target of a drive letter when the run began. */
enum drive_kind {
    DRIVE_NONE = 0, /* nothing, or what cannot be judged */
    DRIVE_LOCAL,
    DRIVE_FOLDER, /* of subst */
    DRIVE_SHARE   /* of another machine */
};
struct drive {
    enum drive_kind kind;
    char name[2];   /* "C:" */
    bool opens;     /* files can be opened by the kernel's name, without a letter */
    char text[300]; /* local: \Device\HarddiskVolume3; folder: C:\x */
};

/* A process that appeared in the job and has no agent yet. */
struct newcomer {
    HANDLE process;
    DWORD pid;
    uint64_t since;
};

struct broker {
    const struct policy *policy;
    struct guard *guard;
    struct inject_plan inject;
    HANDLE job, port;
    const struct token_run *who; /* whose entries no access list may hold */
    void (*event)(void *context, const struct audit_event *event);
    void *context;
    uint64_t (*now)(void);

    CRITICAL_SECTION lock; /* of event, guard, clients and the sets below */
    struct broker_client *clients;
    volatile LONG threads;      /* that may touch this; each counts itself off as its last act */
    struct id_set linked;       /* files that this run gave another name */
    struct id_set repositories; /* what this run created under the name .git */
    struct id_set probes;       /* PowerShell's test files, where temp is not writable */
    struct {
        uint64_t *hashes; /* of folded names */
        size_t count, capacity;
    } pipes;                                          /* that the tree made */
    struct newcomer newcomers[BROKER_MOST_NEWCOMERS]; /* used by the watching thread only */
    size_t newcomer_count;
    struct path_map maps[26];
    size_t map_count;
    struct drive drives[26]; /* the drive letters at the start of the run */
    bool remote_roots;       /* a root is on a share */
    struct str stubs;        /* the folder of stubs, which only print a message */
    HANDLE stub_maker;       /* signalled once it is filled */
    char way_host[64];       /* the proxy that is the only way out; empty: none */
    uint16_t way_port;
    unsigned char bound[65536 / 8]; /* ports that the tree says are its own */
    struct broker_root *roots;
    size_t root_count;
    bool stopping, unconfined;
    bool report_grants;         /* --audit-all */
    struct keep *undo;          /* the journal of --undo; NULL: none */
    uint64_t undo_lost;         /* objects that it could not keep */
    CRITICAL_SECTION undo_lock; /* from the record of a change until it is made */
    bool first;                 /* the first process is being created */
    struct broker_asks *asks;   /* see ask.h; NULL: nobody is asked */
    struct str ask_pipe;        /* of whoever answers; never the tree's */
};

/* Times of a file that the process has open; see times.c. */
struct kept_times {
    uint64_t handle; /* of the process; 0: free */
    HANDLE file;     /* ours, for attributes only */
    struct nt_basic basic;
};

/* One process of the tree. */
struct broker_client {
    struct broker_client *next;
    struct broker *broker;
    HANDLE process;
    DWORD pid;
    struct injected wire;
    volatile LONG busy[WIRE_SLOTS]; /* a worker owns this slot, whatever the shared memory says */
    volatile LONG adding;           /* a worker adds a slot */
    volatile LONG workers, idle;
    struct str image; /* of the program, UTF-8, own storage */
    char image_text[BROKER_LONGEST_IMAGE];
    volatile LONG starting; /* START was allowed, STARTED has not arrived */
    bool dead;
    struct buf command;                         /* its command line for questions; of ask.c */
    struct kept_times times[BROKER_MOST_TIMES]; /* under the lock */
};

/* One request while it is being handled. */
struct request {
    struct broker *broker;
    struct broker_client *client;
    struct arena arena;
    struct wire_request wire;
    struct wire_answer answer;
    bool malformed; /* no agent would ask this: the process is killed */
    DWORD thread;   /* the caller's, as it says */
    bool waits;     /* for an answer to a question: the agent asks again then */
    bool silent;    /* only what was allowed before */
    bool two_steps; /* an answer for this call holds for the next one, too, which does it */
    const struct ask_detail *detail; /* for a question about it; NULL: nothing beside the names */
    bool leaves;         /* of a rename: the file goes as a copy, because somebody allowed it */
    struct str link;     /* where a link leads that would be moved; empty: it is none */
    const char *spelled; /* record.c: a rename replaces this name; NULL: none */
    struct str spelling; /* and has this spelling of it */
};

int broker_start(struct broker *b);
/* Now and then, with b->lock. Windows locks a handle as long as a synchronous call on it lasts, and a worker that
   asks about the handle waits with it: those of its process that ask meanwhile get another worker. */
void broker_tend(struct broker *b);
/* Starts a thread that counts itself off b->threads as its last act. */
bool broker_thread(struct broker *b, LPTHREAD_START_ROUTINE run, void *context);
/* Waits until no worker is left; the tree must be dead. False if one still waits for the system:
   then the broker and all that it uses must stay. */
bool broker_stop(struct broker *b);

/* Registers a process that has its agent; takes ownership of the process handle. */
int broker_add(struct broker *b, HANDLE process, struct injected *wire, struct str image);

/* ---- dispatch.c ---- */

/* Answers one decoded request. */
void broker_dispatch(struct request *r);

/* Ends a request. */
static inline void request_answer(struct request *r, NTSTATUS status)
{
    r->answer.status = (uint32_t)status;
}

/* ---- report.c ---- */

/* Reports a refusal and answers STATUS_ACCESS_DENIED. */
void request_deny(struct request *r, enum audit_op op, const struct policy_request *question,
                  const struct policy_answer *answer, struct str target2);
/* Reports a grant, if grants are wanted. */
void request_grant(struct request *r, enum audit_op op, const struct policy_request *question,
                   const struct policy_answer *answer);
/* The same for refusals that are not the policy's. */
void request_deny_text(struct request *r, enum audit_op op, struct str target, struct str rule,
                       struct str why, struct str fix);
void request_event(struct request *r, struct audit_event *event);

/* Refuses a request that cannot be judged because its place or object could not be determined. */
void request_deny_unknown(struct request *r, enum audit_op op, struct str target, const char *why);
/* True if it is allowed; otherwise it has been reported and answered. */
bool request_allows(struct request *r, const struct policy_request *question, enum audit_op op);
/* The same for a change of an open file, which can be asked about. */
bool request_allows_change(struct request *r, HANDLE file, const struct policy_request *question,
                           enum audit_op op);

/* ---- place.c ---- */

enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

/* A name from the tree, resolved to an open folder and one name in it. */
struct place {
    struct path path;    /* normalized; for PATH_FILE the final folder and the name in it */
    HANDLE folder;       /* NULL if it is not a file */
    UNICODE_STRING leaf; /* empty: the folder itself */
    bool exact;          /* the folder was resolved: compare as the file system does */
};
void place_close(struct place *place);
#define auto_place __attribute__((cleanup(place_close)))

/*
 * Turns the UTF-16 text of a request into a name below an optional folder handle of the process;
 * lexically only. Returns a status; STATUS_SUCCESS with *pass set: the run's own console, or a pipe
 * that the process already holds.
 */
NTSTATUS place_name(struct request *r, uint64_t folder, unsigned text, struct path *out,
                    bool *pass);

/* The root that contains a name, judged by its spelling, and the name within it; NULL: none. */
const struct broker_root *place_root(struct request *r, const struct path *name,
                                     UNICODE_STRING *below);

/* True if opening this place would contact another machine: decided by its name, before anything is
   opened. */
bool place_is_remote(const struct broker *b, const struct path *path);

/*
 * Opens the folder of a PATH_FILE and makes the path final. Links on the way are followed, except
 * those that lead to another machine or to something other than a file: then out->folder is NULL
 * and out->path is what must be judged.
 */
NTSTATUS place_find(struct request *r, const struct path *name, struct place *out);

/* Inspects what is there without touching it; links are not followed where the system allows
   that. */
NTSTATUS place_look(const struct place *place, bool follow, HANDLE *out);
NTSTATUS place_open(const struct place *place, ACCESS_MASK access, ULONG options, HANDLE *out);

/* Duplicates a handle of the process after checking that it is a file on a disk; returns a
   status. */
NTSTATUS place_borrow(struct request *r, uint64_t value, HANDLE *out);

/* The final path of an open file, allocated in the arena; empty if it has none. */
struct str place_path_of(struct request *r, HANDLE file);

/* ---- drives.c ---- */

void drives_read(struct broker *b);
/* The drive of a normalized path; NULL if it has none. */
const struct drive *drives_of(const struct broker *b, struct str path);

/* ---- link.c ---- */

/* Where the junction or symlink at path leads, according to its data; false for any other tag or a
   length that does not fit. */
bool link_read(struct request *r, const void *data, size_t size, struct str path, struct path *out);
/* The same for an open one. */
bool link_target(struct request *r, HANDLE link, struct str path, struct path *out);

/* ---- facts.c ---- */

struct facts {
    bool directory, reparse;
    uint32_t links;
};
NTSTATUS facts_of(HANDLE file, struct facts *out);
bool facts_id(HANDLE file, struct file_id *out);

/* Fills in what is known about an existing file, and whether its .git belongs to this run. */
void facts_apply(struct request *r, HANDLE file, const struct facts *facts,
                 struct policy_request *question);
/* A name of this file is removed: with one name fewer it is trusted only if that name was ours. */
void facts_unlinked(struct request *r, HANDLE file, const struct facts *facts);
/* Whether this run created what the rule protects: the .git that contains it, or the file
   itself. */
bool facts_created_by_run(struct request *r, HANDLE file, struct str path);
/* Whether every .git on the path was created by this run. */
bool facts_own_repository(struct request *r, struct str path);

/* ---- times.c ---- */

/* Takes ownership of the file; its times are set again when the process reports that it closed the
   handle, or ends. */
void times_keep(struct broker_client *c, uint64_t handle, HANDLE file,
                const struct nt_basic *basic);
void times_forget(struct broker_client *c, uint64_t handle);
void times_closed(struct broker_client *c, uint64_t handle);
void times_end(struct broker_client *c); /* the client has no other users left */

/* ---- undo.c ---- */

/*
 * For the journal of --undo, before a change. False: the change must not be made, and it has been
 * answered. Without a journal nothing happens.
 */
bool record_write(struct request *r, HANDLE file, struct str path);
bool record_attributes(struct request *r, HANDLE file, struct str path);

/* The same for names. After true, record_after must be called with the outcome; made: the new
   name. */
bool record_create(struct request *r, const struct place *place, uint32_t type);
bool record_remove(struct request *r, HANDLE file, struct str path);
bool record_rename(struct request *r, HANDLE file, struct str path, const struct place *to,
                   bool link);
void record_after(struct request *r, NTSTATUS status, const struct place *made);

/* A folder becomes a link, or a link a folder. After true, record_after must be called. */
bool record_replace(struct request *r, HANDLE file, struct str path, uint32_t type);

/* ---- security.c ---- */

/* Builds a descriptor from the access list in a text of the request (none: everybody), leaving out
   entries that the run could use. False if it is not a valid list. */
bool security_make(struct request *r, unsigned text, SECURITY_DESCRIPTOR *out);
/* Applies the access list of a SECURITY request to an open file. */
NTSTATUS security_set(struct request *r, HANDLE file);

/* ---- the handlers, by request ---- */

void open_handle(struct request *r);
void open_handle_read(struct request *r);
void change_rename(struct request *r);
void change_link(struct request *r);
void change_delete(struct request *r);
void change_disposition(struct request *r);
void change_basic(struct request *r);
void change_control(struct request *r);
void change_security(struct request *r);
void change_closed(struct request *r);
void process_start(struct request *r);
void process_started(struct request *r);
void process_reach(struct request *r);
void network_handle(struct request *r);
/* True if a socket of the kind in this open attribute may be created; otherwise it has been
   answered. */
bool network_allows_socket(struct request *r, const void *attribute, size_t size);
void pipe_handle(struct request *r);
void service_handle(struct request *r);

/* True if the tree created a pipe of this name. */
bool pipe_is_ours(struct broker *b, struct str name);

/* Its command line for people: without what looks like a secret, and cut. */
void process_show_command(HANDLE process, struct buf *out);

/* The program and the command line of a process of the tree; false if it is none. */
bool process_names(struct broker *b, DWORD pid, struct buf *image, struct buf *cmdline);

/* A port from network order. */
uint16_t network_port(uint16_t network_order);

/* The process that connected from a port of this machine to another one; 0: unknown. */
DWORD network_owner(uint16_t from, uint16_t to);

/* True if this process belongs to the tree. */
bool broker_has(struct broker *b, DWORD pid);

/* Inspects processes that appeared in the job and kills those that run without the agent; pid is
   new, 0: none. Returns after how many milliseconds to look again. */
DWORD process_watch(struct broker *b, DWORD pid);

#endif
