/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_STATE_H
#define COHORT_TESTS_SUPPORT_STATE_H

/* Prints what this process does on standard error, as its ledger has it: the workers, and what each
 * task waits for. For a test that has found a hang. */
void state_print(void);

#endif
