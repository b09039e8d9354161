/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_CHILD_H
#define COHORT_RUNTIME_LOOP_CHILD_H

#include <stddef.h>

#include "cohort/status.h"

struct cohort__loop;

/* A child process. Everything here: the loop's holder only. */
struct cohort__child;

struct cohort__child_options {
    const char *file;         /* looked for in PATH where it has no slash */
    char *const *args;        /* args[0] included; NULL-terminated */
    char *const *environment; /* "NAME=VALUE", NULL-terminated; NULL: this process's */
    const int *fds; /* descriptors of this process that become 0, 1, 2, ... of the child */
    size_t num_fds;
    void *context;
    /* The child has ended, by SIGNAL unless that is 0. Once. */
    void (*ended)(void *context, int status, int signal);
};

/* Signals have their default action in it. The message of a failure is
 * only the reason ("no such file or directory"). */
cohort_status cohort__child_start(struct cohort__child **ret_child, struct cohort__loop *loop,
                                  const struct cohort__child_options *options);

/* For errno ERROR, in the words of cohort__child_start: "no such file or directory". */
const char *cohort__child_error_text(int error);

int cohort__child_pid(const struct cohort__child *child);

/* Nothing happens if it has ended. */
void cohort__child_kill(struct cohort__child *child, int signal);

/* `ended` is not called any more; a child that still runs is left alone. May be called by handlers.
 * NULL is fine. */
void cohort__child_close(struct cohort__child *child);

#endif
