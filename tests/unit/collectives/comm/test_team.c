/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/team.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/comm/inbox.h"
#include "runtime/proc/memory.h"
#include "runtime/base/random.h"
#include "tests/support/test.h"
#include "tests/unit/collectives/comm/new_membership.h"
#include "tests/unit/runtime/proc/localities.h"

/* Localities of one host within this process, and the team of each of them. */
enum { NUM = 3, NUM_SITES = 7, ANYTHING = 99 };

static const uint32_t locality_of[NUM_SITES] = {0, 2, 1, 1, 0, 1, 2};
static const uint32_t first_site[NUM] = {0, 2, 1};
static const uint32_t num_sites[NUM] = {2, 3, 2};

static struct localities localities;
static struct cohort__group *groups[NUM];
static struct cohort__team *teams[NUM];
enum { NUMBER = 3 };
static uint32_t lent = NUMBER; /* by the home of names */

static void group_open(uint32_t rank)
{
    struct cohort__inbox *inbox;
    struct cohort__membership *membership = new_membership(NUM_SITES, locality_of);
    membership->number = lent;
    CHECK_OK(cohort__inbox_get(localities.processes[rank], &inbox));
    CHECK_OK(cohort__inbox_group(inbox, "assembled", membership, &groups[rank]));
    CHECK_INT(groups[rank]->has_board, lent != COHORT__NO_NUMBER);
    if (groups[rank]->has_board)
        CHECK_OK(cohort__team_create(&teams[rank], groups[rank]));
}

static void open_all(void)
{
    localities_open_shared(&localities, NUM + 1, 1, NUM);
    for (uint32_t rank = 0; rank < NUM; rank++)
        group_open(rank);
}

static void close_all(void)
{
    for (uint32_t rank = 0; rank < NUM; rank++)
        cohort__team_destroy(teams[rank]);
    localities_close(&localities);
}

#define TEST_OPEN(name) TEST_BETWEEN(name, open_all(), close_all())

static uint32_t num_waiting(void)
{
    struct cohort__board memory;
    CHECK_OK(cohort__boards_open(localities.processes[0], NUMBER, &memory));
    uint32_t num = atomic_load(&cohort__board_head(&memory)->num_waiting);
    cohort__boards_close(&memory);
    return num;
}

static struct cohort__round attend(uint64_t generation, uint64_t fingerprint, size_t bytes)
{
    return (struct cohort__round){.number = generation,
                                  .fingerprint = fingerprint,
                                  .bytes = bytes,
                                  .least_passed = UINT64_MAX};
}

static unsigned char content(uint64_t generation, uint32_t site, size_t at)
{
    return (unsigned char)(generation * 31 + site * 7 + at + 1);
}

/* Posts what all sites of RANK bring. False if there is no place. */
static bool post(uint32_t rank, struct cohort__round *round)
{
    unsigned char *to = cohort__team_place(teams[rank], round, num_sites[rank] * round->bytes);
    for (uint32_t site = 0; to && site < NUM_SITES; site++)
        for (size_t at = 0; locality_of[site] == rank && at < round->bytes; at++)
            *to++ = content(round->number, site, at);
    if (to)
        cohort__team_post(teams[rank], round);
    return to;
}

/* Looks at the round and checks that nothing is wrong. */
static enum cohort__round_state look(uint32_t rank, struct cohort__round *round)
{
    uint32_t site = ANYTHING;
    enum cohort__round_state state = cohort__team_look(teams[rank], round, &site);
    CHECK(state != COHORT__ROUND_DIFFERENT);
    CHECK_INT(site, ANYTHING);
    return state;
}

/* Looks at the round and checks that the locality of SITE has posted for another call. */
static void look_different(uint32_t rank, struct cohort__round *round, uint32_t site)
{
    uint32_t got_site = ANYTHING;
    CHECK_INT(cohort__team_look(teams[rank], round, &got_site), COHORT__ROUND_DIFFERENT);
    CHECK_INT(got_site, site);
}

