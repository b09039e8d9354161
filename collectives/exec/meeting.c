/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/meeting.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/comm/commons.h"
#include "collectives/comm/operation.h"
#include "collectives/comm/remote.h"
#include "runtime/base/cores.h"
#include "runtime/base/copier.h"
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

/* Prepares the bunches of a new meeting of NUM_LOCAL sites of this locality. False: there is no
 * memory. */
static bool meeting_bunches_create(struct cohort__meeting *meeting, uint32_t num_local)
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

/* Forgets who is in which bunch. */
static void meeting_bunches_empty(struct cohort__meeting *meeting)
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
    meeting_bunches_empty(meeting);
    for (uint32_t rank = 0; num_left > 0; rank++) {
        if (!participants[rank])
            continue;
        num_left--;
        tell(participants[rank]);
    }
}

/* All are there, and the data has been moved, or the user's operation has failed: tells all
 * participants. */
static void meeting_over(struct cohort__meeting *meeting)
{
    if (meeting->num_bunches > 0 && cohort__scheduler_has_idle())
        tell_bunches(meeting);
    else
        tell_all(meeting);
}

/* All meetings of a subgroup --------------------------------------------------------------- */

static void meeting_free(struct cohort__meeting *meeting)
{
    cohort__error_fini(&meeting->error);
    free(meeting->copies);
    free(meeting->bunches);
    free(meeting);
}

static void free_all(struct cohort__list *list)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(list)))
        meeting_free(cohort__meeting_of(link));
}

static void meetings_destroy(struct cohort__annex *base)
{
    struct cohort__meetings *meetings = (struct cohort__meetings *)base;
    if (meetings->team) { /* after that no other thread looks at the lists */
        cohort__watches_remove(&meetings->group->commons->watches, &meetings->watch);
        cohort__arenas_remove(&meetings->group->commons->arenas, &meetings->arena);
        cohort__team_free_arena(meetings->team, COHORT__BOARD_ARENA);
    }
    free_all(&meetings->current);
    free_all(&meetings->moving);
    free_all(&meetings->spare);
    cohort__team_destroy(meetings->team);
    free(meetings->own_sites);
    free(meetings);
}

/* Not while a call is under way, which may be about to post. */
static bool free_arena(struct cohort__arena *arena)
{
    struct cohort__meetings *meetings = COHORT_CONTAINER_OF(arena, struct cohort__meetings, arena);
    if (!cohort__lock_try(&meetings->lock))
        return false;
    bool is_free = cohort__list_is_empty(&meetings->current) &&
                   cohort__list_is_empty(&meetings->moving) &&
                   cohort__team_free_arena(meetings->team, arena->bytes);
    if (is_free)
        arena->bytes = 0;
    cohort__lock_give(&meetings->lock);
    return is_free;
}

/* The group's machine has the sites locality by locality, so a list of all is made where there are
 * several. */
static cohort_status find_sites(struct cohort__meetings *meetings, enum cohort__subgroup subgroup)
{
    const struct cohort__group *group = meetings->group;
    uint32_t num_sites = group->membership->num_sites;
    meetings->sites = group->local;
    if (subgroup == COHORT__SUBGROUP_LOCALITY || group->is_whole)
        return COHORT_OK;
    meetings->own_sites = malloc(num_sites * sizeof(*meetings->own_sites));
    if (!meetings->own_sites)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for meetings");
    for (uint32_t site = 0; site < num_sites; site++)
        meetings->own_sites[site] = site;
    meetings->sites = (struct cohort__members){meetings->own_sites, num_sites};
    return COHORT_OK;
}

static struct cohort__meetings *meetings_create(struct cohort__group *group,
                                                enum cohort__subgroup subgroup,
                                                const struct cohort__meetings_hooks *hooks)
{
    struct cohort__meetings *meetings = calloc(1, sizeof(*meetings));
    if (!meetings) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for meetings");
        return NULL;
    }
    meetings->base = (struct cohort__annex){.destroy = meetings_destroy, .left = hooks->left};
    meetings->watch.look = hooks->look;
    meetings->arena.give_back = free_arena;
    meetings->group = group;
    meetings->num_local = group->local.num;
    cohort__list_init(&meetings->current);
    cohort__list_init(&meetings->moving);
    cohort__list_init(&meetings->spare);
    bool has_team = subgroup == COHORT__SUBGROUP_ALL && group->has_board;
    if (find_sites(meetings, subgroup) ||
        (has_team && cohort__team_create(&meetings->team, group))) {
        meetings_destroy(&meetings->base);
        return NULL;
    }
    return meetings;
}

struct cohort__meetings *cohort__meetings_make(struct cohort__group *group,
                                               enum cohort__subgroup subgroup,
                                               const struct cohort__meetings_hooks *hooks)
{
    struct cohort__annex *_Atomic *place = &group->meetings[subgroup];
    pthread_mutex_lock(&group->lock);
    struct cohort__annex *base = atomic_load(place);
    struct cohort__meetings *fresh = base ? NULL : meetings_create(group, subgroup, hooks);
    if (fresh) {
        base = &fresh->base;
        atomic_store(place, base);
    }
    pthread_mutex_unlock(&group->lock);
    return (struct cohort__meetings *)base;
}

void cohort__meetings_arena(struct cohort__group *group, size_t *ret_bytes, size_t *ret_all_bytes)
{
    const struct cohort__arena none = {0};
    const struct cohort__meetings *meetings =
        (const struct cohort__meetings *)atomic_load(&group->meetings[COHORT__SUBGROUP_ALL]);
    cohort__arenas_look(&group->commons->arenas, meetings ? &meetings->arena : &none, ret_bytes,
                        ret_all_bytes);
}

