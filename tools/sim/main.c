/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: where it begins: simulates each algorithm that was asked for. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/sim/limits.h"
#include "tools/sim/options.h"
#include "tools/sim/report.h"

enum { STATUS_FAILED = 1, STATUS_USAGE = 2 };

/* Everything that is to be simulated: one algorithm, or all of the collective. */
struct program {
    struct sim_options options;
    struct cohort__network network;
    const struct cohort__algorithm **algorithms;
    struct sim_outcome *outcomes; /* of each of them */
    size_t num_algorithms;
};

static cohort_status choose(struct program *program)
{
    const struct sim_options *options = &program->options;
    program->algorithms = calloc(cohort__num_algorithms, sizeof(const void *));
    program->outcomes = calloc(cohort__num_algorithms, sizeof(*program->outcomes));
    if (!program->algorithms || !program->outcomes)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory");
    for (uint32_t i = 0; i < cohort__num_algorithms; i++)
        if (options->algorithm ? cohort__algorithms[i] == options->algorithm
                               : cohort__algorithms[i]->collective == options->request.collective)
            program->algorithms[program->num_algorithms++] = cohort__algorithms[i];
    return cohort__network_init(&program->network, options->network, options->request.num_sites);
}

static cohort_status simulate(struct program *program, size_t index)
{
    const struct sim_options *options = &program->options;
    struct sim_outcome *outcome = &program->outcomes[index];
    outcome->algorithm = program->algorithms[index];
    outcome->refuses = sim_refuses(outcome->algorithm, &options->request);
    if (outcome->refuses)
        return COHORT_OK;
    outcome->predicted = sim_predicted(outcome->algorithm, &options->request, &options->costs);
    return cohort__simulate_algorithm(&program->network, &options->costs, outcome->algorithm,
                                      &options->request, &outcome->result);
}

static cohort_status run_network(struct program *program)
{
    cohort_status status = choose(program);
    for (size_t i = 0; i < program->num_algorithms && status == COHORT_OK; i++)
        status = simulate(program, i);
    if (status == COHORT_OK && program->options.plot)
        status = sim_plot(&program->options, program->algorithms, program->num_algorithms);
    if (status != COHORT_OK)
        return status;
    sim_report_print(&program->options, &program->network, program->outcomes,
                     program->num_algorithms);
    return COHORT_OK;
}

static cohort_status run_machine(const struct sim_options *options)
{
    const struct cohort__algorithm *rows[COHORT__MAX_CANDIDATES];
    size_t num = 0;
    for (uint32_t i = 0; i < cohort__num_algorithms && num < COHORT__MAX_CANDIDATES; i++)
        if (options->algorithm ? cohort__algorithms[i] == options->algorithm
                               : cohort__algorithms[i]->collective == options->request.collective)
            rows[num++] = cohort__algorithms[i];
    cohort_status status = options->plot ? sim_plot(options, rows, num) : COHORT_OK;
    return status ? status : sim_world_report(options);
}

static cohort_status run(struct program *program)
{
    const struct sim_options *options = &program->options;
    cohort_status status = options->machine.hosts > 0 ? run_machine(options) : run_network(program);
    if (!status && (fflush(stdout) || ferror(stdout)))
        return cohort_fail(COHORT_ERR_SYSTEM, "standard output can't be written");
    return status;
}

int main(int argc, char **argv)
{
    struct program program = {0};
    int status = sim_options_read(argc, argv, &program.options);
    if (status >= 0)
        return status;
    const struct cohort__algorithm *only = program.options.algorithm;
    bool is_machine = program.options.machine.hosts > 0;
    const char *refuses = NULL;
    if (only && !is_machine)
        refuses = sim_refuses(only, &program.options.request);
    if (refuses && !program.options.plot) {
        fprintf(stderr, "cohort-sim: --algorithm %s refuses: %s\n", only->name, refuses);
        return STATUS_USAGE;
    }
    status = 0;
    sim_limit_memory();
    cohort_status outcome = run(&program);
    if (outcome != COHORT_OK) {
        fprintf(stderr, "cohort-sim: %s\n", cohort_error_message());
        /* What is wrong with a machine's options is only found there. */
        status = is_machine && outcome == COHORT_ERR_BAD_PARAMETER ? STATUS_USAGE : STATUS_FAILED;
    }
    for (size_t i = 0; i < program.num_algorithms; i++)
        cohort__sim_result_fini(&program.outcomes[i].result);
    free(program.algorithms);
    free(program.outcomes);
    return status;
}
