/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_LISTENER_H
#define COHORT_RUNTIME_LOOP_LISTENER_H

#include "cohort/status.h"

struct cohort__loop;

/* Accepts connections. Everything here: the loop's holder only. */
struct cohort__listener;

/* Takes FD over, a socket that listens, also where it fails. ACCEPTED gets each connection. */
cohort_status cohort__listener_open(struct cohort__listener **ret_listener,
                                    struct cohort__loop *loop, int fd,
                                    void (*accepted)(void *context, int fd), void *context);

/* May be called by ACCEPTED. NULL is fine. */
void cohort__listener_close(struct cohort__listener *listener);

#endif
