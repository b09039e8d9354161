/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/attendance.h"

#include <inttypes.h>
#include <string.h>

#include "collectives/comm/early.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/fingerprint.h"
#include "collectives/comm/remote.h"
#include "collectives/exec/meeting.h"
#include "collectives/exec/stall.h"
#include "collectives/plan/plan.h"

/* What is rare is not inlined, so that what each call does keeps the registers. */

/* Coming ----------------------------------------------------------------------------------- */

static struct cohort__meeting *meeting_find(struct cohort__meetings *meetings, uint64_t generation,
                                            uint32_t index)
{
    for (struct cohort__list *link = meetings->current.next; link != &meetings->current;
         link = link->next) {
        struct cohort__meeting *meeting = cohort__meeting_of(link);
        if (!cohort__meeting_precedes(meeting, generation, index))
            return meeting->generation == generation && meeting->index == index ? meeting : NULL;
    }
    return NULL;
}

/* An open meeting that the site of RANK, which comes to GENERATION, has left out, whatever its
 * index. It will never be complete. NULL: there is none. */
static struct cohort__meeting *left_out_by(struct cohort__meetings *meetings, uint32_t rank,
                                           uint64_t generation)
{
    for (struct cohort__list *link = meetings->current.next; link != &meetings->current;
         link = link->next) {
        struct cohort__meeting *meeting = cohort__meeting_of(link);
        if (meeting->generation >= generation)
            return NULL;
        if (meeting->state == COHORT__MEETING_OPEN && !meeting->participants[rank])
            return meeting;
    }
    return NULL;
}

static uint32_t site_of(const struct cohort__participant *participant)
{
    return participant->operation->comm->this_site;
}

/* A site that has come to a later generation, so that it will never come to GENERATION. UINT32_MAX:
 * there is none. */
static uint32_t site_beyond(const struct cohort__meetings *meetings, uint64_t generation)
{
    const struct cohort__list *last = meetings->current.prev;
    if (last == &meetings->current)
        return UINT32_MAX;
    const struct cohort__meeting *later =
        COHORT_CONTAINER_OF(last, const struct cohort__meeting, link);
    if (later->generation <= generation || later->state != COHORT__MEETING_OPEN)
        return UINT32_MAX;
    return site_of(cohort__meeting_first(later));
}

/* A site of this locality that has left, so that it comes to no meeting that is opened from now on.
 * UINT32_MAX: there is none. One that leaves later fails the meetings that are open
 * (on_left). */
static uint32_t site_left(const struct cohort__meetings *meetings)
{
    for (uint32_t rank = 0; rank < meetings->sites.num; rank++) {
        uint32_t site = meetings->sites.sites[rank];
        const struct cohort_comm *comm = cohort__endpoint_at(meetings->group, site);
        if (comm && atomic_load(&comm->refs) == 0)
            return site;
    }
    return UINT32_MAX;
}

/* Sets *ERROR to the reason why COMM's site, which comes to LATER, is not in PAST, an open meeting.
 * Its call there was another one, or failed outside of a meeting, perhaps too long ago to be
 * remembered, or there was no such call. */
