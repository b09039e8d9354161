/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers`: the command of each job, and reading its results. */
#include "tools/bench/peers_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/bench/pairs.h"
#include "tools/bench/pingpong.h"
#include "tools/bench/result.h"
#include "tools/share/child.h"
#include "tools/share/trial.h"

const char peers_timeout[] = "180";

/* The words of a command that are made for it. */
struct words {
    char localities[16], seconds[32], list[512];
};

static void compose_cohort(struct programs_command *command, const struct peers_jobs *jobs,
                           const struct words *words)
{
    const char *const args[] = {"--json",       "--rounds", "1",         "--seconds",
                                words->seconds, "--works",  words->list, "coll"};
    programs_command_begin(command, &jobs->programs, words->localities, "1");
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
        programs_command_add(command, args[i]);
    if (jobs->is_fresh)
        programs_command_add(command, "--fresh");
}

/* Open MPI has to be told that there may be more processes than cores (then it lets those that wait
 * yield by itself), and that running as root is intended. MPICH's time limit is in the
 * environment. */
static void compose_mpi(struct programs_command *command, const struct peers_jobs *jobs,
                        const struct peers_contender *contender, const struct words *words)
{
    static const char *const openmpi[] = {"mpirun.openmpi", "--oversubscribe",     "--bind-to",
                                          "none",           "--allow-run-as-root", "--timeout",
                                          peers_timeout};
    static const char *const mpich[] = {"mpirun.mpich"};
    const char *const args[] = {"-n", words->localities, contender->program, words->seconds,
                                words->list};
    bool is_openmpi = strcmp(contender->name, "openmpi") == 0;
    const char *const *launch = is_openmpi ? openmpi : mpich;
    size_t num = is_openmpi ? sizeof(openmpi) / sizeof(openmpi[0]) : 1;
    *command = (struct programs_command){.num_args = 0};
    for (size_t i = 0; i < num; i++)
        programs_command_add(command, launch[i]);
    for (const char *const *word = contender->component; word && *word; word++)
        programs_command_add(command, *word);
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
        programs_command_add(command, args[i]);
    if (contender->component)
        programs_command_add(command, "blocking");
    if (jobs->is_fresh)
        programs_command_add(command, "fresh");
}

/* Where the lines of a job go. */
struct reading {
    const struct peers_contender *contender;
    struct peers_line *lines;
    size_t num;
};

/* Sets the reference of overlap: how long Cohort computes, or how long it exchanges without
 * computing, whichever is longer. No overlap can be faster than that. */
static void take_exchange(struct peers_line *line, double us)
{
    peers_figure_add(&line->figures[PEERS_REFERENCE],
                     us > BENCH_OVERLAP_NS / 1e3 ? us : BENCH_OVERLAP_NS / 1e3);
}

static bool take_line(void *context, const char *text)
{
    struct reading *reading = context;
    struct bench_result result;
    if (!bench_result_read(text, &result))
        return true;
    for (size_t i = 0; i < reading->num; i++) {
        struct peers_line *line = &reading->lines[i];
        bool is_wait = !reading->contender->component && strcmp(result.shape, "wait") == 0;
        size_t column = reading->contender->column + is_wait;
        if (line->row.bytes != result.bytes)
            continue;
        if (strcmp(line->row.work, result.name) == 0)
            peers_figure_add(&line->figures[column], result.median);
        else if (strcmp(line->row.work, "overlap") == 0 && strcmp(result.name, "exchange") == 0 &&
                 column == PEERS_COHORT)
            take_exchange(line, result.median);
    }
    return true;
}

/* In the list, an overlap comes after the exchange that it is compared with. */
static void compose_list(struct words *words, const struct peers_line *lines, size_t num)
{
    size_t length = 0;
    words->list[0] = '\0';
    for (size_t i = 0; i < num; i++) {
        const struct peers_row *row = &lines[i].row;
        const char *const names[] = {strcmp(row->work, "overlap") == 0 ? "exchange" : NULL,
                                     row->work};
        for (size_t j = 0; j < 2; j++)
            if (names[j])
                length +=
                    (size_t)snprintf(words->list + length, sizeof(words->list) - length,
                                     "%s%s:%" PRIu64, length ? "," : "", names[j], row->bytes);
    }
}

static bool run_contender(const struct peers_jobs *jobs, const struct peers_contender *contender,
                          const struct words *words, struct peers_line *lines, size_t num)
{
    struct programs_command command;
    struct reading reading = {contender, lines, num};
    if (contender->net && setenv("COHORT_NET", contender->net, 1))
        return false;
    if (contender->name)
        compose_mpi(&command, jobs, contender, words);
    else
        compose_cohort(&command, jobs, words);
    uint64_t start = trial_now();
    bool is_done = child_run(command.args, take_line, &reading);
    if (is_done && lines[0].row.kind == PEERS_JOB)
        peers_figure_add(&lines[0].figures[contender->column], (double)(trial_now() - start) / 1e3);
    return is_done;
}

static bool run_pingpong(const struct peers_jobs *jobs, struct peers_line *lines, size_t num)
{
    bool is_done = true;
    for (size_t i = 0; jobs->has_pingpong && i < num; i++) {
        double us;
        if (pingpong_run(lines[i].row.bytes, jobs->seconds, &us))
            peers_figure_add(&lines[i].figures[PEERS_REFERENCE], us);
        else
            is_done = false;
    }
    return is_done;
}

bool peers_jobs_run(const struct peers_jobs *jobs, struct peers_line *lines, size_t num,
                    unsigned round)
{
    struct words words;
    bool is_raw = lines[0].row.kind == PEERS_RAW, is_done = true;
    snprintf(words.localities, sizeof(words.localities), "%" PRIu32, lines[0].row.localities);
    snprintf(words.seconds, sizeof(words.seconds), "%g", jobs->seconds);
    compose_list(&words, lines, num);
    for (size_t i = 0; i < jobs->num_contenders; i++) {
        const struct peers_contender *contender =
            &jobs->contenders[(round + i) % jobs->num_contenders];
        bool is_ofi = contender->net && strcmp(contender->net, "ofi") == 0;
        if ((is_raw && !is_ofi) || (contender->component && lines[0].row.kind != PEERS_WORKS))
            continue;
        is_done = run_contender(jobs, contender, &words, lines, num) && is_done;
    }
    for (size_t i = 0; i < num; i++)
        if (lines[i].row.given > 0)
            peers_figure_add(&lines[i].figures[PEERS_REFERENCE], lines[i].row.given);
    return (!is_raw || run_pingpong(jobs, lines, num)) && is_done;
}
