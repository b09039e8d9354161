/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_OFI_H
#define COHORT_RUNTIME_NET_OFI_H

#include "runtime/net/net.h"

/* A transport over libfabric (FI_EP_RDM with FI_MSG and FI_RMA), whose peers have added it as
 * NUMBER (the rank). It is bound to the local ADDRESS, a number ("10.0.0.1") or a name, by which
 * peers on other hosts reach it. NULL: 127.0.0.1, for a job on one host. If COHORT_OFI_ADDRESS is
 * set, it is used instead. COHORT_OFI_PROVIDER names the provider to use instead of the best one of
 * the library's version (see ofi_library.h). COHORT_ERR_NETWORK, with the provider and the call
 * that failed.
 *
 * The first call loads libfabric, and sets environment variables while it runs. No other thread may
 * use the environment or the signal handlers during that call.
 *
 * With libfabric cohort__net_withdraw can't wait for an access of a peer that is still under way,
 * because it doesn't know of it. So withdraw a block only when its readers have said that they are
 * done, or have been removed. */
cohort_status cohort__ofi_create(const struct cohort__net_handlers *handlers, uint32_t number,
                                 const char *address, struct cohort__net **ret_net);

#endif