/* An all_reduce of much data among several localities. Each of them reduces a share of it, on the
 * board. The result takes the place of that share in the locality's own post, since no other
 * locality reads its input there. When all shares are made, each locality copies all of them. So
 * every locality reads as many bytes as one locality brings, and not as many as all bring. */

/* Shares ----------------------------------------------------------------------------------- */

/* An all_reduce of much data among several localities, each of which reduces a share of it. */

/* Measured: docs/measurements.md, "What an all_reduce reads". */
enum {
    FROM_BYTES = 32 * 1024, /* with less, waiting twice for the others takes longer */
    FROM_LOCALITIES = 3,    /* with two, each would read as much as without shares */
    SHARE_ELEMENTS = 64,    /* shares end at multiples of that, so at cache lines */
};

/* Whether the localities share the reduction. */
static bool has_shares(const struct cohort__meetings *meetings,
                       const struct cohort__meeting *meeting)
{
    return meeting->far.bytes >= FROM_BYTES && meetings->team &&
           meeting->movement.terms.kind == &cohort__movement_kinds[COHORT__ALL_REDUCE] &&
           meetings->group->num_localities >= FROM_LOCALITIES &&
           cohort__op_is_builtin(meeting->movement.terms.op);
}

/* Where the share of locality NUMBER begins, in bytes. */
static size_t share_begin(const struct cohort__meetings *meetings,
                          const struct cohort__meeting *meeting, uint32_t number)
{
    const struct cohort__movement *movement = &meeting->movement;
    uint32_t num = meetings->group->num_localities;
    size_t each = (movement->terms.count + num - 1) / num;
    each = (each + SHARE_ELEMENTS - 1) / SHARE_ELEMENTS * SHARE_ELEMENTS;
    size_t begin = each * number;
    return (begin < movement->terms.count ? begin : movement->terms.count) *
           movement->terms.element;
}

/* If so: this locality's share, from *RET_BEGIN to *RET_END in bytes. Only this locality reads what
 * the others bring of it, and no other locality reads what this one brings of it. */
static void meeting_own_share(const struct cohort__meetings *meetings,
                              const struct cohort__meeting *meeting, size_t *ret_begin,
                              size_t *ret_end)
{
    uint32_t number = cohort__team_own_number(meetings->team);
    *ret_begin = share_begin(meetings, meeting, number);
    *ret_end = share_begin(meetings, meeting, number + 1);
}

static uint64_t num_parts(size_t bytes)
{
    return (bytes + COHORT__PART_BYTES - 1) / COHORT__PART_BYTES;
}

static size_t part_end(size_t begin, size_t end)
{
    return end - begin < COHORT__PART_BYTES ? end : begin + COHORT__PART_BYTES;
}

/* Reducing --------------------------------------------------------------------------------- */

/* COHORT__PART_BYTES is a multiple of every element: they have 1 to 16 bytes, all powers of two. */
static void reduce_part(struct cohort__crew *crew, uint64_t part)
{
    const struct cohort__meeting *meeting = COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew);
    const struct cohort__meetings *meetings = meeting->meetings;
    size_t begin, end;
    meeting_own_share(meetings, meeting, &begin, &end);
    begin += part * COHORT__PART_BYTES;
    end = part_end(begin, end);
    unsigned char *own = cohort__team_own(meetings->team, &meeting->far);
    cohort__movement_fold(&meeting->movement, own + begin, begin, end - begin);
}

/* Without the lock: makes this locality's share of the result. True: it is made. False: it is much,
 * so works make it, and the last of them calls OVER. */
static bool meeting_reduce(struct cohort__meeting *meeting, void (*over)(struct cohort__crew *crew))
{
    const struct cohort__meetings *meetings = meeting->meetings;
    size_t begin, end;
    meeting_own_share(meetings, meeting, &begin, &end);
    size_t bytes = end - begin;
    if (bytes * meeting->movement.num_sites > COHORT__MEETING_ON_THE_SPOT) {
        cohort__crew_start(&meeting->crew, meetings->group->commons, cohort__chore_post,
                           num_parts(bytes), reduce_part, over);
        return false;
    }
    for (uint64_t part = 0; part < num_parts(bytes); part++)
        reduce_part(&meeting->crew, part);
    return true;
}

/* Collecting ------------------------------------------------------------------------------- */

/* The part of locality NUMBER's post that its first site has. The locality's share of the result is
 * in it. A rank is the number of a site here. */
static const unsigned char *share_of(const struct cohort__meetings *meetings,
                                     const struct cohort__meeting *meeting, uint32_t number)
{
    if (number == cohort__team_own_number(meetings->team))
        return cohort__team_own(meetings->team, &meeting->far);
    return cohort__team_at(meetings->team, &meeting->far, number);
}

static void collect_part(struct cohort__crew *crew, uint64_t part)
{
    const struct cohort__meeting *meeting = COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew);
    const struct cohort__movement *movement = &meeting->movement;
    const struct cohort__meetings *meetings = meeting->meetings;
    size_t bytes = meeting->far.bytes, begin = part * COHORT__PART_BYTES,
           end = part_end(begin, bytes);
    for (uint32_t number = 0; begin < end; number++) {
        size_t next = share_begin(meetings, meeting, number + 1);
        if (next <= begin)
            continue;
        if (next > end)
            next = end;
        const unsigned char *from = share_of(meetings, meeting, number);
        for (uint32_t rank = 0; rank < movement->num_sites; rank++)
            if (movement->out[rank])
                cohort__copy(movement->out[rank] + begin, from + begin, next - begin);
        begin = next;
    }
}

static void collect_over(struct cohort__crew *crew)
{
    meeting_over(COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew));
}

