/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_PARCELS_H
#define COHORT_COLLECTIVES_COLL_CALL_PARCELS_H

#include <stdbool.h>

#include "collectives/coll/call.h"
#include "collectives/exec/execution.h"

/* gatherv, scatterv, all_to_allv and all_to_allw by rows for blocks of one size. */

/* Whether the blocks of CALL have sizes that only those know who send and receive them. Not those
 * of an exchange, which has no other row. */
bool cohort__call_sizes_differ(const struct cohort__call *call);

/* Whether the blocks of CALL go as parcels (exec/parcel_steps.h) if ALGORITHM carries it out: if
 * their sizes differ, and the row is for blocks of one size. */
bool cohort__call_has_parcels(const struct cohort__call *call,
                              const struct cohort__algorithm *algorithm);

/* The request for such a row, of LIKE's: blocks of one byte. */
struct cohort__request cohort__call_parcels_request(const struct cohort__call *call,
                                                    const struct cohort__request *like);

/* How many rows of OUT this site gets. */
uint32_t cohort__call_parcels_rows(const struct cohort__call *call,
                                   const struct cohort__request *request);

/* Where CALL's parcels are. TAIL is the entry's. */
void cohort__call_parcels(const struct cohort__call *call, const struct cohort__request *request,
                          const void *tail, struct cohort__parcels *ret_in,
                          struct cohort__parcels *ret_out);

#endif
