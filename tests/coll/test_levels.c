/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/algo/algorithm.h"
#include "collectives/comm/endpoint.h"
#include "runtime/base/random.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* The rows that follow the machine, on played hosts, domains and switches: sites meet in their
 * locality, and leaders send messages. All kinds of calls share a communicator, several in flight
 * at once, and those that such a row can carry out are forced to it. All sites leave out the same
 * generations. In process the messages of the localities overtake each other. */

enum { MAX_LOCALITIES = 6, IN_FLIGHT = 8, NUM_SEEDS = 100, FEW_SEEDS = 8 };

struct round {
    uint64_t seed;
    uint64_t num_generations;
    _Atomic uint32_t num_forced;
};

static const enum cohort__collective collectives[EXERCISE_NUM_KINDS] = {
    [EXERCISE_GATHER] = COHORT__GATHER,
    [EXERCISE_SCATTER] = COHORT__SCATTER,
    [EXERCISE_BROADCAST] = COHORT__BROADCAST,
    [EXERCISE_REDUCE] = COHORT__REDUCE,
    [EXERCISE_REDUCE_ORDERED] = COHORT__REDUCE,
    [EXERCISE_ALL_GATHER] = COHORT__ALL_GATHER,
    [EXERCISE_ALL_REDUCE] = COHORT__ALL_REDUCE,
    [EXERCISE_ALL_REDUCE_ORDERED] = COHORT__ALL_REDUCE,
    [EXERCISE_ALL_TO_ALL] = COHORT__ALL_TO_ALL,
    [EXERCISE_BARRIER] = COHORT__BARRIER,
    [EXERCISE_REDUCE_SCATTER] = COHORT__REDUCE_SCATTER,
    [EXERCISE_SCAN] = COHORT__SCAN,
    [EXERCISE_EXCLUSIVE_SCAN] = COHORT__EXCLUSIVE_SCAN,
    [EXERCISE_SHIFT] = COHORT__SHIFT,
    [EXERCISE_GATHERV] = COHORT__GATHER,
    [EXERCISE_SCATTERV] = COHORT__SCATTER,
    [EXERCISE_ALL_GATHERV] = COHORT__ALL_GATHER,
    [EXERCISE_REDUCE_SCATTERV] = COHORT__REDUCE_SCATTER,
    [EXERCISE_ALL_TO_ALLV] = COHORT__ALL_TO_ALL,
    [EXERCISE_ALL_TO_ALLW] = COHORT__ALL_TO_ALL,
    [EXERCISE_EXCHANGE] = COHORT__EXCHANGE,
};

/* How far the shift of GENERATION goes. */
static uint32_t shift_of(cohort_comm *comm, uint64_t generation)
{
    const struct exercise exercise = {
        .comm = comm, .kind = EXERCISE_SHIFT, .generation = generation};
    int64_t num_sites = cohort_comm_num_sites(comm), rest = exercise_shift(&exercise) % num_sites;
    return (uint32_t)(rest < 0 ? rest + num_sites : rest);
}

/* Whether the row NAME, which follows the machine, can carry out KIND. */
static bool may_force(cohort_comm *comm, const char *name, enum exercise_kind kind, bool ordered,
                      uint64_t generation)
{
    const struct cohort__algorithm *row = cohort__algorithm_find(collectives[kind], name);
    bool is_ordered =
        ordered || kind == EXERCISE_REDUCE_ORDERED || kind == EXERCISE_ALL_REDUCE_ORDERED;
    const struct cohort__request request = {
        .collective = row ? row->collective : COHORT__BARRIER,
        .num_sites = cohort_comm_num_sites(comm),
        .this_site = cohort_comm_this_site(comm),
        .arity = cohort_comm_arity(comm),
        .shift = kind == EXERCISE_SHIFT ? shift_of(comm, generation) : 0,
        .commutative = !is_ordered,
        .machine = comm->group->machine,
    };
    bool is_ragged = kind >= EXERCISE_GATHERV && kind <= EXERCISE_ALL_TO_ALLW;
    return row && (row->ragged || !is_ragged) && !cohort__algorithm_refuses(row, &request);
}

