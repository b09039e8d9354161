/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_H
#define COHORT_COLLECTIVES_COLL_CALL_H

#include "cohort/collectives.h"
#include "cohort/objects.h"
#include "cohort/ragged.h"
#include "collectives/algo/algorithm.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/fingerprint.h"
#include "collectives/exec/plan_cache.h"
#include "collectives/model/select.h"

/* What all collectives have in common: checking the arguments, passing the gate, finding or
 * building the plan, starting it. A collective's own file says what it needs. */

enum cohort__role {
    COHORT__ROLE_ANY,
    COHORT__ROLE_ROOT,     /* only the root may call this */
    COHORT__ROLE_NON_ROOT, /* everybody but the root */
};

/* What COHORT_IN_PLACE stands for, where it may be given. */
enum cohort__in_place {
    COHORT__IN_PLACE_NEVER,
    COHORT__IN_PLACE_ALL, /* IN is OUT, from its beginning */
    COHORT__IN_PLACE_OWN, /* IN is this site's block of OUT */
    COHORT__IN_PLACE_OUT, /* OUT is this site's block of IN */
};

/* The blocks of one of the buffers, as the caller describes them: num_sites of them, or neighbours.
 */
struct cohort__blocks {
    const char *name; /* of the argument, for messages; NULL: no blocks of different sizes */
    const size_t *counts;
    const size_t *displacements;  /* in elements; in bytes where there are types; or NULL */
    const cohort_datatype *types; /* or NULL: the call's */
    const cohort_neighbour *neighbours;
    size_t num_neighbours;
};

struct cohort__ragged {
    enum cohort__variant variant;
    bool is_graph;           /* neighbours, not a block for each site */
    bool counts_agree;       /* all sites give the same counts */
    bool is_in_place_of_out; /* in place, the blocks of IN are those of OUT */
    bool checks_own;         /* the call's count is that of this site's block, too */
    struct cohort__blocks in;
    struct cohort__blocks out;
};

struct cohort__call {
    const char *function; /* for messages */
    enum cohort__collective collective;
    enum cohort__role role;
    enum cohort__in_place in_place; /* may it be? */
    bool needs_in;
    bool needs_out;
    bool has_rows;   /* may be asked for a future for each row */
    bool of_objects; /* IN and OUT are arrays of cohort_object; no count, no datatype */
    cohort_comm *comm;
    const void *in;
    void *out;
    size_t count;             /* of a block, or of this site's own one */
    cohort_datatype datatype; /* 0: no elements, a barrier; or a type for each block */
    const cohort_op *op;
    int64_t q; /* of a shift */
    uint64_t generation;
    const struct cohort__ragged *ragged; /* NULL: blocks of one size */

    /* By cohort__call_take_options and cohort__call_check. */
    const struct cohort__next_call *options; /* the endpoint's, if it is called */
    bool is_reproducible;
    bool is_checked; /* agreement comes first */
    bool is_in_place;
    bool is_alone;      /* there will be no more than agreement */
    uint8_t forced_row; /* as in forced.h: by this call */
};

/* The same without a plan, by a meeting of the sites, which all live here; in call_meeting.c. */
cohort_future *cohort__call_meet(const struct cohort__call *call, uint32_t root, uint32_t shift,
                                 uint64_t fingerprint, const struct cohort__signature *signature);

/* The bytes that a meeting copies at this site since CALL is in place. */
size_t cohort__call_meeting_copies(const struct cohort__call *call);

/* Fills in CALL's generation where the communicator numbers its calls. Never NULL. */
cohort_future *cohort__call_start(struct cohort__call *call);

/* What OPTIONS, which have to stay, and those of the communicator come to for CALL. */
void cohort__call_take_options(struct cohort__call *call, const struct cohort__next_call *options);

/* A message about CALL: which communicator, generation, site and function. Returns STATUS. */
cohort_status cohort__call_wrong(const struct cohort__call *call, cohort_status status,
                                 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* call_check.c: role, options, buffers, operation; sets is_in_place. */
cohort_status cohort__call_check(struct cohort__call *call);

/* What of that may differ although the call is like the last one: where its buffers are, and what
 * is in them. */
cohort_status cohort__call_check_buffers(const struct cohort__call *call);

/* How the blocks of CALL are described. */
enum cohort__variant cohort__call_variant(const struct cohort__call *call);

/* What of a call decides its plan. */
struct cohort__shape {
    struct cohort__request request;
    struct cohort__plan_key key;
    const void *tail; /* the parts: in scratch memory of the endpoint's cache */
    size_t tail_bytes;
    uint64_t counts_hash; /* of counts that all sites have to agree on */
};

/* The root of a rooted collective; 0 for the others. */
uint32_t cohort__call_root(const struct cohort__call *call);

/* How far CALL, a shift, shifts: modulo the number of sites. */
uint32_t cohort__call_shift(const struct cohort__call *call);

/* call_shape.c: the shape of CALL. Fails where the blocks are wrong. */
cohort_status cohort__call_shape(const struct cohort__call *call, struct cohort__shape *ret_shape);

/* call_parts.c: describes the blocks of a ragged call in SHAPE->request, its key's tail and its
 * counts_hash. Fails for blocks beyond memory and sites out of range. */
cohort_status cohort__call_parts(const struct cohort__call *call, struct cohort__shape *shape);

/* Fails where blocks that are received overlap. Slow: for new plans only. */
cohort_status cohort__call_check_overlap(const struct cohort__call *call,
                                         const struct cohort__request *request);

/* The endpoint's cache of plans, which is there from the first call on. */
cohort_status cohort__call_cache(cohort_comm *comm, struct cohort__plan_cache **ret_cache);

/* call_plan.c: the question which row carries out SHAPE, about *RET_REQUEST; and the answer, or why
 * none does. Both only read the endpoint. */
cohort_status cohort__call_question(const struct cohort__call *call,
                                    const struct cohort__shape *shape,
                                    struct cohort__request *ret_request,
                                    struct cohort__question *ret_question);
cohort_status cohort__call_choose(const struct cohort__call *call,
                                  const struct cohort__shape *shape,
                                  struct cohort__candidate *ret_choice);

/* call_plan.c: a reference to the plan for SHAPE, from the cache or built now. */
cohort_status cohort__call_plan(const struct cohort__call *call, const struct cohort__shape *shape,
                                struct cohort__plan_entry **ret_entry);

#endif
