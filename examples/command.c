/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/command.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "examples/number.h"

enum { MAX_OPTIONS = 16 };

void command_print_usage(FILE *file, const struct command *command)
{
    fprintf(file, "usage: %s", command->name);
    for (size_t i = 0; i < command->num_options; i++) {
        const struct command_option *option = &command->options[i];
        fprintf(file, " [--%s%s%s]", option->name, option->flag ? "" : " ",
                option->flag ? "" : option->value_name);
    }
    for (size_t i = 0; i < command->num_files; i++)
        fprintf(file, " %s", command->files[i].name);
    fprintf(file, "\n");
}

static void print_help(const struct command *command)
{
    command_print_usage(stdout, command);
    printf("\n%s\n\n", command->about);
    for (size_t i = 0; i < command->num_options; i++) {
        const struct command_option *option = &command->options[i];
        char left[40];
        snprintf(left, sizeof(left), "%s %s", option->name, option->flag ? "" : option->value_name);
        printf("  --%-22s%s\n", left, option->help);
    }
    printf("  --%-22s%s\n", "help", "this text");
}

static bool take_number(const struct command *command, const struct command_option *option)
{
    uint64_t number;
    if (!number_parse(optarg, option->min, option->max, &number)) {
        fprintf(stderr, "%s: --%s needs a number from %" PRIu32 " to %" PRIu32 ", not '%s'\n",
                command->name, option->name, option->min, option->max, optarg);
        return false;
    }
    *option->number = (uint32_t)number;
    return true;
}

static bool take_choice(const struct command *command, const struct command_option *option)
{
    for (size_t i = 0; option->choices[i]; i++)
        if (strcmp(optarg, option->choices[i]) == 0) {
            *option->choice = option->choices[i];
            return true;
        }
    fprintf(stderr, "%s: --%s needs one of", command->name, option->name);
    for (size_t i = 0; option->choices[i]; i++)
        fprintf(stderr, " %s%s", option->choices[i], option->choices[i + 1] ? "," : "");
    fprintf(stderr, ", not '%s'\n", optarg);
    return false;
}

static bool take(const struct command *command, const struct command_option *option)
{
    if (option->number)
        return take_number(command, option);
    if (option->choice)
        return take_choice(command, option);
    *option->flag = true;
    return true;
}

static bool take_files(const struct command *command, int argc, char **argv)
{
    bool is_right = argc - optind == (int)command->num_files;
    for (size_t i = 0; is_right && i < command->num_files; i++) {
        *command->files[i].path = argv[optind + (int)i];
        is_right = *argv[optind + (int)i];
    }
    if (is_right)
        return true;
    fprintf(stderr, "%s: %s", command->name, command->num_files ? "needs " : "takes no files");
    for (size_t i = 0; i < command->num_files; i++)
        fprintf(stderr, "%s%s", i ? " and " : "", command->files[i].name);
    fprintf(stderr, "%s\n", command->num_files ? ", nothing else" : "");
    return false;
}

enum command_result command_parse(const struct command *command, int argc, char **argv)
{
    struct option known[MAX_OPTIONS + 2] = {{0}};
    bool is_right = command->num_options <= MAX_OPTIONS;
    for (size_t i = 0; is_right && i < command->num_options; i++)
        known[i] = (struct option){command->options[i].name,
                                   command->options[i].flag ? no_argument : required_argument, NULL,
                                   (int)i};
    known[command->num_options] = (struct option){"help", no_argument, NULL, 'h'};
    optind = 0; /* from the beginning, also the second time */
    for (int option; is_right && (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (option == 'h') {
            print_help(command);
            return COMMAND_HELP;
        }
        /* getopt_long itself has said what is wrong with an option that is not known. */
        is_right = option != '?' && take(command, &command->options[option]);
    }
    if (is_right && take_files(command, argc, argv))
        return COMMAND_RUN;
    command_print_usage(stderr, command);
    return COMMAND_WRONG;
}
