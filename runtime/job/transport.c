/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/transport.h"

#include "runtime/net/mixed.h"
#include "runtime/net/ofi.h"
#include "runtime/net/shm.h"

cohort_status cohort__transport_create(struct cohort__net **ret_net,
                                       struct cohort__bootstrap *bootstrap,
                                       const struct cohort__settings *settings, bool shares_cores,
                                       const struct cohort__net_handlers *handlers)
{
    const struct cohort__bootstrap_job *told = cohort__bootstrap_job(bootstrap);
    struct cohort__net *near = NULL, *far = NULL;
    enum cohort__transport transport = settings->transport;
    struct cohort__hub *hub = cohort__bootstrap_take_hub(bootstrap);
    cohort_status status = COHORT_OK;
    bool all_near = told->num_hosts == 1;
    if (!all_near && transport == COHORT__TRANSPORT_SHM) {
        cohort__hub_destroy(hub);
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "COHORT_NET is shm, but the job has %u hosts, which share no memory",
                           (unsigned)told->num_hosts);
    }
    if (!hub && transport == COHORT__TRANSPORT_SHM)
        return cohort_fail(COHORT_ERR_NETWORK,
                           "COHORT_NET is shm, but locality %u was given no shared memory",
                           (unsigned)told->rank);
    bool wants_far = transport == COHORT__TRANSPORT_OFI || !hub ||
                     (transport == COHORT__TRANSPORT_ANY && !all_near);
    /* With SHM_STREAM, sender and receiver copy at the same time, which is faster if each has a
     * core. If localities share cores, the two would have to take turns for each piece, so only the
     * receiver copies, if the kernel allows that. */
    enum cohort__shm_copy copy = shares_cores ? COHORT__SHM_DIRECT : COHORT__SHM_STREAM;
    if (hub && transport != COHORT__TRANSPORT_OFI)
        status = cohort__shm_create(handlers, hub, told->slot, copy, &near);
    else
        cohort__hub_destroy(hub);
    if (!status && wants_far)
        status = cohort__ofi_create(handlers, told->rank, told->host_address, &far);
    if (status) {
        cohort__net_destroy(near);
        return status;
    }
    if (near && settings->memory > 0)
        cohort__shm_limit_heap(near, settings->memory);
    if (near && far)
        return cohort__mixed_create(near, far, ret_net);
    *ret_net = near ? near : far;
    return COHORT_OK;
}
