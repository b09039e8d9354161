/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/unknown.h"

#include <stdlib.h>

#include "runtime/base/container.h"

void cohort__unknown_init(struct cohort__unknown *unknown)
{
    cohort__list_init(&unknown->messages);
}

bool cohort__unknown_is_to_come(const struct cohort__unknown *unknown, uint64_t instance)
{
    uint32_t home = cohort__instance_home(instance);
    return unknown->num_creations > 0 && home <= COHORT__HOME_LAUNCHER &&
           cohort__instance_number(instance) > unknown->highest[home];
}

bool cohort__unknown_keep(struct cohort__unknown *unknown, struct cohort__arrival *arrival)
{
    struct cohort__unknown_message *message = malloc(sizeof(*message));
    struct cohort__arrival *kept = message ? cohort__arrival_keep(arrival) : NULL;
    if (!kept) {
        free(message);
        return false;
    }
    cohort__arrival_park(kept);
    message->arrival = kept;
    cohort__list_push_back(&unknown->messages, &message->link);
    return true;
}

void cohort__unknown_settle(struct cohort__unknown *unknown, uint64_t instance,
                            struct cohort__list *taken)
{
    uint32_t home = cohort__instance_home(instance), number = cohort__instance_number(instance);
    struct cohort__list *next, *link;
    if (home <= COHORT__HOME_LAUNCHER && number > unknown->highest[home])
        unknown->highest[home] = number;
    for (link = unknown->messages.next; link != &unknown->messages; link = next) {
        next = link->next;
        if (COHORT_CONTAINER_OF(link, struct cohort__unknown_message, link)
                ->arrival->envelope.instance != instance)
            continue;
        cohort__list_remove(link);
        cohort__list_push_back(taken, link);
    }
}
