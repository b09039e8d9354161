/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what the rows say of their time with the simulation of their plans on a full network. */
#include "collectives/model/sim.h"
#include "tests/support/test.h"

/* How far the formula may differ, as a fraction of the simulated time. */
struct row {
    enum cohort__collective collective;
    const char *name;
    double complete; /* if the number of sites is a power of two, or of the arity */
    double below;    /* for other numbers: at most so much less than simulated */
    double above;    /* or at most so much more */
};

static const struct row rows[] = {
    {COHORT__BROADCAST, "linear", 0, 0, 0},
    {COHORT__BROADCAST, "hierarchical", 0, 0, 0},
    {COHORT__BROADCAST, "binomial", 0, 0, 0},
    {COHORT__BROADCAST, "mesh", 0, 0, 0},
    {COHORT__BROADCAST, "mesh_nd", 0, 0, 0},
    {COHORT__BROADCAST, "chain", 0, 0, 0},
    /* Pieces of different sizes, and a scatter that ends later than the root's part. */
    {COHORT__BROADCAST, "scatter_all_gather", 0, 0.08, 0.002},
    {COHORT__SCATTER, "linear", 0, 0, 0},
    {COHORT__SCATTER, "hierarchical", 0, 0, 0},
    {COHORT__SCATTER, "binomial", 0, 0, 0},
    {COHORT__SCATTER, "mesh", 0, 0, 0},
    {COHORT__GATHER, "linear", 0, 0, 0},
    {COHORT__GATHER, "hierarchical", 0, 0, 0},
    {COHORT__GATHER, "binomial", 0, 0, 0},
    {COHORT__GATHER, "mesh", 0, 0, 0},
    {COHORT__REDUCE, "linear", 0, 0, 0},
    /* Smaller halves reduce while the larger ones still receive. */
    {COHORT__REDUCE, "binomial", 0, 0, 0.2},
    {COHORT__REDUCE, "mesh", 0, 0, 0.2},
    {COHORT__REDUCE, "mesh_nd", 0, 0, 0.2},
    /* As above. Besides, with a root other than site 0, blocks arrive in another order than they
     * are reduced in. */
    {COHORT__REDUCE, "hierarchical", 0.14, 0.14, 0.2},
    /* Segments and pieces of different sizes. */
    {COHORT__REDUCE, "chain", 0.003, 0.003, 0.003},
    /* As above. Besides, sites that do not fold are early, and delay others. */
    {COHORT__REDUCE, "scatter_gather", 0, 0.12, 0.03},
    {COHORT__ALL_TO_ALL, "linear", 0, 0, 0},
    {COHORT__ALL_TO_ALL, "spread", 0, 0, 0},
    {COHORT__ALL_TO_ALL, "pairwise", 0, 0, 0},
    {COHORT__ALL_TO_ALL, "pairwise_xor", 0, 0, 0},
    {COHORT__ALL_TO_ALL, "ring", 0, 0, 0},
    {COHORT__ALL_TO_ALL, "bidirectional_ring", 0, 0, 0},
    {COHORT__ALL_TO_ALL, "mesh", 0, 0, 0},
    {COHORT__ALL_TO_ALL, "mesh_nd", 0, 0, 0},
    {COHORT__ALL_TO_ALL, "hypercube", 0, 0, 0},
    {COHORT__ALL_TO_ALL, "bruck", 0, 0, 0},
    {COHORT__ALL_TO_ALL, "tree", 0, 0, 0},
    /* Groups of two sizes. The smaller groups are early, and delay others. */
    {COHORT__ALL_TO_ALL, "hierarchical", 0, 0.2, 0},
    {COHORT__ALL_TO_ALL, "padded", 0, 0.2, 0},
    /* Phases that do not wait for each other share the ports, so the bound of the busiest port is
     * not reached. */
    {COHORT__ALL_TO_ALL, "streamed", 0.4, 0.4, 0.1},
    {COHORT__ALL_TO_ALL, "leaders", 0.43, 0.43, 0.05},
    {COHORT__SHIFT, "direct", 0, 0, 0},
    {COHORT__SHIFT, "ring", 0, 0, 0},
    {COHORT__SHIFT, "mesh", 0, 0, 0},
    {COHORT__SHIFT, "hypercube", 0, 0, 0},
    {COHORT__ALL_GATHER, "linear", 0, 0, 0},
    {COHORT__ALL_GATHER, "ring", 0, 0, 0},
    {COHORT__ALL_GATHER, "mesh", 0, 0, 0},
    {COHORT__ALL_GATHER, "mesh_nd", 0, 0, 0},
    {COHORT__ALL_GATHER, "hypercube", 0, 0, 0},
    {COHORT__ALL_GATHER, "bruck", 0, 0, 0},
    {COHORT__ALL_GATHER, "hierarchical", 0, 0, 0},
    /* With many sites there is no memory for all blocks. Then one block waits for another. */
    {COHORT__REDUCE_SCATTER, "linear", 0, 0.42, 0},
    {COHORT__REDUCE_SCATTER, "ring", 0, 0, 0},
    {COHORT__REDUCE_SCATTER, "mesh", 0, 0, 0},
    {COHORT__REDUCE_SCATTER, "mesh_nd", 0, 0, 0},
    {COHORT__REDUCE_SCATTER, "hypercube", 0, 0, 0},
    {COHORT__REDUCE_SCATTER, "bruck", 0, 0, 0},
    /* Groups of different sizes: some reduce and send while others still reduce. */
    {COHORT__REDUCE_SCATTER, "hierarchical", 0, 0.11, 0.18},
    {COHORT__ALL_REDUCE, "linear", 0, 0, 0},
    {COHORT__ALL_REDUCE, "ring", 0, 0, 0},
    /* Pieces of different sizes: sites that are early delay others. */
    {COHORT__ALL_REDUCE, "mesh", 0, 0.29, 0},
    {COHORT__ALL_REDUCE, "recursive_doubling", 0, 0, 0},
    /* As above. Besides, sites that act for two sites are late. */
    {COHORT__ALL_REDUCE, "rabenseifner", 0, 0.06, 0},
    /* As binomial reduce. */
    {COHORT__ALL_REDUCE, "reduce_broadcast", 0, 0, 0.11},
    /* Pieces of different sizes. */
    {COHORT__ALL_REDUCE, "ordered", 0, 0.31, 0},
    /* As reduce_scatter. */
    {COHORT__ALL_REDUCE, "hierarchical", 0, 0.07, 0.11},
    {COHORT__SCAN, "linear", 0, 0, 0},
    /* The last sites have fewer steps. Groups have different sizes. */
    {COHORT__SCAN, "hypercube", 0, 0, 0.17},
    {COHORT__SCAN, "hierarchical", 0, 0.39, 0.16},
    {COHORT__EXCLUSIVE_SCAN, "linear", 0, 0, 0},
    {COHORT__EXCLUSIVE_SCAN, "hypercube", 0, 0, 0.18},
    {COHORT__EXCLUSIVE_SCAN, "hierarchical", 0, 0.39, 0.16},
    {COHORT__BARRIER, "linear", 0, 0, 0},
    {COHORT__BARRIER, "hierarchical", 0, 0, 0},
    {COHORT__BARRIER, "dissemination", 0, 0, 0},
};

