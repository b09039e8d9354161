/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/coll/random_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/algo/algorithm.h"
#include "tests/support/test.h"

/* The kinds of calls, and how calls are drawn. */

static const struct {
    const char *name;
    enum cohort__collective collective;
    bool is_rooted, reduces, has_rows, is_loose, is_of_objects;
} kinds[RANDOM_NUM_KINDS] = {
    [RANDOM_BARRIER] = {.name = "barrier", .collective = COHORT__BARRIER},
    [RANDOM_CHECK] = {.name = "check_rooted", .collective = COHORT__CHECK},
    [RANDOM_GATHER] = {"gather", COHORT__GATHER, .is_rooted = true, .has_rows = true},
    [RANDOM_SCATTER] = {"scatter", COHORT__SCATTER, .is_rooted = true},
    [RANDOM_BROADCAST] = {"broadcast", COHORT__BROADCAST, .is_rooted = true},
    [RANDOM_REDUCE] = {"reduce", COHORT__REDUCE, .is_rooted = true, .reduces = true},
    [RANDOM_ALL_GATHER] = {"all_gather", COHORT__ALL_GATHER, .has_rows = true},
    [RANDOM_ALL_REDUCE] = {"all_reduce", COHORT__ALL_REDUCE, .reduces = true},
    [RANDOM_ALL_TO_ALL] = {"all_to_all", COHORT__ALL_TO_ALL, .has_rows = true},
    [RANDOM_REDUCE_SCATTER] = {"reduce_scatter", COHORT__REDUCE_SCATTER, .reduces = true},
    [RANDOM_SCAN] = {"scan", COHORT__SCAN, .reduces = true},
    [RANDOM_EXCLUSIVE_SCAN] = {"exclusive_scan", COHORT__EXCLUSIVE_SCAN, .reduces = true},
    [RANDOM_SHIFT] = {.name = "shift", .collective = COHORT__SHIFT},
    [RANDOM_GATHERV] = {"gatherv", COHORT__GATHER, .is_rooted = true, .has_rows = true,
                        .is_loose = true},
    [RANDOM_SCATTERV] = {"scatterv", COHORT__SCATTER, .is_rooted = true, .is_loose = true},
    [RANDOM_ALL_GATHERV] = {"all_gatherv", COHORT__ALL_GATHER, .has_rows = true},
    [RANDOM_REDUCE_SCATTERV] = {"reduce_scatterv", COHORT__REDUCE_SCATTER, .reduces = true},
    [RANDOM_ALL_TO_ALLV] = {"all_to_allv", COHORT__ALL_TO_ALL, .has_rows = true, .is_loose = true},
    [RANDOM_ALL_TO_ALLW] = {"all_to_allw", COHORT__ALL_TO_ALL, .has_rows = true, .is_loose = true},
    [RANDOM_EXCHANGE] = {"exchange", COHORT__EXCHANGE, .is_loose = true},
    [RANDOM_GATHER_OBJECTS] = {"gather_objects", COHORT__GATHER, .is_rooted = true,
                               .is_of_objects = true},
    [RANDOM_SCATTER_OBJECTS] = {"scatter_objects", COHORT__SCATTER, .is_rooted = true,
                                .is_of_objects = true},
    [RANDOM_BROADCAST_OBJECT] = {"broadcast_object", COHORT__BROADCAST, .is_rooted = true,
                                 .is_of_objects = true},
    [RANDOM_ALL_GATHER_OBJECTS] = {"all_gather_objects", COHORT__ALL_GATHER, .is_of_objects = true},
    [RANDOM_ALL_TO_ALL_OBJECTS] = {"all_to_all_objects", COHORT__ALL_TO_ALL, .is_of_objects = true},
    [RANDOM_ALL_TO_ALL_SPARSE] = {"all_to_all_sparse", COHORT__ALL_TO_ALL, .is_of_objects = true},
};

bool random_kind_is_rooted(enum random_kind kind)
{
    return kinds[kind].is_rooted;
}

bool random_kind_reduces(enum random_kind kind)
{
    return kinds[kind].reduces;
}

bool random_kind_is_of_objects(enum random_kind kind)
{
    return kinds[kind].is_of_objects;
}

bool random_kind_has_rows(enum random_kind kind)
{
    return kinds[kind].has_rows;
}

