/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts the lines of a file over all localities of a job:
 *
 *     cohortrun -n 4 sample_sort IN OUT
 *
 * What a site does is in sample_sort_site.c. */
#include "examples/sample_sort_site.h"

int main(int argc, char **argv)
{
    struct sample_sort_options options = {0};
    uint32_t sites = 0;
    const struct command_option rows[] = {
        {"sites", "N", "tasks of the whole job that take part; 4 for each locality",
         .number = &sites, .min = 1, .max = SITES_MAX},
    };
    const struct command_file files[] = {{"IN", &options.in}, {"OUT", &options.out}};
    const struct command command = {
        .name = "sample_sort",
        .about = "Sorts the lines of a file bytewise, as sort(1) does with LC_ALL=C. Compares with "
                 "a sort\nat one site.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
        .files = files,
        .num_files = sizeof(files) / sizeof(*files),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    const struct sites_program program = {
        .name = "sample_sort", .run = sample_sort_site_run, .work = &options, .num_sites = sites};
    return sites_run(argc, argv, &program);
}
