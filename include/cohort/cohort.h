/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COHORT_H
#define COHORT_COHORT_H

/* An asynchronous runtime for programs of one process or many. This header includes all of it,
 * except uv.h and msgpack.h, which need other libraries. Each header may also be included alone.
 *
 * A job has one or more localities, which are processes, on one host or on several. cohortrun
 * starts them; a program that is started alone is a job of one locality. In each, cohort_main
 * (job.h) runs the program's function as the first task (task.h). Tasks start others, and wait for
 * futures (future.h); scopes (scope.h) wait for all of them, and end them when one fails.
 * Localities work together by communicators (comm.h), whose sites call collectives (collectives.h,
 * ragged.h, objects.h), by channels (channel.h), and by tasks in each other (remote.h).
 *
 *     #include <cohort/cohort.h>
 *     #include <stdio.h>
 *
 *     static cohort_status program(void *arg)
 *     {
 *         (void)arg;
 *         printf("locality %u of %u\n", cohort_locality(), cohort_num_localities());
 *         return COHORT_OK;
 *     }
 *
 *     int main(int argc, char **argv)
 *     {
 *         return cohort_main(argc, argv, program, NULL);
 *     }
 *
 *     cc hello.c -o hello $(pkg-config --cflags --libs cohort)
 *     cohortrun -n 4 ./hello
 *
 * Functions return a cohort_status (status.h), or a future that holds one; a message that says who,
 * what and where comes with it (cohort_error_message). What a function is to return besides goes to
 * its arguments ret_..., which are untouched if it fails. */

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
#include "cohort/memory.h"
#include "cohort/object.h"
#include "cohort/objects.h"
#include "cohort/op.h"
#include "cohort/parallel.h"
#include "cohort/ragged.h"
#include "cohort/remote.h"
#include "cohort/scope.h"
#include "cohort/sites.h"
#include "cohort/split.h"
#include "cohort/status.h"
#include "cohort/survivors.h"
#include "cohort/sync.h"
#include "cohort/task.h"
#include "cohort/task_local.h"
#include "cohort/tcp.h"

#endif
