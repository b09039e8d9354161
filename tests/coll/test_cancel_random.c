/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"

/* Generations that are taken back at random moments, by random sites or their deadlines, while
 * random sites call random collectives, split and dup, with layouts or without, and others call
 * late, or leave the generation out. Then the next one has to be right. Sites wait until their
 * endpoints are idle, and at the end give them back while calls are in flight. What completes is
 * compared with the right result, and buffers are freed as soon as the call's future is complete,
 * so that the address sanitizer sees who touches one after that. */

enum { MAX_SITES = 7, GENERATIONS = 8, LAST_CALLS = 3, TEXT = 400, HOSTS_LOCALITIES = 4 };

/* Ns. Who waits for one that has left learns of it when it asks. */
enum { STALL_AFTER = 2000000 };

enum way { CALL, SPLIT, DUP };

/* What a site does in one generation. */
struct part {
    struct game *game;
    uint32_t site;
    bool calls;   /* before the generation is taken back, more or less */
    bool is_late; /* it calls when those have ended; else it leaves the generation out */
    bool idles;   /* awaits that its endpoint is idle first */
    bool leaves;  /* in the last calls: gives its endpoint back meanwhile */
    uint64_t deadline;
    uint32_t num_cancels;
    uint32_t yields[3]; /* before the call, and before each cancel */
    cohort_status status;
    char text[TEXT];
};

struct game {
    cohort_comm *comms[MAX_SITES];
    uint32_t num_sites;
    uint64_t seed, generation;
    bool is_levels; /* on two hosts, by the row that is composed */
    enum way way;
    enum exercise_kind kind;
    enum exercise_kind last[LAST_CALLS];
    size_t count;
    struct part parts[MAX_SITES];
};

static _Noreturn void failed(const struct game *game, int line, const char *why)
{
    for (uint32_t site = 0; site < game->num_sites; site++)
        fprintf(stderr, "site %u%s%s: %d %s\n", site, game->parts[site].calls ? " calls" : "",
                game->parts[site].is_late ? " late" : "", (int)game->parts[site].status,
                game->parts[site].text);
    test_failed(__FILE__, line, "seed %llu, generation %llu, %s of %zu: %s",
                (unsigned long long)game->seed, (unsigned long long)game->generation,
                game->way == SPLIT ? "split"
                : game->way == DUP ? "dup"
                                   : exercise_name(game->kind),
                game->count, why);
}

static void wait(uint32_t yields)
{
    for (uint32_t i = 0; i < yields; i++)
        cohort_yield();
}

static cohort_status cancel(void *arg)
{
    const struct part *part = arg;
    const struct game *game = part->game;
    for (uint32_t i = 0; i < part->num_cancels; i++) {
        wait(part->yields[1 + i]);
        CHECK_OK(cohort_comm_cancel(game->comms[part->site], game->generation));
    }
    return COHORT_OK;
}

static void begin(const struct part *part, struct exercise *exercise, enum exercise_kind kind,
                  uint64_t generation)
{
    const struct game *game = part->game;
    cohort_comm *comm = game->comms[part->site];
    struct exercise_options options = exercise_draw_options(comm, generation);
    if (game->is_levels)
        options = (struct exercise_options){.algorithm = "levels",
                                            .in_place = part->yields[1] % 4 == 0,
                                            .rows = part->yields[2] % 4 == 0,
                                            .checked = generation % 3 == 0,
                                            .apart = part->yields[0] % 3 == 0};
    options.deadline = part->deadline;
    exercise_begin_with(exercise, comm, kind, game->count, generation, options);
}

static void await_idle(const struct part *part, const cohort_future *done)
{
    if (!part->idles)
        return;
    CHECK_OK(cohort_await(cohort_comm_idle(part->game->comms[part->site])));
    CHECK(cohort_future_ready(done));
}

static cohort_status run_exercise(const struct part *part)
{
    struct exercise exercise;
    begin(part, &exercise, part->game->kind, part->game->generation);
    await_idle(part, exercise.done);
    return exercise_end(&exercise);
}

/* Where one site gets its communicator all do. */
static cohort_status divide(const struct part *part)
{
    const struct game *game = part->game;
    cohort_comm *comm = game->comms[part->site], *child = NULL;
    if (part->deadline > 0)
        CHECK_OK(cohort_comm_next_call(comm, &(cohort_call_options){.deadline = part->deadline}));
    cohort_future *done =
        game->way == DUP
            ? cohort_comm_dup(&child, comm, game->generation)
            : cohort_comm_split(&child, comm, (int32_t)(part->site % 2), 0, game->generation);
    await_idle(part, done);
    cohort_status status = cohort_await(done);
    if (status)
        return status;
    CHECK_OK(cohort_await(cohort_barrier(child, 1)));
    cohort_comm_unref(child);
    return COHORT_OK;
}

