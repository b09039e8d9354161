/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/share.h"
#include "examples/task_bench.h"

/* A site, which has the columns from begin to end. */
struct member {
    const struct shape *shape;
    cohort_comm *comm;
    uint32_t owners[SHAPE_WIDTH]; /* the sites that have the columns */
    uint32_t begin, end;
    uint64_t last[SHAPE_WIDTH]; /* results of the step before, as far as they are needed here */
    uint64_t results[SHAPE_WIDTH];
    cohort_future *calls[SHAPE_WIDTH * SHAPE_WIDTH];
    size_t num_calls;
};

/* Runs the tasks of this site's columns. */
static cohort_status run_tasks(struct member *member, uint32_t step)
{
    for (uint32_t column = member->begin; column < member->end; column++) {
        const struct shape_columns *inputs = &shape_set(member->shape, step)->inputs[column];
        for (uint32_t i = 0; step > 0 && i < inputs->num; i++)
            if (member->last[inputs->columns[i]] != task_bench_result(step - 1, inputs->columns[i]))
                return task_bench_wrong(step - 1, inputs->columns[i]);
        member->results[column] = task_bench_result(step, column);
    }
    return COHORT_OK;
}

/* Sends the result of COLUMN to each other site once that needs it. The columns of a site follow
 * each other, and so do its outputs. The tag says which column it is. */
static void send_column(struct member *member, const struct shape_columns *outputs, uint32_t column)
{
    uint32_t last_owner = member->owners[column];
    for (uint32_t i = 0; i < outputs->num; i++) {
        uint32_t owner = member->owners[outputs->columns[i]];
        if (owner != member->owners[column] && owner != last_owner)
            member->calls[member->num_calls++] =
                cohort_channel_set(member->comm, owner, column, &member->results[column],
                                   sizeof(member->results[column]));
        last_owner = owner;
    }
}

/* Gets the result of COLUMN if one of this site's tasks needs it. */
static void get_column(struct member *member, const struct shape_columns *outputs, uint32_t column)
{
    for (uint32_t i = 0; i < outputs->num; i++) {
        if (outputs->columns[i] < member->begin || outputs->columns[i] >= member->end)
            continue;
        member->calls[member->num_calls++] =
            cohort_channel_get(member->comm, member->owners[column], column, &member->last[column],
                               sizeof(member->last[column]), NULL);
        return;
    }
}

/* Hands on the results to STEP. */
static cohort_status exchange(struct member *member, uint32_t step)
{
    const struct shape_set *set = shape_set(member->shape, step);
    cohort_status status = COHORT_OK;
    member->num_calls = 0;
    for (uint32_t column = 0; column < SHAPE_WIDTH; column++) {
        const struct shape_columns *outputs = &set->outputs[column];
        if (column < member->begin || column >= member->end) {
            get_column(member, outputs, column);
        } else {
            member->last[column] = member->results[column];
            send_column(member, outputs, column);
        }
    }
    for (size_t i = 0; i < member->num_calls; i++) {
        cohort_status one = cohort_await(member->calls[i]);
        status = status ? status : one;
    }
    return status;
}

cohort_status task_bench_by_channels(const struct shape *shape, uint32_t steps, cohort_comm *comm)
{
    static struct member member; /* a locality has one */
    uint32_t num_sites = cohort_num_localities();
    cohort_status status = COHORT_OK;
    member = (struct member){.shape = shape, .comm = comm};
    for (uint32_t site = 0; site < num_sites; site++)
        for (size_t i = share_begin(SHAPE_WIDTH, num_sites, site);
             i < share_begin(SHAPE_WIDTH, num_sites, site + 1); i++)
            member.owners[i] = site;
    member.begin = (uint32_t)share_begin(SHAPE_WIDTH, num_sites, cohort_locality());
    member.end = (uint32_t)share_begin(SHAPE_WIDTH, num_sites, cohort_locality() + 1);
    for (uint32_t step = 0; !status && step < steps; step++) {
        status = run_tasks(&member, step);
        if (!status && step + 1 < steps)
            status = exchange(&member, step + 1);
    }
    return status;
}
