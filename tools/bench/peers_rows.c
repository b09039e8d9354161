/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers`: the rows, and the limits for Cohort in each. */
#include "tools/bench/peers_rows.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NUM_SIZES = 5 };
static const uint32_t sizes[NUM_SIZES] = {2, 4, 8, 16, 32};

/* Measured at all of these numbers of localities. */
static const struct {
    const char *work;
    uint64_t bytes;
    struct peers_limits limits[NUM_SIZES];
} works[] = {
    {"barrier", 0, {{1.5, 1, 0}, {1, 1, 0}, {0.7, 0.7, 0}, {0.7, 0.7, 0}, {0.7, 0.7, 0}}},
    {"all_reduce", 8, {{1.5, 1, 0}, {1, 1, 0}, {0.7, 0.7, 0}, {0.7, 0.7, 0}, {0.7, 0.7, 0}}},
    {"all_to_all", 8, {{1.5, 1, 0}, {1, 1, 0}, {0.7, 0.7, 0}, {0.7, 0.7, 0}, {0.7, 0.7, 0}}},
    {"all_to_all",
     64 << 10,
     {{0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.65, 0.65, 0}}},
    {"all_reduce",
     64 << 10,
     {{0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}}},
    {"all_reduce",
     1 << 20,
     {{0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}}},
    {"broadcast",
     64 << 10,
     {{0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}}},
    {"broadcast",
     1 << 20,
     {{0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}, {0.8, 0.8, 0}}},
};
enum { NUM_WORKS = sizeof(works) / sizeof(works[0]) };

/* Measured at two localities, besides those above. A stream's time is that of one of its messages:
 * half of the time is twice the bandwidth. */
static const struct peers_row pairs[] = {
    {PEERS_WORKS, 2, "overlap", 64 << 10, "us", {0, 0, 1.1}, "longer", 0},
    {PEERS_WORKS, 2, "ping_pong", 8, "us", {1.5, 1.5, 0}, NULL, 0},
    {PEERS_WORKS, 2, "stream", 1 << 20, "us", {0.5, 0.5, 0}, NULL, 0},
    {PEERS_WORKS, 2, "rate", 8, "us", {1, 1, 0}, NULL, 0},
    {PEERS_WORKS, 2, "halo", 32 << 10, "us", {1, 1, 0}, NULL, 0},
    {PEERS_WORKS, 2, "halo", 256 << 10, "us", {1, 1, 0}, NULL, 0},
    {PEERS_WORKS, 2, "halo", 2 << 20, "us", {1, 1, 0}, NULL, 0},
};

/* Only of these, as all localities together have the square of their number of such blocks. */
static const struct peers_row gathers[] = {
    {PEERS_WORKS, 4, "all_gather", 64 << 10, "us", {0.8, 0.8, 0}, NULL, 0},
    {PEERS_WORKS, 4, "all_gather", 1 << 20, "us", {0.8, 0.8, 0}, NULL, 0},
};

/* fi_pingpong's bandwidth is also that of single messages: 0.8 of it is 1.25 of the time. */
static const struct peers_row others[] = {
    {PEERS_JOB, 32, "nothing", 0, "us", {0.5, 0, 0}, NULL, 0},
    {PEERS_MEMORY, 64, "memory_rss", 0, "MiB", {0, 0, 1}, "given", 6},
    {PEERS_MEMORY, 64, "memory_pss", 0, "MiB", {0, 0, 0}, NULL, 0},
    {PEERS_RAW, 2, "ping_pong", 8, "us", {0, 0, 1.3}, "fi_pingpong", 0},
    {PEERS_RAW, 2, "ping_pong", 1 << 20, "us", {0, 0, 1.25}, "fi_pingpong", 0},
};

size_t peers_rows(struct peers_row rows[PEERS_MAX_ROWS])
{
    struct peers_row *row = rows;
    for (size_t size = 0; size < NUM_SIZES; size++) {
        for (size_t i = 0; i < NUM_WORKS; i++)
            *row++ = (struct peers_row){
                PEERS_WORKS, sizes[size],           works[i].work, works[i].bytes,
                "us",        works[i].limits[size], NULL,          0};
        for (size_t i = 0; size == 0 && i < sizeof(pairs) / sizeof(pairs[0]); i++)
            *row++ = pairs[i];
        for (size_t i = 0; size == 1 && i < sizeof(gathers) / sizeof(gathers[0]); i++)
            *row++ = gathers[i];
    }
    memcpy(row, others, sizeof(others));
    row += sizeof(others) / sizeof(others[0]);
    return (size_t)(row - rows);
}

bool peers_row_shares_jobs(const struct peers_row *row, const struct peers_row *other)
{
    return row->kind == other->kind && row->localities == other->localities;
}

const char *peers_row_name(const struct peers_row *row)
{
    return row->kind == PEERS_RAW ? "ofi_ping_pong" : row->work;
}

bool peers_row_fits(const struct peers_row *row, const char *pattern)
{
    char name[64];
    snprintf(name, sizeof(name), "%s/%" PRIu64 "/%" PRIu32, peers_row_name(row), row->bytes,
             row->localities);
    return fnmatch(pattern, name, 0) == 0;
}
