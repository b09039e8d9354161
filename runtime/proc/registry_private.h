/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_REGISTRY_PRIVATE_H
#define COHORT_RUNTIME_PROC_REGISTRY_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/names/home.h"
#include "runtime/proc/registry.h"
#include "runtime/wire/pack.h"

/* Only for the files of runtime/proc that make up the registry:
 *
 * registry.c             the registry itself, its letters, where each message goes, how it breaks
 *                        and stops; which numbers are given back (RETURN)
 * registry_join.c        joins of this locality that wait, and their answers; withdrawing them
 * registry_leave.c       sites of this locality that leave (LEAVE)
 * registry_death.c       which of these a death ends, and the view
 * registry_revocation.c  revocations by sites of this locality, and what a revocation ends here
 * registry_withdrawal.c  withdrawals at this home, while it is asked whose programs have returned
 *
 * The functions that need the lock say so: their caller holds it. All others are called without it,
 * since most of them take it or call back; only the two _fail_, _discard and the two _drop_
 * don't care. */

struct cohort__registry {
    struct cohort__process *process;
    void (*ended)(void *context, uint64_t instance);
    void *context;
    void (*revoked)(void *context, uint64_t instance, uint32_t site);
    void *revoked_context;
    void (*unused)(void *context, const struct cohort__membership *membership);
    void *unused_context;
    bool (*ask_returned)(void *context);
    void *ask_context;
    pthread_mutex_t lock;           /* of all below; callbacks and sends happen outside of it */
    struct cohort__list waiting;    /* joins of this locality that have no answer yet */
    struct cohort__map places;      /* the same, by name and site */
    struct cohort__map children;    /* those that end with their parent, by its instance */
    struct cohort__map revocations; /* by sites here, that have no answer yet; by instance */
    struct cohort__registry_home home;
    struct cohort__list untold; /* memberships of which sites have left, see registry_leave.c */
    struct cohort__list outbox; /* its letters; one thread at a time sends them, in order */
    bool is_sending;            /* somebody does */
    struct cohort__list withdrawals; /* that wait for the answer */
    unsigned num_ticks;              /* for so many ticks */
    uint32_t view;                   /* how many deaths have ended joins here */
    struct cohort__error broken;     /* why joins are not reliable any more, or COHORT_OK */
};

/* registry.c. Sends the letters of OUTBOX; one for this locality is handled at once. */
void cohort__registry_deliver(struct cohort__registry *registry, struct cohort__list *outbox);
/* Or drops them. */
void cohort__registry_discard(struct cohort__list *outbox);
/* A message for the home here. RETURNED: of a WITHDRAW. */
cohort_status cohort__registry_at_home(struct cohort__registry *registry, uint32_t source,
                                       uint64_t type, const struct cohort__unpacked *unpacked,
                                       const char *returned);

/* registry_join.c. Under the lock: JOIN waits no longer. */
void cohort__registry_remove_waiting(struct cohort__registry *registry, struct cohort__join *join);
/* Under the lock: moves all waiting joins to ENDED, or those that end with INSTANCE, which is
 * revoked. */
void cohort__registry_take_waiting(struct cohort__registry *registry, struct cohort__list *ended);
void cohort__registry_take_children(struct cohort__registry *registry, uint64_t instance,
                                    struct cohort__list *ended);
/* Set the error that JOIN ends with: SITE has revoked its parent, or the job is over. */
cohort_status cohort__registry_fail_revoked(const struct cohort__join *join, uint32_t site);
cohort_status cohort__registry_fail_as_over(const struct cohort__join *join);
/* A REFUSE; a MAP, from HOME. */
cohort_status cohort__registry_refused(struct cohort__registry *registry,
                                       const struct cohort__unpacked *unpacked);
cohort_status cohort__registry_mapped(struct cohort__registry *registry, uint32_t home,
                                      const struct cohort__unpacked *unpacked);

/* registry_leave.c. Under the lock: the last instance called NAME that SITE has left without its
 * home having been told, or 0. The other two at a tick, and when the registry ends. */
uint64_t cohort__registry_left_untold(struct cohort__registry *registry, const char *name,
                                      size_t bytes, uint32_t site);
void cohort__registry_tell_untold(struct cohort__registry *registry);
void cohort__registry_drop_untold(struct cohort__registry *registry);

/* registry_death.c. Under the lock: what cohort__registry_count_dead says. */
uint32_t cohort__registry_count_dead_in_view(const struct cohort__registry *registry,
                                             const struct cohort__membership *membership,
                                             bool *is_dead);

/* registry_revocation.c. Under the lock: moves the revocations of INSTANCE, or all if it is 0, to
 * ENDED. */
void cohort__registry_take_revocations(struct cohort__registry *registry, uint64_t instance,
                                       struct cohort__list *ended);
/* TEXT: of STATUS, if that is not COHORT_OK. */
void cohort__registry_end_revocations(struct cohort__list *ended, cohort_status status,
                                      const char *text);
/* A REVOKED. */
cohort_status cohort__registry_revoked(struct cohort__registry *registry,
                                       const struct cohort__unpacked *unpacked);

/* registry_withdrawal.c. Keeps a WITHDRAW until it is known whose programs have returned. False:
 * nobody knows that. */
bool cohort__registry_put_off(struct cohort__registry *registry, uint32_t source, const void *data,
                              size_t bytes);
/* The registry ends: nobody waits for those that are kept. */
void cohort__registry_drop_withdrawals(struct cohort__registry *registry);

#endif
