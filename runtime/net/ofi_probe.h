/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_OFI_PROBE_H
#define COHORT_RUNTIME_NET_OFI_PROBE_H

#include <stddef.h>

#include <rdma/fabric.h>

/* A connection attempt of our own to a peer's address, to tell one that is busy from one that is
 * gone. Only where the provider's addresses are those of TCP listeners; others count as alive. */
enum cohort__ofi_probe {
    COHORT__OFI_PROBE_PENDING,
    COHORT__OFI_PROBE_ALIVE,
    COHORT__OFI_PROBE_DEAD,
};

/* Begins (*FD is -1) or goes on with the attempt; never blocks. On ALIVE and DEAD *FD is -1. */
enum cohort__ofi_probe cohort__ofi_probe(const struct fi_info *info, const void *address,
                                         size_t bytes, int *fd);

/* Gives up. *FD may be -1. */
void cohort__ofi_probe_end(int *fd);

#endif
