/* SPDX-License-Identifier: Apache-2.0 */
/* The broker on Linux: judges the calls of the process tree and performs the allowed ones. */
#ifndef CORDON_BROKER_LINUX_BROKER_H
#define CORDON_BROKER_LINUX_BROKER_H

#include <stdatomic.h>
#include <sys/socket.h>

#include "ask/ask.h"
#include "audit/event.h"
#include "base/arena.h"
#include "base/buf.h"
#include "broker/git_index.h"
#include "broker/id_set.h"
#include "broker/linux/request.h"
#include "broker/linux/resolve.h"
#include "guard/guard.h"
#include "launch/linux/secrets.h"
#include "policy/git_config.h"
#include "policy/rules.h"
#include "undo/keep.h"

/* A program that was judged and may start: which program, with which arguments, and what ran before
   it. */
struct broker_expected {
    pid_t process;
    dev_t device;
    ino_t inode;
    dev_t before_device;
    ino_t before_inode;
    uint64_t words;
    pid_t thread;   /* that called */
    uint64_t stack; /* of the previous program, if it has several threads; 0: it has one */
};

/* The kind of program by its content, whatever its name: a refused tool or a loader. */
enum { BROKER_MOST_TOOLS = 128, BROKER_BUILD_ID = 20 };

struct broker_tools {
    struct broker_tool {
        unsigned char id[BROKER_BUILD_ID];
        char name[32];
    } items[BROKER_MOST_TOOLS];
    size_t count;
    bool known;
};

enum {
    BROKER_MOST_EXPECTED = 1024,
    BROKER_MOST_PROCESSES = 1024,
    BROKER_MOST_SLOW = 256,
    BROKER_MOST_FOLDERS = 64,
    BROKER_LONGEST_FOLDER = 256,
    BROKER_LONGEST_VALUE = 65536,    /* of an extended attribute */
    BROKER_LONGEST_ARGUMENT = 131072 /* of an exec: the kernel's own bound */
};

/* A call that may block, served by a thread of its own. Its data lives here rather than on the
   stack, which AddressSanitizer does not clean up when a thread is cancelled. */
struct slow_call {
    struct request request;
    void (*work)(struct slow_call *call); /* answers */
    int held[2];                          /* closed at the end; -1: none */
    char path[64];                        /* of an open, like the next two */
    int flags;
    bool cut;                        /* O_TRUNC of a file */
    struct sockaddr_storage address; /* of a connect */
    socklen_t length;
    struct desk *desk; /* of the next three */
    char *answered;    /* what somebody allowed when asked; owned, NULL: nothing */
    enum audit_op op;  /* of that */
    uint32_t caller;   /* for events */
    pthread_t thread;
    atomic_bool done;
};

struct broker_slow {
    struct slow_call *items[BROKER_MOST_SLOW];
    size_t count;
};

/* Processes reported to the audit, until they end. */
struct broker_processes {
    struct broker_process {
        pid_t pid, parent;
        int watch; /* becomes readable when the process ends; -1: not watched */
        char *image;
    } items[BROKER_MOST_PROCESSES];
    size_t count, watched, most_watched;
    bool told; /* an audit is being written; if false, none of this is done */
    int ends;  /* readable when one ended */
};

/* Sockets of resolvers that lead to the broker (datagram.c). */
enum { BROKER_MOST_NAMES = 32 };

struct broker_names {
    struct broker_name {
        int fd;
        uint32_t pid;
        unsigned left; /* questions that are still answered */
        char image[256];
    } items[BROKER_MOST_NAMES];
    size_t count;
    char last[256]; /* that was asked for */
};

/* The entries that this run and its session created in a temp folder shared with others. */
struct broker_temp {
    struct str folder; /* NUL-terminated; empty: there is no such folder */
    struct id_set made;
    struct str own;  /* the folder in it that TMPDIR names; empty: none */
    int record;      /* the session's list, appended to; -1: none */
    bool semaphores; /* some were created */
};

/* Calls that are set aside (park.h). */
struct broker_park {
    struct broker_parked *items[ASK_MOST_WAITING], *ready[ASK_MOST_WAITING];
    size_t count;
};

/* The threads that make long copies for the journal (copies.c). */
struct broker_copies {
    struct broker_copy {
        struct broker_copies *all;
        struct keep_copying *what;
        struct keep_object object;
        pthread_t thread;
        bool used;
        atomic_bool ended;
    } items[KEEP_MOST_COPIES];
    intptr_t ended; /* a bell: one of them has; -1: none */
};

