/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/transpose_options.h"

#include <cohort/comm.h>

#include "examples/sites.h"

enum { MAX_REPEAT = 10000 };

static const char *const algorithms[] = {"linear", "hierarchical", "padded", NULL};

enum command_result transpose_options_parse(int argc, char **argv,
                                            struct transpose_options *ret_options)
{
    struct transpose_options *options = ret_options;
    *options = (struct transpose_options){
        .sites_per_locality = SITES_DEFAULT_PER_LOCALITY,
        .repeat = 1,
        .flat_fallback_threshold = COHORT_DEFAULT_FLAT_FALLBACK_THRESHOLD,
    };
    const struct command_option rows[] = {
        {"sites-per-locality", "N", "tasks of each locality that take part; 4",
         .number = &options->sites_per_locality, .min = 1, .max = SITES_MAX},
        {"arity", "A", "children of a node of the tree; 4", .number = &options->arity, .min = 2,
         .max = INT32_MAX},
        {"threshold", "T", "below T sites there is no tree; 16. 0: always a tree",
         .number = &options->flat_fallback_threshold, .max = INT32_MAX},
        {"algorithm", "NAME", "of the all_to_all: linear, hierarchical or padded",
         .choice = &options->algorithm, .choices = algorithms},
        {"repeat", "R", "run the all_to_all R times, print the median; 1",
         .number = &options->repeat, .min = 1, .max = MAX_REPEAT},
        {"check", NULL, "compare with a serial transpose", .flag = &options->check},
    };
    const struct command_file files[] = {{"IN.pgm", &options->in}, {"OUT.pgm", &options->out}};
    const struct command command = {
        .name = "transpose",
        .about = "Transposes a picture (binary PGM, 8 or 16 bit) over all localities of the job.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
        .files = files,
        .num_files = sizeof(files) / sizeof(*files),
    };
    enum command_result result = command_parse(&command, argc, argv);
    /* Here 0 means 'always a tree'. In cohort_comm_options 0 is a field that is not set. */
    if (!options->flat_fallback_threshold)
        options->flat_fallback_threshold = COHORT_FORCE_TREE;
    return result;
}
