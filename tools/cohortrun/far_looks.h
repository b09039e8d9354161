/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: fetches looks at the localities of other hosts from their daemons. */
#ifndef COHORT_TOOLS_COHORTRUN_FAR_LOOKS_H
#define COHORT_TOOLS_COHORTRUN_FAR_LOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/cohortrun/node_look.h"

struct cohort__loop;
struct host;

/* All hosts are asked at once, each for one part of one locality after the other, in a series that
 * takes FAR_LOOKS_PATIENCE_NS at most. Answers that come later are dropped. */
struct far_looks;

#define FAR_LOOKS_PATIENCE_NS UINT64_C(600000000)

struct far_looks_handlers {
    void *context;
    /* Host I, 0 and so on; NULL: there are no more. */
    struct host *(*host)(void *context, uint32_t i);
    /* A part of the look at a locality, or why there is none; see node_look.h. */
    void (*part)(void *context, uint32_t rank, enum node_look_kind kind, const unsigned char *data,
                 size_t bytes);
    /* HOST has not answered, or not for its localities from RANK on. */
    void (*silent)(void *context, const struct host *host, uint32_t rank);
    /* The series is over. */
    void (*over)(void *context);
};

/* NULL: no memory. */
struct far_looks *far_looks_create(struct cohort__loop *loop,
                                   const struct far_looks_handlers *handlers);

/* Begins a series. None is under way. `over` is called later. */
void far_looks_begin(struct far_looks *looks);

/* A daemon's answer. False: it makes no sense. */
bool far_looks_take(struct far_looks *looks, struct host *host, uint32_t rank,
                    const unsigned char *data, size_t bytes);

/* far_looks_close: before the loop is destroyed. far_looks_destroy: after that. NULL is fine. */
void far_looks_close(struct far_looks *looks);
void far_looks_destroy(struct far_looks *looks);

#endif
