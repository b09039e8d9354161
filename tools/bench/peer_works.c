/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the common part of the programs that are measured beside `tasks --works`. */
#include "tools/bench/peer_works.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/bench/result.h"
#include "tools/bench/series.h"
#include "tools/bench/works.h"

enum { STATUS_USAGE = 2, MAX_WORKERS = 1024 };

uint64_t peer_now(void)
{
    return bench_now();
}

uint8_t *peer_marks(uint64_t num)
{
    uint8_t *marks = problem_marks_create(num);
    if (!marks) {
        fprintf(stderr, "%s: no memory for %" PRIu64 " marks\n", program_invocation_short_name,
                num);
        exit(1);
    }
    return marks;
}

bool peer_marks_check(uint8_t *marks, uint64_t num)
{
    bool is_right = problem_marks_all(marks, num);
    free(marks);
    return is_right;
}

/* A line that cohort-compare reads. */
static void print_result(const struct peer_work *work, const struct problem *problem,
                         struct bench_spread spread)
{
    struct json json = {.file = stdout};
    struct bench_result result = {.localities = 1, .workers = problem->workers};
    snprintf(result.name, sizeof(result.name), "%s", work->name);
    snprintf(result.shape, sizeof(result.shape), "%s", work->way);
    bench_result_set(&result, spread, "ns", 1);
    bench_result_write(&result, &json);
    putchar('\n');
}

static bool measure(const struct peer_work *work, const struct problem *problem,
                    const struct bench_options *options)
{
    static struct bench_series series;
    struct problem_time time = {0};
    bench_series_init(&series, options);
    for (uint64_t calls; (calls = bench_series_next(&series)) > 0;) {
        uint64_t start = bench_now(), part_ns = 0;
        for (uint64_t i = 0; i < calls; i++) {
            if (!work->solve(problem, &time)) {
                fprintf(stderr, "%s: wrong result of %s, %" PRIu64 "\n",
                        program_invocation_short_name, work->name, problem->size);
                return false;
            }
            part_ns += time.ns;
        }
        bench_series_add_part(&series, bench_now() - start, part_ns);
    }
    struct bench_spread spread = bench_series_spread(&series);
    bench_spread_divide(&spread, (double)(time.items ? time.items : 1));
    print_result(work, problem, spread);
    return true;
}

/* Whether the command line is right. */
static bool read_words(int argc, char **argv, struct bench_options *options, unsigned *ret_workers)
{
    if (argc != 4 || !bench_works_read(argv[3], bench_works_of_tasks, &options->works))
        return false;
    options->seconds = strtod(argv[1], NULL);
    *ret_workers = (unsigned)strtoul(argv[2], NULL, 10);
    for (size_t i = 0; i < options->works.num; i++)
        if (options->works.list[i].size == 0)
            return false;
    return options->seconds > 0 && *ret_workers >= 1 && *ret_workers <= MAX_WORKERS;
}

int peer_works_main(int argc, char **argv, const char *version, const struct peer_work *works)
{
    struct bench_options options = {.rounds = 1};
    struct problem problem;
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return puts(version) == EOF;
    if (!read_words(argc, argv, &options, &problem.workers)) {
        fprintf(stderr, "usage: %s SECONDS WORKERS LIST; see cohort-bench --help\n",
                program_invocation_short_name);
        return STATUS_USAGE;
    }
    for (size_t i = 0; i < options.works.num; i++) {
        problem.size = options.works.list[i].size;
        problem.work = options.works.list[i].name;
        alarm(PROBLEM_TIMEOUT);
        for (const struct peer_work *work = works; work->name; work++)
            if (strcmp(work->name, options.works.list[i].name) == 0 &&
                !measure(work, &problem, &options))
                return 1;
    }
    return 0;
}
