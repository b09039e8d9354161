/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers`: finds which transports and MPIs there are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/peers_jobs.h"
#include "tools/bench/peers_mpi.h"
#include "tools/share/child.h"

static struct peers_contender *add(struct peers_jobs *jobs, const char *name, const char *net,
                                   enum peers_column column)
{
    struct peers_contender *contender = &jobs->contenders[jobs->num_contenders++];
    *contender = (struct peers_contender){.name = name, .net = net, .column = column};
    return contender;
}

/* Whether this build can use NET here. Tries it by a job that does nothing. */
static bool has_net(const struct peers_jobs *jobs, const char *net)
{
    static const char *const args[] = {"--json", "--works", "nothing:0", "coll"};
    struct programs_command command;
    programs_command_begin(&command, &jobs->programs, "2", "1");
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
        programs_command_add(&command, args[i]);
    return setenv("COHORT_NET", net, 1) == 0 && child_succeeds(command.args);
}

/* Finds COHORT_NET alone if it is set. If it is wrong, the first job says so. */
static bool find_nets(struct peers_jobs *jobs)
{
    static const char *const nets[] = {"shm", "ofi"};
    const char *given = getenv("COHORT_NET");
    if (given && *given) {
        for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++)
            if (strcmp(given, nets[i]) == 0)
                given = nets[i]; /* stays when the environment changes */
        add(jobs, NULL, given, PEERS_COHORT);
        return true;
    }
    for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++)
        if (has_net(jobs, nets[i]))
            add(jobs, NULL, nets[i], PEERS_COHORT + (enum peers_column)jobs->num_contenders);
    if (jobs->num_contenders == 0)
        fputs("cohort-bench: no job of Cohort succeeds here\n", stderr);
    return jobs->num_contenders > 0;
}

/* False: it is left out. */
static bool add_mpi(struct peers_jobs *jobs, const char *name, enum peers_column column,
                    char ret_version[PEERS_MAX_VERSION])
{
    char program[PROGRAMS_MAX_PATH];
    if (!peers_find_mpi(jobs->programs.self, name, program, ret_version))
        return false;
    memcpy(add(jobs, name, NULL, column)->program, program, sizeof(program));
    return true;
}

/* Of Open MPI 5 and 6, which has been added last. */
static void add_components(struct peers_jobs *jobs)
{
    static const char *const acoll[] = {"--mca", "coll_acoll_priority", "100", NULL};
    static const char *const ucc[] = {
        "--mca", "coll_ucc_enable", "1", "--mca", "coll_ucc_priority", "100", NULL};
    static const char *const xhc[] = {"--mca", "coll_xhc_priority", "100", NULL};
    static const struct {
        const char *name;
        const char *const *words;
        enum peers_column column;
    } components[] = {
        {"acoll", acoll, PEERS_ACOLL}, {"ucc", ucc, PEERS_UCC}, {"xhc", xhc, PEERS_XHC}};
    const struct peers_contender *openmpi = &jobs->contenders[jobs->num_contenders - 1];
    for (size_t i = 0; i < sizeof(components) / sizeof(components[0]); i++) {
        if (!peers_openmpi_has(components[i].name))
            continue;
        struct peers_contender *contender = add(jobs, openmpi->name, NULL, components[i].column);
        contender->component = components[i].words;
        memcpy(contender->program, openmpi->program, sizeof(contender->program));
    }
}

double peers_jobs_seconds(const struct bench_options *options)
{
    static const double default_seconds = 0.08, quick_seconds = 0.001;
    if (options->seconds > 0)
        return options->seconds;
    return options->quick ? quick_seconds : default_seconds;
}

bool peers_jobs_init(struct peers_jobs *jobs, const struct bench_options *options)
{
    *jobs =
        (struct peers_jobs){.seconds = peers_jobs_seconds(options), .is_fresh = options->is_fresh};
    if (!programs_find(options->cohortrun, &jobs->programs))
        return false;
    jobs->programs.timeout = peers_timeout;
    if (setenv("MPIEXEC_TIMEOUT", peers_timeout, 1) || !find_nets(jobs))
        return false;
    if (add_mpi(jobs, "openmpi", PEERS_OPENMPI, jobs->versions.openmpi))
        add_components(jobs);
    add_mpi(jobs, "mpich", PEERS_MPICH, jobs->versions.mpich);
    jobs->has_pingpong = programs_is_in_path("fi_pingpong");
    if (!jobs->has_pingpong)
        fputs("cohort-bench: left out: fi_pingpong, which is not there\n", stderr);
    return true;
}
