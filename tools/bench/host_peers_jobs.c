/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers --hosts`: the command of each job, and reading its results. */
#include "tools/bench/host_peers_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/hosts.h"
#include "tools/bench/machine.h"
#include "tools/bench/peers_jobs.h"
#include "tools/bench/result.h"
#include "tools/share/child.h"

/* Returns where the path of an MPI's program belongs. */
static char *add(struct host_peers_jobs *jobs, enum host_peers_column column)
{
    struct host_peers_contender *contender = &jobs->contenders[jobs->num_contenders++];
    contender->column = column;
    return contender->program;
}

/* MPICH's waiting processes spin. Where they share cores, a call takes a hundred times as long. */
static void find_mpis(struct host_peers_jobs *jobs)
{
    char program[PROGRAMS_MAX_PATH];
    const struct bench_places *places = &jobs->places;
    uint32_t sites = places->hosts * places->localities * places->tasks;
    unsigned cores = bench_machine().cores;
    if (peers_find_mpi(jobs->programs.self, "openmpi", program, jobs->versions.openmpi)) {
        memcpy(add(jobs, HOST_PEERS_TUNED), program, sizeof(program));
        memcpy(add(jobs, HOST_PEERS_HAN), program, sizeof(program));
    }
    if (sites > cores)
        fprintf(stderr,
                "cohort-bench: left out: mpich, which spins, with %" PRIu32
                " processes on %u cores\n",
                sites, cores);
    else if (peers_find_mpi(jobs->programs.self, "mpich", program, jobs->versions.mpich))
        memcpy(add(jobs, HOST_PEERS_MPICH), program, sizeof(program));
}

bool host_peers_jobs_init(struct host_peers_jobs *jobs, const struct bench_options *options)
{
    *jobs = (struct host_peers_jobs){.places = options->places,
                                     .seconds = peers_jobs_seconds(options),
                                     .is_fresh = options->is_fresh};
    if (!programs_find(options->cohortrun, &jobs->programs))
        return false;
    jobs->programs.timeout = peers_timeout;
    if (setenv("MPIEXEC_TIMEOUT", peers_timeout, 1))
        return false;
    add(jobs, HOST_PEERS_COHORT);
    find_mpis(jobs);
    return true;
}

/* The words of a command that are made for it. */
struct words {
    char localities[16], ranks[16], tasks[16], seconds[32], list[1024];
    char slots[HOSTS_MAX_LIST]; /* of ranks */
    struct hosts_words launch;
};

static void compose_words(struct words *words, const struct host_peers_jobs *jobs,
                          const struct bench_places *places)
{
    uint32_t ranks = places->localities * places->tasks;
    snprintf(words->localities, sizeof(words->localities), "%" PRIu32,
             places->hosts * places->localities);
    snprintf(words->ranks, sizeof(words->ranks), "%" PRIu32, places->hosts * ranks);
    snprintf(words->tasks, sizeof(words->tasks), "%" PRIu32, places->tasks);
    snprintf(words->seconds, sizeof(words->seconds), "%g", jobs->seconds);
    hosts_list(places->hosts, ranks, words->slots);
}

/* The lines of the table that the stream's job measures, or the others. Returns how many. */
static size_t compose_list(struct words *words, const struct host_peers_table *table,
                           bool of_stream)
{
    size_t length = 0, num = 0;
    for (size_t i = 0; i < table->num_lines; i++)
        if (host_peers_row_is_stream(&table->lines[i].row) == of_stream)
            length += (size_t)snprintf(words->list + length, sizeof(words->list) - length,
                                       "%s%s:%" PRIu64, num++ ? "," : "", table->lines[i].row.work,
                                       table->lines[i].row.bytes);
    return num;
}

static void compose_cohort(struct programs_command *command, const struct host_peers_jobs *jobs,
                           const struct bench_places *places, struct words *words)
{
    const char *const args[] = {jobs->programs.self,
                                "--json",
                                "--rounds",
                                "1",
                                "--seconds",
                                words->seconds,
                                "--works",
                                words->list,
                                "--sites-per-locality",
                                words->tasks,
                                "coll"};
    programs_command_launch(command, &jobs->programs, words->localities, "1");
    hosts_launch(command, places->hosts, places->localities, &words->launch);
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
        programs_command_add(command, args[i]);
    if (jobs->is_fresh)
        programs_command_add(command, "--fresh");
}

/* Open MPI 4.1 takes HAN only where it is told to, and tuned by default. From 5 on PRRTE launches
 * it, whose parameters have names of their own. */
static void compose_openmpi(struct programs_command *command, const struct host_peers_jobs *jobs,
                            const struct host_peers_contender *contender, const struct words *words)
{
    bool is_han = contender->column == HOST_PEERS_HAN;
    bool by_prrte = strtoul(jobs->versions.openmpi, NULL, 10) >= 5;
    const char *const args[] = {"mpirun.openmpi",
                                "--host",
                                words->slots,
                                "-n",
                                words->ranks,
                                "--oversubscribe",
                                "--bind-to",
                                "none",
                                "--allow-run-as-root",
                                "--timeout",
                                peers_timeout,
                                by_prrte ? "--prtemca" : "--mca",
                                by_prrte ? "plm_ssh_agent" : "plm_rsh_agent",
                                hosts_agent,
                                by_prrte ? "--prtemca" : "--mca",
                                by_prrte ? "prte_if_include" : "oob_tcp_if_include",
                                hosts_network,
                                "--mca",
                                "btl_tcp_if_include",
                                hosts_network,
                                "--mca",
                                "mpi_yield_when_idle",
                                "1",
                                "--mca",
                                "coll_han_priority",
                                is_han ? "100" : "0",
                                contender->program,
                                words->seconds,
                                words->list,
                                "blocking"};
    *command = (struct programs_command){.num_args = 0};
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
        programs_command_add(command, args[i]);
    if (jobs->is_fresh)
        programs_command_add(command, "fresh");
}

/* MPICH's time limit is in the environment. */
static void compose_mpich(struct programs_command *command, const struct host_peers_jobs *jobs,
                          const struct host_peers_contender *contender, const struct words *words)
{
    const char *const args[] = {"mpirun.mpich", "-launcher", "rsh",        "-launcher-exec",
                                hosts_agent,    "-iface",    hosts_bridge, "-hosts",
                                words->slots,   "-n",        words->ranks, contender->program,
                                words->seconds, words->list, "blocking"};
    *command = (struct programs_command){.num_args = 0};
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
        programs_command_add(command, args[i]);
    if (jobs->is_fresh)
        programs_command_add(command, "fresh");
}

/* Where the lines of a job go. */
struct reading {
    enum host_peers_column column;
    const struct host_peers_table *table;
};

static bool take_line(void *context, const char *text)
{
    struct reading *reading = context;
    struct bench_result result;
    if (!bench_result_read(text, &result))
        return true;
    for (size_t i = 0; i < reading->table->num_lines; i++) {
        struct host_peers_line *line = &reading->table->lines[i];
        unsigned *num = &line->num_rounds[reading->column];
        if (line->row.bytes == result.bytes && strcmp(line->row.work, result.name) == 0 &&
            *num < BENCH_MAX_ROUNDS)
            line->figures[reading->column][(*num)++] = result.median;
    }
    return true;
}

static bool run_contender(const struct host_peers_jobs *jobs, const struct host_peers_table *table,
                          const struct host_peers_contender *contender, struct words *words)
{
    struct reading reading = {contender->column, table};
    struct programs_command command;
    if (contender->column == HOST_PEERS_COHORT)
        compose_cohort(&command, jobs, &jobs->places, words);
    else if (contender->column == HOST_PEERS_MPICH)
        compose_mpich(&command, jobs, contender, words);
    else
        compose_openmpi(&command, jobs, contender, words);
    return child_run(command.args, take_line, &reading);
}

/* From one host to another, with a site in each. */
static bool run_stream(const struct host_peers_jobs *jobs, const struct host_peers_table *table)
{
    const struct bench_places places = {.hosts = 2, .localities = 1, .tasks = 1};
    struct reading reading = {HOST_PEERS_COHORT, table};
    struct programs_command command;
    struct words words;
    if (compose_list(&words, table, true) == 0)
        return true;
    compose_words(&words, jobs, &places);
    compose_cohort(&command, jobs, &places, &words);
    return child_run(command.args, take_line, &reading);
}

bool host_peers_jobs_run(const struct host_peers_jobs *jobs, const struct host_peers_table *table,
                         unsigned round)
{
    struct words words;
    bool is_done = run_stream(jobs, table);
    if (compose_list(&words, table, false) == 0)
        return is_done;
    compose_words(&words, jobs, &jobs->places);
    for (size_t i = 0; i < jobs->num_contenders; i++)
        is_done = run_contender(jobs, table, &jobs->contenders[(round + i) % jobs->num_contenders],
                                &words) &&
                  is_done;
    return is_done;
}
