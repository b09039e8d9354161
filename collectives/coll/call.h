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

/* What all collectives have in common: they check the arguments, pass the gate, find or build the
 * plan, and start it. A collective's own file says what that collective needs. */

enum cohort__role {
    COHORT__ROLE_ANY,
    COHORT__ROLE_ROOT,     /* only the root may call this */
    COHORT__ROLE_NON_ROOT, /* all except the root may call this */
};

/* What COHORT_IN_PLACE stands for, if the call may be in place. */
enum cohort__in_place {
    COHORT__IN_PLACE_NEVER,
    COHORT__IN_PLACE_ALL, /* IN is OUT, from its beginning */
    COHORT__IN_PLACE_OWN, /* IN is this site's block of OUT */
    COHORT__IN_PLACE_OUT, /* OUT is this site's block of IN */
};

/* The blocks of one of the buffers, as the caller describes them: one for each site, or
 * neighbours. */
struct cohort__blocks {
    const char *name; /* of the argument, for messages; NULL: all blocks have one size */
    const size_t *counts;
    const size_t *displacements;  /* in elements, or in bytes if there are types; or NULL */
    const cohort_datatype *types; /* or NULL: all have the call's type */
    const cohort_neighbour *neighbours;
    size_t num_neighbours;
};

struct cohort__ragged {
    enum cohort__variant variant;
    bool is_graph;           /* blocks are for neighbours, not one for each site */
    bool counts_agree;       /* all sites give the same counts */
    bool is_in_place_of_out; /* in place, the blocks of IN are described by `out` */
    bool checks_own;         /* the call's count must also be that of this site's block */
    struct cohort__blocks in;
    struct cohort__blocks out;
};

struct cohort__call {
    const char *function; /* for messages */
    enum cohort__collective collective;
    enum cohort__role role;
    enum cohort__in_place in_place; /* whether the call may be in place, and how */
    bool needs_in;
    bool needs_out;
    bool has_rows;   /* the caller may ask for a future for each row */
    bool of_objects; /* IN and OUT are arrays of cohort_object; no count, no datatype */
    cohort_comm *comm;
    const void *in;
    void *out;
    size_t count;             /* of a block, or of this site's own block */
    cohort_datatype datatype; /* 0: a barrier has no elements, or each block has a type */
    const cohort_op *op;
    int64_t q;                    /* the distance of a shift */
    enum cohort__purpose purpose; /* NONE: the user's own */
    uint64_t generation;
    const struct cohort__ragged *ragged; /* NULL: blocks of one size */

    /* Set by cohort__call_take_options and cohort__call_check. */
    const struct cohort__next_call *options; /* the endpoint's, in a real call */
    bool is_reproducible;
    bool is_checked; /* an agreement comes first */
    bool is_in_place;
    bool is_alone;                /* there will be nothing but an agreement */
    struct cohort__forced forced; /* by this call */
};

/* call_meeting.c. Starts CALL without a plan, by a meeting of its sites, which share memory. */
cohort_future *cohort__call_meet(const struct cohort__call *call, uint32_t root, uint32_t shift,
                                 uint64_t fingerprint, const struct cohort__signature *signature);

/* How many bytes a meeting copies at this site because CALL is in place. */
size_t cohort__call_meeting_copies(const struct cohort__call *call);

/* Starts CALL. Sets its generation if the communicator numbers its calls. Never NULL. */
cohort_future *cohort__call_start(struct cohort__call *call);

/* The same for a CALL that its own function has found wrong: it uses up its generation, and the
 * calls of all sites fail with STATUS and WHY. There is a communicator. */
cohort_future *cohort__call_refuse(struct cohort__call *call, cohort_status status,
                                   const char *why);

/* Sets in CALL what follows from OPTIONS, which must stay, and from those of the communicator. */
void cohort__call_take_options(struct cohort__call *call, const struct cohort__next_call *options);

/* Sets a message about CALL, which names communicator, generation, site and function. Returns
 * STATUS. */
cohort_status cohort__call_wrong(const struct cohort__call *call, cohort_status status,
                                 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* call_check.c. Checks role, options, buffers and operation. Sets is_in_place. */
cohort_status cohort__call_check(struct cohort__call *call);

/* The part of these checks that is needed even if the call is like the last one: where its buffers
 * are, and what is in them. */
cohort_status cohort__call_check_buffers(const struct cohort__call *call);

/* How the blocks of CALL are described. */
enum cohort__variant cohort__call_variant(const struct cohort__call *call);

/* All of a call that decides its plan. */
struct cohort__shape {
    struct cohort__request request;
    struct cohort__plan_key key;
    const void *tail; /* the parts, in scratch memory of the endpoint's cache */
    size_t tail_bytes;
    uint64_t counts_hash; /* of counts that must be equal at all sites */
};

/* The root of a rooted collective. 0 for the others. */
uint32_t cohort__call_root(const struct cohort__call *call);

/* The distance of CALL, a shift, modulo the number of sites. */
uint32_t cohort__call_shift(const struct cohort__call *call);

/* call_shape.c. The shape of CALL. Fails if the blocks are wrong. */
cohort_status cohort__call_shape(const struct cohort__call *call, struct cohort__shape *ret_shape);

/* call_parts.c. Describes the blocks of a ragged call in SHAPE: in its request, its tail and its
 * counts_hash. Fails if blocks end beyond memory or sites are out of range. */
cohort_status cohort__call_parts(const struct cohort__call *call, struct cohort__shape *shape);

/* Fails if blocks that are received overlap. Slow, so only done for new plans. */
cohort_status cohort__call_check_overlap(const struct cohort__call *call,
                                         const struct cohort__request *request);

/* call_parcels.c. Whether the blocks of CALL have sizes that only those know who send and receive
 * them. Not those of an exchange, which has no other row. */
bool cohort__call_sizes_differ(const struct cohort__call *call);

/* Whether the blocks of CALL go as parcels (exec/parcel_steps.h) if ALGORITHM
 * carries it out: if their sizes differ, and the row is for blocks of one size. */
bool cohort__call_has_parcels(const struct cohort__call *call,
                              const struct cohort__algorithm *algorithm);

/* The request for such a row, of LIKE's: blocks of one byte. */
struct cohort__request cohort__call_parcels_request(const struct cohort__call *call,
                                                    const struct cohort__request *like);

/* How many rows of OUT this site gets. */
uint32_t cohort__call_parcels_rows(const struct cohort__call *call,
                                   const struct cohort__request *request);

/* Where CALL's parcels are. TAIL is the entry's. */
struct cohort__parcels;
void cohort__call_parcels(const struct cohort__call *call, const struct cohort__request *request,
                          const void *tail, struct cohort__parcels *ret_in,
                          struct cohort__parcels *ret_out);

/* The endpoint's cache of plans, made by the first call. */
cohort_status cohort__call_cache(cohort_comm *comm, struct cohort__plan_cache **ret_cache);

/* call_plan.c. _question: the question which row carries out SHAPE. It refers to *RET_REQUEST.
 * _choose: the answer, or why no row can. Both only read the endpoint. */
cohort_status cohort__call_question(const struct cohort__call *call,
                                    const struct cohort__shape *shape,
                                    struct cohort__request *ret_request,
                                    struct cohort__question *ret_question);
cohort_status cohort__call_choose(const struct cohort__call *call,
                                  const struct cohort__shape *shape,
                                  struct cohort__candidate *ret_choice);

/* call_plan.c. A reference to the plan for SHAPE, from the cache or built now. */
cohort_status cohort__call_plan(const struct cohort__call *call, const struct cohort__shape *shape,
                                struct cohort__plan_entry **ret_entry);

#endif
