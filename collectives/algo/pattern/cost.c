/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/cost.h"

#include "collectives/plan/partition.h"

enum { TMP_ALIGNMENT = 64 }; /* of cohort__plan_tmp */

uint32_t cohort__log2_ceiling(uint32_t num_sites)
{
    return cohort__log2_floor(num_sites) + (num_sites > 0 && (num_sites & (num_sites - 1)) != 0);
}

uint32_t cohort__log2_floor(uint32_t num_sites)
{
    return num_sites > 0 ? 31 - (uint32_t)__builtin_clz(num_sites) : 0;
}

struct cohort__cost cohort__cost_then(struct cohort__cost first, struct cohort__cost second)
{
    return (struct cohort__cost){.startups = first.startups + second.startups,
                                 .bytes = first.bytes + second.bytes,
                                 .reduced = first.reduced + second.reduced,
                                 .messages = first.messages + second.messages,
                                 .moved = first.moved + second.moved,
                                 .combined = first.combined + second.combined,
                                 .memory = first.memory + second.memory};
}

struct cohort__cost cohort__cost_at_once(struct cohort__cost cost, double count)
{
    cost.messages *= count;
    cost.moved *= count;
    cost.combined *= count;
    return cost;
}

struct cohort__cost cohort__cost_message(size_t bytes)
{
    double size = (double)bytes;
    return (struct cohort__cost){.startups = 1, .bytes = size, .messages = 1, .moved = size};
}

double cohort__cost_tmp(uint32_t num, size_t bytes)
{
    return (double)num * (double)(bytes + (TMP_ALIGNMENT - bytes % TMP_ALIGNMENT) % TMP_ALIGNMENT);
}

/* Walks down the tree along the first group of each level, which is a largest one. */
static void tree_walk(uint32_t num_sites, uint32_t arity, double *ret_messages, double *ret_levels)
{
    struct cohort__range range = {.first = 0, .count = num_sites};
    *ret_messages = *ret_levels = 0;
    while (range.count > 1) {
        *ret_messages += cohort__partition_count(range.count, arity) - 1;
        *ret_levels += 1;
        range = cohort__partition_group(range, arity, 0);
    }
}

struct cohort__cost cohort__cost_broadcast(uint32_t num_sites, uint32_t arity, size_t bytes)
{
    double messages, levels;
    tree_walk(num_sites, arity, &messages, &levels);
    double all = num_sites - 1.0;
    return (struct cohort__cost){.startups = messages,
                                 .bytes = messages * (double)bytes,
                                 .messages = all,
                                 .moved = all * (double)bytes};
}

struct cohort__cost cohort__cost_reduce(uint32_t num_sites, uint32_t arity, size_t bytes)
{
    double messages, levels;
    struct cohort__cost cost = cohort__cost_broadcast(num_sites, arity, bytes);
    tree_walk(num_sites, arity, &messages, &levels);
    cost.reduced = levels * (double)bytes;
    cost.combined = cost.moved;
    return cost;
}

/* How many blocks all messages of a scatter over the tree have in all. All groups of a level, in
 * all of its ranges, have one of two sizes: `size`, or one more. */
static double count_blocks(uint32_t num_sites, uint32_t arity)
{
    double blocks = 0, counts[2] = {1, 0};
    for (uint32_t size = num_sites; size > 1 || (size == 1 && counts[1] > 0);) {
        uint32_t next = size / cohort__partition_count(size, arity);
        double next_counts[2] = {0, 0};
        for (uint32_t larger = 0; larger < 2; larger++) {
            struct cohort__range range = {.first = 0, .count = size + larger};
            uint32_t num_groups = cohort__partition_count(range.count, arity);
            if (counts[larger] == 0 || range.count == 1)
                continue;
            blocks +=
                counts[larger] * (range.count - cohort__partition_group(range, arity, 0).count);
            for (uint32_t i = 0; i < num_groups; i++)
                next_counts[cohort__partition_group(range, arity, i).count - next] +=
                    counts[larger];
        }
        size = next;
        counts[0] = next_counts[0];
        counts[1] = next_counts[1];
    }
    return blocks;
}

struct cohort__cost cohort__cost_scatter(uint32_t num_sites, uint32_t arity, size_t bytes)
{
    double size = (double)bytes;
    struct cohort__cost cost = cohort__cost_broadcast(num_sites, arity, bytes);
    cost.bytes = (num_sites - 1.0) * size;
    cost.moved = (arity < num_sites ? count_blocks(num_sites, arity) : num_sites - 1.0) * size;
    return cost;
}
