/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_LAYOUT_OVERLAP_H
#define COHORT_COLLECTIVES_PLAN_LAYOUT_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/plan/layout.h"

/* Whether elements that are received lie where others are received or sent. */

/* Some elements of one array: all are in bytes. */
struct cohort__lying {
    size_t offset;               /* of the layout, or of the only run */
    size_t bytes;                /* of all elements */
    const cohort_layout *layout; /* or NULL: one run */
    uint32_t site;               /* the other one, for messages */
    bool is_sent;                /* else received */
};

/* Two runs that overlap, and what they are of. */
struct cohort__overlap {
    struct {
        size_t begin;
        size_t end;
        uint32_t site;
        bool is_sent;
    } a, b;
};

/* Looks for an overlap among NUM of LYING; what is sent may overlap with what is sent. Takes memory
 * for each strip of the layouts, none for their runs, and time only for the runs between which
 * others lie; for few of these where they are repeated with one stride. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__layout_overlap(const struct cohort__lying *lying, size_t num, bool *ret_found,
                                     struct cohort__overlap *ret_overlap);

/* Whether LAYOUT has an element twice, which is found out once in its life. ELEMENT is that of
 * RET_OVERLAP. */
cohort_status cohort__layout_overlaps_itself(cohort_layout *layout, size_t element, bool *ret_found,
                                             struct cohort__overlap *ret_overlap);

#endif
