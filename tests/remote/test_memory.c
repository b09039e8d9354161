/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/boards.h"
#include "runtime/remote/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/scope.h"
#include "cohort/task.h"
#include "runtime/base/random.h"
#include "runtime/proc/memory.h"
#include "tests/support/cluster.h"

/* Localities read and write each other's memory: by messages that overtake each other, or (--shm)
 * where it is. */

enum { NUM = 3, KIB = 1024, MIB = 1024 * KIB, WORD = sizeof(uint64_t) };

static struct cluster *cluster;

static cohort_memory_handle share(uint32_t owner, const void *memory, size_t bytes)
{
    cohort_memory_handle handle;
    CHECK_OK(cohort__memory_share_for(cluster_process(cluster, owner), &handle, memory, bytes));
    CHECK_INT(handle.locality, owner);
    CHECK_INT((long long)handle.bytes, (long long)bytes);
    return handle;
}

static cohort_future *get(uint32_t from, const cohort_memory_handle *handle, size_t offset,
                          void *to, size_t bytes)
{
    return cohort__memory_get_from(cluster_process(cluster, from), handle, offset, to, bytes);
}

static cohort_future *put(uint32_t from, const cohort_memory_handle *handle, size_t offset,
                          const void *source, size_t bytes)
{
    return cohort__memory_put_from(cluster_process(cluster, from), handle, offset, source, bytes);
}

static cohort_future *add(uint32_t from, const cohort_memory_handle *handle, size_t offset,
                          uint64_t value, uint64_t *ret_before)
{
    return cohort__memory_add_from(cluster_process(cluster, from), handle, offset, value,
                                   ret_before);
}

static void fill(unsigned char *data, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)((i + seed) * 0x9e3779b1u >> 13);
}

static unsigned char *make(size_t bytes)
{
    unsigned char *data = test_malloc(bytes);
    return data;
}

/* All lengths, from each locality, also from itself; what lies around it stays. */
static void check_size(const cohort_memory_handle *handle, unsigned char *owned, size_t bytes)
{
    unsigned char *mine = make(bytes + 1);
    for (uint32_t from = 0; from < NUM; from++)
        for (size_t offset = 8; offset < 10; offset++) {
            memset(owned, 0xee, bytes + 32);
            fill(mine, bytes, from + offset);
            CHECK_OK(cohort_await(put(from, handle, offset, mine, bytes)));
            CHECK(memcmp(owned + offset, mine, bytes) == 0);
            CHECK(owned[offset - 1] == 0xee && owned[offset + bytes] == 0xee);
            fill(owned, bytes + 32, from * 7 + offset);
            mine[bytes] = 0x77;
            CHECK_OK(cohort_await(get(from, handle, offset, mine, bytes)));
            CHECK(memcmp(owned + offset, mine, bytes) == 0);
            CHECK(mine[bytes] == 0x77);
        }
    free(mine);
}

TEST(sizes)
{
    static const size_t sizes[] = {0,        1,   7,        8,        9,
                                   223,      225, 4096,     64 * KIB, MIB - 33,
                                   MIB - 32, MIB, 65 * KIB, 5 * MIB,  10 * MIB};
    cluster = cluster_create(1, NUM, 0);
    /* A sanitizer looks at each byte: the longest are left out. */
    for (size_t i = 0; i < NUM_OF(sizes) - test_rounds(0, 2); i++) {
        unsigned char *owned = cluster_memory_alloc(cluster, 1, sizes[i] + 32);
        cohort_memory_handle handle = share(1, owned, sizes[i] + 32);
        check_size(&handle, owned, sizes[i]);
        cluster_memory_free(cluster, 1, owned);
    }
    cluster_destroy(cluster);
}

