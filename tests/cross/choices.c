/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/choices.h"

#include <string.h>

#include "tests/support/test.h"

void choices_draw(struct choices *choices, uint64_t seed)
{
    *choices = (struct choices){.num = 0};
    choices->random = cohort__random_seeded(seed);
}

void choices_give(struct choices *choices, const uint32_t *list, uint32_t num)
{
    *choices = (struct choices){.is_given = true, .num_given = num};
    memcpy(choices->list, list, num * sizeof(*list));
}

uint32_t choose(struct choices *choices, uint32_t limit)
{
    uint32_t number = choices->num++;
    CHECK(number < CHOICES_MOST);
    if (!choices->is_given)
        choices->list[number] = (uint32_t)cohort__random_below(&choices->random, limit);
    else if (number >= choices->num_given)
        choices->list[number] = 0;
    return choices->list[number] %= limit;
}

bool choose_rarely(struct choices *choices, uint32_t odds)
{
    return choose(choices, odds) == odds - 1;
}

void choices_mark(struct choices *choices)
{
    choices->marks[choices->num_marks++] = choices->num;
}
