/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETING_FAR_H
#define COHORT_COLLECTIVES_EXEC_MEETING_FAR_H

#include "collectives/exec/meeting.h"
#include "collectives/exec/meetings.h"

/* What a meeting has to do with the other localities of the host. */

/* With the lock held. The first meeting that has to post before MEETING may. MEETING itself if
 * there is none. */
const struct cohort__meeting *cohort__meeting_first_to_post(const struct cohort__meetings *meetings,
                                                            const struct cohort__meeting *meeting);

/* With the lock held. All are there: from now on the meeting moves data, or reduces its share
 * first. */
void cohort__meeting_begin_moving(struct cohort__meetings *meetings,
                                  struct cohort__meeting *meeting);

/* What a look at the board has found. */
struct cohort__looked {
    struct cohort__participant *told; /* participants whose meetings have failed */
    struct cohort__meeting *full;     /* meetings that begin to move, or to reduce */
    struct {                          /* to a site whose locality has posted for another call */
        struct cohort__message *message;
        struct cohort__group *group; /* a reference */
        uint32_t site;
    } question; /* at most one; the next look finds the next one */
};

/* With the lock held, for a gathered meeting: posts what this locality's sites bring, and looks
 * which others have posted. If the meeting fails by that, or another locality has called something
 * else, what has to follow is added to *LOOKED. */
enum cohort__round_state cohort__meeting_await_others(struct cohort__meetings *meetings,
                                                      struct cohort__meeting *meeting,
                                                      struct cohort__looked *looked);

/* With the lock held: looks at the board for what all waiting meetings wait for, and adds what has
 * to follow to *LOOKED. */
void cohort__meetings_look(struct cohort__meetings *meetings, struct cohort__looked *looked);

/* Without the lock: does what has to follow a look. */
void cohort__looked_go_on(struct cohort__looked *looked);

#endif