/* Without the lock, when all shares are made: copies them to the outputs. */
static void meeting_collect(struct cohort__meeting *meeting)
{
    const struct cohort__meetings *meetings = meeting->meetings;
    uint64_t num = num_parts(meeting->far.bytes);
    if (meeting->far.bytes * meetings->num_local > COHORT__MEETING_ON_THE_SPOT) {
        cohort__crew_start(&meeting->crew, meetings->group->commons, cohort__chore_post, num,
                           collect_part, collect_over);
        return;
    }
    for (uint64_t part = 0; part < num; part++)
        collect_part(&meeting->crew, part);
    meeting_over(meeting);
}

/* Moving ----------------------------------------------------------------------------------- */

/* All inside do the work, and all of them have this error: it names the first one. */
static void keep_error(struct cohort__meeting *meeting, cohort_status status)
{
    if (atomic_exchange(&meeting->has_error, true))
        return;
    const struct cohort__operation *operation = cohort__meeting_first(meeting)->operation;
    cohort__call_error(operation->comm, operation->generation, &operation->signature, status,
                       cohort_error_message(), &meeting->error);
}

static void perform(struct cohort__crew *crew, uint64_t part)
{
    struct cohort__meeting *meeting = COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew);
    cohort_status status = cohort__movement_perform(&meeting->movement, part);
    if (status)
        keep_error(meeting, status);
}

static void over(struct cohort__crew *crew)
{
    meeting_over(COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew));
}

/* Inputs that are read after they may have been overwritten are read from a copy. */
static cohort_status copy_inputs(struct cohort__meeting *meeting)
{
    struct cohort__movement *movement = &meeting->movement;
    size_t bytes = cohort__meeting_in_bytes(meeting);
    uint32_t num_in_place = 0;
    for (uint32_t rank = 0; rank < movement->num_sites; rank++)
        num_in_place += movement->in[rank] && movement->in[rank] == movement->out[rank];
    if (num_in_place == 0 || bytes == 0)
        return COHORT_OK;
    if (num_in_place * bytes > meeting->copies_bytes) {
        free(meeting->copies);
        meeting->copies = malloc(num_in_place * bytes);
        meeting->copies_bytes = meeting->copies ? num_in_place * bytes : 0;
    }
    unsigned char *copy = meeting->copies;
    if (!copy)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the input of %u sites in place",
                           num_in_place);
    for (uint32_t rank = 0; rank < movement->num_sites; rank++) {
        if (!movement->in[rank] || movement->in[rank] != movement->out[rank])
            continue;
        memcpy(copy, movement->in[rank], bytes);
        movement->in[rank] = copy;
        copy += bytes;
    }
    return COHORT_OK;
}

/* Without the lock, when all are there: moves the data. True: it is moved. False: it is much, so
 * works move it, and the last of them calls OVER. */
__attribute__((always_inline)) static inline bool move_all(struct cohort__meeting *meeting,
                                                           void (*over)(struct cohort__crew *crew))
{
    const struct cohort__movement *movement = &meeting->movement;
    bool is_users = movement->terms.op && !cohort__op_is_builtin(movement->terms.op);
    uint64_t num_parts = cohort__movement_num_parts(movement);
    atomic_store_explicit(&meeting->has_error, false, memory_order_relaxed);
    bool is_on_board = meeting->far.is_posted; /* then the inputs are read on the board */
    bool copies = movement->terms.kind->reads_late && !is_on_board;
    cohort_status status = copies ? copy_inputs(meeting) : COHORT_OK;
    if (status)
        keep_error(meeting, status);
    else if (num_parts > 0 &&
             (is_users || cohort__movement_bytes(movement) > COHORT__MEETING_ON_THE_SPOT)) {
        cohort__crew_start(&meeting->crew, meeting->meetings->group->commons,
                           is_users ? cohort__work_post : cohort__chore_post, num_parts, perform,
                           over);
        return false;
    }
    for (uint64_t part = 0; !status && part < num_parts; part++)
        cohort__movement_perform(movement, part);
    return true;
}

/* Reading ---------------------------------------------------------------------------------- */

/* Whether some locality lends what it brings, of which the others read all. Where they share the
 * reduction they have read it when they have made their shares. */
static bool is_lending(const struct cohort__meeting *meeting)
{
    return (meeting->far.lent || meeting->far.reads_lent) && !meeting->far.has_shares;
}

/* What a source posts in pieces is read as they come. What is lent is read before anybody is told,
 * as the meeting fails yet if it was withdrawn. */

static void read_part(struct cohort__crew *crew, uint64_t part)
{
    const struct cohort__meeting *meeting = COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew);
    size_t end = cohort__round_end(&meeting->far, meeting->far.num_readable);
    size_t begin =
        cohort__round_end(&meeting->far, meeting->far.num_read) + part * COHORT__PART_BYTES;
    cohort__movement_read(&meeting->movement, begin, part_end(begin, end));
}

/* Without the lock: reads what is there and has not been read. True: it is read. False: with what
 * has been read it is much, so works read it, and the last of them calls OVER. */
static bool meeting_read(struct cohort__meeting *meeting, void (*over)(struct cohort__crew *crew))
{
    const struct cohort__round *far = &meeting->far;
    if (!far->is_partial && is_lending(meeting))
        return move_all(meeting, over);
    size_t begin = cohort__round_end(far, far->num_read);
    size_t end = cohort__round_end(far, far->num_readable);
    if (end * meeting->meetings->num_local > COHORT__MEETING_ON_THE_SPOT) {
        cohort__crew_start(&meeting->crew, meeting->meetings->group->commons, cohort__chore_post,
                           num_parts(end - begin), read_part, over);
        return false;
    }
    cohort__movement_read(&meeting->movement, begin, end);
    return true;
}

