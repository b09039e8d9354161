/* SPDX-License-Identifier: Apache-2.0 */
/* A low-pass filter on a picture, by a two-dimensional Fourier transform that is spread over sites:
 *
 *     cohortrun -n 4 fft IN.pgm OUT.pgm
 *
 * What a site does is in fft_site.c. */
#include "examples/fft_site.h"

int main(int argc, char **argv)
{
    struct fft_options options = {.cutoff = 10};
    uint32_t sites = 0;
    const struct command_option rows[] = {
        {"sites", "N", "tasks of the whole job that take part; 4 for each locality",
         .number = &sites, .min = 1, .max = SITES_MAX},
        {"cutoff", "PERCENT", "of the highest frequency: what is above fades; 10",
         .number = &options.cutoff, .min = 1, .max = 100},
    };
    const struct command_file files[] = {{"IN.pgm", &options.in}, {"OUT.pgm", &options.out}};
    const struct command command = {
        .name = "fft",
        .about = "Smooths a picture (binary PGM, 8 or 16 bit): Fourier transform over all sites of "
                 "the job,\nlow-pass filter, and back. Compares with a serial transform.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
        .files = files,
        .num_files = sizeof(files) / sizeof(*files),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    const struct sites_program program = {
        .name = "fft", .run = fft_site_run, .work = &options, .num_sites = sites};
    return sites_run(argc, argv, &program);
}
