/* SPDX-License-Identifier: Apache-2.0 */
/* Finds by trying what this machine supports: the layers that confine, what weakens them, and what
   to do. One implementation for each system, in linux/ and windows/. */
#ifndef CORDON_DOCTOR_DOCTOR_H
#define CORDON_DOCTOR_DOCTOR_H

#include "base/buf.h"
#include "base/str.h"

enum { DOCTOR_LAYERS = 24, DOCTOR_FINDINGS = 48, DOCTOR_KEPT = 8 };

/* The enforcer of each kind of promise: "kernel", "service", "interposed" or "none". */
struct doctor_domains {
    const char *files, *delete, *processes, *input, *network, *reads, *shell;
};

struct doctor_layer {
    const char *name;
    bool live;
    char how[200]; /* how that was found out */
};

struct doctor_finding {
    const char *id;
    bool must; /* must be fixed before `run` works; otherwise it is advice */
    char text[500], fix[300];
};

/* Something of Cordon's own that earlier runs left on this machine, as they were asked to. */
struct doctor_kept {
    const char *what, *remove;
    char path[1024];
};

struct doctor {
    char os[160];
    const char *boundary;
    char boundary_detail[128];
    struct doctor_domains domains;
    struct doctor_layer layers[DOCTOR_LAYERS];
    size_t layer_count;
    struct doctor_finding findings[DOCTOR_FINDINGS];
    size_t finding_count;
    struct doctor_kept kept[DOCTOR_KEPT];
    size_t kept_count;
};

/* Tries everything; takes well under a second. */
void doctor_examine(struct doctor *d);

/* True if something must be fixed. */
bool doctor_must(const struct doctor *d);

/* The security descriptor of one object of objects.def. */
struct doctor_object {
    const char *name, *where;
    struct buf sddl; /* empty: error says why */
    char error[80];
};

/* False where there are no such objects. */
bool doctor_objects(void (*each)(void *context, const struct doctor_object *object), void *context);

/* One way to start a program, and how trying it went. */
struct doctor_rung {
    const char *words;  /* what is weaker than on the strongest rung; empty: nothing */
    const char *result; /* "starts", "fails" or "hangs" */
    const char *said;
};

/* Tries every rung, which takes a while; false where there is only one. */
bool doctor_ladder(void (*each)(void *context, const struct doctor_rung *rung), void *context);

/* ---- for linux/ and windows/ ---- */

void doctor_system(struct doctor *d);
PRINTF_LIKE(4, 5)
void doctor_layer(struct doctor *d, const char *name, bool live, const char *how, ...);
void doctor_finding(struct doctor *d, const char *id, bool must, const char *text, const char *fix);

/* Lists what Cordon keeps on this machine. */
void doctor_keep(struct doctor *d);

/* Runs a confined command that does nothing, unless it is already known that this cannot work. */
void doctor_try(struct doctor *d, size_t argc, const char *const *argv, const char *how,
                const char *fix);

/* Asks system_boundary(), which knows what confines a run here. */
void doctor_boundary(struct doctor *d);

#endif
