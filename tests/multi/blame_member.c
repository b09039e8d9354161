/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cohort/cohort.h"
#include "tests/multi/member.h"

/* One death and its consequence: locality 2 is killed, and locality 1 is told and exits, as
 * programs do. Locality 0 does not look before both have ended. It has to blame the first death. */

enum { NUM_SITES = 3, VICTIM = 2 };

static int64_t pids[NUM_SITES];

/* Does not run the event loop. After the process has ended, the guardian soon waits for it; then it
 * is no zombie any more. */
static void wait_for_end(pid_t pid)
{
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    if (end.fd >= 0) { /* else it is gone already, or the kernel has no such descriptors */
        while (poll(&end, 1, -1) < 0 && errno == EINTR)
            continue;
        close(end.fd);
    }
    while (kill(pid, 0) == 0 || errno != ESRCH)
        sched_yield();
}

static cohort_status program(void *arg)
{
    uint32_t me = cohort_locality();
    int64_t pid = getpid();
    cohort_comm *comm = NULL;
    cohort_comm_options options = {.num_sites = NUM_SITES, .this_site = me};
    cohort_status status = cohort_await(cohort_comm_create(&comm, "blame", &options));
    if (!status)
        status = cohort_await(cohort_all_gather(comm, &pid, pids, 1, COHORT_INT64, 1));
    if (status)
        return status;
    if (me == VICTIM) { /* dies when the others have its number */
        for (uint32_t site = 0; site < VICTIM; site++)
            (void)!cohort_await(cohort_channel_get(comm, site, 1, &pid, sizeof(pid), NULL));
        raise(SIGKILL);
    }
    status = cohort_await(cohort_channel_set(comm, VICTIM, 1, &pid, sizeof(pid)));
    if (me == 1) {
        (void)!cohort_await(cohort_barrier(comm, 2));
        _exit(1);
    }
    wait_for_end((pid_t)pids[VICTIM]);
    wait_for_end((pid_t)pids[1]);
    status = cohort_await(cohort_barrier(comm, 2));
    member_say("%s %s", cohort_status_name(status), cohort_error_message());
    cohort_comm_unref(comm);
    return status;
}

int main(int argc, char **argv)
{
    return cohort_main(argc, argv, program, NULL);
}
