/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_ENDPOINT_MISUSE_H
#define COHORT_COLLECTIVES_COMM_ENDPOINT_MISUSE_H

#include "collectives/comm/endpoint.h"
#include "runtime/base/misuse.h"

/* Endpoints that a program uses after it has given them back. */

/* Ends the program by SIGABRT, after one line on standard error: that public FUNCTION was called
 * for COMM, by CALLER (a return address; NULL: whoever has called the library). */
_Noreturn void cohort__endpoint_misuse(const struct cohort_comm *comm, const char *function,
                                       const void *caller) __attribute__((cold, noinline));

/* For a public FUNCTION, of which these become a part. The first ends the program if COMM, which
 * may be NULL, was given back; the second only if it is gone: that is for functions that the
 * library calls itself for what is still under way there. */
__attribute__((always_inline)) static inline void
cohort__endpoint_check(const struct cohort_comm *comm, const char *function)
{
    if (comm && cohort__is_gone(&comm->refs))
        cohort__endpoint_misuse(comm, function, __builtin_return_address(0));
}

__attribute__((always_inline)) static inline void
cohort__endpoint_check_there(const struct cohort_comm *comm, const char *function)
{
    if (__builtin_expect(!comm->group, 0))
        cohort__endpoint_misuse(comm, function, __builtin_return_address(0));
}

/* COMM's last reference has been given back. From now on the gate refuses its calls, so that calls
 * need no check of their own. */
void cohort__endpoint_shut(struct cohort_comm *comm);

/* Takes the memory of COMM, which is gone. That of the latest ones is kept, since what says that
 * they are gone is in it. */
void cohort__endpoint_bury(struct cohort_comm *comm);

#endif
