/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NAMES_REQUESTS_H
#define COHORT_RUNTIME_NAMES_REQUESTS_H

#include "runtime/names/home.h"

/* The letters that a home gets from localities: JOIN, LEAVE, WITHDRAW, REVOKE and
 * RETURN. */

/* Does what a letter of WORDS from locality SOURCE asks for. The answers are appended to OUTBOX, on
 * failure too. COHORT_ERR_PROTOCOL where it makes no sense or is no letter for a home,
 * COHORT_ERR_NO_MEMORY. RETURNED: localities whose programs have returned, as text, or "", which a
 * WITHDRAW hands on. */
cohort_status cohort__home_take(struct cohort__registry_home *home, uint32_t source,
                                const struct cohort__registry_words *words, const char *returned,
                                struct cohort__list *outbox);

/* The same for a letter as it has come. */
cohort_status cohort__home_take_letter(struct cohort__registry_home *home, uint32_t source,
                                       const void *data, size_t bytes, const char *returned,
                                       struct cohort__list *outbox);

#endif
