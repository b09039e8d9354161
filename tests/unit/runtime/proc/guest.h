/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_RUNTIME_PROC_GUEST_H
#define COHORT_TESTS_UNIT_RUNTIME_PROC_GUEST_H

#include "runtime/proc/process.h"
#include "runtime/proc/registry.h"

/* A join, and what has come of it. */
struct guest {
    struct cohort__join join;
    struct cohort__process *process; /* of the locality that joins */
    uint32_t rank;                   /* of that */
    int num_done;
    cohort_status status;
    struct cohort__membership *membership;
    char text[640]; /* of the error */
};

/* Begins JOIN at PROCESS. Its `done` is set here. */
void guest_enter(struct guest *guest, struct cohort__process *process, struct cohort__join join);

/* It is done, once, with STATUS and an error that contains TEXT. */
void guest_check(const struct guest *guest, cohort_status status, const char *text);

/* It has joined well, and leaves. Returns the instance. */
uint64_t guest_leave(struct guest *guest);

#endif
