/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_QUIET_H
#define COHORT_COLLECTIVES_COMM_QUIET_H

#include <stdbool.h>

#include "collectives/comm/group.h"

/* Whether nothing can happen in GROUP any more, so that it can be freed: nobody has a reference,
 * all endpoints have left, and nothing is under way between them. With the inbox's lock held, so
 * that nobody gets a reference meanwhile. */
bool cohort__quiet_has_come(const struct cohort__group *group);

#endif
