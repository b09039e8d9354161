/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/trace/lanes.h"

#include <stdio.h>
#include <stdlib.h>

static const uint64_t first_track = UINT64_C(1) << 63; /* others have smaller numbers */

bool cohort__lanes_init(struct cohort__lanes *lanes, uint64_t parent, const char *name,
                        uint32_t most)
{
    *lanes = (struct cohort__lanes){.parent = parent, .most = most};
    snprintf(lanes->name, sizeof(lanes->name), "%s", name);
    lanes->tracks = calloc(most, sizeof(*lanes->tracks));
    lanes->are_taken = calloc(most, sizeof(*lanes->are_taken));
    lanes->until = calloc(most, sizeof(*lanes->until));
    if (lanes->tracks && lanes->are_taken && lanes->until)
        return true;
    cohort__lanes_fini(lanes);
    return false;
}

void cohort__lanes_fini(struct cohort__lanes *lanes)
{
    free(lanes->tracks);
    free(lanes->are_taken);
    free(lanes->until);
    *lanes = (struct cohort__lanes){0};
}

static void make(struct cohort__lanes *lanes, struct cohort__perfetto *perfetto)
{
    lanes->tracks[lanes->num] = first_track + perfetto->num_tracks++;
    cohort__perfetto_track(perfetto, lanes->tracks[lanes->num], lanes->parent, lanes->name);
    lanes->num++;
}

uint64_t cohort__lanes_free_at(struct cohort__lanes *lanes, struct cohort__perfetto *perfetto,
                               uint64_t begin, uint64_t end)
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

int cohort__lanes_take(struct cohort__lanes *lanes, struct cohort__perfetto *perfetto)
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

void cohort__lanes_give_back(struct cohort__lanes *lanes, int lane)
{
    lanes->are_taken[lane] = false;
}

uint64_t cohort__lanes_track(const struct cohort__lanes *lanes, int lane)
{
    return lanes->tracks[lane];
}
