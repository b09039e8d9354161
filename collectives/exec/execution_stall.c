/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/execution_stall.h"

#include <inttypes.h>
#include <stdlib.h>

#include "collectives/exec/activity.h"
#include "collectives/exec/meet.h"
#include "collectives/exec/note_steps.h"
#include "collectives/exec/stall.h"

/* Whether STEP waits for its peer, which has to send, or to take what it is sent. Before the sites
 * agree, an early SEND does not: its peer may be wrong, and the agreement is to say so. */
static bool awaits(const struct cohort__execution *execution, uint32_t step)
{
    const uint8_t kind = execution->plan->steps[step].kind;
    if (kind == COHORT__STEP_MEET || kind == COHORT__STEP_POST)
        return false; /* see meet.c, note_steps.c */
    if (cohort__execution_is_before_agreement(execution, step))
        return false;
    if (execution->states[step] != COHORT__STEP_BUSY)
        return execution->states[step] == COHORT__STEP_POSTED;
    const struct cohort__activity *activity = execution->held[step];
    return activity->kind == COHORT__ACTIVITY_SEND || activity->kind == COHORT__ACTIVITY_LOAN;
}

/* The sites that steps of EXECUTION wait for, each of them once. */
struct walk {
    const struct cohort__execution *execution;
    bool *seen;    /* by site; NULL: no memory, so one may come more than once */
    uint32_t step; /* the first that waits for SITE */
    uint32_t site;
};

static struct walk walk_begin(const struct cohort__execution *execution)
{
    return (struct walk){.execution = execution,
                         .seen = calloc(execution->plan->num_sites, sizeof(bool)),
                         .step = UINT32_MAX};
}

/* False: there is none any more. */
static bool walk_next(struct walk *walk)
{
    while (++walk->step < walk->execution->plan->num_steps) {
        if (!awaits(walk->execution, walk->step))
            continue;
        walk->site = cohort__note_awaited(walk->execution, walk->step);
        if (walk->seen && walk->seen[walk->site])
            continue;
        if (walk->seen)
            walk->seen[walk->site] = true;
        return true;
    }
    return false;
}

static void walk_end(struct walk *walk)
{
    free(walk->seen);
}

/* Steps by their sites. A site may be asked by all others, and answers each; and gets an answer of
 * each. So neither may take as long as a plan that has steps with all of them. */

/* Whom a READ waits for changes while it does, so they are behind all sites. */
static uint32_t site_of(const struct cohort__plan *plan, uint32_t step)
{
    const struct cohort__step *what = &plan->steps[step];
    return what->kind == COHORT__STEP_READ ? COHORT__NO_SITE : what->peer;
}

static int compare(const void *left, const void *right, void *plan)
{
    uint32_t site = site_of(plan, *(const uint32_t *)left);
    uint32_t other = site_of(plan, *(const uint32_t *)right);
    return (site > other) - (site < other);
}

/* Steps of other kinds wait for no single site. */
static struct cohort__steps_by_site *sort_steps(const struct cohort__plan *plan)
{
    struct cohort__steps_by_site *sorted =
        malloc(sizeof(*sorted) + plan->num_steps * sizeof(sorted->steps[0]));
    if (!sorted)
        return NULL;
    sorted->num = 0;
    for (uint32_t step = 0; step < plan->num_steps; step++) {
        const uint8_t kind = plan->steps[step].kind;
        if (kind == COHORT__STEP_SEND || kind == COHORT__STEP_RECV || kind == COHORT__STEP_READ)
            sorted->steps[sorted->num++] = step;
    }
    qsort_r(sorted->steps, sorted->num, sizeof(sorted->steps[0]), compare, (void *)plan);
    return sorted;
}

/* Those of one site; or the READs. */
struct steps {
    const uint32_t *of;
    uint32_t num;
};

/* False: there is no memory. */
static bool find_steps(struct cohort__execution *execution, uint32_t site, struct steps *ret_steps)
{
    if (!execution->by_site)
        execution->by_site = sort_steps(execution->plan);
    const struct cohort__steps_by_site *sorted = execution->by_site;
    if (!sorted)
        return false;
    uint32_t first = 0, end = sorted->num;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (site_of(execution->plan, sorted->steps[middle]) < site)
            first = middle + 1;
        else
            end = middle;
    }
    while (end < sorted->num && site_of(execution->plan, sorted->steps[end]) == site)
        end++;
    *ret_steps = (struct steps){&sorted->steps[first], end - first};
    return true;
}

