/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_DESCRIPTORS_H
#define COHORT_RUNTIME_BASE_DESCRIPTORS_H

/* Descriptors 0, 1 and 2 are open from now on, at /dev/null where they were not: nothing else gets
 * these numbers, so what is printed goes nowhere else, and libuv, which aborts the process when it
 * is to close one of them, need not. */
void cohort__descriptors_open_standard(void);

#endif
