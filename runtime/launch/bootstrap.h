/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_BOOTSTRAP_H
#define COHORT_RUNTIME_PROC_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

struct cohort__hub;
struct cohort__loop;

/* A locality's half of the control protocol (launch/control.h): who am I, how many are we, where
 * are the others, may I leave, who has died. A program that another launcher has started learns the
 * same through PMIx; one started without any is a job of one. The interface is the same.
 *
 * The order of things: create (rank, size, key, epoch, workers and the place are known from then
 * on), exchange (addresses), then the job; finished; count_asked is answered by report_counts, as
 * often as it is asked; exit_allowed; destroy. */
struct cohort__bootstrap;

/* Called by the loop's holder, and not before the exchange has the addresses. They only enqueue, as
 * all callbacks of the loop. */
struct cohort__bootstrap_handlers {
    void *context;
    /* Every locality has finished. Answer with cohort__bootstrap_report_counts, now or later. */
    void (*count_asked)(void *context, uint64_t round);
    /* No message is under way any more, and none can come. Once. */
    void (*exit_allowed)(void *context);
    /* Locality RANK has ended without leaving the job, as the ORDERth one (0: the launcher does not
     * number them); TEXT says how. The launcher ends this locality as well after its grace. Once
     * for each rank. */
    void (*died)(void *context, uint32_t rank, uint32_t order, const char *text);
    /* The control connection broke: the launcher has died, or what it sent made no sense. Not
     * after exit_allowed. Once. */
    void (*launcher_lost)(void *context, const char *text);
};

/* Reads the environment, and with a launcher waits for its welcome. LOOP and what HANDLERS' context
 * points to have to outlive it. Called before other threads exist (it changes the environment, so
 * that programs started by this one do not take part in the job). Holder only. */
cohort_status cohort__bootstrap_create(struct cohort__bootstrap **ret_bootstrap,
                                       struct cohort__loop *loop,
                                       const struct cohort__bootstrap_handlers *handlers);

/* Says good-bye if the job has ended well, and closes the connection; no handler is called from now
 * on. Without exit_allowed before, the launcher will take it for a death. Holder only, with no
 * other thread calling anything here any more. NULL is fine. */
void cohort__bootstrap_destroy(struct cohort__bootstrap *bootstrap);

/* How long this locality may go on once the job is broken, where the launcher doesn't see to that;
 * a second, unless that is said. Before the exchange. */
void cohort__bootstrap_set_grace(struct cohort__bootstrap *bootstrap, uint64_t nanoseconds);

/* Tells the others where this locality is reached, and runs the loop (cohort__loop_run) until their
 * addresses have come. COHORT_ERR_PEER_DIED, COHORT_ERR_NETWORK. Holder only, once. */
cohort_status cohort__bootstrap_exchange(struct cohort__bootstrap *bootstrap, const void *address,
                                         size_t bytes);

uint32_t cohort__bootstrap_rank(const struct cohort__bootstrap *bootstrap);
uint32_t cohort__bootstrap_size(const struct cohort__bootstrap *bootstrap);
/* The job's random number, the same everywhere. */
uint64_t cohort__bootstrap_key(const struct cohort__bootstrap *bootstrap);
/* 1, and more for programs that run one after the other under the same launcher. */
uint32_t cohort__bootstrap_epoch(const struct cohort__bootstrap *bootstrap);
/* Workers that this locality was told to start; 0: it may choose. */
uint32_t cohort__bootstrap_workers(const struct cohort__bootstrap *bootstrap);
/* Whether there is one; then what is reported as failure gets printed. */
bool cohort__bootstrap_has_launcher(const struct cohort__bootstrap *bootstrap);

/* Whether the launcher tells of each death, soon and in the same order everywhere. */
bool cohort__bootstrap_tells_deaths(const struct cohort__bootstrap *bootstrap);
/* Localities of the job on this host, this one included. */
uint32_t cohort__bootstrap_sharing(const struct cohort__bootstrap *bootstrap);
/* Whether the launcher may have bound each of those to cores of its own. */
bool cohort__bootstrap_may_bind(const struct cohort__bootstrap *bootstrap);
/* This locality's place among those, from 0; their ranks follow each other. */
uint32_t cohort__bootstrap_slot(const struct cohort__bootstrap *bootstrap);
/* Hosts of the job, and which of them this one is, from 0. */
uint32_t cohort__bootstrap_num_hosts(const struct cohort__bootstrap *bootstrap);
uint32_t cohort__bootstrap_host(const struct cohort__bootstrap *bootstrap);
/* The local network address, in digits, at which the job's other hosts reach this one; of the
 * loopback interface where there are none. Valid until destroy. */
const char *cohort__bootstrap_host_address(const struct cohort__bootstrap *bootstrap);
/* What the localities of this host share, the caller's from now on; NULL where there is nothing.
 * Once. */
struct cohort__hub *cohort__bootstrap_take_hub(struct cohort__bootstrap *bootstrap);
/* After the exchange: the bytes that RANK gave; valid until destroy. */
const void *cohort__bootstrap_address(const struct cohort__bootstrap *bootstrap, uint32_t rank,
                                      size_t *ret_bytes);

/* The following queue a request, and may be called by any thread. */

/* This locality's program has returned; it goes on serving the others until exit_allowed. Once. */
void cohort__bootstrap_finished(struct cohort__bootstrap *bootstrap);

/* Messages sent to and received from other localities (or itself, if that is counted at both ends)
 * since the start, and whether something here may still send without having received anything. */
void cohort__bootstrap_report_counts(struct cohort__bootstrap *bootstrap, uint64_t round,
                                     uint64_t sent, uint64_t received, bool busy);

/* Why this locality is going to end; the launcher prints it. TEXT is copied. */
void cohort__bootstrap_report_failure(struct cohort__bootstrap *bootstrap, const char *text);

#endif
