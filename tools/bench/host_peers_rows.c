/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers --hosts`: which works with how many bytes. */
#include "tools/bench/host_peers_rows.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct host_peers_row host_peers_stream = {"stream", 1 << 20, 2};

enum { NUM_SIZES = 4, MOST_OF_SITE = 8 << 20 };

static const struct {
    const char *work;
    bool has_blocks; /* one for each site */
    uint64_t bytes[NUM_SIZES];
    size_t num_sizes;
} works[] = {
    {"barrier", false, {0}, 1},
    {"all_reduce", false, {8, 4 << 10, 64 << 10, 1 << 20}, 4},
    {"broadcast", false, {8, 4 << 10, 64 << 10, 1 << 20}, 4},
    {"all_to_all", true, {8, 4 << 10, 64 << 10, 1 << 20}, 4},
    {"reduce_scatter", true, {8, 4 << 10, 64 << 10, 1 << 20}, 4},
    {"all_gather", true, {8, 4 << 10, 64 << 10, 1 << 20}, 4},
};

size_t host_peers_rows(uint32_t sites, struct host_peers_row rows[HOST_PEERS_MAX_ROWS])
{
    size_t num = 0;
    for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
        for (size_t j = 0; j < works[i].num_sizes; j++) {
            uint64_t bytes = works[i].bytes[j];
            if (bytes * (works[i].has_blocks ? sites : 1) <= MOST_OF_SITE)
                rows[num++] = (struct host_peers_row){works[i].work, bytes, sites};
        }
    }
    return num;
}

/* S sites of a host, N in all. What leaves a host for the others is at least what they want that
 * only it has, after it has reduced what its own sites bring; what comes in is as much. */
double host_peers_row_link(const struct host_peers_row *row, uint32_t hosts)
{
    double bytes = (double)row->bytes, all = row->sites;
    double other = all - all / hosts;
    if (row->bytes < HOST_PEERS_LONG || host_peers_row_is_stream(row))
        return 0;
    if (strcmp(row->work, "all_to_all") == 0)
        return all / hosts * other * bytes;
    if (strcmp(row->work, "reduce_scatter") == 0 || strcmp(row->work, "all_gather") == 0)
        return other * bytes;
    if (strcmp(row->work, "all_reduce") == 0)
        return 2 * other / all * bytes;
    return bytes; /* broadcast */
}

bool host_peers_row_is_stream(const struct host_peers_row *row)
{
    return strcmp(row->work, host_peers_stream.work) == 0;
}

bool host_peers_row_fits(const struct host_peers_row *row, const char *pattern)
{
    char name[64];
    snprintf(name, sizeof(name), "%s/%" PRIu64 "/%" PRIu32, row->work, row->bytes, row->sites);
    return fnmatch(pattern, name, 0) == 0;
}
