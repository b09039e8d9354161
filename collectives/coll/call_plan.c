/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_plan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cohort/comm.h"
#include "collectives/algo/agreement.h"
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/sparse.h"
#include "collectives/coll/call.h"
#include "collectives/coll/call_layout.h"
#include "collectives/coll/tuning.h"
#include "collectives/comm/endpoint.h"
#include "collectives/exec/engine.h"
#include "collectives/plan/decorations.h"

/* The question which row carries out REQUEST on COMM, with equal blocks. Only COMM's options force
 * a row. Valid as long as COMM and REQUEST exist. */
static cohort_status choice_question(cohort_comm *comm, const struct cohort__request *request,
                                     struct cohort__question *ret_question)
{
    const struct cohort__tuning *tuning;
    struct cohort__forced forced = comm->forced[request->collective];
    cohort_status status = cohort__tuning_get(comm, &tuning);
    if (status)
        return status;
    *ret_question = (struct cohort__question){
        .request = request,
        .parameters = &tuning->parameters,
        .placement = &tuning->placement,
        .mode = comm->is_flat          ? COHORT__MODE_FLAT
                : comm->is_tree_forced ? COHORT__MODE_TREE
                                       : COHORT__MODE_ANY,
        .forced = forced.row ? cohort__algorithms[forced.row - 1] : NULL,
        .forced_inner = forced.inner,
        .is_reproducible = comm->reproducible,
        .memory_budget = comm->memory_budget,
    };
    return COHORT_OK;
}

/* The assumed size of an object, or of a block of those whose sizes differ, when an algorithm is
 * chosen, since sites don't know the real ones. Of a sparse call most objects are empty. */
enum { OBJECT_BYTES = 1024, SPARSE_OBJECT_BYTES = 32 };

/* All sites must come to the same one, also where the call of a site is wrong. So what the sites
 * may do together depends on the communicator alone. */
static struct cohort__request agreement_request(const struct cohort__call *call,
                                                const struct cohort__request *like)
{
    struct cohort__request request = cohort__agreement_request(like);
    request.can_meet = call->comm->group->is_whole;
    request.meets = !request.can_meet;
    request.has_notes = call->comm->group->has_notes;
    return request;
}

/* Builds the plan of CHOICE's row. A row without one, whose sites meet, gets a plan with the
 * meeting as its step. */
static cohort_status build_row(const struct cohort__candidate *choice,
                               struct cohort__request *request, struct cohort__plan **ret_plan)
{
    request->inner = choice->inner;
    return choice->algorithm->shared
               ? cohort__shared_build(request, ret_plan)
               : cohort__algorithm_build(choice->algorithm, request, ret_plan);
}

static cohort_status build_sparse(const struct cohort__candidate *choice,
                                  struct cohort__request *request, struct cohort__plan **ret_plan)
{
    request->inner = choice->inner;
    return cohort__sparse_build(choice->algorithm, request, ret_plan);
}

/* Chooses the all_reduce of the agreement. All sites must come to the same choice, so it depends
 * only on the sites of the call. The minimum is the same in any order, so the row need not be
 * reproducible. If no row fits what the communicator forces and its budget, chooses one without
 * these. */
static cohort_status choose_minimum(const struct cohort__call *call,
                                    const struct cohort__request *request,
                                    struct cohort__candidate *ret_choice)
{
    struct cohort__question question;
    cohort_status status = choice_question(call->comm, request, &question);
    if (status)
        return status;
    question.is_reproducible = false;
    status = cohort__select(&question, ret_choice);
    if (status) {
        question.forced = NULL;
        question.memory_budget = 0;
        status = cohort__select(&question, ret_choice);
    }
    return status;
}

/* How much of the budget the agreement takes, if there is one. */
static cohort_status memory_of_agreement(const struct cohort__call *call,
                                         const struct cohort__shape *shape, double *ret_memory)
{
    struct cohort__candidate choice = {0};
    struct cohort__request request = agreement_request(call, &shape->request);
    bool counts = call->is_checked && call->comm->memory_budget > 0;
    cohort_status status = counts ? choose_minimum(call, &request, &choice) : COHORT_OK;
    *ret_memory = counts ? choice.cost.memory + cohort__cost_tmp(1, COHORT__CHECK_BYTES) : 0;
    return status;
}

/* Whether the blocks of CALL have sizes that only those know who send and receive them. Not those
 * of an exchange, which has no other row. */
static bool sizes_differ(const struct cohort__call *call)
{
    return call->ragged && !call->ragged->counts_agree && !call->ragged->is_graph;
}

