/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: what is found by two numbers. */
#ifndef COHORT_TOOLS_TRACE_KEYED_H
#define COHORT_TOOLS_TRACE_KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/map.h"

/* What is found by two numbers: the first field of a struct that a map owns. */
struct keyed {
    struct cohort__map_node node;
    uint64_t first, second;
};

/* NULL: there is none. */
void *keyed_find(const struct cohort__map *map, uint64_t first, uint64_t second);

/* That of MAP with these numbers, or a new one, all zero, of BYTES. NULL: no memory. */
void *keyed_get(struct cohort__map *map, size_t bytes, uint64_t first, uint64_t second,
                bool *ret_is_new);

/* The struct that NODE is in. */
struct keyed *keyed_of(struct cohort__map_node *node);

/* Frees all of MAP, and what the map itself has. */
void keyed_free(struct cohort__map *map);

#endif
