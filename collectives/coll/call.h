/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_H
#define COHORT_COLLECTIVES_COLL_CALL_H

#include "cohort/collectives.h"
#include "cohort/objects.h"
#include "cohort/ragged.h"
#include "collectives/algo/algorithm.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/fingerprint.h"
#include "collectives/comm/operation.h"
#include "collectives/exec/plan_cache.h"

/* A call of a collective, as its own file describes it, and what its parts (call_*.c) all need to
 * know of it. By the caller's thread; the caller does not make two calls at the same time. */

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
    const cohort_layout_neighbour *layouts; /* in place of these */
    size_t num_neighbours;
};

/* The number of elements in the block at INDEX, if that has a layout where it needs one. */
static inline size_t cohort__blocks_count(const struct cohort__blocks *blocks, size_t index)
{
    if (blocks->layouts)
        return cohort_layout_num_elements(blocks->layouts[index].layout);
    return blocks->neighbours ? blocks->neighbours[index].count : blocks->counts[index];
}

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
    bool is_sparse;  /* or IN is a cohort__sparse_in, and OUT a cohort_site_objects */
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

    /* Set by cohort__call_take_options and cohort__call_check (call_check.h). */
    const struct cohort__next_call *options; /* the endpoint's, in a real call */
    bool is_reproducible;
    bool is_checked; /* an agreement comes first */
    bool is_in_place;
    bool is_alone;                /* there will be nothing but an agreement */
    struct cohort__forced forced; /* by this call */

    /* Set by call_layout.h, if the options have layouts. */
    bool holds_rows; /* the rows complete with the call, by `sequel` */
    struct cohort__operation *sequel;

    /* Set by call_start.c: what watches its deadline and scope, to be added once it is called. */
    struct cohort__deadline *deadline;     /* NULL: it has none */
    struct cohort__scoped_run *scoped_run; /* NULL: the latest one goes on */
    bool is_scoped;                        /* its task is in a scope */
};

/* Sets in CALL what follows from its collective, and from who calls it: which buffers it needs,
 * what COHORT_IN_PLACE means, and whether it has rows. Inline for those to whom the collective is a
 * constant. */
static inline void cohort__call_take_form(struct cohort__call *call)
{
    const enum cohort__collective collective = call->collective;
    const bool is_root = call->role == COHORT__ROLE_ROOT;
    const bool is_away = call->role == COHORT__ROLE_NON_ROOT;
    const bool goes_out = collective == COHORT__SCATTER || collective == COHORT__BROADCAST;
    const bool comes_in = collective == COHORT__GATHER || collective == COHORT__REDUCE;
    call->needs_in = !(goes_out && is_away);
    call->needs_out = !(comes_in && is_away) && !(collective == COHORT__BROADCAST && is_root) &&
                      !(collective == COHORT__EXCLUSIVE_SCAN && call->comm &&
                        cohort_comm_this_site(call->comm) == 0);
    if (call->of_objects || is_away)
        return;
    call->has_rows = collective == COHORT__GATHER || collective == COHORT__ALL_GATHER ||
                     collective == COHORT__ALL_TO_ALL;
    if (collective == COHORT__GATHER || collective == COHORT__ALL_GATHER)
        call->in_place = COHORT__IN_PLACE_OWN;
    else if (collective == COHORT__SCATTER)
        call->in_place = COHORT__IN_PLACE_OUT;
    else if (cohort__collective_reduces(collective) || collective == COHORT__ALL_TO_ALL)
        call->in_place = COHORT__IN_PLACE_ALL;
}

/* Where the plan is to put a future for each row, or NULL. */
static inline cohort_future **cohort__call_ret_rows(const struct cohort__call *call)
{
    return call->holds_rows ? NULL : call->options->ret_rows;
}

/* Sets in CALL what follows from OPTIONS, which must stay, and from those of the communicator.
 * Inline, since each call comes by here. */
static inline void cohort__call_take_options(struct cohort__call *call,
                                             const struct cohort__next_call *options)
{
    const cohort_comm *comm = call->comm;
    bool is_asymmetric = call->collective == COHORT__GATHER || call->collective == COHORT__SCATTER;
    call->options = options;
    call->is_reproducible = call->options->reproducible || comm->reproducible;
    call->is_alone = call->collective == COHORT__CHECK;
    call->is_checked = call->options->check_asymmetric || call->collective == COHORT__CHECK ||
                       (is_asymmetric && comm->check_asymmetric);
}

/* Sets a message about CALL, which names communicator, generation, site and function. Returns
 * STATUS. */
cohort_status cohort__call_wrong(const struct cohort__call *call, cohort_status status,
                                 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* How the blocks of CALL are described. */
enum cohort__variant cohort__call_variant(const struct cohort__call *call);

/* All of a call that decides its plan. */
struct cohort__shape {
    struct cohort__request request;
    struct cohort__plan_key key;
    const void *tail; /* the parts, in scratch memory of the endpoint's cache */
    size_t tail_bytes;
    uint64_t counts_hash;             /* of counts that must be equal at all sites */
    struct cohort__segments segments; /* of blocks of one size, if the sites can meet */
};

/* The root of a rooted collective. 0 for the others. */
uint32_t cohort__call_root(const struct cohort__call *call);

/* The distance of CALL, a shift, modulo the number of sites. */
uint32_t cohort__call_shift(const struct cohort__call *call);

/* The endpoint's cache of plans, made by the first call. */
cohort_status cohort__call_cache(cohort_comm *comm, struct cohort__plan_cache **ret_cache);

/* How much CALL gives and gets, as cohort_hook_call says. CALL has been checked. */
struct cohort__hook_bytes cohort__call_bytes(const struct cohort__call *call);

/* The size of IN of CALL, or if IS_OUT of its OUT, whose blocks are all of one size. The count has
 * been checked. 0: the call has none. */
size_t cohort__call_array_bytes(const struct cohort__call *call, bool is_out);

/* Whether IN of CALL, or if IS_OUT its OUT, has a block for each site, if blocks have one size. */
bool cohort__call_has_block_for_each(const struct cohort__call *call, bool is_out);

/* How many bytes a meeting copies at this site because CALL is in place. */
size_t cohort__call_meeting_copies(const struct cohort__call *call);

#endif