/* Without the lock. All are there: moves the data, by works if it is much, and tells all. */
static void move_data(struct cohort__meeting *meeting)
{
    if (meeting->are_shares_made) {
        meeting_collect(meeting);
        return;
    }
    bool is_moved = meeting->far.is_read;
    if (!is_moved)
        is_moved =
            meeting->far.num_read > 0 ? meeting_read(meeting, over) : move_all(meeting, over);
    if (is_moved)
        meeting_over(meeting);
}

/* How a meeting goes. A participant enters it in its endpoint's turn, and is ready then, or later.
 * The last one to be ready has the data moved, once what other localities bring is there, too. Then
 * every participant is told, each in its own endpoint's turn. The last one to leave puts the
 * meeting away.
 *
 * A participant that fails before all are ready fails the meeting for those inside. One of these
 * tells the sites that have not come yet, and other localities if they wait for this one
 * (operation.c). */

/* Begin and end ---------------------------------------------------------------------------- */

static struct cohort__meeting *meeting_create(struct cohort__meetings *meetings)
{
    uint32_t num_sites = meetings->sites.num;
    struct cohort__list *link = cohort__list_pop_front(&meetings->spare);
    if (link)
        return cohort__meeting_of(link);
    size_t a_site = 3 * sizeof(void *) + 2 * sizeof(bool);
    struct cohort__meeting *meeting = calloc(1, sizeof(*meeting) + num_sites * a_site);
    if (!meeting || !meeting_bunches_create(meeting, meetings->num_local)) {
        free(meeting);
        return NULL;
    }
    meeting->meetings = meetings;
    meeting->movement.num_sites = num_sites;
    meeting->movement.in = (unsigned char **)(meeting->participants + num_sites);
    meeting->movement.out = meeting->movement.in + num_sites;
    meeting->movement.is_posted = (bool *)(meeting->movement.out + num_sites);
    meeting->through = meeting->movement.is_posted + num_sites;
    return meeting;
}

/* Keeps the list in its order. */
static void meeting_insert(struct cohort__meetings *meetings, struct cohort__meeting *meeting)
{
    struct cohort__list *place = meetings->current.prev;
    while (place != &meetings->current &&
           cohort__meeting_precedes(meeting, cohort__meeting_of(place)->generation,
                                    cohort__meeting_of(place)->index))
        place = place->prev;
    cohort__list_insert_after(place, &meeting->link);
}

/* The data of all sites is in their inputs, on the board and in the outputs, at least once in each.
 * If that is more than the caches hold, a line that is kept there only drives out another one. Not
 * for reductions, since they read again what they write. */
static bool is_past_caches(const struct cohort__meeting *meeting)
{
    const struct cohort__movement *movement = &meeting->movement;
    size_t num = movement->terms.kind->has_source ? 1 : movement->num_sites;
    size_t num_blocks = cohort__movement_in_blocks(movement->terms.kind, movement->num_sites);
    return meeting->meetings->team && !movement->terms.op &&
           3 * num * num_blocks * movement->terms.stride > cohort__cache_bytes();
}

static void begin(struct cohort__meeting *meeting, const struct cohort__participant *participant)
{
    meeting->state = COHORT__MEETING_OPEN;
    meeting->generation = participant->operation->generation;
    meeting->index = participant->index;
    meeting->fingerprint = participant->operation->fingerprint;
    atomic_store_explicit(&meeting->num_inside, 0, memory_order_relaxed);
    meeting->num_come = 0;
    meeting->num_ready = 0;
    meeting->are_shares_made = false;
    meeting->inquiry = (struct cohort__inquiry){0};
    struct cohort__movement *movement = &meeting->movement;
    movement->has_far = false;
    movement->terms = participant->terms;
    movement->is_past_caches = is_past_caches(meeting);
    const uint32_t root = participant->terms.root;
    bool has_source = participant->terms.kind->has_source && root < movement->num_sites;
    meeting->far = (struct cohort__round){
        .number = cohort__board_number(meeting->generation, meeting->index),
        .fingerprint = meeting->fingerprint,
        .bytes = cohort__meeting_in_bytes(meeting),
        .has_source = has_source,
        .source = has_source ? meeting->meetings->sites.sites[root] : 0,
        .least_passed = UINT64_MAX,
    };
    meeting->far.has_shares = has_shares(meeting->meetings, meeting);
}

struct cohort__meeting *cohort__meeting_open(struct cohort__meetings *meetings,
                                             const struct cohort__participant *participant)
{
    struct cohort__meeting *meeting = meeting_create(meetings);
    if (!meeting)
        return NULL;
    begin(meeting, participant);
    meeting_insert(meetings, meeting);
    return meeting;
}

/* The meeting is over, and no participant is in it any more: keeps its memory for another one. */
static void meeting_put_away(struct cohort__meetings *meetings, struct cohort__meeting *meeting)
{
    memset(meeting->participants, 0,
           meeting->movement.num_sites * sizeof(meeting->participants[0]));
    memset(meeting->movement.is_posted, false, 2 * meeting->movement.num_sites); /* and through */
    cohort__error_fini(&meeting->error);
    meeting->error = (struct cohort__error){0};
    cohort__list_push_front(&meetings->spare, &meeting->link);
}

void cohort__meetings_pass(struct cohort__meetings *meetings)
{
    /* All segments of a generation are entered before the first one can end. So those that are not
     * in the lists have ended, or the call had none, or has failed before. */
    uint64_t ended = cohort__board_generation(meetings->last_ended);
    uint64_t least = cohort__board_number(ended + 1, 0);
    if (least < meetings->last_gathered)
        least = meetings->last_gathered;
    if (least <= meetings->last_read)
        least = meetings->last_read + 1;
    struct cohort__list *const lists[] = {&meetings->current, &meetings->moving};
    for (int i = 0; i < 2; i++)
        for (struct cohort__list *link = lists[i]->next; link != lists[i]; link = link->next) {
            const struct cohort__meeting *meeting = cohort__meeting_of(link);
            bool reads = meeting->state != COHORT__MEETING_FAILED && !meeting->far.is_read;
            if (reads && meeting->far.number < least)
                least = meeting->far.number;
        }
    cohort__team_pass(meetings->team, least - 1);
}

