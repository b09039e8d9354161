/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: finds deadlocks: tasks that wait for one another in a circle. */
#include <stdlib.h>
#include <string.h>

#include "cohort/status.h"
#include "runtime/base/error.h"
#include "tools/cohortrun/status_private.h"

/* So many circles are looked for. */
enum { MAX_CYCLES = 16 };

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

static void follow(void *context, const struct status_edge *edge)
{
    struct search *search = context;
    const struct status_task next = edge->task;
    if (!next.wait || search->model->job->localities[next.rank].end)
        return; /* what a locality waited for that has ended holds nobody up */
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
    search->path[search->depth++] = task;
    *colour_of(search, task) = OPEN;
    (void)status_follow(search->model, task, follow, search);
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

/* A task that waits for itself, or for one that awaits it, is one for certain, however young. */
static bool waits_for_itself(const struct status_model *model, const struct status_cycle *cycle)
{
    return cycle->num == 1 && status_model_target(model, cycle->tasks[0]).task;
}

static cohort_status find_certain(struct status_model *model)
{
    struct status_stuck *stuck = NULL;
    cohort_status status = model->num_cycles > 0 ? status_stuck_create(&stuck, model) : COHORT_OK;
    for (uint32_t i = 0; i < model->num_cycles && !status; i++) {
        struct status_cycle *cycle = &model->cycles[i];
        cycle->is_certain = true;
        for (uint32_t k = 0; k < cycle->num; k++)
            cycle->is_certain &= status_is_stuck(stuck, cycle->tasks[k]);
        cycle->is_certain |= waits_for_itself(model, cycle);
    }
    status_stuck_destroy(stuck);
    return status;
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
    return status ? status : find_certain(model);
}