static void set_missed(struct cohort__error *error, struct cohort_comm *comm,
                       const struct cohort__meeting *past, uint64_t later)
{
    uint64_t generation = past->generation;
    const struct cohort__operation *operation = cohort__endpoint_find(comm, generation);
    const struct cohort__ended *ended = &comm->window[generation % COHORT__WINDOW].ended;
    const struct cohort__failure *failure = cohort__endpoint_failure(comm, generation);
    bool has_called = operation || ended->generation == generation;
    const struct cohort__signature *called = operation ? &operation->signature : &ended->signature;
    if (failure) {
        cohort__error_copy(error, &failure->error);
        return;
    }
    unsigned phase = cohort__meeting_first(past)->phase;
    if (has_called &&
        !cohort__fingerprint_fits(cohort__fingerprint(called), past->fingerprint, phase)) {
        char words[COHORT__SIGNATURE_TEXT];
        cohort__signature_describe(called, words, sizeof(words));
        cohort__operation_mismatch(cohort__meeting_first(past)->operation, comm->this_site, words,
                                   error);
        return;
    }
    if (!cohort__history_skipped(&comm->history, generation)) {
        cohort__error_set(error, COHORT_ERR_MISMATCH,
                          "communicator \"%.60s\", generation %" PRIu64 ": " COHORT__FORGOTTEN,
                          comm->group->name, generation, comm->this_site, comm->group->rank);
        return;
    }
    cohort__error_set(error, COHORT_ERR_MOVED_PAST,
                      "communicator \"%.60s\", generation %" PRIu64
                      ": site %u (locality %u) has left out this generation; its last is %" PRIu64,
                      comm->group->name, generation, comm->this_site, comm->group->rank, later);
}

static bool are_fingerprints_fine(const struct cohort__meeting *meeting,
                                  const struct cohort__participant *participant)
{
    uint64_t fingerprint = participant->operation->fingerprint;
    return meeting->fingerprint == fingerprint ||
           cohort__fingerprint_fits(meeting->fingerprint, fingerprint, participant->phase);
}

/* Two calls may differ though their fingerprints are equal. */
static bool has_same_terms(const struct cohort__meeting *meeting,
                           const struct cohort__participant *participant)
{
    const struct cohort__terms *terms = &meeting->movement.terms, *own = &participant->terms;
    return are_fingerprints_fine(meeting, participant) && terms->kind == own->kind &&
           terms->root == own->root && terms->shift == own->shift && terms->count == own->count &&
           terms->stride == own->stride && terms->element == own->element;
}

static void enter(struct cohort__meeting *meeting, struct cohort__participant *participant)
{
    meeting->participants[participant->rank] = participant;
    cohort__meeting_bunch(meeting, participant);
    /* Nobody leaves without the lock before the meeting is complete. */
    const uint32_t num_inside = atomic_load_explicit(&meeting->num_inside, memory_order_relaxed);
    atomic_store_explicit(&meeting->num_inside, num_inside + 1, memory_order_relaxed);
    meeting->num_come++;
    participant->meeting = meeting;
}

/* What came of an attempt to enter. */
struct entry {
    struct cohort__refusal *refusal; /* why it may not enter, if so */
    bool is_last;                    /* all are there and ready */
    uint32_t never_comes;            /* a site that knows why; UINT32_MAX: none */
    struct cohort__looked looked;
};

/* PARTICIPANT can't enter, as the error that is set says. */
static void refuse(const struct cohort__participant *participant, struct cohort__refusal *refusal)
{
    const struct cohort__operation *operation = participant->operation;
    cohort__call_error(operation->comm, operation->generation, &operation->signature,
                       cohort__error_slot()->status, cohort_error_message(), &refusal->error);
}

__attribute__((noinline)) static struct cohort__meeting *
open_meeting(struct cohort__meetings *meetings, const struct cohort__participant *participant,
             struct entry *entry)
{
    struct cohort__group *group = meetings->group;
    entry->never_comes = site_beyond(meetings, participant->operation->generation);
    if (entry->never_comes == UINT32_MAX && atomic_load(&group->num_left) > 0)
        entry->never_comes = site_left(meetings);
    struct cohort__meeting *meeting = cohort__meeting_open(meetings, participant);
    if (!meeting) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a meeting of %u sites",
                    meetings->sites.num);
        refuse(participant, entry->refusal);
    }
    return meeting;
}

