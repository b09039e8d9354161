/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/early.h"

#include "runtime/base/container.h"

bool cohort__early_is_told(const struct cohort_comm *comm, uint64_t generation)
{
    const struct cohort__list *list = &comm->slots[generation % COHORT__WINDOW].parked;
    for (const struct cohort__list *link = list->next; link != list; link = link->next) {
        const struct cohort__message *message =
            COHORT_CONTAINER_OF(link, const struct cohort__message, parked);
        if (message->tag == COHORT__TAG_CALL && message->generation == generation)
            return true;
    }
    return false;
}

static bool same_step(const struct cohort__message *left, const struct cohort__message *right)
{
    return left->generation == right->generation && left->source_site == right->source_site &&
           left->tag == right->tag;
}

/* Of messages that report the failure of a whole call, one for each call is kept, and
 * COHORT__FAILURES in all. If one is dropped, this site will ask when it stalls. */
static bool keep_failure(struct cohort_comm *comm, const struct cohort__message *message)
{
    if (comm->num_parked_failures == COHORT__FAILURES ||
        cohort__early_is_told(comm, message->generation))
        return false;
    comm->num_parked_failures++;
    return true;
}

static void take_out(struct cohort_comm *comm, struct cohort__message *message)
{
    cohort__list_remove(&message->parked);
    comm->num_parked_failures -= message->tag == COHORT__TAG_CALL;
}

/* If MESSAGE is an error, its sender gets back at once what it has lent or announced for the
 * same step. */
void cohort__early_park(struct cohort_comm *comm, struct cohort__message *message)
{
    struct cohort__list *list = &comm->slots[message->generation % COHORT__WINDOW].parked, *next;
    if (message->tag == COHORT__TAG_CALL && !keep_failure(comm, message)) {
        cohort__message_release(message);
        return;
    }
    for (struct cohort__list *link = list->next; link != list; link = next) {
        next = link->next;
        struct cohort__message *other = COHORT_CONTAINER_OF(link, struct cohort__message, parked);
        if (!same_step(other, message))
            continue;
        if (other->kind == COHORT__KIND_ERROR) {
            cohort__message_release(message);
            return;
        }
        cohort__list_remove(link);
        cohort__message_release(other);
    }
    if (message->arrival)
        cohort__arrival_park(message->arrival);
    cohort__list_push_back(list, &message->parked);
}

void cohort__early_mark(struct cohort_comm *comm, struct cohort__message *mark)
{
    cohort__list_push_back(&comm->slots[mark->generation % COHORT__WINDOW].parked, &mark->parked);
}

void cohort__early_unmark(struct cohort_comm *comm, struct cohort__message *mark)
{
    take_out(comm, mark);
}

void cohort__early_refuse(struct cohort_comm *comm, struct cohort__message *mark)
{
    mark->tag = COHORT__TAG_CALL;
    comm->num_parked_failures++;
}

const struct cohort__message *cohort__early_find_mark(const struct cohort_comm *comm,
                                                      uint64_t generation)
{
    const struct cohort__list *list = &comm->slots[generation % COHORT__WINDOW].parked;
    for (const struct cohort__list *link = list->next; link != list; link = link->next) {
        const struct cohort__message *message =
            COHORT_CONTAINER_OF(link, const struct cohort__message, parked);
        if (message->kind == COHORT__KIND_VERDICT && message->generation == generation)
            return message;
    }
    return NULL;
}

/* As when it came, but now its generation is not early any more. */
static void receive(struct cohort_comm *comm, struct cohort__message *message)
{
    message->item.run(&comm->actor, &message->item);
}

void cohort__early_hand_in(struct cohort_comm *comm, uint64_t generation)
{
    struct cohort__list *list = &comm->slots[generation % COHORT__WINDOW].parked;
    if (cohort__list_is_empty(list))
        return;
    struct cohort__list mine, *next, *link;
    cohort__list_init(&mine);
    for (link = list->next; link != list; link = next) {
        next = link->next;
        if (COHORT_CONTAINER_OF(link, struct cohort__message, parked)->generation != generation)
            continue;
        take_out(comm, COHORT_CONTAINER_OF(link, struct cohort__message, parked));
        cohort__list_push_back(&mine, link);
    }
    while ((link = cohort__list_pop_front(&mine)))
        receive(comm, COHORT_CONTAINER_OF(link, struct cohort__message, parked));
}

void cohort__early_sweep_below(struct cohort_comm *comm, uint64_t generation)
{
    for (uint32_t i = 0; i < COHORT__WINDOW; i++) {
        struct cohort__list *list = &comm->slots[i].parked, *next;
        for (struct cohort__list *link = list->next; link != list; link = next) {
            next = link->next;
            struct cohort__message *message =
                COHORT_CONTAINER_OF(link, struct cohort__message, parked);
            if (message->generation >= generation ||
                !cohort__history_skipped(&comm->history, message->generation))
                continue;
            take_out(comm, message);
            receive(comm, message);
        }
    }
}

void cohort__early_release(struct cohort_comm *comm)
{
    struct cohort__list *list, *link;
    for (uint32_t i = 0; i < COHORT__WINDOW; i++)
        for (list = &comm->slots[i].parked; (link = list->next) != list;) {
            struct cohort__message *message =
                COHORT_CONTAINER_OF(link, struct cohort__message, parked);
            take_out(comm, message);
            receive(comm, message);
        }
}
