/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_REGISTRY_H
#define COHORT_RUNTIME_PROC_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/list.h"
#include "runtime/base/map.h"

struct cohort__process;

/* The name registry: sites, wherever they live, meet under a name. Each name has a home locality,
 * chosen by its hash, that collects the joins and, when all have come, gives the new group an
 * instance number and tells everybody who sits where. When all sites have left, it tells that, too.
 * A locality's registry is both: its sites' way to the homes, and the home of some names. Any
 * thread; callbacks may come during a call. */
struct cohort__registry;

enum { COHORT__NAME_BYTES_MAX = 255, COHORT__SETTINGS_BYTES_MAX = 9216 };

/* Who sits where in one instance; counted, and shared by the sites of a locality. */
struct cohort__membership {
    uint64_t instance;
    uint32_t num_sites;
    _Atomic uint32_t refs;
    void *settings; /* those that site 0 has joined with; NULL if there were none */
    size_t settings_bytes;
    uint32_t locality_of[]; /* by site */
};
void cohort__membership_ref(struct cohort__membership *membership);
void cohort__membership_unref(struct cohort__membership *membership); /* NULL is fine */

/* One site's wish to join. The caller fills in the first part and keeps it until `done`. */
struct cohort__join {
    const char *name;
    uint32_t site;
    uint32_t num_sites;
    const char *terms; /* in words; must be the same for all sites, to the letter */
    /* What all are to use as site 0 has it, whatever the others have: at most
     * COHORT__SETTINGS_BYTES_MAX bytes that mean nothing to the registry. */
    const void *settings;
    size_t settings_bytes;
    uint64_t left_instance; /* the last one that this site of this locality has left, or 0 */
    /* Why this site can't take part, with a message of cohort_fail in TERMS: then all that join are
     * told so, and nothing comes of it. COHORT_OK: it can. */
    cohort_status failed;
    /* MEMBERSHIP is a reference for the callee; NULL with an error, whose message is set. Must not
     * wait. */
    void (*done)(struct cohort__join *join, cohort_status status,
                 struct cohort__membership *membership);
    struct cohort__list link;     /* private to the registry */
    struct cohort__map_node node; /* likewise */
};

cohort_status cohort__registry_create(struct cohort__registry **ret_registry,
                                      struct cohort__process *process);
void cohort__registry_destroy(struct cohort__registry *registry); /* NULL is fine */

/* Called for each instance all of whose sites have left, in the localities that had one. */
void cohort__registry_set_ended(struct cohort__registry *registry,
                                void (*ended)(void *context, uint64_t instance), void *context);

void cohort__registry_join(struct cohort__registry *registry, struct cohort__join *join);

/* SITE, of this locality, has left INSTANCE of NAME. */
void cohort__registry_leave(struct cohort__registry *registry, const char *name, uint64_t instance,
                            uint32_t site);

/* For the router. */
void cohort__registry_message(struct cohort__registry *registry, uint32_t source, const void *data,
                              size_t bytes);
/* A message of SOURCE is lost here, as STATUS and the error that is set say. */
void cohort__registry_lost(struct cohort__registry *registry, uint32_t source,
                           cohort_status status);
void cohort__registry_peer_died(struct cohort__registry *registry); /* the process is broken */

/* The job is over: joins that wait end with COHORT_ERR_CANCELLED, and so do all later ones. */
void cohort__registry_stop(struct cohort__registry *registry);

struct cohort__registry *cohort__process_registry(struct cohort__process *process);

#endif
