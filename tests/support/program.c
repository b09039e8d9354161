/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/program.h"

#include <cohort/cohort.h>

struct program {
    int argc;
    char **argv;
    const struct test_case *cases;
    size_t num_cases;
};

static cohort_status run(void *arg)
{
    const struct program *program = arg;
    return test_main(program->argc, program->argv, program->cases, program->num_cases)
               ? COHORT_ERR_FAILED
               : COHORT_OK;
}

int program_main(int argc, char **argv, const struct test_case *cases, size_t num_cases)
{
    return cohort_main(argc, argv, run, &(struct program){argc, argv, cases, num_cases});
}
