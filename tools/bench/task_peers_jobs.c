/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --peers`: the programs, their commands, and reading their results. */
#include "tools/bench/task_peers_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/bench/result.h"
#include "tools/share/child.h"

static char *add(struct task_peers_jobs *jobs, enum task_peers_column column)
{
    struct task_peers_contender *contender = &jobs->contenders[jobs->num_contenders++];
    contender->column = column;
    return contender->program;
}

/* The programs of the peers are built beside this one, and are never installed. */
static void find_peer(struct task_peers_jobs *jobs, enum task_peers_column column)
{
    const char *self = jobs->contenders[0].program, *name = task_peers_names[column];
    char program[PROGRAMS_MAX_PATH];
    int folder = (int)(strrchr(self, '/') - self);
    int length = snprintf(program, sizeof(program), "%.*s/peer_%s", folder, self, name);
    if (length >= (int)sizeof(program) || access(program, X_OK))
        fprintf(stderr, "cohort-bench: left out: %s, since there is no %s\n", name, program);
    else
        memcpy(add(jobs, column), program, sizeof(program));
}

bool task_peers_jobs_init(struct task_peers_jobs *jobs, const struct bench_options *options)
{
    static const double default_seconds = 0.2, quick_seconds = 0.001;
    *jobs = (struct task_peers_jobs){.cores = bench_cores(),
                                     .seconds = options->seconds > 0 ? options->seconds
                                                : options->quick     ? quick_seconds
                                                                     : default_seconds};
    if (!programs_find_self(add(jobs, TASK_PEERS_COHORT)))
        return false;
    for (enum task_peers_column i = TASK_PEERS_TBB; i < TASK_PEERS_NUM_COLUMNS; i++)
        find_peer(jobs, i);
    return true;
}

/* What a command is made of, besides the program. */
struct words {
    char seconds[32], workers[16], list[64];
};

static void compose(struct programs_command *command, const struct task_peers_contender *contender,
                    const struct words *words)
{
    const char *const cohort[] = {"--json",       "--rounds", "1",         "--seconds",
                                  words->seconds, "--works",  words->list, "tasks"};
    const char *const peer[] = {words->seconds, words->workers, words->list};
    bool is_cohort = contender->column == TASK_PEERS_COHORT;
    size_t num = is_cohort ? sizeof(cohort) / sizeof(cohort[0]) : sizeof(peer) / sizeof(peer[0]);
    *command = (struct programs_command){.num_args = 0};
    programs_command_add(command, contender->program);
    for (size_t i = 0; i < num; i++)
        programs_command_add(command, is_cohort ? cohort[i] : peer[i]);
}

/* The least figure of a job: a peer may have several ways for the same. 0: none yet. */
static bool take_line(void *context, const char *text)
{
    double *least = context;
    struct bench_result result;
    if (bench_result_read(text, &result) && (*least <= 0 || result.median < *least))
        *least = result.median;
    return true;
}

/* The children inherit the cores of this process. */
bool task_peers_jobs_run(const struct task_peers_jobs *jobs, const struct task_peers_table *table,
                         struct task_peers_line *line, unsigned round)
{
    const struct task_peers_row *row = line->row;
    struct words words;
    bool is_done = true;
    snprintf(words.seconds, sizeof(words.seconds), "%g", jobs->seconds);
    snprintf(words.workers, sizeof(words.workers), "%u", row->workers);
    snprintf(words.list, sizeof(words.list), "%s:%" PRIu64, row->work,
             task_peers_size(table, line));
    if (setenv("COHORT_WORKERS", words.workers, 1))
        return false;
    bench_cores_bind(&jobs->cores, 0, row->cores);
    for (size_t i = 0; i < jobs->num_contenders; i++) {
        const struct task_peers_contender *contender =
            &jobs->contenders[(round + i) % jobs->num_contenders];
        struct programs_command command;
        double least = 0;
        compose(&command, contender, &words);
        is_done = child_run(command.args, take_line, &least) && is_done;
        if (least > 0)
            line->figures[contender->column][line->num_rounds[contender->column]++] = least;
    }
    bench_cores_bind(&jobs->cores, 0, (unsigned)CPU_COUNT(&jobs->cores));
    return is_done;
}