/* All sites draw the same numbers. */
static void begin(struct exercise *exercise, cohort_comm *comm, struct round *round,
                  struct cohort__random *random, uint64_t generation)
{
    enum exercise_kind kind = (enum exercise_kind)cohort__random_below(random, EXERCISE_NUM_KINDS);
    struct exercise_options options = {
        .in_place = cohort__random_below(random, 4) == 0,
        .rows = cohort__random_below(random, 4) == 0,
        .has_root = true,
        .root = (uint32_t)cohort__random_below(random, cohort_comm_num_sites(comm)),
        .ordered = cohort__random_below(random, 2),
        .checked = cohort__random_below(random, 6) == 0,
    };
    static const size_t counts[] = {0, 1, 3, 5, 700};
    size_t count = counts[cohort__random_below(random, 5)];
    const char *name = cohort__random_below(random, 2) ? "levels" : "shares";
    if (may_force(comm, name, kind, options.ordered, generation)) {
        options.algorithm = name;
        round->num_forced++;
    }
    exercise_begin_with(exercise, comm, kind, count, generation, options);
}

static cohort_status random_calls(cohort_comm *comm, void *arg)
{
    struct round *round = arg;
    struct exercise exercises[IN_FLIGHT];
    struct cohort__random random = cohort__random_seeded(round->seed);
    uint64_t generation = 0, begun = 0, ended = 0;
    cohort_status status = COHORT_OK;
    while (ended < round->num_generations) {
        while (begun < round->num_generations && begun - ended < IN_FLIGHT) {
            generation += 1 + cohort__random_below(&random, 2) * cohort__random_below(&random, 3);
            begin(&exercises[begun++ % IN_FLIGHT], comm, round, &random, generation);
        }
        cohort_status ended_with = exercise_end(&exercises[ended++ % IN_FLIGHT]);
        if (ended_with)
            status = ended_with;
    }
    return status;
}

/* In half of the cases there are switches of two hosts. */
static void name_switches(struct cluster *cluster, uint32_t num_localities,
                          const struct cohort__position *positions, struct cohort__random *random)
{
    static const char *const switches[] = {"switch=0", "switch=1"};
    const char *levels[MAX_LOCALITIES];
    for (uint32_t i = 0; i < num_localities; i++)
        levels[i] = switches[positions[i].host / 2];
    if (cohort__random_below(random, 2))
        cluster_name_levels(cluster, levels);
}

/* Hosts and domains of any sizes. */
static void locate(struct cluster *cluster, uint32_t num_localities, struct cohort__random *random)
{
    struct cohort__position positions[MAX_LOCALITIES];
    uint32_t num_hosts = 1 + (uint32_t)cohort__random_below(random, 4);
    for (uint32_t i = 0; i < num_localities; i++)
        positions[i] = (struct cohort__position){
            .host = cohort__random_below(random, 2)
                        ? i * num_hosts / num_localities
                        : (uint32_t)cohort__random_below(random, num_hosts),
            .domain = (uint32_t)cohort__random_below(random, 2),
        };
    cluster_locate(cluster, positions);
    name_switches(cluster, num_localities, positions, random);
}

static void run(uint64_t seed, uint32_t *num_forced)
{
    struct round round = {.seed = seed, .num_generations = 60};
    struct cohort__random random = cohort__random_seeded(seed);
    uint32_t num_localities = 2 + (uint32_t)cohort__random_below(&random, MAX_LOCALITIES - 1);
    uint32_t num_sites = num_localities + (uint32_t)cohort__random_below(&random, 14);
    struct cluster *cluster = cluster_create(seed, num_localities, 0);
    cluster_place(cluster, seed % CLUSTER_NUM_PLACEMENTS);
    locate(cluster, num_localities, &random);
    cohort_status status =
        cluster_sites(cluster, (struct sites){
                                   .name = "levels",
                                   .options = {.num_sites = num_sites, .arity = 2 + seed % 3},
                                   .run = random_calls,
                                   .arg = &round,
                               });
    if (status)
        FAIL("seed %llu, %u sites in %u localities: %s", (unsigned long long)seed, num_sites,
             num_localities, cohort_error_message());
    cluster_destroy(cluster);
    *num_forced += round.num_forced;
}

