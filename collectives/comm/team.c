/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/team.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/proc/boards.h"

/* How many bytes of the arena a post of BYTES takes: whole lines, and one more. Without that one,
 * posts of 4 KiB, or of that times a power of two, would share the same few sets of the caches. */
static uint32_t taken_by(size_t bytes)
{
    if (bytes <= COHORT__BOARD_INLINE)
        return 0;
    size_t lines = (bytes + COHORT__BOARD_LINE - 1) / COHORT__BOARD_LINE;
    return (uint32_t)((lines + 1) * COHORT__BOARD_LINE);
}

/* The latest post that holds some bytes from BEGIN to END, or the place of NUMBER's
 * head. */
static uint64_t holder_of(const struct cohort__room *room, uint64_t number, uint32_t begin,
                          uint32_t end)
{
    uint64_t latest = room->held[cohort__board_index(number)].number;
    for (int i = 0; begin < end && i < COHORT__BOARD_DEPTH; i++) {
        const struct cohort__held *held = &room->held[i];
        if (held->number > latest && held->begin < end && begin < held->end)
            latest = held->number;
    }
    return latest;
}

/* The length of the arena's first part, in which posts of TAKEN bytes take turns. */
static uint32_t span_of(const struct cohort__room *room, uint32_t taken)
{
    uint64_t least = COHORT__ROOM_LEAST * (uint64_t)taken;
    uint64_t most = COHORT__ROOM_TURNS * (uint64_t)taken;
    uint64_t span = room->spread < most ? room->spread : most;
    span = span > least ? span : least;
    return span < COHORT__BOARD_ARENA ? (uint32_t)span : COHORT__BOARD_ARENA;
}

/* If the place in that part is held, looks for one behind each of the other posts. */
uint32_t cohort__room_find(const struct cohort__room *room, uint64_t number, size_t bytes,
                           uint64_t all_passed, uint64_t *ret_needed)
{
    uint32_t taken = taken_by(bytes), end = room->next + taken;
    if (taken == 0) { /* most posts */
        *ret_needed = room->held[cohort__board_index(number)].number;
        return 0;
    }
    bool is_near = end <= span_of(room, taken);
    uint32_t offset = is_near ? room->next : 0;
    uint64_t needed = holder_of(room, number, offset, offset + taken);
    for (int i = 0; needed > all_passed && i < COHORT__BOARD_DEPTH; i++) {
        uint32_t behind = room->held[i].end;
        if (behind + taken > COHORT__BOARD_ARENA)
            continue;
        uint64_t needed_behind = holder_of(room, number, behind, behind + taken);
        if (needed_behind < needed) {
            needed = needed_behind;
            offset = behind;
        }
    }
    *ret_needed = needed;
    return offset;
}

void cohort__room_take(struct cohort__room *room, uint64_t number, size_t bytes, uint32_t offset)
{
    uint32_t taken = taken_by(bytes);
    room->held[cohort__board_index(number)] = (struct cohort__held){number, offset, offset + taken};
    if (taken > 0)
        room->next = offset + taken;
}

uint64_t cohort__room_latest(const struct cohort__room *room)
{
    uint64_t latest = 0;
    for (int i = 0; i < COHORT__BOARD_DEPTH; i++) {
        const struct cohort__held *held = &room->held[i];
        if (held->begin < held->end && held->number > latest)
            latest = held->number;
    }
    return latest;
}

void cohort__room_forget(struct cohort__room *room)
{
    for (int i = 0; i < COHORT__BOARD_DEPTH; i++)
        room->held[i].begin = room->held[i].end = 0;
    room->next = 0;
}

/* A locality of the team. */
struct seat {
    uint32_t rank;
    uint32_t slot;
    uint32_t first_site; /* one of its sites, for messages */
    uint32_t num_sites;
    uint32_t number; /* of the locality in the group's machine */
};

/* Which part of which locality's post a site has. */
struct place {
    uint32_t seat;
    uint32_t index; /* among the sites of its locality */
};

