/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cohort/cohort.h>

#include "tools/cohortrun/guardian.h"

/* A job that goes on without the dead (cohortrun --keep-going). One site in each locality; the
 * localities are split into halves. The victim is the last locality. It ends in the way that the
 * first argument names, once all have their half. The others wait for the end of a call over the
 * whole job, print the error, and go on in their half: that of the victim is broken, the other one
 * is whole. */

enum { CALLS = 100 };

static const char *way;

static cohort_status say(const char *what, cohort_status status)
{
    printf("%" PRIu32 " %s: %s\n", cohort_locality(), what,
           status ? cohort_error_message() : "fine");
    return status;
}

static cohort_status sum_right(cohort_comm *comm, uint64_t generation)
{
    const uint64_t num = cohort_comm_num_sites(comm);
    uint64_t mine = cohort_comm_this_site(comm) + generation, sum = 0;
    cohort_status status = cohort_await(
        cohort_all_reduce(comm, &mine, &sum, 1, COHORT_UINT64, COHORT_SUM, generation));
    if (!status && sum != num * (num - 1) / 2 + num * generation) {
        printf("%" PRIu32 " got %" PRIu64 "\n", cohort_locality(), sum);
        abort();
    }
    return status;
}

/* As many right calls as there are to be, or an error on the way. */
static cohort_status use(const char *what, cohort_comm *comm, uint64_t first)
{
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; i < CALLS && !status; i++)
        status = sum_right(comm, first + i);
    return say(what, status);
}

/* All that could end it with its guardian is gone, and it only seems to have ended. */
static void outlive_guardian(void)
{
    prctl(PR_SET_PDEATHSIG, 0);
    shutdown(GUARDIAN_FD_CONTROL, SHUT_RDWR);
    kill(getppid(), SIGKILL);
    raise(SIGSTOP);
}

static void end_badly(void)
{
    if (strcmp(way, "exit") == 0)
        exit(3);
    else if (strcmp(way, "quiet") == 0)
        _exit(0);
    else if (strcmp(way, "stop") == 0)
        raise(SIGSTOP); /* the test kills it */
    else if (strcmp(way, "outlive") == 0)
        outlive_guardian();
    raise(SIGKILL);
}

static bool is_victim(void)
{
    const uint32_t last = cohort_num_localities() - 1;
    if (strcmp(way, "none") == 0)
        return false;
    if (strcmp(way, "all") == 0)
        return true;
    return cohort_locality() == last || (strcmp(way, "two") == 0 && cohort_locality() == 0);
}

static void list_failed(void)
{
    uint32_t ranks[16], num = cohort_failed_localities(ranks, 16);
    printf("%" PRIu32 " failed:", cohort_locality());
    for (uint32_t i = 0; i < num; i++)
        printf(" %" PRIu32, ranks[i]);
    printf("\n");
}

static uint32_t num_failed(void)
{
    return cohort_failed_localities(NULL, 0);
}

/* The rank of this locality among those that live, if the first NUM deaths have happened. */
static uint32_t rank_among_living(uint32_t num)
{
    uint32_t ranks[16], before = 0;
    (void)cohort_failed_localities(ranks, 16);
    for (uint32_t i = 0; i < num; i++)
        before += ranks[i] < cohort_locality();
    return cohort_locality() - before;
}

/* All that live make a communicator with a name that has the number of deaths in it. If another one
 * dies meanwhile, all of them see that, and try again. */
