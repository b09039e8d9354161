/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest tour through some cities, by branch and bound:
 *
 *     cohortrun -n 4 salesman --cities 12
 *
 * Locality 0 cuts the search into the beginnings of tours, and calls a remote task for each, in all
 * localities in turn. A task looks for the best tour with its beginning, and leaves out what can't
 * be shorter than the best one that its locality knows of. Who finds a better one tells all. */
#include "examples/salesman_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/command.h"

/* What comes from another locality is looked at before it is used. */
static cohort_status take_beginning(const cohort_object *in, struct salesman_tour *ret_tour)
{
    if (in->bytes != sizeof(*ret_tour))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes are no tour", in->bytes);
    memcpy(ret_tour, in->data, sizeof(*ret_tour));
    return salesman_tour_check(ret_tour);
}

/* IN: the beginning of a tour. OUT: the best tour with it; nothing, if none is better than what is
 * known here. */
static cohort_status search(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct salesman_tour tour;
    struct salesman_tour *best = malloc(sizeof(*best));
    (void)context;
    cohort_status status = best ? take_beginning(in, &tour)
                                : cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a tour");
    if (status || !salesman_search(&tour, best)) {
        free(best);
        return status;
    }
    /* Nobody waits for this: who learns of it late only searches more. */
    cohort_future_unref(cohort_async_everywhere(
        "salesman.bound", &(cohort_object){&best->length, sizeof(best->length)}, NULL));
    *ret_out = (cohort_object){best, sizeof(*best)};
    return COHORT_OK;
}

/* IN: the length of a tour that somebody has found. */
static cohort_status bound(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint32_t length;
    (void)ret_out;
    (void)context;
    if (in->bytes != sizeof(length))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes are no length", in->bytes);
    memcpy(&length, in->data, sizeof(length));
    salesman_bound(length);
    return COHORT_OK;
}

/* All calls of locality 0. */
struct calls {
    size_t num;
    cohort_future *futures[SALESMAN_BEGINNINGS_MAX];
    cohort_object outs[SALESMAN_BEGINNINGS_MAX];
};

/* Calls a task for each beginning that goes on from TOUR up to DEPTH cities. All at once: what a
 * locality does not get to yet waits here. */
static void call_all(struct calls *calls, const struct salesman_tour *tour, uint32_t depth)
{
    if (tour->num == depth) {
        uint32_t locality = (uint32_t)(calls->num % cohort_num_localities());
        calls->futures[calls->num] = cohort_async_at(locality, "salesman.search",
                                                     &(cohort_object){(void *)tour, sizeof(*tour)},
                                                     &calls->outs[calls->num]);
        calls->num++;
        return;
    }
    struct salesman_tour next;
    for (uint32_t city = 1; city < salesman_num_cities(); city++)
        if (salesman_tour_extend(tour, city, &next))
            call_all(calls, &next, depth);
}

/* Waits for all, and finds the best of them. */
static cohort_status take_all(struct calls *calls, struct salesman_tour *ret_best)
{
    cohort_status status = cohort_await(cohort_when_all(calls->futures, calls->num));
    ret_best->length = UINT32_MAX;
    for (size_t i = 0; i < calls->num; i++) {
        const struct salesman_tour *tour = calls->outs[i].data;
        if (!status && tour && tour->length < ret_best->length)
            *ret_best = *tour;
        cohort_object_fini(&calls->outs[i]);
    }
    return status;
}

static cohort_status report(const struct salesman_tour *best, size_t num_calls)
{
    uint32_t want = salesman_exact();
    printf("tour:");
    for (uint32_t i = 0; i < best->num; i++)
        printf(" %u", (unsigned)best->cities[i]);
    printf("\nlength: %u, %zu calls in %u localities\n", (unsigned)best->length, num_calls,
           (unsigned)cohort_num_localities());
    if (best->length != want || salesman_tour_length(best) != want)
        return cohort_fail(COHORT_ERR_FAILED, "the shortest tour has a length of %u, not %u",
                           (unsigned)want, (unsigned)best->length);
    printf("check: equal to dynamic programming\n");
    return COHORT_OK;
}

static cohort_status run(void *arg)
{
    uint32_t depth = *(const uint32_t *)arg;
    struct salesman_tour start = {.num = 1}, best = {0};
    struct calls *calls;
    if (cohort_locality() > 0)
        return COHORT_OK; /* it runs what it is called for, until the job ends */
    calls = calloc(1, sizeof(*calls));
    if (!calls)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the calls");
    call_all(calls, &start, depth < salesman_num_cities() ? depth : salesman_num_cities());
    cohort_status status = take_all(calls, &best);
    if (!status)
        status = report(&best, calls->num);
    free(calls);
    return status;
}

int main(int argc, char **argv)
{
    uint32_t cities = 12, seed = 1, depth = 3;
    const struct command_option rows[] = {
        {"cities", "N", "how many cities; 12", .number = &cities, .min = 2,
         .max = SALESMAN_CITIES_MAX},
        {"depth", "N", "cities in the beginnings that tasks are called for; 3", .number = &depth,
         .min = 1, .max = SALESMAN_DEPTH_MAX},
        {"seed", "N", "of the distances; 1", .number = &seed, .max = UINT32_MAX},
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
    salesman_init(cities, seed); /* the same in every locality */
    if (cohort_remote_register("salesman.search", search, NULL) ||
        cohort_remote_register("salesman.bound", bound, NULL)) {
        fprintf(stderr, "salesman: %s\n", cohort_error_message());
        return 1;
    }
    return cohort_main(argc, argv, run, &depth);
}
