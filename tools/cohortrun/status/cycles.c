/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: finds deadlocks: tasks that wait for one another in a circle, and can't go on. */
#include <stdlib.h>
#include <string.h>

#include "cohort/status.h"
#include "runtime/base/error.h"
#include "tools/cohortrun/status/model.h"

/* Tasks that can't go on --------------------------------------------------------------------- */

/* All waits are taken to be stuck, and then those are let go that may end, until none is found any
 * more. What is left can only go on after another one of it has, which is never.
 *
 * A task or the holder of a mutex is known. Who calls for a site, or sends for it, is not: that may
 * be another task there than the one that did it last, or a task that has not begun yet. So a site
 * will not come for certain if its locality is quiet: all of its tasks wait, and all are stuck. */
struct stuck {
    const struct status_model *model;
    bool **is_free; /* by locality and look_number */
    bool *is_quiet; /* by locality */
    uint64_t age;   /* younger waits may not have been there when others were read */
};

/* More rounds are not made: then nothing is for certain. */
enum { MAX_ROUNDS = 64 };

static const uint64_t second_ns = 1000000000;

struct count {
    const struct stuck *stuck;
    uint64_t num_stuck;
};

static bool is_stuck(const struct stuck *stuck, struct status_task task)
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
        counted->num_stuck += edge->task.wait && is_stuck(counted->stuck, edge->task);
}

static bool may_end(const struct stuck *stuck, struct status_task task)
{
    struct count counted = {.stuck = stuck};
    if (task.wait->age < stuck->age)
        return true;
    const uint64_t needed = status_follow(stuck->model, task, count, &counted);
    return needed == 0 || counted.num_stuck < needed;
}

/* False: there is none any more that may end. */
static bool let_go(struct stuck *stuck)
{
    const struct status_job *job = stuck->model->job;
    bool any = false;
    for (uint32_t rank = 0; rank < job->num; rank++) {
        const struct look *look = job->localities[rank].look;
        for (uint32_t i = 0; look && i < look_num_nodes(look); i++) {
            const struct status_task task = {rank, look_node(look, i)};
            if (!is_stuck(stuck, task) || !may_end(stuck, task))
                continue;
            stuck->is_free[rank][i] = any = true;
            stuck->is_quiet[rank] &= look_is_listed(look, task.wait); /* that is no task */
        }
    }
    return any;
}

static void let_all_go(struct stuck *stuck)
{
    const struct status_job *job = stuck->model->job;
    for (uint32_t rank = 0; rank < job->num; rank++)
        for (uint32_t i = 0;
             job->localities[rank].look && i < look_num_nodes(job->localities[rank].look); i++)
            stuck->is_free[rank][i] = true;
}

static cohort_status allocate_stuck(struct stuck *stuck)
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

static void free_stuck(struct stuck *stuck)
{
    if (!stuck)
        return;
    for (uint32_t rank = 0; stuck->is_free && rank < stuck->model->job->num; rank++)
        free(stuck->is_free[rank]);
    free(stuck->is_free);
    free(stuck->is_quiet);
    free(stuck);
}

static cohort_status find_stuck(struct stuck **ret_stuck, const struct status_model *model)
{
    const struct status_job *job = model->job;
    struct stuck *stuck = status_allocate(1, sizeof(*stuck));
    if (!stuck)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    stuck->model = model;
    cohort_status status = allocate_stuck(stuck);
    if (status) {
        free_stuck(stuck);
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

/* Circles ------------------------------------------------------------------------------------ */

/* So many circles are looked for. */
enum { MAX_CYCLES = 16 };

enum colour { NEW, OPEN, DONE };

struct search {
    struct status_model *model;
    const struct stuck *stuck; /* only those that are stuck are gone through; NULL: all */
    unsigned char **colours;   /* by locality and look_number */
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
    return search->stuck && !is_stuck(search->stuck, task);
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
static cohort_status search_all(struct status_model *model, const struct stuck *stuck)
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
    struct stuck *stuck = NULL;
    cohort_status status = find_stuck(&stuck, model);
    if (status)
        return status;
    model->num_cycles = 0;
    status = search_all(model, stuck);
    for (uint32_t i = 0; i < model->num_cycles; i++)
        model->cycles[i].is_certain = true;
    free_stuck(stuck);
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