static cohort_status gather_survivors(void)
{
    cohort_status status;
    do {
        char name[32];
        const uint32_t num = num_failed();
        const cohort_comm_options options = {.num_sites = cohort_num_localities() - num,
                                             .this_site = rank_among_living(num)};
        cohort_comm *comm = NULL;
        snprintf(name, sizeof(name), "after %" PRIu32, num);
        status = cohort_await(cohort_comm_create(&comm, name, &options));
        for (uint64_t i = 1; i <= CALLS && !status; i++)
            status = sum_right(comm, i);
        if (!status && strcmp(way, "later") == 0 && num == 1 && options.this_site == 0)
            raise(SIGKILL); /* the others have all they need, or see that */
        if (!status && strcmp(way, "later") == 0 && num == 1) {
            status = cohort_await(cohort_barrier(comm, CALLS + 1));
            if (!status)
                abort();
        }
        cohort_comm_unref(comm);
    } while (status == COHORT_ERR_PEER_DIED);
    return say("survivors", status);
}

/* Communicators that are made of one without dead sites. */
static cohort_status divide(cohort_comm *half, uint64_t generation)
{
    cohort_comm *twin = NULL, *part = NULL;
    cohort_future *made[] = {
        cohort_comm_dup(&twin, half, generation),
        cohort_comm_split(&part, half, 0, -(int32_t)cohort_locality(), generation + 1),
    };
    cohort_status status = cohort_await(made[0]);
    cohort_status other = cohort_await(made[1]);
    if (!status)
        status = use("twin", twin, 1);
    if (!other)
        other = use("part", part, 1);
    cohort_comm_unref(twin);
    cohort_comm_unref(part);
    return status ? status : other;
}

static cohort_status go_on(cohort_comm *world, cohort_comm *half)
{
    cohort_status status = sum_right(half, 1);
    cohort_future *all_here = cohort_barrier(world, 2);
    (void)!cohort_await(all_here); /* it may fail where the victim is through already */
    if (status)
        return status;
    if (is_victim())
        end_badly();
    /* While others die, those in the whole half go on. */
    cohort_future *called = cohort_barrier(world, 3);
    cohort_status in_half = use("half", half, 2);
    (void)say("world", cohort_await(called));
    status = say("world later", cohort_await(cohort_barrier(world, 4)));
    /* Another locality may have told of the death before cohortrun does. */
    while (status == COHORT_ERR_PEER_DIED && num_failed() == 0)
        (void)!cohort_await(cohort_sleep(1000000));
    list_failed();
    if (!in_half)
        (void)divide(half, CALLS + 2);
    if (num_failed() > 0 && gather_survivors())
        return COHORT_ERR_FAILED;
    if (strcmp(way, "fail") == 0 && cohort_locality() == 0)
        return cohort_fail(COHORT_ERR_FAILED, "this one is not content");
    return COHORT_OK;
}

/* Who dies before which step of the work, and whether between its errors and its shrink. */
static const struct end {
    uint64_t step;
    uint32_t rank;
    bool is_late;
} ends[] = {{3, 5, false}, {6, 0, false}, {6, 2, true}, {9, 4, true}};

enum { STEPS = 12 };

static void end_if_due(uint64_t step, bool is_late)
{
    if (strcmp(way, "peace") == 0)
        return;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (ends[i].step == step && ends[i].rank == cohort_locality() && ends[i].is_late == is_late)
            raise(SIGKILL);
}

/* The work of all: a step is done if all that live have done it. Else those that are left do it
 * again. */
static cohort_status work(cohort_comm *comm)
{
    cohort_agreed agreed = {0};
    uint32_t num_shrunk = 0, failed[16];
    cohort_status status = COHORT_OK;
    for (uint64_t step = 1, generation = 1; step <= STEPS && !status;) {
        end_if_due(step, false);
        cohort_status done = sum_right(comm, generation++);
        status = cohort_await(cohort_comm_agree(comm, done ? ~(uint64_t)1 : UINT64_MAX, &agreed));
        if (status)
            break;
        if (cohort_comm_failed(comm, failed, 16) < agreed.num_failed)
            abort();
        if (agreed.value & 1) {
            step++;
            end_if_due(step, true);
            continue;
        }
        cohort_comm *next = NULL;
        end_if_due(step, true);
        status = cohort_await(cohort_comm_shrink(&next, comm));
        if (status)
            break;
        cohort_comm_unref(comm);
        comm = next;
        num_shrunk++;
        generation = 1;
    }
    if (!status)
        printf("%" PRIu32 " %s: site %" PRIu32 " of %" PRIu32 "%s\n", cohort_locality(), "worked",
               cohort_comm_this_site(comm), cohort_comm_num_sites(comm),
               num_shrunk > 0 ? "" : ", never shrunk");
    cohort_comm_unref(comm);
    return status;
}