static const unsigned char *input(uint32_t rank, struct cohort__round *round, uint32_t site,
                                  struct cohort__error *ret_error)
{
    bool is_lent = true;
    const unsigned char *in =
        cohort__team_input(teams[rank], round, site, round->bytes, &is_lent, ret_error);
    CHECK(!is_lent);
    return in;
}

static void check_inputs(uint32_t rank, struct cohort__round *round)
{
    for (uint32_t site = 0; site < NUM_SITES; site++) {
        const unsigned char *in = input(rank, round, site, NULL);
        for (size_t at = 0; at < round->bytes; at++)
            CHECK_INT(in[at], content(round->number, site, at));
    }
}

/* All localities meet in one generation. */
static void meet(uint64_t generation, size_t bytes)
{
    struct cohort__round all[NUM];
    for (uint32_t rank = 0; rank < NUM; rank++) {
        all[rank] = attend(generation, 5, bytes);
        CHECK(post(rank, &all[rank]));
        CHECK_INT(look(rank, &all[rank]),
                  rank < NUM - 1 ? COHORT__ROUND_PARTIAL : COHORT__ROUND_FULL);
    }
    for (uint32_t rank = 0; rank < NUM; rank++) {
        CHECK_INT(look(rank, &all[rank]), COHORT__ROUND_FULL);
        check_inputs(rank, &all[rank]);
        cohort__team_pass(teams[rank], generation);
    }
}

TEST_OPEN(meet)
{
    size_t share = cohort__team_share(groups[0]);
    CHECK_INT((long long)share, COHORT__BOARD_POST / 3);
    const size_t sizes[] = {0, 1, 8, 10, 11, 16, 17, 1000, share};
    uint64_t generation = 1;
    for (int round = 0; round < 10; round++)
        for (size_t i = 0; i < NUM_OF(sizes); i++)
            meet(generation += 1 + (uint64_t)round % 3, sizes[i]);
    CHECK_INT(num_waiting(), 0);
}

/* The memory of an arena is given back once all have passed what is there, and used again. */
TEST_OPEN(free_arena)
{
    size_t share = cohort__team_share(groups[0]);
    struct cohort__board memory;
    uint32_t slot;
    CHECK_OK(cohort__boards_open(localities.processes[1], NUMBER, &memory));
    CHECK(cohort__boards_slot_of(localities.processes[0], 0, &slot));
    const unsigned char *middle = cohort__board_arena(&memory, slot) + share;
    for (uint64_t generation = 1; generation < 5; generation++) {
        struct cohort__round all[NUM];
        for (uint32_t rank = 0; rank < NUM; rank++) {
            all[rank] = attend(generation, 5, share);
            CHECK(post(rank, &all[rank]));
        }
        for (uint32_t rank = 0; rank < NUM; rank++) {
            CHECK(!cohort__team_free_arena(teams[0], 2 * share));
            CHECK_INT(look(rank, &all[rank]), COHORT__ROUND_FULL);
            check_inputs(rank, &all[rank]);
            cohort__team_pass(teams[rank], generation);
        }
        CHECK(*middle != 0);
        CHECK(cohort__team_free_arena(teams[0], 2 * share));
        CHECK_INT(*middle, 0);
        CHECK(cohort__team_free_arena(teams[0], 2 * share));
    }
    CHECK_INT(num_waiting(), 0);
    cohort__boards_close(&memory);
}

TEST_OPEN(has_posted)
{
    struct cohort__round a = attend(4, 5, 8), b = attend(4, 5, 8);
    CHECK(post(0, &a) && a.is_posted);
    for (uint32_t site = 0; site < NUM_SITES; site++)
        if (locality_of[site] != 1)
            CHECK_INT(cohort__team_has_come(teams[1], &b, site), locality_of[site] == 0);
    b.number = 4 + COHORT__BOARD_DEPTH;
    CHECK(!cohort__team_has_come(teams[1], &b, 0));
}

