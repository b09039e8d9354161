/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of different sizes, some of them empty, with gaps between them: the ragged all-to-alls,
 * and exchanges over random graphs. */
#include <stdlib.h>
#include <string.h>

#include "collectives/algo/algorithm.h"
#include "runtime/base/random.h"
#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"
#include "tests/support/test.h"

enum { MAX_SITES = 17, MAX_PARTS = 64, MAX_BYTES = MAX_PARTS * 64, GAP = 0x5a, NUM_SEEDS = 6 };

struct side {
    struct cohort__part parts[MAX_PARTS];
    uint32_t num_parts;
    size_t end; /* the end of the last part */
    uint8_t bytes[MAX_BYTES];
};

/* A call: which sites send how much to which. */
struct graph {
    uint32_t num_sites;
    struct side in[MAX_SITES];
    struct side out[MAX_SITES];
    struct cohort__random random;
};

static struct graph graph; /* static because it is large */

static uint32_t random_below(uint32_t limit)
{
    return (uint32_t)cohort__random_below(&graph.random, limit);
}

static void graph_begin(uint32_t num_sites, uint64_t seed)
{
    memset(&graph, 0, sizeof(graph));
    graph.num_sites = num_sites;
    graph.random = cohort__random_seeded(seed);
}

static void part_add(struct side *side, uint32_t peer, size_t bytes)
{
    size_t offset = side->end + random_below(3) * 4;
    CHECK(side->num_parts < MAX_PARTS && offset + bytes <= MAX_BYTES);
    side->parts[side->num_parts++] = (struct cohort__part){peer, offset, bytes};
    side->end = offset + bytes;
}

/* An edge of 0 to 32 bytes. */
static void edge_add(uint32_t from, uint32_t to)
{
    size_t bytes = random_below(5) * (size_t)8;
    part_add(&graph.in[from], to, bytes);
    part_add(&graph.out[to], from, bytes);
}

static void plans_build(const struct cohort__algorithm *row, struct cohort__plan **plans)
{
    for (uint32_t site = 0; site < graph.num_sites; site++) {
        struct cohort__request request = {.collective = row->collective,
                                          .num_sites = graph.num_sites,
                                          .this_site = site,
                                          .arity = 2,
                                          .in_parts = graph.in[site].parts,
                                          .out_parts = graph.out[site].parts,
                                          .num_in_parts = graph.in[site].num_parts,
                                          .num_out_parts = graph.out[site].num_parts};
        if (cohort__algorithm_build(row, &request, &plans[site]) != COHORT_OK)
            FAIL("%s", cohort_error_message());
    }
}

static void run(struct cohort__plan **plans, uint64_t seed)
{
    const uint8_t *in[MAX_SITES];
    uint8_t *out[MAX_SITES];
    for (uint32_t site = 0; site < graph.num_sites; site++) {
        in[site] = graph.in[site].bytes;
        out[site] = graph.out[site].bytes;
        for (size_t i = 0; i < MAX_BYTES; i++)
            graph.in[site].bytes[i] = (uint8_t)cohort__random_next(&graph.random);
        memset(graph.out[site].bytes, GAP, MAX_BYTES);
    }
    struct plan_run run = {
        .plans = plans, .num_sites = graph.num_sites, .in = in, .out = out, .seed = seed};
    if (plan_check(plans, graph.num_sites) != COHORT_OK || plan_run(&run) != COHORT_OK)
        FAIL("%s, %u sites, seed %llu: %s", plans[0]->name, graph.num_sites,
             (unsigned long long)seed, cohort_error_message());
}

/* The part of FROM's IN that is the K-th one for TO. */
static const struct cohort__part *source_of(uint32_t from, uint32_t to, uint32_t k)
{
    const struct side *in = &graph.in[from];
    for (uint32_t i = 0; i < in->num_parts; i++)
        if (in->parts[i].site == to && k-- == 0)
            return &in->parts[i];
    return NULL;
}

/* Every part has what was sent to it, and the rest of OUT is unchanged. */
static void check_out(uint32_t site)
{
    const struct side *out = &graph.out[site];
    uint32_t counts[MAX_SITES] = {0};
    static uint8_t want[MAX_BYTES];
    memset(want, GAP, sizeof(want));
    for (uint32_t i = 0; i < out->num_parts; i++) {
        uint32_t from = out->parts[i].site;
        const struct cohort__part *part = source_of(from, site, counts[from]++);
        CHECK(part && part->bytes == out->parts[i].bytes);
        memcpy(want + out->parts[i].offset, graph.in[from].bytes + part->offset, part->bytes);
    }
    CHECK(memcmp(out->bytes, want, sizeof(want)) == 0);
}