/* Half of the sites wait in a communicator without a dead site for its last one, which revokes it
 * instead, and dies at once. Then all that live go on without it. */
static cohort_status revoke_and_die(cohort_comm *world, cohort_comm *half)
{
    cohort_comm *next = NULL;
    const uint32_t last = cohort_num_localities() - 1;
    cohort_future *called = NULL;
    /* When the last one is through all have their half; others may get the error already. */
    (void)!cohort_await(cohort_barrier(world, 2));
    if (cohort_locality() != last)
        called = cohort_barrier(world, 3);
    if (cohort_locality() == last) {
        cohort_status status = cohort_await(cohort_comm_revoke(world));
        if (status)
            return status;
        raise(SIGKILL);
    }
    (void)say("world", cohort_await(called));
    (void)say("world later", cohort_await(cohort_barrier(world, 4)));
    if (cohort_locality() < cohort_num_localities() / 2)
        (void)use("half", half, 1);
    cohort_status status = cohort_await(cohort_comm_shrink(&next, world));
    if (!status)
        (void)use("shrunk", next, 1);
    cohort_comm_unref(next);
    return status;
}

/* Site 0 tells each of the others what to do, and gets the answers in any order. */
enum { DIE, ANSWER, ORDERS = 1, ANSWERS = 2 };

static cohort_status obey(cohort_comm *comm)
{
    for (int order = ANSWER;;) {
        cohort_status status =
            cohort_await(cohort_channel_get(comm, 0, ORDERS, &order, sizeof(order), NULL));
        if (status)
            return status;
        if (order == DIE)
            raise(SIGKILL);
        (void)!cohort_await(cohort_channel_set(comm, 0, ANSWERS, &order, sizeof(order)));
    }
}

static void ask_all(cohort_comm *comm, uint32_t end)
{
    const int order = ANSWER;
    for (uint32_t site = 1; site < end; site++)
        (void)!cohort_await(cohort_channel_set(comm, site, ORDERS, &order, sizeof(order)));
}

static cohort_status count_answers(cohort_comm *comm, uint32_t *ret_num, uint32_t num)
{
    int answer;
    cohort_status status = COHORT_OK;
    for (*ret_num = 0; *ret_num < num && !status; *ret_num += !status)
        status = cohort_await(
            cohort_channel_get_any(comm, ANSWERS, &answer, sizeof(answer), NULL, NULL));
    return status;
}

/* The sites die one after the other, from the last on, while site 0 waits for any of them. */
static cohort_status serve(cohort_comm *comm)
{
    const int die = DIE;
    uint32_t num_answers = 0, left = cohort_comm_num_sites(comm);
    cohort_status status = COHORT_OK;
    for (; left > 1; left--) {
        ask_all(comm, left);
        status = count_answers(comm, &num_answers, left - 1);
        printf("0 answers: %" PRIu32 "\n", num_answers);
        if (status)
            return status;
        (void)!cohort_await(cohort_channel_set(comm, left - 1, ORDERS, &die, sizeof(die)));
        (void)say("any", count_answers(comm, &num_answers, 1));
        printf("0 acknowledged: %" PRIu32 "\n", cohort_comm_acknowledge(comm, UINT32_MAX));
    }
    return COHORT_OK;
}

