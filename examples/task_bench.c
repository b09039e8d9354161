/* SPDX-License-Identifier: Apache-2.0 */
/* Runs graphs of tasks that do nothing but check their inputs, and prints what a task takes:
 *
 *     COHORT_WORKERS=2 task_bench
 *     cohortrun -n 2 task_bench
 *
 * Alone it starts a task for each point of a graph (task_bench_counters.c). In a job of several
 * localities they share the columns, and send each other results (task_bench_channels.c). */
#include "examples/task_bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "examples/command.h"

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The first of two runs warms up. All localities begin together. */
static cohort_status run_shape(cohort_comm *comm, const char *name, uint32_t steps,
                               uint64_t *generation)
{
    static struct shape shape;
    uint64_t elapsed_ns = 0;
    shape_init(&shape, name);
    for (int i = 0; i < 2; i++) {
        cohort_status status = cohort_await(cohort_barrier(comm, ++*generation));
        uint64_t start = now();
        if (!status)
            status = cohort_num_localities() == 1 ? task_bench_by_counters(&shape, steps)
                                                  : task_bench_by_channels(&shape, steps, comm);
        if (status)
            return status;
        elapsed_ns = now() - start;
    }
    if (cohort_locality() == 0)
        printf("%s: %.1f ns a task\n", name, (double)elapsed_ns / ((double)steps * SHAPE_WIDTH));
    return COHORT_OK;
}

static cohort_status program(void *arg)
{
    uint32_t steps = *(uint32_t *)arg;
    uint64_t generation = 0;
    cohort_comm *comm = NULL;
    cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                   .this_site = cohort_locality()};
    cohort_status status = cohort_await(cohort_comm_create(&comm, "task_bench", &options));
    if (!status && cohort_locality() == 0)
        printf("graphs: %" PRIu32 " steps of %d tasks\n"
               "localities: %" PRIu32 ", with %" PRIu32 " workers each\n",
               steps, SHAPE_WIDTH, cohort_num_localities(), cohort_num_workers());
    for (size_t i = 0; !status && shape_names[i]; i++)
        status = run_shape(comm, shape_names[i], steps, &generation);
    cohort_comm_unref(comm);
    return status;
}

int main(int argc, char **argv)
{
    uint32_t steps = 1000;
    const struct command_option rows[] = {
        {"steps", "N", "of each graph; 1000", .number = &steps, .min = 2, .max = 100000},
    };
    const struct command command = {
        .name = "task_bench",
        .about = "Runs graphs of tasks that do nothing but check their inputs, and prints what a "
                 "task takes.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    return cohort_main(argc, argv, program, &steps);
}
