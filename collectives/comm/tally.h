/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_TALLY_H
#define COHORT_COLLECTIVES_COMM_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/wire/pack.h"

/* How the sites stand with a generation that is to be taken back (verdict.h): how many there are of
 * each kind, and which ones are missing and which have completed, the first few of them. */
enum cohort__vote {
    COHORT__VOTE_NOT_CALLED, /* missing: this and the next two */
    COHORT__VOTE_LEFT_OUT,
    COHORT__VOTE_GONE,
    COHORT__VOTE_WAITS, /* it has called, but the call has not started */
    COHORT__VOTE_IN_FLIGHT,
    COHORT__VOTE_OK,
    COHORT__VOTE_FAILED,
    COHORT__NUM_VOTES
};

enum { COHORT__TALLY_LISTED = 8, COHORT__TALLY_NAME = 64 };

/* Sites in their order. */
struct cohort__tally_list {
    uint32_t num; /* listed */
    struct cohort__tally_site {
        uint32_t site;
        uint32_t vote;
    } sites[COHORT__TALLY_LISTED];
};

/* All zero is a valid, empty one. */
struct cohort__tally {
    uint32_t num[COHORT__NUM_VOTES];
    struct cohort__tally_list missing, ok;
    bool is_alone;                 /* somebody has called what a site may complete alone */
    uint32_t namer;                /* the site that has called `name` */
    char name[COHORT__TALLY_NAME]; /* what was called; "": nobody has called */
};

static inline bool cohort__vote_is_missing(enum cohort__vote vote)
{
    return vote <= COHORT__VOTE_GONE;
}

/* Adds SITE, which has called NAME; "" if it has not called, or if that is not known any more. */
void cohort__tally_add(struct cohort__tally *tally, uint32_t site, enum cohort__vote vote,
                       const char *name, bool is_alone);

/* Adds the sites of OTHER, none of which is in TALLY. */
void cohort__tally_merge(struct cohort__tally *tally, const struct cohort__tally *other);

/* Whether the sites that wait are refused. If not, all have called, somebody has completed who may
 * not complete alone, and so all others will complete. */
bool cohort__tally_refuses(const struct cohort__tally *tally);

/* "generation 17 all_reduce: 61 of 64 sites, missing 5 (locality 1, not called yet), 9 and 33
 * (locality 4, not called yet)", at most CAPACITY bytes. LOCALITY_OF: by site. */
void cohort__tally_describe(const struct cohort__tally *tally, uint64_t generation,
                            const uint32_t *locality_of, char *text, size_t capacity);

/* As a message. A failure to pack is in PACKER. Unpacking checks what can be checked without the
 * other sites: COHORT_ERR_PROTOCOL, COHORT_ERR_NO_MEMORY. */
void cohort__tally_pack(const struct cohort__tally *tally, struct cohort__packer *packer);
cohort_status cohort__tally_unpack(struct cohort__tally *ret_tally, const void *data, size_t bytes,
                                   uint32_t num_sites);

#endif
