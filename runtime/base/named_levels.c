/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/named_levels.h"

#include <stdio.h>
#include <string.h>

static const char name_bytes[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
static const char group_bytes[] = "abcdefghijklmnopqrstuvwxyz0123456789-_"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ.:";

bool cohort__words_are_equal(struct cohort__word left, struct cohort__word right)
{
    return left.bytes == right.bytes && memcmp(left.text, right.text, left.bytes) == 0;
}

static bool consists_of(struct cohort__word word, const char *allowed)
{
    bool does = true;
    for (size_t i = 0; does && i < word.bytes; i++)
        does = word.text[i] && strchr(allowed, word.text[i]);
    return does;
}

static bool is_name(struct cohort__word word)
{
    return word.bytes > 0 && word.bytes <= COHORT__NAMED_LEVEL_NAME &&
           consists_of(word, name_bytes) && word.text[0] >= 'a' && word.text[0] <= 'z';
}

static bool is_group(struct cohort__word word)
{
    return word.bytes > 0 && word.bytes <= COHORT__NAMED_LEVEL_GROUP &&
           consists_of(word, group_bytes);
}

static bool is_taken(struct cohort__word name)
{
    static const char *const taken[] = {"locality", "domain", "host"};
    bool is = false;
    for (size_t i = 0; !is && i < sizeof(taken) / sizeof(taken[0]); i++)
        is = cohort__words_are_equal(name, (struct cohort__word){taken[i], strlen(taken[i])});
    return is;
}

static bool has(const struct cohort__named_levels *levels, struct cohort__word name)
{
    bool does = false;
    for (uint32_t i = 0; !does && i < levels->num; i++)
        does = cohort__words_are_equal(levels->levels[i].name, name);
    return does;
}

/* Splits WORD at its first '='. Without one the group is empty. */
static struct cohort__named_level split(struct cohort__word word)
{
    const char *equals = memchr(word.text, '=', word.bytes);
    size_t bytes = equals ? (size_t)(equals - word.text) : word.bytes;
    struct cohort__word group = {word.text + bytes, word.bytes - bytes};
    if (equals)
        group = (struct cohort__word){group.text + 1, group.bytes - 1};
    return (struct cohort__named_level){.name = {word.text, bytes}, .group = group};
}

static cohort_status add(struct cohort__named_levels *levels, struct cohort__word word)
{
    struct cohort__named_level level = split(word);
    int shown = (int)(level.name.bytes > 40 ? 40 : level.name.bytes);
    if (!is_name(level.name) || !is_group(level.group))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "not NAME=GROUP,..., with names of at most %d small letters, digits, - "
                           "and _, and groups of at most %d letters, digits, - _ . and :",
                           COHORT__NAMED_LEVEL_NAME, COHORT__NAMED_LEVEL_GROUP);
    if (is_taken(level.name))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "wrong: a level can't have the name '%.*s'",
                           shown, level.name.text);
    if (has(levels, level.name))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "wrong: it has the level '%.*s' twice", shown,
                           level.name.text);
    if (levels->num == COHORT__NAMED_LEVELS_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "wrong: it has more than %d levels",
                           COHORT__NAMED_LEVELS_MAX);
    levels->levels[levels->num++] = level;
    return COHORT_OK;
}

cohort_status cohort__named_levels_read(const char *text, size_t bytes,
                                        struct cohort__named_levels *ret_levels)
{
    struct cohort__named_levels levels = {0};
    cohort_status status = COHORT_OK;
    bool is_last = bytes == 0;
    while (!status && !is_last) {
        const char *comma = memchr(text, ',', bytes);
        struct cohort__word word = {text, comma ? (size_t)(comma - text) : bytes};
        is_last = !comma;
        status = add(&levels, word);
        text += word.bytes + !is_last;
        bytes -= word.bytes + !is_last;
    }
    if (!status)
        *ret_levels = levels;
    return status;
}

bool cohort__named_levels_fit(const struct cohort__named_levels *left,
                              const struct cohort__named_levels *right)
{
    bool fit = left->num == right->num;
    for (uint32_t i = 0; fit && i < left->num; i++)
        fit = cohort__words_are_equal(left->levels[i].name, right->levels[i].name);
    return fit;
}

void cohort__named_levels_list(const struct cohort__named_levels *levels,
                               char text[COHORT__NAMED_LEVELS_LIST])
{
    int used = snprintf(text, COHORT__NAMED_LEVELS_LIST, "%s",
                        levels->num == 0   ? "no levels"
                        : levels->num == 1 ? "the level"
                                           : "the levels");
    for (uint32_t i = 0; i < levels->num; i++)
        used += snprintf(text + used, COHORT__NAMED_LEVELS_LIST - (size_t)used, "%s %.*s",
                         i > 0 ? "," : "", (int)levels->levels[i].name.bytes,
                         levels->levels[i].name.text);
}
