/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/movement.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

/* Every kind of movement is compared with its definition. Its parts are done in any order, and in
 * place if that needs no copy. */

enum { MAX_SITES = 9 };

struct setting {
    uint32_t num_sites;
    uint32_t root;
    uint32_t shift;
    size_t count;
    bool in_place;
    bool is_past_caches;
    size_t segment; /* elements; 0: all at once */
};

static int64_t content(uint32_t site, size_t index)
{
    return (int64_t)(site * 1000003u + index * 7 + 1);
}

/* The value that site TARGET gets at INDEX. False if nothing is written there. */
typedef bool expectation(const struct setting *setting, uint32_t target, size_t index,
                         int64_t *ret_value);

static bool expect_gather(const struct setting *setting, uint32_t target, size_t index,
                          int64_t *ret_value)
{
    *ret_value = content((uint32_t)(index / setting->count), index % setting->count);
    return target == setting->root;
}

static bool expect_scatter(const struct setting *setting, uint32_t target, size_t index,
                           int64_t *ret_value)
{
    *ret_value = content(setting->root, target * setting->count + index);
    return index < setting->count && !(setting->in_place && target == setting->root);
}

static bool expect_broadcast(const struct setting *setting, uint32_t target, size_t index,
                             int64_t *ret_value)
{
    *ret_value = content(setting->root, index);
    return index < setting->count && target != setting->root;
}

static int64_t sum(uint32_t end, size_t index)
{
    int64_t total = 0;
    for (uint32_t site = 0; site < end; site++)
        total += content(site, index);
    return total;
}

static bool expect_reduce(const struct setting *setting, uint32_t target, size_t index,
                          int64_t *ret_value)
{
    *ret_value = sum(setting->num_sites, index);
    return index < setting->count && target == setting->root;
}

static bool expect_all_gather(const struct setting *setting, uint32_t target, size_t index,
                              int64_t *ret_value)
{
    *ret_value = content((uint32_t)(index / setting->count), index % setting->count);
    return true;
}

static bool expect_all_reduce(const struct setting *setting, uint32_t target, size_t index,
                              int64_t *ret_value)
{
    *ret_value = sum(setting->num_sites, index);
    return index < setting->count;
}

static bool expect_all_to_all(const struct setting *setting, uint32_t target, size_t index,
                              int64_t *ret_value)
{
    size_t count = setting->count;
    *ret_value = content((uint32_t)(index / count), target * count + index % count);
    return true;
}

static bool expect_reduce_scatter(const struct setting *setting, uint32_t target, size_t index,
                                  int64_t *ret_value)
{
    *ret_value = sum(setting->num_sites, target * setting->count + index);
    return index < setting->count;
}

static bool expect_scan(const struct setting *setting, uint32_t target, size_t index,
                        int64_t *ret_value)
{
    *ret_value = sum(target + 1, index);
    return index < setting->count;
}

static bool expect_exclusive_scan(const struct setting *setting, uint32_t target, size_t index,
                                  int64_t *ret_value)
{
    *ret_value = sum(target, index);
    return index < setting->count && target > 0;
}

static bool expect_shift(const struct setting *setting, uint32_t target, size_t index,
                         int64_t *ret_value)
{
    uint32_t num_sites = setting->num_sites;
    *ret_value = content((target + num_sites - setting->shift) % num_sites, index);
    return index < setting->count;
}

static const struct {
    const char *name;
    const struct cohort__movement_kind *kind;
    expectation *expect;
    bool own_block; /* in place, a site's input is its own block of its output */
} kinds[] = {
    {"gather", &cohort__movement_kinds[COHORT__GATHER], expect_gather, true},
    {"scatter", &cohort__movement_kinds[COHORT__SCATTER], expect_scatter, false},
    {"broadcast", &cohort__movement_kinds[COHORT__BROADCAST], expect_broadcast, false},
    {"reduce", &cohort__movement_kinds[COHORT__REDUCE], expect_reduce, false},
    {"all_gather", &cohort__movement_kinds[COHORT__ALL_GATHER], expect_all_gather, true},
    {"all_reduce", &cohort__movement_kinds[COHORT__ALL_REDUCE], expect_all_reduce, false},
    {"all_to_all", &cohort__movement_kinds[COHORT__ALL_TO_ALL], expect_all_to_all, false},
    {"reduce_scatter", &cohort__movement_kinds[COHORT__REDUCE_SCATTER], expect_reduce_scatter,
     false},
    {"scan", &cohort__movement_kinds[COHORT__SCAN], expect_scan, false},
    {"exclusive_scan", &cohort__movement_kinds[COHORT__EXCLUSIVE_SCAN], expect_exclusive_scan,
     false},
    {"shift", &cohort__movement_kinds[COHORT__SHIFT], expect_shift, false},
};
enum { NUM_KINDS = NUM_OF(kinds) };

/* In segments of SEGMENT elements, each of which is a movement of its own, or all at once if that
 * is 0. The last segment comes first. */
static void perform(struct cohort__movement *movement, size_t segment)
{
    size_t count = movement->terms.count, length = segment ? segment : count;
    unsigned char **in = movement->in, **out = movement->out;
    for (size_t end = count, begin; end > 0; end = begin) {
        unsigned char *ins[MAX_SITES], *outs[MAX_SITES];
        begin = (end - 1) / length * length;
        for (uint32_t site = 0; site < movement->num_sites; site++) {
            ins[site] = in[site] + begin * movement->terms.element;
            outs[site] = out[site] + begin * movement->terms.element;
        }
        movement->in = ins;
        movement->out = outs;
        movement->terms.count = end - begin;
        for (uint64_t part = cohort__movement_num_parts(movement); part-- > 0;)
            CHECK_OK(cohort__movement_perform(movement, part));
    }
}

