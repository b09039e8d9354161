/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/team.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/inbox.h"
#include "collectives/comm/room.h"
#include "runtime/proc/boards.h"

/* A locality, this one or another. */
struct seat {
    uint32_t rank;
    uint32_t slot;
    uint32_t first_site; /* one of its sites, for messages */
    uint32_t num_sites;
    uint32_t number; /* among all, in the order of their first sites */
};

/* Where a site's part of its locality's post is. */
struct place {
    uint32_t seat;
    uint32_t index; /* among the sites of its locality */
};

struct cohort__assembly {
    struct cohort__process *process;
    struct cohort__board board;
    uint64_t passed;          /* by this locality, as all know */
    uint64_t all_passed;      /* by all, at least */
    bool is_waiting;          /* for a place, and counted as such on the board */
    struct cohort__room room; /* this locality's */
    uint32_t num_others;
    uint32_t *slots;      /* the others', then this locality's */
    struct seat *seats;   /* in the same order */
    uint32_t *by_number;  /* seats, in the order of their first sites */
    struct place *places; /* by site */
};

size_t cohort__assembly_share(const struct cohort__group *group)
{
    return COHORT__BOARD_POST / group->max_local_sites;
}

void cohort__assembly_destroy(struct cohort__assembly *assembly)
{
    if (!assembly)
        return;
    cohort__boards_close(&assembly->board);
    free(assembly->slots);
    free(assembly->seats);
    free(assembly->places);
    free(assembly->by_number);
    free(assembly);
}

/* Numbers the localities, and the sites within each. False: no memory. */
static bool take_seats(struct cohort__assembly *assembly, const struct cohort__group *group)
{
    const struct cohort__membership *membership = group->membership;
    uint32_t num_seats = 0;
    uint32_t *seat_plus_1 =
        calloc(cohort__process_size(assembly->process), sizeof(*seat_plus_1)); /* by rank */
    if (!seat_plus_1)
        return false;
    for (uint32_t site = 0; site < membership->num_sites; site++) {
        uint32_t rank = membership->locality_of[site];
        bool is_new = seat_plus_1[rank] == 0;
        if (is_new)
            seat_plus_1[rank] =
                rank == group->rank ? group->num_localities : ++assembly->num_others;
        uint32_t seat = seat_plus_1[rank] - 1;
        if (is_new) {
            assembly->seats[seat] =
                (struct seat){.rank = rank, .first_site = site, .number = num_seats};
            assembly->by_number[num_seats++] = seat;
        }
        assembly->places[site] = (struct place){seat, assembly->seats[seat].num_sites++};
    }
    free(seat_plus_1);
    return true;
}

cohort_status cohort__assembly_create(struct cohort__assembly **ret_assembly,
                                      struct cohort__group *group)
{
    uint32_t num_sites = group->membership->num_sites;
    struct cohort__assembly *assembly = calloc(1, sizeof(*assembly));
    if (assembly) {
        assembly->process = cohort__inbox_process(group->inbox);
        assembly->seats = calloc(group->num_localities, sizeof(*assembly->seats));
        assembly->slots = calloc(group->num_localities, sizeof(*assembly->slots));
        assembly->places = calloc(num_sites, sizeof(*assembly->places));
        assembly->by_number = calloc(group->num_localities, sizeof(*assembly->by_number));
    }
    cohort_status status = COHORT_OK;
    if (!assembly || !assembly->seats || !assembly->slots || !assembly->places ||
        !assembly->by_number)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%.60s\": no memory for %u sites",
                             group->name, (unsigned)num_sites);
    if (!status)
        status = cohort__boards_open(assembly->process, group->board, &assembly->board);
    if (!status) {
        assembly->room.spread = COHORT__ROOM_SPREAD / group->num_localities;
        if (!take_seats(assembly, group))
            status = cohort_fail(COHORT_ERR_NO_MEMORY,
                                 "communicator \"%.60s\": no memory for seats", group->name);
    }
    for (uint32_t i = 0; !status && i < group->num_localities; i++) {
        struct seat *seat = &assembly->seats[i];
        if (!cohort__boards_slot_of(assembly->process, seat->rank, &seat->slot))
            status =
                cohort_fail(COHORT_ERR_PEER_DIED, "communicator \"%.60s\": locality %u is gone",
                            group->name, (unsigned)seat->rank);
        assembly->slots[i] = seat->slot;
    }
    if (status) {
        cohort__assembly_destroy(assembly);
        return status;
    }
    *ret_assembly = assembly;
    return COHORT_OK;
}

