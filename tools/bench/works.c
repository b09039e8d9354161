/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the list of --works, which the programs for MPI read, too. */
#include "tools/bench/works.h"

#include <string.h>

static const char *const names[] = {
    "barrier", "all_reduce", "all_to_all", "broadcast",  "overlap", "exchange",
    "stream",  "ping_pong",  "memory_rss", "memory_pss", "nothing",
};

static const char *find_name(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0)
            return names[i];
    return NULL;
}

/* Reads digits at *TEXT, and moves it behind them. */
static bool read_bytes(const char **text, uint64_t *ret_bytes)
{
    const char *c = *text;
    uint64_t bytes = 0;
    while (*c >= '0' && *c <= '9' && bytes <= 1 << 30)
        bytes = 10 * bytes + (uint64_t)(*c++ - '0');
    if (c == *text || bytes > 1 << 30)
        return false;
    *text = c;
    *ret_bytes = bytes;
    return true;
}

bool bench_works_read(const char *list, struct bench_works *ret_works)
{
    struct bench_works works = {.num = 0};
    for (const char *c = list;; c++) {
        struct bench_work work;
        size_t length = strcspn(c, ":");
        work.name = find_name(c, length);
        c += length;
        if (!work.name || *c++ != ':' || !read_bytes(&c, &work.bytes) ||
            works.num == BENCH_MAX_WORKS)
            return false;
        works.list[works.num++] = work;
        if (*c == '\0')
            break;
        if (*c != ',')
            return false;
    }
    *ret_works = works;
    return true;
}
