/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: finds this program and cohortrun, and makes the commands of jobs. */
#ifndef COHORT_TOOLS_TUNE_PROGRAMS_H
#define COHORT_TOOLS_TUNE_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

enum { PROGRAMS_MAX_PATH = 4096, PROGRAMS_MAX_ARGS = 64 };

/* The programs that a job is started with. */
struct programs {
    char self[PROGRAMS_MAX_PATH];
    char cohortrun[PROGRAMS_MAX_PATH];
    const char *timeout; /* of a job, in seconds; two hours by default */
};

/* Finds this program and the launcher. The launcher is at LAUNCHER; if that is NULL, it is beside
 * this program. False: there is none, which has been printed. */
bool programs_find(const char *launcher, struct programs *ret_programs);

/* A command line. The words have to stay valid. */
struct programs_command {
    char *args[PROGRAMS_MAX_ARGS + 1]; /* ends with NULL */
    size_t num_args;
};

void programs_command_add(struct programs_command *command, const char *arg);

/* Begins a command of the launcher, for LOCALITIES with WORKERS each. */
void programs_command_launch(struct programs_command *command, const struct programs *programs,
                             const char *localities, const char *workers);

#endif
