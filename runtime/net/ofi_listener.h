/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_OFI_LISTENER_H
#define COHORT_RUNTIME_NET_OFI_LISTENER_H

#include <stddef.h>

#include <rdma/fabric.h>

/* The provider's listener at ADDRESS, whose descriptor it keeps to itself: from now on the kernel
 * keeps callers that say nothing from it, as long as they fit into the listener's backlog. A peer
 * speaks first. Nothing is done for providers whose addresses are none of TCP, or where the
 * listener is not found. */
void cohort__ofi_listener_defer(const struct fi_info *info, const void *address, size_t bytes);

#endif