/* All call until somebody is lost, whom the test takes away. */
static cohort_status wait_for_loss(cohort_comm *comm)
{
    struct timespec time;
    cohort_comm *next = NULL;
    cohort_status status = COHORT_OK;
    for (uint64_t i = 1; !status; i++) {
        status = sum_right(comm, i);
        if (i == CALLS && !status) {
            printf("%" PRIu32 " ready\n", cohort_locality());
            fflush(stdout);
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &time);
    printf("%" PRIu32 " told at %.3f: %s\n", cohort_locality(),
           (double)time.tv_sec + (double)time.tv_nsec * 1e-9, cohort_error_message());
    status = cohort_await(cohort_comm_shrink(&next, comm));
    while (!status && use("shrunk", next, 1)) { /* another one was lost with it */
        cohort_comm *rest = NULL;
        status = cohort_await(cohort_comm_shrink(&rest, next));
        cohort_comm_unref(next);
        next = rest;
    }
    cohort_comm_unref(next);
    return status;
}

static cohort_status where(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint32_t *rank = malloc(sizeof(*rank));
    if (!rank)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a rank");
    *rank = cohort_locality();
    *ret_out = (cohort_object){rank, sizeof(*rank)};
    return COHORT_OK;
}

/* Of 8 localities three die: two with which parts of the others' spans begin, and what follows. All
 * others are called, by each of them. */
static cohort_status call_everywhere(cohort_comm *comm)
{
    static const bool dies[8] = {[4] = true, [6] = true, [7] = true};
    cohort_object outs[8];
    cohort_agreed agreed = {0};
    (void)!cohort_await(cohort_barrier(comm, 1));
    if (dies[cohort_locality()])
        raise(SIGKILL);
    cohort_status status = COHORT_OK;
    while (!status && agreed.num_failed < 3)
        status = cohort_await(cohort_comm_agree(comm, 0, &agreed));
    if (!status)
        status = cohort_await(cohort_async_everywhere("where", NULL, outs));
    uint32_t num = 0;
    for (uint32_t i = 0; i < 8 && !status; i++) {
        uint32_t rank = UINT32_MAX;
        if (outs[i].bytes == sizeof(rank))
            memcpy(&rank, outs[i].data, sizeof(rank));
        if (dies[i] ? outs[i].bytes > 0 : rank != i)
            abort();
        num += rank == i;
        cohort_object_fini(&outs[i]);
    }
    (void)say("everywhere", status);
    printf("%" PRIu32 " answers: %" PRIu32 "\n", cohort_locality(), num);
    return cohort_await(cohort_comm_agree(comm, 0, &agreed)); /* nobody returns before */
}

static cohort_status run(void *arg)
{
    const uint32_t rank = cohort_locality(), num = cohort_num_localities();
    const cohort_comm_options options = {.num_sites = num, .this_site = rank};
    cohort_comm *world = NULL, *half = NULL;
    cohort_status status = cohort_await(cohort_comm_create(&world, "world", &options));
    if (!status && (strcmp(way, "work") == 0 || strcmp(way, "peace") == 0))
        return work(world);
    if (!status &&
        (strcmp(way, "serve") == 0 || strcmp(way, "everywhere") == 0 || strcmp(way, "wait") == 0)) {
        if (strcmp(way, "everywhere") == 0)
            status = call_everywhere(world);
        else if (strcmp(way, "wait") == 0)
            status = wait_for_loss(world);
        else
            status = rank == 0 ? serve(world) : obey(world);
        cohort_comm_unref(world);
        return status;
    }
    if (!status)
        status = cohort_await(cohort_comm_split(&half, world, rank < num / 2, 0, 1));
    if (!status)
        status = strcmp(way, "revoke") == 0 ? revoke_and_die(world, half) : go_on(world, half);
    cohort_comm_unref(half);
    cohort_comm_unref(world);
    return status;
}

int main(int argc, char **argv)
{
    way = argc > 1 ? argv[1] : "";
    if (cohort_remote_register("where", where, NULL))
        return 1;
    return cohort_main(argc, argv, run, NULL);
}
