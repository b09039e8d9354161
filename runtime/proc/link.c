/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/link.h"

#include "runtime/base/clock.h"

/* No transport takes this long (10 s) to deliver a message that others have overtaken. The delivery
 * needs nothing more from the sender, so a busy sender doesn't delay it. */
static const uint64_t lost_after = UINT64_C(10000000000);

/* So much of that time may pass between two looks (1 s). A process that was stopped, or whose
 * machine was, has not looked meanwhile, and what it misses may have come. */
static const uint64_t most_at_once = UINT64_C(1000000000);

static uint64_t bit_of(uint32_t number)
{
    return UINT64_C(1) << number % 64;
}

static uint64_t *word_of(struct cohort__link *link, uint32_t number)
{
    return &link->ahead[number % COHORT__LINK_AHEAD / 64];
}

static void begin_to_miss(struct cohort__link *link)
{
    link->missed = 0;
    link->looked_at = cohort__clock_now();
}

/* Advances `next` over messages that have come before their turn. */
static void catch_up(struct cohort__link *link)
{
    while (link->num_ahead > 0 && *word_of(link, link->next) & bit_of(link->next)) {
        *word_of(link, link->next) &= ~bit_of(link->next);
        link->num_ahead--;
        link->next++;
    }
    if (link->num_ahead > 0)
        begin_to_miss(link);
}

static bool take_ahead(struct cohort__link *link, uint32_t number)
{
    bool is_there = *word_of(link, number) & bit_of(number);
    if (number - link->next >= COHORT__LINK_AHEAD || is_there)
        return false;
    *word_of(link, number) |= bit_of(number);
    if (link->num_ahead++ == 0)
        begin_to_miss(link);
    return true;
}

bool cohort__link_take(struct cohort__link *link, uint32_t number)
{
    if (number != link->next)
        return take_ahead(link, number);
    link->next++;
    if (link->num_ahead > 0)
        catch_up(link);
    return true;
}

bool cohort__link_look(struct cohort__link *link, uint64_t now)
{
    if (link->num_ahead == 0 || now <= link->looked_at)
        return false;
    uint64_t passed = now - link->looked_at;
    link->missed += passed < most_at_once ? passed : most_at_once;
    link->looked_at = now;
    return link->missed >= lost_after;
}
