/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a process of the tree, waiting for an answer. The caller's memory is hostile. */
#ifndef CORDON_BROKER_LINUX_REQUEST_H
#define CORDON_BROKER_LINUX_REQUEST_H

#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/types.h>

#include "base/str.h"

/* The thread that serves one run: its callers' umask, and with whom it shares a CPU. */
struct request_server {
    pthread_t thread;
    bool takes_turns;    /* caller and broker share a CPU (kernel 6.6 and later) */
    int cpu;             /* the shared CPU; -1: the thread is free to move */
    pid_t turns_with;    /* the caller on it */
    cpu_set_t before;    /* the thread's original affinity */
    unsigned given;      /* descriptors handed over */
    uint64_t began;      /* the last one that was timed */
    uint64_t spent[2];   /* by the timed ones, without turns and in turns */
    bool shares_umask;   /* the umask is the whole process's: none per thread here */
    bool umask_taken;    /* the whole process's: no umask per thread here */
    mode_t umask_before; /* only if taken */
    mode_t umask_now;    /* of this thread, if it has one of its own */
    int status;          /* /proc/PID/status of status_of, for the umask; -1: none */
    pid_t status_of;
    bool reads_files; /* use /proc/PID/mem: process_vm_readv is not available */
};

/* Sets up the calling thread, which should be dedicated to this: its umask is separated from the
   process's. */
void request_server_open(struct request_server *server, int listener);

void request_server_close(struct request_server *server);

/* Another caller is next, or none: the broker may move again. */
void request_end_turns(struct request_server *server);

struct request {
    struct request_server *server;
    int listener;
    uint64_t id;
    pid_t pid; /* of the thread that called */
    int number;
    uint64_t args[6];
    bool answered;
    struct broker_parked *parked;    /* what was asked about it and answered; NULL: nothing */
    const struct ask_detail *detail; /* for a question about it; NULL: nothing beside the names */
    bool leaves; /* of a rename: the file goes as a copy, because somebody allowed it */
    int failed;  /* the errno that it was answered with; 0: none */
    bool loose; /* the call's arguments are in the caller's memory: it must not continue as it is */
};

/* Reads the memory of another process: the number of bytes, or -1 and errno. *by_file:
   /proc/PID/mem is the only way, which is discovered at the first read. */
ssize_t request_read_memory(pid_t pid, uint64_t address, void *out, size_t size, bool *by_file);

/* Copies size bytes from the caller, once. 0 or a negative errno. */
int request_read(const struct request *r, uint64_t address, void *out, size_t size);

/* Copies a NUL-terminated string of less than capacity bytes: its length, or a negative errno. */
ssize_t request_read_string(const struct request *r, uint64_t address, char *out, size_t capacity);

/* The same without asking whether the caller is still there: nothing may be changed or reported
   before that is asked. */
ssize_t request_peek_string(const struct request *r, uint64_t address, char *out, size_t capacity);

/* False if the caller is gone and its pid may have been reused. */
bool request_alive(const struct request *r);

/* The answers. Each call gets exactly one. */
void request_fail(struct request *r, int error); /* error > 0 */
void request_succeed(struct request *r, int64_t value);
void request_continue(struct request *r);
void request_give(struct request *r, int fd, bool close_on_exec); /* fd stays the broker's */

/* After the handler: refuses the call if it has not been answered. */
void request_finish(struct request *r);

/* The caller's process, its parent and umask, read together; false if it is gone. */
struct request_status {
    pid_t process, parent;
    mode_t umask;
};
bool request_status(const struct request *r, struct request_status *out);

/* Until the answer, whatever is created gets the mode that the caller's umask leaves. True if that
   also shows that the caller is still there, as request_alive() would. */
mode_t request_umask(const struct request *r);
bool request_take_umask(const struct request *r);

/* A copy of the caller's descriptor, or a negative errno. */
int request_descriptor(const struct request *r, int fd);

#endif
