/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_LAYOUT_H
#define COHORT_COLLECTIVES_PLAN_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/layout.h"
#include "runtime/base/misuse.h"

/* Copies COUNT pieces of BYTES bytes. On each side a piece begins so many bytes after the one
 * before. Pieces may lie at any address. */
void cohort__strided_copy(unsigned char *to, size_t to_stride, const unsigned char *from,
                          size_t from_stride, size_t bytes, size_t count);

/* In elements: `count` runs of `length`, each of which begins `stride` after the one before. With
 * one run the stride is 0. Neither is 0 otherwise, only the stride may be. */
struct cohort__strip {
    size_t offset;
    size_t length;
    size_t stride;
    size_t count;
    size_t first; /* the number, among the layout's elements, of its first one */
};

/* The strips, in the order of the elements. */
struct cohort_layout {
    uint64_t number;       /* from 1 on, never used again: whoever has seen it knows the strips */
    _Atomic uint32_t refs; /* 0 when it is gone, see base/misuse.h */
    size_t num_elements;
    size_t span;
    size_t num_strips;
    /* No element is there twice. False: not known yet, or one is. See below. */
    _Atomic bool is_disjoint;
    struct cohort__strip strips[];
};

/* For a public FUNCTION that LAYOUT was given to, which may be NULL: ends the program if it is
 * gone. */
__attribute__((always_inline)) static inline void cohort__layout_check(const cohort_layout *layout,
                                                                       const char *function)
{
    if (layout)
        cohort__misuse_check(&layout->refs, "layout", layout, COHORT__MISUSE_UNREF, function);
}

/* Whether all elements are one run. It may begin anywhere. */
bool cohort__layout_is_run(const cohort_layout *layout);

/* As cohort_layout_pack and _unpack, with elements of ELEMENT bytes, which fit into memory. */
void cohort__layout_pack(const cohort_layout *layout, size_t element, void *to, const void *from);
void cohort__layout_unpack(const cohort_layout *layout, size_t element, void *to, const void *from);

/* The same for the NUM elements from number FIRST on, of which that one lies at the beginning of
 * what is packed. */
void cohort__layout_pack_some(const cohort_layout *layout, size_t element, size_t first, size_t num,
                              void *to, const void *from);
void cohort__layout_unpack_some(const cohort_layout *layout, size_t element, size_t first,
                                size_t num, void *to, const void *from);

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
