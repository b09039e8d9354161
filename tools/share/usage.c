/* SPDX-License-Identifier: Apache-2.0 */
/* tools: reads command lines, and says what is wrong with one. */
#include "tools/share/usage.h"

#include <assert.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/share/likeness.h"

enum { STATUS_WRONG = 2, MAX_OPTIONS = 40 };

/* What getopt returns: for an option FIRST_OPTION and its number, for a word that is none 1. */
enum { OTHER_WORD = 1, HELP = 128, VERSION, FIRST_OPTION };

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

bool usage_parse_count(const char *text, uint32_t min, uint32_t max, uint32_t *ret)
{
    uint64_t count = 0;
    const char *c = text;
    while (*c >= '0' && *c <= '9' && count <= max)
        count = 10 * count + (uint64_t)(*c++ - '0');
    if (*c || c == text || count < min || count > max)
        return false;
    *ret = (uint32_t)count;
    return true;
}

int usage_read_count(const struct usage *usage, const struct usage_value *value)
{
    const struct usage_option *option = value->option;
    return usage_parse_count(value->text, option->min, option->max, value->place)
               ? -1
               : usage_wrong(usage, "--%s needs a number from %u to %u, not '%s'", option->name,
                             (unsigned)option->min, (unsigned)option->max, value->text);
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

/* The options as getopt takes them. */
struct forms {
    struct option words[MAX_OPTIONS];
    char letters[MAX_OPTIONS];
};

/* '-': other words come as an option of their own, so they may stand anywhere. '+': the first other
 * word is the end. */
static void forms_init(struct forms *forms, const struct usage *usage)
{
    struct option *word = forms->words;
    char *letter = forms->letters;
    *letter++ = usage->read_word ? '-' : '+';
    *letter++ = ':';
    for (const struct usage_option *option = usage->options; option->name; option++)
        if (option->name[1]) {
            *word++ = (struct option){option->name, option->kind != USAGE_FLAG, NULL,
                                      FIRST_OPTION + (int)(option - usage->options)};
        } else {
            *letter++ = option->name[0];
            if (option->kind != USAGE_FLAG)
                *letter++ = ':';
        }
    *word++ = (struct option){"help", no_argument, NULL, HELP};
    *word++ = (struct option){"version", no_argument, NULL, VERSION};
    *word = (struct option){0};
    *letter = '\0';
    assert(word < forms->words + MAX_OPTIONS && letter < forms->letters + MAX_OPTIONS);
}

/* WORD is none of the options. */
static int refuse_option(const struct usage *usage, const struct forms *forms, const char *word)
{
    char name[64];
    const char *hint = usage->hint_for ? usage->hint_for(word) : NULL;
    if (hint)
        return usage_wrong(usage, "%s is no option; here it is %s", word, hint);
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
    for (const struct option *option = forms->words; name[1] == '-' && option->name; option++)
        if (likeness_is_close(name + 2, option->name))
            return usage_wrong(usage, "%s is no option; is --%s meant?", word, option->name);
    return usage_wrong(usage, "%s is no option", word);
}

static int read_value(const struct usage *usage, const struct usage_value *value)
{
    const struct usage_option *option = value->option;
    if (option->note)
        *(const char **)((char *)value->context + option->note) = option->name;
    if (option->read)
        return option->read(value);
    switch (option->kind) {
    case USAGE_FLAG:
        *(bool *)value->place = true;
        return -1;
    case USAGE_COUNT:
        return usage_read_count(usage, value);
    default:
        *(const char **)value->place = value->text;
        return value->text[0] || !option->needs
                   ? -1
                   : usage_wrong(usage, "--%s needs %s", option->name, option->needs);
    }
}

/* The option that getopt has FOUND. */
static const struct usage_option *find_option(const struct usage *usage, int found)
{
    const struct usage_option *option = usage->options;
    if (found >= FIRST_OPTION)
        return option + (found - FIRST_OPTION);
    while (option->name[0] != found || option->name[1])
        option++;
    return option;
}

static int read_option(const struct usage *usage, const struct forms *forms, int found,
                       const char *word, void *context)
{
    struct usage_value value = {.word = word, .text = optarg, .context = context};
    switch (found) {
    case OTHER_WORD:
        return usage->read_word(context, optarg);
    case HELP:
        return print_help(usage);
    case VERSION:
        return print_version(usage);
    case ':':
        return usage_wrong(usage, "%s needs a value", word);
    case '?':
        return refuse_option(usage, forms, word);
    default:
        value.option = find_option(usage, found);
        value.place = (char *)context + value.option->place;
        return read_value(usage, &value);
    }
}

int usage_read(const struct usage *usage, int argc, char **argv, void *context)
{
    struct forms forms;
    char letter[3] = "-";
    int status = -1;
    forms_init(&forms, usage);
    opterr = 0;
    optind = 0; /* from the start, whatever was read before */
    while (status < 0) {
        int next = optind > 0 ? optind : 1;
        const char *word = next < argc ? argv[next] : "";
        int found = getopt_long(argc, argv, forms.letters, forms.words, NULL);
        if (found == -1)
            break;
        /* A word may be several letters, of which only one is wrong. */
        bool is_hinted = found == '?' && usage->hint_for && usage->hint_for(word);
        if ((found == '?' || found == ':') && !is_hinted && forms.letters[2] &&
            strncmp(word, "--", 2) != 0) {
            letter[1] = (char)optopt;
            word = letter;
        }
        status = read_option(usage, &forms, found, word, context);
    }
    while (status < 0 && usage->read_word && optind < argc) /* behind "--" */
        status = usage->read_word(context, argv[optind++]);
    return status;
}
