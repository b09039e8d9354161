/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/segments.h"

#include "collectives/comm/group.h"
#include "collectives/comm/team.h"

enum {
    AT_A_TIME = 2, /* segments that fit into an arena: one is read, one is written */
    /* Of a block: with less, a segment takes longer to begin than to move. */
    LEAST_BYTES = 8 * 1024,
};

/* Whether all that a locality brings is one post. Each call asks this: no division. */
static bool fits(const struct cohort__group *group, uint32_t num_blocks, size_t bytes)
{
    const size_t most = COHORT__BOARD_POST;
    return bytes <= most && bytes * num_blocks <= most &&
           bytes * num_blocks * group->max_local_sites <= most;
}

bool cohort__segments_find(const struct cohort__group *group, uint32_t num_blocks, size_t bytes,
                           size_t element, struct cohort__segments *ret_segments)
{
    struct cohort__segments segments = {.num = 1, .bytes = bytes};
    if (!group->is_whole && !group->has_board)
        return false;
    if (!group->is_whole && !fits(group, num_blocks, bytes)) {
        size_t unit = COHORT__BOARD_LINE % element == 0 ? COHORT__BOARD_LINE : element;
        size_t most = cohort__team_share(group) / num_blocks;
        segments.bytes = most / AT_A_TIME / unit * unit;
        if (segments.bytes < LEAST_BYTES)
            return false;
        uint64_t num = (bytes - 1) / segments.bytes + 1;
        if (num > COHORT__BOARD_SEGMENTS)
            return false;
        segments.num = (uint32_t)num;
    }
    *ret_segments = segments;
    return true;
}
