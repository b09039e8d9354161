/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_OFI_LIBRARY_H
#define COHORT_RUNTIME_NET_OFI_LIBRARY_H

#include <rdma/fabric.h>
#include <stdint.h>

#include "cohort/status.h"

/* The few functions of libfabric that are not inline. The library is loaded when the first
 * transport needs it, and stays loaded. A process that doesn't need it doesn't pay for it. The
 * price is high: in Debian 12 it loads 12 other libraries. The constructor of one of them
 * (libinfinipath) sleeps for 200 ms, and the first use costs 100 ms of CPU (the verbs providers
 * read all of /proc/kallsyms). */
struct cohort__ofi_library {
    uint32_t version;  /* FI_VERSION(major, minor) */
    uint32_t revision; /* the third number: the 1 of 1.18.1 */
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const struct fi_info *hints, struct fi_info **ret_info);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info);
    int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **ret_fabric, void *context);
    const char *(*strerror)(int error);
};

/* May be called any number of times, from any thread. COHORT_ERR_NOT_SUPPORTED where the library
 * can't be loaded or is too old. */
cohort_status cohort__ofi_library_load(const struct cohort__ofi_library **ret_library);

/* The provider to use: from 1.18.1 on `tcp`. In 1.17 `net`, which is that provider under the name
 * that it had while it was new. Else `tcp;ofi_rxm`, which is slower, since it is an old `tcp` with
 * a layer above it; that is COHORT__OFI_OLD_PROVIDER, also for a libfabric that was built without
 * the other one. */
const char *cohort__ofi_library_provider(uint32_t version, uint32_t revision);
#define COHORT__OFI_OLD_PROVIDER "tcp;ofi_rxm"

#endif
