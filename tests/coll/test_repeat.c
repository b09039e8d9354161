/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/sanitizer.h"
#include "runtime/base/slab.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* A repeated call builds no plan and allocates nothing: neither from the C library, whose functions
 * are wrapped here (--wrap), nor from the system for slabs. */

enum { WARM_UP = 100, NUM_CALLS = 1000, NUM_SITES = 8, FEW_GROWTHS = 10 };

static _Atomic uint64_t num_allocations;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t num, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    atomic_fetch_add(&num_allocations, 1);
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t num, size_t bytes)
{
    atomic_fetch_add(&num_allocations, 1);
    return __real_calloc(num, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    atomic_fetch_add(&num_allocations, 1);
    return __real_realloc(old, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    atomic_fetch_add(&num_allocations, 1);
    return __real_aligned_alloc(alignment, bytes);
}

static struct {
    uint64_t first, last; /* allocations counted when the calls began and had ended */
    size_t first_chunks, last_chunks;
} measured;

static size_t num_chunks(void)
{
    struct cohort__slab_stats stats;
    cohort__slab_stats_get(&stats);
    return stats.num_chunks;
}

enum { LONGEST = 33000 }; /* doubles: as long as blocks that are cut into segments */

static double in[NUM_SITES][LONGEST], out[NUM_SITES][LONGEST];

/* One locality, or two in each of two hosts, two sites in each. */
static struct cluster *make_cluster(bool has_hosts)
{
    static const struct cohort__position positions[] = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0}};
    struct cluster *cluster = cluster_create(0, has_hosts ? 4 : 1, 0);
    if (has_hosts) {
        cluster_place(cluster, CLUSTER_BLOCKS);
        cluster_locate(cluster, positions);
    }
    return cluster;
}

static cohort_status all_reduce_once(cohort_comm *comm, size_t count, uint64_t generation)
{
    uint32_t me = cohort_comm_this_site(comm);
    in[me][0] = (double)generation;
    cohort_status status = cohort_await(
        cohort_all_reduce(comm, in[me], out[me], count, COHORT_DOUBLE, COHORT_SUM, generation));
    CHECK(status || out[me][0] == (double)generation * NUM_SITES);
    return status;
}

/* With agreement in front, which also keeps the sites in step. */
static cohort_status checked_gather_once(cohort_comm *comm, size_t count, uint64_t generation)
{
    uint32_t me = cohort_comm_this_site(comm);
    in[me][0] = (double)generation;
    CHECK_OK(cohort_comm_next_call(comm, &(cohort_call_options){.check_asymmetric = true}));
    cohort_future *gather =
        me == 0 ? cohort_gather_here(comm, in[me], out[me], count, COHORT_DOUBLE, generation)
                : cohort_gather_there(comm, in[me], count, COHORT_DOUBLE, generation);
    cohort_status status = cohort_await(gather);
    CHECK(status || me != 0 || out[0][(NUM_SITES - 1) * count] == (double)generation);
    return status;
}

struct repetition {
    cohort_status (*once)(cohort_comm *comm, size_t count, uint64_t generation);
    size_t count;
    const char *algorithms; /* on two hosts; NULL: in one locality */
};

/* Site 0 measures. The other sites may be one call behind, or already in the barrier, which also
 * has been called before. */
static cohort_status repeat(cohort_comm *comm, void *arg)
{
    const struct repetition *repetition = arg;
    uint32_t me = cohort_comm_this_site(comm);
    uint64_t generation = 1;
    cohort_status status = cohort_await(cohort_barrier(comm, generation));
    for (int i = 0; !status && i < WARM_UP + NUM_CALLS; i++) {
        if (i == WARM_UP && me == 0) {
            measured.first = atomic_load(&num_allocations);
            measured.first_chunks = num_chunks();
        }
        status = repetition->once(comm, repetition->count, ++generation);
    }
    if (me == 0) {
        measured.last = atomic_load(&num_allocations);
        measured.last_chunks = num_chunks();
    }
    return status ? status : cohort_await(cohort_barrier(comm, ++generation));
}

/* The roll-calls after a stall would be counted, and this process may get no core for a long time.
 */
static cohort_comm_options options_for(uint32_t threshold, const char *algorithms)
{
    return (cohort_comm_options){.num_sites = NUM_SITES,
                                 .arity = 2,
                                 .algorithms = algorithms,
                                 .flat_fallback_threshold = threshold,
                                 .stall_after = UINT64_C(3600000000000)};
}

