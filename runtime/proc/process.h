/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_PROCESS_H
#define COHORT_RUNTIME_PROC_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/fault.h"
#include "runtime/net/net.h"
#include "runtime/proc/arrival.h"
#include "runtime/wire/pack.h"

/* The death of a locality, as one locality reports it to another one. A locality that leaves
 * because of a death says so in its message, since this may arrive before the launcher's news.
 *
 * Deaths are ordered as the launcher has reported them, which is the same order in all localities.
 * Deaths that it has not reported (or does not number, like PMIx) come after these, in the order in
 * which this locality noticed them. */
struct cohort__envelope;
struct cohort__process;

enum { COHORT__DEATH_NOTICED = 0x40000000 };

struct cohort__death {
    uint32_t rank;
    uint32_t order; /* the launcher's, from 1; or our own, from COHORT__DEATH_NOTICED */
    char why[256];  /* "was killed by signal 9" */
};

/* Sets DEATH->why to WHY, of BYTES, shortened where it is too long. */
void cohort__death_set_why(struct cohort__death *death, const char *why, size_t bytes);

/* Appends DEATH to PACKER. The packer's status says whether that succeeded. */
void cohort__death_pack(struct cohort__packer *packer, const struct cohort__death *death);

/* Sends ENVELOPE, which says that something doesn't exist any more, to locality RANK. The first
 * death that is known here, if any, goes with it. */
void cohort__death_send(struct cohort__process *process, uint32_t rank,
                        const struct cohort__envelope *envelope);

/* Records the death that is reported in the payload of such a message. BYTES 0: there is none.
 * True: the message is ahead of the launcher, whose word is awaited, since the job goes on without
 * the dead. */
bool cohort__death_receive(struct cohort__process *process, const void *data, size_t bytes);

/* One locality, as its peers know it: its rank, its peers, its transport. A real process has one,
 * the current one. Tests may have several on one inproc hub. Any thread, unless a comment says
 * otherwise. */
struct cohort__process;

/* Localities can't be restarted yet, so there is only this incarnation. Messages of another one are
 * dropped. */
enum { COHORT__INCARNATION = 0 };

struct cohort__process_options {
    uint32_t rank;
    uint32_t size;
    uint64_t job_key;    /* messages with another key are dropped */
    uint32_t epoch;      /* of this start of the job; the same */
    size_t eager_budget; /* payload bytes that one peer may have sent eagerly; 0: the default */
    /* There is a launcher that tells deaths: only cohort__process_death_told makes a peer dead. Who
     * can't be reached, or can't go on (perhaps this locality itself), is accused: WHY goes on
     * behind its name, and AT_FAULT says that the reason lies in RANK, not in the link to it.
     * Called once for each RANK, and perhaps once more AT_FAULT; it must not wait. NULL: what this
     * locality notices is enough. */
    void (*accuse)(void *context, uint32_t rank, bool at_fault, const char *why);
    /* Sends the launcher a letter for the home of a name, which is there if the job goes on without
     * the dead. DATA is copied, and letters stay in order; it must not wait. NULL: the homes are
     * localities. */
    void (*letter)(void *context, const void *data, size_t bytes);
    /* A peer is dead, the first one: WHY names it. It must not wait. NULL: nobody wants to know. */
    void (*broken)(void *context, const char *why);
    /* The loop's thread has to call cohort__process_go_on in its next turn, and again in the turns
     * that follow while that returns true. Any thread; it must not wait. NULL: nothing is left for
     * later, however long it takes. */
    void (*more)(void *context);
    void *launcher; /* the context of these four */
    /* The faults that this locality is to have, and which stay until the process is destroyed.
     * NULL: none. */
    const struct cohort__fault *fault;
};

/* The handlers by which messages and events go up, to the communicators and to remote tasks. */
struct cohort__process_handlers {
    void *context;
    /* A message for them. ARRIVAL belongs to the handler, which has to release or keep it
     * before it returns. Called from the transport's progress: must not wait. */
    void (*message)(void *context, struct cohort__arrival *arrival);
    /* RANK is dead. Called once for each RANK. Sends to RANK end before or after that. */
    void (*peer_died)(void *context, uint32_t rank);
    /* Does some of what is left for later since cohort__process_more was called, in at most a
     * millisecond or two. Returns whether more is left. May be NULL. */
    bool (*go_on)(void *context);
    /* Called periodically, for waits that take long. NOW as cohort__clock_now. */
    void (*tick)(void *context, uint64_t now);
    /* Where memory is shared with other localities: looks at their boards (runtime/proc/boards.h).
     * Called now and then, and before this locality sleeps. True if there was something. May be
     * NULL. */
    bool (*look)(void *context);
    /* For the drain: whether anything is under way that may still send. */
    bool (*busy)(void *context);
    /* The job is over: no more messages come in or go out. Frees CONTEXT. */
    void (*stop)(void *context);
};

cohort_status cohort__process_create(struct cohort__process **ret_process,
                                     const struct cohort__process_options *options);

/* The job is over. Sends, joins and waiting fetches end with COHORT_ERR_CANCELLED, both the present
 * ones and all later ones. The handler `stop` is called. After that, the transport may be
 * destroyed. To be called when only one thread is left. */
void cohort__process_stop(struct cohort__process *process);

