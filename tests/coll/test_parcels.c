/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cohort/call.h"
#include "cohort/ragged.h"
#include "collectives/comm/endpoint.h"
#include "runtime/base/random.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Blocks whose sizes only two sites know, by rows for blocks of one size: what is wrong with a size
 * is told by who gets the block; and blocks that are copied by a worker. What is right is tested by
 * coll/levels, with random sizes and places, and by coll/rows_forced, with every row. */

enum { NUM_SITES = 6, LARGE = 300 * 1024 };

static const char *const rows[] = {"levels", "binomial", "hierarchical", "shared"};

struct round {
    const char *row; /* forced */
    uint32_t wrong;  /* the site that sends more than is expected */
};

static void force(cohort_comm *comm, const char *row, const uint32_t *root)
{
    CHECK_INT(
        cohort_comm_next_call(comm, &(cohort_call_options){.algorithm = row, .root_site = root}),
        COHORT_OK);
}

/* The sizes of the blocks, a few bytes each but for one. */
static size_t size_of(uint32_t site)
{
    return site == 2 ? LARGE : site * 3;
}

static unsigned char content(uint32_t site, size_t place)
{
    return (unsigned char)(site * 7 + place * 31 + (place >> 8));
}

static cohort_status gather(cohort_comm *comm, const struct round *round, uint64_t generation)
{
    enum { ROOT = 1 };
    const uint32_t me = cohort_comm_this_site(comm), root = ROOT;
    static unsigned char all[NUM_SITES * LARGE]; /* the root's */
    size_t counts[NUM_SITES], places[NUM_SITES], bytes = size_of(me) + (me == round->wrong);
    unsigned char *block = malloc(bytes + 1);
    CHECK(block);
    for (size_t i = 0; i < bytes; i++)
        block[i] = content(me, i);
    for (uint32_t site = 0; site < NUM_SITES; site++) {
        counts[site] = size_of(site);
        places[site] = (size_t)LARGE * (NUM_SITES - 1 - site);
    }
    memset(all, me == ROOT ? 0 : all[0], me == ROOT ? sizeof(all) : 0);
    force(comm, round->row, &root);
    cohort_status status = cohort_await(
        me == ROOT
            ? cohort_gatherv_here(comm, block, bytes, all, counts, places, COHORT_UINT8, generation)
            : cohort_gatherv_there(comm, block, bytes, COHORT_UINT8, generation));
    for (uint32_t site = 0; me == ROOT && !status && site < NUM_SITES; site++)
        for (size_t i = 0; i < size_of(site); i++)
            CHECK_INT(all[places[site] + i], content(site, i));
    free(block);
    return status;
}

/* Only the root knows what it expects. */
static cohort_status gather_wrong(cohort_comm *comm, void *arg)
{
    const struct round *round = arg;
    struct round right = {.row = round->row, .wrong = NUM_SITES};
    bool is_root = cohort_comm_this_site(comm) == 1;
    cohort_status status = gather(comm, round, 1);
    if (is_root) {
        CHECK_INT(status, COHORT_ERR_MISMATCH);
        CHECK_CONTAINS(cohort_error_message(), "site 4 sent 13 bytes where 12 were expected");
    }
    CHECK_INT(gather(comm, &right, 2), COHORT_OK);
    return COHORT_OK;
}

static cohort_status scatter_wrong(cohort_comm *comm, void *arg)
{
    const struct round *round = arg;
    const uint32_t me = cohort_comm_this_site(comm), root = 0;
    const size_t counts[NUM_SITES] = {1, 1, 1, 1, 1, 1};
    const unsigned char in[NUM_SITES] = {1, 2, 3, 4, 5, 6};
    unsigned char out[2] = {0};
    force(comm, round->row, &root);
    cohort_status status = cohort_await(
        me == root ? cohort_scatterv_to(comm, in, counts, NULL, out, 1, COHORT_UINT8, 1)
                   : cohort_scatterv_from(comm, out, 1 + (me == round->wrong), COHORT_UINT8, 1));
    if (me == round->wrong) {
        CHECK_INT(status, COHORT_ERR_MISMATCH);
        CHECK_CONTAINS(cohort_error_message(), "site 0 sent 1 bytes where 2 were expected");
        CHECK_INT(out[0], 0); /* nothing of it was handed out */
    } else if (!status) {
        CHECK_INT(out[0], in[me]);
    }
    return COHORT_OK;
}

static void run(uint32_t num_localities, struct round *round,
                cohort_status (*site)(cohort_comm *comm, void *arg))
{
    static const struct cohort__position positions[] = {
        {.host = 0}, {.host = 0}, {.host = 1}, {.host = 1}};
    struct cluster *cluster = cluster_create(num_localities, num_localities, 0);
    if (num_localities == 4)
        cluster_locate(cluster, positions);
    CHECK_INT(sites_run(&(struct sites){
                  .name = "parcels",
                  .options = {.num_sites = NUM_SITES, .arity = 2},
                  .create = cluster_create_comm,
                  .context = cluster,
                  .run = site,
                  .arg = round,
              }),
              COHORT_OK);
    cluster_destroy(cluster);
}

static void run_all(uint32_t wrong, cohort_status (*site)(cohort_comm *comm, void *arg))
{
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct round round = {.row = rows[i], .wrong = wrong};
        bool is_shared = strcmp(rows[i], "shared") == 0;
        run(is_shared ? 1 : 4, &round, site);
    }
}

static void test_gather(void)
{
    run_all(4, gather_wrong);
}

static void test_scatter(void)
{
    run_all(3, scatter_wrong);
}

static const struct test_case cases[] = {{"gather", test_gather}, {"scatter", test_scatter}};

int main(int argc, char **argv)
{
    return cluster_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), NUM_WORKERS);
}