/* Startups alone, bytes alone, and all three. */
static const struct cohort__sim_costs parameters[] = {
    {.startup = 1},
    {.per_byte = 1},
    {.startup = 1000, .per_byte = 1, .reduce = 0.25},
};
enum { NUM_PARAMETERS = NUM_OF(parameters) };

static bool is_complete(const struct cohort__algorithm *algorithm,
                        const struct cohort__request *request)
{
    uint32_t base = algorithm->hierarchical ? request->arity : 2, power = 1;
    while (power < request->num_sites)
        power *= base;
    return power == request->num_sites;
}

static void check_time(const struct row *row, const struct cohort__algorithm *algorithm,
                       const struct cohort__request *request)
{
    static const double rounding = 1e-9;
    bool complete = is_complete(algorithm, request);
    double below = (complete ? row->complete : row->below) + rounding;
    double above = (complete ? row->complete : row->above) + rounding;
    if (cohort__algorithm_refuses(algorithm, request))
        return;
    struct cohort__cost cost = cohort__algorithm_cost(algorithm, request);
    struct cohort__network network;
    CHECK_OK(cohort__network_init(&network, "full", request->num_sites));
    for (uint32_t i = 0; i < NUM_PARAMETERS; i++) {
        struct cohort__sim_result result;
        CHECK_OK(cohort__simulate_algorithm(&network, &parameters[i], algorithm, request, &result));
        double time = cost.startups * parameters[i].startup + cost.bytes * parameters[i].per_byte +
                      cost.reduced * parameters[i].reduce;
        if (time < result.time * (1 - below) || time > result.time * (1 + above))
            FAIL("%s %s, %u sites, root %u, arity %u, %zu bytes, commutative %d, parameters "
                 "%u: says %.2f, takes %.2f",
                 cohort__collective_name(row->collective), row->name, request->num_sites,
                 request->root, request->arity, request->bytes, request->commutative, i, time,
                 result.time);
        cohort__sim_result_fini(&result);
    }
}

/* For one number of sites: some roots, all arities, two sizes. */
static void check_sites(const struct row *row, uint32_t num_sites)
{
    static const uint32_t arities[] = {2, 3, 4, 8};
    const struct cohort__algorithm *algorithm = cohort__algorithm_find(row->collective, row->name);
    uint32_t roots[] = {0, num_sites / 2, num_sites - 1};
    bool reduces = cohort__collective_reduces(row->collective);
    bool rooted = cohort__collective_is_rooted(row->collective);
    CHECK(algorithm && !algorithm->stages);
    for (uint32_t a = 0; a < (algorithm->hierarchical ? 4 : 1); a++)
        for (uint32_t r = 0; r < (rooted ? 3 : 1); r++)
            for (size_t bytes = 1024; bytes <= 65536; bytes *= 64)
                for (int commutative = !reduces; commutative <= 1; commutative++)
                    check_time(row, algorithm,
                               &(struct cohort__request){.collective = row->collective,
                                                         .num_sites = num_sites,
                                                         .root = roots[r],
                                                         .arity = arities[a],
                                                         .shift = num_sites / 3,
                                                         .bytes = bytes,
                                                         .element = 8,
                                                         .commutative = commutative});
}

TEST(rows)
{
    static const uint32_t more[] = {48, 64, 81, 100};
    for (uint32_t i = 0; i < NUM_OF(rows); i++) {
        for (uint32_t num_sites = 1; num_sites <= 33; num_sites++)
            check_sites(&rows[i], num_sites);
        for (uint32_t k = 0; k < 4; k++)
            check_sites(&rows[i], more[k]);
    }
}
