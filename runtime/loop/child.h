/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_CHILD_H
#define COHORT_RUNTIME_LOOP_CHILD_H

#include <stddef.h>

#include "cohort/status.h"

struct cohort__loop;

/* A child process, and the end of others. All functions here may be called only by the loop's
 * holder. */
struct cohort__child;

struct cohort__child_options {
    const char *file;         /* searched for in PATH if it has no slash */
    char *const *args;        /* including args[0]; NULL-terminated */
    char *const *environment; /* "NAME=VALUE", NULL-terminated; NULL: as in this process */
    const int *fds;           /* descriptors of this process that the child gets as 0, 1, 2, ... */
    size_t num_fds;
    void *context;
    /* The child has ended: killed by SIGNAL, or if that is 0, with exit status STATUS. Called
     * once. */
    void (*ended)(void *context, int status, int signal);
};

/* In the child, all signals have their default action. If the start fails, the error message is
 * only the reason ("no such file or directory"). */
cohort_status cohort__child_start(struct cohort__child **ret_child, struct cohort__loop *loop,
                                  const struct cohort__child_options *options);

/* The text for the errno ERROR, as in the messages of cohort__child_start: "no such file or
 * directory". */
const char *cohort__child_error_text(int error);

/* Does nothing if the child has ended. */
void cohort__child_kill(struct cohort__child *child, int signal);

/* From now on `ended` is not called. A child that still runs goes on. May be called by handlers.
 * NULL is fine. */
void cohort__child_close(struct cohort__child *child);

/* --- the end of any process --- */

/* Waits for the end of a process that need not be a child of this one. All functions here may be
 * called only by the loop's holder. */
struct cohort__ending;

/* Calls ENDED(CONTEXT) once when the process PID has ended, or at once (from the loop) if it has
 * and nobody has asked for its status yet. How it has ended only its parent learns. Does not keep
 * cohort__loop_run from ending. Fails if there is no such process (any more), or no descriptor. */
cohort_status cohort__ending_open(struct cohort__ending **ret_ending, struct cohort__loop *loop,
                                  int pid, void (*ended)(void *context), void *context);

/* May be called by ENDED. NULL is fine. */
void cohort__ending_close(struct cohort__ending *ending);

#endif
