/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_STALL_H
#define COHORT_COLLECTIVES_EXEC_STALL_H

#include <stddef.h>

#include "collectives/comm/operation.h"

/* What operations that wait for long have in common: words for what they wait for, and a failure.
 * In the endpoint's turn. */

/* Appends to TEXT, of CAPACITY bytes, at USED, where it has a zero. Returns the new length. What
 * does not fit is left out. */
size_t cohort__describe_append(char *text, size_t used, size_t capacity, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same: that OPERATION waits for SITE, which has given that ANSWER, and who keeps that one
 * waiting. docs/LAUNCHING.md says to users what the words mean. */
size_t cohort__describe_awaited(const struct cohort__operation *operation, char *text, size_t used,
                                size_t capacity, uint32_t site, uint8_t answer);

/* Why a call fails that waits for SITE, which is through with it and has forgotten why. Needs the
 * site and its locality. */
#define COHORT__FORGOTTEN                                                                          \
    "site %u (locality %u) is through with this generation without what this site waits for: it "  \
    "does not send this site so many blocks (in an exchange), or it has called something else or " \
    "failed, too long ago to remember what"

/* Fails OPERATION, since SITE has answered that it has completed this call, and a look after that
 * answer does not find what SITE owes. All that SITE has posted or sent came before its answer
 * (message.c). Two such answers without that look prove nothing, since SITE may have got both
 * questions late. */
void cohort__fail_forgotten(struct cohort__operation *operation, uint32_t site);

#endif
