/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/tune_file.h"

#include <ctype.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/algo/algorithm.h"

enum { VERSION = 1, MAX_LINE = 1024 };

bool cohort__tune_file_place(const char *config_home, const char *home, char *ret_path,
                             size_t bytes)
{
    int written = -1;
    if (config_home && config_home[0] == '/')
        written = snprintf(ret_path, bytes, "%s/cohort/tune", config_home);
    else if (home && home[0] == '/')
        written = snprintf(ret_path, bytes, "%s/.config/cohort/tune", home);
    return written > 0 && (size_t)written < bytes;
}

struct reader {
    const char *file;
    unsigned line;
    bool has_version;
    struct cohort__parameters *parameters;
};

static cohort_status wrong(const struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static cohort_status wrong(const struct reader *reader, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "tuning file %.150s, line %u: %s", reader->file,
                       reader->line, what);
}

/* Reads NUM numbers, each at least MIN, from TEXT. There must be nothing else in TEXT. */
static cohort_status read_numbers(const struct reader *reader, const char *text, double min,
                                  double *ret_values, unsigned num)
{
    static const double max = 1e15;
    for (unsigned i = 0; i < num; i++) {
        char *end;
        double value = strtod(text, &end);
        if (end == text || (*end && !isspace((unsigned char)*end)))
            return wrong(reader, "number %u of %u is \"%.40s\"", i + 1, num,
                         *text ? text : "missing");
        if (!(value >= min && value <= max))
            return wrong(reader, "number %u of %u, %g, is not from %g to %g", i + 1, num, value,
                         min, max);
        ret_values[i] = value;
        text = end + strspn(end, " \t");
    }
    return *text ? wrong(reader, "\"%.40s\" behind the last of %u numbers", text, num) : COHORT_OK;
}

/* Returns the part of *NAME before the next dot. *NAME then points to what follows. */
static const char *next_part(char **name)
{
    char *part = *name, *dot = strchr(part, '.');
    *name = dot ? dot + 1 : part + strlen(part);
    if (dot)
        *dot = '\0';
    return part;
}

static cohort_status read_distance(const struct reader *reader, const char *word,
                                   enum cohort__distance *ret_reach)
{
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++)
        if (strcmp(word, cohort__distance_name((enum cohort__distance)distance)) == 0) {
            *ret_reach = (enum cohort__distance)distance;
            return COHORT_OK;
        }
    return wrong(reader, "\"%.40s\" is no name", word);
}

static cohort_status read_row(const struct reader *reader, const char *collective,
                              const char *algorithm, uint32_t *ret_row)
{
    for (uint32_t row = 0; row < cohort__num_algorithms && row < COHORT__MAX_ROWS; row++) {
        const struct cohort__algorithm *one = cohort__algorithms[row];
        if (strcmp(cohort__collective_name(one->collective), collective) == 0 &&
            strcmp(one->name, algorithm) == 0) {
            *ret_row = row;
            return COHORT_OK;
        }
    }
    return wrong(reader, "no algorithm of %.40s is called \"%.40s\"", collective, algorithm);
}

/* NAME is what follows "factor.". */
static cohort_status read_factors(const struct reader *reader, char *name, const char *value)
{
    double ratios[COHORT__KNOTS];
    enum cohort__distance distance = COHORT__DISTANCE_TASKS;
    uint32_t row = 0;
    cohort_status status = read_distance(reader, next_part(&name), &distance);
    const char *collective = next_part(&name);
    if (!status)
        status = read_row(reader, collective, name, &row);
    if (!status)
        status = read_numbers(reader, value, 1e-6, ratios, COHORT__KNOTS);
    for (unsigned i = 0; !status && i < COHORT__KNOTS; i++)
        reader->parameters->factors[distance][row][i] = cohort__factor_of_ratio(ratios[i]);
    return status;
}

static cohort_status read_term(const struct reader *reader, char *name, const char *value)
{
    enum cohort__distance distance = COHORT__DISTANCE_TASKS;
    cohort_status status = read_distance(reader, next_part(&name), &distance);
    if (status)
        return status;
    for (unsigned term = 0; term < COHORT__NUM_TERMS; term++)
        if (strcmp(name, cohort__term_name((enum cohort__term)term)) == 0)
            return read_numbers(reader, value, 0, &reader->parameters->terms[distance][term], 1);
    return wrong(reader, "\"%.40s\" is no term of %s", name, cohort__distance_name(distance));
}

static cohort_status read_version(struct reader *reader, const char *value)
{
    double version;
    cohort_status status = read_numbers(reader, value, 1, &version, 1);
    if (!status && version != VERSION)
        return wrong(reader, "version %g; this library reads %d: run cohort-tune again", version,
                     VERSION);
    reader->has_version = true;
    return status;
}

