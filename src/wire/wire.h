/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire between agent and broker: one piece of shared memory per sandboxed process, with slots
 * that threads take in turns. Portable, no allocation; the broker trusts nothing that it reads
 * here.
 *
 *   struct wire_shared: what the agent needs to know, then the slots
 *   a slot: owner, state, sequence | message (request, then answer)
 *
 * A request: agent takes a free slot, writes the message, state = ASKED, releases the request
 * semaphore, waits for the slot's event. The broker sets state = TAKEN, copies the message once,
 * works on the copy, writes the answer, state = ANSWERED, sets the event. An answer carries the
 * request's sequence: one that comes after its asker died is taken by nobody.
 */
#ifndef CORDON_WIRE_WIRE_H
#define CORDON_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WIRE_MAGIC = 0x31575243, /* "CRW1" */
    WIRE_SLOTS = 8,
    WIRE_NUMBERS = 8,
    WIRE_TEXTS = 2,
    WIRE_SID = 72,    /* room for the longest SID */
    WIRE_PREFIX = 56, /* bytes of such a name */
    WIRE_STUB_UNITS = 320,
    WIRE_DRIVES = 8,       /* volumes that the agent knows by their kernel name */
    WIRE_MAX_TEXT = 65534, /* bytes: the longest name of NT, 32,767 units */
    WIRE_MAX_MESSAGE = 160 + WIRE_TEXTS * (WIRE_MAX_TEXT + 2)
};

enum wire_op {
    WIRE_NOTHING = 0,
#define REQUEST(name, numbers, texts) WIRE_##name,
#include "wire/requests.def"
#undef REQUEST
    WIRE_OPS
};

enum wire_state { WIRE_FREE = 0, WIRE_ASKED, WIRE_TAKEN, WIRE_ANSWERED };

/* Of OPEN and DELETE. */
enum {
    WIRE_INHERIT = 1,        /* OBJ_INHERIT */
    WIRE_CASE_SENSITIVE = 2, /* not OBJ_CASE_INSENSITIVE */
    WIRE_NO_REPARSE = 4,     /* OBJ_DONT_REPARSE */
    WIRE_HAS_EA = 8,
    WIRE_HAS_LIST = 16,       /* the caller gave an access list */
    WIRE_PROTECTED_LIST = 32, /* that inherits nothing */
    WIRE_WAS_REFUSED = 64     /* the token was refused: open it there */
};

/* Of START: what the caller asked for beyond a plain child. */
enum { WIRE_BREAKAWAY = 1, WIRE_OTHER_PARENT = 2 };

/* Calls that are never allowed, of REFUSED. */
enum wire_refused {
    WIRE_REFUSED_EA = 1,
    WIRE_REFUSED_VOLUME,
    WIRE_REFUSED_MAILSLOT,
    WIRE_REFUSED_PROCESS_CLONE,
    WIRE_REFUSED_REGISTRY, /* the target is the key */
    WIRE_REFUSED_HIVE,
    WIRE_REFUSED_LINK_OBJECT,
    WIRE_REFUSED_SYSTEM,
    WIRE_REFUSED_TRANSACTION, /* the target is the file */
    WIRE_REFUSED_COUNT
};

/* Of NETWORK. */
enum wire_net {
    WIRE_NET_CREATE = 1,
    WIRE_NET_CONNECT,
    WIRE_NET_BIND,
    WIRE_NET_SEND,
    WIRE_NET_BOUND,
    WIRE_NET_LISTEN,
    WIRE_NET_OTHER /* a call that cannot be judged by an address */
};

/* Of PIPE. */
enum wire_pipe { WIRE_PIPE_MADE = 1, WIRE_PIPE_CONNECT, WIRE_PIPE_MAKE };

/* Flags of an answer. */
enum {
    WIRE_PASS = 1,      /* the agent makes the call itself: the token decides */
    WIRE_LOOPBACK = 2,  /* of BIND: to this machine's own address instead of every address */
    WIRE_STUB = 8,      /* of START: the stub instead of the program */
    WIRE_WAITS = 16,    /* somebody is asked: the same again once the event in the handle is set */
    WIRE_SAY_CLOSED = 4 /* of BASIC: CLOSED is to follow when the handle is closed */
};

