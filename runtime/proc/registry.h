/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_REGISTRY_H
#define COHORT_RUNTIME_PROC_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/names/limits.h"
#include "runtime/names/numbers.h"
#include "runtime/proc/membership.h"

struct cohort__process;
struct cohort_scope;

/* The name registry: sites of any localities meet under a name. Each name has a home locality that
 * collects the joins: that of a name which a user gives is chosen by the name's hash. When all
 * sites have joined, the home gives the new group an instance number, and tells all its localities
 * which site is in which locality. When all sites have left, it tells them that, too. Each locality
 * hears all of that in the order in which the home has decided it. The registry of a locality does
 * both: it connects its sites with the homes, and it is the home of some names. If the job goes on
 * without the dead, cohortrun is the home of all names, except of those of children within a
 * locality: it does not die, and what it says of names has a place among the deaths that it tells,
 * the same for all. Any thread. Callbacks may come during a call, of what other threads ask, too.
 */
struct cohort__registry;

/* One site's request to join. The caller fills in the first part, and keeps the struct until `done`
 * is called. */
struct cohort__join {
    const char *name;
    /* 0: NAME ends at its 0, and its hash chooses its home. Otherwise its length: then it goes on
     * behind a 0, so that it can't be a name that a user gives, and HOME is its home. */
    size_t name_bytes;
    uint32_t home;
    /* The membership that a child's sites come from; NULL with a name of a user. If the job goes on
     * without the dead, the death of one of its localities ends the join; so does its revocation,
     * unless IS_OF_LIVING. The caller's reference. */
    struct cohort__membership *parent;
    bool is_whole; /* all sites are in this locality: its home stays here, unless IS_OF_LIVING */
    /* The sites are those of PARENT that live, of which NUM_DEAD others don't, as
     * cohort__registry_count_dead has said. When the next one dies, or has died meanwhile, the join
     * ends with COHORT_ERR_PEER_DIED. */
    bool is_of_living;
    uint32_t num_dead;
    uint32_t parent_site; /* which of PARENT's sites this is, for those who look on */
    /* There is to be no instance: when all have joined, all get the AND of their VALUES. */
    bool agrees;
    uint64_t value;
    uint32_t site;
    uint32_t num_sites;
    const char *terms; /* as text; must be exactly the same for all sites */
    /* Settings: all sites will use those of site 0, whatever the others have. At most
     * COHORT__SETTINGS_BYTES_MAX bytes, which the registry does not interpret. */
    const void *settings;
    size_t settings_bytes;
    uint64_t left_instance; /* the last instance that this site of this locality has left, or 0 */
    /* Why this site can't take part. The message (of cohort_fail) is then in `terms`, the joins of
     * all sites fail with it, and there is no instance. COHORT_OK: it can take part. */
    cohort_status failed;
    /* It ends with COHORT_ERR_TIMEOUT if not all have joined so many nanoseconds after it was given
     * to _join, and with COHORT_ERR_CANCELLED when SCOPE is cancelled: so do those of all sites
     * that have joined with it by then, or join later. 0, NULL: it waits. SCOPE is used by _join
     * only, which takes a reference. */
    uint64_t deadline;
    struct cohort_scope *scope;
    const void *future; /* that completes then, for those who look on */
    /* MEMBERSHIP is a reference that the callee owns. It is NULL with an error, whose message is
     * set. Must not wait. */
    void (*done)(struct cohort__join *join, cohort_status status,
                 struct cohort__membership *membership);
    struct cohort__list link;         /* private to the registry */
    struct cohort__map_node node;     /* the same */
    struct cohort__map_node child;    /* the same */
    struct cohort__join_line *line;   /* the same: of the ledger, while it waits; or NULL */
    struct cohort__join_alarm *alarm; /* the same: what ends it early, while it waits; or NULL */
    uint32_t sequence;                /* the same: its number in this locality */
};