/* LINE has no newline. It is changed. */
static cohort_status read_line(struct reader *reader, char *line)
{
    line[strcspn(line, "#")] = '\0';
    char *name = line + strspn(line, " \t\r");
    char *value = strchr(name, '=');
    if (*name == '\0')
        return COHORT_OK;
    if (!value)
        return wrong(reader, "\"%.40s\" is not \"name = value\"", name);
    for (char *end = value; end >= name && (*end == '=' || isspace((unsigned char)*end)); end--)
        *end = '\0';
    value++;
    value += strspn(value, " \t");
    for (char *end = value + strlen(value); end > value && isspace((unsigned char)end[-1]); end--)
        end[-1] = '\0';
    if (strcmp(name, "version") == 0)
        return read_version(reader, value);
    if (!reader->has_version)
        return wrong(reader, "\"%.40s\" before the version", name);
    if (strcmp(name, "cores") == 0)
        return read_numbers(reader, value, 1, &reader->parameters->cores, 1);
    if (strncmp(name, "factor.", 7) == 0)
        return read_factors(reader, name + 7, value);
    return read_term(reader, name, value);
}

static cohort_status read_lines(struct reader *reader, const char *text)
{
    cohort_status status = COHORT_OK;
    while (!status && *text) {
        char line[MAX_LINE];
        size_t length = strcspn(text, "\n");
        reader->line++;
        if (length >= sizeof(line))
            return wrong(reader, "a line of %zu bytes; %d are possible", length, MAX_LINE - 1);
        memcpy(line, text, length);
        line[length] = '\0';
        status = read_line(reader, line);
        text += length + (text[length] == '\n');
    }
    if (!status && !reader->has_version)
        status = wrong(reader, "the file ends without \"version = %d\"", VERSION);
    return status;
}

/* Numbers have a decimal point, whatever the program's locale is. */
struct c_locale {
    locale_t mine;
    locale_t before;
};

static cohort_status enter_c_locale(struct c_locale *locale)
{
    locale->mine = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!locale->mine)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "tuning file: no memory for the C locale");
    locale->before = uselocale(locale->mine);
    return COHORT_OK;
}

static void leave_c_locale(struct c_locale *locale)
{
    uselocale(locale->before);
    freelocale(locale->mine);
}

cohort_status cohort__tune_file_read(struct cohort__parameters *ret_parameters, const char *file,
                                     const char *text)
{
    struct c_locale locale = {0};
    cohort_status status = enter_c_locale(&locale);
    if (status)
        return status;
    struct cohort__parameters *parameters = malloc(sizeof(*parameters));
    if (!parameters)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "tuning file %.150s: no memory", file);
    if (!status) {
        cohort__parameters_default(parameters);
        status = read_lines(&(struct reader){.file = file, .parameters = parameters}, text);
    }
    if (!status)
        *ret_parameters = *parameters;
    free(parameters);
    leave_c_locale(&locale);
    return status;
}

static void write_factors(FILE *file, const struct cohort__parameters *parameters,
                          enum cohort__distance distance, uint32_t row)
{
    static const int8_t none[COHORT__KNOTS];
    const int8_t *factors = parameters->factors[distance][row];
    if (memcmp(factors, none, sizeof(none)) == 0)
        return;
    fprintf(file, "factor.%s.%s.%s =", cohort__distance_name(distance),
            cohort__collective_name(cohort__algorithms[row]->collective),
            cohort__algorithms[row]->name);
    for (unsigned i = 0; i < COHORT__KNOTS; i++)
        fprintf(file, " %.4g", cohort__factor_ratio(factors[i]));
    fputc('\n', file);
}

static void write_text(FILE *file, const struct cohort__parameters *parameters, const char *head)
{
    fprintf(file, "# %s\nversion = %d\ncores = %.17g\n\n# nanoseconds\n", head, VERSION,
            parameters->cores);
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++)
        for (unsigned term = 0; term < COHORT__NUM_TERMS; term++)
            fprintf(file, "%s.%s = %.17g\n", cohort__distance_name((enum cohort__distance)distance),
                    cohort__term_name((enum cohort__term)term), parameters->terms[distance][term]);
    fputs("\n# Measured to predicted, for 2, 4, 8, 16, 32 sites with blocks of 8, 64, ... 2097152 "
          "bytes\n# each.\n",
          file);
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++)
        for (uint32_t row = 0; row < cohort__num_algorithms && row < COHORT__MAX_ROWS; row++)
            write_factors(file, parameters, (enum cohort__distance)distance, row);
}

cohort_status cohort__tune_file_write(const struct cohort__parameters *parameters, const char *head,
                                      char **ret_text)
{
    char *text = NULL;
    size_t bytes;
    struct c_locale locale = {0};
    cohort_status status = enter_c_locale(&locale);
    if (status)
        return status;
    FILE *file = open_memstream(&text, &bytes);
    if (file)
        write_text(file, parameters, head);
    bool failed = !file || ferror(file);
    if (file && fclose(file))
        failed = true;
    leave_c_locale(&locale);
    if (failed) {
        free(text);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the text of a tuning file");
    }
    *ret_text = text;
    return COHORT_OK;
}
