/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_LAYOUT_H
#define COHORT_COLLECTIVES_PLAN_LAYOUT_H

#include "cohort/layout.h"
#include "runtime/base/misuse.h"

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
    /* No element is there twice. False: not known yet, or one is. See layout_overlap.h. */
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

#endif
