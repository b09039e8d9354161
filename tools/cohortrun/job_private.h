/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what the files of a job share: its state and its stages. */
#ifndef COHORT_TOOLS_COHORTRUN_JOB_PRIVATE_H
#define COHORT_TOOLS_COHORTRUN_JOB_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/launch/launcher.h"
#include "tools/cohortrun/job.h"
#include "tools/cohortrun/locality.h"
#include "tools/cohortrun/output.h"
#include "tools/cohortrun/timer.h"

struct far_piece;

/* For the files job*.c only. job_start.c starts localities and the launcher's half of the protocol.
 * job_end.c handles how all that ends, job_accusations.c who is to end. job.c handles everything
 * else; what the others do is said below.
 *
 * A job runs until all localities have ended by themselves, or until something fails. Then it is
 * ended in stages, each of which has some time. */
enum stage {
    GATHERING, /* waiting for daemons of other hosts; nothing is started before */
    RUNNING,
    GRACE,       /* members have been told of a death, and may report their errors */
    TERMINATING, /* SIGTERM */
    KILLING,     /* SIGKILL, by the guardians */
    ABANDONING,  /* guardians that don't act (stopped, say) are killed themselves */
    ABANDONED,   /* what is left to print has some time */
};

enum { JOB_STATUS_FAILED = 1, JOB_STATUS_TIMEOUT = 124, JOB_STATUS_CANNOT_START = 126 };

struct job {
    const struct options *options;
    struct cohort__loop *loop;
    struct cohort__launcher *launcher;
    struct output *output;
    struct job_status *answers;  /* to those who ask how it is; NULL: there was no memory for it */
    struct job_stall *stall;     /* looks whether anything moves; NULL: nobody does */
    struct job_stats *stats;     /* COHORT_STATS; NULL: it wants nothing */
    struct fleet *fleet;         /* other hosts; NULL: there are none */
    struct far_trace *far_trace; /* their parts of a trace; NULL: there are none */
    struct cohort__launcher_host *hosts;
    struct cohort__signals *interrupt;
    struct cohort__signals *terminate;
    struct cohort__signals *quit;
    struct timer timeout;
    struct timer next_stage;
    struct timer settle;         /* then judge what has ended, though not all is known of it */
    struct timer abandoned;      /* one that closed its connection ought to have ended by now */
    struct timer failing;        /* a program has failed, and the job ought to have ended by now */
    struct timer telling;        /* the same, and it is to be said why */
    struct timer stragglers;     /* all have ended, but their pipes are still open */
    struct timer recount;        /* the launcher's pause */
    struct timer accusation_due; /* the first of them */
    struct cohort__list accusations; /* whose time is not over, see job_accusations.c */
    struct cohort__map accusers;     /* the same, by who accuses whom */
    enum stage stage;
    struct locality *first_failing; /* whose failure is told; NULL: none has failed */
    int status;
    int judged_status; /* of the locality that is being judged */
    uint64_t last_interrupt;
    bool has_cut;       /* some locality has closed its connection, though its process goes on */
    bool owns_children; /* all children of this process are ours */
    uint64_t key;       /* of the job, once there is a launcher */
    int null;
    int ledger;           /* of this host's localities; -1: there is none */
    uint64_t descriptors; /* the limit that the programs get */
    struct locality *localities;
};

/* Ends the job with STATUS, unless it is already being ended. TEXT says why. NULL: nothing has to
 * be printed. */
void job_fail(struct job *job, int status, const char *text);

/* The same after the failure of LOCALITY, which the others may report. */
void job_break(struct job *job, const struct locality *locality, const char *text);
void job_enter_stage(struct job *job, enum stage stage);

/* Ends cohortrun if nothing is left of the job. */
void job_check_done(struct job *job);
void job_locality_changed(struct locality *locality);

/* The program of LOCALITY has failed, or its start, but its process is still there. */
void job_program_failed(struct job *job, struct locality *locality);

/* Says why the first one has failed, if any has and that was not said. What others say after that
 * is mostly what follows from it. */
void job_tell_failure(struct job *job);

/* Some locality has sent a message. If it has joined, those who can't are not waited for. */
void job_check_cut(struct job *job);

