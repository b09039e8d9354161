/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: the command line. */
#ifndef COHORT_TOOLS_TUNE_OPTIONS_H
#define COHORT_TOOLS_TUNE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the samples are printed instead of a file, and which are measured. */
enum tune_samples_of {
    TUNE_SAMPLES_NO,
    TUNE_SAMPLES_TASKS,
    TUNE_SAMPLES_LOCALITIES,
    TUNE_SAMPLES_HOSTS,
};

struct tune_options {
    const char *output;    /* NULL: the default place */
    bool print;            /* to standard output, and to no file */
    uint32_t seconds;      /* that measuring may take */
    uint32_t max_sites;    /* of a communicator */
    uint32_t localities;   /* of the largest job that it starts on this host; 0: it starts none */
    const char *hosts;     /* on which it starts jobs; NULL: on none */
    const char *listen;    /* for cohortrun, with hosts; NULL: not said */
    const char *agent;     /* the same */
    const char *cohortrun; /* to start jobs with; NULL: the one beside this program */
    enum tune_samples_of samples;
};

/* Whether it starts jobs, instead of measuring in the one that it is in. */
bool tune_options_start_jobs(const struct tune_options *options);

/* Reads the command line. Returns -1 to go on. Else it has printed why, and returns the status to
 * exit with. */
int tune_options_read(int argc, char **argv, struct tune_options *ret_options);

#endif
