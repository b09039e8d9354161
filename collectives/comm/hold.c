/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/hold.h"

#include "collectives/comm/early.h"
#include "collectives/comm/idle.h"
#include "collectives/comm/operation.h"
#include "runtime/base/container.h"

/* Two ways to hold a call back. While it is in flight, its operation has a future of ours, the
 * stand-in, in place of the caller's. So the end of a call is the same code whether it is held back
 * or not, and until the stand-in is complete the operation is there. A call that has not started
 * finds a mark among the parked messages of its generation. */

bool cohort__hold_is_over(const struct cohort__hold *hold)
{
    return !hold->real && !hold->is_marked;
}

/* The call has ended well, but fails all the same. */
static void take_back(const struct cohort__hold *hold)
{
    if (hold->handout.take_back)
        hold->handout.take_back(hold->handout.out, hold->handout.num);
}

/* The call has ended, and it is known what the caller gets. */
static void settle(struct cohort__hold *hold)
{
    struct cohort_comm *comm = hold->comm;
    cohort_future *real = hold->real, *stand_in = hold->stand_in;
    bool has_failed = cohort__future_status(stand_in) != COHORT_OK;
    bool is_taken_back = hold->outcome == COHORT__OUTCOME_REFUSED && !has_failed;
    hold->real = NULL;
    hold->stand_in = NULL;
    atomic_fetch_sub(&comm->num_open, 1);
    if (is_taken_back) {
        take_back(hold);
        cohort__future_complete(real, hold->error->status, hold->error);
    } else {
        cohort__future_complete_like(real, stand_in);
    }
    cohort_future_unref(stand_in);
    cohort__endpoint_over(comm);
    hold->over(hold);
}

/* Who fails need not wait for the verdict: it promises nobody anything. */
static void on_ended(struct cohort__waiter *waiter)
{
    struct cohort__hold *hold = COHORT_CONTAINER_OF(waiter, struct cohort__hold, ended);
    hold->has_ended = true;
    if (hold->outcome != COHORT__OUTCOME_OPEN || cohort__future_status(hold->stand_in))
        settle(hold);
}

static void hold_back(struct cohort__hold *hold, struct cohort__operation *operation)
{
    hold->real = operation->future;
    operation->future = hold->stand_in;
    hold->handout = operation->handout;
    atomic_fetch_add(&hold->comm->num_open, 1);
    (void)cohort__future_wait_with(hold->stand_in, &hold->ended); /* it is pending */
}

/* The generation is called, and has failed or may start; or it is left out, or the site leaves. */
static void run_mark(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort__hold *hold = COHORT_CONTAINER_OF(item, struct cohort__hold, mark.item);
    (void)actor;
    hold->is_marked = false;
    hold->over(hold);
}

/* How the site stands with a generation that it has passed. */
static enum cohort__vote vote_of_past(const struct cohort_comm *comm, uint64_t generation)
{
    if (comm->has_left && generation >= comm->gone_from)
        return COHORT__VOTE_GONE;
    if (cohort__history_skipped(&comm->history, generation))
        return COHORT__VOTE_LEFT_OUT;
    return cohort__endpoint_failure(comm, generation) ? COHORT__VOTE_FAILED : COHORT__VOTE_OK;
}

static enum cohort__vote freeze(struct cohort__hold *hold)
{
    struct cohort_comm *comm = hold->comm;
    uint64_t generation = hold->mark.generation;
    struct cohort__operation *operation = cohort__endpoint_find(comm, generation);
    if (operation && operation->failure.status)
        return COHORT__VOTE_FAILED; /* it will end */
    if (operation) {
        hold_back(hold, operation);
        return COHORT__VOTE_IN_FLIGHT;
    }
    bool waits = cohort__endpoint_find_waiting(comm, generation) != NULL;
    if (!waits && (comm->has_left || generation <= comm->history.last))
        return vote_of_past(comm, generation);
    hold->is_marked = true;
    cohort__early_put(comm, &hold->mark);
    return waits ? COHORT__VOTE_WAITS : COHORT__VOTE_NOT_CALLED;
}

