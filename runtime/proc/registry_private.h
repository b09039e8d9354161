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
 * registry_join.c        what sites of this locality have under way: joins that wait; leaving
 *                        (LEAVE); revocations; which of these a death or a revocation ends
 * registry_withdraw.c    joins that wait no longer (WITHDRAW): by whom; and at this home
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
    _Atomic uint32_t num_joins;     /* of sites here */
    pthread_mutex_t lock;           /* of all below; callbacks and sends happen outside of it */
    struct cohort__list waiting;    /* joins of this locality that have no answer yet */
    struct cohort__map places;      /* the same, by name and site */
    struct cohort__map children;    /* those that end with their parent, by its instance */
    struct cohort__map revocations; /* by sites here, that have no answer yet; by instance */
    struct cohort__registry_home home;
    struct cohort__list untold;      /* memberships of which sites have left, see registry_join.c */
    struct cohort__list outbox;      /* its letters; one thread at a time sends them, in order */
    bool is_sending;                 /* somebody does */
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

/* Under the lock: moves all waiting joins to ENDED, or those that end with INSTANCE, which is
 * revoked. */
void cohort__registry_take_waiting(struct cohort__registry *registry, struct cohort__list *ended);
cohort_status cohort__registry_fail_as_over(const struct cohort__join *join);
/* A REFUSE; a MAP, from HOME. */
cohort_status cohort__registry_refused(struct cohort__registry *registry,
                                       const struct cohort__unpacked *unpacked);
cohort_status cohort__registry_mapped(struct cohort__registry *registry, uint32_t home,
                                      const struct cohort__unpacked *unpacked);

/* registry_join.c. Tells the homes what there was no memory for; forgets it. */
void cohort__registry_tell_untold(struct cohort__registry *registry);
void cohort__registry_drop_untold(struct cohort__registry *registry);

size_t cohort__join_name_bytes(const struct cohort__join *join);

/* Takes the first one out of ENDED, for the caller to call its `done`. NULL: there is none. */
struct cohort__join *cohort__registry_next_ended(struct cohort__list *ended);

/* Under the lock: moves the revocations of INSTANCE, or all if it is 0, to
 * ENDED. */
void cohort__registry_take_revocations(struct cohort__registry *registry, uint64_t instance,
                                       struct cohort__list *ended);
/* TEXT: of STATUS, if that is not COHORT_OK. */
void cohort__registry_end_revocations(struct cohort__list *ended, cohort_status status,
                                      const char *text);
/* A REVOKED. */
cohort_status cohort__registry_revoked(struct cohort__registry *registry,
                                       const struct cohort__unpacked *unpacked);

/* registry_withdraw.c. Watches the deadline and the scope of JOIN, which is about to be told to
 * HOME. *RET_PATIENCE is NULL if it has neither, and on failure; NULL is fine below.
 * COHORT_ERR_NO_MEMORY. */
cohort_status cohort__patience_create(struct cohort__patience **ret_patience,
                                      struct cohort__registry *registry,
                                      const struct cohort__join *join, uint32_t home);
/* Whether the scope is cancelled by now, and why: in COHORT__REASON_BYTES at *RET_REASON. */
enum { COHORT__REASON_BYTES = 400 };
bool cohort__patience_is_cancelled(const struct cohort__patience *patience, char *ret_reason);
/* Once, by who has created it: the home has been told of the join, or the join is over. */
void cohort__patience_joined(struct cohort__patience *patience);
/* Once: the join is over. Without the lock, since other waits of the scope may end in it. */
void cohort__patience_end(struct cohort__patience *patience);

/* A WITHDRAW, which is the BYTES at DATA. */
cohort_status cohort__registry_withdrawn(struct cohort__registry *registry, uint32_t source,
                                         const struct cohort__unpacked *unpacked, const void *data,
                                         size_t bytes);
/* The registry ends: nobody waits for those that are kept. */
void cohort__registry_drop_withdrawals(struct cohort__registry *registry);
/* Nobody waits longer than some ticks for that. */
void cohort__registry_tick_withdrawals(struct cohort__registry *registry);

#endif
