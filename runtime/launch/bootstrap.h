/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_BOOTSTRAP_H
#define COHORT_RUNTIME_LAUNCH_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/launch/binding.h"
#include "runtime/launch/control.h"

struct cohort__hub;
struct cohort__loop;

/* A locality's half of the control protocol (launch/control.h). It tells the locality its rank, the
 * size of the job, the addresses of the others, when it may leave, and who has died. If another
 * launcher has started the program, the program learns the same through PMIx. If no launcher has,
 * the program is a job of one locality. The interface is the same in all three cases.
 *
 * The order of calls: create (after this, the job is known).
 * Then exchange (of addresses). Then the job runs. Then finished. Then each count_asked is answered
 * by report_counts. Then exit_allowed, and at last destroy. */
struct cohort__bootstrap;

/* What a locality is told of its job. */
struct cohort__bootstrap_job {
    uint32_t rank;
    uint32_t size;
    uint64_t key; /* the job's random number, the same in all localities */
    /* 1; with cohortrun, programs one after the other on one connection: 1, 2, .. */
    uint32_t epoch;
    uint32_t workers; /* how many this locality is to start; 0: it may choose */
    uint32_t sharing; /* the number of localities of the job on this host, with this one */
    uint32_t slot;    /* its place among those, from 0; their ranks are consecutive */
    uint32_t num_hosts;
    uint32_t host; /* the number of this one, from 0 */
    /* The local network address, in digits, at which the job's other hosts can reach this one. If
     * there are no other hosts, that of the loopback interface. */
    char host_address[COHORT__CONTROL_MAX_HOST_ADDRESS];
    struct cohort__binding binding; /* the processors that cohortrun has bound it to */
    bool keeps_going;               /* without localities that die */
    bool has_launcher;              /* which prints the text of report_failure */
    /* The launcher reports each death, soon and in the same order to all localities. Then only
     * `died` makes a locality dead, and who can't reach one accuses it. */
    bool tells_deaths;
    bool joins_traces;    /* the launcher makes one trace of the parts that localities write */
    bool may_bind;        /* the launcher may have bound each locality to cores of its own */
    bool may_begin_again; /* there may be another bootstrap when this one is destroyed: only if it
                           * was started alone, since launchers start a locality once */
};

/* Called by the loop's holder, and not before the exchange has got the addresses. Like all
 * callbacks of the loop, they may only enqueue work. */
struct cohort__bootstrap_handlers {
    void *context;
    /* Every locality has finished. Answer with cohort__bootstrap_report_counts, now or later. */
    void (*count_asked)(void *context, uint64_t round);
    /* No message is in flight any more, and none can come. Called once. */
    void (*exit_allowed)(void *context);
    /* Locality RANK has ended without leaving the job. It was the ORDERth to do so (0: the launcher
     * does not number them). TEXT says how it has ended. After its grace, the launcher ends this
     * locality as well, unless the job keeps going. Called once for each rank. */
    void (*died)(void *context, uint32_t rank, uint32_t order, const char *text);
    /* The answer to ask_returned: TEXT lists the ranks, "0, 2-5"; empty: none. May be NULL. */
    void (*returned)(void *context, const char *text);
    /* A letter of the home of names has come, which is the launcher if the job keeps going. Letters
     * and deaths come in the order in which the launcher has sent them, which is the same for all
     * localities. DATA is valid until it returns. */
    void (*letter)(void *context, const void *data, size_t bytes);
    /* The control connection is lost: the launcher has died, or has sent something that is not
     * valid. Not called after exit_allowed. Called once. */
    void (*launcher_lost)(void *context, const char *text);
};

/* Reads the environment, and if there is a launcher, waits for its welcome. LOOP and the context of
 * HANDLERS have to outlive the bootstrap. To be called before other threads exist, since it changes
 * the environment, so that programs that this one starts do not take part in the job. Holder
 * only. */
cohort_status cohort__bootstrap_create(struct cohort__bootstrap **ret_bootstrap,
                                       struct cohort__loop *loop,
                                       const struct cohort__bootstrap_handlers *handlers);

/* Instead of a bootstrap: this locality does not take part, because of WHY, the message in the
 * error slot. cohortrun, if it has started this process, is told, and its connection is closed; the
 * error slot stays as it is. A launcher with PMIx is asked to end the job, and this process ends
 * with it. */
