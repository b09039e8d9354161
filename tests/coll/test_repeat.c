/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/sanitizer.h"
#include "runtime/base/slab.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Repeating a call builds nothing and allocates nothing: neither from the C library, whose
 * functions are wrapped here (--wrap), nor from the system for slabs. */

enum { WARM_UP = 100, NUM_CALLS = 1000, NUM_SITES = 8 };

static _Atomic uint64_t num_allocations;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t num, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t num, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

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
    uint64_t first, last; /* allocations so far, when the calls began and when they had ended */
    size_t first_chunks, last_chunks;
} measured;

static size_t num_chunks(void)
{
    struct cohort__slab_stats stats;
    cohort__slab_stats_get(&stats);
    return stats.num_chunks;
}

/* Site 0 measures. The others may be one call behind, or ahead in the barrier, which has been
 * called before, too. */
static cohort_status repeat(cohort_comm *comm, void *arg)
{
    size_t count = *(const size_t *)arg;
    static double in[NUM_SITES][1024], out[NUM_SITES][1024];
    uint32_t me = cohort_comm_this_site(comm);
    uint64_t generation = 1;
    cohort_status status = cohort_await(cohort_barrier(comm, generation));
    for (int i = 0; !status && i < WARM_UP + NUM_CALLS; i++) {
        if (i == WARM_UP && me == 0) {
            measured.first = atomic_load(&num_allocations);
            measured.first_chunks = num_chunks();
        }
        in[me][0] = i;
        status = cohort_await(cohort_all_reduce(comm, in[me], out[me], count, COHORT_DOUBLE,
                                                COHORT_SUM, ++generation));
        CHECK(status || out[me][0] == (double)i * NUM_SITES);
    }
    if (me == 0) {
        measured.last = atomic_load(&num_allocations);
        measured.last_chunks = num_chunks();
    }
    return status ? status : cohort_await(cohort_barrier(comm, ++generation));
}

static void run(uint32_t threshold, size_t count)
{
    struct cluster *cluster = cluster_create(0, 1, 0);
    CHECK_INT(
        sites_run(&(struct sites){
            .name = "repeat",
            .options = {.num_sites = NUM_SITES, .arity = 2, .flat_fallback_threshold = threshold},
            .create = cluster_create_comm,
            .context = cluster,
            .run = repeat,
            .arg = &count,
        }),
        COHORT_OK);
    cluster_destroy(cluster);
    if (COHORT__ASAN)
        return; /* there slabs are malloc */
    CHECK_INT(measured.last - measured.first, 0);
    CHECK_INT(measured.last_chunks - measured.first_chunks, 0);
}

/* What fits into messages, what is lent, and what is reduced by a worker. */
static void test_flat(void)
{
    run(1024, 1);
    run(1024, 100);
    run(1024, 1024);
}

static void test_tree(void)
{
    run(COHORT_FORCE_TREE, 1);
    run(COHORT_FORCE_TREE, 100);
    run(COHORT_FORCE_TREE, 1024);
}

static const struct test_case cases[] = {
    {"flat", test_flat},
    {"tree", test_tree},
};

int main(int argc, char **argv)
{
    return cluster_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), 1);
}
