/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_JOB_TRANSPORT_H
#define COHORT_RUNTIME_JOB_TRANSPORT_H

#include <stdbool.h>

#include "runtime/job/settings.h"
#include "runtime/net/net.h"
#include "runtime/launch/bootstrap.h"

/* Creates what carries this locality's messages: as the user has said (COHORT_NET), or else what
 * fits where the others are. libfabric is only loaded where it is going to be used. Takes the hub
 * out of BOOTSTRAP. SHARES_CORES: the workers of the host's localities take turns on its cores. */
cohort_status cohort__transport_create(struct cohort__net **ret_net,
                                       struct cohort__bootstrap *bootstrap,
                                       const struct cohort__settings *settings, bool shares_cores,
                                       const struct cohort__net_handlers *handlers);

#endif
