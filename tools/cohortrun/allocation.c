/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the hosts that a batch system has given to this job. */
#include "tools/cohortrun/allocation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/share/child.h"

/* A step of one process on that host. It shares the processors with others, and is bound to none,
 * as it starts the localities there. */
static const char slurm_agent[] = "srun -N 1 -n 1 --overlap --cpu-bind=none --mpi=none -w {host}";

/* Names of hosts, and their slots as Slurm writes them: "2(x3),1" is 2, 2, 2 and 1. */
struct slurm {
    struct host_list *hosts;
    const char *next;   /* what is not read yet */
    unsigned num, left; /* the slots, and for how many more hosts */
};

static bool read_count(struct slurm *slurm)
{
    char *end;
    slurm->num = (unsigned)strtoul(slurm->next, &end, 10);
    slurm->left = 1;
    if (end == slurm->next || slurm->num == 0)
        return false;
    if (strncmp(end, "(x", 2) == 0) {
        slurm->left = (unsigned)strtoul(end + 2, &end, 10);
        end += *end == ')';
    }
    slurm->next = end + (*end == ',');
    return slurm->left > 0;
}

static bool take_host(void *context, const char *line)
{
    struct slurm *slurm = context;
    char text[300];
    if (slurm->left == 0 && !read_count(slurm))
        return false;
    slurm->left--;
    snprintf(text, sizeof(text), "%.*s:%u", (int)strcspn(line, "\n"), line, slurm->num);
    return host_list_parse(slurm->hosts, text) == COHORT_OK;
}

static cohort_status read_slurm(const char *list, struct host_list *hosts)
{
    static char program[] = "scontrol", show[] = "show", hostnames[] = "hostnames";
    const char *counts = getenv("SLURM_TASKS_PER_NODE");
    struct slurm slurm = {.hosts = hosts, .next = counts ? counts : "1(x4096)"};
    char *names = strdup(list);
    char *args[] = {program, show, hostnames, names, NULL};
    bool is_read = names && child_run(args, take_host, &slurm);
    free(names);
    if (is_read && hosts->num > 0)
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                       "SLURM_JOB_NODELIST is %.100s and SLURM_TASKS_PER_NODE %.100s: these are no "
                       "hosts and slots (scontrol show hostnames); --hosts would name them",
                       list, counts ? counts : "not set");
}

/* "a a b": each word is a slot. */
static cohort_status read_words(const char *words, struct host_list *hosts)
{
    char *copy = strdup(words), *rest = NULL;
    cohort_status status =
        copy ? COHORT_OK : cohort_fail(COHORT_ERR_NO_MEMORY, "hosts: out of memory");
    for (char *word = copy ? strtok_r(copy, " ", &rest) : NULL; word && !status;
         word = strtok_r(NULL, " ", &rest))
        status = host_list_parse(hosts, word);
    free(copy);
    return status;
}

/* A line is a slot. */
static cohort_status read_file(const char *path, struct host_list *hosts)
{
    return host_list_read(hosts, path);
}

cohort_status allocation_find(struct allocation *ret_allocation)
{
    static const struct {
        const char *variable, *agent;
        cohort_status (*read)(const char *value, struct host_list *hosts);
    } systems[] = {{"SLURM_JOB_NODELIST", slurm_agent, read_slurm},
                   {"PBS_NODEFILE", NULL, read_file},
                   {"LSB_HOSTS", NULL, read_words}};
    struct allocation found = {0};
    cohort_status status = COHORT_OK;
    for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]) && !found.source; i++) {
        const char *value = getenv(systems[i].variable);
        if (!value || !*value)
            continue;
        found.source = systems[i].variable;
        found.agent = systems[i].agent;
        status = systems[i].read(value, &found.hosts);
    }
    if (status)
        host_list_fini(&found.hosts);
    else
        *ret_allocation = found;
    return status;
}