void cohort__bootstrap_refuse(const char *why);

/* Valid until destroy. */
const struct cohort__bootstrap_job *
cohort__bootstrap_job(const struct cohort__bootstrap *bootstrap);

/* Leaves the job properly if it has ended well, and closes the connection. From now on no handler
 * is called. If exit_allowed was not called before, the launcher takes this for a death. Holder
 * only. No other thread may call anything here any more. NULL is fine. */
void cohort__bootstrap_destroy(struct cohort__bootstrap *bootstrap);

/* Sets how long this locality may go on once the job is broken, if the launcher doesn't take care
 * of that. Without this call, a second. To be called before the exchange. */
void cohort__bootstrap_set_grace(struct cohort__bootstrap *bootstrap, uint64_t nanoseconds);

/* Sends this locality's address to the others, and waits until their addresses have come; with
 * cohortrun it runs the loop (cohort__loop_run) meanwhile. COHORT_ERR_PEER_DIED,
 * COHORT_ERR_NETWORK. Holder only, once. */
cohort_status cohort__bootstrap_exchange(struct cohort__bootstrap *bootstrap, const void *address,
                                         size_t bytes);

/* The hub that the localities of this host share. It belongs to the caller from now on. NULL if
 * there is none. Once. */
struct cohort__hub *cohort__bootstrap_take_hub(struct cohort__bootstrap *bootstrap);
/* The address that RANK has given, in *RET_BYTES bytes. Only after the exchange. Valid until
 * destroy. */
const void *cohort__bootstrap_address(const struct cohort__bootstrap *bootstrap, uint32_t rank,
                                      size_t *ret_bytes);

/* The following functions queue a request. Any thread may call them. */

/* This locality's program has returned. The locality goes on serving the others until exit_allowed.
 * Once. */
void cohort__bootstrap_finished(struct cohort__bootstrap *bootstrap);

/* Asks the launcher whose programs have returned, which it answers by `returned`, some time. False:
 * nobody knows; with PMIx, say. Only after the exchange. */
bool cohort__bootstrap_ask_returned(struct cohort__bootstrap *bootstrap);

/* By the loop's holder. After a death in the drain there may be a second question before the first
 * is answered: then only the later one is. SENT and RECEIVED are the numbers of messages to and
 * from other localities since the start. (Messages to itself may be counted as well, but then in
 * both numbers.) BUSY says whether something here may still send before it receives anything. */
void cohort__bootstrap_report_counts(struct cohort__bootstrap *bootstrap, uint64_t round,
                                     uint64_t sent, uint64_t received, bool busy);

/* Reports why this locality is going to end. The launcher prints TEXT, which is copied. */
void cohort__bootstrap_report_failure(struct cohort__bootstrap *bootstrap, const char *text);

/* Tells the launcher that this locality ends now, and that the job is to end with it, with the
 * status CODE, 1 to 255, because of REASON. Writes at once, also if nobody turns the loop: the
 * caller ends the process, and nothing else may be told from now on. Any thread, until destroy
 * begins. False: there is nobody to tell, or the connection has taken nothing for a second. */
bool cohort__bootstrap_abort(struct cohort__bootstrap *bootstrap, int code, const char *reason);

/* This locality has found that another one has died, of which the launcher has not told it; WHY
 * names it. A launcher that may never notice is asked to end the job after the grace (set_grace),
 * and this process ends with it; if its program has returned by then, and has said nothing, it says
 * why. Returns at once. Only after the exchange. */
void cohort__bootstrap_broken(struct cohort__bootstrap *bootstrap, const char *why);

/* Locality RANK, which may be this one, can't go on: WHY, which is copied, goes on behind its name.
 * AT_FAULT: the reason lies in RANK, not in the link to it. To be called only if the launcher tells
 * deaths. Without memory for it this locality can't go on, and accuses itself, which takes none
 * here. */
void cohort__bootstrap_accuse(struct cohort__bootstrap *bootstrap, uint32_t rank, bool at_fault,
                              const char *why);

/* Sends the home of names a letter, which is copied. To be called only if the job keeps going.
 * Letters of one thread stay in order. Without memory for it this locality can't go on, and accuses
 * itself. */
void cohort__bootstrap_send_letter(struct cohort__bootstrap *bootstrap, const void *data,
                                   size_t bytes);

#endif