struct cohort__team {
    struct cohort__process *process;
    struct cohort__board board;
    uint64_t passed;        /* by this locality, as it has told all */
    uint64_t others_passed; /* all others have passed at least this */
    /* What this locality waits for others, and itself, to pass; at most. Then it is counted for
     * that on the board. 0: it does not wait. */
    uint64_t awaited;
    struct cohort__room room; /* this locality's */
    uint32_t num_others;
    uint32_t *slots;      /* of the others, then this locality's */
    struct seat *seats;   /* in the same order */
    uint32_t *by_number;  /* seats, by the numbers of the localities */
    struct place *places; /* by site */
};

size_t cohort__team_share(const struct cohort__group *group)
{
    return COHORT__BOARD_POST / group->max_local_sites;
}

static void team_free(struct cohort__team *team)
{
    if (!team)
        return;
    cohort__boards_close(&team->board);
    free(team->slots);
    free(team->seats);
    free(team->places);
    free(team->by_number);
    free(team);
}

/* Gives each locality a seat: the others first, in their order, and this one the last. */
static void take_seats(struct cohort__team *team, const struct cohort__group *group)
{
    for (uint32_t number = 0; number < group->num_localities; number++) {
        struct cohort__members members =
            cohort__machine_members(group->machine, COHORT__LEVEL_LOCALITY, number);
        uint32_t rank = group->membership->locality_of[members.sites[0]];
        uint32_t seat = rank == group->rank ? group->num_localities - 1 : team->num_others++;
        team->seats[seat] = (struct seat){.rank = rank,
                                          .first_site = members.sites[0],
                                          .num_sites = members.num,
                                          .number = number};
        team->by_number[number] = seat;
        for (uint32_t i = 0; i < members.num; i++)
            team->places[members.sites[i]] = (struct place){seat, i};
    }
}

cohort_status cohort__team_create(struct cohort__team **ret_team, struct cohort__group *group)
{
    uint32_t num_sites = group->membership->num_sites;
    struct cohort__team *team = calloc(1, sizeof(*team));
    if (team) {
        team->process = group->commons->process;
        team->seats = calloc(group->num_localities, sizeof(*team->seats));
        team->slots = calloc(group->num_localities, sizeof(*team->slots));
        team->places = calloc(num_sites, sizeof(*team->places));
        team->by_number = calloc(group->num_localities, sizeof(*team->by_number));
    }
    cohort_status status = COHORT_OK;
    if (!team || !team->seats || !team->slots || !team->places || !team->by_number)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%.60s\": no memory for %u sites",
                             group->name, (unsigned)num_sites);
    if (!status)
        status = cohort__boards_open(team->process, group->membership->number, &team->board);
    if (!status) {
        team->room.spread = COHORT__ROOM_SPREAD / group->num_localities;
        take_seats(team, group);
    }
    for (uint32_t i = 0; !status && i < group->num_localities; i++) {
        struct seat *seat = &team->seats[i];
        if (!cohort__boards_slot_of(team->process, seat->rank, &seat->slot))
            status =
                cohort_fail(COHORT_ERR_PEER_DIED, "communicator \"%.60s\": locality %u is gone",
                            group->name, (unsigned)seat->rank);
        team->slots[i] = seat->slot;
    }
    if (status) {
        team_free(team);
        return status;
    }
    *ret_team = team;
    return COHORT_OK;
}

/* All sites have left. Does for those that have died what they would have done. */
void cohort__team_destroy(struct cohort__team *team)
{
    if (!team)
        return;
    for (uint32_t i = 0; i <= team->num_others; i++)
        if (i == team->num_others || cohort__boards_is_dead(team->process, team->seats[i].rank))
            cohort__boards_clear(&team->board, team->slots[i]);
    team_free(team);
}

static const struct seat *own_seat(const struct cohort__team *team)
{
    return &team->seats[team->num_others];
}

static const struct seat *seat_of(const struct cohort__team *team, uint32_t site)
{
    return &team->seats[team->places[site].seat];
}

bool cohort__team_posts(const struct cohort__team *team, const struct cohort__round *round)
{
    return !round->has_source || seat_of(team, round->source) == own_seat(team);
}

static void look_up_passed(struct cohort__team *team)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < team->num_others; i++) {
        uint64_t passed = atomic_load(cohort__board_passed(&team->board, team->slots[i]));
        if (passed < least)
            least = passed;
    }
    team->others_passed = least;
}

