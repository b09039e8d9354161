/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the generations of all communicators, for Perfetto. */
#include "tools/trace/generations.h"

#include <stdio.h>

#include "tools/trace/keyed.h"
#include "tools/trace/lanes.h"

enum { MOST_LANES = 64, MOST_LISTED = 32, LIST_BYTES = 1024 };

static const uint64_t process_uuid = 1;

struct group {
    struct keyed keyed; /* instance, 0 */
    struct lanes lanes;
};

void generations_init(struct generations *generations, struct perfetto *perfetto, uint32_t pid)
{
    *generations = (struct generations){.perfetto = perfetto, .pid = pid};
    cohort__map_init(&generations->groups);
}

void generations_fini(struct generations *generations)
{
    struct cohort__map_node *node;
    for (node = cohort__map_first(&generations->groups); node;
         node = cohort__map_next(&generations->groups, node))
        lanes_fini(&((struct group *)keyed_of(node))->lanes);
    keyed_free(&generations->groups);
}

static struct group *find_group(struct generations *generations, uint64_t instance,
                                const char *name)
{
    bool is_new;
    struct group *group = keyed_get(&generations->groups, sizeof(*group), instance, 0, &is_new);
    if (!group || !is_new)
        return group;
    if (!generations->is_shown)
        perfetto_process(generations->perfetto, process_uuid, generations->pid, "communicators");
    generations->is_shown = true;
    lanes_init(&group->lanes, process_uuid, name, MOST_LANES);
    return group;
}

/* "2 0 3 1", and by how many microseconds each was later than the first one: "0 1.2 3.0 211.4". */
static void list(const struct open_generation *open, char order[LIST_BYTES], char late[LIST_BYTES])
{
    size_t used = 0, used_late = 0;
    order[0] = late[0] = '\0';
    for (uint32_t i = 0; i < open->num_called && i < MOST_LISTED; i++) {
        const struct arrival *arrival = &open->arrivals[i];
        used += (size_t)snprintf(order + used, LIST_BYTES - used, "%s%u", i ? " " : "",
                                 (unsigned)arrival->site);
        used_late +=
            (size_t)snprintf(late + used_late, LIST_BYTES - used_late, "%s%.1f", i ? " " : "",
                             (double)(arrival->at - open->arrivals[0].at) / 1000);
    }
    if (open->num_called > MOST_LISTED)
        snprintf(order + used, LIST_BYTES - used, " ... %u",
                 (unsigned)open->arrivals[open->num_called - 1].site);
}

/* Its slice is written as a whole, when it is over: Perfetto sorts by time. */
bool generations_show(struct generations *generations, const struct open_generation *open,
                      uint64_t at)
{
    char order[LIST_BYTES], late[LIST_BYTES];
    struct group *group = find_group(generations, open->keyed.first, open->communicator);
    if (!group)
        return false;
    list(open, order, late);
    struct perfetto_note notes[] = {
        {.name = "arrived", .text = order},
        {.name = "late_us", .text = late},
        {.name = "generation", .number = open->keyed.second},
        {.name = "missing", .number = open->num_sites - open->num_called},
    };
    lanes_show(&group->lanes, generations->perfetto,
               (struct perfetto_event){
                   .at = open->arrivals[0].at, .name = open->call, .notes = notes, .num_notes = 4},
               at);
    return true;
}
