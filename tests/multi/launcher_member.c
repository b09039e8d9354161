/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/loop/loop.h"
#include "runtime/net/hub.h"
#include "runtime/launch/bootstrap.h"

/* A locality that only uses the control protocol, for tests of cohortrun. Its argument says how it
 * behaves, and may name one rank that behaves so. The others drain:
 *   drain             takes part, and exits with status 0
 *   late RANK STATUS  the same, with that status after it was allowed to leave
 *   quit RANK         exits with status 0 without leaving the job
 *   kill RANK         is killed by SIGKILL
 *   hog RANK          takes 256 MiB of memory that can't be swapped out, and is the same as quit
 *   fail RANK         says why, and exits with status 3
 *   close RANK        closes its connection and goes on sleeping
 *   accuse RANK OTHER says that OTHER can't be reached, which is wrong
 *   rumour RANK OTHER the same; but OTHER is killed soon, and those who are left go on for a second
 *   quarrel RANK OTHER WHAT BACK
 *                     RANK accuses OTHER, and OTHER RANK: of a `fault`, or of a link that is
 * `lost`, or of `nothing`. All go on until one is dead slow              takes a second busy is
 * busy for the first 20 rounds of the drain place             says where it is hub says which
 * memory it shares (the number of its file), and with how many */
struct member {
    struct cohort__bootstrap *bootstrap;
    const char *mode;
    bool goes_on; /* after a death */
    unsigned num_asked;
    bool done;
    bool any_died;
    bool peer_died;
};

static bool time_is_over;

static bool is_mode(const struct member *member, const char *mode)
{
    return strcmp(member->mode, mode) == 0;
}

static void count_asked(void *context, uint64_t round)
{
    struct member *member = context;
    uint32_t rank = cohort__bootstrap_job(member->bootstrap)->rank;
    bool busy = is_mode(member, "busy") && ++member->num_asked <= 20;
    bool is_last = rank == cohort__bootstrap_job(member->bootstrap)->size - 1;
    /* As if rank 0 had sent 5 messages, and the last rank had received them. */
    const uint64_t num = member->goes_on ? 0 : 5;
    cohort__bootstrap_report_counts(member->bootstrap, round, rank == 0 ? num : 0,
                                    is_last ? num : 0, busy);
}

static void exit_allowed(void *context)
{
    ((struct member *)context)->done = true;
}

static void died(void *context, uint32_t rank, uint32_t order, const char *text)
{
    struct member *member = context;
    (void)order;
    printf("told that %u died: %s\n", (unsigned)rank, text);
    fflush(stdout);
    member->any_died = true;
    member->peer_died = !member->goes_on;
}

static void launcher_lost(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "launcher lost: %s\n", text);
    exit(9);
}

static void misbehave(struct member *member, const char *other)
{
    if (is_mode(member, "accuse") || is_mode(member, "rumour"))
        cohort__bootstrap_accuse(member->bootstrap, (uint32_t)atoi(other), false,
                                 "can't be reached");
    if (is_mode(member, "hog"))
        (void)mmap(NULL, 256 << 20, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED | MAP_POPULATE, -1, 0);
    if (is_mode(member, "quit") || is_mode(member, "hog"))
        _exit(0);
    if (is_mode(member, "kill"))
        raise(SIGKILL);
    if (is_mode(member, "fail"))
        cohort__bootstrap_report_failure(member->bootstrap, "the reason\nin two lines");
    if (is_mode(member, "close")) {
        cohort__bootstrap_destroy(member->bootstrap);
        printf("sleeping\n");
        fflush(stdout);
        for (;;)
            pause();
    }
}

static void quarrel(struct member *member, struct cohort__loop *loop, char **argv)
{
    const uint32_t rank = cohort__bootstrap_job(member->bootstrap)->rank;
    const uint32_t who[] = {(uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3])};
    for (int i = 0; i < 2; i++)
        if (rank == who[i] && strcmp(argv[4 + i], "fault") == 0)
            cohort__bootstrap_accuse(member->bootstrap, who[!i], true, "has sent nonsense");
        else if (rank == who[i] && strcmp(argv[4 + i], "lost") == 0)
            cohort__bootstrap_accuse(member->bootstrap, who[!i], false, "can't be reached");
    while (!member->any_died)
        cohort__loop_park(loop);
}

