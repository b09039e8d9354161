/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/await_within.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"

/* A site revokes the communicator. All calls of all sites end, and those that fail name that site;
 * then the sites agree, and make a new communicator. Nobody stalls long enough to ask. */

enum { SITES = 6, LOCALITIES = 3, LAST = SITES - 1, BYTES = 100000, BEYOND = 70 };
static const uint64_t patience = 60 * UINT64_C(1000000000);

struct row {
    struct cluster *cluster;
    cohort_comm *comms[SITES];
};

static void begin(struct row *row, uint64_t seed, bool is_whole)
{
    row->cluster = cluster_create(seed, is_whole ? 1 : LOCALITIES, 0);
    cluster_place(row->cluster, CLUSTER_BLOCKS);
    cluster_create_comms(row->cluster, row->comms, "row",
                         (cohort_comm_options){.num_sites = SITES, .stall_after = 100 * patience});
}

static void end(struct row *row)
{
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(row->comms[site]);
    cluster_destroy(row->cluster);
}

static void check_revoked(cohort_status status, uint32_t by)
{
    char who[] = "site 0 (locality";
    who[5] = (char)('0' + by);
    CHECK_INT(status, COHORT_ERR_REVOKED);
    if (!strstr(cohort_error_message(), who) ||
        !strstr(cohort_error_message(), "has revoked the communicator"))
        FAIL("it does not name site %u: %s", by, cohort_error_message());
}

/* The sites go on: all agree, and the new communicator works. */
static void go_on(struct row *row)
{
    cohort_future *futures[SITES];
    cohort_agreed agreed[SITES];
    cohort_comm *next[SITES];
    struct exercise exercises[SITES];
    for (uint32_t site = 0; site < SITES; site++)
        futures[site] = cohort_comm_agree(row->comms[site], ~(UINT64_C(1) << site), &agreed[site]);
    for (uint32_t site = 0; site < SITES; site++) {
        CHECK_OK(await_within(futures[site], patience));
        CHECK(agreed[site].value == ~((UINT64_C(1) << SITES) - 1));
        CHECK(agreed[site].num_failed == 0);
    }
    for (uint32_t site = 0; site < SITES; site++)
        futures[site] = cohort_comm_shrink(&next[site], row->comms[site]);
    for (uint32_t site = 0; site < SITES; site++)
        CHECK_OK(await_within(futures[site], patience));
    for (uint32_t site = 0; site < SITES; site++)
        exercise_begin_with(&exercises[site], next[site], EXERCISE_ALL_REDUCE, 3, 1,
                            (struct exercise_options){0});
    for (uint32_t site = 0; site < SITES; site++) {
        CHECK_OK(exercise_end(&exercises[site]));
        cohort_comm_unref(next[site]);
    }
}

static void revoke(struct row *row, uint32_t site)
{
    CHECK_OK(await_within(cohort_comm_revoke(row->comms[site]), patience));
}

/* All calls, of the one that has revoked it first. */
static void check_all_fail(struct row *row, uint32_t by, uint64_t generation)
{
    for (uint32_t i = 0; i < SITES; i++) {
        uint32_t site = (by + i) % SITES;
        check_revoked(await_within(cohort_barrier(row->comms[site], generation), patience), by);
    }
}

/* Those in the other localities may call before they know. A barrier tells them: it has no root,
 * which might not wait. */
TEST(before)
{
    for (int is_whole = 0; is_whole < 2; is_whole++) {
        struct row row;
        struct exercise exercises[SITES];
        begin(&row, 1, is_whole);
        revoke(&row, 3);
        check_all_fail(&row, 3, 1);
        for (int kind = 0; kind < EXERCISE_NUM_KINDS; kind++) {
            for (uint32_t site = 0; site < SITES; site++)
                exercise_begin_with(&exercises[site], row.comms[site], (enum exercise_kind)kind, 3,
                                    (uint64_t)kind + 2, (struct exercise_options){0});
            for (uint32_t site = 0; site < SITES; site++)
                check_revoked(exercise_end(&exercises[site]), 3);
        }
        revoke(&row, 3); /* again, and by another one */
        revoke(&row, 0);
        check_all_fail(&row, 3, 100);
        go_on(&row);
        end(&row);
    }
}

/* All but the last site have called, which never does. */
static void revoke_during(enum exercise_kind kind, size_t count, bool checked, uint64_t seed)
{
    struct row row;
    struct exercise exercises[SITES];
    begin(&row, seed, seed % 4 == 0);
    for (uint32_t site = 0; site < LAST; site++)
        exercise_begin_with(&exercises[site], row.comms[site], kind, count, 1,
                            (struct exercise_options){.checked = checked});
    for (uint64_t i = 0; i < seed % 3; i++)
        cohort_yield();
    cohort_future *revoked = cohort_comm_revoke(row.comms[LAST]);
    for (uint32_t site = 0; site < LAST; site++) {
        CHECK_INT(await_within(cohort_future_ref(exercises[site].done), patience) ==
                      COHORT_ERR_TIMEOUT,
                  0);
        cohort_status status = exercise_end(&exercises[site]);
        if (status)
            check_revoked(status, LAST);
    }
    CHECK_OK(cohort_await(revoked));
    check_all_fail(&row, LAST, 2);
    go_on(&row);
    end(&row);
}

