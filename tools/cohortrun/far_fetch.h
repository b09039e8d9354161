/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: fetches what the daemons of other hosts hand out, piece by piece. */
#ifndef COHORT_TOOLS_COHORTRUN_FAR_FETCH_H
#define COHORT_TOOLS_COHORTRUN_FAR_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cohortrun/node_fetch.h"

struct host;

/* An answer. */
struct far_piece {
    bool is_late; /* nobody wants it any more */
    enum node_fetch_what what;
    uint32_t rank;
    uint64_t at;
    enum node_fetch_kind kind;
    const unsigned char *data;
    size_t bytes;
};

/* Asks HOST for WHAT of its first locality; but not if it is not ready. */
void far_fetch_begin(struct host *host, enum node_fetch_what what);

/* NODE_LINK_FETCHED has come. If it is not late, go_on or stop follows. False: it makes no sense.
 */
bool far_fetch_read(struct far_piece *ret_piece, struct host *host, uint32_t rank,
                    const unsigned char *data, size_t bytes);

/* Asks for the next piece; or, where all that is wanted of a locality has come (IS_OVER), for that
 * of the next one, if there is one. */
void far_fetch_go_on(struct host *host, enum node_fetch_what what, bool is_over);

/* Nothing more is wanted. */
void far_fetch_stop(struct host *host, enum node_fetch_what what);

#endif
