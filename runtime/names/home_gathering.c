/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/names/home_private.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/hash.h"

/* Agreements and shrinkings of the sites of an instance that live. A site can't leave the instance
 * before its own call is complete. So one that has left, and has not joined, never will. */

static struct creation *gathering_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct creation, gathering);
}

static struct creation *failure_of(struct cohort__map_node *node)
{
    return COHORT_CONTAINER_OF(node, struct creation, failure);
}

/* How much of its name a gathering shares with the same one of those who know different numbers of
 * deaths: their names end with that number. */
static size_t shared_bytes(const struct name *name)
{
    return name->bytes < sizeof(uint64_t) ? name->bytes : name->bytes - sizeof(uint64_t);
}

static uint64_t hash_of(const struct name *name)
{
    return cohort__hash_bytes(name->text, shared_bytes(name));
}

static bool is_same(const struct cohort__map_node *node, const void *key)
{
    const struct name *left = COHORT_CONTAINER_OF(node, struct creation, failure)->name;
    const struct name *right = key;
    return left->bytes == right->bytes && memcmp(left->text, right->text, shared_bytes(right)) == 0;
}

/* It has failed for some of its sites before the latest deaths. They will not come again, so it has
 * failed for the others, too. */
static void fail_as_before(struct creation *creation)
{
    const struct cohort__map *failures = &creation->of->failures;
    if (failures->num_nodes == 0)
        return;
    struct cohort__map_node *node =
        cohort__map_find(failures, hash_of(creation->name), is_same, creation->name);
    if (!node)
        return;
    creation->failed = failure_of(node)->failed;
    memcpy(creation->text, failure_of(node)->text, sizeof(creation->text));
    cohort__home_gathering_failed(creation);
}

void cohort__home_gathering_enter(struct cohort__registry_home *home, struct creation *creation,
                                  const struct cohort__registry_request *request)
{
    struct name *name =
        request->of ? cohort__home_name_find(home, request->of_name, request->of_name_bytes) : NULL;
    struct creation *alive = name ? cohort__home_find_alive(name, request->of) : NULL;
    if (!alive)
        return;
    creation->of = alive;
    cohort__list_push_back(&alive->gatherings, &creation->gathering);
    fail_as_before(creation);
}

void cohort__home_gathering_failed(struct creation *creation)
{
    if (!creation->of)
        return;
    cohort__list_remove(&creation->gathering);
    cohort__map_insert(&creation->of->failures, &creation->failure, hash_of(creation->name));
}

void cohort__home_gathering_leave(struct creation *creation)
{
    if (creation->of && creation->failed)
        cohort__map_remove(&creation->of->failures, &creation->failure);
    else if (creation->of)
        cohort__list_remove(&creation->gathering);
    creation->of = NULL;
}

/* One of those of ALIVE, whichever. NULL: there is none. */
static struct creation *some_gathering(struct creation *alive)
{
    if (!cohort__list_is_empty(&alive->gatherings))
        return gathering_of(alive->gatherings.next);
    struct cohort__map_node *node = cohort__map_some(&alive->failures);
    return node ? failure_of(node) : NULL;
}

void cohort__home_gatherings_orphan(struct creation *alive)
{
    struct creation *creation;
    while ((creation = some_gathering(alive)))
        cohort__home_gathering_leave(creation);
}

/* The first site that has left by itself, and has not joined. The gathering's sites are those that
 * live, in their order. False: there is none, or CREATION is of those who know another number of
 * deaths than the home does; then they end it by themselves. */
static bool find_gone(const struct cohort__registry_home *home, const struct creation *creation,
                      uint32_t *ret_site)
{
    const struct creation *alive = creation->of;
    uint32_t rank = 0, gone = UINT32_MAX;
    for (uint32_t site = 0; site < alive->num_sites; site++) {
        if (cohort__home_is_dead(home, alive->members[site].locality_plus_1 - 1))
            continue;
        if (gone == UINT32_MAX && alive->members[site].left &&
            !cohort__home_has_joined(creation, rank))
            gone = site;
        rank++;
    }
    *ret_site = gone;
    return gone != UINT32_MAX && rank == creation->num_sites;
}

cohort_status cohort__home_gathering_joined(struct cohort__registry_home *home,
                                            struct creation *creation, struct cohort__list *outbox)
{
    const struct creation *alive = creation->of;
    uint32_t site;
    if (!alive || alive->num_gone == 0 || creation->failed || creation->instance ||
        !find_gone(home, creation, &site))
        return COHORT_OK;
    creation->failed = COHORT_ERR_GONE;
    snprintf(creation->text, sizeof(creation->text),
             "communicator \"%.60s\": site %u (locality %u) has left the communicator, and can't "
             "take part",
             alive->name->text, site, alive->members[site].locality_plus_1 - 1);
    return cohort__home_tell_failed(creation->name, creation, outbox);
}

cohort_status cohort__home_gatherings_left(struct cohort__registry_home *home,
                                           struct creation *alive, struct cohort__list *outbox)
{
    cohort_status status = COHORT_OK;
    struct cohort__list *next;
    for (struct cohort__list *link = alive->gatherings.next; link != &alive->gatherings;
         link = next) {
        next = link->next; /* it may fail */
        cohort_status here = cohort__home_gathering_joined(home, gathering_of(link), outbox);
        status = status ? status : here;
    }
    return status;
}

void cohort__home_gatherings_end(struct cohort__registry_home *home, struct creation *alive)
{
    struct creation *creation;
    while ((creation = some_gathering(alive))) {
        struct name *name = creation->name;
        cohort__home_creation_destroy(creation);
        if (cohort__list_is_empty(&name->creations))
            cohort__home_name_destroy(home, name);
    }
}
