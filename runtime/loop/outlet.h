/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_OUTLET_H
#define COHORT_RUNTIME_LOOP_OUTLET_H

#include <stddef.h>

#include "cohort/status.h"

struct cohort__loop;

/* Writes to a descriptor that other programs share (standard output), without ever blocking and
 * without making it non-blocking, which those programs would see. Any kind of file. Everything
 * here: the loop's holder only. SIGPIPE has to be ignored. */
struct cohort__outlet;

struct cohort__outlet_handlers {
    void *context;
    /* All that was queued has been written. */
    void (*drained)(void *context);
    /* Writing failed with ERRNO (EPIPE: nobody reads); the rest is thrown away. Once. */
    void (*failed)(void *context, int error);
};

/* FD stays the caller's. */
cohort_status cohort__outlet_create(struct cohort__outlet **ret_outlet, struct cohort__loop *loop,
                                    int fd, const struct cohort__outlet_handlers *handlers);

/* What is still queued is lost. May be called by handlers. NULL is fine. */
void cohort__outlet_destroy(struct cohort__outlet *outlet);

/* Queues BYTES bytes of DATA; they are written in the loop's next turn, or once it is many. The
 * queue has no limit: stop when cohort__outlet_queued is large. */
void cohort__outlet_write(struct cohort__outlet *outlet, const void *data, size_t bytes);

size_t cohort__outlet_queued(const struct cohort__outlet *outlet);

#endif
