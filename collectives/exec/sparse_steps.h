/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_SPARSE_STEPS_H
#define COHORT_COLLECTIVES_EXEC_SPARSE_STEPS_H

#include "collectives/comm/blobs.h"
#include "collectives/exec/execution.h"
#include "collectives/plan/machine.h"

/* Sorts what is in bundles. The objects themselves are shared, unless the route copies. */

/* How targets are divided among slots, as a ROUTE step has it: by subgroups of LEVEL, or by
 * COHORT__BY_PLACE. FIRST is the number of the subgroup, or place, of the first slot. */
struct cohort__route {
    const struct cohort__machine *machine;
    uint32_t level;
    uint32_t first;
    bool copies;
};

/* Puts each object in the bundles at FROM, some of which may be NULL, into a bundle at TO, which
 * are NULL before, and stay so if they get nothing. Takes time in proportion to all of that.
 * COHORT_ERR_PROTOCOL: there is no slot for an object, or no such site; COHORT_ERR_NO_MEMORY. On
 * failure there may be bundles at TO, with anything in them. */
cohort_status cohort__route(const struct cohort__route *route, struct cohort__blob *const *from,
                            size_t num_from, struct cohort__blob **to, size_t num_to);

/* Orders BUNDLE, which may be NULL, by sources. COHORT_ERR_PROTOCOL: one of them is there twice. */
cohort_status cohort__route_order(struct cohort__blob *bundle);

/* Runs plans of a sparse exchange (algo/sparse.h): as in object_steps.h each byte of IN, OUT and
 * TMP stands for a slot, but what is in it is a bundle: any number of objects, each with the site
 * that it is from and the one that it is for. ROUTE steps sort them. So what a call takes depends
 * on how many objects there are, and not on how many there could be. */
extern const struct cohort__step_mode cohort__sparse_mode;

/* IN of such a call: what the site has for others, at most one object for each of them. */
struct cohort__sparse_in {
    const cohort_site_object *list;
    size_t num;
};

#endif