static const struct seat *own_seat(const struct cohort__assembly *assembly)
{
    return &assembly->seats[assembly->num_others];
}

static const struct seat *seat_of(const struct cohort__assembly *assembly, uint32_t site)
{
    return &assembly->seats[assembly->places[site].seat];
}

bool cohort__assembly_posts(const struct cohort__assembly *assembly,
                            const struct cohort__attendance *attendance)
{
    return !attendance->has_source || seat_of(assembly, attendance->source) == own_seat(assembly);
}

/* What the others have passed is seen in their posts; here, where that isn't enough, it is looked
 * up. Who waits says so first, and then looks; who passes does it the other way round. */
static void look_up_passed(struct cohort__assembly *assembly, uint64_t needed)
{
    for (bool is_told = assembly->is_waiting;; is_told = true) {
        uint64_t least = assembly->passed; /* who posts reads its own posts, too */
        for (uint32_t i = 0; i < assembly->num_others; i++) {
            uint64_t passed =
                atomic_load(cohort__board_passed(&assembly->board, assembly->slots[i]));
            if (passed < least)
                least = passed;
        }
        assembly->all_passed = least;
        if (least >= needed || is_told)
            break;
        assembly->is_waiting = true;
        atomic_fetch_add(&cohort__board_head(&assembly->board)->num_waiting, 1);
    }
    if (assembly->all_passed < needed || !assembly->is_waiting)
        return;
    assembly->is_waiting = false;
    atomic_fetch_sub(&cohort__board_head(&assembly->board)->num_waiting, 1);
}

/* Has BYTES placed, or says that there is no place. */
static bool find_place(struct cohort__assembly *assembly, struct cohort__attendance *attendance,
                       size_t bytes)
{
    uint64_t needed;
    attendance->placed = bytes;
    attendance->offset = cohort__room_find(&assembly->room, attendance->generation,
                                           attendance->placed, assembly->all_passed, &needed);
    attendance->needed = needed;
    if (needed > assembly->all_passed || assembly->is_waiting)
        look_up_passed(assembly, needed);
    return needed <= assembly->all_passed;
}

static struct cohort__board_post *post_of(const struct cohort__assembly *assembly,
                                          const struct cohort__attendance *attendance,
                                          const struct seat *seat)
{
    return cohort__board_post(&assembly->board, seat->slot, attendance->generation);
}

static unsigned char *place_of(const struct cohort__assembly *assembly,
                               const struct cohort__attendance *attendance)
{
    return cohort__board_place(&assembly->board, own_seat(assembly)->slot, attendance->generation,
                               attendance->placed, attendance->offset);
}

unsigned char *cohort__assembly_place(struct cohort__assembly *assembly,
                                      struct cohort__attendance *attendance, size_t bytes)
{
    return find_place(assembly, attendance, bytes) ? place_of(assembly, attendance) : NULL;
}

static void post(struct cohort__assembly *assembly, struct cohort__attendance *attendance)
{
    uint64_t generation = attendance->generation;
    struct cohort__board_post *own =
        cohort__board_post(&assembly->board, own_seat(assembly)->slot, generation);
    own->fingerprint = attendance->fingerprint;
    own->passed = assembly->passed;
    own->bytes = attendance->bytes;
    if (attendance->placed > COHORT__BOARD_INLINE) {
        own->offset = attendance->offset;
        atomic_store_explicit(&own->share, COHORT__BOARD_SHARE_NONE, memory_order_relaxed);
    }
    atomic_store_explicit(&own->generation, generation, memory_order_release);
    cohort__room_take(&assembly->room, generation, attendance->placed, attendance->offset);
    attendance->is_posted = true;
}

