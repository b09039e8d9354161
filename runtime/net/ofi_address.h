/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_OFI_ADDRESS_H
#define COHORT_RUNTIME_NET_OFI_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>

#include "cohort/status.h"

struct cohort__ofi;

/* An address consists of the transport's name and the provider's name, each with its NUL, the
 * version of libfabric (u32, little-endian), and the raw address: what fi_getname gave. */
struct cohort__ofi_address {
    const char *transport;
    const char *provider;
    uint32_t version;
    const unsigned char *raw;
    size_t raw_bytes;
};

/* Writes our own address to net.address. */
cohort_status cohort__ofi_address_set(struct cohort__ofi *ofi);

/* Reads the address of the peer with this NUMBER. COHORT_ERR_BAD_PARAMETER if it is not an address,
 * or if its transport, provider or version is not ours. *ret points into ADDRESS. */
cohort_status cohort__ofi_address_read(const struct cohort__ofi *ofi, uint32_t number,
                                       const void *address, size_t bytes,
                                       struct cohort__ofi_address *ret);

/* Whether raw addresses are socket addresses of TCP. */
bool cohort__ofi_address_is_tcp(const struct fi_info *info);

/* Whether the raw address THEIRS is known to be on the same host as OURS: both are TCP, with the
 * same IP address. */
bool cohort__ofi_address_is_here(const struct fi_info *info, const void *ours, const void *theirs,
                                 size_t bytes);

#endif