/* What is short is done in the call where memory is shared, without a message. */
TEST(on_the_spot)
{
    cluster = cluster_create(2, NUM, 0);
    unsigned char *owned = cluster_memory_alloc(cluster, 1, 2 * MIB), *mine = make(64 * KIB + 1);
    cohort_memory_handle handle = share(1, owned, 2 * MIB);
    const uint64_t sent = cluster_num_sent(cluster);
    for (uint32_t from = 0; from < NUM; from++)
        for (int kind = 0; kind < 3; kind++) {
            const bool is_here = from == 1 || cluster_is_shared();
            cohort_future *future = kind == 0   ? get(from, &handle, 3, mine, 64 * KIB)
                                    : kind == 1 ? put(from, &handle, 3, mine, 64 * KIB)
                                                : add(from, &handle, 8, 1, NULL);
            CHECK(!is_here || cohort_future_ready(future));
            CHECK_OK(cohort_await(future));
        }
    cohort_future *future = get(0, &handle, 0, mine, 64 * KIB + 1);
    CHECK(cluster_num_workers() > 1 || !cohort_future_ready(future));
    CHECK_OK(cohort_await(future));
    CHECK((cluster_num_sent(cluster) == sent) == cluster_is_shared());
    cluster_memory_free(cluster, 1, owned);
    cluster_destroy(cluster);
    free(mine);
}

static void expect(cohort_future *future, cohort_status status, const char *text)
{
    CHECK_FAILS(cohort_await(future), status, text);
}

