/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `--peers`: finds the programs of an MPI, and which version it is. */
#ifndef COHORT_TOOLS_BENCH_PEERS_MPI_H
#define COHORT_TOOLS_BENCH_PEERS_MPI_H

#include <stdbool.h>

#include "tools/share/json.h"
#include "tools/share/programs.h"

enum { PEERS_MAX_VERSION = 32 };

/* As the MPIs that take part tell them. "": it takes no part. */
struct peers_versions {
    char openmpi[PEERS_MAX_VERSION];
    char mpich[PEERS_MAX_VERSION];
};

/* Finds the program of the MPI NAME, peer_NAME, which is built beside this one, SELF, and is never
 * installed, and the MPI's version. False: it or mpirun.NAME is not there, and it has been printed
 * that this MPI is left out. */
bool peers_find_mpi(const char *self, const char *name, char ret_program[PROGRAMS_MAX_PATH],
                    char ret_version[PEERS_MAX_VERSION]);

/* Whether Open MPI has that component for collectives. */
bool peers_openmpi_has(const char *component);

/* A line and an empty one, if there are any; or a member "peers" of the object that is being
 * written. */
void peers_versions_print(const struct peers_versions *versions);
void peers_versions_write(const struct peers_versions *versions, struct json *json);

#endif
