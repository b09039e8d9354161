/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_BOOTSTRAP_PRIVATE_H
#define COHORT_RUNTIME_LAUNCH_BOOTSTRAP_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/loop/loop.h"
#include "runtime/launch/bootstrap.h"
#include "runtime/launch/control.h"
#include "runtime/launch/drain.h"
#include "runtime/task/scheduler.h"

/* A way of starting a program. Unless it says otherwise, the functions
 * are called by the loop's holder. */
struct cohort__bootstrap_way {
    /* Returns after cohort__bootstrap_store_addresses was called, or with an error. */
    cohort_status (*exchange)(struct cohort__bootstrap *bootstrap, const void *address,
                              size_t bytes);
    void (*finished)(struct cohort__bootstrap *bootstrap);
    /* Asks which programs have returned; NULL: nobody knows. */
    void (*ask_returned)(struct cohort__bootstrap *bootstrap);
    void (*counted)(struct cohort__bootstrap *bootstrap); /* the counts are in `counts` */
    void (*failed)(struct cohort__bootstrap *bootstrap, const char *text);
    /* As cohort__bootstrap_broken, in any thread. NULL: the launcher finds out by itself. */
    void (*broken)(struct cohort__bootstrap *bootstrap, const char *why);
    /* As cohort__bootstrap_abort, in any thread. NULL: there is nobody to tell. */
    bool (*abort)(struct cohort__bootstrap *bootstrap, int code, const char *reason);
    /* NULL: the launcher tells no deaths. */
    void (*accuse)(struct cohort__bootstrap *bootstrap, uint32_t rank, bool at_fault,
                   const char *why);
    void (*letter)(struct cohort__bootstrap *bootstrap, const void *data, size_t bytes);
    /* The last call. Leaves the job, properly if `released`, and frees BOOTSTRAP. */
    void (*close)(struct cohort__bootstrap *bootstrap);
};

/* The part that all ways have in common. Each way has it as the first member of its own struct. */
struct cohort__bootstrap {
    const struct cohort__bootstrap_way *way;
    struct cohort__loop *loop;
    struct cohort__bootstrap_handlers handlers;
    struct cohort__bootstrap_job job;
    _Atomic uint64_t grace;          /* ns; used if the launcher has no grace of its own */
    struct cohort__hub *hub;         /* NULL after it was taken */
    struct cohort__bytes *addresses; /* in one block with their bytes; NULL: not yet */
    bool exchanged;                  /* cohort__bootstrap_exchange was called */
    bool released;
    bool closing; /* no handler is called any more */

    struct cohort__loop_request finished;
    struct cohort__loop_request ask_returned;
    atomic_bool is_asking_returned;   /* the request is queued */
    struct cohort__loop_request poor; /* says that there is no memory for an accusation */
    atomic_bool is_poor;              /* that request is queued, or was */
    struct cohort__loop_request counted;
    bool is_counting; /* that request is queued */
    struct {
        uint64_t round;
        uint64_t sent;
        uint64_t received;
        bool busy;
    } counts; /* only one answer is asked for at a time */

    /* For jobs in which no launcher runs the drain; see bootstrap.c. */
    struct cohort__drain drain;
    struct cohort__timer pause;
    bool pausing;
};

/* They allocate the bootstrap, and fill in the rank, the size and the place. On failure nothing
 * stays allocated. */
cohort_status cohort__bootstrap_open_alone(struct cohort__bootstrap **ret_bootstrap);
/* ENVIRONMENT is the value of COHORT_CONTROL_FD. */
cohort_status cohort__bootstrap_open_launcher(struct cohort__bootstrap **ret_bootstrap,
                                              const char *environment);
/* Tells that launcher why no bootstrap is opened. */
void cohort__bootstrap_refuse_launcher(const char *environment, const char *why);
cohort_status cohort__bootstrap_open_pmix(struct cohort__bootstrap **ret_bootstrap);
/* Ends the job, since no bootstrap is opened: why is in the error slot. Returns if that is not
 * possible. */
void cohort__bootstrap_refuse_pmix(void);

/* Copies the addresses of all localities. SIZE is their number. */
cohort_status cohort__bootstrap_store_addresses(struct cohort__bootstrap *bootstrap,
                                                const struct cohort__bytes *addresses,
                                                uint32_t size);

/* Begins a round of the drain: asks this locality for its counts. */
void cohort__bootstrap_round_begin(struct cohort__bootstrap *bootstrap);
/* Takes one locality's answer. After the last answer, either returns true, since no message can
 * come any more, or begins the next round after a pause. */
bool cohort__bootstrap_round_answer(struct cohort__bootstrap *bootstrap, uint64_t sent,
                                    uint64_t received, bool busy);

/* Allows the exit. */
void cohort__bootstrap_release(struct cohort__bootstrap *bootstrap);

#endif
