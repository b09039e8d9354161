/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/names/numbers.h"

#include <stdbool.h>
#include <stdlib.h>

void cohort__numbers_init(struct cohort__numbers *numbers, uint32_t rank, uint32_t size,
                          uint32_t limit)
{
    *numbers = (struct cohort__numbers){
        .first = rank, .step = size, .num = rank < limit ? (limit - rank + size - 1) / size : 0};
}

void cohort__numbers_fini(struct cohort__numbers *numbers)
{
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

uint32_t cohort__numbers_lend(struct cohort__numbers *numbers, uint64_t instance,
                              uint32_t num_users)
{
    while (numbers->free_from < numbers->num_used && numbers->loans[numbers->free_from].num_users)
        numbers->free_from++;
    if (numbers->free_from == numbers->num_used && !grow(numbers))
        return COHORT__NO_NUMBER;
    uint32_t index = numbers->free_from++;
    numbers->loans[index] = (struct cohort__loan_of_number){instance, num_users};
    return numbers->first + index * numbers->step;
}

void cohort__numbers_return(struct cohort__numbers *numbers, uint64_t instance, uint32_t number)
{
    uint32_t index =
        number < numbers->first ? UINT32_MAX : (number - numbers->first) / numbers->step;
    bool is_ours = index < numbers->num_used && numbers->first + index * numbers->step == number;
    struct cohort__loan_of_number *loan = is_ours ? &numbers->loans[index] : NULL;
    if (!loan || loan->instance != instance || loan->num_users == 0)
        return;
    if (--loan->num_users == 0 && index < numbers->free_from)
        numbers->free_from = index;
}
