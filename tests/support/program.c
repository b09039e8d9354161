/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/program.h"

#include <cohort/cohort.h>

struct program {
    int argc;
    char **argv;
};

static cohort_status run(void *arg)
{
    const struct program *program = arg;
    return tests_run(program->argc, program->argv) ? COHORT_ERR_FAILED : COHORT_OK;
}

int program_main(int argc, char **argv)
{
    return cohort_main(argc, argv, run, &(struct program){argc, argv});
}