/* What --ask needs. */
struct broker_asks {
    struct desk *desk; /* NULL: nothing is asked */
    bool silent;       /* only what was allowed for the whole run counts: this call cannot wait */
};

/* So many repositories that a run makes are followed when it moves them. */
enum { BROKER_MADE = 256 };

struct broker {
    const struct policy *policy;
    struct guard *guard; /* NULL: commands are not judged */
    int listener;
    const struct secrets *secrets; /* what deny-read rules name */
    bool judges_reads;             /* there are deny-read rules: every open arrives here */
    int landlock_abi;              /* what Landlock confines: that may continue */
    pid_t command;                 /* that starts the command, until its exec; then 0 */
    pid_t reaper;                  /* every process of this run descends from it */
    bool report_grants;            /* --audit-all */
    void (*event)(void *context, const struct audit_event *event);
    void (*began)(void *context, const struct str *words, size_t count); /* a program; NULL: none */
    void (*denials)(void *context, bool json, struct buf *out); /* so far; NULL: not told */
    void *context;
    struct id_set linked;       /* additional names that this run gave to existing files */
    struct id_set sockets;      /* unix sockets that this run bound */
    struct id_set listeners;    /* internet sockets that this run bound; no device */
    struct id_set repositories; /* what this run created under the name .git */
    char *made[BROKER_MADE];    /* where they are, for the summary */
    size_t made_count;
    struct id_set ended; /* nested repositories that this run is removing */
    struct id_set taken; /* roots made for this run that it has "created" itself */
    struct broker_temp temp;
    struct broker_expected expected[BROKER_MOST_EXPECTED];
    size_t expected_count;
    struct broker_tools tools;
    struct broker_processes processes;
    struct broker_slow slow;
    struct broker_names names;
    char folders[BROKER_MOST_FOLDERS][BROKER_LONGEST_FOLDER]; /* straight.c; empty: none */
    char noted[BROKER_LONGEST_FOLDER]; /* the folder that the journal has noted last; empty: none */
    struct request_server server;
    char value[BROKER_LONGEST_VALUE];       /* of the extended attribute being set */
    char argument[BROKER_LONGEST_ARGUMENT]; /* of the program being started */
    uint64_t (*now)(void);                  /* milliseconds since 1970 */
    struct str granted; /* a folder where Landlock allows everything; NUL-terminated, empty: none */
    struct str stubs;   /* the folder of stubs, which only print a message; may be empty */
    bool granted_mixed; /* a link was placed in it */
    struct sockaddr_storage proxy;  /* of the two proxy modes: all that can be reached */
    struct proxy_server *own_proxy; /* NULL: none */
    struct broker_asks asks;
    struct broker_park parked;
    char told[PATH_MAX]; /* the path that was reported as allowed last */
    struct broker_copies copies;
    dev_t terminal;     /* the only one that the command was given; 0: those of this process */
    struct keep *undo;  /* the journal of --undo; NULL: none */
    uint64_t undo_lost; /* objects that it could not keep */
};

void broker_free(struct broker *b);

/* Answers calls until stop becomes readable or the listener has no process left. Returns 0 or a
   negative code. Call it from a thread of its own: it changes that thread's umask and affinity. */
int broker_serve(struct broker *b, int stop, void (*tick)(void *context));

/* ---- for the handlers ---- */

/* The object that resolution found, or the parent if that is the object. */
struct file_id broker_id(const struct resolved *where);

/* The object that has this path now; a final link is not followed. False if there is none. */
bool broker_id_at(const char *path, struct file_id *out);

/* Something was created there: a .git is now this run's own. */
void broker_made(struct broker *b, const struct resolved *where);

/* A name of this object was removed: its inode number may soon belong to another file. */
void broker_forget(struct broker *b, struct file_id id, const struct stat *st);

/* Loads the list of what earlier runs of the session created in the temp folder. */
void own_temp_begin(struct broker *b);

/* Once the tree is gone: removes compiled code that the run left where tools outside would run it. */
void own_temp_end(struct broker *b);

/* Says whose entry of the temp folder contains this path. */
enum policy_temp_entry own_temp_entry(const struct broker *b, const struct resolved *where);

/* A name was created: directly in the temp folder it now belongs to this run. */
void own_temp_made(struct broker *b, const struct resolved *where);

/* Fills in a policy request from what resolution found. */
void broker_question(struct broker *b, const struct resolved *where, enum policy_access access,
                     struct policy_request *question);

/* What a question says about something that is made (its mode, and its kind if that is not a file), and
   about the file that a rename replaces. */
