/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "tests/multi/member.h"
#include "tests/support/test.h"

/* The mistakes of tests/coll/test_errors.c, between processes. Each site prints the result of its
 * call, and then that the communicator can be used. The mode is the mistake. */

static void report(uint32_t site, cohort_status status)
{
    if (status)
        member_say("site %u: %s %s", site, cohort_status_name(status), cohort_error_message());
    else
        member_say("site %u: fine", site);
}

static cohort_status use(cohort_comm *comm, uint64_t generation)
{
    struct exercise exercise;
    exercise_begin(&exercise, comm, EXERCISE_ALL_TO_ALL, 7, generation);
    cohort_status status = exercise_end(&exercise);
    if (!status)
        member_say("site %u: usable", cohort_comm_this_site(comm));
    return status;
}

/* Wrong calls --------------------------------------------------------------------------------- */

static int64_t in[256]; /* the same for all calls, and the results are not checked */
static int64_t out[64][256];

static cohort_future *wrong_length(cohort_comm *comm, uint32_t me)
{
    return cohort_all_to_all(comm, in, out[me], me == 4 ? 5 : 3, COHORT_INT64, 1);
}

static cohort_future *wrong_datatype(cohort_comm *comm, uint32_t me)
{
    return cohort_all_reduce(comm, in, out[me], 1, me == 4 ? COHORT_DOUBLE : COHORT_INT64,
                             COHORT_SUM, 1);
}

static cohort_future *wrong_operation(cohort_comm *comm, uint32_t me)
{
    return cohort_all_reduce(comm, in, out[me], 1, COHORT_INT64, me == 4 ? COHORT_MAX : COHORT_SUM,
                             1);
}

static cohort_future *wrong_role(cohort_comm *comm, uint32_t me)
{
    return me == 0 || me == 3 ? cohort_gather_here(comm, in, out[me], 1, COHORT_INT64, 1)
                              : cohort_gather_there(comm, in, 1, COHORT_INT64, 1);
}

static cohort_future *gather_against_broadcast(cohort_comm *comm, uint32_t me)
{
    return me == 0 ? cohort_gather_here(comm, in, out[me], 1, COHORT_INT64, 1)
                   : cohort_broadcast_from(comm, out[me], 1, COHORT_INT64, 1);
}

static cohort_future *root_skips(cohort_comm *comm, uint32_t me)
{
    return me == 0 ? NULL : cohort_broadcast_from(comm, out[me], 1, COHORT_INT64, 1);
}

static cohort_future *no_buffer(cohort_comm *comm, uint32_t me)
{
    return cohort_all_reduce(comm, me == 4 ? NULL : in, out[me], 1, COHORT_INT64, COHORT_SUM, 1);
}

static cohort_future *generation_0(cohort_comm *comm, uint32_t me)
{
    return cohort_barrier(comm, 0);
}

static cohort_future *default_generation(cohort_comm *comm, uint32_t me)
{
    return cohort_barrier(comm, COHORT_AUTO_GENERATION);
}

/* Gathers at root 0, with agreement if the environment asks for it. */
static cohort_future *gather_of(cohort_comm *comm, uint32_t me, cohort_datatype type)
{
    return me == 0 ? cohort_gather_here(comm, in, out[me], 1, type, 1)
                   : cohort_gather_there(comm, in, 1, type, 1);
}

static cohort_future *other_type(cohort_comm *comm, uint32_t me)
{
    return gather_of(comm, me, me == 4 ? COHORT_DOUBLE : COHORT_INT64);
}

static cohort_future *other_type_at_root(cohort_comm *comm, uint32_t me)
{
    return gather_of(comm, me, me == 0 ? COHORT_DOUBLE : COHORT_INT64);
}

static cohort_future *user_type(cohort_comm *comm, uint32_t me)
{
    return gather_of(comm, me, me == 3 ? cohort_datatype_of_bytes(8) : COHORT_INT64);
}

