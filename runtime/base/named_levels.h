/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_NAMED_LEVELS_H
#define COHORT_RUNTIME_BASE_NAMED_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* Levels of the machine that a user names, above the hosts, with the group that a host is in at
 * each: "switch=s1,rack=r7", the finest first. */

enum {
    COHORT__NAMED_LEVELS_MAX = 4,
    COHORT__NAMED_LEVEL_NAME = 31,  /* bytes of a name, at most */
    COHORT__NAMED_LEVEL_GROUP = 63, /* ... of a group */
    COHORT__NAMED_LEVELS_BYTES =
        COHORT__NAMED_LEVELS_MAX * (COHORT__NAMED_LEVEL_NAME + COHORT__NAMED_LEVEL_GROUP + 2) - 1,
};

struct cohort__word {
    const char *text; /* not terminated */
    size_t bytes;
};

struct cohort__named_level {
    struct cohort__word name;
    struct cohort__word group;
};

struct cohort__named_levels {
    uint32_t num;
    struct cohort__named_level levels[COHORT__NAMED_LEVELS_MAX];
};

/* Reads TEXT, of BYTES bytes, which has to stay as long as what is read; empty: no levels. Names
 * are of small letters, digits, - and _, beginning with a letter, and none is that of another level
 * of the machine; groups are of letters, digits, '.', ':', - and _. COHORT_ERR_BAD_PARAMETER, with
 * a message that goes on behind "TEXT is ": what is wrong. */
cohort_status cohort__named_levels_read(const char *text, size_t bytes,
                                        struct cohort__named_levels *ret_levels);

bool cohort__words_are_equal(struct cohort__word left, struct cohort__word right);

/* Whether LEFT and RIGHT have the same names in the same order. */
bool cohort__named_levels_fit(const struct cohort__named_levels *left,
                              const struct cohort__named_levels *right);

/* Writes "the levels switch, rack", or "no levels". */
enum { COHORT__NAMED_LEVELS_LIST = 11 + COHORT__NAMED_LEVELS_BYTES + 1 };
void cohort__named_levels_list(const struct cohort__named_levels *levels,
                               char text[COHORT__NAMED_LEVELS_LIST]);

#endif