static cohort_status call(void *arg)
{
    struct part *part = arg;
    wait(part->yields[0]);
    part->status = part->game->way == CALL ? run_exercise(part) : divide(part);
    snprintf(part->text, TEXT, "%s", part->status ? cohort_error_message() : "");
    return COHORT_OK;
}

/* Whether a site may complete before all others have called: alone, or since blocks are empty. */
static bool may_end_alone(enum exercise_kind kind)
{
    switch (kind) {
    case EXERCISE_ALL_GATHER:
    case EXERCISE_ALL_REDUCE:
    case EXERCISE_ALL_REDUCE_ORDERED:
    case EXERCISE_ALL_TO_ALL:
    case EXERCISE_BARRIER:
    case EXERCISE_REDUCE_SCATTER:
        return false;
    default:
        return true;
    }
}

static void draw_call(struct game *game, struct cohort__random *random)
{
    static const enum exercise_kind composed[] = {
        EXERCISE_BROADCAST,  EXERCISE_REDUCE,     EXERCISE_GATHER,  EXERCISE_SCATTER,
        EXERCISE_ALL_GATHER, EXERCISE_ALL_REDUCE, EXERCISE_BARRIER, EXERCISE_ALL_TO_ALL,
    };
    static const size_t counts[] = {1, 3, 200, 9000};
    game->kind = game->is_levels
                     ? composed[cohort__random_below(random, NUM_OF(composed))]
                     : (enum exercise_kind)cohort__random_below(random, EXERCISE_NUM_KINDS);
    game->count = counts[cohort__random_below(random, 4)];
    uint32_t way = cohort__random_below(random, 10);
    game->way = way == 0 ? SPLIT : way == 1 ? DUP : CALL;
}

static void draw(struct game *game, struct cohort__random *random)
{
    uint32_t num_missing = 0, num_cancels = 0;
    uint32_t how = cohort__random_below(random, 4);
    bool has_deadlines = cohort__random_below(random, 4) == 0;
    draw_call(game, random);
    for (uint32_t site = 0; site < game->num_sites; site++) {
        struct part *part = &game->parts[site];
        *part = (struct part){.game = game, .site = site};
        part->calls = how == 0 || cohort__random_below(random, 4) > 0;
        part->is_late = !part->calls && cohort__random_below(random, 3) > 0;
        part->num_cancels =
            cohort__random_below(random, 3) == 0 ? 1 + cohort__random_below(random, 2) : 0;
        for (int i = 0; i < 3; i++)
            part->yields[i] = cohort__random_below(random, 40);
        part->idles = cohort__random_below(random, 3) == 0;
        part->leaves = cohort__random_below(random, 3) == 0;
        if (has_deadlines && cohort__random_below(random, 2) == 0)
            part->deadline = 100000 << cohort__random_below(random, 6);
        num_missing += !part->calls;
        num_cancels += part->num_cancels;
    }
    if (num_missing > 0 && num_cancels == 0)
        game->parts[cohort__random_below(random, game->num_sites)].num_cancels = 1;
}

static void run_all(struct game *game, bool late)
{
    cohort_future *futures[2 * MAX_SITES];
    uint32_t num = 0;
    for (uint32_t site = 0; site < game->num_sites; site++) {
        struct part *part = &game->parts[site];
        if (late ? part->is_late : part->calls)
            futures[num++] = cohort_async(call, part);
        if (!late && part->num_cancels > 0)
            futures[num++] = cohort_async(cancel, part);
    }
    CHECK_OK(cohort_await(cohort_when_all(futures, num)));
}

/* All who were refused have the same error. */
static const char *refusal(const struct game *game)
{
    const char *text = NULL;
    for (uint32_t site = 0; site < game->num_sites; site++) {
        const struct part *part = &game->parts[site];
        if (!part->status)
            continue;
        if (part->status != COHORT_ERR_CANCELLED && part->status != COHORT_ERR_TIMEOUT)
            failed(game, __LINE__, "another error");
        if (text && strcmp(text, part->text) != 0)
            failed(game, __LINE__, "two texts");
        text = part->text;
    }
    return text;
}

static void check_first(const struct game *game)
{
    uint32_t num_ok = 0, num_called = 0;
    for (uint32_t site = 0; site < game->num_sites; site++) {
        num_called += game->parts[site].calls;
        num_ok += game->parts[site].calls && !game->parts[site].status;
    }
    const char *text = refusal(game);
    if ((game->way != CALL || !may_end_alone(game->kind)) && num_ok > 0 && num_ok < game->num_sites)
        failed(game, __LINE__, "some sites have completed");
    if (num_called == game->num_sites || !text)
        return;
    if (!strstr(text, "missing"))
        failed(game, __LINE__, "nobody is missing");
}

static void check_late(const struct game *game, bool was_refused)
{
    (void)refusal(game);
    for (uint32_t site = 0; site < game->num_sites; site++)
        if (game->parts[site].is_late && was_refused && !game->parts[site].status)
            failed(game, __LINE__, "a late site has completed");
}

