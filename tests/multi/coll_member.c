/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/multi/member.h"
#include "tests/support/test.h"

/* Collectives whose results are checked. Each locality ends with a line that says what it did.
 *   run       the generations of all communicators
 *   recreate  the same communicator again and again, once for each generation
 *   objects   an all_to_all of objects for each generation, together with messages of the same size
 *             in a ring of channels; both have up to --count bytes
 *   silent    no site sends anything
 *   fail      the program of locality --victim returns an error
 *   absent    the same, and the others wait for its sites to join them
 *   again     cohort_main is called twice */

/* The generations of one communicator. All sites draw the same numbers. */
struct calls {
    const struct member *member;
    uint64_t seed;
};

static size_t draw_count(const struct member *member, struct cohort__random *random)
{
    return member->count_drawn ? (size_t)cohort__random_below(random, member->count + 1)
                               : member->count;
}

static enum exercise_kind draw_kind(const struct member *member, struct cohort__random *random)
{
    const enum exercise_kind num = member->is_plain ? EXERCISE_GATHERV : EXERCISE_NUM_KINDS;
    return (enum exercise_kind)(
        member->kind < EXERCISE_NUM_KINDS ? member->kind : cohort__random_below(random, num));
}

static cohort_status call_all(cohort_comm *comm, void *arg)
{
    const struct calls *calls = arg;
    const struct member *member = calls->member;
    struct exercise exercises[MEMBER_MAX_IN_FLIGHT];
    uint64_t generation = 0, begun = 0, ended = 0;
    cohort_status status = COHORT_OK;
    CHECK(cohort_comm_levels(comm) >= member->levels);
    struct cohort__random random = cohort__random_seeded(calls->seed);
    while (ended < member->generations) {
        while (begun < member->generations && begun - ended < member->in_flight) {
            generation += 1 + (member->skips ? cohort__random_below(&random, 3) : 0);
            enum exercise_kind kind = draw_kind(member, &random);
            struct exercise *exercise = &exercises[begun++ % member->in_flight];
            size_t count = draw_count(member, &random);
            if (member->is_plain)
                exercise_begin_with(exercise, comm, kind, count, generation,
                                    (struct exercise_options){0});
            else
                exercise_begin(exercise, comm, kind, count, generation);
        }
        cohort_status ended_with = exercise_end(&exercises[ended++ % member->in_flight]);
        if (ended_with)
            status = ended_with;
    }
    return status;
}

struct comm_run {
    struct calls calls;
    char name[32];
};

static cohort_status run_comm(void *arg)
{
    struct comm_run *comm_run = arg;
    return member_run(comm_run->calls.member, comm_run->name, call_all, &comm_run->calls);
}

static cohort_status run(const struct member *member)
{
    struct comm_run runs[MEMBER_MAX_COMMS];
    cohort_future *done[MEMBER_MAX_COMMS];
    for (uint32_t i = 0; i < member->num_comms; i++) {
        runs[i].calls = (struct calls){member, member->seed + i};
        snprintf(runs[i].name, sizeof(runs[i].name), "communicator %u", i);
        done[i] = cohort_async(run_comm, &runs[i]);
    }
    return cohort_await(cohort_when_all(done, member->num_comms));
}

static cohort_status call_one(cohort_comm *comm, void *arg)
{
    struct exercise exercise;
    const uint64_t *round = arg;
    exercise_begin(&exercise, comm, (enum exercise_kind)(*round % EXERCISE_NUM_KINDS), 3, 1);
    return exercise_end(&exercise);
}

static cohort_status recreate(const struct member *member)
{
    cohort_status status = COHORT_OK;
    for (uint64_t round = 0; !status && round < member->generations; round++)
        status = member_run(member, "again", call_one, &round);
    return status;
}

/* The object that site FROM gives site TO. Its owner draws its size, which no other site knows. */
static cohort_object draw_object(const struct member *member, uint64_t generation, uint32_t from,
                                 uint32_t to)
{
    struct cohort__random random =
        cohort__random_seeded(generation << 40 | (uint64_t)from << 20 | to);
    size_t bytes = (size_t)cohort__random_below(&random, member->count + 1);
    cohort_object object = {malloc(bytes + 1), bytes};
    CHECK(object.data);
    memset(object.data, (int)cohort__random_below(&random, 256), bytes);
    return object;
}

static void check_object(const struct member *member, uint64_t generation, uint32_t from,
                         uint32_t to, cohort_object *got)
{
    cohort_object want = draw_object(member, generation, from, to);
    CHECK(got->bytes == want.bytes &&
          (got->bytes == 0 || memcmp(got->data, want.data, got->bytes) == 0));
    cohort_object_fini(&want);
    cohort_object_fini(got);
}

enum { MAX_OBJECTS = 256, RING_TAG = 7 };

static cohort_status exchange_objects(cohort_comm *comm, void *arg)
{
    const struct member *member = arg;
    uint32_t me = cohort_comm_this_site(comm), num = cohort_comm_num_sites(comm);
    uint32_t next = (me + 1) % num, before = (me + num - 1) % num;
    cohort_object in[MAX_OBJECTS], out[MAX_OBJECTS], message;
    cohort_status status = COHORT_OK;
    CHECK(num <= MAX_OBJECTS);
    for (uint64_t generation = 1; !status && generation <= member->generations; generation++) {
        for (uint32_t to = 0; to < num; to++)
            in[to] = draw_object(member, generation, me, to);
        cohort_future *done[] = {
            cohort_all_to_all_objects(comm, in, out, generation),
            cohort_channel_set(comm, next, RING_TAG, in[next].data, in[next].bytes),
            cohort_channel_get_object(comm, before, RING_TAG, &message),
        };
        status = cohort_await(cohort_when_all(done, 3));
        for (uint32_t from = 0; !status && from < num; from++)
            check_object(member, generation, from, me, &out[from]);
        if (!status)
            check_object(member, generation, before, me, &message);
        cohort_objects_fini(in, num);
    }
    return status;
}

static cohort_status program(void *arg)
{
    const struct member *member = arg;
    cohort_status status = COHORT_OK;
    bool is_absent = strcmp(member->mode, "absent") == 0;
    if ((is_absent || strcmp(member->mode, "fail") == 0) && cohort_locality() == member->victim)
        return cohort_fail(COHORT_ERR_FAILED, "no luck today");
    if (is_absent || strcmp(member->mode, "run") == 0)
        status = run(member);
    else if (strcmp(member->mode, "objects") == 0)
        status = member_run(member, "objects", exchange_objects, (void *)member);
    else if (strcmp(member->mode, "recreate") == 0)
        status = recreate(member);
    if (!status)
        member_say("%u of %u has done it, %u sites, %u workers", cohort_locality(),
                   cohort_num_localities(), member_num_sites_here(member), cohort_num_workers());
    return status;
}

int main(int argc, char **argv)
{
    struct member member;
    member_read(&member, argc, argv);
    int status = cohort_main(argc, argv, program, &member);
    if (strcmp(member.mode, "again") != 0)
        return status;
    CHECK_INT(cohort_main(argc, argv, program, &member), 1);
    CHECK_CONTAINS(cohort_error_message(), "has left the job");
    return status;
}