/* By site, how many messages PLAN receives from it, besides those of its agreement. Only in an
 * exchange may that be more than it sends: there they are the blocks. The caller frees it. NULL: no
 * memory. */
static uint32_t *count_recvs(const struct cohort__plan *plan)
{
    uint32_t *nums = calloc(plan->num_sites, sizeof(*nums));
    for (uint32_t i = 0; nums && i < plan->num_steps; i++) {
        const struct cohort__step *step = &plan->steps[i];
        if (step->kind == COHORT__STEP_RECV && step->phase != COHORT__PHASE_CHECK)
            nums[step->peer]++;
    }
    return nums;
}

void cohort__execution_stalled(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    struct walk walk = walk_begin(execution);
    uint32_t *nums = count_recvs(execution->plan);
    while (walk_next(&walk)) {
        if (execution->answers[walk.step] == COHORT__ANSWER_COMPLETED) {
            walk_end(&walk);
            free(nums);
            cohort__fail_forgotten(operation, walk.site);
            return;
        }
        const uint32_t num = nums ? nums[walk.site] % (1U << COHORT__TAG_BITS) : 0;
        cohort__operation_ask(operation, walk.site,
                              cohort__message_tag(execution->plan->steps[walk.step].phase, num));
    }
    walk_end(&walk);
    free(nums);
    cohort__note_steps_stalled(execution);
    cohort__meets_stalled(execution);
}

/* Plans don't change, so the answer is right whenever it is given: whatever is on its way. */
uint32_t cohort__execution_num_sends(struct cohort__operation *operation, uint32_t site)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    struct steps steps;
    uint32_t num = 0;
    if (!find_steps(execution, site, &steps))
        return UINT32_MAX;
    for (uint32_t i = 0; i < steps.num; i++) {
        const struct cohort__step *step = &execution->plan->steps[steps.of[i]];
        num += step->kind == COHORT__STEP_SEND && step->phase != COHORT__PHASE_CHECK;
    }
    return num;
}

/* Without memory the answer is lost: it will ask again. */
void cohort__execution_answer(struct cohort__operation *operation, uint32_t site,
                              enum cohort__answer answer)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    const uint32_t places[] = {site, COHORT__NO_SITE};
    struct steps steps;
    for (int k = 0; k < 2 && find_steps(execution, places[k], &steps); k++)
        for (uint32_t i = 0; i < steps.num; i++)
            if (awaits(execution, steps.of[i]) &&
                cohort__note_awaited(execution, steps.of[i]) == site)
                execution->answers[steps.of[i]] = (uint8_t)answer;
    cohort__meets_answer(execution, site, answer);
}

uint32_t cohort__execution_find_absent(const struct cohort__operation *operation)
{
    return cohort__meets_find_absent((const struct cohort__execution *)operation);
}

void cohort__execution_peer_died(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    bool was_entered = execution->is_entered;
    cohort__execution_enter(execution);
    if (!operation->failure.status)
        (void)cohort__operation_fail_if_broken(operation);
    if (!was_entered)
        cohort__execution_leave(execution);
}

size_t cohort__execution_describe(const struct cohort__operation *operation, char *text,
                                  size_t used, size_t capacity)
{
    const struct cohort__execution *execution = (const struct cohort__execution *)operation;
    char what[COHORT__SIGNATURE_TEXT];
    cohort__signature_describe(&operation->signature, what, sizeof(what));
    used = cohort__describe_append(text, used, capacity,
                                   "generation %" PRIu64 ", %s:", operation->generation, what);
    struct walk walk = walk_begin(execution);
    while (used + 1 < capacity && walk_next(&walk))
        used = cohort__describe_awaited(operation, text, used, capacity, walk.site,
                                        execution->answers[walk.step]);
    walk_end(&walk);
    used = cohort__note_steps_describe(execution, text, used, capacity);
    used = cohort__meets_describe(execution, text, used, capacity);
    return cohort__describe_append(text, used, capacity, "\n");
}