static void run(uint32_t threshold, struct repetition repetition)
{
    struct cluster *cluster = make_cluster(repetition.algorithms != NULL);
    CHECK_OK(cluster_sites(cluster, (struct sites){
                                        .name = "repeat",
                                        .options = options_for(threshold, repetition.algorithms),
                                        .run = repeat,
                                        .arg = &repetition,
                                    }));
    cluster_destroy(cluster);
    if (COHORT__ASAN)
        return; /* there slabs use malloc */
    /* Between localities a table grows when more messages are under way than ever before. */
    CHECK(measured.last - measured.first <= (repetition.algorithms ? FEW_GROWTHS : 0));
    CHECK(measured.last_chunks - measured.first_chunks <=
          (repetition.algorithms ? FEW_GROWTHS : 0));
}

/* Data that fits into messages, data that is lent, and data that is reduced by a work. */
TEST(flat)
{
    run(1024, (struct repetition){all_reduce_once, 1, NULL});
    run(1024, (struct repetition){all_reduce_once, 100, NULL});
    run(1024, (struct repetition){all_reduce_once, 1024, NULL});
}

TEST(tree)
{
    run(COHORT_FORCE_TREE, (struct repetition){all_reduce_once, 1, NULL});
    run(COHORT_FORCE_TREE, (struct repetition){all_reduce_once, 100, NULL});
    run(COHORT_FORCE_TREE, (struct repetition){all_reduce_once, 1024, NULL});
}

TEST(checked)
{
    run(1024, (struct repetition){checked_gather_once, 1, NULL});
    run(COHORT_FORCE_TREE, (struct repetition){checked_gather_once, 1, NULL});
}

/* Every collective ----------------------------------------------------------------------------- */

/* Between localities FEW: what comes before it is expected is kept, up to 2 KiB without malloc. */
enum { EVERY_WARM_UP = 100, EVERY_CALLS = 200, COUNT = 100, FEW = 12 };

/* The rooted collectives are called with any root. */
static const char *const kinds[] = {
    "gather",          "scatter", "broadcast",   "reduce",        "all_gather", "all_to_all",
    "reduce_scatter",  "scan",    "gatherv",     "scatterv",      "shift",      "all_gatherv",
    "reduce_scatterv", "barrier", "all_to_allv", "all_to_allw",   "exchange",   "exclusive_scan",
    "in place",        "rows",    "forced",      "rows in place", "checked",    "laid",
    "rows laid",
};
enum { NUM_KINDS = NUM_OF(kinds) };

struct site {
    cohort_comm *comm;
    uint32_t me;
    uint32_t root;
    size_t count; /* at most COUNT */
    double *in;   /* NUM_SITES times COUNT */
    double *out;
    const size_t *counts;
    const size_t *displacements; /* from the last block to the first, with gaps */
    cohort_layout *layout;       /* of as many elements as IN has, and OUT */
    cohort_datatype types[NUM_SITES];
    cohort_future *rows[NUM_SITES];
};

static cohort_future *call_rooted(struct site *site, const char *kind, uint64_t generation)
{
    const cohort_datatype type = COHORT_DOUBLE;
    cohort_comm *comm = site->comm;
    double *in = site->in, *out = site->out;
    bool is_root = site->me == site->root;
    CHECK_OK(cohort_comm_next_call(comm, &(cohort_call_options){.root_site = &site->root}));
    if (strcmp(kind, "gather") == 0)
        return is_root ? cohort_gather_here(comm, in, out, site->count, type, generation)
                       : cohort_gather_there(comm, in, site->count, type, generation);
    if (strcmp(kind, "scatter") == 0)
        return is_root ? cohort_scatter_to(comm, in, out, site->count, type, generation)
                       : cohort_scatter_from(comm, out, site->count, type, generation);
    if (strcmp(kind, "broadcast") == 0)
        return is_root ? cohort_broadcast_to(comm, in, site->count, type, generation)
                       : cohort_broadcast_from(comm, out, site->count, type, generation);
    if (strcmp(kind, "reduce") == 0)
        return is_root
                   ? cohort_reduce_here(comm, in, out, site->count, type, COHORT_SUM, generation)
                   : cohort_reduce_there(comm, in, site->count, type, COHORT_SUM, generation);
    size_t count = site->counts[site->me];
    if (strcmp(kind, "gatherv") == 0)
        return is_root ? cohort_gatherv_here(comm, in, count, out, site->counts,
                                             site->displacements, type, generation)
                       : cohort_gatherv_there(comm, in, count, type, generation);
    return is_root ? cohort_scatterv_to(comm, in, site->counts, site->displacements, out, count,
                                        type, generation)
                   : cohort_scatterv_from(comm, out, count, type, generation);
}

