/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: one locality: its program, its control connection, its output. */
#ifndef COHORT_TOOLS_COHORTRUN_LOCALITY_H
#define COHORT_TOOLS_COHORTRUN_LOCALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/cohortrun/output.h"
#include "tools/cohortrun/guarded.h"

struct cohort__hub;
struct cohort__loop;

/* One program with its guardian and the connections to both: what of a job there is once for each
 * locality. It tells whoever started it what happened; what follows from that is theirs. One on
 * another host is started by the node daemon there; here it is only known (host.h). */
struct locality {
    void *context;
    const struct locality_handlers *handlers;
    uint32_t rank;
    struct host *host; /* another one, that it runs on; NULL: this one */
    struct guarded guarded;
    struct cohort__stream *control;
    bool control_ended;
    unsigned num_outputs; /* open */
    bool judged;          /* by the job */
};

/* The open files that one takes of whoever starts it, at least: its control connection, its
 * outputs, and the link to its guardian. */
enum { LOCALITY_DESCRIPTORS = 4 };

/* What all localities are started with. */
struct locality_common {
    struct cohort__loop *loop;
    uint32_t size; /* of the job */
    char *const *program;
    int input;            /* standard input of locality 0 */
    int null;             /* /dev/null, that of the others */
    uint64_t descriptors; /* the limit that the program gets */
};

struct locality_handlers {
    void (*control_arrived)(struct locality *locality, const void *message, size_t bytes);
    /* FD, which is the receiver's, is the reading end of the program's output. */
    cohort_status (*output_opened)(struct locality *locality, enum output_stream stream, int fd);
    /* Something of the locality has ended: itself, a connection, or its guardian; or its pid is
     * known now. */
    void (*changed)(struct locality *locality);
};

/* Makes the hub of this host and starts NUM localities, which are all that are here; the loop is
 * not turning. CONTEXT and RANK of each are set. On failure, those that are not started count as
 * such, and of them nothing is left but for outputs that were opened, and guardians that are
 * ending. */
cohort_status localities_start(struct locality *localities, uint32_t num,
                               const struct locality_common *common,
                               const struct locality_handlers *handlers);

/* Sends SIGNAL to the program's group; SIGKILL: ends everything that belongs to the locality. */
void locality_signal(struct locality *locality, int signal);

/* For a guardian that does not act. */
void locality_kill_guardian(struct locality *locality);

void locality_send_control(struct locality *locality, const void *message, size_t bytes);

/* BYTES of what it has written have been passed on. */
void locality_output_taken(struct locality *locality, enum output_stream stream, size_t bytes);

/* All that can be known of its end is known. */
bool locality_is_settled(const struct locality *locality);

/* Nothing of it is left here. */
bool locality_is_gone(const struct locality *locality);

/* A sentence: "locality 2 (pid 123) on host b was killed by signal 9 (Killed)". */
void locality_describe(const struct locality *locality, char *text, size_t bytes);

/* "locality 3 (pid 77) on host b". */
void locality_name(const struct locality *locality, char *text, size_t bytes);

void locality_close(struct locality *locality);

#endif