/* PARTICIPANT can't be in MEETING: the sites there have called something else. */
__attribute__((noinline)) static void set_mismatch(struct cohort__error *error,
                                                   const struct cohort__meeting *meeting,
                                                   const struct cohort__participant *participant)
{
    const struct cohort__operation *operation = participant->operation;
    const struct cohort__terms *terms = &meeting->movement.terms, *own = &participant->terms;
    if (!are_fingerprints_fine(meeting, participant)) {
        char words[COHORT__SIGNATURE_TEXT];
        const struct cohort__participant *other = cohort__meeting_first(meeting);
        cohort__signature_describe(&other->operation->signature, words, sizeof(words));
        cohort__operation_mismatch(operation, site_of(other), words, error);
        return;
    }
    cohort__error_set(error, COHORT_ERR_MISMATCH,
                      "communicator \"%.60s\", generation %" PRIu64
                      ": site %u has blocks of %zu elements of %zu bytes where %zu of %zu bytes "
                      "were expected",
                      operation->comm->group->name, operation->generation,
                      operation->comm->this_site, own->count, own->element, terms->count,
                      terms->element);
}

__attribute__((noinline)) static void fail_left_out(struct cohort__meetings *meetings,
                                                    struct cohort__meeting *past,
                                                    const struct cohort__participant *participant,
                                                    struct entry *entry)
{
    struct cohort__error error = {0};
    set_missed(&error, participant->operation->comm, past, participant->operation->generation);
    cohort__meeting_fail(meetings, past, &error, NULL, &entry->looked.told);
    cohort__error_fini(&error);
}

/* All sites of this locality are inside and ready. None of them will come to an earlier meeting. */
static void gathered(struct cohort__meetings *meetings, struct cohort__meeting *meeting,
                     struct entry *entry)
{
    entry->is_last = true;
    if (meetings->team) {
        meeting->state = COHORT__MEETING_GATHERED;
        cohort__watch_begin(&meetings->group->commons->watches, &meetings->watch);
        meetings->last_gathered = meeting->far.number;
        if (meeting->generation > cohort__board_generation(meetings->last_ended) + 1)
            cohort__meetings_pass(meetings);
        entry->is_last = cohort__meeting_await_others(meetings, meeting, &entry->looked);
    }
    if (entry->is_last)
        cohort__meeting_begin_moving(meetings, meeting);
}

/* The buffers of PARTICIPANT, which is inside, may be accessed. */
static inline void get_ready(struct cohort__meetings *meetings, struct cohort__meeting *meeting,
                             const struct cohort__participant *participant, struct entry *entry)
{
    meeting->movement.in[participant->rank] = participant->in;
    meeting->movement.out[participant->rank] = participant->out;
    if (++meeting->num_ready == meetings->num_local)
        gathered(meetings, meeting, entry);
}

/* With the lock held. A site that has been told already that the call fails stays outside. It is
 * about to fail, and the meeting of those that have come is over, mostly. If it opened another one,
 * to fail at once, n sites would look through n places each. */
static void try_enter(struct cohort__meetings *meetings, struct cohort__participant *participant,
                      struct entry *entry)
{
    uint64_t generation = participant->operation->generation;
    struct cohort__refusal *refusal = entry->refusal;
    struct cohort__meeting *past;
    while ((past = left_out_by(meetings, participant->rank, generation)))
        fail_left_out(meetings, past, participant, entry);
    if (cohort__early_is_told(participant->operation->comm, generation))
        return;
    struct cohort__meeting *meeting = meeting_find(meetings, generation, participant->index);
    if (!meeting) {
        meeting = open_meeting(meetings, participant, entry);
    } else if (meeting->state == COHORT__MEETING_FAILED) {
        cohort__error_copy(&refusal->error, &meeting->error);
        refusal->is_told = true;
    } else if (!has_same_terms(meeting, participant)) {
        set_mismatch(&refusal->error, meeting, participant);
        refusal->is_told = true;
        cohort__meeting_fail(meetings, meeting, &refusal->error, NULL, &entry->looked.told);
    }
    if (refusal->error.status)
        return;
    enter(meeting, participant);
    if (participant->is_ready)
        get_ready(meetings, meeting, participant, entry);
}

