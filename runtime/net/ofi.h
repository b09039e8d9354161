/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_OFI_H
#define COHORT_RUNTIME_NET_OFI_H

#include "runtime/net/net.h"

/* A transport over libfabric (FI_EP_RDM with FI_MSG and FI_RMA), bound to the local ADDRESS, a
 * number or a name ("10.0.0.1"), by which peers on other hosts reach it; NULL: 127.0.0.1, for a job
 * on one host. COHORT_OFI_ADDRESS is taken instead where it is set. COHORT_OFI_PROVIDER names
 * another provider than the best one of the library's version (see ofi_library.h).
 * COHORT_ERR_NETWORK, with the provider and the call that failed.
 *
 * The first call loads libfabric and, for its duration, sets an environment variable: no other
 * thread may touch the environment or the signal handlers meanwhile.
 *
 * What libfabric can't promise: cohort__net_withdraw knows of no access by a peer that is still
 * under way. Withdraw a block when its readers have said that they are done, or are removed. */
cohort_status cohort__ofi_create(const struct cohort__net_handlers *handlers, const char *address,
                                 struct cohort__net **ret_net);

#endif
