/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/meeting_missing.h"

#include "collectives/exec/meeting_far.h"

/* Whether the locality of SITE, another one, has done what MEETING waits for. FIRST is the meeting
 * that is to post before it, or MEETING itself. */
static bool is_there(const struct cohort__meetings *meetings, const struct cohort__meeting *meeting,
                     const struct cohort__meeting *first, uint32_t site)
{
    bool has_come = cohort__team_has_come(meetings->team, &meeting->far, site) &&
                    cohort__team_has_come(meetings->team, &first->far, site);
    return has_come && (meeting->state != COHORT__MEETING_REDUCED ||
                        cohort__team_has_share(meetings->team, &meeting->far, site));
}

static bool is_ready(const struct cohort__participant *participant)
{
    return participant && participant->is_ready;
}

/* The last answer of SITE to what MEETING has asked. */
static uint8_t answer_of(const struct cohort__meeting *meeting, uint32_t site)
{
    const struct cohort__inquiry *inquiry = &meeting->inquiry;
    for (uint32_t i = 0; i < inquiry->num_sites; i++)
        if (inquiry->sites[i] == site)
            return inquiry->answers[i];
    return COHORT__ANSWER_NONE;
}

/* With the lock held. Looks at all sites. */
static uint32_t find_missing(const struct cohort__meetings *meetings,
                             const struct cohort__meeting *meeting,
                             struct cohort__inquiry *ret_inquiry)
{
    uint32_t num_missing = 0;
    bool is_open =
        meeting->state != COHORT__MEETING_MOVING && meeting->state != COHORT__MEETING_FAILED;
    const struct cohort__meeting *first =
        is_open ? cohort__meeting_first_to_post(meetings, meeting) : meeting;
    *ret_inquiry =
        (struct cohort__inquiry){.asker = meeting->inquiry.asker, .first = meeting->inquiry.first};
    for (uint32_t i = 0; is_open && i < meetings->sites.num; i++) {
        uint32_t rank = (ret_inquiry->first + i) % meetings->sites.num;
        uint32_t site = meetings->sites.sites[rank];
        bool is_local = cohort__group_is_local(meetings->group, site);
        if (is_local ? is_ready(meeting->participants[rank])
                     : is_there(meetings, meeting, first, site))
            continue;
        if (num_missing++ >= COHORT__INQUIRY_SITES)
            continue;
        ret_inquiry->next = rank + 1;
        ret_inquiry->sites[ret_inquiry->num_sites] = site;
        ret_inquiry->answers[ret_inquiry->num_sites++] = answer_of(meeting, site);
    }
    return num_missing;
}

uint32_t cohort__participant_missing(const struct cohort__participant *participant,
                                     struct cohort__inquiry *ret_inquiry)
{
    const struct cohort__meeting *meeting = participant->meeting;
    *ret_inquiry = (struct cohort__inquiry){0};
    if (!meeting)
        return 0;
    struct cohort__meetings *meetings = meeting->meetings;
    pthread_mutex_lock(&meetings->lock);
    uint32_t num_missing = find_missing(meetings, meeting, ret_inquiry);
    pthread_mutex_unlock(&meetings->lock);
    return num_missing;
}

uint32_t cohort__participant_absent(const struct cohort__participant *participant)
{
    struct cohort__inquiry inquiry;
    cohort__participant_missing(participant, &inquiry);
    for (uint32_t i = 0; i < inquiry.num_sites; i++)
        if (inquiry.answers[i] == COHORT__ANSWER_NOT_CALLED)
            return inquiry.sites[i];
    return COHORT__NO_SITE;
}

/* Whether all that are asked have answered, and only that they will come or have come. */
static bool are_all_right(const struct cohort__inquiry *inquiry)
{
    for (uint32_t i = 0; i < inquiry->num_sites; i++)
        if (inquiry->answers[i] != COHORT__ANSWER_NOT_CALLED &&
            inquiry->answers[i] != COHORT__ANSWER_IN_FLIGHT)
            return false;
    return true;
}

/* There may be more missing sites than are asked at a time. If nothing is wrong with some, it is
 * the turn of others. In time all are asked: on a board those who have come may be missing, too,
 * because they wait for the place that the wrong one has not passed.
 *
 * The asker stays inside while the meeting waits, since a participant that fails fails it. */
bool cohort__participant_inquires(const struct cohort__participant *participant,
                                  struct cohort__inquiry *ret_inquiry)
{
    struct cohort__meeting *meeting = participant->meeting;
    if (!meeting || !participant->is_ready)
        return false;
    struct cohort__meetings *meetings = meeting->meetings;
    pthread_mutex_lock(&meetings->lock);
    if (!meeting->inquiry.asker)
        meeting->inquiry.asker = participant;
    bool is_asker = meeting->inquiry.asker == participant;
    if (is_asker) {
        uint32_t num_missing = find_missing(meetings, meeting, ret_inquiry);
        if (num_missing > COHORT__INQUIRY_SITES && are_all_right(ret_inquiry)) {
            meeting->inquiry.first = ret_inquiry->next;
            find_missing(meetings, meeting, ret_inquiry);
        }
        meeting->inquiry = *ret_inquiry;
        meeting->far.is_overdue = true;
    }
    pthread_mutex_unlock(&meetings->lock);
    return is_asker;
}

void cohort__participant_answered(const struct cohort__participant *participant, uint32_t site,
                                  enum cohort__answer answer)
{
    struct cohort__meeting *meeting = participant->meeting;
    if (!meeting)
        return;
    struct cohort__meetings *meetings = meeting->meetings;
    pthread_mutex_lock(&meetings->lock);
    for (uint32_t i = 0; i < meeting->inquiry.num_sites; i++)
        if (meeting->inquiry.sites[i] == site)
            meeting->inquiry.answers[i] = (uint8_t)answer;
    pthread_mutex_unlock(&meetings->lock);
}
