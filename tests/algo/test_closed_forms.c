/* SPDX-License-Identifier: Apache-2.0 */
/* The times of the references, compared with simulation: the rows' plans run on the network that
 * each form is for, with its links, ports and routes. The forms are from Grama, Gupta, Karypis,
 * Kumar (lectures on basic communication operations) and from the notes on all-to-all algorithms.
 * Where one of them is wrong, the case says so and checks the correct form.
 *
 * The references have other mistakes, for which there is no case here, because nothing here is
 * built from them:
 * - 'average hops on a ring: p/2' is true where all messages go in the same direction, as in the
 *   ring algorithm (the mean of 1 to p-1). If each message takes the shorter direction, it is p/4
 *   for large p. The bound m (p-1) p/2 counts p links, those of one direction.
 * - Total hops in a linear array: the derivation drops the factor 2 of 2 (p sum d - sum d^2) and
 *   ends with (p-1) p (p+1)/6. The correct result is twice that. The average that follows, (p+1)/3,
 *   is correct again, since it is computed from (p-1) p (p+1)/3. (test_hops counts the hops.)
 * - Mesh, all-to-all: node i ends with {0,i} .. {8,i} for 0 <= i <= 8. This is true for its 3 x 3
 *   mesh only. In general it is p-1 instead of 8.
 * - 'any two nodes at distance 2^i (i > 1) on the array are two links apart in Gray code' is true
 *   for i = 1 already. */
#include <math.h>

#include "collectives/model/sim.h"
#include "tests/support/test.h"

static const size_t sizes[] = {64, 192, 4096};
static const struct cohort__sim_costs prices[] = {
    {.startup = 1}, {.per_byte = 1}, {.startup = 7, .per_byte = 3}, {1.7, 3.1e-4, 0, 0, 0}};
enum { NUM_SIZES = 3, NUM_PRICES = 4 };

static struct cohort__sim_result simulate(const char *row, const char *network_name,
                                          const struct cohort__sim_costs *costs,
                                          const struct cohort__request *request)
{
    const struct cohort__algorithm *algorithm = cohort__algorithm_find(request->collective, row);
    struct cohort__network network;
    struct cohort__sim_result result;
    if (!algorithm || cohort__network_init(&network, network_name, request->num_sites) ||
        cohort__simulate_algorithm(&network, costs, algorithm, request, &result))
        FAIL("%s %s on %s, %u sites: %s", cohort__collective_name(request->collective), row,
             network_name, request->num_sites, algorithm ? cohort_error_message() : "no such row");
    return result;
}

/* Sums in another order differ by rounding. */
static void check_time(const char *row, const char *network, const struct cohort__request *request,
                       const char *what, double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * want))
        FAIL("%s %s on %s, %u sites, root %u, shift %u, %zu bytes: %s "
             "%.15g, the form says %.15g",
             cohort__collective_name(request->collective), row, network, request->num_sites,
             request->root, request->shift, request->bytes, what, got, want);
}

/* The time of P sites with blocks of M bytes. */
struct form {
    double startups; /* times t_s */
    double bytes;    /* times t_w */
};
typedef struct form form_of(double p, double m);

struct claim {
    enum cohort__collective collective;
    const char *row;
    const char *network;
    form_of *form;
    bool squares; /* only for square numbers of sites */
};

/* (t_s + t_w m) log p */
static struct form doubling(double p, double m)
{
    return (struct form){log2(p), m * log2(p)};
}

/* t_s log p + t_w m (p-1) */
static struct form growing(double p, double m)
{
    return (struct form){log2(p), m * (p - 1)};
}

/* (t_s + t_w m)(p-1) */
static struct form one_by_one(double p, double m)
{
    return (struct form){p - 1, m * (p - 1)};
}

/* 2 t_s (sqrt p - 1) + t_w m (p-1). The lecture has sqrt(p - 1), which can't be true: each of the
 * two phases is a ring of sqrt p sites, which takes sqrt p - 1 steps. */
