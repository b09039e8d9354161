/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_MEMBERSHIP_H
#define COHORT_RUNTIME_PROC_MEMBERSHIP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/names/limits.h"
#include "runtime/base/list.h"
#include "runtime/wire/pack.h"

struct cohort__registry_words;

/* The locality of each site of one instance. Reference-counted, and shared by the sites of a
 * locality. */
struct cohort__membership {
    uint64_t instance; /* see cohort__instance_of */
    uint32_t num_sites;
    _Atomic uint32_t refs;
    void *settings; /* the settings that site 0 has joined with; NULL if there were none */
    size_t settings_bytes;
    uint32_t
        number; /* of its board, or notes, below COHORT__NUM_NUMBERS; COHORT__NO_NUMBER: none */
    /* The site + 1 that has revoked it; 0: none, as far as is known here. Set by those who have the
     * sites (_set_revoked). */
    _Atomic uint32_t revoked_by;
    void *name; /* as it was joined, and its home */
    size_t name_bytes;
    uint32_t home;
    uint64_t value;           /* the AND of the sites' values */
    struct cohort__list link; /* the registry's; in a list while NUM_UNTOLD is not 0 */
    uint32_t num_untold;
    uint32_t locality_of[]; /* by site; then a bit for each, see cohort__membership_untold */
};

/* The sites of this locality that have left, which their home could not be told yet, a bit each.
 * The registry's. */
static inline unsigned char *cohort__membership_untold(struct cohort__membership *membership)
{
    return (unsigned char *)&membership->locality_of[membership->num_sites];
}

void cohort__membership_ref(struct cohort__membership *membership);
void cohort__membership_unref(struct cohort__membership *membership); /* NULL is fine */

/* Reads a MAP of HOME (runtime/names/home.h), in a job of SIZE localities, with one reference.
 * WORDS were read from it. COHORT_ERR_PROTOCOL, COHORT_ERR_NO_MEMORY. */
cohort_status cohort__membership_read(struct cohort__membership **ret_membership,
                                      const struct cohort__registry_words *words,
                                      const struct cohort__unpacked *unpacked, uint32_t home,
                                      uint32_t size);

#endif
