/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/meeting_bring.h"

#include "collectives/comm/commons.h"
#include "collectives/exec/meeting_shares.h"
#include "runtime/base/copier.h"

/* What the site of RANK brings: cohort__meeting_in_bytes() bytes. NULL: nothing. */
static const unsigned char *contribution(const struct cohort__meeting *meeting, uint32_t rank)
{
    const struct cohort__movement *movement = &meeting->movement;
    const unsigned char *in = movement->in[rank];
    bool is_in_place = in == movement->out[rank];
    if (!cohort__meeting_brings(meeting, rank))
        return NULL;
    if (in && is_in_place &&
        (meeting->kind == &cohort__movement_all_gather ||
         meeting->kind == &cohort__movement_gather))
        return in + rank * movement->stride;
    return in;
}

/* What is posted of a segment stays in the caches: the next one is written to the same place. */
static void bring_bytes(struct cohort__meetings *meetings, const struct cohort__meeting *meeting,
                        unsigned char *to, const unsigned char *from, size_t bytes)
{
    if (meeting->movement.is_past_caches && !cohort__meeting_is_segment(meeting))
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
    cohort__meeting_own_share(meetings, meeting, &share_begin, &share_end);
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
    if (cohort__meeting_has_shares(meetings, meeting)) {
        bring_for_shares(meetings, meeting, to, from, begin, end);
        return;
    }
    if (meeting->kind->in_blocks) {
        bring_bytes(meetings, meeting, to + begin, from + begin, end - begin);
        return;
    }
    size_t block = movement->count * movement->element;
    for (uint32_t target = (uint32_t)(begin / block); begin < end; target++) {
        size_t next = (target + 1) * block < end ? (target + 1) * block : end;
        const unsigned char *part = from + target * movement->stride + (begin - target * block);
        if (!meeting->participants[target] || is_in_place)
            bring_bytes(meetings, meeting, to + begin, part, next - begin);
        begin = next;
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
    if (meeting->kind->in_blocks)
        return num * meeting->far.bytes;
    return num * movement->count * movement->element * (movement->num_sites - meetings->num_local);
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
static void perform(struct cohort__crew *crew, uint64_t part)
{
    const struct cohort__meeting *meeting = COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew);
    struct cohort__meetings *meetings = meeting->meetings;
    uint64_t num_parts = parts_of_site(meeting);
    size_t begin = part % num_parts * COHORT__PART_BYTES, bytes = meeting->far.bytes;
    uint64_t index = part / num_parts;
    copy(meetings, meeting, local_rank(meeting, index), meeting->place + index * bytes, begin,
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

bool cohort__meeting_bring(struct cohort__meetings *meetings, struct cohort__meeting *meeting,
                           void (*over)(struct cohort__crew *crew))
{
    uint32_t num = num_bringing(meeting);
    size_t bytes = num > 0 ? meeting->far.bytes * meetings->num_local : 0; /* room for all */
    unsigned char *to = cohort__team_place(meetings->team, &meeting->far, bytes);
    if (!to)
        return false;
    if (bytes > COHORT__BOARD_INLINE)
        use_arena(meetings, meeting->far.offset + bytes);
    if (copied_bytes(meetings, meeting, num) > COHORT__MEETING_ON_THE_SPOT) {
        meeting->state = COHORT__MEETING_BRINGING;
        meeting->place = to;
        cohort__crew_start(&meeting->crew, meetings->group->commons, cohort__chore_post,
                           meetings->num_local * parts_of_site(meeting), perform, over);
        return false;
    }
    for (uint32_t rank = 0; bytes > 0 && rank < meeting->movement.num_sites; rank++) {
        if (!meeting->participants[rank])
            continue;
        copy(meetings, meeting, rank, to, 0, meeting->far.bytes);
        to += meeting->far.bytes;
    }
    cohort__team_post(meetings->team, &meeting->far);
    return true;
}
