/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <stdint.h>

#include "tests/support/program.h"
#include "tests/support/sites.h"
#include "tests/support/test.h"

/* Blocks of no data in the collectives with blocks of different sizes. Site EMPTY gives and gets
 * nothing, with NULL as its buffers, and others have blocks of no data for it. Then no site has
 * any data. Where such a block is said to be does not matter. */

enum { N = 3, EMPTY = 1 };
static const size_t counts[N] = {1, 0, 2}, none[N] = {0};
static const size_t places[N] = {3, SIZE_MAX, 0}, nowhere[N] = {SIZE_MAX, 7, SIZE_MAX / 4};

struct site {
    cohort_comm *comm;
    uint32_t me;
    size_t count;   /* of the own block */
    const void *in; /* 10 * me + 1, ..., or NULL */
    void *out;      /* zeros, or NULL */
    int32_t elements[2][4];
};

static void check_done(cohort_future *future)
{
    cohort_status status = cohort_await(future);
    if (status)
        FAIL("%s", cohort_error_message());
}

static void check_out(const int32_t *got, int32_t a, int32_t b, int32_t c, int32_t d)
{
    CHECK_INT(got[0], a);
    CHECK_INT(got[1], b);
    CHECK_INT(got[2], c);
    CHECK_INT(got[3], d);
}

static void gatherv(struct site *site)
{
    cohort_comm *comm = site->comm;
    const int32_t *out = site->elements[1];
    check_done(site->me == 0 ? cohort_gatherv_here(comm, site->in, site->count, site->out, counts,
                                                   places, COHORT_INT32, 1)
                             : cohort_gatherv_there(comm, site->in, site->count, COHORT_INT32, 1));
    if (site->me == 0)
        check_out(out, 21, 22, 0, 1);
    check_done(site->me == 0
                   ? cohort_gatherv_here(comm, NULL, 0, NULL, none, nowhere, COHORT_INT32, 2)
                   : cohort_gatherv_there(comm, NULL, 0, COHORT_INT32, 2));
}

/* The root is the site without data of its own. */
static void gatherv_to_empty(struct site *site)
{
    int32_t out[4] = {0};
    const uint32_t root = EMPTY;
    CHECK_OK(cohort_comm_next_call(site->comm, &(cohort_call_options){.root_site = &root}));
    check_done(site->me == root
                   ? cohort_gatherv_here(site->comm, NULL, 0, out, counts, places, COHORT_INT32, 1)
                   : cohort_gatherv_there(site->comm, site->in, site->count, COHORT_INT32, 1));
    if (site->me == root)
        check_out(out, 21, 22, 0, 1);
}

static void scatterv(struct site *site)
{
    cohort_comm *comm = site->comm;
    const int32_t *out = site->elements[1];
    check_done(site->me == 0 ? cohort_scatterv_to(comm, site->in, counts, places, site->out,
                                                  site->count, COHORT_INT32, 1)
                             : cohort_scatterv_from(comm, site->out, site->count, COHORT_INT32, 1));
    if (site->me == 0)
        check_out(out, 4, 0, 0, 0);
    if (site->me == 2)
        check_out(out, 1, 2, 0, 0);
    check_done(site->me == 0
                   ? cohort_scatterv_to(comm, NULL, none, nowhere, NULL, 0, COHORT_INT32, 2)
                   : cohort_scatterv_from(comm, NULL, 0, COHORT_INT32, 2));
}

static void all_gatherv(struct site *site)
{
    int32_t out[4] = {0};
    check_done(cohort_all_gatherv(site->comm, site->in, out, counts, places, COHORT_INT32, 1));
    check_out(out, 21, 22, 0, 1);
    check_done(cohort_all_gatherv(site->comm, NULL, NULL, none, nowhere, COHORT_INT32, 2));
    check_done(
        cohort_all_gatherv(site->comm, COHORT_IN_PLACE, NULL, none, nowhere, COHORT_INT32, 3));
}

static void reduce_scatterv(struct site *site)
{
    const int32_t in[3] = {1, 10, 100}, *out = site->elements[1];
    check_done(
        cohort_reduce_scatterv(site->comm, in, site->out, counts, COHORT_INT32, COHORT_SUM, 1));
    if (site->me == 0)
        check_out(out, 3, 0, 0, 0);
    if (site->me == 2)
        check_out(out, 30, 300, 0, 0);
    check_done(cohort_reduce_scatterv(site->comm, NULL, NULL, none, COHORT_INT32, COHORT_SUM, 2));
}

