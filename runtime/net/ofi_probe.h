/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_OFI_PROBE_H
#define COHORT_RUNTIME_NET_OFI_PROBE_H

#include <stddef.h>

#include <rdma/fabric.h>

/* Our own connection attempt to a peer's address, to distinguish a busy peer from one that is gone.
 * Only where the provider's addresses are those of TCP listeners. Other peers count as alive. */
enum cohort__ofi_probe {
    COHORT__OFI_PROBE_PENDING,
    COHORT__OFI_PROBE_ALIVE,
    COHORT__OFI_PROBE_DEAD,
};

/* Begins the attempt (if *FD is -1) or continues it. Never blocks. *FD is -1 when it returns ALIVE
 * or DEAD. */
enum cohort__ofi_probe cohort__ofi_probe(const struct fi_info *info, const void *address,
                                         size_t bytes, int *fd);

/* Gives the attempt up. *FD may be -1. */
void cohort__ofi_probe_end(int *fd);

#endif
