/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_STALL_H
#define COHORT_COLLECTIVES_EXEC_STALL_H

#include <stddef.h>

#include "collectives/comm/operation.h"

/* Telling what an operation waits for. */

/* Appends to TEXT, of CAPACITY bytes and with a zero at USED; returns the new length. What does not
 * fit is left out. */
size_t cohort__describe_append(char *text, size_t used, size_t capacity, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What a site has said, in words. */
const char *cohort__describe_answer(enum cohort__answer answer);

/* Fails OPERATION, since SITE has answered that it is through with this call, and a look after that
 * finds what it owes missing. All that it has posted or sent came before its answer (message.c).
 * Two such answers without that look prove nothing: both questions may have come to it late. */
void cohort__fail_forgotten(struct cohort__operation *operation, uint32_t site);

#endif
