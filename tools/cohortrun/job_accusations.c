/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: who accuses whom, and which of the two is given up. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "tools/cohortrun/job_private.h"

/* RANK can't go on, as BY says, perhaps of itself. It is kept until its time is over, since by then
 * one of the two may have ended by itself, or have accused the other, too. */
struct accusation {
    struct cohort__list link;     /* in `accusations`, by `due` */
    struct cohort__map_node node; /* in `accusers`, by `by` and `rank` */
    uint32_t rank, by;
    uint64_t due;   /* by the clock */
    uint32_t epoch; /* of the job: of another program it is of no matter */
    bool at_fault;  /* RANK, not the link between the two */
    char *text;     /* a sentence */
};

static uint64_t hash_of(uint32_t rank, uint32_t by)
{
    return cohort__hash_u64((uint64_t)rank << 32 | by);
}

static struct accusation *find(const struct job *job, uint32_t rank, uint32_t by)
{
    struct cohort__map_node *node = cohort__map_find(&job->accusers, hash_of(rank, by), NULL, NULL);
    return node ? COHORT_CONTAINER_OF(node, struct accusation, node) : NULL;
}

static void destroy(struct job *job, struct accusation *accusation)
{
    cohort__list_remove(&accusation->link);
    cohort__map_remove(&job->accusers, &accusation->node);
    free(accusation->text);
    free(accusation);
}

/* Whether nothing is to be heard from LOCALITY any more, nor is anybody to wait for it. */
static bool is_over(const struct job *job, const struct locality *locality)
{
    return locality->guarded.end != GUARDED_RUNS || locality->given_up ||
           !cohort__launcher_is_member(job->launcher, locality->rank);
}

static bool is_moot(const struct job *job, const struct accusation *accusation)
{
    return accusation->epoch != cohort__launcher_epoch(job->launcher) ||
           is_over(job, &job->localities[accusation->rank]) ||
           is_over(job, &job->localities[accusation->by]);
}

/* Where the job keeps going LOCALITY is killed, and dead when it has ended. Else its death ends the
 * job, and perhaps its process can't be ended soon: its host may be what can't be reached. */
static void give_up(struct job *job, struct locality *locality, const char *why)
{
    char text[1024];
    locality->given_up = strdup(why);
    if (!locality->given_up) {
        job_fail(job, JOB_STATUS_FAILED, "no memory to give a locality up");
        return;
    }
    if (job_goes_on_without(job, locality)) {
        locality_signal(locality, SIGKILL);
        return;
    }
    locality_name(locality, text, sizeof(text));
    size_t used = strlen(text);
    snprintf(text + used, sizeof(text) - used, " is given up, since %s", why);
    job->judged_status = JOB_STATUS_FAILED;
    cohort__launcher_ended(job->launcher, locality->rank, true, text);
}

/* Who is at fault is given up. A lost link concerns both: of two on different hosts the higher one
 * is given up, who accuses or is accused, since the first host is to stay if the network between
 * them is cut. So is the higher one of two who say the same of each other. */
static void decide(struct job *job, const struct accusation *accusation)
{
    const uint32_t rank = accusation->rank, by = accusation->by;
    const struct accusation *other = find(job, by, rank);
    if (other && other->at_fault && !accusation->at_fault)
        return; /* its time will come */
    bool are_alike = other && other->at_fault == accusation->at_fault;
    bool are_apart = job->localities[rank].host != job->localities[by].host;
    bool is_between = are_alike || (are_apart && !accusation->at_fault);
    uint32_t chosen = is_between && by > rank ? by : rank;
    give_up(job, &job->localities[chosen],
            chosen == rank || !are_alike ? accusation->text : other->text);
}

static struct accusation *first_of(const struct job *job)
{
    return cohort__list_is_empty(&job->accusations)
               ? NULL
               : COHORT_CONTAINER_OF(job->accusations.next, struct accusation, link);
}

static void await_first(struct job *job)
{
    const struct accusation *first = first_of(job);
    const uint64_t now = cohort__clock_now();
    if (first)
        timer_set(&job->accusation_due, first->due > now ? first->due - now : 0);
}

/* Decides those whose time is over, and waits for the others'. */
static void accusations_due(void *context)
{
    struct job *job = context;
    const uint64_t now = cohort__clock_now();
    struct accusation *first;
    while ((first = first_of(job)) && first->due <= now) {
        if (job->stage == RUNNING && !is_moot(job, first))
            decide(job, first);
        destroy(job, first);
    }
    await_first(job);
}

/* Puts ACCUSATION in its place, which is mostly the last one. */
static void enlist(struct job *job, struct accusation *accusation)
{
    struct cohort__list *place = job->accusations.prev;
    while (place != &job->accusations &&
           COHORT_CONTAINER_OF(place, struct accusation, link)->due > accusation->due)
        place = place->prev;
    cohort__list_insert_after(place, &accusation->link);
    cohort__map_insert(&job->accusers, &accusation->node,
                       hash_of(accusation->rank, accusation->by));
}

/* Of two by the same one about the same one the first counts, unless the later one says more, or is
 * due earlier. */
static void accuse(struct job *job, const struct accusation *what, const char *text)
{
    struct accusation *known = find(job, what->rank, what->by);
    bool is_current = known && known->epoch == what->epoch;
    if (is_moot(job, what) ||
        (is_current && known->due <= what->due && known->at_fault >= what->at_fault))
        return;
    struct accusation *accusation = malloc(sizeof(*accusation));
    char *copy = strdup(text);
    if (!accusation || !copy) {
        free(accusation);
        free(copy);
        job_fail(job, JOB_STATUS_FAILED, "no memory for what one locality says of another");
        return;
    }
    *accusation = *what;
    accusation->text = copy;
    if (is_current && known->due < accusation->due)
        accusation->due = known->due;
    if (known)
        destroy(job, known);
    enlist(job, accusation);
    if (first_of(job) == accusation)
        await_first(job);
}

void job_accused(struct job *job, uint32_t rank, uint32_t by, bool at_fault, const char *text)
{
    accuse(job,
           &(struct accusation){.rank = rank,
                                .by = by,
                                .due = cohort__clock_after(job->options->grace_ns),
                                .epoch = cohort__launcher_epoch(job->launcher),
                                .at_fault = at_fault},
           text);
}

void job_doom(struct job *job, const struct locality *locality, uint64_t nanoseconds,
              const char *text)
{
    accuse(job,
           &(struct accusation){.rank = locality->rank,
                                .by = locality->rank,
                                .due = cohort__clock_after(nanoseconds),
                                .epoch = cohort__launcher_epoch(job->launcher),
                                .at_fault = true},
           text);
}

void job_init_accusations(struct job *job)
{
    cohort__list_init(&job->accusations);
    cohort__map_init(&job->accusers);
    timer_init(&job->accusation_due, job->loop, accusations_due, job);
}

void job_clear_accusations(struct job *job)
{
    timer_clear(&job->accusation_due);
    struct accusation *first;
    while ((first = first_of(job)))
        destroy(job, first);
    cohort__map_fini(&job->accusers);
}