/* Without the lock: does what has to follow. */
static inline void go_on(struct cohort__participant *participant, struct entry *entry)
{
    if (entry->is_last) {
        participant->meeting->next_full = NULL;
        entry->looked.full = participant->meeting;
    }
    if (entry->looked.told || entry->looked.full ||
        entry->looked.question.message) /* mostly none */
        cohort__looked_go_on(&entry->looked);
}

/* Behind an agreement, who does not come may have failed by it, as PARTICIPANT's site will. If not,
 * the meeting in which they agree asks. */
static bool asks(const struct cohort__participant *participant)
{
    return participant->phase == COHORT__PHASE_CHECK || !participant->operation->signature.checked;
}

/* The meetings as a whole ---------------------------------------------------------------------- */

/* By the thread that turns the event loop: whether something has come on the board meanwhile. */
static bool on_look(struct cohort__watch *watch)
{
    struct cohort__meetings *meetings = COHORT_CONTAINER_OF(watch, struct cohort__meetings, watch);
    struct cohort__looked looked = {0};
    cohort__lock_take(&meetings->lock);
    cohort__meetings_look(meetings, &looked);
    cohort__lock_give(&meetings->lock);
    bool any = looked.told || looked.full;
    cohort__looked_go_on(&looked);
    return any;
}

/* The calls that a site made before it left have been cancelled by now. So an open meeting from
 * there on, in which the site is not, will never be complete. */
static void on_left(struct cohort__annex *base, const struct cohort_comm *comm)
{
    struct cohort__meetings *meetings = (struct cohort__meetings *)base;
    struct cohort__participant *told = NULL;
    cohort__lock_take(&meetings->lock);
    for (struct cohort__list *link = meetings->current.next; link != &meetings->current;
         link = link->next) {
        struct cohort__meeting *meeting = cohort__meeting_of(link);
        if (meeting->state != COHORT__MEETING_OPEN || meeting->generation < comm->gone_from)
            continue;
        struct cohort__error error = {0};
        cohort_status broken = cohort__remote_broken(comm->group);
        if (broken) /* the others here have not been told yet */
            cohort__error_set(&error, broken, "communicator \"%.60s\", generation %" PRIu64 ": %s",
                              comm->group->name, meeting->generation, cohort_error_message());
        else
            cohort__error_set(&error, COHORT_ERR_GONE,
                              "communicator \"%.60s\", generation %" PRIu64
                              ": site %u (locality %u) has left the communicator after generation "
                              "%" PRIu64,
                              comm->group->name, meeting->generation, comm->this_site,
                              comm->group->rank, comm->gone_from - 1);
        cohort__meeting_fail(meetings, meeting, &error, NULL, &told);
        cohort__error_fini(&error);
    }
    cohort__lock_give(&meetings->lock);
    cohort__participants_tell(told);
}

static const struct cohort__meetings_hooks hooks = {.left = on_left, .look = on_look};

/* The call ----------------------------------------------------------------------------------- */

void cohort__participant_enter(struct cohort__participant *participant,
                               struct cohort__refusal *ret_refusal)
{
    struct cohort__operation *operation = participant->operation;
    struct cohort__group *group = operation->comm->group;
    struct cohort__meetings *meetings = cohort__meetings_find(group, participant->subgroup);
    struct entry entry = {.refusal = ret_refusal, .never_comes = UINT32_MAX};
    if (!meetings)
        meetings = cohort__meetings_make(group, participant->subgroup, &hooks);
    if (!meetings) {
        refuse(participant, ret_refusal);
        return;
    }
    cohort__lock_take(&meetings->lock);
    try_enter(meetings, participant, &entry);
    cohort__lock_give(&meetings->lock);
    if (entry.never_comes != UINT32_MAX && !ret_refusal->error.status && asks(participant))
        cohort__operation_ask(operation, entry.never_comes,
                              cohort__message_tag(participant->phase, 0));
    go_on(participant, &entry);
}