struct wire_message {
    uint32_t op;
    uint32_t sequence;
    uint64_t numbers[WIRE_NUMBERS];
    uint32_t text_size[WIRE_TEXTS]; /* bytes */
    /* the texts follow, each padded to a multiple of 4 */
};

struct wire_answer {
    uint32_t sequence;
    uint32_t status; /* NTSTATUS */
    uint32_t flags;
    uint32_t reserved;
    uint64_t handle;
    uint64_t information;
};

struct wire_slot {
    uint32_t owner; /* thread id; 0: free */
    uint32_t state;
    uint32_t size; /* bytes of the message */
    uint32_t reserved;
    struct wire_answer answer;
    unsigned char message[WIRE_MAX_MESSAGE];
};

/* Agent flags. */
enum {
    WIRE_CHECK_READS = 1,  /* reads are judged */
    WIRE_KEEP_CONSOLE = 4, /* children get their parent's console */
    WIRE_NARROW = 2        /* a 32-bit program: its pointers have four bytes */
};

struct wire_shared {
    uint32_t magic;
    uint32_t slots; /* that can be used, the first ones; more while somebody waits */
    uint32_t flags;
    uint32_t waiting; /* threads that wait for a free slot */
    uint32_t sequence;
    uint32_t process;  /* its own id */
    uint64_t requests; /* semaphore; handles are those of the sandboxed process */
    uint64_t freed;    /* event: a slot became free, or there is one more, while somebody waited */
    uint64_t answered[WIRE_SLOTS];
    uint16_t stub[WIRE_STUB_UNITS]; /* the object name of the stub */
    uint32_t stub_size;             /* in bytes; 0: none */
    uint64_t objects;               /* the run's own directory of objects; 0: none */
    unsigned char run_sid[WIRE_SID], user_sid[WIRE_SID]; /* for objects that the tree makes */
    uint32_t local_drives; /* letters of this machine's own volumes, A is 1 */
    struct wire_drive {
        uint32_t prefix_size;              /* 0: none */
        char name[4], prefix[WIRE_PREFIX]; /* "C:", "\\Device\\HarddiskVolume3" */
    } drives[WIRE_DRIVES];
    uint64_t image; /* address of the policy image, read only; 0: none */
    uint64_t image_size;
    struct wire_slot slot[WIRE_SLOTS];
};

/* The start of the agent's code; the offsets are from the start of its image. */
struct wire_agent_header {
    uint32_t magic, hooks, calls;
    uint32_t shared;      /* of a pointer to the wire_shared */
    uint32_t addresses;   /* of pointers to the calls of ntdll in calls.def */
    uint32_t trampolines; /* hooks * WIRE_TRAMPOLINE bytes of code */
    uint32_t entries[];   /* of each hook's function */
};
enum { WIRE_AGENT_MAGIC = 0x31415243 /* "CRA1" */, WIRE_TRAMPOLINE = 64 };

/* A request as decoded from a private copy; texts point into it. */
struct wire_request {
    enum wire_op op;
    uint32_t sequence;
    uint64_t numbers[WIRE_NUMBERS];
    struct {
        const void *p;
        size_t n; /* bytes */
    } text[WIRE_TEXTS];
};

/* The size of a message in bytes; 0 if a text is too long. */
size_t wire_size(enum wire_op op, const uint32_t text_size[WIRE_TEXTS]);

/* Where the texts of a message begin, given its sizes. */
size_t wire_text_at(const uint32_t text_size[WIRE_TEXTS], unsigned text);

/* Checks everything; false for a message that no agent would write. */
bool wire_decode(const void *message, size_t size, struct wire_request *out);

/* "OPEN", for events about malformed requests; never NULL. */
const char *wire_op_name(uint32_t op);

#endif
