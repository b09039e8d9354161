/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETINGS_H
#define COHORT_COLLECTIVES_EXEC_MEETINGS_H

#include <pthread.h>
#include <stdatomic.h>

#include "collectives/comm/assembly.h"
#include "collectives/comm/group.h"
#include "collectives/exec/visit.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"

/* Private to meeting.c and meeting_far.c: all meetings of a group. */
struct meetings {
    struct cohort__meetings base; /* first */
    pthread_mutex_t lock;
    struct cohort__list current; /* by generation: open, gathered and failed ones */
    struct cohort__list moving;
    struct cohort__list spare;
    uint32_t num_failed; /* in `current` */
    uint32_t num_local;  /* sites of this locality */
    struct cohort__group *group;
    struct cohort__assembly *assembly; /* with other localities; NULL: there are none */
    _Atomic uint32_t num_gathered;
    uint64_t last_ended; /* generation, the highest one */
};

static inline struct cohort__meeting *cohort__meeting_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct cohort__meeting, link);
}

/* meeting.c, with the lock held: an open or gathered meeting fails with ERROR. Those who are
 * inside, but for EXCEPT, are added to *TOLD. */
void cohort__meeting_fail(struct meetings *meetings, struct cohort__meeting *meeting,
                          const struct cohort__error *error, const struct cohort__visit *except,
                          struct cohort__visit **told);

/* meeting_far.c. One of this locality's endpoints, where at least one of its sites is inside. */
const struct cohort_comm *cohort__meeting_local_comm(const struct cohort__meeting *meeting);

/* What each site brings. */
size_t cohort__meeting_in_bytes(const struct cohort__meeting *meeting);

/* The following with the lock held. Whether MEETING may post: posts go up in the order of their
 * generations. */
bool cohort__meeting_is_next(const struct meetings *meetings,
                             const struct cohort__meeting *meeting);

/* A gathered meeting: posts what this locality's sites bring, and sees who else is there. Where
 * that fails it, those to be told are added to *TOLD. */
enum cohort__attendance_state cohort__meeting_await_others(struct meetings *meetings,
                                                           struct cohort__meeting *meeting,
                                                           struct cohort__visit **told);

/* Everybody is there: from now on the meeting moves. */
void cohort__meeting_begin_moving(struct meetings *meetings, struct cohort__meeting *meeting);

#endif