static void run_freeze(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort__hold *hold = COHORT_CONTAINER_OF(item, struct cohort__hold, item);
    (void)actor;
    hold->vote = freeze(hold);
    hold->done(hold);
}

void cohort__hold_freeze(struct cohort__hold *hold)
{
    hold->item.run = run_freeze;
    cohort__endpoint_post(hold->comm, &hold->item);
}

void cohort__hold_name(const struct cohort__hold *hold, char *name, size_t bytes,
                       bool *ret_may_end_alone)
{
    const struct cohort_comm *comm = hold->comm;
    uint64_t generation = hold->mark.generation;
    const struct cohort__operation *operation = cohort__endpoint_find(hold->comm, generation);
    const struct cohort__ended *ended = &comm->window[generation % COHORT__WINDOW].ended;
    if (!operation)
        operation = cohort__endpoint_find_waiting(hold->comm, generation);
    const struct cohort__signature *signature = operation ? &operation->signature
                                                : ended->generation == generation
                                                    ? &ended->signature
                                                    : NULL;
    name[0] = 0;
    *ret_may_end_alone = signature && cohort__signature_may_end_alone(signature);
    if (signature)
        cohort__signature_name(signature, name, bytes);
}

/* Telling ----------------------------------------------------------------------------------- */

static void tell_marked(struct cohort__hold *hold)
{
    struct cohort_comm *comm = hold->comm;
    if (hold->outcome == COHORT__OUTCOME_REFUSED) {
        struct cohort__operation *operation =
            cohort__endpoint_find_waiting(comm, hold->mark.generation);
        hold->mark.error = *hold->error; /* which stays */
        cohort__early_refuse(comm, &hold->mark);
        if (operation) {
            cohort__operation_refuse_waiting(operation, hold->stand_in, hold->error);
            hold->stand_in = NULL;
        }
        cohort__endpoint_resume(comm);
    } else {
        cohort__early_take(comm, &hold->mark);
        hold->is_marked = false;
        cohort__endpoint_resume(comm);
        hold->over(hold);
    }
}

/* All sites are told by the verdict. */
static void refuse_in_flight(struct cohort__hold *hold)
{
    struct cohort__operation *operation = cohort__endpoint_find(hold->comm, hold->mark.generation);
    operation->are_all_told = true;
    cohort__operation_fail(operation, hold->error);
}

static void run_tell(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort__hold *hold = COHORT_CONTAINER_OF(item, struct cohort__hold, item);
    (void)actor;
    hold->outcome = hold->told;
    if (hold->is_marked)
        tell_marked(hold);
    else if (hold->real && hold->has_ended)
        settle(hold);
    else if (hold->real && hold->outcome == COHORT__OUTCOME_REFUSED)
        refuse_in_flight(hold);
    hold->done(hold);
}

void cohort__hold_tell(struct cohort__hold *hold, enum cohort__outcome outcome,
                       const struct cohort__error *error)
{
    hold->error = error;
    hold->told = outcome;
    hold->item.run = run_tell;
    cohort__endpoint_post(hold->comm, &hold->item);
}

/* Life -------------------------------------------------------------------------------------- */

cohort_status cohort__hold_init(struct cohort__hold *hold, uint64_t generation,
                                void (*done)(struct cohort__hold *hold),
                                void (*over)(struct cohort__hold *hold))
{
    hold->stand_in = cohort__future_create();
    hold->done = done;
    hold->over = over;
    hold->ended.notify = on_ended;
    hold->mark.item.run = run_mark;
    hold->mark.kind = COHORT__KIND_VERDICT;
    hold->mark.source_site = COHORT__NO_SITE;
    hold->mark.generation = generation;
    return hold->stand_in ? COHORT_OK : cohort__error_slot()->status;
}

/* A stand-in that was not needed has both of its references. */
void cohort__hold_fini(struct cohort__hold *hold)
{
    if (hold->real && hold->has_ended && cohort__future_status(hold->stand_in) == COHORT_OK)
        take_back(hold);
    if (hold->real)
        cohort__future_fail(hold->real, COHORT_ERR_CANCELLED, "the job is over");
    if (hold->stand_in && !hold->real)
        cohort_future_unref(hold->stand_in);
    cohort_future_unref(hold->stand_in);
}