/* All sites have to ask the same, so without what only this one knows. */
static void forget_sizes(const struct cohort__call *call, struct cohort__request *request)
{
    request->element = 1;
    request->can_meet = call->comm->group->is_whole;
    request->has_notes = false;
    request->in_parts = request->out_parts = NULL;
    request->num_in_parts = request->num_out_parts = 0;
}

cohort_status cohort__call_question(const struct cohort__call *call,
                                    const struct cohort__shape *shape,
                                    struct cohort__request *ret_request,
                                    struct cohort__question *ret_question)
{
    struct cohort__question question;
    *ret_request = shape->request;
    if (sizes_differ(call))
        forget_sizes(call, ret_request);
    if (call->of_objects || sizes_differ(call))
        ret_request->bytes = call->is_sparse ? SPARSE_OBJECT_BYTES : OBJECT_BYTES;
    cohort_status status = choice_question(call->comm, ret_request, &question);
    if (!status)
        status = memory_of_agreement(call, shape, &question.memory_beside);
    if (status)
        return status;
    if (shape->key.row) {
        question.forced = cohort__algorithms[shape->key.row - 1];
        question.forced_inner = shape->key.inner;
    }
    if (call->is_sparse && !question.forced)
        question.forced = cohort__sparse_row(ret_request);
    if (call->is_sparse)
        question.memory_budget = 0; /* nobody knows how many objects there are */
    question.is_reproducible = shape->key.flags & COHORT__PLAN_REPRODUCIBLE;
    question.is_ragged = call->ragged != NULL;
    question.are_sizes_known = !call->ragged || call->ragged->counts_agree;
    *ret_question = question;
    return COHORT_OK;
}

cohort_status cohort__call_choose(const struct cohort__call *call,
                                  const struct cohort__shape *shape,
                                  struct cohort__candidate *ret_choice)
{
    struct cohort__question question;
    struct cohort__request request;
    cohort_status status = cohort__call_question(call, shape, &request, &question);
    if (status)
        return status;
    status = cohort__select(&question, ret_choice);
    return status ? cohort__call_wrong(call, status, "%s", cohort_error_message()) : COHORT_OK;
}

/* Replaces *PLAN by a plan that works in place. Takes the old one, on failure too. */
static cohort_status put_in_place(const struct cohort__call *call,
                                  const struct cohort__request *request, struct cohort__plan **plan)
{
    struct cohort__plan *inner = *plan;
    size_t offset = 0;
    if (call->in_place == COHORT__IN_PLACE_OWN)
        offset = cohort__request_out(request, request->this_site).offset;
    cohort_status status = call->in_place == COHORT__IN_PLACE_OUT
                               ? cohort__plan_without_out(inner, plan)
                               : cohort__plan_in_place(inner, offset, plan);
    cohort__plan_unref(inner);
    return status;
}

/* Replaces *PLAN by a plan that says when each row is done. Takes the old one, on failure too. */
static cohort_status add_rows(const struct cohort__request *request, struct cohort__plan **plan)
{
    const uint32_t num = request->num_sites;
    struct cohort__plan *inner = *plan;
    struct cohort__row *rows = calloc(num, sizeof(*rows));
    cohort_status status = COHORT_OK;
    if (!rows)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the rows of a plan");
    for (uint32_t site = 0; rows && site < num; site++) {
        struct cohort__part part = cohort__request_out(request, site);
        rows[site] = (struct cohort__row){part.offset, part.bytes};
    }
    if (!status)
        status = cohort__plan_rows(inner, rows, num, plan);
    free(rows);
    cohort__plan_unref(inner);
    return status;
}

/* The row that was chosen, and that among its leaders. */
struct chosen {
    uint32_t row;
    uint32_t inner; /* + 1; 0: none */
};

/* Builds the plan of CHOICE's row, and adds what the call asks for. */
static cohort_status build_chosen(const struct cohort__call *call,
                                  const struct cohort__shape *shape,
                                  const struct cohort__candidate *choice,
                                  struct cohort__plan **ret_plan)
{
    const uint32_t flags = shape->key.flags;
    struct cohort__request request = shape->request;
    struct cohort__plan *plan = NULL;
    cohort_status status = call->is_sparse ? build_sparse(choice, &request, &plan)
                                           : build_row(choice, &request, &plan);
    if (!status && flags & (COHORT__PLAN_IN_PLACE | COHORT__PLAN_IN_PLACE_OUT))
        status = put_in_place(call, &shape->request, &plan);
    if (!status && flags & COHORT__PLAN_ROWS)
        status = add_rows(&shape->request, &plan);
    if (!status)
        *ret_plan = plan;
    return status;
}