struct broker_told {
    char text[40];
    struct ask_detail detail;
};
void broker_tell_made(const struct broker *b, struct request *r, mode_t mode,
                      struct broker_told *out);
void broker_tell_replaced(const struct broker *b, struct request *r, const struct resolved *file,
                          struct broker_told *out);

/* Judges one place. If it is denied: reports, answers EACCES and returns false. */
bool broker_allows(struct broker *b, struct request *r, const struct resolved *where,
                   enum policy_access access, enum audit_op op);

/* The same; also tells which rule allowed it. */
bool broker_allows_by(struct broker *b, struct request *r, const struct resolved *where,
                      enum policy_access access, enum audit_op op, enum policy_rule *rule);

/* Disables a nested repository before any part of it is removed. False, and reported, if that is
   impossible. */
bool nested_end(struct broker *b, struct request *r, const char *path);

/* Reports a .git whose HEAD was just deleted or moved away by itself: git does not know it now. */
void nested_lost_head(struct broker *b, const struct request *r, const struct resolved *gone);

/* True for a folder that is known to be empty, so that removing it can succeed. */
bool nested_is_empty(const struct resolved *folder);

/* True for the HEAD that nested_end removed: the program removing the repository may delete it
   too. */
bool nested_ended(const struct broker *b, const struct resolved *where);

/* Where a folder on this path ends that git takes for a repository by its form, if the rest is about
   its form or about what git obeys there; 0: none, or one that this run made. */
size_t nested_found(const struct broker *b, const char *path);

/* The folder around this path that is a repository by its form and not called .git; may be empty. */
struct str nested_bare(struct str path);

/* Whether a folder can be renamed: 0 if so; -EACCES, after a report, if it contains a protected
   name; -EXDEV if it contains too much to inspect. */
int nested_look(struct broker *b, struct request *r, const struct resolved *folder);

/* True for a name by which a folder can become a repository without a .git. */
bool nested_is_part(const char *name);

/* Judges where a symbolic link with this text leads; false if the call has been answered. */
bool link_allows(struct broker *b, struct request *r, const struct resolved *where,
                 const char *text);

/* The same for one that gets another name; true for what is no link. */
bool link_allows_move(struct broker *b, struct request *r, const struct resolved *from,
                      const struct resolved *to);

/* A config or an index on its way into a repository: what was read of it, and whether all of that
   is harmless; if not, why. */
struct nested_copy {
    bool judged;
    bool harmless;      /* an index that only brings files of protected names */
    bool compared;      /* a config was read; why says why --git=full refuses it, if it does */
    const char *obeyed; /* such a name; NULL: none */
    char why[GIT_CONFIG_KEY]; /* with obeyed: the file */
    struct buf text;
    struct timespec times[2];
};
void nested_copy_free(struct nested_copy *copy);
#define auto_nested_copy __attribute__((cleanup(nested_copy_free)))

bool nested_copy_judge_config(const struct resolved *from, const struct resolved *to,
                              struct nested_copy *out);

/* The same for the config of a repository that was there before: only sections of branches may
   differ, and with --git=full harmless keys be added. */
bool nested_copy_keeps_config(const struct broker *b, const struct resolved *from,
                              const struct resolved *to, struct nested_copy *out);

/* made: the repository was made by this run. */
bool nested_copy_judge_index(const struct broker *b, const struct resolved *from,
                             const struct resolved *to, bool made, struct nested_copy *out);

/* Whether this index brings no file of a protected name into the working tree that is not there, or
   in the index before; otherwise sets out->obeyed and out->why. */
bool nested_index_keeps(const struct broker *b, const struct resolved *to, enum git_hash hash,
                        struct nested_copy *out);

/* Reads a file below a folder whole, by no link; false if it holds more than most. */
bool nested_read(int folder, const char *name, size_t most, struct buf *out);

/* Puts a file that holds what was judged in the place of that file. 0 or a negative errno. */
int nested_copy_place(struct broker *b, struct request *r, struct resolved *file,
                      const struct nested_copy *copy);

/* True if this file or link can leave the places of the run as a copy (leave.c). */
bool leave_can(const struct broker *b, const struct resolved *from, const struct resolved *to);

/* Puts that copy in the place of the file: it is what is renamed then. 0 or a negative errno. */
int leave_place(struct broker *b, struct request *r, struct resolved *file);

/* After a name was made: reports the folder around it if that makes it a repository without a
   .git. */
void nested_made(struct broker *b, const struct request *r, const struct resolved *where);

