/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_PMIX_CLIENT_H
#define COHORT_RUNTIME_LAUNCH_PMIX_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/launch/pmix_library.h"

/* A process that a PMIx launcher has started, as one of `size`. To show data to the others, each
 * process puts it under a name. After all have passed a fence that collects, each can get the data
 * of all. Each process puts a name only once. Failures are COHORT_ERR_NETWORK, or
 * COHORT_ERR_PEER_DIED if a fence was ended because some process will never pass it. One thread. */
struct cohort__pmix_client {
    struct cohort__pmix_library library;
    pmix_proc_t me;
    uint32_t size;
    unsigned long timeout; /* s; how long another one may take to join or to answer; the owner's */
    pmix_info_t collect;
};

/* Connects to the launcher. From then on, PMIx has a thread of its own, which gets no signals. The
 * library's descriptors are closed on exec. */
cohort_status cohort__pmix_client_open(struct cohort__pmix_client *client);

/* Leaves the job properly. After this there are no callbacks. */
void cohort__pmix_client_close(struct cohort__pmix_client *client);

/* Asks the launcher to end the job with the status CODE, because of TEXT, and ends this process
 * with it. A process that only ends does not end the job under each launcher: Slurm's servers tell
 * no other host of it. Any thread. */
_Noreturn void cohort__pmix_client_abort(const struct cohort__pmix_client *client, int code,
                                         const char *text);

cohort_status cohort__pmix_client_put(struct cohort__pmix_client *client, const char *name,
                                      const void *data, size_t bytes);

/* The data that RANK (PMIx's rank) has put as NAME. The caller frees it. NULL if it has no bytes.
 * COHORT_ERR_PEER_DIED if it does not exist. Where a fence has not brought it, its host is asked.
 * COHORT_ERR_TIMEOUT if no answer comes within so many SECONDS, for which the thread waits. */
cohort_status cohort__pmix_client_get(struct cohort__pmix_client *client, uint32_t rank,
                                      const char *name, unsigned long seconds, void **ret_data,
                                      size_t *ret_bytes);

/* Puts DATA, waits until all have put theirs, and calls TAKE with the data of each, in the order of
 * PMIx's ranks. The first failure of TAKE ends the exchange. COHORT_ERR_TIMEOUT if the next process
 * has not put its data after the timeout, or does not answer for as long again: where one is
 * missing, the one before it tells. */
cohort_status cohort__pmix_client_exchange(struct cohort__pmix_client *client, const char *name,
                                           const void *data, size_t bytes,
                                           cohort_status (*take)(void *context, uint32_t rank,
                                                                 const void *data, size_t bytes),
                                           void *context);

/* Begins a fence without waiting for it. DONE is called in PMIx's thread or at once, with a result
 * for cohort__pmix_client_check. */
void cohort__pmix_client_fence_begin(struct cohort__pmix_client *client, bool collect,
                                     void (*done)(pmix_status_t result, void *context),
                                     void *context);

/* Turns RESULT, which a function of PMIx has returned for WHAT, into a status with a message. */
cohort_status cohort__pmix_client_check(const struct cohort__pmix_client *client,
                                        pmix_status_t result, const char *what);

#endif
