/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_PLAN_H
#define COHORT_COLLECTIVES_COLL_CALL_PLAN_H

#include "collectives/coll/call.h"
#include "collectives/model/select.h"

/* From the shape of a call to its plan: chooses the algorithm, and adds the decorations. */

/* _question: the question which row carries out SHAPE. It refers to *RET_REQUEST.
 * _choose: the answer, or why no row can. Both only read the endpoint. */
cohort_status cohort__call_question(const struct cohort__call *call,
                                    const struct cohort__shape *shape,
                                    struct cohort__request *ret_request,
                                    struct cohort__question *ret_question);
cohort_status cohort__call_choose(const struct cohort__call *call,
                                  const struct cohort__shape *shape,
                                  struct cohort__candidate *ret_choice);

/* A reference to the plan for SHAPE, from the cache or built now. */
cohort_status cohort__call_plan(const struct cohort__call *call, const struct cohort__shape *shape,
                                struct cohort__plan_entry **ret_entry);

#endif
