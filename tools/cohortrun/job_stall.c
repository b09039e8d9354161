/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: says when nothing moves in the whole job. */
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "tools/cohortrun/fleet.h"
#include "tools/cohortrun/job_private.h"
#include "tools/cohortrun/motion.h"
#include "tools/cohortrun/options.h"
#include "tools/cohortrun/status/status.h"

struct job_stall {
    struct stall stall;
    struct motion *motion; /* of this host */
    struct timer look;
    uint64_t looked_at;
    double seconds; /* said at first; later twice as many, and so on */
    uint64_t first_limit;
};

static void say(const struct job *job)
{
    const struct job_stall *stall = job->stall;
    const double times = (double)stall->stall.limit / (double)stall->first_limit;
    output_say(job->output,
               "nothing has moved for %g s; Ctrl-\\ or \"cohortrun " STATUS_OPTION
               " %d\" says who waits for whom",
               stall->seconds * times, (int)getpid());
}

/* Output that nobody reads holds up whoever writes more: cohortrun's reader is to move then. */
static bool moves(const struct job *job, enum motion_result here)
{
    return here == MOTION_MOVES || !output_is_drained(job->output);
}

static void look(void *context)
{
    struct job *job = context;
    struct job_stall *stall = job->stall;
    const uint64_t now = cohort__clock_now();
    const uint64_t elapsed = now - stall->looked_at;
    const enum motion_result here = motion_look(stall->motion, now);
    stall->looked_at = now;
    if (job->stage != RUNNING)
        return; /* it ends */
    timer_set(&stall->look, stall->stall.interval);
    if (moves(job, here))
        stall_moved(&stall->stall);
    else if ((here == MOTION_STILL || (job->fleet && fleet_is_still(job->fleet))) &&
             stall_still(&stall->stall, elapsed))
        say(job);
}

void job_stall_open(struct job *job)
{
    uint32_t first, num;
    const struct options *options = job->options;
    if (options->stall_ns == 0)
        return;
    struct job_stall *stall = calloc(1, sizeof(*stall));
    job_find_own_localities(job, &first, &num);
    if (stall)
        stall->motion = motion_create(job->localities + (num ? first : 0), num, job->ledger);
    if (!stall || !stall->motion) {
        free(stall);
        return;
    }
    /* Other hosts say with a heartbeat what has moved since the one before. */
    stall->first_limit = options->stall_ns + (job->fleet ? 2 * options->heartbeat_ns : 0);
    stall->seconds = (double)options->stall_ns / 1e9;
    stall_init(&stall->stall, stall->first_limit);
    stall->looked_at = cohort__clock_now();
    job->stall = stall;
    timer_init(&stall->look, job->loop, look, job);
    timer_set(&stall->look, stall->stall.interval);
}

void job_stall_moved(struct job *job)
{
    if (job->stall)
        stall_moved(&job->stall->stall);
}

void job_stall_close(struct job *job)
{
    if (job->stall)
        timer_clear(&job->stall->look);
}

void job_stall_destroy(struct job *job)
{
    if (job->stall)
        motion_destroy(job->stall->motion);
    free(job->stall);
}
