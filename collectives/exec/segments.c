/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/segments.h"

#include "collectives/comm/group.h"
#include "collectives/comm/team.h"

enum {
    AT_A_TIME = 2, /* segments that fit into an arena: one is read, one is written */
    LEAST_BYTES =
        8 * 1024, /* of a block: with less, a segment takes longer to begin than to move */
};

bool cohort__segments_find(const struct cohort__group *group, uint32_t num_blocks, size_t bytes,
                           size_t element, struct cohort__segments *ret_segments)
{
    struct cohort__segments segments = {.num = 1, .bytes = bytes};
    if (!group->is_whole && !group->has_board)
        return false;
    size_t most = group->is_whole ? bytes : cohort__team_share(group) / num_blocks;
    if (bytes > most) {
        size_t unit = COHORT__BOARD_LINE % element == 0 ? COHORT__BOARD_LINE : element;
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
