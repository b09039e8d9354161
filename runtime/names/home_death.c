/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/container.h"
#include "runtime/names/home_private.h"

/* What a death changes at the home of names. */

bool cohort__home_is_dead(const struct cohort__registry_home *home, uint32_t rank)
{
    return rank < COHORT__HOME_LAUNCHER && home->dead[rank / 64] >> rank % 64 & 1;
}

void cohort__home_leave_all_dead(struct cohort__registry_home *home, struct creation *creation)
{
    for (uint32_t site = 0; home->view > 0 && site < creation->num_sites; site++) {
        uint32_t rank = creation->members[site].locality_plus_1 - 1;
        if (!cohort__home_is_dead(home, rank))
            continue;
        creation->members[site].left = true;
        creation->num_left++;
        cohort__numbers_return(&home->numbers, creation->instance, creation->number, rank);
    }
}

/* Locality RANK's sites have left CREATION. */
static cohort_status leave_dead(struct cohort__registry_home *home, struct creation *creation,
                                uint32_t rank, struct cohort__list *outbox)
{
    for (uint32_t site = 0; site < creation->num_sites; site++) {
        struct member *member = &creation->members[site];
        if (member->locality_plus_1 == rank + 1 && !member->left) {
            member->left = true;
            creation->num_left++;
        }
    }
    return creation->num_left < creation->num_sites ? COHORT_OK
                                                    : cohort__home_end(home, creation, outbox);
}

/* The first error; what can be done is done. */
static cohort_status forget_dead(struct cohort__registry_home *home, struct name *name,
                                 uint32_t rank, struct cohort__list *outbox)
{
    cohort_status status = COHORT_OK;
    struct cohort__list *next;
    for (struct cohort__list *link = name->creations.next; link != &name->creations; link = next) {
        struct creation *creation = COHORT_CONTAINER_OF(link, struct creation, link);
        cohort_status here = COHORT_OK;
        next = link->next;
        if (creation->instance)
            here = leave_dead(home, creation, rank, outbox);
        else if (cohort__home_is_of_user(name))
            cohort__home_creation_destroy(creation);
        status = status ? status : here;
    }
    return status;
}

cohort_status cohort__registry_home_died(struct cohort__registry_home *home, uint32_t rank,
                                         struct cohort__list *outbox)
{
    cohort_status status = COHORT_OK;
    struct cohort__map_node *node, *next;
    home->view++;
    if (rank < COHORT__HOME_LAUNCHER)
        home->dead[rank / 64] |= UINT64_C(1) << rank % 64;
    cohort__numbers_died(&home->numbers, rank);
    for (node = cohort__map_first(&home->names); node; node = next) {
        struct name *name = COHORT_CONTAINER_OF(node, struct name, node);
        next = cohort__map_next(&home->names, node);
        size_t num = home->names.num_nodes;
        cohort_status here = forget_dead(home, name, rank, outbox);
        status = status ? status : here;
        if (home->names.num_nodes < num) /* others have ended with it, perhaps the next one */
            next = cohort__map_some(&home->names);
        if (cohort__list_is_empty(&name->creations)) {
            if (next == node)
                next = cohort__map_next(&home->names, node);
            cohort__home_name_destroy(home, name);
        }
    }
    return status;
}