static cohort_future *gather_without_buffer(cohort_comm *comm, uint32_t me)
{
    return me == 5 ? cohort_gather_there(comm, NULL, 1, COHORT_INT64, 1)
                   : gather_of(comm, me, COHORT_INT64);
}

static cohort_future *check_alone(cohort_comm *comm, uint32_t me)
{
    return cohort_check_rooted(comm, me == 1 ? COHORT_FLOAT : COHORT_BYTE, 1);
}

static const struct mistake {
    const char *name;
    cohort_future *(*call)(cohort_comm *comm, uint32_t me);
} mistakes[] = {
    {"wrong-length", wrong_length},
    {"wrong-datatype", wrong_datatype},
    {"wrong-operation", wrong_operation},
    {"wrong-role", wrong_role},
    {"gather-against-broadcast", gather_against_broadcast},
    {"root-skips", root_skips},
    {"no-buffer", no_buffer},
    {"generation-0", generation_0},
    {"default-generation", default_generation},
    {"other-type", other_type},
    {"other-type-at-root", other_type_at_root},
    {"user-type", user_type},
    {"gather-without-buffer", gather_without_buffer},
    {"check-alone", check_alone},
};

static cohort_status make_mistake(cohort_comm *comm, void *arg)
{
    const struct mistake *mistake = arg;
    uint32_t me = cohort_comm_this_site(comm);
    cohort_future *future = mistake->call(comm, me);
    if (future)
        report(me, cohort_await(future));
    cohort_status status = use(comm, 2);
    return status ? status : use(comm, 5);
}

/* Creation ------------------------------------------------------------------------------------ */

static cohort_status usable(cohort_comm *comm, void *arg)
{
    return use(comm, 1);
}

/* Locality 1 tries to join as site 0, which has already joined in locality 0. */
static cohort_status join_twice(cohort_comm *comm, void *arg)
{
    const struct member *member = arg;
    cohort_comm *again = NULL;
    cohort_comm_options options = member->options;
    cohort_status status = use(comm, 1);
    if (!status && cohort_comm_this_site(comm) == 1)
        report(0, cohort_await(cohort_comm_create(&again, cohort_comm_name(comm), &options)));
    CHECK(!again);
    return status ? status : use(comm, 2);
}

/* The last site asks for another arity. All sites that have joined are told. Then the name is free
 * for sites that agree. */
static cohort_status different_options(const struct member *member)
{
    uint32_t num_sites = member->options.num_sites;
    cohort_comm **comms = test_calloc(num_sites, sizeof(cohort_comm *));
    cohort_future **futures = test_calloc(num_sites, sizeof(cohort_future *));
    for (uint32_t site = 0; site < num_sites; site++) {
        cohort_comm_options options = member->options;
        options.this_site = site;
        options.arity = site == num_sites - 1 ? 3 : 2;
        if (member_locality(member, site) == cohort_locality())
            futures[site] = cohort_comm_create(&comms[site], "mistaken", &options);
    }
    for (uint32_t site = 0; site < num_sites; site++)
        if (futures[site])
            report(site, cohort_await(futures[site]));
    free(futures);
    free(comms);
    return member_run(member, "mistaken", usable, NULL);
}

static cohort_status program(void *arg)
{
    const struct member *member = arg;
    if (strcmp(member->mode, "duplicate-site") == 0)
        return member_run(member, "mistaken", join_twice, arg);
    if (strcmp(member->mode, "different-options") == 0)
        return different_options(member);
    for (size_t i = 0; i < NUM_OF(mistakes); i++)
        if (strcmp(member->mode, mistakes[i].name) == 0)
            return member_run(member, "mistaken", make_mistake, (void *)&mistakes[i]);
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "no such mistake: %s", member->mode);
}

int main(int argc, char **argv)
{
    struct member member;
    member_read(&member, argc, argv);
    return cohort_main(argc, argv, program, &member);
}
