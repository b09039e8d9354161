/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

/* Counts how often each value comes out of a number of draws. The counters are spread over the
 * localities, and so is the work, piece by piece: whoever has nothing to do takes the next piece.
 * All that the localities do to each other's memory, they do by themselves: a piece is taken by an
 * add, values are counted by adds, who has done how much is put, and the result is fetched by get.
 * At the end locality 0 draws all numbers again, and compares. */

enum { DRAWS_OF_A_PIECE = 10000 };

/* What locality 0 shares beside its counters. */
struct dealer {
    uint64_t next_piece;
    uint64_t pieces_of[]; /* by locality */
};

struct work {
    uint32_t num; /* localities */
    uint64_t num_pieces;
    uint64_t num_values;           /* value v is counted in locality v % num, place v / num */
    cohort_memory_handle *handles; /* the counters of each locality, and then the dealer */
};

/* The sum of two draws, so that values in the middle are more frequent. */
static uint64_t draw(uint64_t number, uint64_t num_values)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t hash = (2 * number + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        hash = (hash ^ (hash >> 32)) * UINT64_C(0xd6e8feb86659fd93);
        sum += (hash >> 32) % num_values;
    }
    return sum / 2;
}

static void count_piece(uint64_t piece, uint64_t num_values, uint64_t *counts)
{
    for (uint64_t i = 0; i < DRAWS_OF_A_PIECE; i++)
        counts[draw(piece * DRAWS_OF_A_PIECE + i, num_values)]++;
}

/* All adds are under way together. The counts are read by the calls. */
static cohort_status add_counts(const struct work *work, const uint64_t *counts,
                                cohort_future **futures)
{
    size_t num = 0;
    for (uint64_t value = 0; value < work->num_values; value++)
        if (counts[value] > 0)
            futures[num++] =
                cohort_memory_add(&work->handles[value % work->num],
                                  value / work->num * sizeof(uint64_t), counts[value], NULL);
    return cohort_await(cohort_when_all(futures, num));
}

/* Takes pieces until there are none. */
static cohort_status take_pieces(const struct work *work)
{
    const cohort_memory_handle *dealer = &work->handles[work->num];
    uint64_t *counts = malloc(work->num_values * sizeof(*counts)), num_done = 0, piece;
    cohort_future **futures = malloc(work->num_values * sizeof(cohort_future *));
    cohort_status status =
        counts && futures ? COHORT_OK : cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for counts");
    while (!status) {
        status =
            cohort_await(cohort_memory_add(dealer, offsetof(struct dealer, next_piece), 1, &piece));
        if (status || piece >= work->num_pieces)
            break;
        memset(counts, 0, work->num_values * sizeof(*counts));
        count_piece(piece, work->num_values, counts);
        status = add_counts(work, counts, futures);
        num_done++;
    }
    free(counts);
    free(futures);
    return status ? status
                  : cohort_await(cohort_memory_put(dealer,
                                                   offsetof(struct dealer, pieces_of) +
                                                       cohort_locality() * sizeof(uint64_t),
                                                   &num_done, sizeof(num_done)));
}

/* In locality 0, when all are done. */
static cohort_status check_counts(const struct work *work, const struct dealer *dealer)
{
    uint64_t sum = 0, num_wrong = 0, count;
    uint64_t *counts = calloc(work->num_values, sizeof(*counts));
    cohort_status status =
        counts ? COHORT_OK : cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for counts");
    for (uint64_t piece = 0; !status && piece < work->num_pieces; piece++)
        count_piece(piece, work->num_values, counts);
    for (uint64_t value = 0; !status && value < work->num_values; value++) {
        status = cohort_await(cohort_memory_get(&work->handles[value % work->num],
                                                value / work->num * sizeof(count), &count,
                                                sizeof(count)));
        num_wrong += !status && count != counts[value];
    }
    free(counts);
    for (uint32_t i = 0; i < work->num; i++)
        sum += dealer->pieces_of[i];
    if (!status && (num_wrong > 0 || sum != work->num_pieces))
        status = cohort_fail(COHORT_ERR_FAILED,
                             "%" PRIu64 " counters are wrong, %" PRIu64 " pieces are done",
                             num_wrong, sum);
    if (!status)
        printf("%" PRIu64 " draws of %" PRIu64 " values: each is counted\n",
               work->num_pieces * DRAWS_OF_A_PIECE, work->num_values);
    return status;
}

/* Memory that all localities may use. It is zero. */
static cohort_status share(size_t bytes, void **ret_memory, cohort_memory_handle *ret_handle)
{
    cohort_status status = cohort_memory_alloc(ret_memory, bytes);
    if (status)
        return status;
    memset(*ret_memory, 0, bytes);
    return cohort_memory_share(ret_handle, *ret_memory, bytes);
}

/* Tells all where the counters of each are, and where the dealer is. */
static cohort_status exchange(cohort_comm *comm, struct work *work,
                              const cohort_memory_handle *counters, cohort_memory_handle *dealer)
{
    cohort_status status = cohort_await(
        cohort_all_gather(comm, counters, work->handles, sizeof(*counters), COHORT_BYTE, 1));
    if (!status)
        status = cohort_await(
            cohort_locality() == 0
                ? cohort_broadcast_to(comm, dealer, sizeof(*dealer), COHORT_BYTE, 2)
                : cohort_broadcast_from(comm, dealer, sizeof(*dealer), COHORT_BYTE, 2));
    work->handles[work->num] = *dealer;
    return status;
}

static cohort_status count(cohort_comm *comm, struct work *work)
{
    const uint64_t num_counters = work->num_values / work->num + 1;
    void *counters = NULL, *dealer = NULL;
    cohort_memory_handle own, dealers = {0};
    cohort_status status = share(num_counters * sizeof(uint64_t), &counters, &own);
    if (!status && cohort_locality() == 0)
        status = share(sizeof(struct dealer) + work->num * sizeof(uint64_t), &dealer, &dealers);
    if (!status)
        status = exchange(comm, work, &own, &dealers);
    if (!status)
        status = take_pieces(work);
    if (!status)
        status = cohort_await(cohort_barrier(comm, 3));
    if (!status && cohort_locality() == 0)
        status = check_counts(work, dealer);
    if (!status) /* nobody gives memory back that locality 0 still reads */
        status = cohort_await(cohort_barrier(comm, 4));
    cohort_memory_free(dealer);
    cohort_memory_free(counters);
    return status;
}

static cohort_status program(void *arg)
{
    char **argv = arg;
    const uint32_t num = cohort_num_localities();
    struct work work = {.num = num, .num_pieces = 100, .num_values = 1000};
    cohort_comm *comm = NULL;
    if (argv[1])
        work.num_pieces = strtoull(argv[1], NULL, 10);
    if (argv[1] && argv[2])
        work.num_values = strtoull(argv[2], NULL, 10);
    if (work.num_values == 0 || work.num_values > 1 << 24 || work.num_pieces > 1 << 24)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "usage: histogram [PIECES [VALUES]]");
    work.handles = calloc(num + 1, sizeof(*work.handles));
    if (!work.handles)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for handles");
    cohort_comm_options options = {.num_sites = num, .this_site = cohort_locality()};
    cohort_status status = cohort_await(cohort_comm_create(&comm, "histogram", &options));
    if (!status)
        status = count(comm, &work);
    cohort_comm_unref(comm);
    free(work.handles);
    return status;
}

int main(int argc, char **argv)
{
    return cohort_main(argc, argv, program, argv);
}
