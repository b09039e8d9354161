/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: which processors each locality of this host is bound to. */
#ifndef COHORT_TOOLS_COHORTRUN_BINDING_H
#define COHORT_TOOLS_COHORTRUN_BINDING_H

#include <stdbool.h>
#include <stdint.h>

#include <hwloc.h>

#include "cohort/status.h"
#include "runtime/launch/binding.h"

enum binding_mode {
    BINDING_AUTO, /* BINDING_CORE if the job is made for most of the host, else BINDING_NONE */
    BINDING_CORE,
    BINDING_NUMA,
    BINDING_NONE,
    NUM_BINDING_MODES,
};

/* What the user wants. */
struct binding_wish {
    enum binding_mode mode;
    uint32_t workers; /* of each locality; 0: as the environment says, or as many as it has cores */
    bool report;      /* say on standard error where each is */
};

/* Null: localities are not bound. */
struct bindings;

/* Finds processors for NUM localities among those that this process may use. Asks hwloc only if
 * they are bound. COHORT_ERR_BAD_PARAMETER: they are to have cores of their own, and there are not
 * enough; COHORT_ERR_SYSTEM, COHORT_ERR_NO_MEMORY. */
cohort_status bindings_create(struct bindings **ret_bindings, const struct binding_wish *wish,
                              uint32_t num);
void bindings_destroy(struct bindings *bindings);

/* Binds the calling thread, which is about to start locality INDEX, and tells what the value of
 * COHORT_BINDING is there: "" if it is not bound. */
cohort_status bindings_enter(const struct bindings *bindings, uint32_t index,
                             char ret_variable[COHORT__BINDING_BYTES]);

/* The thread may use all processors again that it could before. */
void bindings_leave(const struct bindings *bindings);

/* A line for each of NUM localities, the first of which has the rank FIRST, on standard error. */
void bindings_report(const struct bindings *bindings, uint32_t first, uint32_t num);

/* The processors, of those ALLOWED in TOPOLOGY, of the NUM localities, of which each has so many
 * THREADS. SETS are of the caller. Returns false if BINDING_CORE can't give each its own. */
bool bindings_plan(hwloc_bitmap_t *sets, uint32_t num, enum binding_mode mode, unsigned threads,
                   hwloc_topology_t topology, hwloc_const_bitmap_t allowed);

/* Whether BINDING_AUTO binds NUM localities of so many THREADS to NUM_PROCESSORS. */
bool bindings_are_worth_it(uint32_t num, unsigned threads, unsigned num_processors);

#endif
