/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: finds deadlocks: tasks that wait for one another in a circle. */
#include <stdlib.h>
#include <string.h>

#include "cohort/status.h"
#include "runtime/base/error.h"
#include "tools/cohortrun/status_private.h"

/* Only what is known for certain is followed: each task of a circle waits for the next one. So many
 * circles are looked for. */
enum { MAX_CYCLES = 16 };

static const uint64_t second_ns = 1000000000;

enum colour { NEW, OPEN, DONE };

struct search {
    struct status_model *model;
    unsigned char **colours; /* by locality and wait */
    struct status_task path[STATUS_MAX_CYCLE];
    uint32_t depth;
};

static void visit(struct search *search, struct status_task task);

static unsigned char *colour_of(const struct search *search, struct status_task task)
{
    const struct look *look = search->model->job->localities[task.rank].look;
    return &search->colours[task.rank][task.wait - look->waits];
}

/* The path leads from TASK to TASK. */
static void note_cycle(struct search *search, struct status_task task)
{
    struct status_model *model = search->model;
    uint32_t first = search->depth;
    while (first > 0 && search->path[first - 1].wait != task.wait)
        first--;
    if (first == 0 || model->num_cycles == MAX_CYCLES)
        return;
    struct status_cycle *cycle = &model->cycles[model->num_cycles++];
    cycle->num = search->depth - first + 1;
    memcpy(cycle->tasks, &search->path[first - 1], cycle->num * sizeof(*cycle->tasks));
}

static void follow(struct search *search, uint32_t rank, const struct look_wait *wait)
{
    const struct status_task next = {rank, wait};
    if (!wait)
        return;
    if (*colour_of(search, next) == OPEN)
        note_cycle(search, next);
    else if (*colour_of(search, next) == NEW)
        visit(search, next);
}

/* A task at which the path would be too long is left for a later search, which begins there. */
static void visit(struct search *search, struct status_task task)
{
    if (search->depth == STATUS_MAX_CYCLE)
        return;
    const struct look *look = search->model->job->localities[task.rank].look;
    struct status_target target = status_model_target(search->model, task);
    search->path[search->depth++] = task;
    *colour_of(search, task) = OPEN;
    if (target.task)
        follow(search, task.rank, look_find_wait(look, target.task));
    if (target.has_sender)
        follow(search, target.sender.rank, target.sender.wait);
    for (uint32_t i = 0; target.comm && i < target.comm->num_listed && i < STATUS_MAX_MISSING; i++)
        if (target.comm->missing[i].fate == STATUS_WAITS)
            follow(search, target.comm->missing[i].rank, target.comm->missing[i].wait);
    *colour_of(search, task) = DONE;
    search->depth--;
}

static cohort_status allocate(struct search *search)
{
    const struct status_job *job = search->model->job;
    search->model->cycles = status_allocate(MAX_CYCLES, sizeof(*search->model->cycles));
    search->colours = status_allocate(job->num, sizeof(*search->colours));
    bool is_short = !search->model->cycles || !search->colours;
    for (uint32_t rank = 0; rank < job->num && !is_short; rank++) {
        const struct look *look = job->localities[rank].look;
        search->colours[rank] = status_allocate(look ? look->num_waits : 0, 1);
        is_short = !search->colours[rank];
    }
    return is_short ? cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory") : COHORT_OK;
}

cohort_status status_find_cycles(struct status_model *model)
{
    struct search search = {.model = model};
    const struct status_job *job = model->job;
    cohort_status status = allocate(&search);
    for (uint32_t rank = 0; rank < job->num && !status; rank++) {
        const struct look *look = job->localities[rank].look;
        for (uint32_t i = 0; look && i < look->num_waits; i++) {
            const struct status_task task = {rank, &look->waits[i]};
            if (*colour_of(&search, task) == NEW)
                visit(&search, task);
        }
    }
    for (uint32_t rank = 0; search.colours && rank < job->num; rank++)
        free(search.colours[rank]);
    free(search.colours);
    return status;
}

/* If each wait is old, so that it was there when the others were read, and if each
 * communicator misses one site only: not each collective needs all sites. And a message may be
 * meant to come from another task of its site. */
bool status_model_is_certain(const struct status_model *model, const struct status_cycle *cycle)
{
    for (uint32_t i = 0; i < cycle->num; i++) {
        struct status_target target = status_model_target(model, cycle->tasks[i]);
        if (cycle->num == 1 && target.task)
            return true; /* it waits for itself */
        if (cycle->tasks[i].wait->age < second_ns || target.has_sender ||
            (target.comm && target.comm->num_missing != 1))
            return false;
    }
    return true;
}
