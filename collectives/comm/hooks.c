/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/hooks.h"

#include "collectives/comm/operation.h"
#include "runtime/base/options.h"
#include "runtime/task/unusual.h"

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

/* TEXT takes the name. */
static cohort_hook_call describe(const struct cohort__operation *operation,
                                 char text[static COHORT__SIGNATURE_TEXT])
{
    const struct cohort_comm *comm = operation->comm;
    cohort__signature_name(&operation->signature, text, COHORT__SIGNATURE_TEXT);
    return (cohort_hook_call){
        .name = text,
        .communicator = comm->group->name,
        .site = comm->this_site,
        .num_sites = cohort_comm_num_sites(comm),
        .generation = operation->generation,
        .in_bytes = operation->hooked.bytes.in,
        .out_bytes = operation->hooked.bytes.out,
    };
}

__attribute__((cold)) void cohort__hooks_begin(struct cohort__operation *operation)
{
    const cohort_hooks *hooks = atomic_load_explicit(&cohort__hooks, memory_order_acquire);
    struct cohort__hooked *hooked = &operation->hooked;
    char text[COHORT__SIGNATURE_TEXT];
    hooked->bytes = operation->comm->hook_bytes;
    operation->comm->hook_bytes.are_known = false;
    if (!hooked->bytes.are_known)
        return; /* they have been set during the call */
    const cohort_hook_call call = describe(operation, text);
    if (hooks->begin)
        hooked->begun = hooks->begin(&call, hooks->arg);
}

__attribute__((cold)) void cohort__hooks_end(const struct cohort__operation *operation,
                                             cohort_status status)
{
    const cohort_hooks *hooks = atomic_load_explicit(&cohort__hooks, memory_order_acquire);
    char text[COHORT__SIGNATURE_TEXT];
    if (!operation->hooked.bytes.are_known || !hooks->end)
        return;
    const cohort_hook_call call = describe(operation, text);
    hooks->end(&call, status, operation->hooked.begun, hooks->arg);
}
