/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/tcp_server_request.h"

#include <stdbool.h>

static bool is_prime(uint32_t n)
{
    for (uint32_t d = 2; (uint64_t)d * d <= n; d++)
        if (n % d == 0)
            return false;
    return n > 1;
}

uint64_t tcp_server_count(const struct tcp_server_request *request, uint32_t part, uint32_t parts)
{
    uint64_t count = 0;
    for (uint64_t i = part; i < request->num; i += parts)
        count += is_prime((uint32_t)(request->first + i));
    return count;
}

cohort_status tcp_server_receive(cohort_tcp *tcp, void *buffer, size_t bytes, size_t *ret_got)
{
    size_t got = 0, more = 1;
    while (got < bytes && more > 0) {
        cohort_status status =
            cohort_await(cohort_tcp_read(tcp, (char *)buffer + got, bytes - got, &more));
        if (status)
            return status;
        got += more;
    }
    *ret_got = got;
    return COHORT_OK;
}