/* Another call, or another length. A locality that has posted for another call has not come. */
TEST(mismatch)
{
    for (int other_length = 0; other_length < 2; other_length++) {
        open_all();
        struct cohort__round b = attend(1, 5, 8), a = b;
        struct cohort__round c = attend(1, other_length ? 5 : 6, other_length ? 16 : 8);
        CHECK(post(2, &c));
        CHECK_INT(look(2, &c), COHORT__ROUND_PARTIAL);
        CHECK(post(1, &b));
        CHECK_INT(look(1, &b), COHORT__ROUND_PARTIAL); /* locality 0 posts first */
        CHECK_INT(look(2, &c), COHORT__ROUND_PARTIAL);
        CHECK(!cohort__team_has_come(teams[1], &b, first_site[2]));
        b.is_overdue = true;
        look_different(1, &b, first_site[2]);
        c.is_overdue = true;
        look_different(2, &c, first_site[1]);
        CHECK_INT(look(1, &b), COHORT__ROUND_PARTIAL); /* reported only once */
        CHECK(post(0, &a));
        look_different(0, &a, first_site[2]);
        close_all();
    }
}

/* A post whose offset can't be right is an error, which names the locality. */
TEST_OPEN(nonsense)
{
    struct cohort__board memory;
    struct cohort__round all[NUM];
    struct cohort__error error = {0};
    CHECK_OK(cohort__boards_open(localities.processes[0], NUMBER, &memory));
    for (uint32_t rank = 0; rank < NUM; rank++) {
        all[rank] = attend(cohort__board_number(7, 3), 5, 1000);
        CHECK(post(rank, &all[rank]));
    }
    CHECK_INT(look(0, &all[0]), COHORT__ROUND_FULL);
    uint32_t slot;
    CHECK(cohort__boards_slot_of(localities.processes[0], 1, &slot));
    cohort__board_post(&memory, slot, cohort__board_number(7, 3))->offset =
        COHORT__BOARD_ARENA - 1024;
    CHECK(input(0, &all[0], 1, &error));
    CHECK(!input(0, &all[0], 2, &error));
    CHECK_INT(error.status, COHORT_ERR_PROTOCOL);
    CHECK_CONTAINS(cohort__error_message(&error), "locality 1 (site 2)");
    CHECK_CONTAINS(cohort__error_message(&error), "generation 7");
    cohort__error_fini(&error);
    cohort__boards_close(&memory);
}

/* Pieces ------------------------------------------------------------------------------------- */

/* Site 3, of locality 1, is the only source. */
static struct cohort__round attend_source(uint64_t generation, size_t bytes)
{
    struct cohort__round round = attend(generation, 5, bytes);
    round.has_source = true;
    round.source = 3;
    return round;
}

/* What locality 0 sees of ROUND: up to the first piece that is missing. */
static void check_readable(struct cohort__round *round, enum cohort__round_state state,
                           size_t bytes)
{
    CHECK_INT(look(0, round), state);
    CHECK_INT(cohort__round_end(round, round->num_readable), bytes);
    CHECK_INT(cohort__team_has_come(teams[0], round, 3), state == COHORT__ROUND_FULL);
    round->num_read = round->num_readable;
    if (state == COHORT__ROUND_READABLE)
        CHECK_INT(look(0, round), COHORT__ROUND_PARTIAL);
}

/* NUM_PIECES pieces, the last of which has LAST bytes. Those of an earlier post in the same place
 * say nothing. */
static void read_in_pieces(uint64_t generation, size_t piece, size_t num_pieces, size_t last)
{
    size_t bytes = (num_pieces - 1) * piece + last;
    struct cohort__round own = attend_source(generation, bytes);
    struct cohort__round round = attend_source(generation, bytes);
    CHECK_INT(cohort__round_piece(&own), piece);
    CHECK(cohort__team_place(teams[1], &own, bytes * num_sites[1]));
    check_readable(&round, COHORT__ROUND_PARTIAL, 0);
    cohort__team_begin_post(teams[1], &own);
    check_readable(&round, COHORT__ROUND_PARTIAL, 0);
    cohort__team_mark(teams[1], &own, (num_pieces - 1) * piece, bytes);
    if (num_pieces > 2) {
        check_readable(&round, COHORT__ROUND_PARTIAL, 0);
        cohort__team_mark(teams[1], &own, 0, piece);
        check_readable(&round, COHORT__ROUND_READABLE, piece);
        cohort__team_mark(teams[1], &own, piece, (num_pieces - 1) * piece);
    } else {
        cohort__team_mark(teams[1], &own, 0, piece);
    }
    check_readable(&round, COHORT__ROUND_FULL, bytes);
    localities_sleep(&localities, 0);
    cohort__team_post(teams[1], &own);
    CHECK_INT(look(1, &own), COHORT__ROUND_FULL);
    CHECK(localities_was_woken(&localities, 0));
    for (uint32_t rank = 0; rank < NUM; rank++)
        cohort__team_pass(teams[rank], generation);
}

