/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETING_CALL_H
#define COHORT_COLLECTIVES_EXEC_MEETING_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/future.h"
#include "collectives/comm/fingerprint.h"
#include "collectives/exec/movement.h"

struct cohort__group;

/* How the blocks of a call are cut where they are longer than a post on the board: into segments,
 * each of which is a meeting of its own. While one is read, the next one is written. */
struct cohort__segments {
    uint32_t num;
    size_t bytes; /* of a block, in each but the last one, which may have fewer */
};

/* For sites of GROUP that meet, where each brings NUM_BLOCKS blocks of BYTES, made of elements of
 * ELEMENT bytes. False: they can't, since not all are in one locality, and they have no board, or
 * too little room on it. The same at all sites. */
bool cohort__segments_find(const struct cohort__group *group, uint32_t num_blocks, size_t bytes,
                           size_t element, struct cohort__segments *ret_segments);

struct cohort_comm;
struct cohort__operation;

/* A call without a plan, for sites that share memory: all in this locality, or on this host with a
 * board. Every site brings its buffers, and data moves once all are there. */

/* What one site brings. Everything except `comm`, `in`, `out`, `op`, `ret_rows` and `sequel` is
 * equal at all sites. */
struct cohort__meeting_call {
    struct cohort_comm *comm;
    const struct cohort__movement_kind *kind;
    const void *in; /* the same as `out`: in place */
    void *out;
    uint32_t root;
    uint32_t shift;
    const cohort_op *op;
    uint64_t generation; /* has passed the gate */
    uint64_t fingerprint;
    /* Also has the count and the datatype of the call. Datatype 0: no elements. */
    const struct cohort__signature *signature;
    cohort_future **ret_rows;         /* where to put num_sites futures for the caller, or NULL */
    struct cohort__operation *sequel; /* or NULL; is taken, on failure too */
};

/* By the caller's thread. Never NULL. */
cohort_future *cohort__meeting_call_start(const struct cohort__meeting_call *what);

#endif
