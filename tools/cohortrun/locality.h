/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: one locality: its program, its control connection, its output. */
#ifndef COHORT_TOOLS_COHORTRUN_LOCALITY_H
#define COHORT_TOOLS_COHORTRUN_LOCALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/cohortrun/binding.h"
#include "tools/cohortrun/guarded.h"
#include "tools/cohortrun/output.h"
#include "tools/cohortrun/timer.h"

struct cohort__ending;
struct cohort__hub;
struct cohort__loop;

/* The process that has joined the job.
 *
 * A guardian knows how the process ends that it has started. If that is a script, the program which
 * joins the job is a process below it, whose end only the script learns, and the script may go on.
 * So that process is watched from its HELLO to its BYE. It says its number itself. One that is not
 * below the guardian's (it has a process namespace of its own, say) can't be watched, and then its
 * end is noticed when the script ends. */
struct member {
    struct cohort__loop *loop;
    int said;                      /* its pid, since its HELLO; 0: none has joined */
    int lost;                      /* that pid, if it has ended without a BYE; 0: it has not */
    struct cohort__ending *ending; /* NULL: it need not or can't be watched */
    struct timer settle;           /* until then the script may end as well, which says more */
};

struct locality;

/* How a locality is reached: here, or by the node daemon of its host. */
struct locality_ways {
    void (*signal)(struct locality *locality, int signal);
    void (*kill_guardian)(struct locality *locality);
    void (*send_control)(struct locality *locality, const void *message, size_t bytes);
    void (*output_taken)(struct locality *locality, enum output_stream stream, size_t bytes);
};

/* One program with its guardian and the connections to both: all that a job has once for each
 * locality. Its handlers are told what happens, and decide what follows. For a locality on another
 * host, which the node daemon there starts, it only holds what is known of it (host.h). */
struct locality {
    void *context;
    const struct locality_handlers *handlers;
    uint32_t rank;
    const struct locality_ways *ways;
    struct host *host;     /* the other host that it runs on; NULL: this one */
    const char *host_name; /* its name; NULL: this one */
    const char *loss;      /* why that host is lost; NULL: it is not */
    struct guarded guarded;
    struct cohort__stream *control;
    bool control_ended;
    struct member member; /* of one on another host only `lost` is known */
    unsigned num_outputs; /* open */
    char *words;          /* of the signal that it has died of, see locality_read_words; or NULL */
    bool judged;          /* by the job */
    bool is_told;         /* why it fails: a line was printed */
    char *given_up;       /* why the job has given it up, a sentence; NULL: it has not */
};

/* The open files that a locality takes in the process that starts it, at least: its control
 * connection, its outputs, and the link to its guardian. */
enum { LOCALITY_FILES = 4 };

/* What all localities are started with. */
struct locality_common {
    struct cohort__loop *loop;
    uint32_t size;        /* of the job */
    char *const *program; /* or several, see command.h */
    int input;            /* standard input of locality 0 */
    int null;             /* /dev/null, that of the others */
    uint64_t descriptors; /* the limit that the program gets */
    uint32_t files_each;  /* open files that each takes in this process, at least */
    int ledger; /* the memory of this host's localities, runtime/base/ledger.h; -1: there is none */
    struct binding_wish binding;
};

struct locality_handlers {
    void (*control_arrived)(struct locality *locality, const void *message, size_t bytes);
    /* FD, which is the receiver's, is the reading end of the program's output. */
    cohort_status (*output_opened)(struct locality *locality, enum output_stream stream, int fd);
    /* Something of the locality has ended: its program, a connection, its guardian, or the process
     * that had joined the job. Or its pid is known now. */
    void (*changed)(struct locality *locality);
};

/* A locality of this host that is not started, which counts as if it had ended. */
void locality_init(struct locality *locality, void *context, uint32_t rank);

/* Makes the hub of this host and starts NUM localities, which are all that are on this host. The
 * loop does not run yet. Each has been initialised. After a failure, those that are not
 * started count as such. Nothing of them is left, except outputs that were opened, and guardians
 * that are ending. */
cohort_status localities_start(struct locality *localities, uint32_t num,
                               const struct locality_common *common,
                               const struct locality_handlers *handlers);

/* Sends SIGNAL to the program's group; SIGKILL: ends everything that belongs to the locality. */
void locality_signal(struct locality *locality, int signal);

/* Kills a guardian that does not act. */
void locality_kill_guardian(struct locality *locality);

void locality_send_control(struct locality *locality, const void *message, size_t bytes);

/* BYTES of what it has written have been passed on. */
void locality_output_taken(struct locality *locality, enum output_stream stream, size_t bytes);

/* Whether all that can be known of its end is known. */
bool locality_is_settled(const struct locality *locality);

/* Whether nothing of it is left on this host. */
bool locality_is_gone(const struct locality *locality);

/* A sentence: "locality 2 (pid 123) on host b was killed by signal 9 (Killed)". */
void locality_describe(const struct locality *locality, char *text, size_t bytes);

/* Takes down what LOCALITY has written in SLOT of LEDGER (-1: there is none) before it was killed
 * by a signal that it has caused. */
void locality_read_words(struct locality *locality, int ledger, uint32_t slot);

/* "locality 3 (pid 77) on host b". */
void locality_name(const struct locality *locality, char *text, size_t bytes);

void locality_close(struct locality *locality);

#endif