/* Who sleeps is woken when all is there. */
TEST(pieces)
{
    enum { PIECE = COHORT__BOARD_PIECE, MOST = COHORT__BOARD_PIECES };
    static const size_t nums[] = {2, 3, 5, MOST - 1, MOST};
    CHECK_INT(cohort__board_piece(2 * PIECE - 1), 0);
    CHECK_INT(cohort__board_piece(MOST * PIECE + 1), 2 * PIECE);
    open_all();
    uint64_t generation = 1;
    for (size_t i = 0; i < NUM_OF(nums); i++)
        for (size_t last = nums[i] > 2 ? 1 : PIECE; last <= PIECE; last += PIECE - 1) {
            read_in_pieces(generation, PIECE, nums[i], last);
            generation += COHORT__BOARD_DEPTH; /* the same place again */
        }
    close_all();
}

/* Shares ------------------------------------------------------------------------------------- */

static enum cohort__round_state look_shares(uint32_t rank, struct cohort__round *all)
{
    return cohort__team_look_shares(teams[rank], &all[rank]);
}

/* All localities have posted. Each one overwrites part of its data with its share. The others read
 * it when the share is there. */
TEST_OPEN(shares)
{
    struct cohort__round all[NUM];
    const uint32_t first_sites[NUM] = {0, 1, 2}, numbers[NUM] = {0, 2, 1};
    for (uint64_t generation = 1; generation < 20; generation++) {
        for (uint32_t rank = 0; rank < NUM; rank++) {
            all[rank] = attend(generation, 5, 1000);
            CHECK(post(rank, &all[rank]));
        }
        for (uint32_t rank = 0; rank < NUM; rank++)
            CHECK_INT(look(rank, &all[rank]), COHORT__ROUND_FULL);
        for (uint32_t rank = 0; rank < NUM; rank++) {
            for (uint32_t site = 0; site < NUM_SITES; site++)
                if (locality_of[site] == rank)
                    CHECK(!cohort__team_has_share(teams[(rank + 1) % NUM], &all[(rank + 1) % NUM],
                                                  site));
            memset(cohort__team_own(teams[rank], &all[rank]), (int)rank + 1, 1000);
            cohort__team_post_share(teams[rank], &all[rank]);
            CHECK_INT(look_shares(rank, all),
                      rank < NUM - 1 ? COHORT__ROUND_PARTIAL : COHORT__ROUND_FULL);
        }
        for (uint32_t rank = 0; rank < NUM; rank++) {
            CHECK_INT(look_shares(rank, all), COHORT__ROUND_FULL);
            CHECK_INT(cohort__team_own_number(teams[rank]), numbers[rank]);
            for (uint32_t number = 0; number < NUM; number++) {
                const unsigned char *share = cohort__team_at(teams[rank], &all[rank], number);
                CHECK_INT(share[999], locality_of[first_sites[number]] + 1);
            }
            cohort__team_pass(teams[rank], generation);
        }
    }
}

/* Sleeping and waking ------------------------------------------------------------------------ */

