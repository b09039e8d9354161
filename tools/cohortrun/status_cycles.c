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
    const struct status_stuck *stuck; /* only those that are stuck are gone through; NULL: all */
    unsigned char **colours;          /* by locality and look_number */
    struct status_task path[STATUS_MAX_CYCLE];
    uint32_t depth;
};

static void visit(struct search *search, struct status_task task);

static unsigned char *colour_of(const struct search *search, struct status_task task)
{
    const struct look *look = search->model->job->localities[task.rank].look;
    return &search->colours[task.rank][look_number(look, task.wait)];
}

static const struct status_task *next_real(const struct status_model *model,
                                           const struct status_task *task,
                                           const struct status_task *end)
{
    while (task < end && look_is_listed(model->job->localities[task->rank].look, task->wait))
        task++;
    return task;
}

/* Whether NUM TASKS are those of CYCLE, but for the inputs on the way from one to the next. */
static bool are_those_of(const struct status_model *model, const struct status_cycle *cycle,
                         const struct status_task *tasks, uint32_t num)
{
    const struct status_task *a = cycle->tasks, *a_end = a + cycle->num;
    const struct status_task *b = tasks, *b_end = b + num;
    for (;; a++, b++) {
        a = next_real(model, a, a_end);
        b = next_real(model, b, b_end);
        if (a == a_end || b == b_end)
            return a == a_end && b == b_end;
        if (a->wait != b->wait)
            return false;
    }
}

static void add_cycle(struct status_model *model, const struct status_task *tasks, uint32_t num)
{
    for (uint32_t i = 0; i < model->num_cycles; i++)
        if (are_those_of(model, &model->cycles[i], tasks, num))
            return;
    if (model->num_cycles == MAX_CYCLES)
        return;
    struct status_cycle *cycle = &model->cycles[model->num_cycles++];
    cycle->num = num;
    memcpy(cycle->tasks, tasks, num * sizeof(*tasks));
}

/* The path leads from TASK to TASK. */
static void note_cycle(struct search *search, struct status_task task)
{
    uint32_t first = search->depth;
    while (first > 0 && search->path[first - 1].wait != task.wait)
        first--;
    if (first > 0)
        add_cycle(search->model, &search->path[first - 1], search->depth - first + 1);
}

static bool is_left_out(const struct search *search, struct status_task task)
{
    return search->stuck && !status_is_stuck(search->stuck, task);
}

static void follow(void *context, const struct status_edge *edge)
{
    struct search *search = context;
    const struct status_task next = edge->task;
    if (!next.wait || search->model->job->localities[next.rank].end || is_left_out(search, next))
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
    search->colours = status_allocate(job->num, sizeof(*search->colours));
    bool is_short = !search->colours;
    for (uint32_t rank = 0; rank < job->num && !is_short; rank++) {
        const struct look *look = job->localities[rank].look;
        search->colours[rank] = status_allocate(look ? look_num_nodes(look) : 0, 1);
        is_short = !search->colours[rank];
    }
    return is_short ? cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory") : COHORT_OK;
}

/* A task that waits for itself, or for one that awaits it, is one for certain, however young. */
static bool waits_for_itself(const struct status_model *model, const struct status_cycle *cycle)
{
    return cycle->num == 1 && status_model_target(model, cycle->tasks[0]).task;
}

/* Of those that are stuck only, if STUCK is not NULL. */
static cohort_status search_all(struct status_model *model, const struct status_stuck *stuck)
{
    struct search search = {.model = model, .stuck = stuck};
    const struct status_job *job = model->job;
    cohort_status status = allocate(&search);
    for (uint32_t rank = 0; rank < job->num && !status; rank++) {
        const struct look *look = job->localities[rank].look;
        for (uint32_t i = 0; look && i < look->num_waits; i++) {
            const struct status_task task = {rank, &look->waits[i]};
            if (*colour_of(&search, task) == NEW && !is_left_out(&search, task))
                visit(&search, task);
        }
    }
    for (uint32_t rank = 0; search.colours && rank < job->num; rank++)
        free(search.colours[rank]);
    free(search.colours);
    return status;
}

/* Those of PERHAPS that are none for certain come behind those that are: of several ways from a
 * task to the next one, by the inputs of a combinator, one may be certain and another one not. */
static cohort_status find_certain(struct status_model *model, const struct status_cycle *perhaps,
                                  uint32_t num)
{
    struct status_stuck *stuck;
    cohort_status status = status_stuck_create(&stuck, model);
    if (status)
        return status;
    model->num_cycles = 0;
    status = search_all(model, stuck);
    for (uint32_t i = 0; i < model->num_cycles; i++)
        model->cycles[i].is_certain = true;
    status_stuck_destroy(stuck);
    for (uint32_t i = 0; i < num; i++)
        add_cycle(model, perhaps[i].tasks, perhaps[i].num);
    for (uint32_t i = 0; i < model->num_cycles; i++)
        model->cycles[i].is_certain |= waits_for_itself(model, &model->cycles[i]);
    return status;
}

cohort_status status_find_cycles(struct status_model *model)
{
    const size_t bytes = MAX_CYCLES * sizeof(*model->cycles);
    struct status_cycle *perhaps = status_allocate(1, bytes);
    model->cycles = status_allocate(1, bytes);
    cohort_status status = perhaps && model->cycles
                               ? search_all(model, NULL)
                               : cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    const uint32_t num = model->num_cycles;
    if (!status && num > 0) {
        memcpy(perhaps, model->cycles, bytes);
        memset(model->cycles, 0, bytes);
        status = find_certain(model, perhaps, num);
    }
    free(perhaps);
    return status;
}