/* RANK can't go on, as BY says, perhaps of itself; AT_FAULT: for a reason that lies in RANK, not in
 * the link between them. One of the two is given up when the grace is over, unless one has ended or
 * has left by then, or is given up anyway. */
void job_accused(struct job *job, uint32_t rank, uint32_t by, bool at_fault, const char *text);

/* LOCALITY can't go on, and is given up after NANOSECONDS, unless it ends by itself. */
void job_doom(struct job *job, const struct locality *locality, uint64_t nanoseconds,
              const char *text);
void job_init_accusations(struct job *job);
void job_clear_accusations(struct job *job);

/* Whether the others go on if LOCALITY ends. Then nobody says that it is dead before its process
 * has ended. */
bool job_goes_on_without(const struct job *job, const struct locality *locality);

/* Sets up the timers that belong to the end. */
void job_init_end(struct job *job);
void job_clear_end(struct job *job);

extern const struct locality_handlers job_locality_handlers;

/* The localities of this host, whose ranks follow each other. */
void job_find_own_localities(const struct job *job, uint32_t *ret_first, uint32_t *ret_num);

/* Starts the localities of this host. A failure ends the job. */
void job_start_localities(struct job *job);
cohort_status job_start_launcher(struct job *job);

/* job_stall.c says when nothing moves in the whole job. */

/* Begins to look, once the localities have been started, if the options say so. Where there is no
 * memory for it, nothing is said, and the job goes on. */
void job_stall_open(struct job *job);

/* Something has moved that is not seen in ledgers: output was passed on, another host says so. */
void job_stall_moved(struct job *job);

/* job_stall_close: before the loop is destroyed. job_stall_destroy: after that. */
void job_stall_close(struct job *job);
void job_stall_destroy(struct job *job);

/* job_status.c answers those who ask how the job is, and asks itself. */

/* Listens at the job's name (card.h). Where that fails, nobody can ask, and the job goes on. */
void job_status_open(struct job *job);

/* job_status_close: before the loop is destroyed. Whoever still waits for an answer gets none.
 * Returns whether a child may be left, which has been killed. job_status_destroy: after that. */
bool job_status_close(struct job *job);
void job_status_destroy(struct job *job);

/* A piece of a look at a locality of HOST, which is not late. */
void job_status_take_piece(struct job *job, struct host *host, const struct far_piece *piece);

/* Prints who waits for whom: lets `cohortrun --status` do it, since the loop has other work. SHOWN
 * is called when that has ended, after two seconds at the latest. NULL is fine. If it is under way
 * already, SHOWN is called when that has ended, and with NULL it is done once more then. */
void job_status_show(struct job *job, void (*shown)(struct job *job));

/* job_trace.c makes one trace of what the localities have written with COHORT_TRACE. */

/* What COHORT_TRACE says, before anything is started. COHORT_ERR_BAD_PARAMETER. */
cohort_status job_check_trace(void);

/* For jobs on several hosts: job->far_trace, if there is a trace. COHORT_ERR_NO_MEMORY. */
cohort_status job_open_far_trace(struct job *job);

/* Both do nothing without COHORT_TRACE. When the localities of this host have ended, and their
 * ledger is still there: what is only there gets into their parts. */
void job_complete_parts(const struct job *job);

/* When nothing is left of the job: it may take long. Says on standard error what has failed, or is
 * missing. */
void job_join_trace(const struct job *job);

/* job_stats.c prints or writes what the localities have counted with COHORT_STATS. */

/* All but the first do nothing where COHORT_STATS does not want anything. The localities of this
 * host are counted here, those of others by their daemon, which
 * sends it. */

/* COHORT_ERR_SYSTEM: the file can't be written; COHORT_ERR_NO_MEMORY. */
cohort_status job_stats_open(struct job *job);

/* The localities have been started: begins to write lines, if there is a file. */
void job_stats_begin(struct job *job);

/* What the daemon of locality RANK's host has sent. False: it makes no sense. */
bool job_stats_take(struct job *job, uint32_t rank, const unsigned char *data, size_t bytes);

/* Before the loop is destroyed. */
void job_stats_close(struct job *job);

/* When the localities of this host have ended, and their ledger is still there: the last lines, or
 * the table, and who is missing. */
void job_stats_finish(struct job *job);

void job_stats_destroy(struct job *job);

#endif