static void check_kind(size_t kind, const struct setting *setting)
{
    size_t all = setting->num_sites * setting->count;
    int64_t *in[MAX_SITES], *out[MAX_SITES];
    const int64_t untouched = INT64_MIN;
    bool is_posted[MAX_SITES] = {false};
    struct cohort__movement movement = {
        .terms =
            {
                .kind = kinds[kind].kind,
                .count = setting->count,
                .element = sizeof(int64_t),
                .stride = setting->count * sizeof(int64_t),
                .datatype = COHORT_INT64,
                .op = COHORT_SUM,
                .root = setting->root,
                .shift = setting->shift,
            },
        .num_sites = setting->num_sites,
        .in = (unsigned char **)in,
        .out = (unsigned char **)out,
        .is_posted = is_posted,
        .is_past_caches = setting->is_past_caches,
    };
    for (uint32_t site = 0; site < setting->num_sites; site++) {
        in[site] = test_malloc((all + 1) * sizeof(int64_t));
        out[site] = test_malloc((all + 1) * sizeof(int64_t));
        for (size_t i = 0; i < all; i++) {
            in[site][i] = content(site, i);
            out[site][i] = untouched;
        }
        if (!setting->in_place)
            continue;
        size_t own = kinds[kind].own_block ? site * setting->count : 0;
        memmove(in[site] + own, in[site], setting->count * sizeof(int64_t));
        free(out[site]);
        out[site] = in[site];
    }
    perform(&movement, setting->segment);
    for (uint32_t site = 0; site < setting->num_sites; site++) {
        for (size_t i = 0; i < all; i++) {
            int64_t value;
            bool is_written = kinds[kind].expect(setting, site, i, &value);
            if (!is_written && setting->in_place)
                continue;
            if (out[site][i] != (is_written ? value : untouched))
                FAIL("%s, %u sites, root %u, shift %u, %zu elements%s: site %u, element "
                     "%zu: %lld",
                     kinds[kind].name, setting->num_sites, setting->root, setting->shift,
                     setting->count, setting->in_place ? ", in place" : "", site, i,
                     (long long)out[site][i]);
        }
        if (!setting->in_place)
            free(out[site]);
        free(in[site]);
    }
}

static void check_all(bool in_place, bool is_past_caches, size_t segment)
{
    static const size_t counts[] = {0, 1, 3, 4096, 4097, 20000};
    for (size_t kind = 0; kind < NUM_KINDS; kind++)
        for (uint32_t num_sites = 1; num_sites <= MAX_SITES; num_sites++)
            for (size_t c = 0; c < NUM_OF(counts); c++) {
                if (in_place && kinds[kind].kind->reads_late)
                    continue;
                if (counts[c] > 10000 && num_sites > 3 && num_sites < MAX_SITES)
                    continue; /* a few such cases are enough, since they take long */
                check_kind(kind, &(struct setting){.num_sites = num_sites,
                                                   .root = num_sites / 2,
                                                   .shift = num_sites / 3,
                                                   .count = counts[c],
                                                   .in_place = in_place,
                                                   .is_past_caches = is_past_caches,
                                                   .segment = segment});
            }
}

TEST_CALL(apart, check_all(false, false, 0))
TEST_CALL(in_place, check_all(true, false, 0))

TEST(past_caches)
{
    check_all(false, true, 0);
    check_all(true, true, 0);
}

TEST(segments)
{
    check_all(false, false, 1000);
    check_all(true, true, 1000);
    check_all(false, false, 5000);
}

static uint64_t num_parts(struct cohort__movement *movement, enum cohort__collective collective)
{
    movement->terms.kind = &cohort__movement_kinds[collective];
    return cohort__movement_num_parts(movement);
}

/* A large block has many parts, small blocks share one, and no data has none. */
TEST(num_parts)
{
    struct cohort__movement movement = {.num_sites = 4, .terms = {.count = 1 << 20, .element = 8}};
    CHECK_INT(num_parts(&movement, COHORT__ALL_REDUCE), 256);
    CHECK_INT(num_parts(&movement, COHORT__ALL_TO_ALL), 16 * 256);
    movement.terms.count = 8;
    CHECK_INT(num_parts(&movement, COHORT__ALL_TO_ALL), 4);
    CHECK_INT(num_parts(&movement, COHORT__GATHER), 1);
    unsigned char here, *out[4] = {NULL, &here, NULL, &here};
    movement.out = out;
    movement.has_far = true; /* two of four are done elsewhere */
    CHECK_INT(num_parts(&movement, COHORT__ALL_TO_ALL), 2);
    CHECK_INT(cohort__movement_bytes(&movement), 2 * 4 * 64);
    CHECK_INT(num_parts(&movement, COHORT__GATHER), 1);
    movement.terms.element = 100000; /* elements are never cut */
    CHECK_INT(num_parts(&movement, COHORT__GATHER), 32);
    movement.terms.count = 0;
    CHECK_INT(num_parts(&movement, COHORT__GATHER), 0);
    CHECK_INT(num_parts(&movement, COHORT__BARRIER), 0);
}