/* A locality that posts reads its own posts, too. */
static uint64_t all_passed(const struct cohort__team *team)
{
    return team->others_passed < team->passed ? team->others_passed : team->passed;
}

/* Whether all have passed NEEDED. What the others have passed is known from their posts. If that
 * isn't enough, looks it up on the board. A locality that waits first says so on the board, and
 * then looks. A locality that passes does it the other way round. So no wake-up is lost. */
static bool await_passed(struct cohort__team *team, uint64_t needed)
{
    _Atomic uint32_t *num_waiting = &cohort__board_head(&team->board)->num_waiting;
    if (all_passed(team) < needed)
        look_up_passed(team);
    if (all_passed(team) < needed && team->awaited < needed) {
        if (team->awaited == 0)
            atomic_fetch_add(num_waiting, 1);
        team->awaited = needed;
        look_up_passed(team);
    }
    if (team->awaited > 0 && all_passed(team) >= team->awaited) {
        team->awaited = 0;
        atomic_fetch_sub(num_waiting, 1);
    }
    return all_passed(team) >= needed;
}

/* Finds a place for BYTES. False: there is none yet. */
static bool find_place(struct cohort__team *team, struct cohort__round *round, size_t bytes)
{
    uint64_t needed;
    round->placed = bytes;
    round->offset =
        cohort__room_find(&team->room, round->number, round->placed, all_passed(team), &needed);
    round->needed = needed;
    return (team->awaited == 0 && needed <= all_passed(team)) || await_passed(team, needed);
}

static struct cohort__board_post *
post_of(const struct cohort__team *team, const struct cohort__round *round, const struct seat *seat)
{
    return cohort__board_post(&team->board, seat->slot, round->number);
}

static unsigned char *place_of(const struct cohort__team *team, const struct cohort__round *round)
{
    return cohort__board_place(&team->board, own_seat(team)->slot, round->number, round->placed,
                               round->offset);
}

unsigned char *cohort__team_place(struct cohort__team *team, struct cohort__round *round,
                                  size_t bytes)
{
    return find_place(team, round, bytes) ? place_of(team, round) : NULL;
}

static void post(struct cohort__team *team, struct cohort__round *round)
{
    uint64_t number = round->number;
    struct cohort__board_post *own = cohort__board_post(&team->board, own_seat(team)->slot, number);
    own->fingerprint = round->fingerprint;
    own->passed = team->passed;
    own->bytes = round->bytes;
    if (round->placed > COHORT__BOARD_INLINE) {
        own->offset = round->offset;
        own->lent = round->lent;
        atomic_store_explicit(&own->share, COHORT__BOARD_SHARE_NONE, memory_order_relaxed);
        atomic_store_explicit(&own->mark, 0, memory_order_relaxed);
    }
    atomic_store_explicit(&own->number, number, memory_order_release);
    cohort__room_take(&team->room, number, round->placed, round->offset);
    round->is_posted = true;
}

/* Lending ---------------------------------------------------------------------------------- */

bool cohort__team_can_lend(const struct cohort__team *team, const void *memory,
                           uint64_t *ret_offset)
{
    return cohort__boards_can_lend(team->process, memory, ret_offset);
}

static bool is_lent(const struct cohort__board_post *post)
{
    return post->bytes >= COHORT__BOARD_LENT && post->lent > 0;
}

/* Whether POST of SEAT, which is or was there, counts as not there: it is withdrawn, or what it
 * lends is gone with its locality. */
static bool is_withdrawn(const struct cohort__team *team, const struct seat *seat,
                         const struct cohort__board_post *post)
{
    return is_lent(post) && (atomic_load(&post->share) == COHORT__BOARD_WITHDRAWN ||
                             cohort__boards_is_gone(team->process, seat->slot));
}

void cohort__team_set_through(const struct cohort__team *team, bool *through, uint32_t site)
{
    through[team->places[site].seat] = true;
}

static bool is_returned_by(const struct cohort__team *team, const struct cohort__round *round,
                           const bool *through, uint32_t seat)
{
    return through[seat] ||
           atomic_load(cohort__board_passed(&team->board, team->seats[seat].slot)) >= round->number;
}

