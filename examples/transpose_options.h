/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_TRANSPOSE_OPTIONS_H
#define COHORT_EXAMPLES_TRANSPOSE_OPTIONS_H

#include "examples/command.h"

/* The command line of transpose. */
struct transpose_options {
    uint32_t sites_per_locality;
    uint32_t arity;                   /* as in cohort_comm_options */
    uint32_t flat_fallback_threshold; /* as in cohort_comm_options */
    const char *algorithm;            /* of the all_to_all; NULL: the library's choice */
    uint32_t repeat;                  /* times that the all_to_all is run */
    bool check;
    const char *in;
    const char *out;
};

enum command_result transpose_options_parse(int argc, char **argv,
                                            struct transpose_options *ret_options);

#endif
