/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest tour through some cities, by branch and bound:
 *
 *     cohortrun -n 4 salesman --cities 12
 *
 * Locality 0 cuts the search into the beginnings of tours, and starts a remote task for each in a
 * scope, in all localities in turn. A task looks for the best tour with its beginning, and leaves
 * out what can't be shorter than the best one that its locality knows of. Who finds a better one
 * tells all, by more tasks of the scope. Nobody counts what is under way: the search is over when
 * nothing of the scope is left anywhere, and then locality 0 knows the best tour. */
#include "examples/salesman_search.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "examples/command.h"

/* The same in all localities, from the command line. */
static uint32_t cities = 12, seed = 1, depth = 3, limit;

/* What comes from another locality is looked at before it is used. */
static cohort_status take_tour(const cohort_object *in, struct salesman_tour *ret_tour)
{
    if (in->bytes != sizeof(*ret_tour))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes are no tour", in->bytes);
    memcpy(ret_tour, in->data, sizeof(*ret_tour));
    return salesman_tour_check(ret_tour);
}

static cohort_object object_of(const struct salesman_tour *tour)
{
    return (cohort_object){(void *)(uintptr_t)tour, sizeof(*tour)};
}

static cohort_status tell_others(const struct salesman_tour *best)
{
    const cohort_object in = object_of(best);
    cohort_status status = COHORT_OK;
    for (uint32_t i = 0; !status && i < cohort_num_localities(); i++)
        if (i != cohort_locality())
            status = cohort_scope_async_at(cohort_scope_current(), i, "salesman.take_best", &in);
    return status;
}

/* IN: the beginning of a tour. */
static cohort_status search(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct salesman_tour tour, best;
    (void)ret_out;
    (void)context;
    cohort_status status = take_tour(in, &tour);
    return !status && salesman_search(&tour, &best) ? tell_others(&best) : status;
}

/* IN: a tour that another locality has found. */
static cohort_status take_best(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct salesman_tour tour;
    (void)ret_out;
    (void)context;
    cohort_status status = take_tour(in, &tour);
    if (status)
        return status;
    if (!salesman_tour_length(&tour))
        return cohort_fail(COHORT_ERR_PROTOCOL, "this is no whole tour");
    salesman_offer(&tour);
    return COHORT_OK;
}

/* Locality 0 ---------------------------------------------------------------------------------- */

/* Starts a task for each beginning that goes on from TOUR up to `depth` cities. All at once: what a
 * locality does not get to yet waits here. */
static cohort_status start_all(cohort_scope *scope, const struct salesman_tour *tour)
{
    static uint32_t turn;
    struct salesman_tour next;
    cohort_status status = COHORT_OK;
    if (tour->num == depth || tour->num == cities) {
        const cohort_object in = object_of(tour);
        return cohort_scope_async_at(scope, turn++ % cohort_num_localities(), "salesman.search",
                                     &in);
    }
    for (uint32_t city = 1; !status && city < cities; city++)
        if (salesman_tour_extend(tour, city, &next))
            status = start_all(scope, &next);
    return status;
}

static cohort_status search_all(void)
{
    cohort_scope *scope;
    cohort_status status = cohort_scope_create(
        &(cohort_scope_options){.limit_nanoseconds = limit * UINT64_C(1000000)}, &scope);
    if (status)
        return status;
    status = start_all(scope, &(struct salesman_tour){.num = 1});
    if (status) /* what has begun need not go on; the await keeps the error */
        (void)cohort_scope_fail(scope, status, "%s", cohort_error_message());
    return cohort_scope_await(scope);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Of the best tour that is known here. */
static uint32_t report(void)
{
    struct salesman_tour best;
    if (!salesman_best(&best))
        return 0;
    printf("tour:");
    for (uint32_t i = 0; i < best.num; i++)
        printf(" %u", (unsigned)best.cities[i]);
    printf("\nlength: %u\n", (unsigned)best.length);
    return salesman_tour_length(&best);
}

static cohort_status run(void *arg)
{
    (void)arg;
    if (cohort_locality() > 0)
        return COHORT_OK; /* it runs what it is called for, until the job ends */
    double begin = now();
    cohort_status status = search_all();
    double seconds = now() - begin;
    uint32_t length = report();
    if (status)
        return status;
    printf("time: %.1f ms in %u localities\n", seconds * 1e3, (unsigned)cohort_num_localities());
    uint32_t want = salesman_exact();
    if (length != want)
        return cohort_fail(COHORT_ERR_FAILED, "the shortest tour has a length of %u, not %u",
                           (unsigned)want, (unsigned)length);
    printf("check: equal to dynamic programming\n");
    return COHORT_OK;
}

int main(int argc, char **argv)
{
    const struct command_option rows[] = {
        {"cities", "N", "how many cities; 12", .number = &cities, .min = 2,
         .max = SALESMAN_CITIES_MAX},
        {"depth", "N", "cities in the beginnings that are searched as a whole; 3", .number = &depth,
         .min = 1, .max = SALESMAN_DEPTH_MAX},
        {"seed", "N", "of the distances; 1", .number = &seed, .max = UINT32_MAX},
        {"limit", "MS", "ends the search after so many milliseconds; 0: no limit", .number = &limit,
         .max = 1000000},
    };
    const struct command command = {
        .name = "salesman",
        .about =
            "Finds the shortest tour through cities with random distances, by branch and bound "
            "with\nremote tasks. Compares with dynamic programming.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    salesman_init(cities, seed);
    if (cohort_remote_register("salesman.search", search, NULL) ||
        cohort_remote_register("salesman.take_best", take_best, NULL)) {
        fprintf(stderr, "salesman: %s\n", cohort_error_message());
        return 1;
    }
    return cohort_main(argc, argv, run, NULL);
}
