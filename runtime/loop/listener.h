/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_LISTENER_H
#define COHORT_RUNTIME_LOOP_LISTENER_H

#include "cohort/status.h"

struct cohort__loop;

/* Accepts connections. All functions here may be called only by the loop's holder. */
struct cohort__listener;

/* FD is a listening socket. Takes ownership of it, even if it fails. ACCEPTED is called with each
 * connection, and owns its descriptor. */
cohort_status cohort__listener_open(struct cohort__listener **ret_listener,
                                    struct cohort__loop *loop, int fd,
                                    void (*accepted)(void *context, int fd), void *context);

/* May be called by ACCEPTED. NULL is fine. */
void cohort__listener_close(struct cohort__listener *listener);

#endif