/* Only the last locality to post wakes the others. */
TEST_OPEN(wake_when_full)
{
    struct cohort__round all[NUM];
    for (uint32_t rank = 0; rank < NUM; rank++)
        all[rank] = attend(1, 5, 8);
    localities_sleep(&localities, 0);
    CHECK(post(1, &all[1]));
    CHECK_INT(look(1, &all[1]), COHORT__ROUND_PARTIAL);
    CHECK(!localities_was_woken(&localities, 0));
    CHECK(post(0, &all[0]));
    CHECK_INT(look(0, &all[0]), COHORT__ROUND_PARTIAL);
    localities_sleep(&localities, 0);
    localities_sleep(&localities, 1);
    CHECK(post(2, &all[2]));
    CHECK_INT(look(2, &all[2]), COHORT__ROUND_FULL);
    CHECK(localities_was_woken(&localities, 0));
    CHECK(localities_was_woken(&localities, 1));
}

/* A place is used again when all localities have passed it. The localities that pass it wake the
 * one that waits for it. That one counts as waiting only as long as it waits. */
TEST_OPEN(places)
{
    struct cohort__round own[COHORT__BOARD_DEPTH + 1];
    for (uint64_t i = 0; i <= COHORT__BOARD_DEPTH; i++) {
        own[i] = attend(i + 1, 5, 100);
        CHECK_INT(post(0, &own[i]), i < COHORT__BOARD_DEPTH);
    }
    CHECK_INT(num_waiting(), 1);
    CHECK(!post(0, &own[COHORT__BOARD_DEPTH]));
    CHECK_INT(num_waiting(), 1);
    for (uint32_t rank = 1; rank < NUM; rank++) {
        struct cohort__round round = attend(1, 5, 100);
        CHECK(post(rank, &round));
    }
    CHECK_INT(look(0, &own[0]), COHORT__ROUND_FULL);
    cohort__team_pass(teams[0], 1);
    CHECK(!post(0, &own[COHORT__BOARD_DEPTH]));
    check_inputs(1, &own[0]);
    for (uint32_t rank = 1; rank < NUM; rank++) {
        CHECK(!post(0, &own[COHORT__BOARD_DEPTH]));
        localities_sleep(&localities, 0);
        cohort__team_pass(teams[rank], 1);
        CHECK(localities_was_woken(&localities, 0));
    }
    CHECK_INT(num_waiting(), 1);
    CHECK(post(0, &own[COHORT__BOARD_DEPTH]));
    CHECK_INT(num_waiting(), 0);
    localities_sleep(&localities, 0);
    cohort__team_pass(teams[1], 2);
    CHECK(!localities_was_woken(&localities, 0));
}

/* The same if the news that all have passed arrives with their next posts. */
TEST_OPEN(waiting_no_more)
{
    struct cohort__round own[COHORT__BOARD_DEPTH + 1];
    for (uint64_t i = 0; i <= COHORT__BOARD_DEPTH; i++) {
        own[i] = attend(i + 1, 5, 100);
        CHECK_INT(post(0, &own[i]), i < COHORT__BOARD_DEPTH);
    }
    for (uint64_t generation = 1; generation <= 2; generation++) {
        for (uint32_t rank = 1; rank < NUM; rank++) {
            struct cohort__round round = attend(generation, 5, 100);
            CHECK(post(rank, &round));
            cohort__team_pass(teams[rank], generation);
        }
        CHECK_INT(look(0, &own[generation - 1]), COHORT__ROUND_FULL);
        cohort__team_pass(teams[0], generation);
    }
    CHECK_INT(num_waiting(), 1);
    CHECK(post(0, &own[COHORT__BOARD_DEPTH]));
    CHECK_INT(num_waiting(), 0);
}