void cohort__meeting_end(struct cohort__meetings *meetings, struct cohort__meeting *meeting)
{
    if (meeting->far.number > meetings->last_ended)
        meetings->last_ended = meeting->far.number;
    cohort__list_remove(&meeting->link);
    meeting_put_away(meetings, meeting);
    if (meetings->team)
        cohort__meetings_pass(meetings);
}

/* Whether other localities wait for something that this one has not posted yet. */
static bool is_awaited(const struct cohort__meetings *meetings,
                       const struct cohort__meeting *meeting)
{
    if (!meetings->team || !cohort__team_posts(meetings->team, &meeting->far))
        return false;
    return !meeting->far.is_posted || meeting->far.lent ||
           (meeting->state == COHORT__MEETING_GATHERED && meeting->far.has_shares);
}

void cohort__meeting_fail(struct cohort__meetings *meetings, struct cohort__meeting *meeting,
                          const struct cohort__error *error,
                          const struct cohort__participant *except,
                          struct cohort__participant **told)
{
    bool is_open = meeting->state == COHORT__MEETING_OPEN;
    meeting->is_awaited = is_awaited(meetings, meeting);
    bool is_untold = meeting->is_awaited || (is_open && meeting->num_come < meetings->num_local);
    atomic_store_explicit(&meeting->is_untold, is_untold, memory_order_relaxed);
    if (!is_open)
        cohort__watch_end(&meetings->watch);
    if (meeting->far.is_posted && meeting->far.lent)
        cohort__team_withdraw(meetings->team, &meeting->far);
    meeting->state = COHORT__MEETING_FAILED;
    cohort__error_copy(&meeting->error, error);
    meeting_bunches_empty(meeting);
    for (uint32_t rank = 0; rank < meeting->movement.num_sites; rank++) {
        struct cohort__participant *participant = meeting->participants[rank];
        if (!participant || participant == except)
            continue;
        participant->next = *told;
        *told = participant;
    }
}

/* Bringing --------------------------------------------------------------------------------- */

/* Copies what the sites of this locality bring to a meeting to the board, and posts it. Much data
 * is copied by works, without the lock. Until they are done, no participant is told that the
 * meeting has failed, since after that its buffers may be gone. */

/* What the site of RANK brings: cohort__meeting_in_bytes() bytes. NULL: nothing. */
static const unsigned char *contribution(const struct cohort__meeting *meeting, uint32_t rank)
{
    const struct cohort__movement *movement = &meeting->movement;
    const unsigned char *in = movement->in[rank];
    bool is_in_place = in == movement->out[rank];
    if (!cohort__meeting_brings(meeting, rank))
        return NULL;
    if (in && is_in_place &&
        (movement->terms.kind == &cohort__movement_kinds[COHORT__ALL_GATHER] ||
         movement->terms.kind == &cohort__movement_kinds[COHORT__GATHER]))
        return in + rank * movement->terms.stride;
    return in;
}

/* What is posted of a segment stays in the caches: the next one is written to the same place. */
static void bring_bytes(struct cohort__meetings *meetings, const struct cohort__meeting *meeting,
                        unsigned char *to, const unsigned char *from, size_t bytes)
{
    if (bytes == sizeof(uint64_t)) /* a call of a function takes longer */
        memcpy(to, from, sizeof(uint64_t));
    else if (meeting->movement.is_past_caches && !cohort__meeting_is_segment(meeting))
        cohort__copy_past(to, from, bytes);
    else
        cohort__copier_copy(&meetings->copier, to, from, bytes);
}

/* If the localities share the reduction: copies everything except this locality's share. For that
 * share only the inputs of its own sites are read. */
static void bring_for_shares(struct cohort__meetings *meetings,
                             const struct cohort__meeting *meeting, unsigned char *to,
                             const unsigned char *from, size_t begin, size_t end)
{
    size_t share_begin, share_end;
    meeting_own_share(meetings, meeting, &share_begin, &share_end);
    size_t before = end < share_begin ? end : share_begin;
    size_t behind = begin > share_end ? begin : share_end;
    if (begin < before)
        bring_bytes(meetings, meeting, to + begin, from + begin, before - begin);
    if (behind < end)
        bring_bytes(meetings, meeting, to + behind, from + behind, end - behind);
}

/* Copies what the site of RANK brings, the bytes from BEGIN to END, to their place in TO. If there
 * is a block for each target site, blocks for sites of this locality are left out: these are read
 * in the input. */
static void copy(struct cohort__meetings *meetings, const struct cohort__meeting *meeting,
                 uint32_t rank, unsigned char *to, size_t begin, size_t end)
{
    const struct cohort__movement *movement = &meeting->movement;
    const unsigned char *from = contribution(meeting, rank);
    bool is_in_place = from && from == movement->out[rank];
    if (!from)
        return;
    if (meeting->far.has_shares) {
        bring_for_shares(meetings, meeting, to, from, begin, end);
        return;
    }
    if (meeting->movement.terms.kind->in_blocks) {
        bring_bytes(meetings, meeting, to + begin, from + begin, end - begin);
        return;
    }
    size_t block = movement->terms.count * movement->terms.element;
    for (uint32_t target = (uint32_t)(begin / block); begin < end; target++) {
        size_t next = (target + 1) * block < end ? (target + 1) * block : end;
        const unsigned char *part =
            from + target * movement->terms.stride + (begin - target * block);
        if (!meeting->participants[target] || is_in_place)
            bring_bytes(meetings, meeting, to + begin, part, next - begin);
        begin = next;
    }
}

