/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_LAST_WORDS_H
#define COHORT_RUNTIME_BASE_LAST_WORDS_H

#include <stdbool.h>

/* Writes "cohort: WORDS" as a line on standard error, and WORDS into the ledger: why the program
 * ends now. Any thread, and a signal handler. */
void cohort__last_words_say(const char *words);

/* Adds a line with more of it, on standard error alone. Likewise. */
void cohort__last_words_add(const char *words);

/* Says WORDS, and ends the program by SIGABRT, of which nothing more is said. */
_Noreturn void cohort__last_words_abort(const char *words);

/* Whether it ends so. */
bool cohort__last_words_are_said(void);

#endif
