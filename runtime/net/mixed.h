/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_MIXED_H
#define COHORT_RUNTIME_NET_MIXED_H

#include "runtime/net/net.h"

/* A transport made of two: NEAR, of shm.h, for the peers that share its memory, and FAR for all
 * others. Both were created with the handlers that this transport is to have. They belong to it
 * from now on, also on failure. */
cohort_status cohort__mixed_create(struct cohort__net *near, struct cohort__net *far,
                                   struct cohort__net **ret_net);

#endif
