/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_FAILURE_H
#define COHORT_COLLECTIVES_COMM_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/comm/group.h"
#include "collectives/comm/message.h"
#include "collectives/comm/operation.h"

/* The failure of a call as a whole. If the call has a plan, the error goes along its sends to the
 * sites that depend on it. If not, all sites are told: each site of this locality, and each other
 * locality once, which tells its own sites. A site that has not called yet keeps the failure until
 * it does. */

/* In the endpoint's turn: tells other sites, outside of any plan, that this call has failed. They
 * are the other sites of this locality, and with IS_FOR_ALL those of all localities. Does nothing
 * if they learn of it in another way. A site that has not called yet fails when it does. A site
 * that has ended the call ignores it. */
void cohort__failure_tell(struct cohort__operation *operation, bool is_for_all);

/* Any thread: hands FAILURE (its generation, fingerprint and error) to all sites of this locality
 * except SOURCE_SITE, whose call it was. */
void cohort__failure_tell_sites(struct cohort__group *group, const struct cohort__message *failure,
                                uint32_t source_site);

#endif