/* Who waits until others have read two posts is woken until both are read. */
TEST_OPEN(returned)
{
    const bool none[NUM] = {false};
    struct cohort__round first = attend(1, 5, 100), second = attend(2, 5, 100);
    CHECK(post(0, &first));
    CHECK(post(0, &second));
    CHECK(!cohort__team_is_returned(teams[0], &first, none));
    CHECK(!cohort__team_is_returned(teams[0], &second, none));
    CHECK(!cohort__team_is_returned(teams[0], &first, none));
    CHECK_INT(num_waiting(), 1);
    for (uint32_t rank = 0; rank < NUM; rank++) {
        CHECK(!cohort__team_is_returned(teams[0], &first, none) || rank > 1);
        cohort__team_pass(teams[rank], 1);
    }
    CHECK(cohort__team_is_returned(teams[0], &first, none));
    CHECK_INT(num_waiting(), 1);
    CHECK(!cohort__team_is_returned(teams[0], &second, none));
    for (uint32_t rank = 0; rank < NUM; rank++)
        cohort__team_pass(teams[rank], 2);
    CHECK(cohort__team_is_returned(teams[0], &second, none));
    CHECK_INT(num_waiting(), 0);
    /* What all have passed is not withdrawn: the place is another post's by then. */
    struct cohort__round later = attend(1 + COHORT__BOARD_DEPTH, 5, 100);
    struct cohort__board memory;
    uint32_t slot;
    CHECK(post(0, &later));
    cohort__team_withdraw(teams[0], &first);
    CHECK_OK(cohort__boards_open(localities.processes[0], NUMBER, &memory));
    CHECK(cohort__boards_slot_of(localities.processes[0], 0, &slot));
    CHECK_INT(cohort__board_post(&memory, slot, 1 + COHORT__BOARD_DEPTH)->share,
              COHORT__BOARD_SHARE_NONE);
    cohort__boards_close(&memory);
}

static uint32_t slot_of(uint32_t rank)
{
    uint32_t slot;
    CHECK(cohort__boards_slot_of(localities.processes[0], rank, &slot));
    return slot;
}

/* A post that lends, and is withdrawn then. Where its table can't be, it is nonsense. */
TEST_OPEN(lent)
{
    struct cohort__board memory;
    struct cohort__error error = {0};
    struct cohort__round all[NUM];
    bool is_lent;
    void *block[NUM] = {0};
    const size_t bytes = COHORT__BOARD_LENT, table_bytes = 2 * COHORT__BOARD_LINE;
    CHECK_OK(cohort__boards_open(localities.processes[0], NUMBER, &memory));
    for (uint32_t rank = 0; rank < NUM; rank++) {
        all[rank] = attend(1, 5, bytes);
        if (rank != 1) {
            CHECK(post(rank, &all[rank]));
            continue;
        }
        CHECK_OK(cohort__memory_alloc_for(localities.processes[1], &block[1], 2 * bytes));
        ((unsigned char *)block[1])[7] = 77;
        uint64_t *table = (uint64_t *)(void *)cohort__team_place(teams[1], &all[1], table_bytes);
        for (uint32_t i = 0; i < num_sites[1]; i++)
            CHECK(
                cohort__team_can_lend(teams[1], (unsigned char *)block[1] + i * bytes, &table[i]));
        CHECK(!cohort__team_can_lend(teams[0], block[1], &table[num_sites[1]]));
        all[1].lent = all[1].offset + 1;
        cohort__team_post(teams[1], &all[1]);
    }
    CHECK_INT(look(0, &all[0]), COHORT__ROUND_FULL);
    const unsigned char *data = cohort__team_input(teams[0], &all[0], 2, bytes, &is_lent, &error);
    CHECK(is_lent && all[0].reads_lent);
    CHECK(data && data != block[1]);
    CHECK_INT(data[7], 77);
    CHECK(!cohort__team_input(teams[0], &all[0], 2, SIZE_MAX / 2, &is_lent, &error));
    CHECK_INT(error.status, COHORT_ERR_PROTOCOL);
    CHECK_CONTAINS(cohort__error_message(&error), "locality 1 (site 2)");
    cohort__error_fini(&error);
    CHECK(cohort__team_look_again(teams[0], &all[0]));
    CHECK(cohort__team_has_come(teams[0], &all[0], 2));
    cohort__team_withdraw(teams[1], &all[1]);
    CHECK(!cohort__team_look_again(teams[0], &all[0]));
    CHECK_INT(look(0, &all[0]), COHORT__ROUND_PARTIAL);
    CHECK(!cohort__team_has_come(teams[0], &all[0], 2));
    cohort__board_post(&memory, slot_of(1), 1)->share = COHORT__BOARD_SHARE_NONE;
    CHECK(cohort__team_look_again(teams[0], &all[0]));
    cohort__boards_peer_died(localities.processes[2], 1);
    CHECK(!cohort__team_look_again(teams[0], &all[0])); /* gone with its locality */
    error = (struct cohort__error){0};
    cohort__board_post(&memory, slot_of(1), 1)->lent = COHORT__BOARD_ARENA + 1;
    CHECK(!cohort__team_input(teams[0], &all[0], 2, bytes, &is_lent, &error));
    CHECK_INT(error.status, COHORT_ERR_PROTOCOL);
    cohort__error_fini(&error);
    cohort__memory_free_for(localities.processes[1], block[1]);
    cohort__boards_close(&memory);
}

