/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <cohort/cohort.h>

/* Two sites in each locality: site i is in locality i modulo their number. They are a grid with two
 * rows, and divide by rows, by columns, and by hosts. Each site prints the sums of the sites'
 * numbers in its communicators. With the argument "die" locality 1 is killed in between, and the
 * others print what became of their communicators. */

static bool dies;

/* The sum of ME over COMM, or the status of what has failed. */
static cohort_status sum(cohort_future *made, cohort_comm *const *comm, uint64_t me, uint64_t *ret)
{
    cohort_status status = cohort_await(made);
    return status
               ? status
               : cohort_await(cohort_all_reduce(*comm, &me, ret, 1, COHORT_UINT64, COHORT_SUM, 1));
}

static cohort_status divide(cohort_comm *world)
{
    const uint32_t me = cohort_comm_this_site(world), num = cohort_num_localities();
    cohort_comm *comms[3] = {NULL};
    uint64_t sums[3] = {0};
    cohort_status status = COHORT_OK;
    cohort_future *all_here = cohort_barrier(world, 1);
    if (dies && cohort_locality() == 1) {
        status = cohort_await(all_here); /* all others have the world by now */
        raise(SIGKILL);
    }
    cohort_future_unref(all_here);
    cohort_future *made[] = {
        cohort_comm_split(&comms[0], world, (int32_t)(me / num), 0, 2),
        cohort_comm_split(&comms[1], world, (int32_t)(me % num), -(int32_t)me, 3),
        cohort_comm_split_level(&comms[2], world, COHORT_LEVEL_HOST, 4),
    };
    for (int i = 0; i < 3; i++) {
        cohort_status here = sum(made[i], &comms[i], me, &sums[i]);
        status = status ? status : here;
        if (here)
            printf("%" PRIu32 " %s\n", me, cohort_error_message());
    }
    if (!status)
        printf("%" PRIu32 " row %" PRIu64 " column %" PRIu64 " host %" PRIu64 " %s\n", me, sums[0],
               sums[1], sums[2], cohort_comm_name(comms[2]));
    for (int i = 0; i < 3; i++)
        cohort_comm_unref(comms[i]);
    return status;
}

static cohort_status join(void *arg)
{
    uint32_t num = cohort_num_localities();
    const cohort_comm_options options = {
        .num_sites = 2 * num,
        .this_site = cohort_locality() + (arg ? num : 0),
    };
    cohort_comm *world = NULL;
    cohort_status status = cohort_await(cohort_comm_create(&world, "world", &options));
    if (!status)
        status = divide(world);
    cohort_comm_unref(world);
    return status;
}

static cohort_status run(void *arg)
{
    cohort_future *second = cohort_async(join, &arg);
    cohort_status status = join(NULL);
    cohort_status second_status = cohort_await(second);
    return status ? status : second_status;
}

int main(int argc, char **argv)
{
    dies = argc > 1 && strcmp(argv[1], "die") == 0;
    return cohort_main(argc, argv, run, NULL);
}
