/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/room.h"

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
