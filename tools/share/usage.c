/* SPDX-License-Identifier: Apache-2.0 */
/* tools: reads command lines, and says what is wrong with one. */
#include "tools/share/usage.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/share/likeness.h"

enum { STATUS_WRONG = 2 };

int usage_wrong(const struct usage *usage, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", usage->program);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n%s", usage->line);
    va_end(args);
    return STATUS_WRONG;
}

int usage_read_count(const struct usage *usage, const char *word, const char *text, uint32_t min,
                     uint32_t max, uint32_t *ret)
{
    uint64_t value = 0;
    const char *c = text;
    while (*c >= '0' && *c <= '9' && value <= max)
        value = 10 * value + (uint64_t)(*c++ - '0');
    if (*c || c == text || value < min || value > max)
        return usage_wrong(usage, "%s needs a number from %u to %u, not '%s'", word, (unsigned)min,
                           (unsigned)max, text);
    *ret = (uint32_t)value;
    return -1;
}

bool usage_parse_decimal(const char *text, const char *characters, double min, double max,
                         double *ret)
{
    char *end;
    double value = strtod(text, &end);
    if (text[strspn(text, characters)] || end == text || *end || !(value >= min && value <= max))
        return false;
    *ret = value;
    return true;
}

static int print_help(const struct usage *usage)
{
    printf("%s%s", usage->line, usage->help);
    return fflush(stdout) ? 1 : 0;
}

static int print_version(const struct usage *usage)
{
    printf("%s %s\n", usage->program, COHORT_VERSION);
    return fflush(stdout) ? 1 : 0;
}

/* WORD is none of the OPTIONS. */
static int refuse_option(const struct usage *usage, const struct option *options, const char *word)
{
    char name[64];
    const char *hint = usage->hint_for ? usage->hint_for(word) : NULL;
    if (hint)
        return usage_wrong(usage, "%s is no option; here it is %s", word, hint);
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
    for (const struct option *option = options; name[1] == '-' && option->name; option++) {
        if (likeness_is_close(name + 2, option->name))
            return usage_wrong(usage, "%s is no option; is --%s meant?", word, option->name);
    }
    return usage_wrong(usage, "%s is no option", word);
}

static int read_option(const struct usage *usage, const struct usage_reader *reader, int option,
                       const char *word, void *context)
{
    switch (option) {
    case 1: /* see usage_read */
        return reader->read_word(context, optarg);
    case USAGE_HELP:
        return print_help(usage);
    case USAGE_VERSION:
        return print_version(usage);
    case ':':
        return usage_wrong(usage, "%s needs a value", word);
    case '?':
        return refuse_option(usage, reader->options, word);
    default:
        return reader->read_option(context, option, word);
    }
}

int usage_read(const struct usage *usage, const struct usage_reader *reader, int argc, char **argv,
               void *context)
{
    char letters[32], letter[3] = "-";
    int status = -1;
    /* '-': other words come as option 1, so they may stand anywhere. '+': the first other word is
     * the end. */
    snprintf(letters, sizeof(letters), "%c:%s", reader->read_word ? '-' : '+', reader->letters);
    opterr = 0;
    optind = 0; /* from the start, whatever was read before */
    while (status < 0) {
        int next = optind > 0 ? optind : 1;
        const char *word = next < argc ? argv[next] : "";
        int option = getopt_long(argc, argv, letters, reader->options, NULL);
        if (option == -1)
            break;
        /* A word may be several letters, of which only one is wrong. */
        bool is_hinted = option == '?' && usage->hint_for && usage->hint_for(word);
        if ((option == '?' || option == ':') && !is_hinted && reader->letters[0] &&
            strncmp(word, "--", 2) != 0) {
            letter[1] = (char)optopt;
            word = letter;
        }
        status = read_option(usage, reader, option, word, context);
    }
    while (status < 0 && reader->read_word && optind < argc) /* behind "--" */
        status = reader->read_word(context, argv[optind++]);
    return status;
}