/* The same, for a gathered meeting: in pieces that are read as they come, if the post is. */
static void bring(struct cohort__meetings *meetings, const struct cohort__meeting *meeting,
                  uint32_t rank, unsigned char *to, size_t begin, size_t end)
{
    size_t piece = cohort__round_piece(&meeting->far);
    if (piece == 0 || !cohort__meeting_brings(meeting, rank)) {
        copy(meetings, meeting, rank, to, begin, end);
        return;
    }
    for (; begin < end; begin += piece) {
        size_t next = end - begin < piece ? end : begin + piece;
        copy(meetings, meeting, rank, to, begin, next);
        cohort__team_mark(meetings->team, &meeting->far, begin, next);
    }
}

/* The number of this locality's sites that bring something. */
static uint32_t num_bringing(const struct cohort__meeting *meeting)
{
    uint32_t num = 0;
    for (uint32_t rank = 0; rank < meeting->movement.num_sites; rank++)
        num += meeting->participants[rank] && cohort__meeting_brings(meeting, rank);
    return num;
}

/* How many bytes NUM sites have to copy. Blocks that stay in this locality are not copied. */
static size_t copied_bytes(const struct cohort__meetings *meetings,
                           const struct cohort__meeting *meeting, uint32_t num)
{
    const struct cohort__movement *movement = &meeting->movement;
    if (meeting->movement.terms.kind->in_blocks)
        return num * meeting->far.bytes;
    return num * movement->terms.count * movement->terms.element *
           (movement->num_sites - meetings->num_local);
}

static uint64_t parts_of_site(const struct cohort__meeting *meeting)
{
    return (meeting->far.bytes + COHORT__PART_BYTES - 1) / COHORT__PART_BYTES;
}

/* The rank of the site that has number INDEX among those of this locality. */
static uint32_t local_rank(const struct cohort__meeting *meeting, uint64_t index)
{
    uint32_t rank = 0;
    while (!meeting->participants[rank] || index-- > 0)
        rank++;
    return rank;
}

/* By some worker. */
static void bring_perform(struct cohort__crew *crew, uint64_t part)
{
    const struct cohort__meeting *meeting = COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew);
    struct cohort__meetings *meetings = meeting->meetings;
    uint64_t num_parts = parts_of_site(meeting);
    size_t begin = part % num_parts * COHORT__PART_BYTES, bytes = meeting->far.bytes;
    uint64_t index = part / num_parts;
    bring(meetings, meeting, local_rank(meeting, index), meeting->place + index * bytes, begin,
          bytes - begin < COHORT__PART_BYTES ? bytes : begin + COHORT__PART_BYTES);
}

/* This locality writes to its arena up to END. In steps, so that few calls have to say so. */
static void use_arena(struct cohort__meetings *meetings, size_t end)
{
    const size_t step = 64 * 1024;
    size_t bytes = (end + step - 1) / step * step;
    if (end > meetings->arena.bytes)
        cohort__arenas_grow(&meetings->group->commons->arenas, &meetings->arena,
                            bytes < COHORT__BOARD_ARENA ? bytes : COHORT__BOARD_ARENA);
}

/* Whether an input in place is still read after its site's output has been written. If sites of
 * other localities are in between, that is so for all reductions. */
static bool is_overwritten(const struct cohort__meeting *meeting)
{
    const struct cohort__movement_kind *kind = meeting->movement.terms.kind;
    return kind->reads_late || kind == &cohort__movement_kinds[COHORT__SCAN] ||
           kind == &cohort__movement_kinds[COHORT__ALL_REDUCE];
}

/* If the sites of this locality bring what the others can read where it is, and what stays as it is
 * as long as they do, this locality lends it. A user's operation must not see what may be anything.
 */
static bool can_lend(const struct cohort__meetings *meetings, const struct cohort__meeting *meeting)
{
    const struct cohort__movement *movement = &meeting->movement;
    uint64_t offset;
    if (meeting->far.bytes < COHORT__BOARD_LENT || movement->terms.of_objects ||
        (movement->terms.op && !cohort__op_is_builtin(movement->terms.op)))
        return false;
    const bool may_be_in_place = !is_overwritten(meeting) || meeting->far.has_shares;
    for (uint32_t rank = 0; rank < movement->num_sites; rank++) {
        if (!meeting->participants[rank] || !cohort__meeting_brings(meeting, rank))
            continue;
        if (movement->in[rank] == movement->out[rank] && !may_be_in_place)
            return false;
        if (!cohort__team_can_lend(meetings->team, contribution(meeting, rank), &offset))
            return false;
    }
    return true;
}

/* Says at TABLE, which is on the board, where the others find what is lent. */
static void lend(const struct cohort__meetings *meetings, const struct cohort__meeting *meeting,
                 unsigned char *table)
{
    uint64_t *next = (uint64_t *)(void *)table;
    for (uint32_t rank = 0; rank < meeting->movement.num_sites; rank++)
        if (meeting->participants[rank])
            (void)cohort__team_can_lend(meetings->team, contribution(meeting, rank), next++);
}

/* With the lock held, for a gathered meeting that is next: copies what its sites bring to the
 * board, and posts it. True: it is posted. False: there is no place yet, or works copy it. The last
 * of these calls OVER, which has to post it. */
