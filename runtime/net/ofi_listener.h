/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_OFI_LISTENER_H
#define COHORT_RUNTIME_NET_OFI_LISTENER_H

#include <stddef.h>

#include <rdma/fabric.h>

/* For the provider's listener at ADDRESS, whose descriptor the provider doesn't tell us. From now
 * on the kernel holds back callers that send nothing, as long as they fit into the listener's
 * backlog. A real peer sends first. Does nothing for providers whose addresses are not TCP, or if
 * the listener is not found. */
void cohort__ofi_listener_defer(const struct fi_info *info, const void *address, size_t bytes);

#endif
