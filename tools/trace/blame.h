/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: who is to blame for each part of a wait. */
#ifndef COHORT_TOOLS_TRACE_BLAME_H
#define COHORT_TOOLS_TRACE_BLAME_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/trace/model.h"

enum blame_kind {
    BLAME_TASK,      /* a task: it came late, or had not done yet what was waited for */
    BLAME_OPERATION, /* a collective took so long when all had called that it depends on */
    BLAME_MESSAGE,   /* a message took so long */
    BLAME_QUEUE,     /* the task could go on, but no worker took it */
    BLAME_OUTSIDE,   /* a timer, a file, a thread outside of tasks; or it is not known */
    BLAME_MISSING,   /* a site that has never called */
    BLAME_KINDS,
};

struct blame {
    enum blame_kind kind;
    uint32_t task;   /* of BLAME_TASK */
    uint32_t call;   /* the waiting site's call, if it is for a collective; or NONE */
    uint32_t site;   /* of BLAME_MISSING */
    uint32_t lacks;  /* of BLAME_MISSING: a call which waited for that site */
    uint64_t at, ns; /* from when on, and how long */
};

/* Divides wait number WAIT among those to blame: calls TELL for each part. DIRECTLY: only who is to
 * blame at first. Else what is charged to a task that waited itself meanwhile is charged on to whom
 * it waited for, unless that was something outside. */
void blame_wait(const struct model *model, uint32_t wait, bool directly,
                void (*tell)(void *context, const struct blame *blame), void *context);

#endif