void cohort__participant_ready(struct cohort__participant *participant)
{
    struct cohort__meeting *meeting = participant->meeting;
    if (!meeting)
        return;
    struct cohort__meetings *meetings = meeting->meetings;
    struct entry entry = {0};
    cohort__lock_take(&meetings->lock);
    participant->is_ready = true;
    if (meeting->state == COHORT__MEETING_OPEN) /* else it has failed, and PARTICIPANT is told */
        get_ready(meetings, meeting, participant, &entry);
    cohort__lock_give(&meetings->lock);
    go_on(participant, &entry);
}

/* Failing ---------------------------------------------------------------------------------- */

/* With the lock held: PARTICIPANT, which is inside, fails. Then its meeting fails, too, now or
 * later. True: it has failed now. */
static bool fail_meeting_of(struct cohort__meetings *meetings,
                            const struct cohort__participant *participant,
                            struct cohort__participant **told)
{
    const struct cohort__error *failure = &participant->operation->failure;
    struct cohort__meeting *meeting = participant->meeting;
    if (meeting->state == COHORT__MEETING_OPEN || cohort__meeting_waits(meeting->state)) {
        cohort__meeting_fail(meetings, meeting, failure, participant, told);
        return true;
    }
    if (cohort__meeting_is_busy(meeting->state) && !meeting->error.status)
        cohort__error_copy(&meeting->error, failure);
    return false; /* it will be told, or is being told */
}

bool cohort__participant_fail(struct cohort__participant *participant)
{
    if (!participant->meeting)
        return true;
    struct cohort__meetings *meetings = participant->meeting->meetings;
    struct cohort__looked looked = {0};
    cohort__lock_take(&meetings->lock);
    bool is_over = fail_meeting_of(meetings, participant, &looked.told);
    cohort__meetings_look(meetings, &looked); /* later meetings may have waited for this one */
    cohort__lock_give(&meetings->lock);
    if (is_over)
        cohort__participant_tell_outside(participant);
    cohort__looked_go_on(&looked);
    return is_over;
}

/* Leaving ---------------------------------------------------------------------------------- */

/* The meeting is not open any more. */
void cohort__participant_leave(struct cohort__participant *participant)
{
    struct cohort__meeting *meeting = participant->meeting;
    if (!meeting)
        return;
    participant->meeting = NULL;
    bool has_moved = meeting->state == COHORT__MEETING_MOVING;
    /* Nobody enters such a meeting any more. So it needs no lock, and who is alone stays alone. */
    if (has_moved && atomic_load_explicit(&meeting->num_inside, memory_order_acquire) > 1 &&
        atomic_fetch_sub(&meeting->num_inside, 1) > 1)
        return;
    struct cohort__meetings *meetings = meeting->meetings;
    cohort__lock_take(&meetings->lock);
    if (has_moved || atomic_fetch_sub(&meeting->num_inside, 1) == 1)
        cohort__meeting_end(meetings, meeting);
    cohort__lock_give(&meetings->lock);
}

/* Whether the locality of SITE, another one, has done what MEETING waits for. FIRST is the meeting
 * that is to post before it, or MEETING itself. */