/* To be called after the stop. The transport must have been destroyed, or never attached. NULL is
 * fine. */
void cohort__process_destroy(struct cohort__process *process);

/* The handlers for creating this process's transport. The transport is then attached. */
struct cohort__net_handlers cohort__process_net_handlers(struct cohort__process *process);
void cohort__process_attach_net(struct cohort__process *process, struct cohort__net *net);

/* To be set before messages flow. */
void cohort__process_set_handlers(struct cohort__process *process,
                                  const struct cohort__process_handlers *handlers);

/* The `context` of the handlers that were set. */
void *cohort__process_context(const struct cohort__process *process);

/* The same for remote tasks, which get the messages of COHORT__INSTANCE_REMOTE. `look` is not
 * called. */
void cohort__process_set_remote_handlers(struct cohort__process *process,
                                         const struct cohort__process_handlers *handlers);
void *cohort__process_remote_context(const struct cohort__process *process);

/* The process that public calls use. NULL before the job has started and after it has ended. */
struct cohort__process *cohort__process_current(void);
void cohort__process_set_current(struct cohort__process *process);

uint32_t cohort__process_rank(const struct cohort__process *process);
uint32_t cohort__process_size(const struct cohort__process *process);

/* Does some of what is left to do (see `more`). Returns whether more is left. */
bool cohort__process_go_on(struct cohort__process *process);

/* Something is left to do, which the loop's thread does in later turns: `go_on` of the handlers
 * will be called; maybe before this returns. Any thread. */
void cohort__process_more(struct cohort__process *process);

/* The event loop has to call this about ten times a second. */
void cohort__process_tick(struct cohort__process *process, uint64_t now);

/* This locality has nothing left to do but to wait for the others, and no launcher will tell of
 * deaths. From now on it asks the next locality, in turn, whether it is still there, each few
 * seconds. So if a host is gone, the last one of the host before it notices. Any thread. */
void cohort__process_watch(struct cohort__process *process);

/* This locality has lost RANK: it can't be reached, or its messages are lost. WHY is text ("can't
 * be reached"). Repeated calls are harmless. RANK is accused if there is a launcher that tells
 * deaths, since this may be the consequence of another death, and since the others and the drain
 * have to know: until the launcher tells its death, what is under way to and from RANK neither goes
 * on nor ends (tests/model/loss.pml). Else RANK is dead. */
void cohort__process_peer_lost(struct cohort__process *process, uint32_t rank, const char *why);

/* RANK has sent nonsense: the same, but it is RANK that is at fault, not the link to it. */
void cohort__process_blame(struct cohort__process *process, uint32_t rank, const char *why);

/* This locality can't go on with RANK, for a reason that lies here: memory, mostly. The same, but
 * it is this locality that is accused. */
void cohort__process_give_up(struct cohort__process *process, uint32_t rank, const char *why);

/* The death was reported by the launcher. Its order and text replace what was noticed here. A death
 * of this locality itself or of an unknown one is ignored. */
void cohort__process_death_told(struct cohort__process *process, const struct cohort__death *death);

/* Whether RANK is dead. If so, sets *RET_DEATH. */
bool cohort__process_death_of(struct cohort__process *process, uint32_t rank,
                              struct cohort__death *ret_death);

/* The first death that is known here. False: none. */
bool cohort__process_first_death(struct cohort__process *process, struct cohort__death *ret_death);

/* Whether RANK is dead. If so, sets the calling task's error message to the locality and the
 * reason. */
bool cohort__process_check_dead(struct cohort__process *process, uint32_t rank);

/* Whether any locality is dead. If so, sets the error message to the first one and the reason. */
bool cohort__process_is_broken(struct cohort__process *process);

/* Whether the job goes on without localities that die. */
bool cohort__process_keeps_going(const struct cohort__process *process);

/* Whether any locality is dead. Cheap. */
bool cohort__process_any_dead(const struct cohort__process *process);

/* How often what is known of deaths has changed: 0 while there are none. It grows once the news can
 * be read, so what was found after reading it holds until it differs. Cheap. */
uint32_t cohort__process_death_news(const struct cohort__process *process);

/* The first death behind that with the order AFTER; 0: the first of all. False: there is none. */
bool cohort__process_next_death(struct cohort__process *process, uint32_t after,
                                struct cohort__death *ret_death);

/* The localities that are known to be dead, in the order of their deaths. Writes as many to
 * RET_RANKS as CAPACITY allows, and returns how many there are. */
uint32_t cohort__process_deaths(struct cohort__process *process, uint32_t *ret_ranks,
                                uint32_t capacity);

/* For the drain: the numbers of messages passed to and taken from the transport so far, except to
 * and from the dead, and whether anything is still to be sent or fetched. */
struct cohort__process_traffic {
    uint64_t sent;
    uint64_t received;
    bool busy;
};
struct cohort__process_traffic cohort__process_traffic(struct cohort__process *process);

/* The same numbers of messages, to and from all localities, also those that are dead. Any thread.
 */
void cohort__process_num_messages(const struct cohort__process *process, uint64_t *ret_sent,
                                  uint64_t *ret_received);

/* How many messages were dropped because they had another job's key or epoch, or made no sense. */
uint64_t cohort__process_dropped(const struct cohort__process *process);

#endif
