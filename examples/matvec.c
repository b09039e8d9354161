/* SPDX-License-Identifier: Apache-2.0 */
/* Multiplies a matrix with a vector on a grid of sites:
 *
 *     cohortrun -n 4 matvec --rows 3 --columns 2
 *
 * What a site does is in matvec_site.c. */
#include <inttypes.h>
#include <stdio.h>

#include "examples/matvec_site.h"

int main(int argc, char **argv)
{
    struct matvec_options options = {.n = 1000, .rows = 2, .columns = 2};
    const struct command_option rows[] = {
        {"n", "N", "size of the vector; 1000", .number = &options.n, .min = 1, .max = 16384},
        {"rows", "R", "of the grid of sites; 2", .number = &options.rows, .min = 1,
         .max = SITES_MAX},
        {"columns", "C", "of the grid of sites; 2", .number = &options.columns, .min = 1,
         .max = SITES_MAX},
    };
    const struct command command = {
        .name = "matvec",
        .about = "Smooths a noisy signal by multiplying it with a matrix, which is spread over a "
                 "grid of sites.\nCompares with the product at one site.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    if (options.rows * options.columns > SITES_MAX) {
        fprintf(stderr,
                "matvec: --rows %" PRIu32 " times --columns %" PRIu32 " is above %d sites\n",
                options.rows, options.columns, SITES_MAX);
        command_print_usage(stderr, &command);
        return 2;
    }
    const struct sites_program program = {.name = "matvec",
                                          .run = matvec_site_run,
                                          .work = &options,
                                          .num_sites = options.rows * options.columns};
    return sites_run(argc, argv, &program);
}
