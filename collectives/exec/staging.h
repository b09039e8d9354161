/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_STAGING_H
#define COHORT_COLLECTIVES_EXEC_STAGING_H

#include "collectives/comm/operation.h"
#include "collectives/exec/plan_cache.h"
#include "collectives/plan/layout.h"
#include "runtime/task/scheduler.h"

/* Memory in which the elements of a call's buffers lie one behind the other, where in the caller's
 * own they lie as layouts say. Those of IN are packed before the call starts. Those of OUT are
 * unpacked when the data has come, which is a sequel of the call's operation: until then the call
 * is in flight. The futures of its rows are here, and complete with it. The memory is kept with the
 * plan for the next call. */
struct cohort__staging {
    struct cohort__operation operation; /* first; a sequel, to be given to the call */
    unsigned char *in;                  /* for the call, in place of the caller's */
    unsigned char *out;

    /* Private. */
    struct cohort__work work;
    struct cohort__plan_entry *entry; /* a reference */
    cohort_layout *layout;            /* of OUT, a reference; NULL: nothing is unpacked */
    unsigned char *users_out;
    size_t element;
    cohort_future **rows; /* the references that complete them */
    uint32_t num_rows;
    struct cohort__part *parts; /* to be unpacked */
    uint32_t num_parts;
    size_t capacity; /* bytes of memory, from this struct on */
};

struct cohort__staging_call {
    struct cohort__plan_entry *entry;
    size_t element;
    size_t in_bytes; /* how much memory is needed for each of the two */
    size_t out_bytes;
    const cohort_layout *out_layout; /* NULL: OUT is not unpacked */
    void *out;
    const struct cohort__part *out_parts; /* what of OUT is unpacked */
    uint32_t num_out_parts;
    cohort_future **ret_rows; /* where to put so many futures for the caller, or NULL */
    uint32_t num_rows;
};

/* By the caller's thread. Nothing is packed yet. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__staging_create(const struct cohort__staging_call *call,
                                     struct cohort__staging **ret_staging);

#endif
