/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/names/numbers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void cohort__numbers_init(struct cohort__numbers *numbers, uint32_t rank, uint32_t size,
                          uint32_t limit)
{
    *numbers = (struct cohort__numbers){
        .first = rank, .step = size, .num = rank < limit ? (limit - rank + size - 1) / size : 0};
}

void cohort__numbers_fini(struct cohort__numbers *numbers)
{
    for (uint32_t i = 0; i < numbers->num_used; i++)
        free(numbers->loans[i].ranks);
    free(numbers->loans);
}

/* Makes room for one more. Twice as much each time. */
static bool grow(struct cohort__numbers *numbers)
{
    uint32_t num = numbers->num_used < 8 ? 8 : 2 * numbers->num_used;
    if (num > numbers->num)
        num = numbers->num;
    void *loans =
        num > numbers->num_used ? realloc(numbers->loans, num * sizeof(*numbers->loans)) : NULL;
    if (!loans)
        return false;
    numbers->loans = loans;
    while (numbers->num_used < num)
        numbers->loans[numbers->num_used++] = (struct cohort__loan_of_number){0};
    return true;
}

/* The loan keeps its memory for the next one. */
static bool set_users(struct cohort__loan_of_number *loan, const uint32_t *ranks, uint32_t num)
{
    if (loan->num_ranks < num) {
        uint32_t *room = realloc(loan->ranks, num * sizeof(*room));
        if (!room)
            return false;
        loan->ranks = room;
        loan->num_ranks = num;
    }
    memcpy(loan->ranks, ranks, num * sizeof(*ranks));
    loan->num_users = num;
    return true;
}

uint32_t cohort__numbers_lend(struct cohort__numbers *numbers, uint64_t instance,
                              const uint32_t *ranks, uint32_t num_users)
{
    while (numbers->free_from < numbers->num_used && numbers->loans[numbers->free_from].num_users)
        numbers->free_from++;
    if (numbers->free_from == numbers->num_used && !grow(numbers))
        return COHORT__NO_NUMBER;
    uint32_t index = numbers->free_from;
    if (!set_users(&numbers->loans[index], ranks, num_users))
        return COHORT__NO_NUMBER;
    numbers->loans[index].instance = instance;
    numbers->free_from++;
    return numbers->first + index * numbers->step;
}

static int compare_ranks(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* RANK uses the number of loan INDEX no more, if it does. */
static void give_back(struct cohort__numbers *numbers, uint32_t index, uint32_t rank)
{
    struct cohort__loan_of_number *loan = &numbers->loans[index];
    uint32_t *place = loan->num_users == 0 ? NULL
                                           : bsearch(&rank, loan->ranks, loan->num_users,
                                                     sizeof(rank), compare_ranks);
    if (!place)
        return;
    loan->num_users--;
    memmove(place, place + 1, (size_t)(loan->ranks + loan->num_users - place) * sizeof(*place));
    if (loan->num_users == 0 && index < numbers->free_from)
        numbers->free_from = index;
}

void cohort__numbers_return(struct cohort__numbers *numbers, uint64_t instance, uint32_t number,
                            uint32_t rank)
{
    uint32_t index =
        number < numbers->first ? UINT32_MAX : (number - numbers->first) / numbers->step;
    bool is_ours = index < numbers->num_used && numbers->first + index * numbers->step == number;
    if (is_ours && numbers->loans[index].instance == instance)
        give_back(numbers, index, rank);
}

void cohort__numbers_died(struct cohort__numbers *numbers, uint32_t rank)
{
    for (uint32_t index = 0; index < numbers->num_used; index++)
        give_back(numbers, index, rank);
}
