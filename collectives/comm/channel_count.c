/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/channel_count.h"

#include "collectives/comm/idle.h"

void cohort__channels_begun(struct cohort_comm *comm)
{
    uint32_t num = atomic_load_explicit(&comm->channels.num_not_over, memory_order_relaxed);
    atomic_store_explicit(&comm->channels.num_not_over, num + 1, memory_order_relaxed);
}

void cohort__channels_over(struct cohort_comm *comm)
{
    uint32_t num = atomic_load_explicit(&comm->channels.num_not_over, memory_order_relaxed);
    atomic_store_explicit(&comm->channels.num_not_over, num - 1, memory_order_relaxed);
    if (num > 1)
        return;
    comm->channels.asked_at = 0;
    comm->channels.patience = 0;
    cohort__endpoint_over(comm);
}
