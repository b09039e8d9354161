/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_COLL_SCARCE_ROUND_H
#define COHORT_TESTS_COLL_SCARCE_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include <cohort/cohort.h>

/* All sites of a communicator make a call, and one allocation fails, wherever in the library it is
 * made: the first one, then, in the next round, the second one, and so on, until there is no such
 * one any more. A site whose call has failed gives its endpoint back, as programs do. Then all
 * calls end: they succeed, and have the right results, or fail with an error that says why. So does
 * a barrier of those that are left. (No leaks: a build with the address sanitizer shows them.) */

enum { SITES = 4, FUTURES = 7, BYTES = 20000 };

struct site {
    uint32_t number;
    cohort_comm *comm;
    cohort_comm *made; /* by the call */
    cohort_future *futures[FUTURES];
    uint32_t num_futures;
    bool has_failed;
    bool leaves; /* if the call of a site has failed, and others do not end soon */
    _Alignas(64) unsigned char in[SITES][BYTES];
    _Alignas(64) unsigned char out[SITES][BYTES];
    cohort_object objects_in[SITES], objects_out[2 * SITES];
    cohort_site_objects list;
    cohort_future *text; /* of a roll-call */
};

extern struct site sites[SITES];

/* A kind of call. */
struct scene {
    const char *name;
    uint32_t num_localities; /* 1 or 2 on one host, or 4 on two of them. The sites in blocks */
    cohort_comm_options options;
    void (*begin)(struct site *site); /* makes it. NULL: it is the creation of the communicator */
    void (*check)(struct site *site); /* it has succeeded at all sites. NULL: nothing */
    cohort_status expected;           /* of all calls; then CHECK is NULL */
};

/* What has begun for SITE is of the call. */
void site_add(struct site *site, cohort_future *future);

void scarce_rounds(const struct scene *played);

#endif
