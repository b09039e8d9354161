/* SPDX-License-Identifier: Apache-2.0 */
/* The heat equation on a plate that is spread over all sites, which exchange the edges of their
 * parts in every step:
 *
 *     cohortrun -n 4 stencil OUT.pgm
 *
 * What a site does is in stencil_site.c. */
#include "examples/stencil_site.h"

int main(int argc, char **argv)
{
    struct stencil_options options = {.width = 256, .height = 192, .steps = 400};
    uint32_t sites = 0;
    const struct command_option rows[] = {
        {"sites", "N", "tasks of the whole job that take part; 4 for each locality",
         .number = &sites, .min = 1, .max = SITES_MAX},
        {"width", "COLUMNS", "of the plate; 256", .number = &options.width, .min = 1, .max = 32768},
        {"height", "ROWS", "of the plate; 192", .number = &options.height, .min = 1, .max = 32768},
        {"steps", "N", "of time; 400", .number = &options.steps, .max = 1000000},
    };
    const struct command_file files[] = {{"OUT.pgm", &options.out}};
    const struct command command = {
        .name = "stencil",
        .about = "Lets heat spread on a plate with a hot edge and a hot ring, and draws it (binary "
                 "PGM).\nCompares with the same at one site, bit for bit.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
        .files = files,
        .num_files = sizeof(files) / sizeof(*files),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    const struct sites_program program = {
        .name = "stencil", .run = stencil_site_run, .work = &options, .num_sites = sites};
    return sites_run(argc, argv, &program);
}
