/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for numbers whose hash begins with zeros, as senders of mail do for Hashcash:
 *
 *     cohortrun -n 4 stamps --bits 20 --searches 16 --wanted 3
 *
 * Locality 0 starts searches in all localities in turn, each of which goes through numbers of its
 * own and would end with the first one that it finds. It takes the first three results of the 16
 * (cohort_when_some) and cancels the scope of all searches: those that still compute ask now and
 * then whether they are to go on. When the scope's await has returned, nothing is left of them
 * anywhere. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <cohort/cohort.h>

#include "examples/command.h"
#include "examples/number.h"

enum { MOST_SEARCHES = 1000, ROUND = 256 };

/* The same in all localities, from the command line. */
static uint32_t bits = 18, seed = 1, searches = 8, wanted = 3, limit;

/* The finalizer of SplitMix64: any two numbers that differ give unlike ones. */
static uint64_t mix(uint64_t number)
{
    number += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

static uint64_t hash(uint64_t number)
{
    return mix(mix(seed) ^ number);
}

static bool is_stamp(uint64_t number)
{
    return hash(number) >> (64 - bits) == 0;
}

/* A remote function. IN: the first number. OUT: the first stamp among that one and each so-manieth
 * after it. The yields let the other searches of this worker have their turn, and messages come in:
 * that of the end, above all. */
static cohort_status search(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint64_t number;
    (void)context;
    if (in->bytes != sizeof(number))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes are no number", in->bytes);
    memcpy(&number, in->data, sizeof(number));
    for (int i = 1; !is_stamp(number); i++, number += searches) {
        if (i % ROUND == 0)
            cohort_yield();
        if (cohort_cancelled())
            return cohort_fail(COHORT_ERR_CANCELLED, "others were faster");
    }
    return number_give(number, ret_out);
}

/* Locality 0 ---------------------------------------------------------------------------------- */

struct race {
    cohort_object outs[MOST_SEARCHES]; /* of the searches, until the scope's await */
    size_t winners[MOST_SEARCHES];
    bool is_won;
};

/* A task of the scope, so all that it starts is in the scope, too. */
static cohort_status run_race(void *arg)
{
    struct race *race = arg;
    cohort_future *futures[MOST_SEARCHES], *results[MOST_SEARCHES];
    for (uint64_t i = 0; i < searches; i++) {
        const cohort_object in = {&i, sizeof(i)};
        futures[i] = cohort_async_at((uint32_t)i % cohort_num_localities(), "stamps.search", &in,
                                     &race->outs[i]);
        results[i] = cohort_future_ref(futures[i]);
    }
    cohort_status status = cohort_await(cohort_when_some(futures, searches, wanted, race->winners));
    for (uint32_t i = 0; !status && i < wanted; i++) /* a search that has failed counts, too */
        status = cohort_await(cohort_future_ref(results[race->winners[i]]));
    for (uint32_t i = 0; i < searches; i++)
        cohort_future_unref(results[i]);
    race->is_won = !status;
    if (race->is_won)
        cohort_scope_cancel(cohort_scope_current());
    return status;
}

static cohort_status run_scope(struct race *race)
{
    cohort_scope *scope;
    cohort_status status = cohort_scope_create(
        &(cohort_scope_options){.limit_nanoseconds = limit * UINT64_C(1000000)}, &scope);
    if (status)
        return status;
    status = cohort_scope_async(scope, run_race, race);
    cohort_status end = cohort_scope_await(scope);
    if (end == COHORT_ERR_CANCELLED && race->is_won)
        return COHORT_OK; /* by run_race */
    return end ? end : status;
}

/* That a result is a stamp, and among the numbers of its search: so no two of them are the same. */
static cohort_status report(const struct race *race)
{
    for (uint32_t i = 0; i < wanted; i++) {
        const cohort_object *out = &race->outs[race->winners[i]];
        uint64_t number = 0;
        if (out->bytes == sizeof(number))
            memcpy(&number, out->data, sizeof(number));
        if (out->bytes != sizeof(number) || !is_stamp(number) ||
            number % searches != race->winners[i])
            return cohort_fail(COHORT_ERR_FAILED, "search %zu has not found a stamp",
                               race->winners[i]);
        printf("search %zu: %" PRIu64 " has the hash %016" PRIx64 "\n", race->winners[i], number,
               hash(number));
    }
    printf("check: %" PRIu32 " stamps of %" PRIu32 " bits, nothing is searched any more\n", wanted,
           bits);
    return COHORT_OK;
}

static cohort_status run(void *arg)
{
    static struct race race;
    (void)arg;
    if (cohort_locality() > 0)
        return COHORT_OK; /* it runs what it is called for, until the job ends */
    cohort_status status = run_scope(&race);
    if (!status)
        status = report(&race);
    cohort_objects_fini(race.outs, searches);
    return status;
}

int main(int argc, char **argv)
{
    const struct command_option rows[] = {
        {"bits", "N", "zeros that a hash begins with; 18", .number = &bits, .min = 1, .max = 63},
        {"searches", "N", "in all localities in turn; 8", .number = &searches, .min = 1,
         .max = MOST_SEARCHES},
        {"wanted", "N", "how many of their results; 3", .number = &wanted, .min = 1,
         .max = MOST_SEARCHES},
        {"seed", "N", "of the hashes; 1", .number = &seed, .max = UINT32_MAX},
        {"limit", "MS", "ends the search after so many milliseconds; 0: no limit", .number = &limit,
         .max = 1000000},
    };
    const struct command command = {
        .name = "stamps",
        .about = "Looks for numbers whose hash begins with zeros, in all localities. The first "
                 "results\ncount, the other searches are cancelled.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    if (wanted > searches) {
        fprintf(stderr, "stamps: --wanted %" PRIu32 " needs as many --searches\n", wanted);
        command_print_usage(stderr, &command);
        return 2;
    }
    if (cohort_remote_register("stamps.search", search, NULL)) {
        fprintf(stderr, "stamps: %s\n", cohort_error_message());
        return 1;
    }
    return cohort_main(argc, argv, run, NULL);
}