static struct form two_rings(double p, double m)
{
    return (struct form){2 * (sqrt(p) - 1), m * (p - 1)};
}

/* A reduce-scatter and then an all-gather, with pieces of m/p. */
static struct form ring_twice(double p, double m)
{
    return (struct form){2 * (p - 1), 2 * m / p * (p - 1)};
}

static struct form mesh_twice(double p, double m)
{
    return (struct form){4 * (sqrt(p) - 1), 2 * m / p * (p - 1)};
}

static struct form halving_doubling(double p, double m)
{
    return (struct form){2 * log2(p), 2 * m / p * (p - 1)};
}

/* (t_s + t_w m p/2)(p-1) */
static struct form shrinking(double p, double m)
{
    return (struct form){p - 1, m * p / 2 * (p - 1)};
}

/* 'Reduced by a factor of 2 by communicating in both directions'. For even p a block moves p/4 hops
 * on average, so the one port of a site sends m p^2/4. The number of messages stays the same if
 * each message waits for the one port. */
static struct form both_ways(double p, double m)
{
    return (struct form){p - 1, m * p * p / 4};
}

/* (2 t_s + t_w m p)(sqrt p - 1) */
static struct form two_phases(double p, double m)
{
    return (struct form){2 * (sqrt(p) - 1), m * p * (sqrt(p) - 1)};
}

/* (t_s + t_w m p/2) log p. The notes say of Bruck's algorithm 'log p steps, m in each'. In fact a
 * step sends m p/2: the blocks whose number has the step's bit set. The notes' own comment on their
 * listing says the same. */
static struct form halves(double p, double m)
{
    return (struct form){log2(p), m * p / 2 * log2(p)};
}

/* For trees the notes have t_s log p + m (p-1)^2/3. There are three mistakes:
 * - The factor t_w is missing.
 * - The rest is the sum of m (p-1) 2^i 2^i over the log(p)/2 steps of the gather: a message that
 *   doubles, times hops that double. The notes say that the scatter takes as long again, but the
 *   factor 2 for it is missing.
 * - None of their other forms counts hops, since routing is cut-through.
 * On direct links the gather alone is the sum of m p 2^i, which is m p (sqrt p - 1). It has p and
 * not p - 1, because each site's own block goes along. The scatters from all sites of a column at
 * the same time are an all-to-all of m sqrt p. In Bruck's rounds it takes m sqrt p (sqrt p/2) log
 * sqrt p, which is m p/4 log p. (test_tree counts the hops.) */
static struct form trees(double p, double m)
{
    return (struct form){log2(p), m * p * (sqrt(p) - 1) + m * p / 4 * log2(p)};
}

