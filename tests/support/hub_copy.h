/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_HUB_COPY_H
#define COHORT_TESTS_SUPPORT_HUB_COPY_H

#include "runtime/net/hub.h"

/* The same hub with descriptors of its own, as another process would have them. */
struct cohort__hub *hub_copy(const struct cohort__hub *hub);

#endif