static bool meeting_bring(struct cohort__meetings *meetings, struct cohort__meeting *meeting,
                          void (*over)(struct cohort__crew *crew))
{
    uint32_t num = num_bringing(meeting);
    bool is_lent = num > 0 && can_lend(meetings, meeting);
    bool needs_room = num > 0 && (!is_lent || meeting->far.has_shares);
    size_t bytes = needs_room ? meeting->far.bytes * meetings->num_local : 0; /* for all */
    const size_t before_table = cohort__board_lines(bytes);
    if (is_lent)
        bytes = before_table + cohort__board_lines(meetings->num_local * sizeof(uint64_t));
    unsigned char *to = cohort__team_place(meetings->team, &meeting->far, bytes);
    if (!to)
        return false;
    if (bytes > COHORT__BOARD_INLINE)
        use_arena(meetings, meeting->far.offset + bytes);
    meeting->far.lent = is_lent ? (uint32_t)(meeting->far.offset + before_table + 1) : 0;
    if (is_lent) {
        lend(meetings, meeting, to + before_table);
        cohort__team_post(meetings->team, &meeting->far);
        return true;
    }
    cohort__team_begin_post(meetings->team, &meeting->far);
    if (bytes > COHORT__MEETING_ON_THE_SPOT &&
        copied_bytes(meetings, meeting, num) > COHORT__MEETING_ON_THE_SPOT) {
        meeting->state = COHORT__MEETING_BRINGING;
        meeting->place = to;
        cohort__crew_start(&meeting->crew, meetings->group->commons, cohort__chore_post,
                           meetings->num_local * parts_of_site(meeting), bring_perform, over);
        return false;
    }
    for (uint32_t rank = 0; bytes > 0 && rank < meeting->movement.num_sites; rank++) {
        if (!meeting->participants[rank])
            continue;
        bring(meetings, meeting, rank, to, 0, meeting->far.bytes);
        to += meeting->far.bytes;
    }
    cohort__team_post(meetings->team, &meeting->far);
    return true;
}

/* Other localities ------------------------------------------------------------------------- */

/* The latest meeting before MEETING that is gathered, and has posted or is going to post. NULL:
 * there is none. */
static const struct cohort__meeting *poster_before(const struct cohort__meetings *meetings,
                                                   const struct cohort__meeting *meeting)
{
    for (const struct cohort__list *link = meeting->link.prev; link != &meetings->current;
         link = link->prev) {
        const struct cohort__meeting *earlier =
            COHORT_CONTAINER_OF(link, const struct cohort__meeting, link);
        bool is_there = earlier->state == COHORT__MEETING_GATHERED ||
                        earlier->state == COHORT__MEETING_BRINGING;
        if (is_there && cohort__team_posts(meetings->team, &earlier->far))
            return earlier;
    }
    return NULL;
}

/* Meetings post in the order of their generations and segments. If a later one took the place of
 * one that has not posted yet, that one would wait for its place for ever. */
static bool is_next(const struct cohort__meetings *meetings, const struct cohort__meeting *meeting)
{
    const struct cohort__meeting *earlier = poster_before(meetings, meeting);
    return !earlier || earlier->far.is_posted;
}

const struct cohort__meeting *cohort__meeting_first_to_post(const struct cohort__meetings *meetings,
                                                            const struct cohort__meeting *meeting)
{
    const struct cohort__meeting *first = meeting, *earlier = NULL;
    bool is_to_post = meetings->team && cohort__team_posts(meetings->team, &meeting->far) &&
                      !meeting->far.is_posted;
    while (is_to_post && (earlier = poster_before(meetings, first)) && !earlier->far.is_posted)
        first = earlier;
    return first;
}

/* How many bytes there are from the first to the last one of a site's input. */
static size_t extent_of(const struct cohort__meeting *meeting)
{
    const struct cohort__movement *movement = &meeting->movement;
    size_t num_blocks = cohort__movement_in_blocks(movement->terms.kind, movement->num_sites);
    return (num_blocks - 1) * movement->terms.stride +
           movement->terms.count * movement->terms.element;
}

/* All have posted. From now on the inputs of other localities are read on the board, and so are
 * those that will be overwritten. */
static bool find_inputs(const struct cohort__meetings *meetings, struct cohort__meeting *meeting,
                        struct cohort__error *ret_error)
{
    struct cohort__movement *movement = &meeting->movement;
    const size_t extent = meeting->far.bytes < COHORT__BOARD_LENT ? 0 : extent_of(meeting);
    movement->has_far = true;
    for (uint32_t rank = 0; rank < movement->num_sites; rank++) {
        bool is_far = !meeting->participants[rank];
        bool is_in_place = movement->in[rank] && movement->in[rank] == movement->out[rank];
        if (is_far)
            movement->out[rank] = movement->in[rank] = NULL;
        if ((!is_far && !(is_in_place && is_overwritten(meeting) && !meeting->far.has_shares)) ||
            !cohort__meeting_brings(meeting, rank))
            continue;
        bool is_lent = false;
        movement->in[rank] = (unsigned char *)cohort__team_input(meetings->team, &meeting->far,
                                                                 meetings->sites.sites[rank],
                                                                 extent, &is_lent, ret_error);
        movement->is_posted[rank] = !is_lent;
        if (!movement->in[rank])
            return false;
    }
    return true;
}

/* SITE's locality has posted for another call. Asks it which one, and tells it what this call is,
 * so that both calls fail. */
static void ask(struct cohort__meeting *meeting, uint32_t site, struct cohort__looked *looked)
{
    const struct cohort__operation *operation = cohort__meeting_first(meeting)->operation;
    struct cohort__group *group = operation->comm->group;
    if (meeting->far.has_asked || looked->question.message)
        return;
    struct cohort__message *message =
        cohort__operation_question(operation, cohort__message_tag(1, 0));
    if (!message)
        return;
    meeting->far.has_asked = true;
    cohort__group_ref(group); /* until the question is sent */
    looked->question.message = message;
    looked->question.group = group;
    looked->question.site = site;
}

/* All that MEETING reads is read. If it was all right, the others are told so. */
static void read_over(struct cohort__meetings *meetings, struct cohort__meeting *meeting)
{
    if (!cohort__team_look_again(meetings->team, &meeting->far))
        return;
    meeting->state = COHORT__MEETING_READ;
    meeting->far.is_read = true;
    if (meeting->far.number > meetings->last_read)
        meetings->last_read = meeting->far.number;
    cohort__meetings_pass(meetings);
}

