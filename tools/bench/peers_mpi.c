/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `--peers`: finds the programs of an MPI, and which version it is. */
#include "tools/bench/peers_mpi.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/share/child.h"

/* Open MPI says "mpirun (Open MPI) 5.0.7" first, 4.1 calls it OpenRTE, MPICH " Version:      4.0.2"
 * in some line. */
static bool take_version(void *context, const char *line)
{
    static const char *const before[] = {"(Open MPI) ", "(OpenRTE) ", "Version:"};
    char *version = context;
    for (size_t i = 0; !*version && i < sizeof(before) / sizeof(before[0]); i++) {
        const char *found = strstr(line, before[i]);
        if (found)
            sscanf(found + strlen(before[i]), " %31[^ \n]", version);
    }
    return true;
}

static void find_version(char *launcher, char ret_version[PEERS_MAX_VERSION])
{
    char option[] = "--version";
    char *args[] = {launcher, option, NULL};
    ret_version[0] = '\0';
    if (!child_run(args, take_version, ret_version) || !ret_version[0])
        snprintf(ret_version, PEERS_MAX_VERSION, "of some version");
}

bool peers_find_mpi(const char *self, const char *name, char ret_program[PROGRAMS_MAX_PATH],
                    char ret_version[PEERS_MAX_VERSION])
{
    char launcher[32];
    int folder = (int)(strrchr(self, '/') - self);
    int length = snprintf(ret_program, PROGRAMS_MAX_PATH, "%.*s/peer_%s", folder, self, name);
    snprintf(launcher, sizeof(launcher), "mpirun.%s", name);
    if (length >= PROGRAMS_MAX_PATH || access(ret_program, X_OK))
        fprintf(stderr, "cohort-bench: left out: %s, since there is no %s\n", name, ret_program);
    else if (!programs_is_in_path(launcher))
        fprintf(stderr, "cohort-bench: left out: %s, since there is no %s\n", name, launcher);
    else {
        find_version(launcher, ret_version);
        return true;
    }
    return false;
}

struct search {
    char line[64]; /* how it begins */
    bool is_found;
};

static bool take_component(void *context, const char *line)
{
    struct search *search = context;
    search->is_found |= strncmp(line, search->line, strlen(search->line)) == 0;
    return true;
}

bool peers_openmpi_has(const char *component)
{
    char program[] = "ompi_info", option[] = "--parsable";
    char *args[] = {program, option, NULL};
    struct search search = {.is_found = false};
    snprintf(search.line, sizeof(search.line), "mca:coll:%s:version:", component);
    return programs_is_in_path(program) && child_run(args, take_component, &search) &&
           search.is_found;
}

void peers_versions_print(const struct peers_versions *versions)
{
    const bool both = versions->openmpi[0] && versions->mpich[0];
    if (versions->openmpi[0])
        printf("Open MPI %s%s", versions->openmpi, both ? ", " : "\n\n");
    if (versions->mpich[0])
        printf("MPICH %s\n\n", versions->mpich);
}

void peers_versions_write(const struct peers_versions *versions, struct json *json)
{
    json_begin(json, "peers", '{');
    if (versions->openmpi[0])
        json_text(json, "openmpi", versions->openmpi);
    if (versions->mpich[0])
        json_text(json, "mpich", versions->mpich);
    json_end(json, '}');
}
