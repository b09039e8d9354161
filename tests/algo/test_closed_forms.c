/* SPDX-License-Identifier: Apache-2.0 */
/* The times of the references against simulation: the rows' plans on the network that each form is
 * for, with its links, ports and routes. Forms are from Grama, Gupta, Karypis, Kumar (lectures on
 * basic communication operations) and the notes on all-to-all algorithms. Where one of them is
 * wrong, the case says so and holds what is true.
 *
 * Slips in the references that have no case of their own, since nothing here is built from them:
 * - 'average hops on a ring: p/2' holds where all messages go the same way round (the mean of 1 to
 *   p-1), which is the ring algorithm's way; with the shorter way it is p/4 for large p. The bound
 *   m (p-1) p/2 counts p links, those of one direction.
 * - Total hops in a linear array: the derivation drops the 2 of 2 (p sum d - sum d^2) and ends with
 *   (p-1) p (p+1)/6; it is twice that. The average that follows, (p+1)/3, is right again, since it
 *   is taken from (p-1) p (p+1)/3. (test_hops counts.)
 * - Mesh, all-to-all: node i ends with {0,i} .. {8,i} for 0 <= i <= 8, which is right for its
 *   3 x 3 mesh only: in general p-1 stands for 8.
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
        test_failed(__FILE__, __LINE__, "%s %s on %s, %u sites: %s",
                    cohort__collective_name(request->collective), row, network_name,
                    request->num_sites, algorithm ? cohort_error_message() : "no such row");
    return result;
}

/* A sum in another order differs by rounding. */
static void check_time(const char *row, const char *network, const struct cohort__request *request,
                       const char *what, double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * want))
        test_failed(__FILE__, __LINE__,
                    "%s %s on %s, %u sites, root %u, shift %u, %zu bytes: %s "
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

/* 2 t_s (sqrt p - 1) + t_w m (p-1). The lecture has sqrt(p - 1), which can't be: each of the two
 * phases is a ring of sqrt p sites, which takes sqrt p - 1 steps. */
static struct form two_rings(double p, double m)
{
    return (struct form){2 * (sqrt(p) - 1), m * (p - 1)};
}

/* Reduce-scatter, then all-gather, of pieces of m/p. */
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

/* 'Reduced by a factor of 2 by communicating in both directions': for even p a block moves p/4 on
 * average, so its one port sends m p^2/4; no fewer messages, if each waits for one port. */
static struct form both_ways(double p, double m)
{
    return (struct form){p - 1, m * p * p / 4};
}

/* (2 t_s + t_w m p)(sqrt p - 1) */
static struct form two_phases(double p, double m)
{
    return (struct form){2 * (sqrt(p) - 1), m * p * (sqrt(p) - 1)};
}

/* (t_s + t_w m p/2) log p. Of Bruck the notes say 'log p steps, m in each': it is m p/2, the blocks
 * whose number has the step's bit, as their own comment on the listing says. */
static struct form halves(double p, double m)
{
    return (struct form){log2(p), m * p / 2 * log2(p)};
}

/* By trees the notes have t_s log p + m (p-1)^2/3. The t_w is missing. The rest is the sum of
 * m (p-1) 2^i 2^i over the log(p)/2 steps of the gather, a message that doubles times hops that
 * double; the scatter takes as much again, they say, but the 2 for it is missing, too. And hops
 * count in none of their other forms, since routing is cut-through; on direct links the gather is
 * the sum of m p 2^i alone, m p (sqrt p - 1) (each site's own block goes along: p, not p - 1), and
 * the scatters from all sites of a column at once are an all-to-all of m sqrt p, by Bruck's
 * rounds: m sqrt p (sqrt p/2) log sqrt p, which is m p/4 log p. (test_tree has the hops.) */
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

/* No message waits for a link, and the row's own formula, which is for direct links, says the
 * same. */
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
        if (!row->cost)
            continue;
        struct cohort__cost cost = row->cost(request);
        check_time(claim->row, claim->network, request, "by the row",
                   cost.startups * prices[i].startup + cost.bytes * prices[i].per_byte, want);
    }
}

static void test_claims(void)
{
    static const uint32_t sites[] = {4, 8, 16, 64};
    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++)
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

/* Where the pairs of one step meet: no directed link twice. */
static void test_xor_step_by_step(void)
{
    enum { SITES = 64 };
    struct cohort__network network;
    CHECK_INT(cohort__network_init(&network, "hypercube", SITES), COHORT_OK);
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

/* 'The ring's time is optimal', m p/2 (p-1): among those that use one direction. A ring has links
 * both ways, and blocks that take the shorter one are about twice as fast; even pairs that know
 * nothing of the ring and wait for its links are faster. */
static void test_ring_is_not_optimal(void)
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

/* On a mesh the hops do count, since each link of a row is wanted by 2^i messages in step i of the
 * gather: m p (p-1)/3 is what the notes say of it, and an upper bound, since a row's sites need not
 * wait for each other between the steps; with two steps nothing can be gained. */
static void test_tree(void)
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

/* min(q, p - q) steps on the ring. On the mesh, with q = a sqrt p + b, the shorter ways of b and of
 * a, and one step of compensation unless b is 0: at most sqrt p + 1, reached where a and b are half
 * of sqrt p. So the bound of the lecture is right, and the least one. */
static void test_shift_ring_mesh(void)
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

/* In Gray code each power of two in q takes two links, 1 takes one; all bits set is the worst, so
 * 2 log p - 1 bounds it and is reached. Each message goes over one link. */
static void test_shift_hypercube(void)
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

/* 'If E-cube routing is used, this can be reduced to t_s + t_w m': true for sites that are numbered
 * as the hypercube is. Before dimension k a message from i to i + q is at the low k bits of i + q
 * and the others of i; the low bits of i + q tell those of i, so no two messages are there. It is
 * not true with the Gray code, which the same page has just introduced: where the low bits of
 * i + q, in Gray code, hang on its bit k and so on a carry, two i may be at the same place, and two
 * messages want one link: 2 (t_s + t_w m) for many q. */
static void test_shift_direct(void)
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

/* Of all ordered pairs: in a linear array, round a ring one way, and the shorter way. */
static void test_hops(void)
{
    for (uint32_t p = 2; p <= 40; p++) {
        uint64_t array = 0, one_way = 0, ring = 0, link;
        struct cohort__network network;
        CHECK_INT(cohort__network_init(&network, "ring", p), COHORT_OK);
        for (uint32_t pair = 0; pair < p * p; pair++) {
            uint32_t from = pair / p, to = pair % p;
            struct cohort__route route = cohort__route_begin(&network, from, to);
            array += from > to ? from - to : to - from;
            one_way += (to + p - from) % p;
            while (cohort__route_next(&route, &link))
                ring++;
        }
        CHECK_INT(array * 3, (p - 1) * p * (p + 1)); /* average (p+1)/3; not half of it */
        CHECK_INT(one_way * 2, (uint64_t)p * (p - 1) * p);
        CHECK_INT(ring, (uint64_t)p * (p * p / 4));
    }
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"claims", test_claims},
        {"xor_step_by_step", test_xor_step_by_step},
        {"ring_is_not_optimal", test_ring_is_not_optimal},
        {"tree", test_tree},
        {"shift_ring_mesh", test_shift_ring_mesh},
        {"shift_hypercube", test_shift_hypercube},
        {"shift_direct", test_shift_direct},
        {"hops", test_hops},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
