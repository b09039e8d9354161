/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the line that tells a daemon the key and where to connect. */
#ifndef COHORT_TOOLS_COHORTRUN_GREETING_H
#define COHORT_TOOLS_COHORTRUN_GREETING_H

#include <stdint.h>

#include "cohort/status.h"
#include "tools/cohortrun/address.h"
#include "tools/cohortrun/seal.h"

/* The argument that makes cohortrun a node daemon (node.h), which reads the line. */
#define NODE_OPTION "--node"

/* What cohortrun tells a node daemon on its standard input, in one line: which host it is on, and
 * where to connect. The key is neither in the arguments nor in the environment, since others can
 * see those. */
struct greeting {
    unsigned char key[SEAL_KEY_BYTES];
    uint32_t host; /* its number */
    uint64_t heartbeat_ns;
    uint64_t heartbeat_timeout_ns;
    char address[ADDRESS_TEXT_BYTES]; /* of cohortrun */
    uint16_t port;
};

enum { GREETING_BYTES = 256 };

/* A line with its newline. */
void greeting_format(const struct greeting *greeting, char ret_line[GREETING_BYTES]);

/* LINE is overwritten. */
cohort_status greeting_parse(struct greeting *ret_greeting, char *line);

#endif
