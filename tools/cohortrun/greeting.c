/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the line that tells a daemon the key and where to connect. */
#include "tools/cohortrun/greeting.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "runtime/launch/control.h"

void greeting_format(const struct greeting *greeting, char ret_line[GREETING_BYTES])
{
    char key[2 * SEAL_KEY_BYTES + 1];
    sodium_bin2hex(key, sizeof(key), greeting->key, SEAL_KEY_BYTES);
    snprintf(ret_line, GREETING_BYTES, "cohort-node %s %u %" PRIu64 " %" PRIu64 " %u %s\n", key,
             (unsigned)greeting->host, greeting->heartbeat_ns, greeting->heartbeat_timeout_ns,
             (unsigned)greeting->port, greeting->address);
    sodium_memzero(key, sizeof(key));
}

cohort_status greeting_parse(struct greeting *ret_greeting, char *line)
{
    char key[2 * SEAL_KEY_BYTES + 1];
    unsigned host, port;
    size_t key_bytes;
    struct greeting greeting = {0};
    int num = sscanf(line, "cohort-node %64[0-9a-f] %u %" SCNu64 " %" SCNu64 " %u %79[^ \n]\n", key,
                     &host, &greeting.heartbeat_ns, &greeting.heartbeat_timeout_ns, &port,
                     greeting.address);
    bool good = num == 6 && host < COHORT__CONTROL_MAX_LOCALITIES && port > 0 &&
                port <= UINT16_MAX && greeting.heartbeat_ns > 0 &&
                sodium_hex2bin(greeting.key, SEAL_KEY_BYTES, key, strlen(key), NULL, &key_bytes,
                               NULL) == 0 &&
                key_bytes == SEAL_KEY_BYTES;
    sodium_memzero(key, sizeof(key));
    sodium_memzero(line, strlen(line));
    if (!good)
        return cohort_fail(COHORT_ERR_PROTOCOL, "standard input does not begin as cohortrun would");
    greeting.host = host;
    greeting.port = (uint16_t)port;
    *ret_greeting = greeting;
    return COHORT_OK;
}
