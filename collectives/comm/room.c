/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/room.h"

/* What BYTES take of the arena: whole lines, and one more, so that posts of 4 KiB, or some power of
 * two more, don't share the same few places of the caches. */
static uint32_t taken_by(size_t bytes)
{
    if (bytes <= COHORT__BOARD_INLINE)
        return 0;
    size_t lines = (bytes + COHORT__BOARD_LINE - 1) / COHORT__BOARD_LINE;
    return (uint32_t)((lines + 1) * COHORT__BOARD_LINE);
}

/* The latest generation that holds something from BEGIN to END, or the place of GENERATION. */
static uint64_t holder_of(const struct cohort__room *room, uint64_t generation, uint32_t begin,
                          uint32_t end)
{
    uint64_t latest = room->held[generation % COHORT__BOARD_DEPTH].generation;
    for (int i = 0; begin < end && i < COHORT__BOARD_DEPTH; i++) {
        const struct cohort__held *held = &room->held[i];
        if (held->generation > latest && held->begin < end && begin < held->end)
            latest = held->generation;
    }
    return latest;
}

/* The first part of the arena, in which posts that take so much take turns. */
static uint32_t span_of(const struct cohort__room *room, uint32_t taken)
{
    uint64_t least = COHORT__ROOM_LEAST * (uint64_t)taken;
    uint64_t most = COHORT__ROOM_TURNS * (uint64_t)taken;
    uint64_t span = room->spread < most ? room->spread : most;
    span = span > least ? span : least;
    return span < COHORT__BOARD_ARENA ? (uint32_t)span : COHORT__BOARD_ARENA;
}

/* Where that is held they go behind anything else. */
uint32_t cohort__room_find(const struct cohort__room *room, uint64_t generation, size_t bytes,
                           uint64_t all_passed, uint64_t *ret_needed)
{
    uint32_t taken = taken_by(bytes), end = room->next + taken;
    bool is_near = end <= span_of(room, taken);
    uint32_t offset = is_near ? room->next : 0;
    uint64_t needed = holder_of(room, generation, offset, offset + taken);
    for (int i = 0; needed > all_passed && i < COHORT__BOARD_DEPTH; i++) {
        uint32_t behind = room->held[i].end;
        if (behind + taken > COHORT__BOARD_ARENA)
            continue;
        uint64_t needed_behind = holder_of(room, generation, behind, behind + taken);
        if (needed_behind < needed) {
            needed = needed_behind;
            offset = behind;
        }
    }
    *ret_needed = needed;
    return offset;
}

void cohort__room_take(struct cohort__room *room, uint64_t generation, size_t bytes,
                       uint32_t offset)
{
    uint32_t taken = taken_by(bytes);
    room->held[generation % COHORT__BOARD_DEPTH] =
        (struct cohort__held){generation, offset, offset + taken};
    if (taken > 0)
        room->next = offset + taken;
}
