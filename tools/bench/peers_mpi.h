/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `--peers`: finds the programs of an MPI. */
#ifndef COHORT_TOOLS_BENCH_PEERS_MPI_H
#define COHORT_TOOLS_BENCH_PEERS_MPI_H

#include <stdbool.h>

#include "tools/share/programs.h"

/* Finds the program of the MPI NAME, peer_NAME, which is built beside this one, SELF, and is never
 * installed. False: it or mpirun.NAME is not there, and it has been printed that this MPI is left
 * out. */
bool peers_find_mpi(const char *self, const char *name, char ret_program[PROGRAMS_MAX_PATH]);

#endif
