/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_COLL_RANDOM_LAYOUT_H
#define COHORT_TESTS_COLL_RANDOM_LAYOUT_H

#include "cohort/layout.h"
#include "runtime/base/random.h"

/* A layout of so many elements, of any kind, none of which is there twice. PLACES gets where each
 * of them lies; the caller frees it. */
cohort_layout *random_layout(struct cohort__random *random, size_t num, size_t **ret_places);

/* Elements in an array, where a layout says. What is in the array besides is known. */
struct random_lying {
    cohort_layout *layout;
    size_t *places; /* NULL: there is none */
    size_t num;
    size_t span;
    size_t element; /* bytes */
    unsigned char *array;
};

/* An array for what LYING has a layout and places for. */
void random_lying_make_array(struct random_lying *lying, size_t element);
/* The same as far as OTHER's, and OTHER lies in it, too. */
void random_lying_share_array(struct random_lying *lying, struct random_lying *other,
                              size_t element);

/* Puts NUM elements there, the first ones. */
void random_lying_put(const struct random_lying *lying, const unsigned char *elements, size_t num);
/* Copies NUM elements from FIRST on to their places in ELEMENTS. */
void random_lying_take(const struct random_lying *lying, unsigned char *elements, size_t first,
                       size_t num);
/* Whether nothing has come to where the first NUM elements of LYING are not. OTHER (which may be
 * NULL) has so many in the same array, which are as they were. */
bool random_lying_is_kept(const struct random_lying *lying, size_t num,
                          const struct random_lying *other, const unsigned char *other_elements,
                          size_t other_num);
/* Without the array. */
void random_lying_fini(struct random_lying *lying);

/* Two layouts of one array, of NUM[0] and NUM[1] elements, which lie between each other. */
void random_layouts_of_one(struct cohort__random *random, const size_t num[2],
                           cohort_layout *ret_layouts[2], size_t *ret_places[2]);

#endif