/* The same for this locality's share of the result. */
static void reduce_over(struct cohort__meetings *meetings, struct cohort__meeting *meeting)
{
    if (!cohort__team_look_again(meetings->team, &meeting->far))
        return;
    meeting->state = COHORT__MEETING_REDUCED;
    cohort__team_post_share(meetings->team, &meeting->far);
}

/* Without the lock: nobody accesses the buffers of MEETING, which was busy, any more. Posts what is
 * made, and goes on. If a participant has failed meanwhile, fails the meeting now, which that
 * participant could not do; but what others may have begun to read is complete. */
static void busy_over(struct cohort__meeting *meeting, struct cohort__looked *looked)
{
    struct cohort__meetings *meetings = meeting->meetings;
    cohort__lock_take(&meetings->lock);
    struct cohort__error error = meeting->error;
    enum cohort__meeting_state before = meeting->state;
    meeting->error = (struct cohort__error){0};
    meeting->state = COHORT__MEETING_GATHERED;
    if (before == COHORT__MEETING_REDUCING)
        reduce_over(meetings, meeting);
    else if (before == COHORT__MEETING_READING && meeting->far.is_partial)
        meeting->far.num_read = meeting->far.num_readable;
    else if (before == COHORT__MEETING_READING)
        read_over(meetings, meeting);
    else if (!error.status || meeting->far.is_posted)
        cohort__team_post(meetings->team, &meeting->far);
    if (error.status)
        cohort__meeting_fail(meetings, meeting, &error, NULL, &looked->told);
    cohort__meetings_look(meetings, looked); /* later meetings may have waited for this one */
    cohort__lock_give(&meetings->lock);
    cohort__error_fini(&error);
}

/* By the last work. */
static void crew_over(struct cohort__crew *crew)
{
    struct cohort__looked looked = {0};
    busy_over(COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew), &looked);
    cohort__looked_go_on(&looked);
}

bool cohort__meeting_await_others(struct cohort__meetings *meetings,
                                  struct cohort__meeting *meeting, struct cohort__looked *looked)
{
    uint32_t site = 0;
    struct cohort__error error = {0};
    bool is_to_post = cohort__team_posts(meetings->team, &meeting->far) && !meeting->far.is_posted;
    if (is_to_post && !(is_next(meetings, meeting) && meeting_bring(meetings, meeting, crew_over)))
        return false;
    if (meeting->state == COHORT__MEETING_REDUCED)
        return cohort__team_look_shares(meetings->team, &meeting->far) == COHORT__ROUND_FULL;
    if (meeting->state == COHORT__MEETING_READ)
        return !meeting->far.lent ||
               cohort__team_is_returned(meetings->team, &meeting->far, meeting->through);
    enum cohort__round_state state = cohort__team_look(meetings->team, &meeting->far, &site);
    if (state == COHORT__ROUND_DIFFERENT)
        ask(meeting, site, looked);
    if (state != COHORT__ROUND_FULL && state != COHORT__ROUND_READABLE)
        return false;
    if (find_inputs(meetings, meeting, &error))
        return true;
    cohort__meeting_fail(meetings, meeting, &error, NULL, &looked->told);
    cohort__error_fini(&error);
    return false;
}

void cohort__meeting_begin_moving(struct cohort__meetings *meetings,
                                  struct cohort__meeting *meeting)
{
    if (meeting->state == COHORT__MEETING_GATHERED && meeting->far.has_shares) {
        meeting->state = COHORT__MEETING_REDUCING;
        return;
    }
    if (meeting->far.is_partial || (is_lending(meeting) && !meeting->far.is_read)) {
        meeting->state = COHORT__MEETING_READING;
        return;
    }
    cohort__list_remove(&meeting->link);
    cohort__list_push_back(&meetings->moving, &meeting->link);
    if (meeting->state != COHORT__MEETING_OPEN)
        cohort__watch_end(&meetings->watch);
    meeting->are_shares_made = meeting->state == COHORT__MEETING_REDUCED;
    meeting->state = COHORT__MEETING_MOVING;
}

void cohort__meetings_look(struct cohort__meetings *meetings, struct cohort__looked *looked)
{
    struct cohort__meeting **last = &looked->full;
    struct cohort__list *next, *link;
    while (*last)
        last = &(*last)->next_full;
    for (link = meetings->current.next; link != &meetings->current; link = next) {
        struct cohort__meeting *meeting = cohort__meeting_of(link);
        next = link->next;
        if (!cohort__meeting_waits(meeting->state) ||
            !cohort__meeting_await_others(meetings, meeting, looked))
            continue;
        cohort__meeting_begin_moving(meetings, meeting);
        meeting->next_full = NULL;
        *last = meeting;
        last = &meeting->next_full;
    }
}

static void put_question(struct cohort__looked *looked)
{
    struct cohort__group *group = looked->question.group;
    cohort__mail_send(group, looked->question.site, looked->question.message, 0);
    looked->question.message = NULL;
    cohort__group_unref(group);
}

void cohort__looked_go_on(struct cohort__looked *looked)
{
    for (;;) {
        cohort__participants_tell(looked->told);
        looked->told = NULL;
        if (looked->question.message)
            put_question(looked);
        struct cohort__meeting *meeting = looked->full;
        if (!meeting)
            break;
        looked->full = meeting->next_full; /* the meeting may be gone after the move */
        bool is_reading = meeting->state == COHORT__MEETING_READING;
        if (!cohort__meeting_is_busy(meeting->state))
            move_data(meeting);
        else if (is_reading ? meeting_read(meeting, crew_over) : meeting_reduce(meeting, crew_over))
            busy_over(meeting, looked);
    }
}
