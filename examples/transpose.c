/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes a picture over all localities of a job:
 *
 *     cohortrun -n 4 transpose IN.pgm OUT.pgm
 *
 * Every locality runs a few tasks. Each task is one site of one communicator (sites.c). What a site
 * does is in transpose_site.c. */
#include <stdio.h>

#include "examples/sites.h"
#include "examples/transpose_options.h"
#include "examples/transpose_site.h"

int main(int argc, char **argv)
{
    struct transpose_options options;
    enum command_result result = transpose_options_parse(argc, argv, &options);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;

    char algorithms[64];
    snprintf(algorithms, sizeof(algorithms), "all_to_all=%s",
             options.algorithm ? options.algorithm : "");
    const struct sites_program program = {
        .name = "transpose",
        .run = transpose_site_run,
        .work = &options,
        .sites_per_locality = options.sites_per_locality,
        .options = {.arity = options.arity,
                    .flat_fallback_threshold = options.flat_fallback_threshold,
                    .algorithms = options.algorithm ? algorithms : NULL},
    };
    return sites_run(argc, argv, &program);
}
