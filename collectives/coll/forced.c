/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/forced.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64 };

/* The names of the rows of COLLECTIVE, like "linear, hierarchical", or of those that may be among
 * the leaders of COMPOSED. */
static const char *names(enum cohort__collective collective,
                         const struct cohort__algorithm *composed, char *text, size_t bytes)
{
    size_t used = 0;
    snprintf(text, bytes, "none");
    for (uint32_t i = 0; i < cohort__num_algorithms && used < bytes; i++) {
        const struct cohort__algorithm *row = cohort__algorithms[i];
        if (composed ? cohort__algorithm_may_lead(row, composed) : row->collective == collective)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used > 0 ? ", " : "",
                                     row->name);
    }
    return text;
}

/* The number + 1 of the row of COLLECTIVE whose name is the BYTES bytes at NAME, or 0. */
static uint8_t find(enum cohort__collective collective, const char *name, size_t bytes)
{
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        const char *known = cohort__algorithms[i]->name;
        if (cohort__algorithms[i]->collective == collective && strlen(known) == bytes &&
            memcmp(known, name, bytes) == 0)
            return (uint8_t)(i + 1);
    }
    return 0;
}

/* NAME ends with ROW's leaders' row in parentheses, which begins at OPENING. */
static cohort_status find_inner(const struct cohort__algorithm *row, const char *name,
                                const char *opening, uint8_t *ret_inner)
{
    char known[300];
    size_t bytes = strlen(opening + 1);
    const char *collective = cohort__collective_name(row->collective);
    if (!row->stages)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s: \"%.60s\": the algorithm %s has no leaders that another one could "
                           "be for",
                           collective, name, row->name);
    uint8_t inner = bytes > 1 && opening[bytes] == ')' ? find(row->top, opening + 1, bytes - 1) : 0;
    if (inner == 0 || !cohort__algorithm_may_lead(cohort__algorithms[inner - 1], row))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s: \"%.60s\": the leaders of %s have no such algorithm for their "
                           "%s; there are: %s",
                           collective, name, row->name, cohort__collective_name(row->top),
                           names(row->top, row, known, sizeof(known)));
    *ret_inner = inner;
    return COHORT_OK;
}

cohort_status cohort__forced_find(enum cohort__collective collective, const char *name,
                                  struct cohort__forced *ret_forced)
{
    struct cohort__forced found = {0, 0};
    const char *opening = strchr(name, '(');
    found.row = find(collective, name, opening ? (size_t)(opening - name) : strlen(name));
    char known[300];
    if (found.row == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "no algorithm of %s is called \"%.60s\"; there are: %s",
                           cohort__collective_name(collective), name,
                           names(collective, NULL, known, sizeof(known)));
    cohort_status status = COHORT_OK;
    if (opening)
        status = find_inner(cohort__algorithms[found.row - 1], name, opening, &found.inner);
    if (!status)
        *ret_forced = found;
    return status;
}

/* Reads one "collective=algorithm". */
static cohort_status parse_one(const char *text, size_t bytes, struct cohort__forced *forced)
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
    if (forced[collective].row)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "algorithms: %s has two of them", name);
    return cohort__forced_find(collective, algorithm, &forced[collective]);
}

cohort_status cohort__forced_parse(const char *text, struct cohort__forced *forced)
{
    cohort_status status = COHORT_OK;
    while (!status && text && *text) {
        size_t bytes = strcspn(text, ",");
        status = parse_one(text, bytes, forced);
        text += bytes + (text[bytes] == ',');
    }
    return status;
}

void cohort__forced_print(const struct cohort__forced *forced, char *text, size_t bytes)
{
    char name[COHORT__ALGORITHM_NAME];
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < COHORT__NUM_COLLECTIVES && used < bytes; i++)
        if (forced[i].row)
            used +=
                (size_t)snprintf(text + used, bytes - used, "%s%s=%s", used > 0 ? "," : "",
                                 cohort__collective_name((enum cohort__collective)i),
                                 cohort__algorithm_name(forced[i].row - 1U, forced[i].inner, name));
}
