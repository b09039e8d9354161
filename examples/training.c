/* SPDX-License-Identifier: Apache-2.0 */
/* Trains a small neural network on points that are spread over all sites: each has the whole
 * network, learns from its points, and an all_reduce adds up what they have learnt:
 *
 *     cohortrun -n 4 training OUT.pgm
 *
 * It survives: with cohortrun --keep-going those that are left go on when localities die.
 *
 * What a site does is in training_site.c, the network in network.c. */
#include <stdio.h>
#include <string.h>

#include "examples/training_site.h"

static const char *const algorithms[] = {
    "ring",         "linear",           "hierarchical", "mesh", "recursive_doubling",
    "rabenseifner", "reduce_broadcast", "ordered",      "any",  NULL,
};

int main(int argc, char **argv)
{
    struct training_options options = {.points = 600, .epochs = 300, .report = 20, .seed = 1};
    uint32_t sites = 0;
    const struct command_option rows[] = {
        {"sites", "N", "tasks of the whole job that take part; 4 for each locality",
         .number = &sites, .min = 1, .max = SITES_MAX},
        {"points", "N", "to learn from; 600", .number = &options.points, .min = 2, .max = 1000000},
        {"epochs", "N", "times that all points are gone through; 300", .number = &options.epochs,
         .max = 1000000},
        {"report", "N", "print the loss every N epochs; 20", .number = &options.report, .min = 1,
         .max = 1000000},
        {"seed", "N", "another set of points and weights; 1", .number = &options.seed,
         .max = UINT32_MAX},
        {"algorithm", "NAME", "of the all_reduce, or any; ring (reproducible: any)",
         .choice = &options.algorithm, .choices = algorithms},
        {"deaths", "N", "localities that die on the way, for cohortrun --keep-going; 0",
         .number = &options.deaths, .max = 100},
        {"reproducible", NULL, "add up in the order of the sites", .flag = &options.reproducible},
    };
    const struct command_file files[] = {{"OUT.pgm", &options.out}};
    const struct command command = {
        .name = "training",
        .about = "Trains a small neural network to tell the points of two spirals apart, and draws "
                 "what it has\nlearnt (binary PGM). Compares with training at one site.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
        .files = files,
        .num_files = sizeof(files) / sizeof(*files),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    if (options.deaths > 0 && options.reproducible) {
        fprintf(stderr, "training: with --deaths the shares change, so the sum is not that of "
                        "--reproducible\n");
        command_print_usage(stderr, &command);
        return 2;
    }
    if (!options.algorithm && !options.reproducible)
        options.algorithm = "ring";
    if (options.algorithm && strcmp(options.algorithm, "any") == 0)
        options.algorithm = NULL;
    const struct sites_program program = {.name = "training",
                                          .run = training_site_run,
                                          .work = &options,
                                          .num_sites = sites,
                                          .options = {.reproducible = options.reproducible}};
    return sites_run(argc, argv, &program);
}
