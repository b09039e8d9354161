/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_TRACE_NAMES_H
#define COHORT_COLLECTIVES_COLL_TRACE_NAMES_H

/* Writes into the trace, once, how the collectives and their rows are called, and whose calls a
 * site's result depends on. Any thread. */
void cohort__trace_names_write(void);

#endif
