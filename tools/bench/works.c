/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the lists of --works, which the peers read, too. */
#include "tools/bench/works.h"

#include <string.h>

const char *const bench_works_of_coll[] = {
    "barrier", "all_reduce", "all_to_all",    "broadcast",   "all_gather",     "reduce_scatter",
    "overlap", "exchange",   "stream",        "ping_pong",   "memory_rss",     "memory_pss",
    "nothing", "gather",     "gatherv",       "all_to_allv", "checked_gather", "check",
    "remote",  "rate",       "communicators", "sparse",      "counted",        "halo",
    "get",     "put",        "add",           NULL,
};

const char *const bench_works_of_tasks[] = {
    "fib",
    "empty",
    "halves",
    "tree",
    "then",
    "suspend",
    "ping_pong",
    "when_all",
    "when_any",
    "sleeps",
    "foreign",
    "wake",
    "spread",
    "range_one",
    "range",
    "range_one_us",
    "range_us",
    "graph_stencil",
    "graph_nearest",
    "graph_fft",
    "graph_tree",
    "graph_random",
    "graph_all_to_all",
    "burst",
    "sleep",
    "reduce",
    "threads",
    NULL,
};

static const char *find_name(const char *const *names, const char *text, size_t length)
{
    for (; *names; names++)
        if (strlen(*names) == length && memcmp(*names, text, length) == 0)
            return *names;
    return NULL;
}

/* Reads digits at *TEXT, and moves it behind them. */
static bool read_size(const char **text, uint64_t *ret_size)
{
    const char *c = *text;
    uint64_t size = 0;
    while (*c >= '0' && *c <= '9' && size <= 1 << 30)
        size = 10 * size + (uint64_t)(*c++ - '0');
    if (c == *text || size > 1 << 30)
        return false;
    *text = c;
    *ret_size = size;
    return true;
}

bool bench_works_read(const char *list, const char *const *names, struct bench_works *ret_works)
{
    struct bench_works works = {.num = 0};
    for (const char *c = list;; c++) {
        struct bench_work work;
        size_t length = strcspn(c, ":");
        work.name = find_name(names, c, length);
        c += length;
        if (!work.name || *c++ != ':' || !read_size(&c, &work.size) || works.num == BENCH_MAX_WORKS)
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