static bool is_there(const struct cohort__meetings *meetings, const struct cohort__meeting *meeting,
                     const struct cohort__meeting *first, uint32_t site)
{
    if (meeting->state == COHORT__MEETING_READ)
        return cohort__team_is_returned_by(meetings->team, &meeting->far, meeting->through, site);
    bool has_come = cohort__team_has_come(meetings->team, &meeting->far, site) &&
                    (first == meeting || cohort__team_has_come(meetings->team, &first->far, site));
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

/* Returns how many sites have not come yet, or are not ready. Sets *RET_INQUIRY to some of them,
 * with what they have answered so far: those that are asked now, if any are. */
static uint32_t missing(const struct cohort__participant *participant,
                        struct cohort__inquiry *ret_inquiry)
{
    const struct cohort__meeting *meeting = participant->meeting;
    *ret_inquiry = (struct cohort__inquiry){0};
    if (!meeting)
        return 0;
    struct cohort__meetings *meetings = meeting->meetings;
    cohort__lock_take(&meetings->lock);
    uint32_t num_missing = find_missing(meetings, meeting, ret_inquiry);
    cohort__lock_give(&meetings->lock);
    return num_missing;
}

uint32_t cohort__participant_absent(const struct cohort__participant *participant)
{
    struct cohort__inquiry inquiry;
    missing(participant, &inquiry);
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

/* Whether PARTICIPANT is to ask for its meeting. If so: *RET_INQUIRY is whom, and what they have
 * answered before; and the next look checks all posts that are there, even behind one that is
 * missing.
 *
 * There may be more missing sites than are asked at a time. If nothing is wrong with some, it is
 * the turn of others. In time all are asked: on a board those who have come may be missing, too,
 * because they wait for the place that the wrong one has not passed.
 *
 * The asker stays inside while the meeting waits, since a participant that fails fails it. */
static bool inquires(const struct cohort__participant *participant,
                     struct cohort__inquiry *ret_inquiry)
{
    struct cohort__meeting *meeting = participant->meeting;
    if (!meeting || !participant->is_ready)
        return false;
    struct cohort__meetings *meetings = meeting->meetings;
    cohort__lock_take(&meetings->lock);
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
    cohort__lock_give(&meetings->lock);
    return is_asker;
}

bool cohort__participant_ask(const struct cohort__participant *participant, bool *ret_asks)
{
    struct cohort__operation *operation = participant->operation;
    struct cohort__inquiry inquiry = {0};
    *ret_asks = inquires(participant, &inquiry);
    for (uint32_t i = 0; i < inquiry.num_sites; i++) {
        if (inquiry.answers[i] == COHORT__ANSWER_COMPLETED) {
            cohort__fail_forgotten(operation, inquiry.sites[i]);
            return false;
        }
        cohort__operation_ask(operation, inquiry.sites[i],
                              cohort__message_tag(participant->phase, 0));
    }
    return true;
}

size_t cohort__participant_describe(const struct cohort__participant *participant,
                                    const char *before, char *text, size_t used, size_t capacity)
{
    struct cohort__inquiry inquiry;
    uint32_t num = missing(participant, &inquiry);
    for (uint32_t i = 0; i < inquiry.num_sites; i++) {
        used = cohort__describe_append(text, used, capacity, "%s", before);
        used = cohort__describe_awaited(participant->operation, text, used, capacity,
                                        inquiry.sites[i], inquiry.answers[i]);
    }
    if (num > inquiry.num_sites)
        used = cohort__describe_append(text, used, capacity, " and for %u more sites;",
                                       num - inquiry.num_sites);
    return used;
}

void cohort__participant_answered(const struct cohort__participant *participant, uint32_t site,
                                  enum cohort__answer answer)
{
    struct cohort__meeting *meeting = participant->meeting;
    if (!meeting)
        return;
    struct cohort__meetings *meetings = meeting->meetings;
    cohort__lock_take(&meetings->lock);
    for (uint32_t i = 0; i < meeting->inquiry.num_sites; i++)
        if (meeting->inquiry.sites[i] == site)
            meeting->inquiry.answers[i] = (uint8_t)answer;
    struct cohort__looked looked = {0};
    if (answer == COHORT__ANSWER_COMPLETED && meetings->team) {
        cohort__team_set_through(meetings->team, meeting->through, site);
        cohort__meetings_look(meetings, &looked);
    }
    cohort__lock_give(&meetings->lock);
    cohort__looked_go_on(&looked);
}
