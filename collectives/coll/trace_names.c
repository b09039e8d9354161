/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/trace_names.h"

#include <stdatomic.h>
#include <string.h>

#include "collectives/algo/algorithm.h"
#include "runtime/base/trace.h"

static enum cohort__trace_needs needs_of(uint32_t collective)
{
    static const enum cohort__trace_needs needs[COHORT__NUM_COLLECTIVES] = {
        [COHORT__GATHER] = COHORT__TRACE_NEEDS_ALL_AT_ROOT,
        [COHORT__SCATTER] = COHORT__TRACE_NEEDS_ROOT,
        [COHORT__BROADCAST] = COHORT__TRACE_NEEDS_ROOT,
        [COHORT__REDUCE] = COHORT__TRACE_NEEDS_ALL_AT_ROOT,
        [COHORT__ALL_GATHER] = COHORT__TRACE_NEEDS_ALL,
        [COHORT__ALL_REDUCE] = COHORT__TRACE_NEEDS_ALL,
        [COHORT__ALL_TO_ALL] = COHORT__TRACE_NEEDS_ALL,
        [COHORT__BARRIER] = COHORT__TRACE_NEEDS_ALL,
        [COHORT__REDUCE_SCATTER] = COHORT__TRACE_NEEDS_ALL,
        [COHORT__SCAN] = COHORT__TRACE_NEEDS_LOWER,
        [COHORT__EXCLUSIVE_SCAN] = COHORT__TRACE_NEEDS_LOWER,
        [COHORT__SHIFT] = COHORT__TRACE_NEEDS_SOURCE,
        [COHORT__EXCHANGE] = COHORT__TRACE_NEEDS_ITSELF, /* whom else, is not known */
        [COHORT__CHECK] = COHORT__TRACE_NEEDS_ALL,
    };
    return needs[collective];
}

static void write_row(uint32_t needs, uint32_t row, uint32_t collective, const char *name)
{
    cohort__trace(COHORT__TRACE_ROW, needs, row, collective, 0);
    cohort__trace_write_text(COHORT__TRACE_TEXT, name, strlen(name));
}

void cohort__trace_names_write(void)
{
    static atomic_bool is_written;
    if (atomic_exchange(&is_written, true))
        return;
    for (uint32_t i = 0; i < COHORT__NUM_COLLECTIVES; i++)
        write_row(needs_of(i), COHORT__TRACE_NO_ROW, i,
                  cohort__collective_name((enum cohort__collective)i));
    for (uint32_t i = 0; i < cohort__num_algorithms; i++)
        write_row(needs_of(cohort__algorithms[i]->collective), i, cohort__algorithms[i]->collective,
                  cohort__algorithms[i]->name);
}