TEST(wrong)
{
    unsigned char local[64] = {0};
    cohort_memory_handle handle = {0}, other;
    uint64_t before = 77;
    cluster = cluster_create(3, NUM, 0);
    unsigned char *owned = cluster_memory_alloc(cluster, 1, 4096);
    memset(owned, 0, 4096);
    struct cohort__process *owner = cluster_process(cluster, 1);
    CHECK_FAILS(cohort__memory_share_for(owner, &handle, local, 1), COHORT_ERR_BAD_PARAMETER,
                "is not 1 bytes of a block");
    CHECK_INT(cohort__memory_share_for(owner, &handle, owned, 4097), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort__memory_share_for(cluster_process(cluster, 0), &handle, owned, 1),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT((long long)handle.bytes, 0);
    expect(get(0, &handle, 0, local, 0), COHORT_ERR_BAD_PARAMETER, "is none that");
    expect(get(0, NULL, 0, local, 0), COHORT_ERR_BAD_PARAMETER, "handle is NULL");
    expect(cohort__memory_get_from(NULL, &handle, 0, local, 0), COHORT_ERR_STATE,
           "cohort_memory_get");
    handle = share(1, owned + 4, 100);
    for (size_t i = 0; i < sizeof(handle); i++) { /* each byte counts */
        other = handle;
        ((unsigned char *)&other)[i] ^= (unsigned char)(1 << i % 8);
        expect(put(0, &other, 0, local, 1), COHORT_ERR_BAD_PARAMETER, "is none that");
    }
    for (uint32_t from = 0; from < 2; from++) {
        expect(get(from, &handle, 99, local, 2), COHORT_ERR_BAD_PARAMETER,
               "cohort_memory_get: 2 bytes at 99 of 100 bytes of locality 1: it has no such bytes");
        expect(put(from, &handle, 101, local, 0), COHORT_ERR_BAD_PARAMETER,
               "cohort_memory_put: 0 bytes at 101 of 100");
        expect(put(from, &handle, 2, local, SIZE_MAX), COHORT_ERR_BAD_PARAMETER, "no such bytes");
        expect(add(from, &handle, 93, 1, &before), COHORT_ERR_BAD_PARAMETER, "8 bytes at 93");
        expect(add(from, &handle, 0, 1, &before), COHORT_ERR_BAD_PARAMETER, "no multiple of 8");
        expect(get(from, &handle, 0, NULL, 1), COHORT_ERR_BAD_PARAMETER, "NULL");
        CHECK_OK(cohort_await(get(from, &handle, 100, NULL, 0)));
        CHECK_OK(cohort_await(add(from, &handle, 4, 1, NULL)));
    }
    CHECK_INT((long long)before, 77);
    CHECK_INT(owned[8], 2);
    cluster_memory_free(cluster, 1, owned);
    cluster_destroy(cluster);
}

/* A handle does not name the next block at the same place. */
TEST(given_back)
{
    unsigned char mine[8] = "owned";
    unsigned char *large = make(MIB);
    cluster = cluster_create(4, NUM, 0);
    unsigned char *owned = cluster_memory_alloc(cluster, 1, MIB);
    cohort_memory_handle handle = share(1, owned, MIB);
    CHECK_OK(cohort_await(put(0, &handle, 0, mine, 8)));
    cluster_memory_free(cluster, 1, owned);
    for (int round = 0; round < 2; round++) {
        for (uint32_t from = 0; from < NUM; from++) {
            expect(get(from, &handle, 0, mine, 8), COHORT_ERR_GONE, "the memory was given back");
            expect(put(from, &handle, 0, mine, 0), COHORT_ERR_GONE, "locality 1");
            expect(put(from, &handle, 0, large, MIB), COHORT_ERR_GONE, "the memory was given back");
            expect(add(from, &handle, 0, 1, NULL), COHORT_ERR_GONE, "cohort_memory_add");
        }
        owned = round ? owned : cluster_memory_alloc(cluster, 1, MIB);
        owned[0] = 0;
        cohort_memory_handle next = share(1, owned, MIB);
        CHECK_OK(cohort_await(get(0, &next, 0, mine, 8)));
    }
    CHECK_TEXT((const char *)mine, ""); /* of the new block */
    cluster_memory_free(cluster, 1, owned);
    cluster_destroy(cluster);
    free(large);
}

/* Adds of all localities at the same time: each number before is there once. */
/* Another locality knows that the owner has ended, and has given its memory back, which this one
 * does not know yet: it is no block that was given back, so the owner is asked. Here that one is
 * there all the same. */
TEST(gone)
{
    unsigned char mine[8];
    uint32_t slot;
    if (!cluster_is_shared())
        return;
    cluster = cluster_create(7, NUM, 0);
    unsigned char *owned = cluster_memory_alloc(cluster, 1, MIB);
    memset(owned, 7, MIB);
    cohort_memory_handle handle = share(1, owned, MIB);
    CHECK_OK(cohort_await(get(0, &handle, 0, mine, 8)));
    CHECK(cohort__boards_slot_of(cluster_process(cluster, 0), 1, &slot));
    cohort__boards_peer_died(cluster_process(cluster, 2), 1);
    CHECK(cohort__boards_is_gone(cluster_process(cluster, 0), slot));
    CHECK_OK(cohort_await(put(0, &handle, 0, "another", 8)));
    CHECK_OK(cohort_await(get(0, &handle, 0, mine, 8)));
    CHECK_TEXT((const char *)mine, "another");
    cluster_memory_free(cluster, 1, owned);
    cluster_abandon(cluster);
}

TEST(adds)
{
    enum { EACH = 200 };
    static uint64_t before[NUM * EACH];
    static cohort_future *futures[NUM * EACH];
    bool is_seen[NUM * EACH] = {false};
    cluster = cluster_create(5, NUM, 0);
    uint64_t *owned = cluster_memory_alloc(cluster, 2, WORD);
    *owned = UINT64_MAX - 2;
    cohort_memory_handle handle = share(2, owned, WORD);
    for (uint32_t i = 0; i < NUM * EACH; i++)
        futures[i] = add(i % NUM, &handle, 0, 3, &before[i]);
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM * EACH)));
    for (uint32_t i = 0; i < NUM * EACH; i++) {
        const uint64_t nth = (before[i] + 3) / 3;
        CHECK(nth < NUM * EACH && (before[i] + 3) % 3 == 0 && !is_seen[nth]);
        is_seen[nth] = true;
    }
    CHECK_INT((long long)*owned, 3LL * NUM * EACH - 3);
    cluster_memory_free(cluster, 2, owned);
    cluster_destroy(cluster);
}

