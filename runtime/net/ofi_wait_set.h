/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_OFI_WAIT_SET_H
#define COHORT_RUNTIME_NET_OFI_WAIT_SET_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

/* What fi_wait_open and fi_wait do. Only the provider `net` of libfabric 1.17 needs wait sets. The
 * headers of libfabric 2 warn of them, and a build with these refuses libraries that are older. */
#if FI_MAJOR_VERSION == 1

static inline int cohort__ofi_wait_set_open(struct fid_fabric *fabric, struct fid_wait **ret_set)
{
    struct fi_wait_attr attr = {.wait_obj = FI_WAIT_FD};
    return fi_wait_open(fabric, &attr, ret_set);
}

/* Takes back the set's signal, and then looks. -FI_ETIMEDOUT: there is nothing. */
static inline int cohort__ofi_wait_set_look(struct fid_wait *set)
{
    return fi_wait(set, 0);
}

#else

static inline int cohort__ofi_wait_set_open(struct fid_fabric *fabric, struct fid_wait **ret_set)
{
    (void)fabric, (void)ret_set;
    return -FI_ENOSYS;
}

static inline int cohort__ofi_wait_set_look(struct fid_wait *set)
{
    (void)set;
    return -FI_ENOSYS;
}

#endif

#endif
