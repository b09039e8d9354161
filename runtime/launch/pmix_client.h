/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_PMIX_CLIENT_H
#define COHORT_RUNTIME_PROC_PMIX_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/launch/pmix_library.h"

/* A process that a PMIx launcher has started, as one of `size`: what they show each other is put by
 * each, and can be got by all once a fence that collects has been passed by all. A name is put once
 * by each. Failures are COHORT_ERR_NETWORK, or COHORT_ERR_PEER_DIED where a fence was ended because
 * somebody will never pass it. One thread. */
struct cohort__pmix_client {
    struct cohort__pmix_library library;
    pmix_proc_t me;
    uint32_t size;
    pmix_info_t collect;
    pmix_info_t immediate;
};

/* Connects to the launcher. PMIx has a thread of its own from then on, which gets no signals; the
 * library's descriptors are closed on exec. */
cohort_status cohort__pmix_client_open(struct cohort__pmix_client *client);

/* Leaves in good order. Nothing is called back any more. A process that ends without having done so
 * has its launcher end the job; PMIx_Abort, which asks for that, makes mpirun 4.1 hang now and
 * then.
 */
void cohort__pmix_client_close(struct cohort__pmix_client *client);

cohort_status cohort__pmix_client_put(struct cohort__pmix_client *client, const char *name,
                                      const void *data, size_t bytes);

/* What RANK (PMIx's) has put as NAME; to be freed, and may be NULL if it has no bytes.
 * COHORT_ERR_PEER_DIED where it is not there. */
cohort_status cohort__pmix_client_get(struct cohort__pmix_client *client, uint32_t rank,
                                      const char *name, void **ret_data, size_t *ret_bytes);

/* Puts DATA, waits until all have put theirs, and calls TAKE with what each has put, by PMIx's
 * rank; the first failure of TAKE ends it. */
cohort_status cohort__pmix_client_exchange(struct cohort__pmix_client *client, const char *name,
                                           const void *data, size_t bytes,
                                           cohort_status (*take)(void *context, uint32_t rank,
                                                                 const void *data, size_t bytes),
                                           void *context);

/* A fence that is not waited for: DONE is called, in PMIx's thread or at once, with what
 * cohort__pmix_client_check understands. */
void cohort__pmix_client_fence_begin(struct cohort__pmix_client *client, bool collect,
                                     void (*done)(pmix_status_t result, void *context),
                                     void *context);

/* WHAT was done with this RESULT. */
cohort_status cohort__pmix_client_check(const struct cohort__pmix_client *client,
                                        pmix_status_t result, const char *what);

#endif