bool random_kind_is_loose(enum random_kind kind)
{
    return kinds[kind].is_loose;
}

const char *random_kind_name(enum random_kind kind)
{
    return kinds[kind].name;
}

static bool one_of(struct cohort__random *random, uint64_t num)
{
    return cohort__random_below(random, num) == 0;
}

/* Mostly small counts. Sometimes more than what is sent eagerly, or in one piece. */
static size_t draw_count(struct cohort__random *random)
{
    static const uint16_t limits[] = {2, 4, 4, 10, 70, 500};
    return cohort__random_below(random, limits[cohort__random_below(random, 6)]);
}

static const char *draw_algorithm(enum random_kind kind, struct cohort__random *random)
{
    uint32_t first = (uint32_t)cohort__random_below(random, cohort__num_algorithms);
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        const struct cohort__algorithm *algorithm =
            cohort__algorithms[(first + i) % cohort__num_algorithms];
        if (algorithm->collective == kinds[kind].collective)
            return algorithm->name;
    }
    return NULL;
}

void random_call_force(struct random_call *call, const char *algorithm)
{
    if (call->kind != RANDOM_CHECK &&
        cohort__algorithm_find(kinds[call->kind].collective, algorithm))
        call->algorithm = algorithm;
}

static void draw_edges(struct random_call *call, struct cohort__random *random)
{
    call->num_edges =
        (uint32_t)cohort__random_below(random, one_of(random, 2) ? 4 : RANDOM_BLOCKS + 1);
    for (uint32_t i = 0; i < call->num_edges; i++)
        call->edges[i] = (struct random_edge){
            (uint8_t)cohort__random_below(random, call->num_sites),
            (uint8_t)cohort__random_below(random, call->num_sites), (uint16_t)draw_count(random)};
}

static void draw_counts(struct random_call *call, struct cohort__random *random)
{
    bool is_symmetric = one_of(random, 2);
    for (uint32_t from = 0; from < RANDOM_SITES; from++)
        for (uint32_t to = 0; to < RANDOM_SITES; to++)
            call->counts[from][to] =
                is_symmetric && to < from ? call->counts[to][from] : (uint16_t)draw_count(random);
}

static void draw_type(struct random_call *call, struct cohort__random *random)
{
    do {
        call->type = (uint32_t)cohort__random_below(random, RANDOM_NUM_TYPES);
        call->op = (uint32_t)cohort__random_below(random, RANDOM_NUM_OPS);
    } while (!random_op(call));
}

static void draw_root(struct random_call *call, struct cohort__random *random, uint32_t root)
{
    call->root = call->usual_root = root;
    call->has_root = kinds[call->kind].is_rooted && one_of(random, 2);
    if (call->has_root)
        call->root = (uint32_t)cohort__random_below(random, call->num_sites);
}

void random_call_draw(struct random_call *call, struct cohort__random *random, uint32_t num_sites,
                      uint32_t root)
{
    *call = (struct random_call){.num_sites = num_sites};
    call->kind = (enum random_kind)cohort__random_below(random, RANDOM_NUM_KINDS);
    call->count = draw_count(random);
    call->is_spread = one_of(random, 2);
    call->q = (int64_t)cohort__random_below(random, 4 * num_sites + 1) - 2 * (int64_t)num_sites;
    call->is_checked = call->kind == RANDOM_CHECK || one_of(random, 8);
    call->is_reproducible = one_of(random, 8);
    draw_root(call, random, root);
    draw_type(call, random);
    draw_counts(call, random);
    draw_edges(call, random);
    if (call->kind != RANDOM_CHECK && one_of(random, 4))
        call->algorithm = draw_algorithm(call->kind, random);
}

static void other_kind(struct random_call *call, struct cohort__random *random)
{
    enum random_kind before = call->kind;
    while (call->kind == before)
        call->kind = (enum random_kind)cohort__random_below(random, RANDOM_NUM_KINDS);
    call->algorithm = NULL;
    call->has_root = kinds[call->kind].is_rooted && call->root != call->usual_root;
    if (call->kind == RANDOM_CHECK)
        call->is_checked = true;
    if (!random_op(call))
        draw_type(call, random);
}

static bool is_equal(enum random_kind kind)
{
    return kind > RANDOM_CHECK && kind < RANDOM_GATHERV;
}