TEST(random_calls)
{
    uint32_t num_forced = 0;
    uint64_t num_seeds = test_rounds(NUM_SEEDS, FEW_SEEDS);
    for (uint64_t seed = 0; seed < num_seeds; seed++)
        run(seed, &num_forced);
    CHECK(num_forced > 40 * num_seeds);
}

/* Blocks of different sizes, which all sites have to know. */
static cohort_status check_ragged(cohort_comm *comm)
{
    static const size_t counts[8] = {1, 0, 3, 5, 2, 2, 0, 7};
    static const char *const unknown[] = {"gather", "scatter", "all_to_all"};
    cohort_call_question question = {.collective = "all_gather",
                                     .algorithm = "levels",
                                     .datatype = COHORT_DOUBLE,
                                     .is_ragged = true,
                                     .counts = counts};
    CHECK_OK(cohort_call_check(comm, &question));
    question.collective = "reduce_scatter";
    CHECK_OK(cohort_call_check(comm, &question));
    for (unsigned i = 0; i < 3; i++) {
        question.collective = unknown[i];
        CHECK_FAILS(cohort_call_check(comm, &question), COHORT_ERR_BAD_PARAMETER,
                    "it needs blocks of one size");
    }
    return COHORT_OK;
}

/* Two hosts of two localities of two sites, one after the other. */
static cohort_status explain(cohort_comm *comm, void *arg)
{
    char *text = NULL;
    if (comm->group->has_board)
        return COHORT_OK; /* in shared memory all could use it, although the hosts are played */
    CHECK_OK(cohort_explain(comm, "all_reduce", 1, COHORT_DOUBLE, COHORT_SUM, &text));
    CHECK_CONTAINS(text, "chosen: levels, predicted to be the fastest\n");
    CHECK_CONTAINS(text, "levels: reduce in each locality, whose sites meet, then reduce in each "
                         "host, then all_reduce by ");
    CHECK_CONTAINS(text, " among 2 leaders, then broadcast in each host, then broadcast in each "
                         "locality, whose sites meet\n");
    free(text);
    CHECK_OK(cohort_explain(comm, "shift", 1, COHORT_DOUBLE, NULL, &text));
    CHECK_CONTAINS(text, "levels           no: subgroups of several sites, of which two have their "
                         "targets in the same other one\n");
    free(text);
    return check_ragged(comm);
}

static void run_explained(uint32_t num_localities, const char *const *levels,
                          const char *algorithms, cohort_status (*site)(cohort_comm *, void *))
{
    static const struct cohort__position positions[] = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0},
                                                        {2, 0, 0}, {2, 0, 0}, {3, 0, 0}, {3, 0, 0}};
    struct cluster *cluster = cluster_create(1, num_localities, 0);
    cluster_place(cluster, CLUSTER_BLOCKS);
    cluster_locate(cluster, positions);
    if (levels)
        cluster_name_levels(cluster, levels);
    CHECK_OK(cluster_sites(
        cluster, (struct sites){
                     .name = "explained",
                     .options = {.num_sites = 2 * num_localities, .algorithms = algorithms},
                     .run = site,
                 }));
    cluster_destroy(cluster);
}

TEST_CALL(explained, run_explained(4, NULL, NULL, explain))

/* Four hosts, and two behind each switch. */
static cohort_status explain_switches(cohort_comm *comm, void *arg)
{
    char *text = NULL;
    CHECK_OK(cohort_explain(comm, "all_reduce", 1, COHORT_DOUBLE, COHORT_SUM, &text));
    CHECK_CONTAINS(text, "chosen: levels, forced\n");
    CHECK_CONTAINS(text, ", then reduce in each switch, then all_reduce by ");
    CHECK_CONTAINS(text, " among 2 leaders, then broadcast in each switch, then broadcast in each "
                         "host");
    CHECK_CONTAINS(text, "\nswitch: 2, at most 8 in one, in order\n");
    free(text);
    CHECK_OK(cohort_explain(comm, "all_reduce", 1 << 16, COHORT_DOUBLE, COHORT_SUM, &text));
    CHECK_CONTAINS(text, ": in 4 segments: reduce in each ");
    free(text);
    return COHORT_OK;
}