static void alert_others(const struct cohort__assembly *assembly)
{
    cohort__boards_alert(assembly->process, assembly->slots, assembly->num_others);
}

/* Nobody is woken yet: who sleeps has nothing to do before all have posted. Of those who post at
 * the same time, at least one sees all others' posts when it looks, because of the fence: that one
 * wakes the sleepers. */
void cohort__assembly_post(struct cohort__assembly *assembly, struct cohort__attendance *attendance)
{
    post(assembly, attendance);
    attendance->is_to_wake = true;
    atomic_thread_fence(memory_order_seq_cst);
}

/* Nobody's call makes such a post. */
static void set_nonsense(struct cohort__error *error, const struct seat *seat,
                         const struct cohort__attendance *attendance)
{
    cohort__error_set(error, COHORT_ERR_PROTOCOL,
                      "locality %u (site %u) has posted for generation %" PRIu64
                      " what can't be on its part of the board",
                      (unsigned)seat->rank, (unsigned)seat->first_site, attendance->generation);
}

/* Whether POST, which is there, is what this locality waits for. */
static bool fits(const struct cohort__attendance *attendance, const struct cohort__board_post *post)
{
    return post->fingerprint == attendance->fingerprint && post->bytes == attendance->bytes;
}

/* Whether to look at all posts that are there, rather than up to the first that isn't. */
static bool take_overdue(struct cohort__attendance *attendance)
{
    bool is_overdue = attendance->is_overdue;
    attendance->is_overdue = false;
    return is_overdue;
}

static bool is_posted(const struct cohort__assembly *assembly,
                      const struct cohort__attendance *attendance, const struct seat *seat)
{
    return cohort__board_is_posted(&assembly->board, seat->slot, attendance->generation);
}

/* For the one post that there will be. */
static enum cohort__attendance_state look_at_source(const struct cohort__assembly *assembly,
                                                    const struct cohort__attendance *attendance,
                                                    uint32_t *ret_site)
{
    const struct seat *seat = seat_of(assembly, attendance->source);
    if (seat == own_seat(assembly))
        return COHORT__ATTENDANCE_FULL; /* it is posted */
    if (!is_posted(assembly, attendance, seat))
        return COHORT__ATTENDANCE_PARTIAL;
    if (fits(attendance, post_of(assembly, attendance, seat)))
        return COHORT__ATTENDANCE_FULL;
    *ret_site = seat->first_site;
    return COHORT__ATTENDANCE_DIFFERENT;
}

static enum cohort__attendance_state look(struct cohort__assembly *assembly,
                                          struct cohort__attendance *attendance, uint32_t *ret_site)
{
    bool goes_on = take_overdue(attendance);
    for (uint32_t i = attendance->num_there; i < assembly->num_others; i++) {
        const struct seat *seat = &assembly->seats[i];
        const struct cohort__board_post *post = post_of(assembly, attendance, seat);
        if (!is_posted(assembly, attendance, seat)) {
            if (!goes_on)
                break;
            continue;
        }
        if (!fits(attendance, post)) {
            *ret_site = seat->first_site;
            return COHORT__ATTENDANCE_DIFFERENT;
        }
        if (i == attendance->num_there) {
            attendance->num_there++;
            if (post->passed < attendance->least_passed)
                attendance->least_passed = post->passed;
        }
    }
    if (attendance->num_there < assembly->num_others)
        return COHORT__ATTENDANCE_PARTIAL;
    uint64_t least = attendance->least_passed;
    if (least > assembly->passed)
        least = assembly->passed;
    if (least > assembly->all_passed)
        assembly->all_passed = least;
    return COHORT__ATTENDANCE_FULL;
}

enum cohort__attendance_state cohort__assembly_look(struct cohort__assembly *assembly,
                                                    struct cohort__attendance *attendance,
                                                    uint32_t *ret_site)
{
    enum cohort__attendance_state state = attendance->has_source
                                              ? look_at_source(assembly, attendance, ret_site)
                                              : look(assembly, attendance, ret_site);
    if (attendance->is_to_wake && state == COHORT__ATTENDANCE_FULL)
        alert_others(assembly);
    attendance->is_to_wake = false;
    return state;
}

