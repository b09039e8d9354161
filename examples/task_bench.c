/* SPDX-License-Identifier: Apache-2.0 */
/* Runs graphs of tasks that do nothing but check their inputs, and prints what a task takes:
 *
 *     COHORT_WORKERS=2 task_bench
 *     cohortrun -n 2 task_bench
 *
 * Alone it starts a task for each point of a graph (task_bench_counters.c). In a job of several
 * localities they share the columns, and send each other results (task_bench_channels.c). With
 * --plain each locality does all the work in a loop (task_bench_plain.c), which shows how much of
 * the time is not the tasks'. */
#include "examples/task_bench.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "examples/command.h"

struct options {
    uint32_t steps;
    bool is_plain;
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static cohort_status run_once(const struct shape *shape, const struct options *options,
                              cohort_comm *comm)
{
    if (options->is_plain)
        return task_bench_plainly(shape, options->steps);
    return cohort_num_localities() == 1 ? task_bench_by_counters(shape, options->steps)
                                        : task_bench_by_channels(shape, options->steps, comm);
}

/* The first of two runs warms up. All localities begin together. */
static cohort_status run_shape(cohort_comm *comm, const char *name, const struct options *options)
{
    static struct shape shape;
    uint64_t elapsed_ns = 0;
    shape_init(&shape, name);
    for (int i = 0; i < 2; i++) {
        cohort_status status = cohort_await(cohort_barrier(comm, COHORT_AUTO_GENERATION));
        uint64_t start = now();
        if (!status)
            status = run_once(&shape, options, comm);
        if (status)
            return status;
        elapsed_ns = now() - start;
    }
    if (cohort_locality() == 0)
        printf("%s: %.1f ns a task\n", name,
               (double)elapsed_ns / ((double)options->steps * SHAPE_WIDTH));
    return COHORT_OK;
}

static cohort_status program(void *arg)
{
    const struct options *options = arg;
    cohort_comm *comm = NULL;
    cohort_comm_options comm_options = {.num_sites = cohort_num_localities(),
                                        .this_site = cohort_locality(),
                                        .auto_generation = true};
    cohort_status status = cohort_await(cohort_comm_create(&comm, "task_bench", &comm_options));
    if (!status && cohort_locality() == 0)
        printf("graphs: %" PRIu32 " steps of %d tasks\n"
               "localities: %" PRIu32 ", with %" PRIu32 " workers each%s\n",
               options->steps, SHAPE_WIDTH, cohort_num_localities(), cohort_num_workers(),
               options->is_plain ? ", but without tasks" : "");
    for (size_t i = 0; !status && shape_names[i]; i++)
        status = run_shape(comm, shape_names[i], options);
    cohort_comm_unref(comm);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.steps = 1000};
    const struct command_option rows[] = {
        {"steps", "N", "of each graph; 1000", .number = &options.steps, .min = 2, .max = 100000},
        {"plain", NULL, "all the work in a loop of each locality, without tasks",
         .flag = &options.is_plain},
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
    return cohort_main(argc, argv, program, &options);
}
