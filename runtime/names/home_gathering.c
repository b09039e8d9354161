/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/names/home_private.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/container.h"

/* Agreements and shrinkings of the sites of an instance that live. A site can't leave the instance
 * before its own call is complete. So one that has left, and has not joined, never will. */

static struct creation *gathering_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct creation, gathering);
}

/* Whether these are the same gathering, of those who know different numbers of deaths: their names
 * end with that number. */
static bool is_same(const struct name *left, const struct name *right)
{
    const size_t bytes = left->bytes - sizeof(uint64_t);
    return left->bytes == right->bytes && left->bytes >= sizeof(uint64_t) &&
           memcmp(left->text, right->text, bytes) == 0;
}

/* It has failed for some of its sites before the latest deaths. They will not come again, so it has
 * failed for the others, too. */
static void fail_as_before(struct creation *creation)
{
    struct cohort__list *gatherings = &creation->of->gatherings;
    for (struct cohort__list *link = gatherings->next; link != gatherings; link = link->next) {
        const struct creation *before = gathering_of(link);
        if (!before->failed || !is_same(before->name, creation->name))
            continue;
        creation->failed = before->failed;
        memcpy(creation->text, before->text, sizeof(creation->text));
        return;
    }
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
    fail_as_before(creation);
    cohort__list_push_back(&alive->gatherings, &creation->gathering);
}

void cohort__home_gathering_leave(struct creation *creation)
{
    if (creation->of)
        cohort__list_remove(&creation->gathering);
    creation->of = NULL;
}

void cohort__home_gatherings_orphan(struct creation *alive)
{
    while (!cohort__list_is_empty(&alive->gatherings))
        cohort__home_gathering_leave(gathering_of(alive->gatherings.next));
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
    for (struct cohort__list *link = alive->gatherings.next; link != &alive->gatherings;
         link = link->next) {
        cohort_status here = cohort__home_gathering_joined(home, gathering_of(link), outbox);
        status = status ? status : here;
    }
    return status;
}

void cohort__home_gatherings_end(struct cohort__registry_home *home, struct creation *alive)
{
    while (!cohort__list_is_empty(&alive->gatherings)) {
        struct creation *creation = gathering_of(alive->gatherings.next);
        struct name *name = creation->name;
        cohort__home_creation_destroy(creation);
        if (cohort__list_is_empty(&name->creations))
            cohort__home_name_destroy(home, name);
    }
}