/* Where a repository is that the run made. After a folder was renamed, and with exchange the other one
   too, those in it are reported where they are now. */
void nested_remember(struct broker *b, struct str folder);
void nested_moved(struct broker *b, const struct request *r, const char *from, const char *to,
                  bool exchange);

/* Reports a repository that the run made. */
void broker_report_repository(struct broker *b, const struct request *r, struct str folder);

/* Reports a git folder whose HEAD was removed. */
void broker_report_headless(struct broker *b, const struct request *r, struct str folder);

/* Reports a denial by the policy. */
void broker_report(struct broker *b, const struct request *r, const struct policy_request *question,
                   const struct policy_answer *answer, enum audit_op op, const char *target2);

/* Reports a denied connection or program. */
void broker_report_text(struct broker *b, const struct request *r, enum audit_op op,
                        struct str target, enum audit_type type, struct str rule, struct str why,
                        struct str fix);

/* False after a refusal: a file must not get mode bits that lend the user's rights to whoever runs
   it. */
bool broker_allows_mode(struct broker *b, struct request *r, struct str path, mode_t mode,
                        bool folder);

/* Hands the call to a thread that answers it and closes its descriptors; answers EAGAIN if it
   cannot. */
void slow_start(struct broker *b, struct request *r, const struct slow_call *what);
/* For its function: the call fails, and if somebody had allowed it, that is told first. */
void slow_fail(struct slow_call *call, int error);

/* For such a thread: it may be cancelled while it waits. */
void slow_may_wait(bool may);

/* Cancels the calls of dead callers, or all calls, and removes finished ones from the list. */
void slow_collect(struct broker_slow *slow, bool all);

/* The program that the caller is running, for events. */
struct str broker_image(const struct request *r, char *out, size_t capacity);

/* The host's tool or loader of which this file is a copy; empty: none that matters. */
struct str tool_original(struct broker *b, const char *path);

/* The name of loaders there. */
#define BROKER_LOADER "ld.so"

/* Compares the program that started with the one that was judged; kills it and returns false if it
   must not run. */
bool exec_verify(struct broker *b, struct request *r);

/* True if a call on this path stays in the granted folder and may continue in the kernel. */
bool grant_covers(const struct broker *b, const struct request *r, int dirfd, const char *path);
bool grant_covers_argument(const struct broker *b, const struct request *r, int dirfd,
                           uint64_t address);

/* True if this path lies in the granted folder. */
bool grant_holds(const struct broker *b, const char *path);

/* False for what must not be moved into or out of the granted folder in one step. */
bool grant_takes(const struct broker *b, const struct resolved *from, const char *to);

/* A link is created at this path. */
void grant_mix(struct broker *b, const char *path);

/* Starts reporting process starts and ends; p is zero-initialized. */
void processes_open(struct broker_processes *p);

/* Words as `check` spells them; whole ones only, so that no secret is cut before it is masked. */
void process_spell(struct buf *out, const struct str *words, size_t count);

/* A program starts in this process; parent 0: the parent is not in the tree. */
void process_began(struct broker *b, pid_t pid, pid_t parent, struct str image,
                   const struct str *words, size_t count);

/* Reports the processes that ended since the last call. */
void processes_collect(struct broker *b);

/* The same when the tree is gone; status: how the command ended, for kernels that do not say. */
void processes_close(struct broker *b, pid_t command, int status);

/* The process of the caller, for events. */
uint32_t process_caller(struct broker *b, const struct request *r);

/* Parent and group of a process; false if it is gone. */
bool broker_family(pid_t pid, pid_t *parent, pid_t *group);

/* True if the process belongs to this run. */
bool broker_in_run(const struct broker *b, pid_t pid);

/* Judges a read where deny-read rules are set. If it is denied: reports, answers EACCES and returns
   false. */
bool read_allows(struct broker *b, struct request *r, const struct resolved *where);

/* The same question without a report. */
bool read_refuses(struct broker *b, const struct request *r, const struct resolved *where);

/* The name through which a nested run asks which policy it is under; no file has this name. */
#define BROKER_POLICY "/proc/cordon/policy"
/* The same for the denials so far, in lines or as JSON. */
#define BROKER_DENIALS "/proc/cordon/denials"

/* True for /dev/pts/N if a process of this run created that terminal. */
bool terminal_is_own(struct broker *b, const struct request *r, const char *path);

/* True for the terminals on which this process, and so the command, was started. */
bool terminal_is_given(const struct broker *b, dev_t device);

/* Judges and opens a resolved file or folder. -EAGAIN if it has been replaced meanwhile. */
int open_object(struct broker *b, struct request *r, struct resolved *where, int flags);

