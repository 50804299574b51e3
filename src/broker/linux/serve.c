/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: one call at a time, each answered before the next is taken. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "broker/desk.h"
#include "broker/linux/park.h"
#include "launch/linux/filter.h"

enum { TICK_MS = 1000 };

/* Refused, with a line that says so: most programs show an error number at best. */
void serve_system(struct broker *b, struct request *r)
{
#if defined(__aarch64__)
    const char *name = filter_name(FILTER_ARM64, r->number);
#else
    const char *name = filter_name(FILTER_X86_64, r->number);
#endif
    char target[64];
    snprintf(target, sizeof target, "%s()", name ? name : "a system call");
    broker_report_text(b, r, AUDIT_PROCESS_START, str_of(target), AUDIT_DENY,
                       str_of(policy_rule_id(RULE_PROCESS_SYSTEM)),
                       STR("namespaces, mounts and settings of the whole system are not for a run"),
                       STR(POLICY_NO_REMEDY));
    request_fail(r, EPERM);
}

static const struct {
    int number; /* on this machine; NONE: it has no such call */
    void (*handler)(struct broker *b, struct request *r);
} served[] = {
#define NONE (-1)
#define CALL(name, x86_64, arm64, action, argument)
#if defined(__aarch64__)
#define SERVE(name, x86_64, arm64, action, argument, handler) {arm64, handler},
#else
#define SERVE(name, x86_64, arm64, action, argument, handler) {x86_64, handler},
#endif
#include "launch/linux/calls.def"
#undef CALL
#undef SERVE
#undef NONE
};

static void dispatch(struct broker *b, struct request *r)
{
    if (!exec_verify(b, r))
        return;
    for (size_t i = 0; i < sizeof served / sizeof *served; i++)
        if (served[i].number == r->number) {
            served[i].handler(b, r);
            break;
        }
    request_finish(r); /* no handler may leave a caller waiting */
}

static int serve_one(struct broker *b, struct seccomp_notif *call, size_t size)
{
    memset(call, 0, size);
    if (ioctl(b->listener, SECCOMP_IOCTL_NOTIF_RECV, call))
        return errno == EINTR || errno == ENOENT ? 0 : -errno;
    struct request r = {.server = &b->server,
                        .listener = b->listener,
                        .id = call->id,
                        .pid = (pid_t)call->pid,
                        .number = call->data.nr};
    for (int i = 0; i < 6; i++)
        r.args[i] = call->data.args[i];
    dispatch(b, &r);
    return 0;
}

static uint64_t elapsed_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Serves the calls again for which an answer or a copy is there. */
static void resume(struct broker *b, bool answered, bool copied)
{
    struct keep_object ended[KEEP_MOST_COPIES];
    size_t count = 0;
    if (answered)
        bell_hush(b->asks.desk->answered);
    if (copied) {
        bell_hush(b->copies.ended);
        count = copies_collect(b, ended);
    }
    parked_resume(b, dispatch);
    if (copied)
        copies_drop(b, ended, count);
}

int broker_serve(struct broker *b, int stop, void (*tick)(void *context))
{
    struct seccomp_notif_sizes sizes;
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes))
        return CORDON_E_CONFINE;
    size_t size = sizes.seccomp_notif > sizeof(struct seccomp_notif) ? sizes.seccomp_notif
                                                                     : sizeof(struct seccomp_notif);
    struct seccomp_notif *call = malloc(size);
    if (!call)
        return CORDON_E_NOMEM;
    uint64_t last_tick = elapsed_ms();
    int rc = 0;
    pid_t last = 0;
    request_server_open(&b->server, b->listener);
    copies_open(b);
    while (rc == 0) {
        struct pollfd watch[5 + BROKER_MOST_NAMES] = {
            {b->listener, POLLIN, 0},
            {stop, POLLIN, 0},
            {b->processes.told ? b->processes.ends : -1, POLLIN, 0},
            {b->asks.desk ? (int)b->asks.desk->answered : -1, POLLIN, 0},
            {(int)b->copies.ended, POLLIN, 0}};
        size_t names = datagram_watch(b, watch + 5);
        if (poll(watch, 5 + names, TICK_MS) < 0 && errno != EINTR)
            rc = CORDON_E_CONFINE;
        datagram_serve(b, watch + 5, names);
        if (watch[3].revents || watch[4].revents)
            resume(b, watch[3].revents, watch[4].revents);
        if (watch[2].revents)
            processes_collect(b);
        if (watch[0].revents & POLLIN)
            rc = serve_one(b, call, size);
        if (!(watch[0].revents & POLLIN) || (pid_t)call->pid != last)
            request_end_turns(&b->server);
        last = (pid_t)call->pid;
        if (watch[1].revents || (watch[0].revents & (POLLHUP | POLLERR)))
            break;
        uint64_t now = elapsed_ms();
        if (now - last_tick >= TICK_MS) {
            tick(b->context);
            slow_collect(&b->slow, false);
            straight_forget(b);
            if (b->parked.count)
                parked_look(b, false);
            copies_look(b);
            last_tick = now;
        }
    }
    request_server_close(&b->server);
    slow_collect(&b->slow, true);
    parked_look(b, true);
    copies_close(b);
    datagram_close(b);
    free(call);
    return rc;
}
