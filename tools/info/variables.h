/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-info: the environment variables of Cohort, and names that are none of them. */
#ifndef COHORT_TOOLS_INFO_VARIABLES_H
#define COHORT_TOOLS_INFO_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

struct variable {
    const char *name;
    const char *otherwise; /* its default; NULL: Cohort's programs set it for each other */
    const char *what;
};

/* In the order to print them in; *RET_NUM is how many. A test of the house compares the names with
 * those that the sources read. */
const struct variable *variables_all(size_t *ret_num);

/* The next variable of ENVIRONMENT from *AT on ("NAME=VALUE", ended by NULL) that begins with
 * COHORT_ and is none of Cohort's. Writes its name to RET_NAME, and moves *AT behind it. *RET_MEANT
 * is the one that was perhaps meant, or NULL. False: there is none. */
bool variables_next_unknown(char *const *environment, size_t *at, char *ret_name, size_t bytes,
                            const char **ret_meant);

#endif
