/* SPDX-License-Identifier: Apache-2.0 */
/* The way down of a composed row, in pieces. */
#include "collectives/algo/pattern/levels.h"
#include "collectives/plan/writers.h"

/* A piece goes through a locality in one meeting, and on the way up there is one, too. */
_Static_assert(COHORT__LEVELS_PIECES + 3 <= COHORT__PLAN_MEETINGS,
               "a meeting on the way up, one for each piece, and two of an agreement in front");

static uint32_t num_subgroups(const struct cohort__levels *levels)
{
    return cohort__machine_num_subgroups(levels->machine, levels->used[levels->num_used - 1]);
}

uint32_t cohort__levels_num_pieces(const struct cohort__levels *levels, size_t bytes)
{
    size_t notes = bytes / COHORT__LEVELS_NOTE_BYTES + (bytes % COHORT__LEVELS_NOTE_BYTES > 0);
    uint32_t num = num_subgroups(levels);
    num = num < COHORT__LEVELS_PIECES ? num : COHORT__LEVELS_PIECES;
    num = notes < num ? (uint32_t)notes : num;
    return num > 0 ? num : 1;
}

/* The sites of piece INDEX of NUM: those of consecutive subgroups. */
static struct cohort__slice places_of(const struct cohort__levels *levels, uint32_t index,
                                      uint32_t num)
{
    uint64_t all = num_subgroups(levels);
    struct cohort__slice first =
        cohort__levels_slice(levels, levels->num_used, (uint32_t)(index * all / num));
    struct cohort__slice last =
        cohort__levels_slice(levels, levels->num_used, (uint32_t)((index + 1) * all / num - 1));
    return (struct cohort__slice){.first = first.first, .num = last.first + last.num - first.first};
}

/* What a member of the top has to wait for. */
static void wait_for_writers(struct cohort__levels *levels, enum cohort__space space,
                             struct cohort__piece *pieces, uint32_t num)
{
    struct cohort__written ranges[COHORT__LEVELS_PIECES];
    for (uint32_t i = 0; i < num; i++) {
        pieces[i].come = cohort__plan_join(levels->builder, COHORT__LEVELS_TOP);
        ranges[i] = (struct cohort__written){.offset = pieces[i].shelf.area.offset,
                                             .bytes = cohort__shelf_bytes(&pieces[i].shelf),
                                             .step = pieces[i].come};
    }
    cohort__plan_after_writers(levels->builder, space, ranges, num);
}

void cohort__levels_cut(struct cohort__levels *levels, const struct cohort__shelf *shelf,
                        uint32_t num, uint32_t after,
                        struct cohort__piece ret_pieces[COHORT__LEVELS_PIECES])
{
    for (uint32_t i = 0; i < num; i++) {
        struct cohort__slice places = places_of(levels, i, num);
        ret_pieces[i] = (struct cohort__piece){
            .shelf = {.area = cohort__shelf_at(shelf, places.first),
                      .places = places,
                      .lengths = shelf->lengths,
                      .piece = num > 1 ? i + 1 : 0},
            .come = after,
        };
    }
    if (levels->height == levels->num_used)
        wait_for_writers(levels, shelf->area.space, ret_pieces, num);
}