void random_call_change(struct random_call *call, struct cohort__random *random)
{
    const struct random_call before = *call;
    switch (cohort__random_below(random, 6)) {
    case 0:
        if (is_equal(call->kind)) {
            call->count++;
            return;
        }
        break;
    case 1:
        if (random_kind_reduces(call->kind) && !random_has_users_type(call)) {
            while (call->op == before.op || !random_op(call))
                call->op = (uint32_t)cohort__random_below(random, RANDOM_NUM_OPS);
            return;
        } /* the user's types have one operation only */
        break;
    case 2:
        if (random_kind_is_rooted(call->kind) && call->num_sites > 1) {
            call->root = (call->root + 1) % call->num_sites;
            call->has_root = true;
            return;
        }
        break;
    case 3:
        if (call->kind == RANDOM_SHIFT && call->num_sites > 1) {
            call->q++;
            return;
        }
        break;
    case 4:
        if (call->kind == RANDOM_ALL_GATHERV || call->kind == RANDOM_REDUCE_SCATTERV) {
            for (uint32_t site = 0; site < RANDOM_SITES; site++)
                call->counts[0][site]++, call->counts[site][0]++;
            return;
        }
        break;
    default:
        break;
    }
    other_kind(call, random);
}

void random_call_vary_options(struct random_call *call, struct cohort__random *random)
{
    bool is_check = call->kind == RANDOM_CHECK;
    switch (cohort__random_below(random, 3)) {
    case 0:
        call->is_reproducible = !call->is_reproducible;
        break;
    case 1:
        call->algorithm = is_check ? NULL : draw_algorithm(call->kind, random);
        break;
    default:
        call->is_checked = is_check || !call->is_checked;
        break;
    }
}

void random_call_vary(struct random_call *call, struct cohort__random *random)
{
    bool is_turned = call->kind == RANDOM_EXCHANGE && one_of(random, 2);
    switch (is_turned ? 0 : cohort__random_below(random, 5)) {
    case 0: /* what was sent before is received now */
        for (uint32_t i = 0; i < call->num_edges; i++) {
            const struct random_edge edge = call->edges[i];
            call->edges[i] = (struct random_edge){edge.to, edge.from, edge.count};
        }
        break;
    case 1:
        call->num_edges -= call->num_edges > 0;
        break;
    case 2:
        call->is_spread = !call->is_spread;
        break;
    case 3:
        call->counts[cohort__random_below(random, call->num_sites)]
                    [cohort__random_below(random, call->num_sites)]++;
        break;
    default:
        random_call_vary_options(call, random);
        break;
    }
}

cohort_call_question random_question(const struct random_call *call, size_t counts[RANDOM_SITES])
{
    bool is_check = call->kind == RANDOM_CHECK;
    for (uint32_t site = 0; site < call->num_sites; site++)
        counts[site] =
            call->kind == RANDOM_ALL_GATHERV ? call->counts[site][0] : call->counts[0][site];
    return (cohort_call_question){
        .collective = cohort__collective_name(kinds[call->kind].collective),
        .algorithm = call->algorithm,
        .count = call->count,
        .datatype = random_datatype(call),
        .op = random_op(call),
        .root_site = call->has_root ? &call->root : NULL,
        .check_asymmetric = call->is_checked && !is_check,
        .reproducible = call->is_reproducible,
        .of_objects = kinds[call->kind].is_of_objects,
        .is_ragged = call->kind >= RANDOM_GATHERV && call->kind <= RANDOM_ALL_TO_ALLW,
        .counts = counts,
        .q = call->q,
    };
}

void random_call_describe(const struct random_call *call, char *text, size_t capacity)
{
    snprintf(text, capacity, "%s of %zu %s (%zu bytes), op %u, root %u%s, q %lld, %s%s%s%s%s",
             kinds[call->kind].name, call->count, cohort_datatype_name(random_datatype(call)),
             random_element(call), call->op, call->root, call->has_root ? " of the call" : "",
             (long long)call->q, call->is_spread ? "spread " : "",
             call->is_checked          ? "checked "
             : call->is_checked_anyway ? "checked anyway "
                                       : "",
             call->is_reproducible ? "reproducible " : "", call->algorithm ? "by " : "",
             call->algorithm ? call->algorithm : "");
}