static cohort_future *call_reduction(struct site *site, const char *kind, uint64_t generation)
{
    cohort_comm *comm = site->comm;
    double *in = site->in, *out = site->out;
    if (strcmp(kind, "all_reduce") == 0)
        return cohort_all_reduce(comm, in, out, site->count, COHORT_DOUBLE, COHORT_SUM, generation);
    if (strcmp(kind, "reduce_scatter") == 0)
        return cohort_reduce_scatter(comm, in, out, site->count, COHORT_DOUBLE, COHORT_SUM,
                                     generation);
    if (strcmp(kind, "reduce_scatterv") == 0)
        return cohort_reduce_scatterv(comm, in, out, site->counts, COHORT_DOUBLE, COHORT_SUM,
                                      generation);
    if (strcmp(kind, "scan") == 0)
        return cohort_scan(comm, in, out, site->count, COHORT_DOUBLE, COHORT_SUM, generation);
    return cohort_exclusive_scan(comm, in, out, site->count, COHORT_DOUBLE, COHORT_SUM, generation);
}

static cohort_future *call_option(struct site *site, const char *kind, uint64_t generation)
{
    cohort_comm *comm = site->comm;
    bool in_place = strstr(kind, "in place") != NULL;
    bool is_laid = strstr(kind, "laid") != NULL;
    const void *in = in_place ? COHORT_IN_PLACE : site->in;
    cohort_call_options options = {
        .in_layout = is_laid ? site->layout : NULL,
        .out_layout = is_laid ? site->layout : NULL,
        .algorithm = strcmp(kind, "forced") == 0 ? "bruck" : NULL,
        .check_asymmetric = strcmp(kind, "checked") == 0,
        .ret_rows = strncmp(kind, "rows", 4) == 0 ? site->rows : NULL,
    };
    CHECK_OK(cohort_comm_next_call(comm, &options));
    return cohort_all_to_all(comm, in, site->out, site->count, COHORT_DOUBLE, generation);
}

static cohort_future *call_exchange(struct site *site, uint64_t generation)
{
    uint32_t right = (site->me + 1) % NUM_SITES, left = (site->me + NUM_SITES - 1) % NUM_SITES;
    const cohort_neighbour to[] = {{right, 0, site->count}, {left, 0, 3}};
    const cohort_neighbour from[] = {{left, 0, site->count}, {right, site->count, 3}};
    return cohort_exchange(site->comm, site->in, to, 2, site->out, from, 2, COHORT_DOUBLE,
                           generation);
}

static cohort_future *call_kind(struct site *site, const char *kind, uint64_t generation)
{
    const cohort_datatype type = COHORT_DOUBLE;
    cohort_comm *comm = site->comm;
    double *in = site->in, *out = site->out;
    if (strcmp(kind, "all_gather") == 0)
        return cohort_all_gather(comm, in, out, site->count, type, generation);
    if (strcmp(kind, "all_to_all") == 0)
        return cohort_all_to_all(comm, in, out, site->count, type, generation);
    if (strcmp(kind, "shift") == 0)
        return cohort_shift(comm, in, out, site->count, type, -3, generation);
    if (strcmp(kind, "all_gatherv") == 0)
        return cohort_all_gatherv(comm, in, out, site->counts, site->displacements, type,
                                  generation);
    if (strcmp(kind, "all_to_allv") == 0)
        return cohort_all_to_allv(comm, in, site->displacements, NULL, out, site->displacements,
                                  NULL, type, generation);
    if (strcmp(kind, "all_to_allw") == 0)
        return cohort_all_to_allw(comm, in, site->displacements, NULL, site->types, out,
                                  site->displacements, NULL, site->types, generation);
    if (strcmp(kind, "barrier") == 0)
        return cohort_barrier(comm, generation);
    if (strcmp(kind, "exchange") == 0)
        return call_exchange(site, generation);
    if (strcmp(kind, "all_reduce") == 0 || strstr(kind, "reduce_scatter") || strstr(kind, "scan"))
        return call_reduction(site, kind, generation);
    if (strcmp(kind, "in place") == 0 || strncmp(kind, "rows", 4) == 0 ||
        strcmp(kind, "forced") == 0 || strcmp(kind, "checked") == 0 || strcmp(kind, "laid") == 0)
        return call_option(site, kind, generation);
    return call_rooted(site, kind, generation);
}

struct every {
    const char *kind;
    size_t count;
};

