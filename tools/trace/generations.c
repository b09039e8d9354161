/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the generations of all communicators, for Perfetto. */
#include "tools/trace/generations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace/keyed.h"
#include "tools/trace/lanes.h"

enum { MOST_LANES = 64, MOST_LISTED = 32, LIST_BYTES = 1024 };

static const uint64_t process_uuid = 1;

struct group {
    struct keyed keyed; /* instance, 0 */
    struct lanes lanes;
};

struct arrival {
    uint32_t site;
    uint64_t at;
};

struct generation {
    struct keyed keyed; /* instance, generation */
    uint32_t num_sites, num_called, num_ended;
    struct arrival *arrivals; /* in their order */
    uint64_t ended;           /* the last one */
    char call[140];
};

void generations_init(struct generations *generations, struct perfetto *perfetto, uint32_t pid)
{
    *generations = (struct generations){.perfetto = perfetto, .pid = pid};
    cohort__map_init(&generations->groups);
    cohort__map_init(&generations->open);
}

void generations_fini(struct generations *generations)
{
    struct cohort__map_node *node;
    for (node = cohort__map_first(&generations->groups); node;
         node = cohort__map_next(&generations->groups, node))
        lanes_fini(&((struct group *)keyed_of(node))->lanes);
    for (node = cohort__map_first(&generations->open); node;
         node = cohort__map_next(&generations->open, node))
        free(((struct generation *)keyed_of(node))->arrivals);
    keyed_free(&generations->groups);
    keyed_free(&generations->open);
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
    return lanes_init(&group->lanes, process_uuid, name, MOST_LANES) ? group : NULL;
}

bool generations_call(struct generations *generations, uint64_t instance, const char *name,
                      uint32_t num_sites, uint64_t generation, uint32_t site, uint64_t at,
                      const char *call)
{
    bool is_new;
    if (!find_group(generations, instance, name))
        return false;
    struct generation *open =
        keyed_get(&generations->open, sizeof(*open), instance, generation, &is_new);
    if (!open)
        return false;
    if (is_new) {
        open->num_sites = num_sites;
        snprintf(open->call, sizeof(open->call), "%s", call);
    }
    uint32_t num = open->num_called;
    if ((num & (num - 1)) == 0) {
        struct arrival *arrivals = realloc(open->arrivals, (num ? 2 * num : 1) * sizeof(*arrivals));
        if (!arrivals)
            return false;
        open->arrivals = arrivals;
    }
    open->arrivals[open->num_called++] = (struct arrival){site, at};
    return true;
}

/* "2 0 3 1", and by how many microseconds each was later than the first one: "0 1.2 3.0 211.4". */
static void list(const struct generation *open, char order[LIST_BYTES], char late[LIST_BYTES])
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
static void show(struct generations *generations, struct group *group,
                 const struct generation *open)
{
    char order[LIST_BYTES], late[LIST_BYTES];
    uint64_t begin = open->arrivals[0].at;
    list(open, order, late);
    struct perfetto_note notes[] = {
        {.name = "arrived", .text = order},
        {.name = "late_us", .text = late},
        {.name = "generation", .number = open->keyed.second},
        {.name = "missing", .number = open->num_sites - open->num_called},
    };
    uint64_t track = lanes_free_at(&group->lanes, generations->perfetto, begin,
                                   open->ended > begin ? open->ended : begin + 1);
    if (track == 0)
        return;
    perfetto_event(generations->perfetto, &(struct perfetto_event){
                                              .track = track,
                                              .at = begin,
                                              .type = PERFETTO_BEGIN,
                                              .name = open->call,
                                              .notes = notes,
                                              .num_notes = 4,
                                          });
    perfetto_event(generations->perfetto, &(struct perfetto_event){
                                              .track = track,
                                              .at = open->ended,
                                              .type = PERFETTO_END,
                                          });
}

static void finish(struct generations *generations, struct generation *open)
{
    struct group *group = keyed_find(&generations->groups, open->keyed.first, 0);
    if (group && open->num_called > 0)
        show(generations, group, open);
    cohort__map_remove(&generations->open, &open->keyed.node);
    free(open->arrivals);
    free(open);
}

void generations_ended(struct generations *generations, uint64_t instance, uint64_t generation,
                       uint64_t at)
{
    struct generation *open = keyed_find(&generations->open, instance, generation);
    if (!open)
        return;
    open->ended = at;
    if (++open->num_ended >= open->num_sites)
        finish(generations, open);
}

void generations_end(struct generations *generations, uint64_t at)
{
    struct cohort__map_node *node;
    while ((node = cohort__map_some(&generations->open))) {
        struct generation *open = (struct generation *)keyed_of(node);
        open->ended = at;
        finish(generations, open);
    }
}
