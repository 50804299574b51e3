/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a run: what was asked, what was decided and why. One list of names for all writers. */
#ifndef CORDON_AUDIT_EVENT_H
#define CORDON_AUDIT_EVENT_H

#include "base/str.h"
#include "cordon.h"

enum audit_type {
    AUDIT_START = 0,
    AUDIT_DENY,
    AUDIT_ALLOW,
    AUDIT_ASK,
    AUDIT_SPAWN,
    AUDIT_EXIT,
    AUDIT_END,
    AUDIT_ANSWER, /* to a question of --ask */
    AUDIT_CHANGE, /* of a file, as --undo recorded it; at the end */
    AUDIT_TYPE_COUNT
};

#define AUDIT_OPS(X)                      \
    X(FILE_WRITE, "file.write")           \
    X(FILE_CREATE, "file.create")         \
    X(FILE_DELETE, "file.delete")         \
    X(FILE_RENAME, "file.rename")         \
    X(FILE_LINK, "file.link")             \
    X(FILE_ATTRIBUTES, "file.attributes") \
    X(FILE_SECURITY, "file.security")     \
    X(FILE_READ, "file.read")             \
    X(PROCESS_START, "process.start")     \
    X(PROCESS_OPEN, "process.open")       \
    X(NET_CONNECT, "net.connect")         \
    X(NET_BIND, "net.bind")               \
    X(NET_LISTEN, "net.listen")           \
    X(NET_SEND, "net.send")               \
    X(NET_RESOLVE, "net.resolve")         \
    X(PIPE_CREATE, "pipe.create")         \
    X(PIPE_CONNECT, "pipe.connect")       \
    X(DEVICE_OPEN, "device.open")         \
    X(REGISTRY_WRITE, "registry.write")   \
    X(RPC_CONNECT, "rpc.connect")         \
    X(GUARD, "guard")

enum audit_op {
    AUDIT_NO_OP = 0,
#define AUDIT_OP_ENUM(name, text) AUDIT_##name,
    AUDIT_OPS(AUDIT_OP_ENUM)
#undef AUDIT_OP_ENUM
        AUDIT_OP_COUNT
};

/* "file.write"; "" for AUDIT_NO_OP. */
const char *audit_op_name(enum audit_op op);

/* The choice of an answer's second event: the call that it allowed failed all the same. */
#define AUDIT_FAILED "failed"

/* Strings are borrowed for the call; empty ones are left out of the line. */
struct audit_event {
    enum audit_type type;
    enum audit_op op;
    uint64_t time; /* milliseconds since 1970, UTC */
    uint32_t pid, ppid;
    struct str image, target, target2, cmdline;
    enum cordon_verdict verdict; /* of deny, allow, ask and answer */
    struct str rule, why, fix;
    bool quiet;    /* a harmless write that programs make at start: not in the summary */
    bool minor;    /* a cache or the like: in the summary only if the command failed */
    bool named;    /* the command itself names the target */
    bool said;     /* a line about it is on the caller's stderr already */
    bool unasked;  /* with --ask: nobody can be asked about it, although an option allows it */
    bool notable;  /* allowed, but still for the audit and the summary */
    uint32_t code; /* of exit and end */

    /* answer only: once, folder, terminal */
    struct str choice, scope, by;
    /* start only */
    struct str version, mode, net, git, boundary, boundary_detail;
    const struct str *roots;
    size_t root_count;
    /* end only */
    uint64_t duration_ms;
    struct str undo; /* the run of --undo that takes the changes back; empty: none */
    uint64_t created, modified, deleted, renamed;
};

#endif