/* The short way of an open: a descriptor, or -1, and then nothing has been done or answered. */
int straight_open(struct broker *b, struct request *r, int dirfd, const char *path, int flags,
                  mode_t mode);

/* The same as resolve and resolve_argument for calls that do not follow a final link. */
int straight_find_path(struct broker *b, const struct request *r, int dirfd, const char *path,
                       struct resolved *out);
int straight_find(struct broker *b, const struct request *r, int dirfd, uint64_t address,
                  struct resolved *out);

/* A folder was renamed or removed, or some time has passed. */
void straight_forget(struct broker *b);

/* A resolver's socket that leads here; false if this is none, or there are too many. */
bool datagram_give(struct broker *b, struct request *r);

/* True if the caller's descriptor is such a socket, or a unix socket at least. */
bool datagram_is(const struct request *r, int fd);

/* The descriptors that the loop watches for them, at most BROKER_MOST_NAMES, and their service. */
struct pollfd;
size_t datagram_watch(const struct broker *b, struct pollfd *out);
void datagram_serve(struct broker *b, const struct pollfd *watched, size_t count);
void datagram_close(struct broker *b);

/* The answer of --ask to a denial. Zero: nothing, it stays denied. */
enum broker_ruling {
    BROKER_DENIES = 0,
    BROKER_WAITS, /* the call is set aside, and answered later */
    BROKER_GRANTS
};

/* The subject without the caller, which is filled in. where: the object, if it is a file; may be
   NULL. */
enum broker_ruling broker_ask_rule(struct broker *b, struct request *r,
                                   const struct ask_subject *subject, const struct resolved *where);

/* The same for a change that the policy denied. */
enum broker_ruling broker_ask_change(struct broker *b, struct request *r,
                                     const struct resolved *where,
                                     const struct policy_request *question,
                                     const struct policy_answer *answer, enum audit_op op);

/* The same for both ends of a rename; *answer is the denial that remains. */
enum broker_ruling broker_ask_pair(struct broker *b, struct request *r,
                                   const struct resolved *const ends[2],
                                   const struct policy_request questions[2],
                                   struct policy_answer *answer);

/* Before the first call, if there is a journal. */
void copies_open(struct broker *b);

/* The journal answered -EALREADY. True if the call is set aside until the copy is there; false if it
   could not be, and then the copy is there, or the journal must be asked again. */
bool copies_wait(struct broker *b, struct request *r);

/* The bell rang: takes leave of the threads that have ended. How many copies those made, and of what. */
size_t copies_collect(struct broker *b, struct keep_object ended[KEEP_MOST_COPIES]);

/* The calls that waited for these copies were served again: a copy that is left belongs to nobody. Not
   so one that was done only in between. */
void copies_drop(struct broker *b, const struct keep_object *ended, size_t count);

/* Stops the copies for which nobody waits. */
void copies_look(struct broker *b);

/* Stops all of them and waits for the threads. */
void copies_close(struct broker *b);

/* For the journal of --undo, before a change: 0, or a negative errno, and then the change must not
   be made. record_write may return -EAGAIN: the object was replaced meanwhile. -EALREADY: the call is
   set aside, and served again later. */
int record_write(struct broker *b, struct request *r, const struct resolved *where);
int record_attributes(struct broker *b, struct request *r, const struct resolved *where);
int record_create(struct broker *b, struct request *r, const struct resolved *where, mode_t type);
/* A file, for the short way: a failure is not reported, because the long way comes next. Without a leaf
   the folder is not noted. */
int record_create_short(struct broker *b, struct request *r, const struct resolved *where);
int record_remove(struct broker *b, struct request *r, const struct resolved *where);
int record_rename(struct broker *b, struct request *r, const struct resolved *from,
                  const struct resolved *to, bool exchange);
int record_link(struct broker *b, struct request *r, const struct resolved *from,
                const struct resolved *to);

/* The change was made, or failed with this errno, which is left as it is. made: a new name. */
void record_after(struct broker *b, int error, const struct resolved *made);

/* The names that a file has, without those of the journal. */
uint32_t record_links(const struct broker *b, const struct stat *st);

/* The handlers, by call. A call that its handler leaves unanswered is refused. */
#define CALL(name, x86_64, arm64, action, argument)
#define SERVE(name, x86_64, arm64, action, argument, handler) \
    void handler(struct broker *b, struct request *r);
#include "launch/linux/calls.def"
#undef CALL
#undef SERVE

#endif
