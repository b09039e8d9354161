/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: finds the tasks that can't go on: a circle of these is a deadlock for certain. */
#include <stdlib.h>

#include "cohort/status.h"
#include "runtime/base/error.h"
#include "tools/cohortrun/status_private.h"

/* All waits are taken to be stuck, and then those are let go that may end, until none is found any
 * more. What is left can only go on after another one of it has, which is never.
 *
 * A task or the holder of a mutex is known. Who calls for a site, or sends for it, is not: that may
 * be another task there than the one that did it last, or a task that has not begun yet. So a site
 * will not come for certain if its locality is quiet: all of its tasks wait, and all are stuck. */
struct status_stuck {
    const struct status_model *model;
    bool **is_free; /* by locality and look_number */
    bool *is_quiet; /* by locality */
    uint64_t age;   /* younger waits may not have been there when others were read */
};

/* More rounds are not made: then nothing is for certain. */
enum { MAX_ROUNDS = 64 };

static const uint64_t second_ns = 1000000000;

struct count {
    const struct status_stuck *stuck;
    uint64_t num_stuck;
};

bool status_is_stuck(const struct status_stuck *stuck, struct status_task task)
{
    const struct look *look = stuck->model->job->localities[task.rank].look;
    return !stuck->is_free[task.rank][look_number(look, task.wait)];
}

static void count(void *context, const struct status_edge *edge)
{
    struct count *counted = context;
    if (edge->is_site)
        counted->num_stuck += counted->stuck->is_quiet[edge->task.rank];
    else
        counted->num_stuck += edge->task.wait && status_is_stuck(counted->stuck, edge->task);
}

static bool may_end(const struct status_stuck *stuck, struct status_task task)
{
    struct count counted = {.stuck = stuck};
    if (task.wait->age < stuck->age)
        return true;
    const uint64_t needed = status_follow(stuck->model, task, count, &counted);
    return needed == 0 || counted.num_stuck < needed;
}

/* False: there is none any more that may end. */
static bool let_go(struct status_stuck *stuck)
{
    const struct status_job *job = stuck->model->job;
    bool any = false;
    for (uint32_t rank = 0; rank < job->num; rank++) {
        const struct look *look = job->localities[rank].look;
        for (uint32_t i = 0; look && i < look_num_nodes(look); i++) {
            const struct status_task task = {rank, look_node(look, i)};
            if (!status_is_stuck(stuck, task) || !may_end(stuck, task))
                continue;
            stuck->is_free[rank][i] = any = true;
            stuck->is_quiet[rank] &= look_is_listed(look, task.wait); /* that is no task */
        }
    }
    return any;
}

static void let_all_go(struct status_stuck *stuck)
{
    const struct status_job *job = stuck->model->job;
    for (uint32_t rank = 0; rank < job->num; rank++)
        for (uint32_t i = 0;
             job->localities[rank].look && i < look_num_nodes(job->localities[rank].look); i++)
            stuck->is_free[rank][i] = true;
}

static cohort_status allocate(struct status_stuck *stuck)
{
    const struct status_job *job = stuck->model->job;
    stuck->is_free = status_allocate(job->num, sizeof(*stuck->is_free));
    stuck->is_quiet = status_allocate(job->num, sizeof(*stuck->is_quiet));
    bool is_short = !stuck->is_free || !stuck->is_quiet;
    for (uint32_t rank = 0; rank < job->num && !is_short; rank++) {
        const struct look *look = job->localities[rank].look;
        stuck->is_free[rank] = status_allocate(look ? look_num_nodes(look) : 0, sizeof(bool));
        is_short = !stuck->is_free[rank];
    }
    return is_short ? cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory") : COHORT_OK;
}

cohort_status status_stuck_create(struct status_stuck **ret_stuck, const struct status_model *model)
{
    const struct status_job *job = model->job;
    struct status_stuck *stuck = status_allocate(1, sizeof(*stuck));
    if (!stuck)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    stuck->model = model;
    cohort_status status = allocate(stuck);
    if (status) {
        status_stuck_destroy(stuck);
        return status;
    }
    for (uint32_t rank = 0; rank < job->num; rank++) {
        const struct status_locality *locality = &job->localities[rank];
        const struct look *look = locality->look;
        stuck->is_quiet[rank] = look && !locality->end && look_is_quiet(look);
        if (look && look->tick_age > stuck->age)
            stuck->age = look->tick_age;
    }
    stuck->age += second_ns;
    int rounds = 0;
    while (rounds < MAX_ROUNDS && let_go(stuck))
        rounds++;
    if (rounds == MAX_ROUNDS)
        let_all_go(stuck);
    *ret_stuck = stuck;
    return COHORT_OK;
}

void status_stuck_destroy(struct status_stuck *stuck)
{
    if (!stuck)
        return;
    for (uint32_t rank = 0; stuck->is_free && rank < stuck->model->job->num; rank++)
        free(stuck->is_free[rank]);
    free(stuck->is_free);
    free(stuck->is_quiet);
    free(stuck);
}