/* Calls, and leaves while they are in flight, or stays. The endpoint may be gone then. */
static cohort_status call_last(void *arg)
{
    const struct part *part = arg;
    const struct game *game = part->game;
    cohort_comm *comm = game->comms[part->site];
    struct exercise exercises[LAST_CALLS];
    for (uint32_t i = 0; i < LAST_CALLS; i++) {
        wait(part->yields[i]);
        begin(part, &exercises[i], game->last[i], game->generation + i);
    }
    if (part->num_cancels > 0)
        CHECK_OK(cohort_comm_cancel(comm, game->generation + 1));
    cohort_future *idle = part->idles ? cohort_comm_idle(comm) : NULL;
    if (part->leaves)
        cohort_comm_unref(comm);
    if (idle)
        CHECK_OK(cohort_await(idle));
    for (uint32_t i = 0; i < LAST_CALLS; i++) {
        CHECK(!idle || cohort_future_ready(exercises[i].done));
        cohort_status status =
            part->leaves ? exercise_end_unchecked(&exercises[i]) : exercise_end(&exercises[i]);
        if (status && status != COHORT_ERR_CANCELLED && status != COHORT_ERR_GONE &&
            status != COHORT_ERR_TIMEOUT)
            failed(game, __LINE__, cohort_error_message());
    }
    if (!part->leaves)
        cohort_comm_unref(comm);
    return COHORT_OK;
}

static void play_last(struct game *game, struct cohort__random *random)
{
    cohort_future *futures[MAX_SITES];
    draw(game, random);
    for (uint32_t i = 0; i < LAST_CALLS; i++) {
        draw_call(game, random);
        game->last[i] = game->kind;
    }
    for (uint32_t site = 0; site < game->num_sites; site++)
        futures[site] = cohort_async(call_last, &game->parts[site]);
    CHECK_OK(cohort_await(cohort_when_all(futures, game->num_sites)));
}

static void play(uint64_t seed)
{
    struct game game = {.seed = seed};
    cohort_future *made[MAX_SITES];
    struct cohort__random random = cohort__random_seeded(seed);
    static const struct cohort__position positions[HOSTS_LOCALITIES] = {
        {.host = 0}, {.host = 0}, {.host = 1}, {.host = 1}};
    game.is_levels = cohort__random_below(&random, 3) == 0;
    uint32_t num_localities =
        game.is_levels ? HOSTS_LOCALITIES : 1 + cohort__random_below(&random, 3);
    struct cluster *cluster = cluster_create(seed, num_localities, 0);
    cluster_place(cluster, game.is_levels
                               ? (enum cluster_placement)cohort__random_below(&random, 2)
                               : (enum cluster_placement)cohort__random_below(&random, 3));
    if (game.is_levels)
        cluster_locate(cluster, positions);
    game.num_sites = game.is_levels ? MAX_SITES : 2 + cohort__random_below(&random, MAX_SITES - 1);
    for (uint32_t site = 0; site < game.num_sites; site++)
        made[site] = cluster_create_comm(cluster, &game.comms[site], "game",
                                         &(cohort_comm_options){.num_sites = game.num_sites,
                                                                .this_site = site,
                                                                .stall_after = STALL_AFTER});
    CHECK_OK(cohort_await(cohort_when_all(made, game.num_sites)));
    for (game.generation = 1; game.generation <= GENERATIONS; game.generation++) {
        draw(&game, &random);
        run_all(&game, false);
        check_first(&game);
        bool was_refused = refusal(&game) != NULL;
        run_all(&game, true);
        check_late(&game, was_refused);
    }
    play_last(&game, &random);
    cluster_destroy(cluster);
}

static uint64_t first = 1, num_games = 40;
enum { GAMES_A_START = 200 };

TEST(games)
{
    for (uint64_t i = 0; i < num_games; i++)
        play(first + i);
}

int main(int argc, char **argv)
{
    if (argc > 2 && argv[argc - 2][0] >= '0' && argv[argc - 2][0] <= '9') {
        num_games = strtoull(argv[argc - 1], NULL, 10);
        first = strtoull(argv[argc - 2], NULL, 10);
        argc -= 2;
    }
    /* Clusters are freed, and their descriptors are closed, when the workers have ended. */
    int status = 0;
    for (uint64_t left = test_rounds(num_games, num_games / 4 + 1); left > 0 && status == 0;
         left -= num_games) {
        char *args[8]; /* cluster_test takes its options out */
        num_games = left < GAMES_A_START ? left : GAMES_A_START;
        CHECK((size_t)argc < NUM_OF(args));
        memcpy(args, argv, (size_t)argc * sizeof(args[0]));
        status = cluster_test(argc, args, 1);
        first += num_games;
    }
    return status;
}
