/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TOOLS_COHORTRUN_LOCALITY_H
#define COHORT_TOOLS_COHORTRUN_LOCALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

struct cohort__loop;
struct output;
struct options;

/* One program with its guardian and the connections to both: what of a job there is once for each
 * locality. It tells the job what happened; what follows from that is the job's. */
struct locality {
    struct job *job;
    const struct locality_handlers *handlers;
    uint32_t rank;
    int pid; /* of the program; 0: not known yet */
    struct cohort__child *guardian;
    struct cohort__stream *link;
    struct cohort__stream *control;
    int status; /* as from waitpid, or errno; see `end` */
    enum locality_end {
        LOCALITY_RUNS,
        LOCALITY_NOT_STARTED, /* status: errno */
        LOCALITY_ENDED,       /* status: as from waitpid */
        LOCALITY_LOST,        /* its guardian has ended without a report */
    } end;
    bool guardian_ended;
    bool control_ended;
    unsigned num_outputs; /* open */
    bool judged;          /* by the job */
};

/* What all localities are started with. */
struct locality_common {
    struct cohort__loop *loop;
    struct output *output;
    const struct options *options;
    int null;             /* /dev/null, for standard input */
    uint64_t descriptors; /* the limit that the program gets */
};

/* Callbacks into the job. */
struct locality_handlers {
    void (*control_arrived)(struct locality *locality, const void *message, size_t bytes);
    /* Something of the locality has ended: itself, a connection, or its guardian. */
    void (*changed)(struct locality *locality);
};

/* RANK and JOB are set. On failure nothing of it is left, and it counts as not started. */
cohort_status locality_start(struct locality *locality, const struct locality_common *common,
                             const struct locality_handlers *handlers);

/* Sends SIGNAL to the program's group; SIGKILL: ends everything that belongs to the locality. */
void locality_signal(struct locality *locality, int signal);

void locality_send_control(struct locality *locality, const void *message, size_t bytes);

/* All that can be known of its end is known. */
bool locality_is_settled(const struct locality *locality);

/* Nothing of it is left here. */
bool locality_is_gone(const struct locality *locality);

/* A sentence: "locality 2 (pid 123) was killed by signal 9 (Killed)". */
void locality_describe(const struct locality *locality, char *text, size_t bytes);

/* The status that a shell would show, 0 to 255. */
int locality_exit_status(const struct locality *locality);

void locality_close(struct locality *locality);

#endif