bool cohort__team_is_returned(struct cohort__team *team, const struct cohort__round *round,
                              const bool *through)
{
    if (await_passed(team, round->number))
        return true;
    uint32_t seat = 0;
    while (seat < team->num_others && is_returned_by(team, round, through, seat))
        seat++;
    return seat == team->num_others;
}

bool cohort__team_is_returned_by(const struct cohort__team *team, const struct cohort__round *round,
                                 const bool *through, uint32_t site)
{
    return is_returned_by(team, round, through, team->places[site].seat);
}

/* The fences of who lends and who has read are those of a sequence lock: who reads what was written
 * after the first one sees the mark after the second one. */
void cohort__team_withdraw(const struct cohort__team *team, const struct cohort__round *round)
{
    if (all_passed(team) >= round->number)
        return; /* another post may be in that place */
    atomic_store(&post_of(team, round, own_seat(team))->share, COHORT__BOARD_WITHDRAWN);
    atomic_thread_fence(memory_order_seq_cst);
}

bool cohort__team_look_again(const struct cohort__team *team, struct cohort__round *round)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; round->reads_lent && i < team->num_others; i++) {
        const struct seat *seat = &team->seats[i];
        if (round->has_source && seat != seat_of(team, round->source))
            continue;
        if (is_withdrawn(team, seat, post_of(team, round, seat))) {
            round->num_there = 0;
            return false;
        }
    }
    return true;
}

/* Posts ------------------------------------------------------------------------------------ */

static void alert_others(const struct cohort__team *team)
{
    cohort__boards_alert(team->process, team->slots, team->num_others);
}

void cohort__team_begin_post(struct cohort__team *team, struct cohort__round *round)
{
    if (cohort__round_piece(round) > 0)
        post(team, round);
}

void cohort__team_mark(const struct cohort__team *team, const struct cohort__round *round,
                       size_t begin, size_t end)
{
    size_t piece = cohort__round_piece(round);
    size_t first = begin / piece, num = (end - 1) / piece + 1 - first;
    uint64_t pieces = UINT64_MAX >> (COHORT__BOARD_PIECES - num) << first;
    atomic_fetch_or_explicit(&post_of(team, round, own_seat(team))->mark, pieces,
                             memory_order_release);
}

/* Looks how many pieces of the source's post, which is there, can be read. Several works may write
 * at the same time, so pieces behind a missing one may be there. False: not all. */
static bool is_whole(const struct cohort__team *team, const struct cohort__round *round,
                     uint8_t *ret_num)
{
    *ret_num = 0;
    const struct cohort__board_post *post = post_of(team, round, seat_of(team, round->source));
    if (cohort__round_piece(round) == 0 || is_lent(post))
        return true;
    uint64_t mark = atomic_load(&post->mark);
    *ret_num = mark == UINT64_MAX ? COHORT__BOARD_PIECES : (uint8_t)__builtin_ctzll(~mark);
    return cohort__round_end(round, *ret_num) == round->bytes;
}

/* Does not wake the others yet, since a locality that sleeps has nothing to do before all have
 * posted. If several post at the same time, at least one of them sees all posts when it looks,
 * because of the fence. That one wakes the sleepers. A source is the only one to post. */
void cohort__team_post(struct cohort__team *team, struct cohort__round *round)
{
    if (!round->is_posted)
        post(team, round);
    round->is_to_wake = !round->has_source;
    atomic_thread_fence(memory_order_seq_cst);
    if (round->has_source)
        alert_others(team);
}

/* An error for a post that no call can have made. */
static void set_nonsense(struct cohort__error *error, const struct seat *seat,
                         const struct cohort__round *round)
{
    cohort__error_set(error, COHORT_ERR_PROTOCOL,
                      "locality %u (site %u) has posted for generation %" PRIu64
                      " what can't be on its part of the board",
                      (unsigned)seat->rank, (unsigned)seat->first_site,
                      cohort__board_generation(round->number));
}

/* Whether POST, which is there, is for the call that this locality is in. */
static bool fits(const struct cohort__round *round, const struct cohort__board_post *post)
{
    return post->fingerprint == round->fingerprint && post->bytes == round->bytes;
}

