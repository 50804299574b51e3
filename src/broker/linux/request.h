/* One call of a process of the tree, waiting for an answer; the memory of its caller is hostile. */
#ifndef CORDON_BROKER_LINUX_REQUEST_H
#define CORDON_BROKER_LINUX_REQUEST_H

#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/types.h>

#include "base/str.h"

struct request {
    int listener;
    uint64_t id;
    pid_t pid; /* of the thread that called */
    int number;
    uint64_t args[6];
    bool answered;
};

/* Copies size bytes from the caller, once. 0 or a negative errno. */
int request_read(const struct request *r, uint64_t address, void *out, size_t size);

/* Copies a NUL-terminated string of less than capacity bytes: its length, or a negative errno. */
ssize_t request_read_string(const struct request *r, uint64_t address, char *out, size_t capacity);

/* False if the caller is gone and its pid may be somebody else's. */
bool request_alive(const struct request *r);

/* The answers. Each call gets exactly one. */
void request_fail(struct request *r, int error); /* error > 0 */
void request_succeed(struct request *r, int64_t value);
void request_continue(struct request *r);
void request_give(struct request *r, int fd, bool close_on_exec); /* fd stays the broker's */

/* Caller and broker share a CPU (kernel 6.6 and later); the thread that serves. */
extern bool request_takes_turns;
extern pthread_t request_server;

/* Another caller is next, or none: the broker may move again. */
void request_end_turns(void);

/* The caller's process, its parent and umask, read at once; false if it is gone. */
struct request_status {
    pid_t process, parent;
    mode_t umask;
};
bool request_status(const struct request *r, struct request_status *out);

/* What is made from now on has the mode that the caller's umask leaves. */
void request_take_umask(const struct request *r);

/* Somebody changes it: what was known is not known any more. */
void request_forget_umask(void);

/* A copy of the caller's descriptor, or a negative errno. */
int request_descriptor(const struct request *r, int fd);

#endif
