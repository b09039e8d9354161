/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_OUTLET_H
#define COHORT_RUNTIME_LOOP_OUTLET_H

#include <stddef.h>

#include "cohort/status.h"

struct cohort__loop;

/* Writes to a descriptor that other programs share (standard output), of any kind of file. It never
 * blocks. Nor does it make the descriptor non-blocking, since the other programs would see that.
 * All functions here may be called only by the loop's holder. SIGPIPE has to be ignored. */
struct cohort__outlet;

struct cohort__outlet_handlers {
    void *context;
    /* All that was queued has been written. */
    void (*drained)(void *context);
    /* Writing has failed with the errno ERROR (EPIPE: nobody reads). The rest is thrown away.
     * Called once. */
    void (*failed)(void *context, int error);
};

/* FD still belongs to the caller. */
cohort_status cohort__outlet_create(struct cohort__outlet **ret_outlet, struct cohort__loop *loop,
                                    int fd, const struct cohort__outlet_handlers *handlers);

/* Data that is still queued is lost. May be called by handlers. NULL is fine. */
void cohort__outlet_destroy(struct cohort__outlet *outlet);

/* Queues a copy of BYTES bytes of DATA. They are written in the loop's next turn, or at once if
 * much is queued. The queue has no limit, so the caller has to stop when cohort__outlet_queued is
 * large. */
void cohort__outlet_write(struct cohort__outlet *outlet, const void *data, size_t bytes);

size_t cohort__outlet_queued(const struct cohort__outlet *outlet);

#endif
