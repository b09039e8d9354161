/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/questions.h"

static uint64_t bit_of(uint32_t site)
{
    return UINT64_C(1) << site % 64;
}

bool cohort__questions_begin(struct cohort__questions *questions, uint32_t num_sites, uint32_t site)
{
    if (!questions->sites)
        questions->sites = calloc(num_sites / 64 + 1, sizeof(*questions->sites));
    if (!questions->sites || (questions->sites[site / 64] & bit_of(site)))
        return false;
    questions->sites[site / 64] |= bit_of(site);
    return true;
}

void cohort__questions_end(struct cohort__questions *questions, uint32_t site)
{
    if (questions->sites)
        questions->sites[site / 64] &= ~bit_of(site);
}