static const struct claim claims[] = {
    {COHORT__BROADCAST, "binomial", "hypercube", doubling, false},
    {COHORT__BROADCAST, "binomial", "ring", doubling, false}, /* recursive doubling on a ring */
    {COHORT__BROADCAST, "binomial", "mesh", doubling, false},
    {COHORT__BROADCAST, "mesh", "mesh", doubling, true},
    {COHORT__BROADCAST, "linear", "full", one_by_one, false},
    {COHORT__REDUCE, "binomial", "hypercube", doubling, false},
    {COHORT__REDUCE, "binomial", "ring", doubling, false},
    {COHORT__REDUCE, "binomial", "mesh", doubling, false},
    {COHORT__REDUCE, "mesh", "mesh", doubling, true},
    {COHORT__SCATTER, "binomial", "hypercube", growing, false},
    {COHORT__SCATTER, "binomial", "ring", growing, false}, /* 'for a linear array as well */
    {COHORT__SCATTER, "binomial", "mesh", growing, false}, /* as a 2-D mesh' */
    {COHORT__SCATTER, "mesh", "mesh", growing, true},
    {COHORT__GATHER, "binomial", "hypercube", growing, false},
    {COHORT__GATHER, "binomial", "ring", growing, false},
    {COHORT__GATHER, "binomial", "mesh", growing, false},
    {COHORT__GATHER, "mesh", "mesh", growing, true},
    {COHORT__ALL_GATHER, "ring", "ring", one_by_one, false},
    {COHORT__ALL_GATHER, "mesh", "mesh", two_rings, true},
    {COHORT__ALL_GATHER, "hypercube", "hypercube", growing, false},
    {COHORT__ALL_GATHER, "mesh_nd", "hypercube", growing, false},
    {COHORT__ALL_GATHER, "bruck", "full", growing, false},
    {COHORT__ALL_GATHER, "bruck", "hypercube", growing, false}, /* its rounds are shifts */
    {COHORT__REDUCE_SCATTER, "ring", "ring", one_by_one, false},
    {COHORT__REDUCE_SCATTER, "mesh", "mesh", two_rings, true},
    {COHORT__REDUCE_SCATTER, "hypercube", "hypercube", growing, false},
    {COHORT__REDUCE_SCATTER, "mesh_nd", "hypercube", growing, false},
    {COHORT__ALL_REDUCE, "recursive_doubling", "hypercube", doubling, false},
    {COHORT__ALL_REDUCE, "rabenseifner", "hypercube", halving_doubling, false},
    {COHORT__ALL_REDUCE, "ring", "ring", ring_twice, false},
    {COHORT__ALL_REDUCE, "mesh", "mesh", mesh_twice, true},
    {COHORT__SCAN, "hypercube", "hypercube", doubling, false}, /* by the all-gather's pattern */
    {COHORT__EXCLUSIVE_SCAN, "hypercube", "hypercube", doubling, false},
    {COHORT__ALL_TO_ALL, "ring", "ring", shrinking, false},
    {COHORT__ALL_TO_ALL, "bidirectional_ring", "ring", both_ways, false},
    {COHORT__ALL_TO_ALL, "mesh", "mesh", two_phases, true},
    {COHORT__ALL_TO_ALL, "hypercube", "hypercube", halves, false},
    {COHORT__ALL_TO_ALL, "mesh_nd", "hypercube", halves, false},
    {COHORT__ALL_TO_ALL, "bruck", "full", halves, false},
    {COHORT__ALL_TO_ALL, "bruck", "hypercube", halves, false}, /* its rounds are shifts */
    {COHORT__ALL_TO_ALL, "tree", "full", trees, true},
    {COHORT__ALL_TO_ALL, "pairwise_xor", "hypercube", one_by_one, false},
    {COHORT__ALL_TO_ALL, "pairwise", "hypercube", one_by_one, false}, /* see test_shift_direct */
};

/* No message waits for a link, and the row's own formula, which is for direct links, gives the same
 * time. */
static void check_claim(const struct claim *claim, const struct cohort__request *request)
{
    const struct cohort__algorithm *row = cohort__algorithm_find(claim->collective, claim->row);
    struct form form = claim->form(request->num_sites, (double)request->bytes);
    for (unsigned i = 0; i < NUM_PRICES; i++) {
        double want = form.startups * prices[i].startup + form.bytes * prices[i].per_byte;
        struct cohort__sim_result result =
            simulate(claim->row, claim->network, &prices[i], request);
        check_time(claim->row, claim->network, request, "simulated", result.time, want);
        CHECK_INT(result.delayed, 0);
        CHECK_INT(result.contenders, 1);
        cohort__sim_result_fini(&result);
        if (row->stages)
            continue;
        struct cohort__cost cost = cohort__algorithm_cost(row, request);
        check_time(claim->row, claim->network, request, "by the row",
                   cost.startups * prices[i].startup + cost.bytes * prices[i].per_byte, want);
    }
}

TEST(claims)
{
    static const uint32_t sites[] = {4, 8, 16, 64};
    for (size_t i = 0; i < NUM_OF(claims); i++)
        for (unsigned k = 0; k < 4; k++) {
            struct cohort__request request = {.collective = claims[i].collective,
                                              .num_sites = sites[k],
                                              .arity = 2,
                                              .element = 1,
                                              .commutative = true};
            for (unsigned size = 0; size < NUM_SIZES && (!claims[i].squares || sites[k] != 8);
                 size++) {
                request.bytes = sizes[size];
                check_claim(&claims[i], &request);
            }
        }
}

