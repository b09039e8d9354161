/* SPDX-License-Identifier: Apache-2.0 */
/* Which sites a meeting waits for. Asked when an operation has waited for long. */
#include "collectives/comm/endpoint.h"
#include "collectives/exec/meetings.h"

/* Whether the locality of SITE, another one, has done what MEETING waits for. FIRST is the meeting
 * that is to post before it, or MEETING itself. */
static bool is_there(const struct meetings *meetings, const struct cohort__meeting *meeting,
                     const struct cohort__meeting *first, uint32_t site)
{
    bool has_come = cohort__team_has_come(meetings->team, &meeting->far, site) &&
                    cohort__team_has_come(meetings->team, &first->far, site);
    return has_come && (meeting->state != COHORT__MEETING_REDUCED ||
                        cohort__team_has_share(meetings->team, &meeting->far, site));
}

uint32_t cohort__participant_missing(const struct cohort__participant *participant,
                                     uint32_t *ret_sites, uint32_t max_sites)
{
    struct meetings *meetings = cohort__meetings_get(participant->operation.comm->group);
    struct cohort__meeting *meeting = participant->meeting;
    uint32_t num_missing = 0;
    if (!meeting)
        return 0;
    pthread_mutex_lock(&meetings->lock);
    bool is_open =
        meeting->state != COHORT__MEETING_MOVING && meeting->state != COHORT__MEETING_FAILED;
    const struct cohort__meeting *first =
        is_open ? cohort__meeting_first_to_post(meetings, meeting) : meeting;
    for (uint32_t site = 0; is_open && site < meeting->movement.num_sites; site++) {
        bool is_local = cohort__group_is_local(meetings->group, site);
        if (is_local ? meeting->participants[site] != NULL
                     : is_there(meetings, meeting, first, site))
            continue;
        if (num_missing < max_sites)
            ret_sites[num_missing] = site;
        num_missing++;
    }
    pthread_mutex_unlock(&meetings->lock);
    return num_missing;
}

void cohort__participant_overdue(const struct cohort__participant *participant)
{
    struct meetings *meetings = cohort__meetings_get(participant->operation.comm->group);
    struct cohort__meeting *meeting = participant->meeting;
    if (!meeting)
        return;
    pthread_mutex_lock(&meetings->lock);
    meeting->far.is_overdue = true;
    pthread_mutex_unlock(&meetings->lock);
}
