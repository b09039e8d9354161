/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/forced.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64 };

/* Writes the names of the rows of COLLECTIVE, like "linear, hierarchical". */
static void names_append(enum cohort__collective collective, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < cohort__num_algorithms && used < bytes; i++)
        if (cohort__algorithms[i]->collective == collective)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used > 0 ? ", " : "",
                                     cohort__algorithms[i]->name);
}

cohort_status cohort__forced_find(enum cohort__collective collective, const char *name,
                                  uint8_t *ret_row)
{
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        if (cohort__algorithms[i]->collective != collective ||
            strcmp(cohort__algorithms[i]->name, name) != 0)
            continue;
        *ret_row = (uint8_t)(i + 1);
        return COHORT_OK;
    }
    char known[300];
    names_append(collective, known, sizeof(known));
    return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                       "no algorithm of %s is called \"%.60s\"; there are: %s",
                       cohort__collective_name(collective), name, known[0] ? known : "none");
}

/* Reads one "collective=algorithm". */
static cohort_status parse_one(const char *text, size_t bytes, uint8_t *forced)
{
    char name[NAME_BYTES];
    const char *equals = memchr(text, '=', bytes);
    if (!equals || bytes >= sizeof(name))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "algorithms: \"%.*s\" is not \"collective=algorithm\"",
                           (int)(bytes < NAME_BYTES ? bytes : NAME_BYTES), text);
    memcpy(name, text, bytes);
    name[bytes] = 0;
    char *algorithm = name + (equals - text);
    *algorithm++ = 0;
    enum cohort__collective collective = cohort__collective_find(name);
    if (collective == COHORT__NUM_COLLECTIVES)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "algorithms: \"%.60s\" is no collective",
                           name);
    if (forced[collective])
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "algorithms: %s has two of them", name);
    return cohort__forced_find(collective, algorithm, &forced[collective]);
}

cohort_status cohort__forced_parse(const char *text, uint8_t *forced)
{
    cohort_status status = COHORT_OK;
    while (!status && text && *text) {
        size_t bytes = strcspn(text, ",");
        status = parse_one(text, bytes, forced);
        text += bytes + (text[bytes] == ',');
    }
    return status;
}

void cohort__forced_print(const uint8_t *forced, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < COHORT__NUM_COLLECTIVES && used < bytes; i++)
        if (forced[i])
            used += (size_t)snprintf(text + used, bytes - used, "%s%s=%s", used > 0 ? "," : "",
                                     cohort__collective_name((enum cohort__collective)i),
                                     cohort__algorithms[forced[i] - 1]->name);
}