/* Sites 0 and 2 send each other one element, and nothing to themselves. */
static void all_to_all(struct site *site, bool has_types)
{
    const cohort_datatype types[N] = {COHORT_INT32, COHORT_INT32, COHORT_INT32};
    const size_t to_other[N] = {site->me == 2, 0, site->me == 0}, far[N] = {0, SIZE_MAX, 0};
    const size_t *mine = site->me == EMPTY ? none : to_other;
    const size_t *where = site->me == EMPTY ? nowhere : far;
    check_done(has_types ? cohort_all_to_allw(site->comm, site->in, mine, where, types, site->out,
                                              mine, where, types, 1)
                         : cohort_all_to_allv(site->comm, site->in, mine, where, site->out, mine,
                                              where, COHORT_INT32, 1));
    if (site->me != EMPTY)
        check_out(site->elements[1], site->me == 0 ? 21 : 1, 0, 0, 0);
    check_done(has_types ? cohort_all_to_allw(site->comm, NULL, none, nowhere, types, NULL, none,
                                              nowhere, types, 2)
                         : cohort_all_to_allv(site->comm, NULL, none, nowhere, NULL, none, nowhere,
                                              COHORT_INT32, 2));
    check_done(has_types ? cohort_all_to_allw(site->comm, COHORT_IN_PLACE, NULL, NULL, NULL, NULL,
                                              none, nowhere, types, 3)
                         : cohort_all_to_allv(site->comm, COHORT_IN_PLACE, NULL, NULL, NULL, none,
                                              nowhere, COHORT_INT32, 3));
}

static void all_to_allv(struct site *site)
{
    all_to_all(site, false);
}

static void all_to_allw(struct site *site)
{
    all_to_all(site, true);
}

/* Around the ring: an element from site 2 to site 0, else nothing. */
static void exchange(struct site *site)
{
    const cohort_neighbour to = {(site->me + 1) % N, site->me == 2 ? 1 : SIZE_MAX, site->me == 2};
    const cohort_neighbour from = {(site->me + N - 1) % N, site->me == 0 ? 3 : SIZE_MAX,
                                   site->me == 0};
    const void *in = site->me == 2 ? site->in : NULL;
    void *out = site->me == 0 ? site->out : NULL;
    check_done(cohort_exchange(site->comm, in, &to, 1, out, &from, 1, COHORT_INT32, 1));
    if (site->me == 0)
        check_out(site->elements[1], 0, 0, 0, 22);
    check_done(cohort_exchange(site->comm, NULL, NULL, 0, NULL, NULL, 0, COHORT_INT32, 2));
}

/* A site with data for which NULL stands is told so. */
static void null_with_data(struct site *site)
{
    int32_t out[4];
    const void *in = site->me == EMPTY ? site->in : NULL;
    cohort_future *future = cohort_all_gatherv(site->comm, in, out, counts, NULL, COHORT_INT32, 1);
    CHECK_FAILS(cohort_await(future), COHORT_ERR_BAD_PARAMETER,
                "cohort_all_gatherv: no input buffer");
    future = cohort_all_gatherv(site->comm, site->in, NULL, counts, NULL, COHORT_INT32, 2);
    CHECK_FAILS(cohort_await(future), COHORT_ERR_BAD_PARAMETER, "no buffer for counts");
}

static cohort_status run_site(cohort_comm *comm, void *arg)
{
    void (*const *play)(struct site * site) = arg;
    struct site site = {.comm = comm, .me = cohort_comm_this_site(comm)};
    for (int32_t i = 0; i < 4; i++)
        site.elements[0][i] = 10 * (int32_t)site.me + i + 1;
    site.count = counts[site.me];
    site.in = site.me == EMPTY ? NULL : site.elements[0];
    site.out = site.me == EMPTY ? NULL : site.elements[1];
    (*play)(&site);
    return COHORT_OK;
}

static void run(const char *name, void (*play)(struct site *site))
{
    cohort_status status = sites_run(
        &(struct sites){.name = name, .options = {.num_sites = N}, .run = run_site, .arg = &play});
    if (status)
        FAIL("%s: %s", name, cohort_error_message());
}

TEST(all)
{
    run("gatherv", gatherv);
    run("gatherv-to-empty", gatherv_to_empty);
    run("scatterv", scatterv);
    run("all-gatherv", all_gatherv);
    run("reduce-scatterv", reduce_scatterv);
    run("all-to-allv", all_to_allv);
    run("all-to-allw", all_to_allw);
    run("exchange", exchange);
    run("null-with-data", null_with_data);
}

int main(int argc, char **argv)
{
    return program_main(argc, argv);
}
