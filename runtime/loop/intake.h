/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_INTAKE_H
#define COHORT_RUNTIME_LOOP_INTAKE_H

#include <stddef.h>

#include "cohort/status.h"

struct cohort__loop;

/* Reads from a descriptor, of any kind of file, as much as it is allowed to, without making it
 * non-blocking, which other programs that share it (standard input) would see. Everything here: the
 * loop's holder only. */
struct cohort__intake;

struct cohort__intake_handlers {
    void *context;
    /* DATA is the intake's again on return. */
    void (*arrived)(void *context, const void *data, size_t bytes);
    /* Nothing comes any more: the end of the file, or an error, which is the same to who reads. The
     * last call; the intake still has to be closed. */
    void (*ended)(void *context);
};

/* FD stays the caller's. Nothing is allowed yet. */
cohort_status cohort__intake_open(struct cohort__intake **ret_intake, struct cohort__loop *loop,
                                  int fd, const struct cohort__intake_handlers *handlers);

/* No handler is called any more. May be called by handlers. NULL is fine. */
void cohort__intake_close(struct cohort__intake *intake);

/* BYTES more may be read. The end is told only while some are allowed. May be called by
 * handlers. */
void cohort__intake_allow(struct cohort__intake *intake, size_t bytes);

#endif
