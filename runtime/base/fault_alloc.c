/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/fault_alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "runtime/base/log.h"

bool cohort__alloc_can_fail;
atomic_bool cohort__alloc_is_counted;

static const struct cohort__fault *_Atomic current;
static _Atomic uint64_t num_allocations;

static bool is_ours(const struct cohort__fault *fault, const struct cohort__fault_rule *rule)
{
    return rule->kind == COHORT__FAULT_ALLOC && rule->locality == fault->rank;
}

bool cohort__alloc_fault_is_wanted(const struct cohort__fault *fault)
{
    bool is_wanted = false;
    for (uint32_t i = 0; !is_wanted && i < fault->plan.num_rules; i++)
        is_wanted = is_ours(fault, &fault->plan.rules[i]);
    return is_wanted;
}

void cohort__alloc_fault_begin(const struct cohort__fault *fault)
{
    atomic_store(&current, fault);
    atomic_store(&num_allocations, 0);
    atomic_store(&cohort__alloc_is_counted, true);
}

void cohort__alloc_fault_end(void)
{
    atomic_store(&cohort__alloc_is_counted, false);
    atomic_store(&current, NULL);
}

bool cohort__alloc_fails(void)
{
    const struct cohort__fault *fault = atomic_load(&current);
    uint64_t number = atomic_fetch_add(&num_allocations, 1) + 1;
    bool fails = false, is_over = true;
    for (uint32_t i = 0; fault && i < fault->plan.num_rules; i++) {
        const struct cohort__fault_rule *rule = &fault->plan.rules[i];
        if (!is_ours(fault, rule))
            continue;
        fails = fails || number == rule->number;
        is_over = is_over && number >= rule->number;
    }
    if (is_over)
        atomic_store(&cohort__alloc_is_counted, false);
    if (!fails)
        return false;
    cohort__log(COHORT__LOG_INFO, "locality %u: COHORT_FAULT lets its allocation %" PRIu64 " fail",
                (unsigned)fault->rank, number);
    errno = ENOMEM;
    return true;
}
