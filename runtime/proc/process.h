/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_PROCESS_H
#define COHORT_RUNTIME_PROC_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/net/net.h"
#include "runtime/proc/arrival.h"
#include "runtime/proc/death.h"

/* One locality, as its peers know it: its rank, its peers, its transport. A real process has one,
 * the current one; tests may have several on one inproc hub. Any thread, unless said otherwise. */
struct cohort__process;

/* No locality is started again yet; messages of another incarnation than that are dropped. */
enum { COHORT__INCARNATION = 0 };

struct cohort__process_options {
    uint32_t rank;
    uint32_t size;
    uint64_t job_key;    /* messages of other jobs are dropped */
    uint32_t epoch;      /* of this start of the job; likewise */
    size_t eager_budget; /* payload bytes that one peer may have sent unasked; 0: the default */
    /* How long a launcher may take to tell of a death that the transport has noticed already; then
     * that counts by itself. 0: there is none that tells. */
    uint64_t news_ns;
};

/* The way up, to the communicators. */
struct cohort__process_handlers {
    void *context;
    /* A message for a communicator; ARRIVAL is the handler's, to release or to keep before it
     * returns. From the drain: must not wait. */
    void (*message)(void *context, struct cohort__arrival *arrival);
    /* After all sends to RANK have ended. Once for each. */
    void (*peer_died)(void *context, uint32_t rank);
    /* Now and then, for waits that take long; NOW as cohort__clock_now. */
    void (*tick)(void *context, uint64_t now);
    /* Where memory is shared with other localities: looks at their boards (proc/board.h), now and
     * before this locality sleeps; true if there was something. May be NULL. */
    bool (*look)(void *context);
    /* Whether anything is under way that may still send; for the drain. */
    bool (*busy)(void *context);
    /* The job is over: nothing comes any more, and nothing goes out. Frees CONTEXT. */
    void (*stop)(void *context);
};

cohort_status cohort__process_create(struct cohort__process **ret_process,
                                     const struct cohort__process_options *options);

/* The job is over: sends, joins and what waits of fetches end with COHORT_ERR_CANCELLED, now and
 * from now on, and whoever set the handlers is told to stop. Then the transport may be destroyed.
 * One thread is left. */
void cohort__process_stop(struct cohort__process *process);

/* After the stop. The transport must have been destroyed, or never been attached. NULL is fine. */
void cohort__process_destroy(struct cohort__process *process);

/* The handlers for creating this process's transport, which is then attached. */
struct cohort__net_handlers cohort__process_net_handlers(struct cohort__process *process);
void cohort__process_attach_net(struct cohort__process *process, struct cohort__net *net);

/* Set before messages flow. */
void cohort__process_set_handlers(struct cohort__process *process,
                                  const struct cohort__process_handlers *handlers);

/* The context that the handlers were set with. */
void *cohort__process_context(const struct cohort__process *process);

/* The process that public calls mean; NULL before the job has started and after it has ended. */
struct cohort__process *cohort__process_current(void);
void cohort__process_set_current(struct cohort__process *process);

uint32_t cohort__process_rank(const struct cohort__process *process);
uint32_t cohort__process_size(const struct cohort__process *process);

/* To be called every tenth of a second or so by the loop. */
void cohort__process_tick(struct cohort__process *process, uint64_t now);

/* RANK is dead, WHY in words ("was killed by signal 9"), as far as this locality knows by itself.
 * Repeated calls are harmless. */
void cohort__process_peer_died(struct cohort__process *process, uint32_t rank, const char *why);

/* The same, told by the launcher or another locality: its order and words count for more than what
 * was noticed here. One of itself or of an unknown locality is ignored. */
void cohort__process_death_told(struct cohort__process *process, const struct cohort__death *death);

/* RANK can't be reached, says the transport, WHY in words. It is perhaps the consequence of another
 * death, so where a launcher tells of deaths, it is waited for (see news_ns); meanwhile what is
 * under way to and from RANK neither goes on nor ends. */
void cohort__process_peer_lost(struct cohort__process *process, uint32_t rank, const char *why);

/* Whether RANK is dead; then also sets *RET_DEATH. */
bool cohort__process_death_of(struct cohort__process *process, uint32_t rank,
                              struct cohort__death *ret_death);

/* The first death that is known here; false: none. */
bool cohort__process_first_death(struct cohort__process *process, struct cohort__death *ret_death);

/* Whether RANK is dead; then also sets the calling task's error message to who and why. */
bool cohort__process_check_dead(struct cohort__process *process, uint32_t rank);

/* Whether any locality is dead; then also sets the error message to the first one and why. */
bool cohort__process_is_broken(struct cohort__process *process);

/* Whether any locality is dead; cheap. */
bool cohort__process_any_dead(const struct cohort__process *process);

/* For the drain: messages handed to and taken from the transport so far, and whether anything is
 * still to be sent or fetched. */
struct cohort__process_traffic {
    uint64_t sent;
    uint64_t received;
    bool busy;
};
struct cohort__process_traffic cohort__process_traffic(struct cohort__process *process);

/* Messages that were dropped because they showed another job's key or epoch, or made no sense. */
uint64_t cohort__process_dropped(const struct cohort__process *process);

#endif
