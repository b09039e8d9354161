/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/list.h"

#include "runtime/base/container.h"
#include "tests/support/test.h"

struct number {
    int value;
    struct cohort__list link;
};

static struct number numbers[6] = {{.value = 0}, {.value = 1}, {.value = 2},
                                   {.value = 3}, {.value = 4}, {.value = 5}};

/* The digits in the list from first to last. Also checks the links backwards. */
static long digits(struct cohort__list *list)
{
    long forward = 0, backward = 0, place = 1;
    for (struct cohort__list *n = list->next; n != list; n = n->next)
        forward = 10 * forward + COHORT_CONTAINER_OF(n, struct number, link)->value;
    for (struct cohort__list *n = list->prev; n != list; n = n->prev, place *= 10)
        backward += place * COHORT_CONTAINER_OF(n, struct number, link)->value;
    CHECK_INT(forward, backward);
    return forward;
}

TEST(push_and_remove)
{
    struct cohort__list list;
    cohort__list_init(&list);
    CHECK(cohort__list_is_empty(&list));
    CHECK(!cohort__list_pop_front(&list));
    for (int i = 1; i <= 4; i++)
        cohort__list_push_back(&list, &numbers[i].link);
    cohort__list_push_front(&list, &numbers[5].link);
    CHECK_INT(digits(&list), 51234);
    cohort__list_remove(&numbers[2].link);
    cohort__list_remove(&numbers[2].link); /* harmless */
    CHECK_INT(digits(&list), 5134);
    CHECK(cohort__list_pop_front(&list) == &numbers[5].link);
    CHECK_INT(digits(&list), 134);
    cohort__list_insert_after(&numbers[3].link, &numbers[5].link);
    CHECK_INT(digits(&list), 1354);
}

TEST(splice)
{
    struct cohort__list first, second;
    cohort__list_init(&first);
    cohort__list_init(&second);
    cohort__list_splice_back(&first, &second);
    CHECK(cohort__list_is_empty(&first));
    cohort__list_push_back(&second, &numbers[1].link);
    cohort__list_push_back(&second, &numbers[2].link);
    cohort__list_splice_back(&first, &second);
    CHECK(cohort__list_is_empty(&second));
    cohort__list_push_back(&second, &numbers[3].link);
    cohort__list_splice_back(&first, &second);
    CHECK_INT(digits(&first), 123);
}
