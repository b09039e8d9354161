/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: tracks of one name, for what may overlap. */
#include "tools/trace/lanes.h"

#include <stdio.h>
#include <stdlib.h>

static const uint64_t first_track = UINT64_C(1) << 63; /* others have smaller numbers */

bool lanes_init(struct lanes *lanes, uint64_t parent, const char *name, uint32_t most)
{
    *lanes = (struct lanes){.parent = parent, .most = most};
    snprintf(lanes->name, sizeof(lanes->name), "%s", name);
    lanes->tracks = calloc(most, sizeof(*lanes->tracks));
    lanes->are_taken = calloc(most, sizeof(*lanes->are_taken));
    lanes->until = calloc(most, sizeof(*lanes->until));
    if (lanes->tracks && lanes->are_taken && lanes->until)
        return true;
    lanes_fini(lanes);
    return false;
}

void lanes_fini(struct lanes *lanes)
{
    free(lanes->tracks);
    free(lanes->are_taken);
    free(lanes->until);
    *lanes = (struct lanes){0};
}

static void make(struct lanes *lanes, struct perfetto *perfetto)
{
    lanes->tracks[lanes->num] = first_track + perfetto->num_tracks++;
    perfetto_track(perfetto, lanes->tracks[lanes->num], lanes->parent, lanes->name);
    lanes->num++;
}

uint64_t lanes_free_at(struct lanes *lanes, struct perfetto *perfetto, uint64_t begin, uint64_t end)
{
    uint32_t lane = 0;
    while (lane < lanes->num && lanes->until[lane] > begin)
        lane++;
    if (lane == lanes->most)
        return 0;
    if (lane == lanes->num)
        make(lanes, perfetto);
    lanes->until[lane] = end;
    return lanes->tracks[lane];
}

int lanes_take(struct lanes *lanes, struct perfetto *perfetto)
{
    uint32_t lane = 0;
    while (lane < lanes->num && lanes->are_taken[lane])
        lane++;
    if (lane == lanes->most)
        return -1;
    if (lane == lanes->num)
        make(lanes, perfetto);
    lanes->are_taken[lane] = true;
    return (int)lane;
}

void lanes_give_back(struct lanes *lanes, int lane)
{
    lanes->are_taken[lane] = false;
}

uint64_t lanes_track(const struct lanes *lanes, int lane)
{
    return lanes->tracks[lane];
}