static void say_hub(struct member *member, uint32_t rank)
{
    struct stat stat;
    struct cohort__hub *hub = cohort__bootstrap_take_hub(member->bootstrap);
    if (hub && fstat(hub->memory, &stat) == 0)
        printf("%u has a hub of %u: %llu\n", (unsigned)rank, (unsigned)hub->size,
               (unsigned long long)stat.st_ino);
    cohort__hub_destroy(hub);
}

static void expired(struct cohort__timer *timer)
{
    (void)timer;
    time_is_over = true;
}

/* A second; or, if it IS_TO_DIE, a shorter time. */
static void go_on(struct cohort__loop *loop, bool is_to_die)
{
    struct cohort__timer timer = {.expired = expired};
    cohort__loop_timer(loop, &timer, cohort__clock_after(is_to_die ? 200000000 : 1000000000));
    while (!time_is_over)
        cohort__loop_park(loop);
    if (is_to_die)
        raise(SIGKILL);
}

static int run(struct member *member, struct cohort__loop *loop, int argc, char **argv)
{
    char address[32];
    size_t bytes;
    /* A death may be told of before the exchange is over. */
    member->goes_on = is_mode(member, "rumour") || is_mode(member, "quarrel");
    if (cohort__bootstrap_create(
            &member->bootstrap, loop,
            &(struct cohort__bootstrap_handlers){.context = member,
                                                 .count_asked = count_asked,
                                                 .exit_allowed = exit_allowed,
                                                 .died = died,
                                                 .launcher_lost = launcher_lost}))
        return 10;
    uint32_t rank = cohort__bootstrap_job(member->bootstrap)->rank;
    uint32_t size = cohort__bootstrap_job(member->bootstrap)->size;
    snprintf(address, sizeof(address), "address of %u", (unsigned)rank);
    if (cohort__bootstrap_exchange(member->bootstrap, address, strlen(address) + 1))
        return 11;
    printf("%u of %u, epoch %u, workers %u, last is %s\n", (unsigned)rank, (unsigned)size,
           (unsigned)cohort__bootstrap_job(member->bootstrap)->epoch,
           (unsigned)cohort__bootstrap_job(member->bootstrap)->workers,
           (const char *)cohort__bootstrap_address(member->bootstrap, size - 1, &bytes));
    if (is_mode(member, "place"))
        printf("%u is %u of %u on host %u of %u at %s\n", (unsigned)rank,
               (unsigned)cohort__bootstrap_job(member->bootstrap)->slot,
               (unsigned)cohort__bootstrap_job(member->bootstrap)->sharing,
               (unsigned)cohort__bootstrap_job(member->bootstrap)->host,
               (unsigned)cohort__bootstrap_job(member->bootstrap)->num_hosts,
               cohort__bootstrap_job(member->bootstrap)->host_address);
    if (is_mode(member, "hub"))
        say_hub(member, rank);
    fflush(stdout);
    bool is_chosen = argc > 2 && (uint32_t)atoi(argv[2]) == rank;
    bool is_other = argc > 3 && (uint32_t)atoi(argv[3]) == rank;
    if (is_chosen)
        misbehave(member, argc > 3 ? argv[3] : "0");
    if (is_mode(member, "slow") || is_mode(member, "rumour"))
        go_on(loop, is_other && is_mode(member, "rumour"));
    if (is_mode(member, "quarrel") && argc > 5)
        quarrel(member, loop, argv);
    cohort__bootstrap_finished(member->bootstrap);
    while (!member->done && !member->peer_died) {
        cohort__loop_park(loop);
        if (is_chosen && is_mode(member, "fail"))
            _exit(3);
    }
    bool has_status = is_chosen && argc > 3 && is_mode(member, "late");
    return has_status ? atoi(argv[3]) : member->peer_died ? 12 : 0;
}

int main(int argc, char **argv)
{
    struct member member = {.mode = argc > 1 ? argv[1] : "drain"};
    struct cohort__loop *loop;
    if (cohort__loop_create(&loop))
        return 10;
    int status = run(&member, loop, argc, argv);
    if (status >= 10)
        fprintf(stderr, "%s\n", cohort_error_message());
    cohort__bootstrap_destroy(member.bootstrap);
    cohort__loop_destroy(loop);
    return status;
}
