/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COHORT_H
#define COHORT_COHORT_H

/* All of Cohort. Each header may also be included alone. */

#include "cohort/call.h"
#include "cohort/callbacks.h"
#include "cohort/channel.h"
#include "cohort/collectives.h"
#include "cohort/comm.h"
#include "cohort/datatype.h"
#include "cohort/explain.h"
#include "cohort/file.h"
#include "cohort/future.h"
#include "cohort/hooks.h"
#include "cohort/job.h"
#include "cohort/layout.h"
#include "cohort/machine.h"
#include "cohort/object.h"
#include "cohort/objects.h"
#include "cohort/op.h"
#include "cohort/parallel.h"
#include "cohort/ragged.h"
#include "cohort/remote.h"
#include "cohort/scope.h"
#include "cohort/split.h"
#include "cohort/status.h"
#include "cohort/survivors.h"
#include "cohort/sync.h"
#include "cohort/task.h"
#include "cohort/task_local.h"
#include "cohort/tcp.h"

#endif