static void verify(const struct cohort__algorithm *row)
{
    struct cohort__plan *plans[MAX_SITES] = {NULL};
    plans_build(row, plans);
    for (uint64_t seed = 1; seed <= NUM_SEEDS; seed++) {
        run(plans, seed);
        for (uint32_t site = 0; site < graph.num_sites; site++)
            check_out(site);
    }
    for (uint32_t site = 0; site < graph.num_sites; site++)
        cohort__plan_unref(plans[site]);
}

TEST(all_to_all)
{
    uint32_t num_rows = 0;
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        const struct cohort__algorithm *row = cohort__algorithms[i];
        if (row->collective != COHORT__ALL_TO_ALL || !row->ragged)
            continue;
        num_rows++;
        for (uint32_t num_sites = 1; num_sites <= MAX_SITES; num_sites++) {
            if (row->accepts && !row->accepts(&(struct cohort__request){.num_sites = num_sites}))
                continue;
            graph_begin(num_sites, num_sites);
            for (uint32_t from = 0; from < num_sites; from++)
                for (uint32_t to = 0; to < num_sites; to++)
                    edge_add(from, to);
            verify(row);
        }
    }
    CHECK(num_rows >= 4);
}

/* From an empty graph to several edges for each pair of sites, with loops among them. */
TEST(graphs)
{
    for (uint32_t i = 0; i < cohort__num_algorithms; i++)
        for (uint32_t num_sites = 1; num_sites <= MAX_SITES; num_sites++)
            for (uint32_t degree = 0; degree <= 12; degree += 3) {
                if (cohort__algorithms[i]->collective != COHORT__EXCHANGE)
                    continue;
                graph_begin(num_sites, num_sites << 8 | degree);
                for (uint32_t edge = 0; edge < num_sites * degree; edge++)
                    edge_add(random_below(num_sites), random_below(num_sites));
                verify(cohort__algorithms[i]);
            }
}

/* The cost from the view of one site. */
TEST(cost)
{
    static const struct cohort__part in[] = {{1, 0, 100}, {0, 100, 50}, {1, 150, 10}};
    static const struct cohort__part out[] = {{0, 0, 50}, {2, 50, 1000}};
    struct cohort__request request = {.collective = COHORT__EXCHANGE,
                                      .num_sites = 3,
                                      .arity = 2,
                                      .in_parts = in,
                                      .out_parts = out,
                                      .num_in_parts = 3,
                                      .num_out_parts = 2};
    struct cohort__cost cost =
        cohort__algorithm_cost(cohort__algorithm_find(COHORT__EXCHANGE, "linear"), &request);
    CHECK_INT((long)cost.startups, 2);
    CHECK_INT((long)cost.bytes, 1000);
    CHECK_INT((long)cost.messages, 6);
    CHECK_INT((long)cost.moved, 3000);
    CHECK_INT((long)cost.memory, 0);
}

/* A strip has more runs than a block can have. Nobody has so much memory here: only the plan is
 * looked at. */
TEST(many_runs)
{
    const size_t many = 2 * (size_t)UINT32_MAX + 3, base = 16;
    cohort_layout *layout;
    struct cohort__plan *plan;
    CHECK_OK(cohort_layout_create_vector(&layout, many, 1, 3));
    const cohort_layout *const layouts[] = {layout, layout};
    const struct cohort__part parts[] = {{1, base, many * 4}, {0, base, many * 4}};
    const struct cohort__request request = {.collective = COHORT__EXCHANGE,
                                            .num_sites = 2,
                                            .arity = 2,
                                            .in_parts = parts,
                                            .out_parts = parts,
                                            .in_layouts = layouts,
                                            .out_layouts = layouts,
                                            .num_in_parts = 2,
                                            .num_out_parts = 2};
    CHECK_OK(cohort__algorithm_build(cohort__algorithm_find(COHORT__EXCHANGE, "linear"), &request,
                                     &plan));
    CHECK_INT(plan->num_steps, 2 + 3); /* a message each way, and the blocks of its own */
    for (uint32_t i = 0; i < plan->num_steps; i++) {
        const struct cohort__step *step = &plan->steps[i];
        if (step->kind == COHORT__STEP_COPY)
            continue;
        size_t num = 0;
        CHECK_INT(step->num_blocks, 3);
        CHECK_INT(step->bytes, many * 4);
        for (uint32_t k = 0; k < 3; k++) {
            const struct cohort__block *block =
                &plan->blocks[plan->block_refs[step->first_block + k]];
            CHECK_INT(block->offset, base + num * 12);
            CHECK_INT(block->bytes, 4);
            CHECK_INT(block->stride, 12);
            num += block->count;
        }
        CHECK_INT(num, many);
    }
    cohort__plan_unref(plan);
    cohort_layout_unref(layout);
}