TEST(switches_explained)
{
    static const char *const levels[] = {"switch=a", "switch=a", "switch=a", "switch=a",
                                         "switch=b", "switch=b", "switch=b", "switch=b"};
    run_explained(8, levels, "all_reduce=levels", explain_switches);
}

/* A communicator of two hosts of two localities, two sites in each, whose sites are dealt out. */
static void run_on_two(const struct cohort__position *positions, enum cluster_placement placement,
                       cohort_comm_options options,
                       cohort_status (*site)(cohort_comm *comm, void *arg))
{
    struct cluster *cluster = cluster_create(1, 4, 0);
    cluster_place(cluster, placement);
    cluster_locate(cluster, positions);
    options.num_sites = 8;
    CHECK_OK(cluster_sites(cluster, (struct sites){
                                        .name = "explained",
                                        .options = options,
                                        .run = site,
                                    }));
    cluster_destroy(cluster);
}

static cohort_status keep_left(void *result, const void *left, const void *right, size_t count,
                               cohort_datatype datatype, void *arg)
{
    memmove(result, left, count * sizeof(double));
    return COHORT_OK;
}

static const struct cohort__position two_hosts[] = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0}};

/* What needs consecutive sites goes by another row, and explain says why. */
TEST_SITE(scattered_explained,
          run_on_two(two_hosts, CLUSTER_ROUND_ROBIN, (cohort_comm_options){0}, site))
{
    static const char why[] = "levels           no: subgroups of several sites; for scans and "
                              "ordered reductions, of consecutive ones\n";
    struct cohort_op *op;
    char *text = NULL;
    CHECK_OK(cohort_op_create(
        &op, &(struct cohort_op_options){.name = "keep_left", .function = keep_left}));
    CHECK_OK(cohort_explain(comm, "all_reduce", 1, COHORT_DOUBLE, op, &text));
    CHECK_CONTAINS(text, why);
    CHECK(!strstr(text, "chosen: levels"));
    free(text);
    CHECK_OK(cohort_explain(comm, "scan", 1, COHORT_DOUBLE, COHORT_SUM, &text));
    CHECK_CONTAINS(text, why);
    free(text);
    cohort_op_unref(op);
    double in = cohort_comm_this_site(comm) + 1, out = 0;
    CHECK_OK(cohort_await(cohort_scan(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, 1)));
    CHECK(out == in * (in + 1) / 2);
}

static cohort_status explain_reproducible(cohort_comm *comm, void *arg)
{
    char *text = NULL;
    CHECK_OK(cohort_explain(comm, "all_reduce", 1, COHORT_DOUBLE, COHORT_SUM, &text));
    CHECK_CONTAINS(text, "levels           no: its result is not reproducible; ");
    CHECK_CONTAINS(text, "shares           no: its result is not reproducible; ");
    free(text);
    return COHORT_OK;
}

TEST(reproducible_explained)
{
    run_on_two(two_hosts, CLUSTER_BLOCKS, (cohort_comm_options){.reproducible = true},
               explain_reproducible);
}

/* One locality has no levels, nor has a host with one site in each locality. */
static cohort_status explain_none(cohort_comm *comm, void *arg)
{
    char *text = NULL;
    double in = 1, out = 0;
    CHECK_OK(cohort_explain(comm, "all_reduce", 1, COHORT_DOUBLE, COHORT_SUM, &text));
    CHECK_CONTAINS(text, "levels           no: subgroups of several sites");
    free(text);
    CHECK_OK(cohort_comm_next_call(comm, &(cohort_call_options){.algorithm = "levels"}));
    CHECK_FAILS(cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, 1)),
                COHORT_ERR_BAD_PARAMETER, "the algorithm levels of all_reduce is not possible");
    return COHORT_OK;
}

