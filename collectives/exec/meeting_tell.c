/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/meeting_tell.h"

#include <stdlib.h>

#include "collectives/comm/operation.h"
#include "runtime/task/scheduler.h"

/* Where tasks of several workers meet, the last one to come would have to tell all of them, and
 * each endpoint, operation and future is in the cache of the core that has made the call. So the
 * participants are in bunches, by the worker that has made the call. The last one to come keeps a
 * bunch for itself, and posts the others as works for idle workers. If none is idle it tells all:
 * nobody must wait for a work behind a task that computes for long. */

enum {
    MOST_BUNCHES = 16,
    LEAST_TOLD = 4, /* by a work; fewer are told in the time that it takes to get to another core */
};

struct cohort__bunch {
    struct cohort__work work;
    struct cohort__participant *first;
    uint32_t num;
} __attribute__((aligned(64))); /* so that workers don't write to the same lines */

/* The first participant of a failed meeting that comes here tells the sites outside. */
void cohort__participant_tell_outside(const struct cohort__participant *participant)
{
    struct cohort__meeting *meeting = participant->meeting;
    if (atomic_exchange(&meeting->is_untold, false))
        cohort__failure_tell(participant->operation, meeting->is_awaited);
}

/* In the endpoint's turn: the meeting is over for this participant. */
static void run_over(struct cohort__actor *actor, struct cohort__item *item)
{
    (void)actor;
    struct cohort__participant *participant =
        COHORT_CONTAINER_OF(item, struct cohort__participant, over);
    const struct cohort__error *error = &participant->meeting->error;
    participant->told(participant, error->status ? error : NULL);
}

static void tell(struct cohort__participant *participant)
{
    participant->over.run = run_over;
    cohort__endpoint_post(participant->operation->comm, &participant->over);
}

void cohort__participants_tell(struct cohort__participant *participants)
{
    while (participants) {
        struct cohort__participant *next = participants->next; /* it may be gone then */
        tell(participants);
        participants = next;
    }
}

/* Bunches ---------------------------------------------------------------------------------- */

static struct cohort__participant *take(struct cohort__bunch *bunch)
{
    struct cohort__participant *first = bunch->first;
    bunch->first = NULL;
    bunch->num = 0;
    return first;
}

static void run_bunch(struct cohort__work *work)
{
    cohort__participants_tell(take(COHORT_CONTAINER_OF(work, struct cohort__bunch, work)));
}

bool cohort__meeting_bunches_create(struct cohort__meeting *meeting, uint32_t num_local)
{
    unsigned num_workers = cohort__scheduler_num_workers();
    uint32_t num = num_workers < MOST_BUNCHES ? num_workers : MOST_BUNCHES;
    if (num == 1 || num_local < 2 * LEAST_TOLD)
        num = 0;
    meeting->num_bunches = num;
    meeting->bunches = NULL;
    if (num == 0)
        return true;
    meeting->bunches = aligned_alloc(64, num * sizeof(*meeting->bunches));
    for (uint32_t i = 0; meeting->bunches && i < num; i++)
        meeting->bunches[i] = (struct cohort__bunch){.work.run = run_bunch};
    return meeting->bunches != NULL;
}

static struct cohort__bunch *bunch_of_worker(struct cohort__meeting *meeting)
{
    int worker = cohort_worker_index(); /* -1: a thread that is no worker */
    return &meeting->bunches[worker < 0 ? 0 : (uint32_t)worker % meeting->num_bunches];
}

void cohort__meeting_bunch(struct cohort__meeting *meeting, struct cohort__participant *participant)
{
    if (meeting->num_bunches == 0)
        return;
    struct cohort__bunch *bunch = bunch_of_worker(meeting);
    participant->next = bunch->first;
    bunch->first = participant;
    bunch->num++;
}

void cohort__meeting_bunches_empty(struct cohort__meeting *meeting)
{
    for (uint32_t i = 0; i < meeting->num_bunches; i++)
        take(&meeting->bunches[i]);
}

/* The meeting stays until the caller's own bunch is told, which is the last thing it does. */
static void tell_bunches(struct cohort__meeting *meeting)
{
    struct cohort__bunch *own = bunch_of_worker(meeting);
    struct cohort__participant *told = take(own);
    for (uint32_t i = 0; i < meeting->num_bunches; i++) {
        struct cohort__bunch *bunch = &meeting->bunches[i];
        if (told && bunch->num >= LEAST_TOLD) {
            cohort__chore_post(&bunch->work);
            continue;
        }
        struct cohort__participant *first = take(bunch);
        while (first) {
            struct cohort__participant *next = first->next;
            first->next = told;
            told = first;
            first = next;
        }
    }
    cohort__participants_tell(told);
}

/* No participant leaves before it is told, so the meeting stays until the last one is. */
static void tell_all(struct cohort__meeting *meeting)
{
    struct cohort__participant **participants = meeting->participants;
    uint32_t num_left = meeting->num_come; /* the meeting may be gone after the last one */
    cohort__meeting_bunches_empty(meeting);
    for (uint32_t rank = 0; num_left > 0; rank++) {
        if (!participants[rank])
            continue;
        num_left--;
        tell(participants[rank]);
    }
}

void cohort__meeting_over(struct cohort__meeting *meeting)
{
    if (meeting->num_bunches > 0 && cohort__scheduler_has_idle())
        tell_bunches(meeting);
    else
        tell_all(meeting);
}