/* Whether to look at all posts that are there, and not only up to the first missing one. */
static bool take_overdue(struct cohort__round *round)
{
    bool is_overdue = round->is_overdue;
    round->is_overdue = false;
    return is_overdue;
}

static inline bool is_there(const struct cohort__team *team, const struct cohort__round *round,
                            const struct seat *seat, const struct cohort__board_post *post)
{
    return cohort__board_is_posted(post, round->number) &&
           (round->bytes < COHORT__BOARD_LENT || !is_withdrawn(team, seat, post));
}

static bool is_posted(const struct cohort__team *team, const struct cohort__round *round,
                      const struct seat *seat)
{
    return is_there(team, round, seat, post_of(team, round, seat));
}

/* Looks for the only post that there will be. */
static enum cohort__round_state look_at_source(const struct cohort__team *team,
                                               struct cohort__round *round, uint32_t *ret_site)
{
    const struct seat *seat = seat_of(team, round->source);
    if (seat == own_seat(team))
        return COHORT__ROUND_FULL; /* it is posted */
    if (!is_posted(team, round, seat))
        return COHORT__ROUND_PARTIAL;
    if (!fits(round, post_of(team, round, seat))) {
        *ret_site = seat->first_site;
        return COHORT__ROUND_DIFFERENT;
    }
    round->is_partial = !is_whole(team, round, &round->num_readable);
    if (!round->is_partial)
        return COHORT__ROUND_FULL;
    return round->num_readable > round->num_read ? COHORT__ROUND_READABLE : COHORT__ROUND_PARTIAL;
}

static enum cohort__round_state look(struct cohort__team *team, struct cohort__round *round,
                                     uint32_t *ret_site)
{
    bool goes_on = take_overdue(round);
    for (uint32_t i = round->num_there; i < team->num_others; i++) {
        const struct seat *seat = &team->seats[i];
        const struct cohort__board_post *post = post_of(team, round, seat);
        if (!is_there(team, round, seat, post)) {
            if (!goes_on)
                break;
            continue;
        }
        if (!fits(round, post)) {
            *ret_site = seat->first_site;
            return COHORT__ROUND_DIFFERENT;
        }
        if (i == round->num_there) {
            round->num_there++;
            if (post->passed < round->least_passed)
                round->least_passed = post->passed;
        }
    }
    if (round->num_there < team->num_others)
        return COHORT__ROUND_PARTIAL;
    if (round->least_passed > team->others_passed)
        team->others_passed = round->least_passed;
    return COHORT__ROUND_FULL;
}

enum cohort__round_state cohort__team_look(struct cohort__team *team, struct cohort__round *round,
                                           uint32_t *ret_site)
{
    enum cohort__round_state state =
        round->has_source ? look_at_source(team, round, ret_site) : look(team, round, ret_site);
    if (round->is_to_wake && state == COHORT__ROUND_FULL)
        alert_others(team);
    round->is_to_wake = false;
    return state;
}

bool cohort__team_has_come(const struct cohort__team *team, const struct cohort__round *round,
                           uint32_t site)
{
    const struct seat *seat = seat_of(team, site);
    uint8_t num;
    if (!round->has_source || seat == seat_of(team, round->source))
        return is_posted(team, round, seat) && fits(round, post_of(team, round, seat)) &&
               is_whole(team, round, &num);
    if (!cohort__team_posts(team, round))
        return true; /* it only waits for the source, as this one does */
    return atomic_load(cohort__board_passed(&team->board, seat->slot)) >= round->needed;
}

static const unsigned char *data_of(const struct cohort__team *team,
                                    const struct cohort__round *round, const struct seat *seat)
{
    return cohort__board_data(&team->board, seat->slot, round->number,
                              round->bytes * seat->num_sites);
}

