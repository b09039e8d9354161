/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
 *   busy              is busy for the first 20 rounds of the drain
 *   place             says where it is
 *   hub               says which memory it shares (the number of its file), and with how many */
struct member {
    struct cohort__bootstrap *bootstrap;
    const char *mode;
    unsigned num_asked;
    bool done;
    bool peer_died;
};

static void count_asked(void *context, uint64_t round)
{
    struct member *member = context;
    uint32_t rank = cohort__bootstrap_rank(member->bootstrap);
    bool busy = strcmp(member->mode, "busy") == 0 && ++member->num_asked <= 20;
    /* As if rank 0 had sent 5 messages, and the last rank had received them. */
    cohort__bootstrap_report_counts(member->bootstrap, round, rank == 0 ? 5 : 0,
                                    rank == cohort__bootstrap_size(member->bootstrap) - 1 ? 5 : 0,
                                    busy);
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
    member->peer_died = true;
}

static void launcher_lost(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "launcher lost: %s\n", text);
    exit(9);
}

static void misbehave(struct member *member)
{
    if (strcmp(member->mode, "hog") == 0)
        (void)mmap(NULL, 256 << 20, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED | MAP_POPULATE, -1, 0);
    if (strcmp(member->mode, "quit") == 0 || strcmp(member->mode, "hog") == 0)
        _exit(0);
    if (strcmp(member->mode, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(member->mode, "fail") == 0)
        cohort__bootstrap_report_failure(member->bootstrap, "the reason\nin two lines");
    if (strcmp(member->mode, "close") == 0) {
        cohort__bootstrap_destroy(member->bootstrap);
        printf("sleeping\n");
        fflush(stdout);
        for (;;)
            pause();
    }
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

static int run(struct member *member, struct cohort__loop *loop, int argc, char **argv)
{
    char address[32];
    size_t bytes;
    if (cohort__bootstrap_create(
            &member->bootstrap, loop,
            &(struct cohort__bootstrap_handlers){.context = member,
                                                 .count_asked = count_asked,
                                                 .exit_allowed = exit_allowed,
                                                 .died = died,
                                                 .launcher_lost = launcher_lost}))
        return 10;
    uint32_t rank = cohort__bootstrap_rank(member->bootstrap);
    uint32_t size = cohort__bootstrap_size(member->bootstrap);
    snprintf(address, sizeof(address), "address of %u", (unsigned)rank);
    if (cohort__bootstrap_exchange(member->bootstrap, address, strlen(address) + 1))
        return 11;
    printf("%u of %u, epoch %u, workers %u, last is %s\n", (unsigned)rank, (unsigned)size,
           (unsigned)cohort__bootstrap_epoch(member->bootstrap),
           (unsigned)cohort__bootstrap_workers(member->bootstrap),
           (const char *)cohort__bootstrap_address(member->bootstrap, size - 1, &bytes));
    if (strcmp(member->mode, "place") == 0)
        printf("%u is %u of %u on host %u of %u at %s\n", (unsigned)rank,
               (unsigned)cohort__bootstrap_slot(member->bootstrap),
               (unsigned)cohort__bootstrap_sharing(member->bootstrap),
               (unsigned)cohort__bootstrap_host(member->bootstrap),
               (unsigned)cohort__bootstrap_num_hosts(member->bootstrap),
               cohort__bootstrap_host_address(member->bootstrap));
    if (strcmp(member->mode, "hub") == 0)
        say_hub(member, rank);
    fflush(stdout);
    bool is_chosen = argc > 2 && (uint32_t)atoi(argv[2]) == rank;
    if (is_chosen)
        misbehave(member);
    cohort__bootstrap_finished(member->bootstrap);
    while (!member->done && !member->peer_died) {
        cohort__loop_park(loop);
        if (is_chosen && strcmp(member->mode, "fail") == 0)
            _exit(3);
    }
    return is_chosen && argc > 3 ? atoi(argv[3]) : member->peer_died ? 12 : 0;
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
