/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers --hosts`: which works with how many bytes. */
#ifndef COHORT_TOOLS_BENCH_HOST_PEERS_ROWS_H
#define COHORT_TOOLS_BENCH_HOST_PEERS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HOST_PEERS_MAX_ROWS = 24,
    HOST_PEERS_LONG = 64 << 10, /* bytes from which on the link is what may bind */
};

struct host_peers_row {
    const char *work; /* of works.h */
    uint64_t bytes; /* of all_to_all a pair's, of reduce_scatter those that a site gets; a site's */
    uint32_t sites;
};

/* The rows for SITES, without those in which a site has more than 8 MiB. Returns how many. */
size_t host_peers_rows(uint32_t sites, struct host_peers_row rows[HOST_PEERS_MAX_ROWS]);

/* Messages of 1 MiB from a site of one host to one of another. It has a job of its own, of Cohort,
 * and is none of the above. */
extern const struct host_peers_row host_peers_stream;
bool host_peers_row_is_stream(const struct host_peers_row *row);

/* The bytes that a call of ROW has to send over the link of one of HOSTS in one direction, whatever
 * the algorithm. 0: blocks are short, or ROW is the stream. */
double host_peers_row_link(const struct host_peers_row *row, uint32_t hosts);

/* Whether the shell pattern PATTERN fits "work/bytes/sites". */
bool host_peers_row_fits(const struct host_peers_row *row, const char *pattern);

#endif