/* What the site of PLACE lends. */
static const unsigned char *lent_by(const struct cohort__team *team,
                                    const struct cohort__round *round, const struct place *place,
                                    size_t extent, struct cohort__error *ret_error)
{
    const struct seat *seat = &team->seats[place->seat];
    const uint64_t *table =
        cohort__board_table(&team->board, seat->slot, round->number, seat->num_sites);
    if (!table || (round->has_shares && !data_of(team, round, seat))) {
        set_nonsense(ret_error, seat, round);
        return NULL;
    }
    const unsigned char *data =
        cohort__boards_lent(team->process, seat->slot, table[place->index], extent);
    if (!data)
        cohort__error_set(ret_error, cohort__error_slot()->status,
                          "generation %" PRIu64 ": what locality %u (site %u) lends: %s",
                          cohort__board_generation(round->number), (unsigned)seat->rank,
                          (unsigned)seat->first_site, cohort_error_message());
    return data;
}

const unsigned char *cohort__team_input(const struct cohort__team *team,
                                        struct cohort__round *round, uint32_t site, size_t extent,
                                        bool *ret_is_lent, struct cohort__error *ret_error)
{
    const struct place *place = &team->places[site];
    const struct seat *seat = &team->seats[place->seat];
    *ret_is_lent = round->bytes >= COHORT__BOARD_LENT && is_lent(post_of(team, round, seat));
    if (*ret_is_lent) {
        round->reads_lent = true;
        return lent_by(team, round, place, extent, ret_error);
    }
    const unsigned char *data = data_of(team, round, seat);
    if (!data) {
        set_nonsense(ret_error, seat, round);
        return NULL;
    }
    return data + place->index * round->bytes;
}

/* Shares ----------------------------------------------------------------------------------- */

unsigned char *cohort__team_own(const struct cohort__team *team, const struct cohort__round *round)
{
    return place_of(team, round);
}

const unsigned char *cohort__team_at(const struct cohort__team *team,
                                     const struct cohort__round *round, uint32_t number)
{
    return data_of(team, round, &team->seats[team->by_number[number]]);
}

void cohort__team_post_share(struct cohort__team *team, struct cohort__round *round)
{
    atomic_store_explicit(&post_of(team, round, own_seat(team))->share, COHORT__BOARD_SHARE_THERE,
                          memory_order_release);
    round->num_there = 0;
    round->is_to_wake = true; /* as after a post */
    atomic_thread_fence(memory_order_seq_cst);
}

static enum cohort__round_state look_shares(const struct cohort__team *team,
                                            struct cohort__round *round)
{
    for (; round->num_there < team->num_others; round->num_there++) {
        const struct seat *seat = &team->seats[round->num_there];
        if (atomic_load_explicit(&post_of(team, round, seat)->share, memory_order_acquire) !=
            COHORT__BOARD_SHARE_THERE)
            return COHORT__ROUND_PARTIAL;
    }
    return COHORT__ROUND_FULL;
}

enum cohort__round_state cohort__team_look_shares(struct cohort__team *team,
                                                  struct cohort__round *round)
{
    enum cohort__round_state state = look_shares(team, round);
    if (round->is_to_wake && state == COHORT__ROUND_FULL)
        alert_others(team);
    round->is_to_wake = false;
    return state;
}

bool cohort__team_has_share(const struct cohort__team *team, const struct cohort__round *round,
                            uint32_t site)
{
    const struct seat *seat = seat_of(team, site);
    return atomic_load(&post_of(team, round, seat)->share) == COHORT__BOARD_SHARE_THERE;
}

uint32_t cohort__team_own_number(const struct cohort__team *team)
{
    return own_seat(team)->number;
}

bool cohort__team_free_arena(struct cohort__team *team, size_t bytes)
{
    uint64_t needed = cohort__room_latest(&team->room);
    if (needed > all_passed(team))
        look_up_passed(team);
    if (needed > all_passed(team) ||
        !cohort__boards_free(&team->board, own_seat(team)->slot, bytes))
        return false;
    cohort__room_forget(&team->room);
    return true;
}

void cohort__team_pass(struct cohort__team *team, uint64_t number)
{
    if (number <= team->passed)
        return;
    team->passed = number; /* the next post says so, too */
    atomic_store(cohort__board_passed(&team->board, own_seat(team)->slot), number);
    if (atomic_load(&cohort__board_head(&team->board)->num_waiting) > 0)
        cohort__boards_alert(team->process, team->slots, team->num_others + 1);
}
