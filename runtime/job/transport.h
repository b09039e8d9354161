/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_JOB_TRANSPORT_H
#define COHORT_RUNTIME_JOB_TRANSPORT_H

#include <stdbool.h>

#include "runtime/job/settings.h"
#include "runtime/net/net.h"
#include "runtime/launch/bootstrap.h"

/* Creates the transport for this locality's messages: the one that the user has set (COHORT_NET),
 * or else what fits the places of the other localities. libfabric is loaded only if it is going to
 * be used. Takes the hub out of BOOTSTRAP. SHARES_CORES says that the workers of the host's
 * localities take turns on its cores. */
cohort_status cohort__transport_create(struct cohort__net **ret_net,
                                       struct cohort__bootstrap *bootstrap,
                                       const struct cohort__settings *settings, bool shares_cores,
                                       const struct cohort__net_handlers *handlers);

#endif
