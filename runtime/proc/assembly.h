/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_ASSEMBLY_H
#define COHORT_RUNTIME_PROC_ASSEMBLY_H

#include <stdbool.h>

#include "runtime/base/list.h"
#include "runtime/proc/arrival.h"

struct cohort__peer;

/* A DATA that is too long for one message, but too short to be fetched, comes as several PARTs,
 * which may overtake each other, and is put together again. All functions: the router only. */

/* The most bytes of a peer's incomplete ones. A sender begins one after the other, so two of them,
 * of what a transport sends in parts, would do where messages keep their order. */
enum { COHORT__ASSEMBLY_BYTES_MAX = 1 << 20 };

/* Takes ARRIVAL, a PART of PEER, and releases it. True: with it the DATA is whole, and ARRIVAL has
 * become that, with its payload in `copy`. If the part makes no sense, or there is no memory for
 * the payload, PEER is given up: it counts as dead. */
bool cohort__assembly_take(struct cohort__peer *peer, struct cohort__arrival *arrival);

/* Frees the incomplete ones in ASSEMBLIES, the list of a peer. */
void cohort__assemblies_fini(struct cohort__list *assemblies);

#endif