TEST(during)
{
    uint64_t seed = 1;
    for (int kind = 0; kind < EXERCISE_NUM_KINDS; kind++) {
        revoke_during((enum exercise_kind)kind, 1, false, seed++);
        revoke_during((enum exercise_kind)kind, 3000, kind % 2, seed++);
    }
}

TEST(beyond_the_window)
{
    struct row row;
    cohort_future *futures[SITES][BEYOND];
    begin(&row, 1, false);
    for (uint32_t site = 0; site < LAST; site++)
        for (uint32_t i = 0; i < BEYOND; i++)
            futures[site][i] = cohort_barrier(row.comms[site], i + 1);
    revoke(&row, LAST);
    for (uint32_t site = 0; site < LAST; site++)
        for (uint32_t i = 0; i < BEYOND; i++)
            check_revoked(await_within(futures[site][i], patience), LAST);
    go_on(&row);
    end(&row);
}

TEST(two_at_once)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct row row;
        cohort_future *futures[SITES];
        begin(&row, seed, false);
        for (uint32_t site = 0; site < LAST; site++)
            futures[site] = cohort_barrier(row.comms[site], 1);
        cohort_future *first = cohort_comm_revoke(row.comms[0]);
        cohort_future *second = cohort_comm_revoke(row.comms[LAST]);
        uint32_t by = UINT32_MAX;
        for (uint32_t site = 0; site < LAST; site++) {
            CHECK_INT(await_within(futures[site], patience), COHORT_ERR_REVOKED);
            if (by == UINT32_MAX)
                by = strstr(cohort_error_message(), ": site 0 (locality 0) has") ? 0 : LAST;
            check_revoked(COHORT_ERR_REVOKED, by);
        }
        CHECK_OK(await_within(first, patience));
        CHECK_OK(await_within(second, patience));
        check_all_fail(&row, by, 2);
        go_on(&row);
        end(&row);
    }
}

/* Site 0 has long messages under way to a neighbour and to another locality, and short ones, which
 * nobody gets; and sites wait for messages that nobody sets. */
TEST(channels)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct row row;
        enum { MOST = 8 };
        cohort_future *futures[MOST];
        unsigned char *data = calloc(1, BYTES), in[8] = {0}, out[3][8];
        uint32_t num = 0;
        size_t bytes;
        begin(&row, seed, seed % 4 == 0);
        futures[num++] = cohort_channel_set(row.comms[0], 1, 7, data, BYTES);
        futures[num++] = cohort_channel_set(row.comms[0], 4, 7, data, BYTES);
        for (uint32_t to = 1; to <= 4; to += 3)
            CHECK_OK(cohort_await(cohort_channel_set(row.comms[0], to, 8, in, sizeof(in))));
        futures[num++] = cohort_channel_get(row.comms[2], 0, 9, out[0], sizeof(out[0]), NULL);
        futures[num++] = cohort_channel_get(row.comms[2], 3, 9, out[1], sizeof(out[1]), NULL);
        futures[num++] =
            cohort_channel_get_any(row.comms[3], 9, out[2], sizeof(out[2]), NULL, NULL);
        futures[num++] = cohort_channel_probe(row.comms[5], COHORT_ANY_SITE, 9, &bytes, NULL);
        for (uint64_t i = 0; i < seed % 3; i++)
            cohort_yield();
        cohort_future *revoked = cohort_comm_revoke(row.comms[4]);
        for (uint32_t i = 0; i < num; i++)
            check_revoked(await_within(futures[i], patience), 4);
        CHECK_OK(cohort_await(revoked));
        memset(data, 1, BYTES);
        free(data);
        check_all_fail(&row, 4, 1); /* now all know */
        for (uint32_t site = 1; site <= 4; site += 3) {
            check_revoked(await_within(cohort_channel_get(row.comms[site], 0, 8, out[0],
                                                          sizeof(out[0]), NULL),
                                       patience),
                          4);
            check_revoked(
                await_within(cohort_channel_set(row.comms[site], 0, 8, in, sizeof(in)), patience),
                4);
            check_revoked(
                await_within(cohort_channel_set(row.comms[0], site, 8, in, sizeof(in)), patience),
                4);
        }
        for (uint32_t site = 0; site < SITES; site++)
            CHECK_OK(await_within(cohort_comm_idle(row.comms[site]), patience));
        go_on(&row);
        end(&row);
    }
}

