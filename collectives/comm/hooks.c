/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/hooks.h"

#include "runtime/base/options.h"
#include "runtime/task/fork.h"

const cohort_hooks *_Atomic cohort__hooks;
static cohort_hooks set;
static atomic_bool is_taken;

cohort_status cohort_hooks_set_sized(const cohort_hooks *hooks, size_t hooks_bytes)
{
    cohort_hooks read;
    cohort_status status = cohort__options_read(&read, sizeof(read), hooks, hooks_bytes,
                                                "cohort_hooks_set: cohort_hooks");
    if (status)
        return status;
    if (atomic_exchange(&is_taken, true))
        return cohort_fail(COHORT_ERR_STATE,
                           "cohort_hooks_set: this process has hooks already, of another profiler "
                           "perhaps; they are set only once");
    set = read;
    atomic_fetch_or(&cohort__unusual, COHORT__UNUSUAL_HOOKS);
    atomic_store_explicit(&cohort__hooks, &set, memory_order_release);
    return COHORT_OK;
}

uint64_t cohort__hooks_begin(const cohort_hook_call *call)
{
    const cohort_hooks *hooks = atomic_load_explicit(&cohort__hooks, memory_order_acquire);
    return hooks->begin ? hooks->begin(call, hooks->arg) : 0;
}

void cohort__hooks_end(const cohort_hook_call *call, cohort_status status, uint64_t begun)
{
    const cohort_hooks *hooks = atomic_load_explicit(&cohort__hooks, memory_order_acquire);
    if (hooks->end)
        hooks->end(call, status, begun, hooks->arg);
}
