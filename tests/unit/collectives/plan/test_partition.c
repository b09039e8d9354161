/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/partition.h"

#include "tests/support/test.h"

/* Numbers of sites, and the parts into which they are to be split. */
TEST(tables)
{
    static const struct {
        uint32_t num_sites, arity, count, levels, sizes[4];
    } rows[] = {
        {8, 2, 2, 3, {4, 4}},       {16, 4, 4, 2, {4, 4, 4, 4}}, {11, 4, 4, 2, {3, 3, 3, 2}},
        {5, 4, 4, 2, {2, 1, 1, 1}}, {7, 3, 3, 2, {3, 2, 2}},     {3, 8, 3, 1, {1, 1, 1}},
        {1, 2, 1, 1, {1}},
    };
    for (size_t i = 0; i < NUM_OF(rows); i++) {
        struct cohort__range all = {.first = 0, .count = rows[i].num_sites};
        uint32_t first = 0;
        CHECK_INT(cohort__partition_count(rows[i].num_sites, rows[i].arity), rows[i].count);
        CHECK_INT(cohort__partition_levels(rows[i].num_sites, rows[i].arity), rows[i].levels);
        for (uint32_t k = 0; k < rows[i].count; k++) {
            struct cohort__range group = cohort__partition_group(all, rows[i].arity, k);
            CHECK_INT(group.first, first);
            CHECK_INT(group.count, rows[i].sizes[k]);
            first += group.count;
        }
        CHECK_INT(first, rows[i].num_sites);
    }
}

static void check_cover(struct cohort__range whole, uint32_t arity)
{
    uint32_t count = cohort__partition_count(whole.count, arity);
    uint32_t next = whole.first;
    for (uint32_t index = 0; index < count; index++) {
        struct cohort__range group = cohort__partition_group(whole, arity, index);
        CHECK_INT(group.first, next);
        CHECK(group.count >= whole.count / count && group.count <= whole.count / count + 1);
        for (uint32_t site = group.first; site < group.first + group.count; site++)
            CHECK_INT(cohort__partition_find(whole, arity, site), index);
        next += group.count;
    }
    CHECK_INT(next, whole.first + whole.count);
}

TEST(cover)
{
    for (uint32_t num_sites = 1; num_sites <= 64; num_sites++)
        for (uint32_t arity = 1; arity <= 8; arity++)
            for (uint32_t first = 0; first <= 5; first += 5)
                check_cover((struct cohort__range){.first = first, .count = num_sites}, arity);
}

/* By the definition: one level more than the deepest group. */
static uint32_t levels_of(uint32_t num_sites, uint32_t arity)
{
    struct cohort__range all = {.first = 0, .count = num_sites};
    uint32_t deepest = 0;
    if (num_sites <= arity)
        return 1;
    for (uint32_t index = 0; index < cohort__partition_count(num_sites, arity); index++) {
        uint32_t levels = levels_of(cohort__partition_group(all, arity, index).count, arity);
        deepest = levels > deepest ? levels : deepest;
    }
    return deepest + 1;
}

TEST(levels)
{
    for (uint32_t num_sites = 1; num_sites <= 64; num_sites++)
        for (uint32_t arity = 2; arity <= 8; arity++) {
            struct cohort__range all = {.first = 0, .count = num_sites};
            CHECK_INT(cohort__partition_levels(num_sites, arity), levels_of(num_sites, arity));
            CHECK_INT(cohort__partition_is_leaf(all, arity), num_sites <= arity);
        }
}
