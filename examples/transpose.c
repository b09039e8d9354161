/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes a picture over all localities of a job:
 *
 *     cohortrun -n 4 transpose IN.pgm OUT.pgm
 *
 * Every locality runs a few tasks, each of which is one site of one communicator; what a site does
 * is in transpose_site.c. Here are the program that starts them, and main. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <cohort/cohort.h>

#include "examples/transpose_options.h"
#include "examples/transpose_site.h"

struct program {
    struct transpose_options options;
    struct transpose_site *sites; /* of this locality */
    cohort_future **done;         /* of their tasks */
};

/* The first task of each locality: starts the others and waits for them. The sites of a locality
 * are neighbours, so the tree keeps most of its traffic within the locality. */
static cohort_status run_program(void *arg)
{
    struct program *program = arg;
    uint32_t here = program->options.sites_per_locality;
    for (uint32_t i = 0; i < here; i++) {
        struct transpose_site *site = &program->sites[i];
        site->index = cohort_locality() * here + i;
        site->num_sites = cohort_num_localities() * here;
        program->done[i] = cohort_async(transpose_site_run, site);
    }
    return cohort_await(cohort_when_all(program->done, here));
}

/* Before the job starts: a locality that can't take part then ends, and with it the job, instead
 * of letting the others wait for its sites. */
static bool prepare(struct program *program)
{
    const struct transpose_options *options = &program->options;
    program->sites = calloc(options->sites_per_locality, sizeof(*program->sites));
    program->done = calloc(options->sites_per_locality, sizeof(cohort_future *));
    bool is_ready = program->sites && program->done;
    for (uint32_t i = 0; is_ready && i < options->sites_per_locality; i++) {
        program->sites[i].options = options;
        program->sites[i].times = calloc(options->repeat, sizeof(uint64_t));
        is_ready = program->sites[i].times;
    }
    return is_ready;
}

static void release(struct program *program)
{
    for (uint32_t i = 0; program->sites && i < program->options.sites_per_locality; i++)
        free(program->sites[i].times);
    free(program->sites);
    free(program->done);
}

int main(int argc, char **argv)
{
    struct program program = {0};
    switch (transpose_options_parse(argc, argv, &program.options)) {
    case TRANSPOSE_OPTIONS_HELP:
        return 0;
    case TRANSPOSE_OPTIONS_WRONG:
        return 2;
    case TRANSPOSE_OPTIONS_RUN:
        break;
    }
    int status = 1;
    if (prepare(&program))
        status = cohort_main(argc, argv, run_program, &program);
    else
        fprintf(stderr, "transpose: no memory for %" PRIu32 " sites\n",
                program.options.sites_per_locality);
    release(&program);
    return status;
}