/* Builds the plan of the call without its agreement. *RET_PLAN is NULL if the row has no plan. */
static cohort_status build_collective(const struct cohort__call *call,
                                      const struct cohort__shape *shape,
                                      struct cohort__plan **ret_plan, struct chosen *ret_chosen)
{
    struct cohort__candidate choice = {0};
    struct cohort__plan *plan = NULL;
    cohort_status status = cohort__call_check_overlap(call, shape);
    if (!status)
        status = cohort__call_choose(call, shape, &choice);
    if (status)
        return status;
    /* Without a plan the sites meet, nothing comes before, and bytes are moved. */
    if (!choice.algorithm->shared || call->is_checked || call->of_objects)
        status = build_chosen(call, shape, &choice, &plan);
    if (status)
        return status;
    *ret_plan = plan;
    *ret_chosen = (struct chosen){choice.row, choice.inner};
    return COHORT_OK;
}

static cohort_status build_minimum(const struct cohort__call *call,
                                   const struct cohort__request *like,
                                   struct cohort__plan **ret_plan, struct chosen *ret_chosen)
{
    struct cohort__candidate choice;
    struct cohort__request request = agreement_request(call, like);
    cohort_status status = choose_minimum(call, &request, &choice);
    if (!status)
        status = build_row(&choice, &request, ret_plan);
    if (!status)
        *ret_chosen = (struct chosen){choice.row, choice.inner};
    return status;
}

/* Builds the plan with the agreement in front. It is the agreement alone if the call is wrong,
 * since then there will be no collective, or if the agreement is the call. *RET_CHOSEN is that of
 * the collective, if there is one. */
static cohort_status build_checked(const struct cohort__call *call,
                                   const struct cohort__shape *shape,
                                   struct cohort__plan **ret_plan, struct chosen *ret_chosen)
{
    bool is_alone = shape->key.flags & COHORT__PLAN_ALONE;
    struct cohort__plan *minimum = NULL, *collective = NULL;
    cohort_status status = build_minimum(call, &shape->request, &minimum, ret_chosen);
    if (!status && !is_alone)
        status = build_collective(call, shape, &collective, ret_chosen);
    if (!status)
        status = cohort__agreement_build(minimum, collective, ret_plan);
    cohort__plan_unref(minimum);
    cohort__plan_unref(collective);
    return status;
}

static cohort_status build(const struct cohort__call *call, const struct cohort__shape *shape,
                           struct cohort__plan **ret_plan, struct chosen *ret_chosen)
{
    return shape->key.flags & COHORT__PLAN_CHECKED
               ? build_checked(call, shape, ret_plan, ret_chosen)
               : build_collective(call, shape, ret_plan, ret_chosen);
}

/* Only here is known how much memory a call takes in full. Each site decides for itself whether it
 * is in place, and how large blocks of different sizes are. A site that takes too much fails, and
 * the others are told. */
static cohort_status check_budget(const struct cohort__call *call,
                                  const struct cohort__shape *shape,
                                  const struct cohort__plan *plan, uint32_t row)
{
    uint64_t budget = call->comm->memory_budget;
    if (budget == 0 || shape->key.flags & COHORT__PLAN_ALONE)
        return COHORT_OK;
    size_t bytes = plan ? plan->tmp_bytes : cohort__call_meeting_copies(call);
    if (bytes <= budget)
        return COHORT_OK;
    return cohort__call_wrong(call, COHORT_ERR_NO_MEMORY,
                              "algorithm %s takes %zu bytes of memory at this site%s; the budget "
                              "is %" PRIu64,
                              cohort__algorithms[row]->name, bytes,
                              call->is_in_place ? ", in place" : "", budget);
}

cohort_status cohort__call_plan(const struct cohort__call *call, const struct cohort__shape *shape,
                                struct cohort__plan_entry **ret_entry)
{
    struct cohort__plan_cache *cache;
    struct cohort__plan *plan = NULL;
    struct chosen chosen = {0};
    cohort_status status = cohort__call_cache(call->comm, &cache);
    if (status)
        return status;
    *ret_entry = cohort__plan_cache_find(cache, &shape->key, shape->tail);
    if (*ret_entry)
        return COHORT_OK;
    status = build(call, shape, &plan, &chosen);
    if (!status)
        status = check_budget(call, shape, plan, chosen.row);
    if (!status) {
        status =
            cohort__plan_cache_add(cache, &shape->key, shape->tail, plan, chosen.row, ret_entry);
        if (!status) {
            (*ret_entry)->inner = (uint8_t)chosen.inner;
            cohort__plan_cache_charge(cache, *ret_entry, cohort__execution_bytes(*ret_entry));
        }
        return status;
    }
    cohort__plan_unref(plan);
    return status;
}
