/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_LIST_H
#define COHORT_RUNTIME_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* An intrusive doubly linked ring. The list itself is a node as well. A node that is in no list is
 * linked to itself, so it is harmless to remove it twice. One thread at a time. To walk a list
 * whose nodes are removed meanwhile, take the successor first:
 *     for (n = list.next; n != &list; n = next) { next = n->next; ... } */
struct cohort__list {
    struct cohort__list *next;
    struct cohort__list *prev;
};

static inline void cohort__list_init(struct cohort__list *list)
{
    list->next = list;
    list->prev = list;
}

static inline bool cohort__list_is_empty(const struct cohort__list *list)
{
    return list->next == list;
}

static inline void cohort__list_insert_after(struct cohort__list *place, struct cohort__list *node)
{
    node->prev = place;
    node->next = place->next;
    place->next->prev = node;
    place->next = node;
}

static inline void cohort__list_push_front(struct cohort__list *list, struct cohort__list *node)
{
    cohort__list_insert_after(list, node);
}

static inline void cohort__list_push_back(struct cohort__list *list, struct cohort__list *node)
{
    cohort__list_insert_after(list->prev, node);
}

static inline void cohort__list_remove(struct cohort__list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    cohort__list_init(node);
}

/* Removes and returns the first node; NULL if LIST is empty. */
static inline struct cohort__list *cohort__list_pop_front(struct cohort__list *list)
{
    if (cohort__list_is_empty(list))
        return NULL;
    struct cohort__list *node = list->next;
    cohort__list_remove(node);
    return node;
}

/* Appends all of SOURCE to TARGET; SOURCE is empty afterwards. */
static inline void cohort__list_splice_back(struct cohort__list *target,
                                            struct cohort__list *source)
{
    if (cohort__list_is_empty(source))
        return;
    source->next->prev = target->prev;
    target->prev->next = source->next;
    source->prev->next = target;
    target->prev = source->prev;
    cohort__list_init(source);
}

#endif
