/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/transpose_options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <cohort/comm.h>

#include "examples/number.h"

enum { MAX_SITES_PER_LOCALITY = 4096, MAX_REPEAT = 10000 };

static const char usage[] =
    "usage: transpose [--sites-per-locality N] [--arity A] [--threshold T] [--algorithm NAME] "
    "[--repeat R] [--check] IN.pgm OUT.pgm";

static const char help[] =
    "\n"
    "Transposes a picture (binary PGM, 8 or 16 bit) over all localities of the job.\n"
    "\n"
    "  --sites-per-locality N  tasks of each locality that take part, 1 to 4096; 4\n"
    "  --arity A               children of a node of the tree, 2 or more; 4\n"
    "  --threshold T           below T sites there is no tree; 16. 0: always a tree\n"
    "  --algorithm NAME        of the all_to_all: linear, hierarchical or padded\n"
    "  --repeat R              run the all_to_all R times, print the median; 1\n"
    "  --check                 compare with a serial transpose\n"
    "  --help                  this text\n";

static const struct option known[] = {{"sites-per-locality", required_argument, NULL, 's'},
                                      {"arity", required_argument, NULL, 'a'},
                                      {"threshold", required_argument, NULL, 't'},
                                      {"algorithm", required_argument, NULL, 'g'},
                                      {"repeat", required_argument, NULL, 'r'},
                                      {"check", no_argument, NULL, 'c'},
                                      {"help", no_argument, NULL, 'h'},
                                      {0}};

static bool parse_number(const char *name, const char *text, uint64_t min, uint64_t max,
                         uint32_t *ret_number)
{
    uint64_t number;
    if (!number_parse(text, min, max, &number)) {
        fprintf(stderr, "transpose: %s needs a number from %llu to %llu, not '%s'\n", name,
                (unsigned long long)min, (unsigned long long)max, text);
        return false;
    }
    *ret_number = (uint32_t)number;
    return true;
}

/* Here 0 means 'always a tree'; in cohort_comm_options it is what is left out. */
static bool parse_threshold(const char *text, uint32_t *ret_threshold)
{
    uint32_t threshold;
    if (!parse_number("--threshold", text, 0, INT32_MAX, &threshold))
        return false;
    *ret_threshold = threshold ? threshold : COHORT_FORCE_TREE;
    return true;
}

static bool parse_algorithm(const char *name, const char **ret_algorithm)
{
    static const char *const names[] = {"linear", "hierarchical", "padded"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0) {
            *ret_algorithm = names[i];
            return true;
        }
    fprintf(stderr, "transpose: --algorithm is linear, hierarchical or padded, not '%s'\n", name);
    return false;
}

/* getopt_long itself has said what is wrong with an option that is not known. */
static bool parse_option(int option, struct transpose_options *options)
{
    switch (option) {
    case 's':
        return parse_number("--sites-per-locality", optarg, 1, MAX_SITES_PER_LOCALITY,
                            &options->sites_per_locality);
    case 'a':
        return parse_number("--arity", optarg, 2, INT32_MAX, &options->arity);
    case 't':
        return parse_threshold(optarg, &options->flat_fallback_threshold);
    case 'g':
        return parse_algorithm(optarg, &options->algorithm);
    case 'r':
        return parse_number("--repeat", optarg, 1, MAX_REPEAT, &options->repeat);
    case 'c':
        options->check = true;
        return true;
    default:
        return false;
    }
}

static bool parse_files(int argc, char **argv, struct transpose_options *options)
{
    if (argc - optind != 2 || !*argv[optind] || !*argv[optind + 1]) {
        fprintf(stderr, "transpose: two files are needed, IN.pgm and OUT.pgm\n");
        return false;
    }
    options->in = argv[optind];
    options->out = argv[optind + 1];
    return true;
}

enum transpose_options_result transpose_options_parse(int argc, char **argv,
                                                      struct transpose_options *ret_options)
{
    struct transpose_options options = {.sites_per_locality = 4, .repeat = 1};
    bool is_right = true;
    for (int option; is_right && (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (option == 'h') {
            printf("%s\n%s", usage, help);
            return TRANSPOSE_OPTIONS_HELP;
        }
        is_right = parse_option(option, &options);
    }
    if (!is_right || !parse_files(argc, argv, &options)) {
        fprintf(stderr, "%s\n", usage);
        return TRANSPOSE_OPTIONS_WRONG;
    }
    *ret_options = options;
    return TRANSPOSE_OPTIONS_RUN;
}
