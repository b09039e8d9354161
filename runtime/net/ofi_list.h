/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_OFI_LIST_H
#define COHORT_RUNTIME_NET_OFI_LIST_H

#include <stdbool.h>

#include "cohort/status.h"

/* What libfabric has on this host, for who asks; jobs don't. */
struct cohort__ofi_listed {
    char version[32];  /* "1.17.0" */
    char provider[64]; /* that a job would take here, by COHORT_OFI_PROVIDER and the version */
    bool is_there;     /* whether libfabric has it */
    char names[600];   /* the providers with reliable endpoints: "tcp, shm"; cut at the end */
};

/* Loads libfabric. COHORT_ERR_NOT_SUPPORTED as cohort__ofi_library_load, COHORT_ERR_NETWORK. */
cohort_status cohort__ofi_list(struct cohort__ofi_listed *ret_listed);

#endif