cohort_status cohort__registry_create(struct cohort__registry **ret_registry,
                                      struct cohort__process *process);
void cohort__registry_destroy(struct cohort__registry *registry); /* NULL is fine */

/* Sets the function that is called for each instance that all sites have left. It is called in the
 * localities that had a site of the instance. */
void cohort__registry_set_ended(struct cohort__registry *registry,
                                void (*ended)(void *context, uint64_t instance), void *context);

/* Sets the function that is called for each instance of which this locality knows that it will have
 * no site of it, though its sites have joined: nothing of the instance begins here. */
void cohort__registry_set_unused(struct cohort__registry *registry,
                                 void (*unused)(void *context,
                                                const struct cohort__membership *membership),
                                 void *context);

/* Sets the function that is called for each instance that a site has revoked, in all localities
 * with sites of it, and at least before the future of that site's call completes. It sets
 * `revoked_by`. It may be called again, and for instances that are not known here any more; never
 * before the joins of that instance are done. */
void cohort__registry_set_revoked(struct cohort__registry *registry,
                                  void (*revoked)(void *context, uint64_t instance, uint32_t site),
                                  void *context);

/* Sets the function that asks somebody who knows whose programs have returned, so that errors can
 * name them. It returns false if nobody does; else _returned is to be called some time. */
void cohort__registry_set_ask_returned(struct cohort__registry *registry,
                                       bool (*ask)(void *context), void *context);
/* TEXT: "0, 2-5"; empty: none. */
void cohort__registry_returned(struct cohort__registry *registry, const char *text);

void cohort__registry_join(struct cohort__registry *registry, struct cohort__join *join);

/* How many sites of MEMBERSHIP are in localities that have died, among the deaths that have ended
 * joins here. IS_DEAD, if not NULL, says of each site whether it is. The number belongs to a set of
 * sites that is the same in all localities, since all hear of the same deaths in the same order. */
uint32_t cohort__registry_count_dead(struct cohort__registry *registry,
                                     const struct cohort__membership *membership, bool *is_dead);

/* To be called when SITE, of this locality, has left the instance of MEMBERSHIP. */
void cohort__registry_leave(struct cohort__registry *registry,
                            struct cohort__membership *membership, uint32_t site);

/* SITE, of this locality, revokes the instance of MEMBERSHIP. The caller fills in the first part,
 * and keeps the struct until `done` is called: once this locality knows that it is revoked, and all
 * others are sure to hear of it. COHORT_ERR_PEER_DIED, COHORT_ERR_CANCELLED, or why the registry is
 * broken, with a message. */
struct cohort__revocation {
    const struct cohort__membership *membership;
    uint32_t site;
    void (*done)(struct cohort__revocation *revocation, cohort_status status); /* must not wait */
    struct cohort__map_node node; /* private to the registry */
    struct cohort__list link;     /* the same */
};
void cohort__registry_revoke(struct cohort__registry *registry,
                             struct cohort__revocation *revocation);

/* This locality does not use the notes of MEMBERSHIP's instance any more, and has cleared its own;
 * or it will not use them. */
void cohort__registry_return(struct cohort__registry *registry,
                             const struct cohort__membership *membership);

/* To be called at every tick. One thread at a time. */
void cohort__registry_tick(struct cohort__registry *registry);

/* For the router. */
void cohort__registry_message(struct cohort__registry *registry, uint32_t source, const void *data,
                              size_t bytes);
/* A message of SOURCE is lost here; or, if that is this locality, what it had to say. STATUS and
 * the error that is set say why. */
void cohort__registry_lost(struct cohort__registry *registry, uint32_t source,
                           cohort_status status);
void cohort__registry_peer_died(struct cohort__registry *registry, uint32_t rank);

/* The job is over: waiting joins end with COHORT_ERR_CANCELLED, and so do all later ones. */
void cohort__registry_stop(struct cohort__registry *registry);

struct cohort__registry *cohort__process_registry(struct cohort__process *process);

#endif