/* For each step on its own: the messages of its pairs use no directed link twice. */
TEST(xor_step_by_step)
{
    enum { SITES = 64 };
    struct cohort__network network;
    CHECK_OK(cohort__network_init(&network, "hypercube", SITES));
    for (uint32_t step = 1; step < SITES; step++) {
        bool is_taken[SITES * 12] = {false};
        for (uint32_t site = 0; site < SITES; site++) {
            struct cohort__route route = cohort__route_begin(&network, site, site ^ step);
            uint64_t link;
            while (cohort__route_next(&route, &link)) {
                CHECK(link < SITES * 12 && !is_taken[link]);
                is_taken[link] = true;
            }
        }
    }
}

static struct cohort__sim_result total_exchange(const char *row, const char *network,
                                                uint32_t sites)
{
    struct cohort__request request = {
        .collective = COHORT__ALL_TO_ALL, .num_sites = sites, .arity = 2, .bytes = 24};
    return simulate(row, network, &(struct cohort__sim_costs){.per_byte = 1.0 / 24}, &request);
}

/* 'The ring's time is optimal', m p/2 (p-1). This is true only among algorithms that use one
 * direction. A ring has links in both directions, and an algorithm whose blocks take the shorter
 * one is about twice as fast. Even pairwise exchange is faster, although it knows nothing of the
 * ring and its messages wait for links. */
TEST(ring_is_not_optimal)
{
    for (uint32_t sites = 16; sites <= 64; sites *= 2) {
        struct cohort__sim_result ring = total_exchange("ring", "ring", sites);
        struct cohort__sim_result both = total_exchange("bidirectional_ring", "ring", sites);
        struct cohort__sim_result pairs = total_exchange("pairwise_xor", "ring", sites);
        CHECK(both.time < 0.54 * ring.time);
        CHECK(pairs.time < 0.5 * ring.time);
        CHECK_INT(ring.delayed + both.delayed, 0);
        CHECK(pairs.delayed > 0 && pairs.contenders > 1);
        cohort__sim_result_fini(&ring);
        cohort__sim_result_fini(&both);
        cohort__sim_result_fini(&pairs);
    }
}

/* On a mesh the hops do count, since in step i of the gather 2^i messages want each link of a row.
 * The notes have m p (p-1)/3 for the gather. It is an upper bound, since the sites of a row need
 * not wait for each other between the steps. With two steps nothing can be gained. */
TEST(tree)
{
    for (uint32_t sites = 4; sites <= 256; sites *= 4) {
        struct cohort__sim_result result = total_exchange("tree", "mesh", sites);
        double want = sites * (sites - 1) / 3.0;
        CHECK(result.phases[1].end <= want * (1 + 1e-12));
        CHECK(sites > 16 || result.phases[1].end >= want * (1 - 1e-12));
        CHECK_INT(result.delayed > 0, sites > 4);
        cohort__sim_result_fini(&result);
    }
}

static struct cohort__sim_result shift(const char *row, const char *network, uint32_t sites,
                                       uint32_t by)
{
    struct cohort__request request = {
        .collective = COHORT__SHIFT, .num_sites = sites, .arity = 2, .shift = by, .bytes = 24};
    return simulate(row, network, &(struct cohort__sim_costs){.startup = 1}, &request);
}

static uint32_t shorter(uint32_t distance, uint32_t extent)
{
    return distance < extent - distance ? distance : extent - distance;
}

/* On the ring min(q, p - q) steps. On the mesh, with q = a sqrt p + b: the shorter ways of b and of
 * a, and one step of compensation unless b is 0. That is at most sqrt p + 1, which is reached where
 * a and b are half of sqrt p. So the bound of the lecture is correct, and there is no lower one. */