/* Where the home had no number left, there is no board at any locality: rows by messages. */
TEST(no_number)
{
    memset((void *)teams, 0, sizeof(teams));
    lent = COHORT__NO_NUMBER;
    open_all();
    for (uint32_t rank = 0; rank < NUM; rank++)
        CHECK(!groups[rank]->has_board && !groups[rank]->has_notes);
    close_all();
    lent = NUMBER;
}

/* There is no place either if the data of earlier posts fills the arena. A post that needs nothing
 * of the arena still has a place. */
TEST_OPEN(full_arena)
{
    size_t share = cohort__team_share(groups[0]);
    struct cohort__round first = attend(1, 5, share), small = attend(2, 5, 10);
    struct cohort__round second = attend(3, 5, share);
    CHECK(post(1, &first));
    CHECK(post(1, &small));
    CHECK(!post(1, &second));
    CHECK_INT(num_waiting(), 1);
    for (uint32_t rank = 0; rank < NUM; rank++) {
        struct cohort__round round = attend(1, 5, share);
        CHECK(rank == 1 || post(rank, &round));
    }
    for (uint32_t rank = 0; rank < NUM; rank++) {
        CHECK(!post(1, &second));
        check_inputs(rank, &first);
        cohort__team_pass(teams[rank], 1);
    }
    CHECK(post(1, &second));
    CHECK_INT(num_waiting(), 0);
}

/* In any order, with several generations under way at the same time. */
TEST(random)
{
    struct cohort__round all[NUM][4];
    for (uint64_t seed = 1; seed <= NUM_SEEDS; seed++) {
        uint64_t posted[NUM] = {0}, passed[NUM] = {0};
        struct cohort__random random = cohort__random_seeded(seed);
        open_all();
        while (passed[0] < 100 || passed[1] < 100 || passed[2] < 100) {
            uint32_t rank = (uint32_t)cohort__random_below(&random, NUM);
            struct cohort__round *next = &all[rank][posted[rank] % 4];
            struct cohort__round *oldest = &all[rank][passed[rank] % 4];
            if (posted[rank] < 100 && posted[rank] - passed[rank] < 4 &&
                cohort__random_below(&random, 2)) {
                size_t share = cohort__team_share(groups[0]);
                *next = attend(posted[rank] + 1, 5, posted[rank] % 50);
                if (seed % 25 == 1 && posted[rank] % 16 == 7)
                    next->bytes = share / (posted[rank] % 3 + 1);
                posted[rank] += post(rank, next);
            } else if (posted[rank] > passed[rank] && look(rank, oldest) == COHORT__ROUND_FULL) {
                check_inputs(rank, oldest);
                cohort__team_pass(teams[rank], ++passed[rank]);
            }
        }
        CHECK_INT(num_waiting(), 0);
        close_all();
    }
}

/* The error says why there is no team, and nothing is left over. */
TEST_OPEN(create_fails)
{
    cohort__process_peer_lost(localities.processes[0], 2, "was killed");
    struct cohort__team *team = NULL;
    CHECK_INT(cohort__team_create(&team, groups[0]), COHORT_ERR_PEER_DIED);
    CHECK_CONTAINS(cohort_error_message(), "communicator \"assembled\": locality 2");
    CHECK(!team);
    cohort__team_destroy(NULL);
}
