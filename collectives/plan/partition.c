/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/partition.h"

uint32_t cohort__partition_count(uint32_t num_sites, uint32_t arity)
{
    return num_sites < arity ? num_sites : arity;
}

struct cohort__range cohort__partition_group(struct cohort__range whole, uint32_t arity,
                                             uint32_t index)
{
    uint32_t num_groups = cohort__partition_count(whole.count, arity);
    uint32_t size = whole.count / num_groups;
    uint32_t num_larger = whole.count % num_groups;
    uint32_t num_larger_before = index < num_larger ? index : num_larger;
    return (struct cohort__range){.first = whole.first + index * size + num_larger_before,
                                  .count = size + (index < num_larger)};
}

uint32_t cohort__partition_find(struct cohort__range whole, uint32_t arity, uint32_t site)
{
    uint32_t num_groups = cohort__partition_count(whole.count, arity);
    uint32_t size = whole.count / num_groups;
    uint32_t num_larger = whole.count % num_groups;
    uint32_t in_larger = num_larger * (size + 1);
    uint32_t place = site - whole.first;
    return place < in_larger ? place / (size + 1) : num_larger + (place - in_larger) / size;
}

bool cohort__partition_is_leaf(struct cohort__range range, uint32_t arity)
{
    return range.count <= arity;
}

uint32_t cohort__partition_levels(uint32_t num_sites, uint32_t arity)
{
    struct cohort__range range = {.first = 0, .count = num_sites};
    uint32_t num_levels = 1;
    /* Group 0 is never smaller than the others, so no other way down is longer. */
    for (; !cohort__partition_is_leaf(range, arity); num_levels++)
        range = cohort__partition_group(range, arity, 0);
    return num_levels;
}
