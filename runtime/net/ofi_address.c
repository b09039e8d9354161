/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/ofi_end.h"

#include <endian.h>
#include <netinet/in.h>
#include <string.h>

#include <rdma/fi_cm.h>

static const char transport_name[] = "ofi";

cohort_status cohort__ofi_address_set(struct cohort__ofi *ofi)
{
    const char *provider = ofi->info->fabric_attr->prov_name;
    unsigned char *at = ofi->net.address;
    size_t head = sizeof transport_name + strlen(provider) + 1 + 4;
    size_t room = head < sizeof ofi->net.address ? sizeof ofi->net.address - head : 0;
    int error = fi_getname(&ofi->ep->fid, at + head, &room);
    if (error)
        return cohort__ofi_fail(ofi, "fi_getname", error);
    uint32_t version = htole32(ofi->library->version);
    memcpy(at, transport_name, sizeof transport_name);
    memcpy(at + sizeof transport_name, provider, strlen(provider) + 1);
    memcpy(at + head - 4, &version, 4);
    ofi->raw = at + head;
    ofi->net.address_bytes = head + room;
    return COHORT_OK;
}

/* The text at *AT. *AT moves behind its NUL. NULL if there is no NUL before END. */
static const char *take_text(const unsigned char **at, const unsigned char *end)
{
    const unsigned char *nul = memchr(*at, 0, (size_t)(end - *at));
    if (!nul)
        return NULL;
    const char *text = (const char *)*at;
    *at = nul + 1;
    return text;
}

/* Splits an address into its four parts. Only the transport is compared with ours. */
static cohort_status take_apart(uint32_t number, const unsigned char *at, size_t bytes,
                                struct cohort__ofi_address *ret)
{
    const unsigned char *end = at + bytes;
    ret->transport = bytes > 0 ? take_text(&at, end) : NULL;
    if (!ret->transport)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "peer %u: an address without a transport",
                           number);
    if (strcmp(ret->transport, transport_name) != 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "peer %u uses transport %s, this locality uses %s", number,
                           ret->transport, transport_name);
    ret->provider = at < end ? take_text(&at, end) : NULL;
    if (!ret->provider || end - at <= 4)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "peer %u: a truncated address", number);
    memcpy(&ret->version, at, 4);
    ret->version = le32toh(ret->version);
    ret->raw = at + 4;
    ret->raw_bytes = (size_t)(end - at) - 4;
    return COHORT_OK;
}

cohort_status cohort__ofi_address_read(const struct cohort__ofi *ofi, uint32_t number,
                                       const void *address, size_t bytes,
                                       struct cohort__ofi_address *ret)
{
    struct cohort__ofi_address a = {0};
    cohort_status st = take_apart(number, address, bytes, &a);
    if (st != COHORT_OK)
        return st;
    const char *provider = ofi->info->fabric_attr->prov_name;
    if (strcmp(a.provider, provider) != 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "peer %u uses provider %s, this locality uses %s", number, a.provider,
                           provider);
    if (a.version != ofi->library->version)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "peer %u uses libfabric %u.%u, this locality uses %u.%u", number,
                           FI_MAJOR(a.version), FI_MINOR(a.version),
                           FI_MAJOR(ofi->library->version), FI_MINOR(ofi->library->version));
    *ret = a;
    return COHORT_OK;
}

bool cohort__ofi_address_is_tcp(const struct fi_info *info)
{
    const char *provider = info->fabric_attr->prov_name;
    return (strncmp(provider, "tcp", 3) == 0 || strcmp(provider, "net") == 0) &&
           (info->addr_format == FI_SOCKADDR_IN || info->addr_format == FI_SOCKADDR_IN6);
}

bool cohort__ofi_address_is_here(const struct fi_info *info, const void *ours, const void *theirs,
                                 size_t bytes)
{
    struct sockaddr_in6 our6, their6;
    struct sockaddr_in our4, their4;
    if (!cohort__ofi_address_is_tcp(info))
        return false;
    if (info->addr_format == FI_SOCKADDR_IN && bytes >= sizeof our4) {
        memcpy(&our4, ours, sizeof our4);
        memcpy(&their4, theirs, sizeof their4);
        return our4.sin_addr.s_addr == their4.sin_addr.s_addr;
    }
    if (info->addr_format == FI_SOCKADDR_IN6 && bytes >= sizeof our6) {
        memcpy(&our6, ours, sizeof our6);
        memcpy(&their6, theirs, sizeof their6);
        return IN6_ARE_ADDR_EQUAL(&our6.sin6_addr, &their6.sin6_addr) &&
               our6.sin6_scope_id == their6.sin6_scope_id;
    }
    return false;
}
