/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `--peers`: finds the programs of an MPI. */
#include "tools/bench/peers_mpi.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool peers_find_mpi(const char *self, const char *name, char ret_program[PROGRAMS_MAX_PATH])
{
    char launcher[32];
    int folder = (int)(strrchr(self, '/') - self);
    int length = snprintf(ret_program, PROGRAMS_MAX_PATH, "%.*s/peer_%s", folder, self, name);
    snprintf(launcher, sizeof(launcher), "mpirun.%s", name);
    if (length >= PROGRAMS_MAX_PATH || access(ret_program, X_OK))
        fprintf(stderr, "cohort-bench: left out: %s, since there is no %s\n", name, ret_program);
    else if (!programs_is_in_path(launcher))
        fprintf(stderr, "cohort-bench: left out: %s, since there is no %s\n", name, launcher);
    else
        return true;
    return false;
}
