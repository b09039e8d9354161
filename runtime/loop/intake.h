/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_INTAKE_H
#define COHORT_RUNTIME_LOOP_INTAKE_H

#include <stddef.h>

#include "cohort/status.h"

struct cohort__loop;

/* Reads from a descriptor of any kind of file, as many bytes as are allowed. It doesn't make the
 * descriptor non-blocking, since other programs that share it (standard input) would see that. All
 * functions here may be called only by the loop's holder. */
struct cohort__intake;

struct cohort__intake_handlers {
    void *context;
    /* DATA is valid only until the handler returns. */
    void (*arrived)(void *context, const void *data, size_t bytes);
    /* The input has ended, by the end of the file or by an error, which makes no difference to a
     * reader. This is the last call. The intake still has to be closed. */
    void (*ended)(void *context);
};

/* FD still belongs to the caller. At first, no bytes are allowed. */
cohort_status cohort__intake_open(struct cohort__intake **ret_intake, struct cohort__loop *loop,
                                  int fd, const struct cohort__intake_handlers *handlers);

/* From now on no handler is called. May be called by handlers. NULL is fine. */
void cohort__intake_close(struct cohort__intake *intake);

/* Allows BYTES more bytes to be read. The end is reported only while some bytes are allowed. May be
 * called by handlers. */
void cohort__intake_allow(struct cohort__intake *intake, size_t bytes);

#endif
