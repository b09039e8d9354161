/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_BINDING_H
#define COHORT_RUNTIME_LAUNCH_BINDING_H

#include <stddef.h>
#include <stdint.h>

/* What cohortrun says to a locality that it has bound to processors, in COHORT_BINDING. */
struct cohort__binding {
    uint32_t sharing; /* localities of this host that are bound to just these; 0: it is not bound */
    uint32_t domain;  /* see domain.h, which the locality then need not ask */
};

enum { COHORT__BINDING_BYTES = 48 };

/* Writes the value of the variable for the calling thread, which is bound as BINDING says. */
void cohort__binding_write(const struct cohort__binding *binding,
                           char ret_text[COHORT__BINDING_BYTES]);

/* Reads the variable and removes it from the environment, so that it is not handed on. A process
 * whose processors are other ones now, by taskset for example, is not bound by cohortrun. */
struct cohort__binding cohort__binding_take(void);

#endif