static cohort_status every_call(cohort_comm *comm, void *arg)
{
    enum { LONG = 2 * NUM_SITES * COUNT }; /* with a layout, elements have gaps between them */
    static double in[NUM_SITES][LONG], out[NUM_SITES][LONG];
    static const size_t counts[NUM_SITES] = {3, 0, 100, 7, 1, 64, 9, 2};
    static const size_t displacements[NUM_SITES] = {700, 600, 500, 400, 300, 200, 100, 0};
    static const size_t same[NUM_SITES] = {5, 5, 5, 5, 5, 5, 5, 5};
    const struct every *every = arg;
    const char *kind = every->kind;
    uint32_t me = cohort_comm_this_site(comm);
    bool is_ragged_a2a = strncmp(kind, "all_to_all", 10) == 0 && strlen(kind) > 10;
    struct site site = {.comm = comm,
                        .me = me,
                        .root = 3,
                        .count = every->count,
                        .in = in[me],
                        .out = out[me],
                        .counts = counts,
                        .displacements = is_ragged_a2a ? same : displacements};
    for (int i = 0; i < NUM_SITES; i++)
        site.types[i] = COHORT_DOUBLE;
    uint64_t generation = 0;
    cohort_status status =
        cohort_layout_create_vector(&site.layout, NUM_SITES * every->count, 1, 2);
    for (int i = 0; !status && i < EVERY_WARM_UP + EVERY_CALLS; i++) {
        if (i == EVERY_WARM_UP && me == 0) {
            measured.first = atomic_load(&num_allocations);
            measured.first_chunks = num_chunks();
        }
        status = cohort_await(call_kind(&site, kind, ++generation));
        for (int row = 0; strncmp(kind, "rows", 4) == 0 && row < NUM_SITES; row++)
            CHECK_OK(cohort_await(site.rows[row]));
        if (i == EVERY_WARM_UP + EVERY_CALLS - 1 && me == 0) { /* before the other sites leave */
            measured.last = atomic_load(&num_allocations);
            measured.last_chunks = num_chunks();
        }
        if (!status) /* so that no site runs ahead */
            status = cohort_await(cohort_barrier(comm, ++generation));
    }
    cohort_layout_unref(site.layout);
    return status;
}

static void run_kind(const char *kind, uint32_t threshold, const char *algorithms)
{
    struct cluster *cluster = make_cluster(algorithms != NULL);
    struct every every = {kind, algorithms ? FEW : COUNT};
    cohort_status status = cluster_sites(cluster, (struct sites){
                                                      .name = "repeat",
                                                      .options = options_for(threshold, algorithms),
                                                      .run = every_call,
                                                      .arg = &every,
                                                  });
    if (status)
        FAIL("%s: %s", kind, cohort_error_message());
    cluster_destroy(cluster);
    const uint64_t num = measured.last - measured.first;
    const size_t chunks = measured.last_chunks - measured.first_chunks;
    /* A table grows when more messages are early than ever before, which is a matter of time. */
    if (!COHORT__ASAN && (num > FEW_GROWTHS || chunks > FEW_GROWTHS))
        FAIL("%s by %s: %llu allocations, %zu chunks in %d calls", kind,
             algorithms ? algorithms : "the default", (unsigned long long)num, chunks, EVERY_CALLS);
}

TEST(every_flat)
{
    for (int i = 0; i < NUM_KINDS; i++)
        run_kind(kinds[i], 1024, NULL);
}

TEST(every_tree)
{
    for (int i = 0; i < NUM_KINDS; i++)
        run_kind(kinds[i], COHORT_FORCE_TREE, NULL);
}

/* Rows that compose ---------------------------------------------------------------------------- */

/* In shared memory, since the hub of inproc allocates its messages. What is longer than a message
 * (LONGEST) is fetched. */
TEST(composed)
{
    static const char *const rows[][2] = {
        {"gather", "gather=levels"},
        {"scatter", "scatter=levels"},
        {"broadcast", "broadcast=levels"},
        {"broadcast", "broadcast=shares"},
        {"reduce", "reduce=levels"},
        {"reduce", "reduce=shares"},
        {"all_gather", "all_gather=levels"},
        {"all_gather", "all_gather=shares"},
        {"all_reduce", "all_reduce=levels"},
        {"all_reduce", "all_reduce=shares"},
        {"all_to_all", "all_to_all=levels"},
        {"rows", "all_to_all=levels"},
        {"checked", "all_to_all=levels"},
        {"rows laid", "all_to_all=levels"},
        {"reduce_scatter", "reduce_scatter=levels"},
        {"reduce_scatter", "reduce_scatter=shares"},
        {"scan", "scan=levels"},
        {"exclusive_scan", "exclusive_scan=levels"},
        {"shift", "shift=levels"},
        {"all_gatherv", "all_gather=levels"},
        {"reduce_scatterv", "reduce_scatter=levels"},
        {"barrier", "barrier=levels"},
    };
    for (size_t i = 0; i < NUM_OF(rows); i++)
        run_kind(rows[i][0], 0, rows[i][1]);
}

TEST(composed_long)
{
    run(0, (struct repetition){all_reduce_once, LONGEST, "all_reduce=levels"});
    run(0, (struct repetition){all_reduce_once, LONGEST, "all_reduce=shares"});
    run(0, (struct repetition){checked_gather_once, FEW, "gather=levels"});
}