bool cohort__assembly_has_come(const struct cohort__assembly *assembly,
                               const struct cohort__attendance *attendance, uint32_t site)
{
    const struct seat *seat = seat_of(assembly, site);
    if (!attendance->has_source || seat == seat_of(assembly, attendance->source))
        return is_posted(assembly, attendance, seat) &&
               fits(attendance, post_of(assembly, attendance, seat));
    if (!cohort__assembly_posts(assembly, attendance))
        return true; /* one more that waits for the source */
    return atomic_load(cohort__board_passed(&assembly->board, seat->slot)) >= attendance->needed;
}

const unsigned char *cohort__assembly_input(const struct cohort__assembly *assembly,
                                            const struct cohort__attendance *attendance,
                                            uint32_t site, struct cohort__error *ret_error)
{
    const struct place *place = &assembly->places[site];
    const struct seat *seat = &assembly->seats[place->seat];
    const unsigned char *data = cohort__board_data(
        &assembly->board, seat->slot, attendance->generation, attendance->bytes * seat->num_sites);
    if (!data) {
        set_nonsense(ret_error, seat, attendance);
        return NULL;
    }
    return data + place->index * attendance->bytes;
}

/* Shares ----------------------------------------------------------------------------------- */

unsigned char *cohort__assembly_own(const struct cohort__assembly *assembly,
                                    const struct cohort__attendance *attendance)
{
    return place_of(assembly, attendance);
}

void cohort__assembly_post_share(struct cohort__assembly *assembly,
                                 struct cohort__attendance *attendance)
{
    atomic_store_explicit(&post_of(assembly, attendance, own_seat(assembly))->share,
                          COHORT__BOARD_SHARE_THERE, memory_order_release);
    attendance->num_there = 0;
    attendance->is_to_wake = true; /* as with a post */
    atomic_thread_fence(memory_order_seq_cst);
}

static enum cohort__attendance_state look_shares(const struct cohort__assembly *assembly,
                                                 struct cohort__attendance *attendance)
{
    for (; attendance->num_there < assembly->num_others; attendance->num_there++) {
        const struct seat *seat = &assembly->seats[attendance->num_there];
        if (atomic_load_explicit(&post_of(assembly, attendance, seat)->share,
                                 memory_order_acquire) != COHORT__BOARD_SHARE_THERE)
            return COHORT__ATTENDANCE_PARTIAL;
    }
    return COHORT__ATTENDANCE_FULL;
}

enum cohort__attendance_state cohort__assembly_look_shares(struct cohort__assembly *assembly,
                                                           struct cohort__attendance *attendance)
{
    enum cohort__attendance_state state = look_shares(assembly, attendance);
    if (attendance->is_to_wake && state == COHORT__ATTENDANCE_FULL)
        alert_others(assembly);
    attendance->is_to_wake = false;
    return state;
}

bool cohort__assembly_has_share(const struct cohort__assembly *assembly,
                                const struct cohort__attendance *attendance, uint32_t site)
{
    const struct seat *seat = seat_of(assembly, site);
    return atomic_load(&post_of(assembly, attendance, seat)->share) != COHORT__BOARD_SHARE_NONE;
}

uint32_t cohort__assembly_own_number(const struct cohort__assembly *assembly)
{
    return own_seat(assembly)->number;
}

uint32_t cohort__assembly_first_site(const struct cohort__assembly *assembly, uint32_t number)
{
    return assembly->seats[assembly->by_number[number]].first_site;
}

void cohort__assembly_pass(struct cohort__assembly *assembly, uint64_t generation)
{
    if (generation <= assembly->passed)
        return;
    assembly->passed = generation; /* the next post tells it, too */
    atomic_store(cohort__board_passed(&assembly->board, own_seat(assembly)->slot), generation);
    if (atomic_load(&cohort__board_head(&assembly->board)->num_waiting) > 0)
        cohort__boards_alert(assembly->process, assembly->slots, assembly->num_others + 1);
}