TEST(none_explained)
{
    for (uint32_t num_localities = 1; num_localities <= 4; num_localities += 3) {
        struct cluster *cluster = cluster_create(1, num_localities, 0);
        CHECK_OK(cluster_sites(cluster, (struct sites){
                                            .name = "none",
                                            .options = {.num_sites = 4},
                                            .run = explain_none,
                                        }));
        cluster_destroy(cluster);
    }
}

/* Each locality has a domain, or two have one, in a host of four. */
static cohort_status explain_domains(cohort_comm *comm, void *arg)
{
    static const char *const forced[] = {"all_reduce", "broadcast", "barrier"};
    char *text = NULL;
    for (unsigned i = 0; i < 3; i++) {
        CHECK_OK(cohort_explain(comm, forced[i], 1, COHORT_DOUBLE, COHORT_SUM, &text));
        CHECK_CONTAINS(text, "chosen: levels, forced\n");
        CHECK_CONTAINS(text, " in each domain");
        CHECK_CONTAINS(text, " among 2 leaders");
        free(text);
    }
    return COHORT_OK;
}

TEST(domains_explained)
{
    static const struct cohort__position domains[] = {{0, 0, 0}, {0, 0, 0}, {0, 1, 0}, {0, 1, 0}};
    run_on_two(
        domains, CLUSTER_BLOCKS,
        (cohort_comm_options){.algorithms = "all_reduce=levels,broadcast=levels,barrier=levels"},
        explain_domains);
}

/* Blocks that are so long that they go in parts. */
struct long_blocks {
    const char *name;
    uint32_t num_localities; /* two in each host */
    uint32_t num_sites;
    size_t count;      /* doubles */
    bool are_segments; /* only collectives that have segments */
};

static bool has_segments(enum exercise_kind kind)
{
    return kind == EXERCISE_BROADCAST || kind == EXERCISE_REDUCE ||
           kind == EXERCISE_REDUCE_ORDERED || kind == EXERCISE_ALL_REDUCE ||
           kind == EXERCISE_ALL_REDUCE_ORDERED;
}

static cohort_status call_long(cohort_comm *comm, void *arg)
{
    static const char *const names[] = {"levels", "shares"};
    const struct long_blocks *blocks = arg;
    uint64_t generation = 0;
    cohort_status status = COHORT_OK;
    for (int name = 0; name < 2; name++)
        for (unsigned kind = 0; kind < EXERCISE_NUM_KINDS; kind++) {
            struct exercise exercise;
            struct exercise_options options = {.has_root = true, .algorithm = names[name]};
            if (!may_force(comm, names[name], (enum exercise_kind)kind, false, ++generation) ||
                (blocks->are_segments && !has_segments((enum exercise_kind)kind)))
                continue;
            exercise_begin_with(&exercise, comm, (enum exercise_kind)kind, blocks->count,
                                generation, options);
            cohort_status ended_with = exercise_end(&exercise);
            status = ended_with ? ended_with : status;
        }
    return status;
}

static void run_long(struct long_blocks blocks)
{
    struct cohort__position positions[MAX_LOCALITIES * 2] = {0};
    for (uint32_t i = 0; i < blocks.num_localities; i++)
        positions[i].host = i / 2;
    struct cluster *cluster = cluster_create(1, blocks.num_localities, 0);
    cluster_locate(cluster, positions);
    CHECK_OK(cluster_sites(cluster, (struct sites){
                                        .name = blocks.name,
                                        .options = {.num_sites = blocks.num_sites},
                                        .run = call_long,
                                        .arg = &blocks,
                                    }));
    cluster_destroy(cluster);
}

/* As many pieces as there are hosts. */
TEST_CALL(pieces, run_long((struct long_blocks){"pieces", 12, 12, 8192, false}))

/* Two, and four, with several sites in each locality and with one. */
TEST(segments)
{
    run_long((struct long_blocks){"segments", 6, 12, 33000, true});
    run_long((struct long_blocks){"segments", 6, 6, 66001, true});
}
