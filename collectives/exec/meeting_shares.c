/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/meeting_shares.h"

#include "collectives/comm/commons.h"
#include "collectives/exec/meeting_tell.h"
#include "runtime/base/copier.h"

/* An all_reduce of much data among several localities. Each of them reduces a share of it, on the
 * board. The result takes the place of that share in the locality's own post, since no other
 * locality reads its input there. When all shares are made, each locality copies all of them. So
 * every locality reads as many bytes as one locality brings, and not as many as all bring. */

/* Measured: docs/measurements.md, "What an all_reduce reads". */
enum {
    FROM_BYTES = 32 * 1024, /* with less, waiting twice for the others takes longer */
    FROM_LOCALITIES = 3,    /* with two, each would read as much as without shares */
    SHARE_ELEMENTS = 64,    /* shares end at multiples of that, so at cache lines */
};

bool cohort__meeting_has_shares(const struct cohort__meetings *meetings,
                                const struct cohort__meeting *meeting)
{
    return meetings->team && meeting->kind == &cohort__movement_all_reduce &&
           meetings->group->num_localities >= FROM_LOCALITIES && meeting->far.bytes >= FROM_BYTES &&
           cohort__op_is_builtin(meeting->movement.op);
}

/* Where the share of locality NUMBER begins, in bytes. */
static size_t share_begin(const struct cohort__meetings *meetings,
                          const struct cohort__meeting *meeting, uint32_t number)
{
    const struct cohort__movement *movement = &meeting->movement;
    uint32_t num = meetings->group->num_localities;
    size_t each = (movement->count + num - 1) / num;
    each = (each + SHARE_ELEMENTS - 1) / SHARE_ELEMENTS * SHARE_ELEMENTS;
    size_t begin = each * number;
    return (begin < movement->count ? begin : movement->count) * movement->element;
}

void cohort__meeting_own_share(const struct cohort__meetings *meetings,
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
    cohort__meeting_own_share(meetings, meeting, &begin, &end);
    begin += part * COHORT__PART_BYTES;
    end = part_end(begin, end);
    unsigned char *own = cohort__team_own(meetings->team, &meeting->far);
    cohort__movement_fold(&meeting->movement, own + begin, begin, end - begin);
}

bool cohort__meeting_reduce(struct cohort__meeting *meeting,
                            void (*over)(struct cohort__crew *crew))
{
    const struct cohort__meetings *meetings = meeting->meetings;
    size_t begin, end;
    cohort__meeting_own_share(meetings, meeting, &begin, &end);
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
    return meeting->movement.in[cohort__team_first_site(meetings->team, number)];
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
    cohort__meeting_over(COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew));
}

void cohort__meeting_collect(struct cohort__meeting *meeting)
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
    cohort__meeting_over(meeting);
}
