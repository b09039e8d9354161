/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/early.h"

#include "runtime/base/container.h"
#include "runtime/base/hash.h"

/* The messages of a generation are a ring, linked by `parked`, in the order in which they came. The
 * first one is in the tree of generations. Each is also in the map of places, so that an error
 * finds what it is in place of. */

/* What a message is for. A mark, and the failure of a whole call, are for no site's step: there is
 * one of each for a generation. */
struct place {
    uint64_t generation;
    uint32_t site;
    uint32_t tag;
};

enum { TAG_MARK };

static struct place place_of_call(uint64_t generation, uint32_t tag)
{
    return (struct place){generation, COHORT__NO_SITE, tag};
}

static struct place place_of(const struct cohort__message *message)
{
    if (message->kind == COHORT__KIND_VERDICT)
        return place_of_call(message->generation, TAG_MARK);
    if (message->tag == COHORT__TAG_CALL)
        return place_of_call(message->generation, COHORT__TAG_CALL);
    return (struct place){message->generation, message->source_site, message->tag};
}

static uint64_t hash_of(struct place place)
{
    return cohort__hash_mix(place.generation, (uint64_t)place.site << 32 | place.tag);
}

static bool is_at(const struct cohort__map_node *node, const void *looked_for)
{
    const struct place *place = looked_for;
    const struct place other =
        place_of(COHORT_CONTAINER_OF(node, const struct cohort__message, of_place));
    return other.generation == place->generation && other.site == place->site &&
           other.tag == place->tag;
}

/* Mostly nothing is parked for a generation, nor for another one in its place of the window. */
static bool has_some(const struct cohort_comm *comm, uint64_t generation)
{
    return comm->window[generation % COHORT__WINDOW].num_parked > 0;
}

/* NULL: there is none. */
static struct cohort__message *find(const struct cohort_comm *comm, struct place place)
{
    if (!has_some(comm, place.generation))
        return NULL;
    struct cohort__map_node *node =
        cohort__map_find(&comm->early.places, hash_of(place), is_at, &place);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__message, of_place) : NULL;
}

static struct cohort__message *message_of(struct cohort__list *same)
{
    struct cohort__tree_node *node = COHORT_CONTAINER_OF(same, struct cohort__tree_node, same);
    return COHORT_CONTAINER_OF(node, struct cohort__message, in_order);
}

void cohort__early_put(struct cohort_comm *comm, struct cohort__message *message)
{
    struct cohort__early *early = &comm->early;
    cohort__map_insert(&early->places, &message->of_place, hash_of(place_of(message)));
    cohort__tree_insert(&early->generations, &message->in_order, message->generation);
    comm->window[message->generation % COHORT__WINDOW].num_parked++;
}

/* MESSAGE is not among those of its generation any more. */
static void forget(struct cohort_comm *comm, struct cohort__message *message)
{
    cohort__map_remove(&comm->early.places, &message->of_place);
    comm->early.num_failures -= message->tag == COHORT__TAG_CALL;
    comm->window[message->generation % COHORT__WINDOW].num_parked--;
}

void cohort__early_take(struct cohort_comm *comm, struct cohort__message *message)
{
    cohort__tree_remove(&comm->early.generations, &message->in_order);
    forget(comm, message);
}

bool cohort__early_is_told(const struct cohort_comm *comm, uint64_t generation)
{
    if (!has_some(comm, generation))
        return false;
    const struct cohort__message *mark = cohort__early_find_mark(comm, generation);
    return (mark && mark->tag == COHORT__TAG_CALL) ||
           find(comm, place_of_call(generation, COHORT__TAG_CALL));
}

/* Of messages that report the failure of a whole call, one for each call is kept, and
 * COHORT__FAILURES in all. If one is dropped, this site will ask when it stalls. */
static bool keep_failure(struct cohort_comm *comm, const struct cohort__message *message)
{
    if (comm->early.num_failures == COHORT__FAILURES ||
        cohort__early_is_told(comm, message->generation))
        return false;
    comm->early.num_failures++;
    return true;
}

/* If MESSAGE is an error, its sender gets back at once what it has lent or announced for the
 * same step. */
void cohort__early_park(struct cohort_comm *comm, struct cohort__message *message)
{
    if (message->tag == COHORT__TAG_CALL && !keep_failure(comm, message)) {
        cohort__message_release(message);
        return;
    }
    struct cohort__message *other = find(comm, place_of(message));
    if (other && other->kind == COHORT__KIND_ERROR) {
        cohort__message_release(message);
        return;
    }
    if (other) {
        cohort__early_take(comm, other);
        cohort__message_release(other);
    }
    if (message->arrival)
        cohort__arrival_park(message->arrival);
    cohort__early_put(comm, message);
}

void cohort__early_refuse(struct cohort_comm *comm, struct cohort__message *mark)
{
    mark->tag = COHORT__TAG_CALL;
    comm->early.num_failures++;
}

const struct cohort__message *cohort__early_find_mark(const struct cohort_comm *comm,
                                                      uint64_t generation)
{
    return find(comm, place_of_call(generation, TAG_MARK));
}

/* Receives the messages of the generation of FIRST. Each is then as when it came, but its
 * generation may not be early any more. */
static void receive_all(struct cohort_comm *comm, struct cohort__tree_node *first)
{
    struct cohort__list all, *link;
    cohort__list_init(&all);
    cohort__tree_take(&comm->early.generations, first, &all);
    for (link = all.next; link != &all; link = link->next)
        forget(comm, message_of(link));
    while ((link = cohort__list_pop_front(&all)))
        message_of(link)->item.run(&comm->actor, &message_of(link)->item);
}

void cohort__early_hand_in(struct cohort_comm *comm, uint64_t generation)
{
    struct cohort__tree_node *first = cohort__tree_find(&comm->early.generations, generation);
    if (first)
        receive_all(comm, first);
}

void cohort__early_sweep(struct cohort_comm *comm, uint64_t first, uint64_t end)
{
    struct cohort__tree_node *node;
    for (; (node = cohort__tree_find_from(&comm->early.generations, first)) && node->key < end;
         first++) {
        first = node->key;
        receive_all(comm, node);
    }
}