/* Random operations, one after the other on the same bytes, and beside others elsewhere. */
enum { LANES = 4, LANE = 200 * KIB, STEPS = 60 };

struct lane {
    uint32_t seed;
    uint32_t number;
    const cohort_memory_handle *handles; /* of each locality */
};

static void check_step(struct cohort__random *random, const struct lane *lane, uint32_t owner,
                       unsigned char *oracle, unsigned char *mine)
{
    const cohort_memory_handle *handle = &lane->handles[owner];
    const uint32_t from = (uint32_t)cohort__random_below(random, NUM);
    const size_t most = cohort__random_below(random, 4) ? 300 : LANE;
    const size_t bytes = (size_t)cohort__random_below(random, most + 1);
    const size_t offset = (size_t)cohort__random_below(random, LANE - bytes + 1);
    const size_t at = offset / WORD * WORD < LANE - WORD ? offset / WORD * WORD : LANE - WORD;
    const size_t base = lane->number * (size_t)LANE;
    uint64_t value = cohort__random_next(random), before = 0, word;
    switch (cohort__random_below(random, 3)) {
    case 0:
        CHECK_OK(cohort_await(get(from, handle, base + offset, mine, bytes)));
        CHECK(memcmp(mine, oracle + offset, bytes) == 0);
        break;
    case 1:
        fill(mine, bytes, value);
        memcpy(oracle + offset, mine, bytes);
        CHECK_OK(cohort_await(put(from, handle, base + offset, mine, bytes)));
        break;
    default:
        memcpy(&word, oracle + at, WORD);
        CHECK_OK(cohort_await(add(from, handle, base + at, value, &before)));
        CHECK(before == word);
        word += value;
        memcpy(oracle + at, &word, WORD);
    }
}

static cohort_status run_lane(void *arg)
{
    const struct lane *lane = arg;
    unsigned char *oracles[NUM], *mine = make(LANE);
    struct cohort__random random = cohort__random_seeded(lane->seed);
    for (uint32_t owner = 0; owner < NUM; owner++) {
        oracles[owner] = make(LANE);
        memset(oracles[owner], 0, LANE);
    }
    for (int i = 0; i < STEPS; i++) {
        const uint32_t owner = (uint32_t)cohort__random_below(&random, NUM);
        check_step(&random, lane, owner, oracles[owner], mine);
    }
    for (uint32_t owner = 0; owner < NUM; owner++) {
        CHECK_OK(cohort_await(get((owner + 1) % NUM, &lane->handles[owner],
                                  lane->number * (size_t)LANE, mine, LANE)));
        CHECK(memcmp(mine, oracles[owner], LANE) == 0);
        free(oracles[owner]);
    }
    free(mine);
    return COHORT_OK;
}

TEST(random)
{
    for (uint32_t seed = 1; seed <= 5; seed++) {
        fprintf(stderr, "seed %u\n", seed);
        cohort_memory_handle handles[NUM];
        unsigned char *owned[NUM];
        struct lane lanes[LANES];
        cohort_future *futures[LANES];
        cluster = cluster_create(seed, NUM, 0);
        for (uint32_t i = 0; i < NUM; i++) {
            owned[i] = cluster_memory_alloc(cluster, i, (size_t)LANES * LANE);
            memset(owned[i], 0, (size_t)LANES * LANE);
            handles[i] = share(i, owned[i], (size_t)LANES * LANE);
        }
        for (uint32_t i = 0; i < LANES; i++) {
            lanes[i] = (struct lane){seed * LANES + i, i, handles};
            futures[i] = cohort_async(run_lane, &lanes[i]);
        }
        CHECK_OK(cohort_await(cohort_when_all(futures, LANES)));
        for (uint32_t i = 0; i < NUM; i++)
            cluster_memory_free(cluster, i, owned[i]);
        cluster_destroy(cluster);
    }
}