TEST(shift_ring_mesh)
{
    for (uint32_t root = 2; root <= 8; root += 2) {
        uint32_t sites = root * root, most = 0;
        for (uint32_t by = 0; by < sites; by++) {
            struct cohort__sim_result ring = shift("ring", "ring", sites, by);
            struct cohort__sim_result mesh = shift("mesh", "mesh", sites, by);
            uint32_t steps = shorter(by % root, root) + (by % root > 0) + shorter(by / root, root);
            CHECK_INT((long long)ring.time, shorter(by, sites));
            CHECK_INT((long long)mesh.time, steps);
            CHECK_INT(ring.delayed + mesh.delayed, 0);
            most = steps > most ? steps : most;
            cohort__sim_result_fini(&ring);
            cohort__sim_result_fini(&mesh);
        }
        CHECK_INT(most, root + 1);
    }
}

/* In Gray code each power of two in q takes two links, except that 1 takes one link. The worst q
 * has all bits set, so 2 log p - 1 is an upper bound and is reached. Each message goes over one
 * link. */
TEST(shift_hypercube)
{
    for (uint32_t sites = 4; sites <= 64; sites *= 2) {
        uint32_t most = 0;
        for (uint32_t by = 0; by < sites; by++) {
            struct cohort__sim_result result = shift("hypercube", "hypercube:gray", sites, by);
            uint32_t steps = 2 * (uint32_t)__builtin_popcount(by) - by % 2;
            uint64_t over_links = 0;
            CHECK_INT((long long)result.time, steps);
            CHECK_INT(result.delayed, 0);
            for (uint64_t i = 0; i < result.num_links; i++)
                over_links += result.links[i].messages;
            CHECK_INT(over_links, result.messages);
            most = steps > most ? steps : most;
            cohort__sim_result_fini(&result);
        }
        CHECK_INT(most, 2 * (uint32_t)log2(sites) - 1);
    }
}

/* 'If E-cube routing is used, this can be reduced to t_s + t_w m'. This is true for sites that are
 * numbered as the hypercube is. Before dimension k a message from i to i + q is at the node with
 * the low k bits of i + q and the other bits of i. The low bits of i + q determine those of i, so
 * no two messages are at one node.
 *
 * It is not true for the Gray code, which the same page has just introduced. In Gray code the low
 * bits of i + q depend on its bit k, and so on a carry. Two messages with different i may then be
 * at the same node and want the same link. So it takes 2 (t_s + t_w m) for many q. */
TEST(shift_direct)
{
    for (uint32_t sites = 4; sites <= 64; sites *= 2) {
        uint64_t delayed = 0;
        for (uint32_t by = 1; by < sites; by++) {
            struct cohort__sim_result plain = shift("direct", "hypercube", sites, by);
            struct cohort__sim_result gray = shift("direct", "hypercube:gray", sites, by);
            CHECK_INT((long long)plain.time, 1);
            CHECK_INT(plain.delayed, 0);
            CHECK_INT((long long)gray.time, gray.delayed > 0 ? 2 : 1);
            delayed += gray.delayed;
            cohort__sim_result_fini(&plain);
            cohort__sim_result_fini(&gray);
        }
        CHECK_INT(delayed > 0, sites > 4);
    }
}

/* The hops of all ordered pairs: in a linear array, round a ring in one direction, and by the
 * shorter direction. */
TEST(hops)
{
    for (uint32_t p = 2; p <= 40; p++) {
        uint64_t array = 0, one_way = 0, ring = 0, link;
        struct cohort__network network;
        CHECK_OK(cohort__network_init(&network, "ring", p));
        for (uint32_t pair = 0; pair < p * p; pair++) {
            uint32_t from = pair / p, to = pair % p;
            struct cohort__route route = cohort__route_begin(&network, from, to);
            array += from > to ? from - to : to - from;
            one_way += (to + p - from) % p;
            while (cohort__route_next(&route, &link))
                ring++;
        }
        CHECK_INT(array * 3, (p - 1) * p * (p + 1)); /* average (p+1)/3, not half of it */
        CHECK_INT(one_way * 2, (uint64_t)p * (p - 1) * p);
        CHECK_INT(ring, (uint64_t)p * (p * p / 4));
    }
}
