/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: tracks of one name, for what may overlap. */
#include "tools/trace/lanes.h"

#include <stdio.h>

#include "tools/trace/list.h"

static const uint64_t first_track = UINT64_C(1) << 63; /* others have smaller numbers */

void lanes_init(struct lanes *lanes, uint64_t parent, const char *name, uint32_t most)
{
    *lanes = (struct lanes){.parent = parent, .most = most};
    snprintf(lanes->name, sizeof(lanes->name), "%s", name);
}

void lanes_fini(struct lanes *lanes)
{
    free(lanes->list);
    *lanes = (struct lanes){0};
}

uint64_t lanes_take(struct lanes *lanes, struct perfetto *perfetto, uint64_t begin, uint64_t end)
{
    uint32_t lane = 0;
    while (lane < lanes->num && lanes->list[lane].until > begin)
        lane++;
    if (lane == lanes->most)
        return 0;
    if (lane == lanes->num) {
        if (!list_grow(&lanes->list, lanes->num, sizeof(*lanes->list))) {
            perfetto->proto.has_failed = true;
            return 0;
        }
        lanes->list[lane].track = first_track + perfetto->num_tracks++;
        perfetto_track(perfetto, lanes->list[lane].track, lanes->parent, lanes->name);
        lanes->num++;
    }
    lanes->list[lane].until = end;
    return lanes->list[lane].track;
}

void lanes_give_back(struct lanes *lanes, uint64_t track, uint64_t at)
{
    for (uint32_t lane = 0; lane < lanes->num; lane++)
        if (lanes->list[lane].track == track)
            lanes->list[lane].until = at;
}

void lanes_show(struct lanes *lanes, struct perfetto *perfetto, struct perfetto_event slice,
                uint64_t end)
{
    slice.track = lanes_take(lanes, perfetto, slice.at, end);
    if (slice.track == 0)
        return;
    slice.type = PERFETTO_BEGIN;
    perfetto_event(perfetto, &slice);
    perfetto_event(perfetto,
                   &(struct perfetto_event){.track = slice.track, .at = end, .type = PERFETTO_END});
}