/* In a scope: nothing begins once it is cancelled, and its await waits for what has. */
struct scoped {
    cohort_scope *scope;
    cohort_memory_handle handle;
    unsigned char *mine;
    int num_yields;
};

static cohort_status put_in_scope(void *arg)
{
    struct scoped *scoped = arg;
    cohort_future *future = put(0, &scoped->handle, 0, scoped->mine, 20 * MIB);
    for (int i = 0; i < scoped->num_yields; i++)
        cohort_yield();
    cohort_scope_cancel(scoped->scope);
    cohort_status status = cohort_await(future);
    CHECK(status == COHORT_ERR_CANCELLED || (status == COHORT_OK && scoped->num_yields > 0));
    if (cluster_is_shared() && cluster_num_workers() == 1 &&
        scoped->num_yields == 13) /* between two of 21 pieces */
        CHECK_INT(status, COHORT_ERR_CANCELLED);
    expect(put(0, &scoped->handle, 20 * MIB, "x", 1), COHORT_ERR_CANCELLED, "");
    expect(add(0, &scoped->handle, 20 * MIB, 1, NULL), COHORT_ERR_CANCELLED, "");
    return COHORT_OK;
}

TEST(scope)
{
    struct scoped scoped = {.mine = make(20 * MIB)};
    fill(scoped.mine, 20 * MIB, 3);
    cluster = cluster_create(6, NUM, 0);
    unsigned char *owned = cluster_memory_alloc(cluster, 1, 21 * MIB);
    memset(owned, 0, 21 * MIB);
    scoped.handle = share(1, owned, 21 * MIB);
    for (; scoped.num_yields < 200; scoped.num_yields = scoped.num_yields * 3 + 1) {
        scoped.scope = new_scope();
        CHECK_OK(cohort_scope_async(scoped.scope, put_in_scope, &scoped));
        CHECK_INT(cohort_scope_await(scoped.scope), COHORT_ERR_CANCELLED);
        memset(scoped.mine, 0, 20 * MIB); /* nobody reads it any more */
        CHECK(owned[20 * MIB] == 0);
    }
    cluster_memory_free(cluster, 1, owned);
    cluster_destroy(cluster);
    free(scoped.mine);
}

/* The owner is dead: also where its memory is still there. */
TEST(death)
{
    unsigned char mine[8] = {0}, *large = make(3 * MIB);
    cluster = cluster_create(7, NUM, 0);
    unsigned char *owned = cluster_memory_alloc(cluster, 1, 3 * MIB);
    cohort_memory_handle handle = share(1, owned, 3 * MIB);
    CHECK_OK(cohort_await(get(0, &handle, 0, mine, 8)));
    cohort_future *future = put(2, &handle, 0, large, 3 * MIB);
    cluster_tell_death(cluster, 0, 1, 1, "has gone");
    cluster_tell_death(cluster, 2, 1, 1, "has gone");
    expect(get(0, &handle, 0, mine, 8), COHORT_ERR_PEER_DIED, "locality 1");
    CHECK_CONTAINS(cohort_error_message(), "has gone");
    CHECK_CONTAINS(cohort_error_message(), "cohort_memory_get");
    expect(put(0, &handle, 0, large, 3 * MIB), COHORT_ERR_PEER_DIED, "locality 1");
    expect(add(0, &handle, 0, 1, NULL), COHORT_ERR_PEER_DIED, "cohort_memory_add");
    cohort_status status = cohort_await(future);
    CHECK(status == COHORT_ERR_PEER_DIED || (cluster_num_workers() > 1 && status == COHORT_OK));
    cluster_tell_death(cluster, 1, 0, 1, "is out of reach");
    cluster_tell_death(cluster, 1, 2, 2, "is out of reach");
    cluster_memory_free(cluster, 1, owned);
    cluster_abandon(cluster);
    free(large);
}