/* A generation is being taken back: its calls are held, or may not start. */
TEST(held)
{
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct row row;
        cohort_future *futures[SITES];
        uint32_t asker = (uint32_t)seed % LAST;
        begin(&row, seed, seed % 4 == 0);
        for (uint32_t site = 0; site < LAST; site++)
            futures[site] = cohort_barrier(row.comms[site], 1);
        CHECK_OK(cohort_comm_cancel(row.comms[asker], 1));
        for (uint64_t i = 0; i < seed % 5; i++)
            cohort_yield();
        cohort_future *revoked = cohort_comm_revoke(row.comms[(asker + seed) % SITES]);
        futures[LAST] = cohort_barrier(row.comms[LAST], 1);
        for (uint32_t site = 0; site < SITES; site++) {
            cohort_status status = await_within(futures[site], patience);
            CHECK(status == COHORT_ERR_CANCELLED || status == COHORT_ERR_REVOKED ||
                  status == COHORT_OK);
        }
        CHECK_OK(await_within(revoked, patience));
        check_all_fail(&row, (asker + (uint32_t)seed) % SITES, 2);
        go_on(&row);
        end(&row);
    }
}

/* Some have joined in the new communicator, others have not called, or have called after it. */
TEST(children)
{
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct row row;
        cohort_future *futures[SITES];
        cohort_comm *twins[SITES] = {0};
        uint32_t num_calling = seed % 2 ? SITES : LAST;
        begin(&row, seed, seed % 4 == 0);
        for (uint32_t site = 0; site < num_calling; site++)
            futures[site] = cohort_comm_dup(&twins[site], row.comms[site], 1);
        for (uint64_t i = 0; i < seed * 3 % 16; i++)
            cohort_yield();
        cohort_future *revoked = cohort_comm_revoke(row.comms[3]);
        for (uint32_t site = 0; site < num_calling; site++) {
            cohort_status status = await_within(futures[site], patience);
            CHECK(status == COHORT_ERR_REVOKED || (status == COHORT_OK && num_calling == SITES));
            CHECK(status == COHORT_OK || strstr(cohort_error_message(), "site 3"));
            CHECK((status == COHORT_OK) == (twins[site] != NULL));
        }
        CHECK_OK(await_within(revoked, patience));
        for (uint32_t site = 0; site < SITES; site++)
            cohort_comm_unref(twins[site]);
        go_on(&row);
        end(&row);
    }
}

/* Who has left has not gone by itself. */
TEST(left)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct row row;
        cohort_future *futures[SITES];
        unsigned char out[8];
        begin(&row, seed, false);
        for (uint32_t site = 1; site < SITES; site++)
            futures[site] = cohort_barrier(row.comms[site], 1);
        futures[0] = cohort_channel_get(row.comms[1], LAST, 9, out, sizeof(out), NULL);
        revoke(&row, LAST);
        cohort_comm_unref(row.comms[LAST]);
        row.comms[LAST] = NULL;
        for (uint32_t site = 0; site < SITES; site++)
            check_revoked(await_within(futures[site], patience), LAST);
        end(&row);
    }
}

static void check_gone(cohort_future *future, uint32_t site)
{
    char who[] = "site 0 (locality";
    who[5] = (char)('0' + site);
    CHECK_FAILS(await_within(future, patience), COHORT_ERR_GONE, who);
    CHECK_CONTAINS(cohort_error_message(), "has left the communicator, and can't take part");
}

/* A site that has left can't agree: the others don't wait for it, whether it leaves before or
 * after they call. What it has agreed on before stays so. */
TEST(agree_left)
{
    for (int is_whole = 0; is_whole < 2; is_whole++)
        for (int is_before = 0; is_before < 2; is_before++) {
            struct row row;
            cohort_future *futures[SITES];
            cohort_agreed agreed[SITES];
            cohort_comm *next[SITES];
            begin(&row, 3, is_whole);
            go_on(&row);
            for (uint32_t site = 0; site < SITES; site++)
                futures[site] = cohort_comm_agree(row.comms[site], 1, &agreed[site]);
            if (is_before)
                cohort_comm_unref(row.comms[3]); /* its own call keeps it until all have called */
            CHECK_OK(cohort_await(cohort_when_all(futures, SITES)));
            for (uint32_t site = 0; site < SITES; site++)
                if (site != 3)
                    futures[site] = cohort_comm_agree(row.comms[site], 1, &agreed[site]);
            if (!is_before)
                cohort_comm_unref(row.comms[3]);
            row.comms[3] = NULL;
            for (uint32_t site = 0; site < SITES; site++)
                if (site != 3)
                    check_gone(futures[site], 3);
            for (uint32_t site = 0; site < SITES; site++)
                if (site != 3)
                    check_gone(cohort_comm_shrink(&next[site], row.comms[site]), 3);
            end(&row);
        }
}
