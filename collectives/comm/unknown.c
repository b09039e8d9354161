/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/unknown.h"

#include <stdlib.h>

#include "runtime/base/container.h"

struct message {
    struct cohort__tree_node node;
    struct cohort__arrival *arrival;
};

bool cohort__unknown_is_to_come(const struct cohort__unknown *unknown, uint64_t instance)
{
    uint32_t home = cohort__instance_home(instance);
    return unknown->num_creations > 0 && home <= COHORT__HOME_LAUNCHER &&
           cohort__instance_number(instance) > unknown->highest[home];
}

bool cohort__unknown_keep(struct cohort__unknown *unknown, struct cohort__arrival *arrival)
{
    struct message *message = malloc(sizeof(*message));
    struct cohort__arrival *kept = message ? cohort__arrival_keep(arrival) : NULL;
    if (!kept) {
        free(message);
        return false;
    }
    cohort__arrival_park(kept);
    message->arrival = kept;
    cohort__tree_insert(&unknown->messages, &message->node, kept->envelope.instance);
    return true;
}

void cohort__unknown_settle(struct cohort__unknown *unknown, uint64_t instance,
                            struct cohort__list *taken)
{
    uint32_t home = cohort__instance_home(instance), number = cohort__instance_number(instance);
    struct cohort__tree_node *first = cohort__tree_find(&unknown->messages, instance);
    if (home <= COHORT__HOME_LAUNCHER && number > unknown->highest[home])
        unknown->highest[home] = number;
    if (first)
        cohort__tree_take(&unknown->messages, first, taken);
}

void cohort__unknown_settle_all(struct cohort__unknown *unknown, struct cohort__list *taken)
{
    struct cohort__tree_node *first;
    while ((first = cohort__tree_find_from(&unknown->messages, 0)))
        cohort__tree_take(&unknown->messages, first, taken);
}

struct cohort__arrival *cohort__unknown_next(struct cohort__list *taken)
{
    struct cohort__list *same = cohort__list_pop_front(taken);
    if (!same)
        return NULL;
    struct cohort__tree_node *node = COHORT_CONTAINER_OF(same, struct cohort__tree_node, same);
    struct message *message = COHORT_CONTAINER_OF(node, struct message, node);
    struct cohort__arrival *arrival = message->arrival;
    free(message);
    return arrival;
}
