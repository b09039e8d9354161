/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_COLL_RANDOM_SITE_H
#define COHORT_TESTS_COLL_RANDOM_SITE_H

#include "cohort/layout.h"
#include "tests/coll/random_call.h"
#include "tests/coll/random_layout.h"

/* One site's part in a random call: its buffers, the call itself, which is right or will be
 * rejected, and the check of the result. */

/* What is wrong with the arguments. */
enum random_reject {
    RANDOM_REJECT_NONE,
    RANDOM_REJECT_NO_IN,
    RANDOM_REJECT_NO_OUT,
    RANDOM_REJECT_TYPE,      /* a number that is not a type */
    RANDOM_REJECT_ROOT,      /* the option: out of range, or given to a call that has no root */
    RANDOM_REJECT_SITE,      /* a neighbour that is out of range */
    RANDOM_REJECT_OVERLAP,   /* of blocks that are received */
    RANDOM_REJECT_OWN,       /* this site's own block is described in two ways */
    RANDOM_REJECT_OBJECT,    /* an object without data */
    RANDOM_REJECT_ROLE,      /* the root calls what others call, or the reverse */
    RANDOM_REJECT_ROWS,      /* rows of a call that has none */
    RANDOM_REJECT_ALGORITHM, /* there is no algorithm of that name */
    RANDOM_NUM_REJECTS,
};

/* Where a site's buffers are. All zero: where malloc puts them. */
struct random_memory {
    void *(*alloc)(uint32_t locality, size_t bytes);
    void (*free)(uint32_t locality, void *memory);
    uint32_t locality;
};

struct random_site {
    const struct random_call *call;
    uint32_t site;
    uint64_t generation;
    enum random_reject reject;
    bool is_in_place; /* if the call allows it */
    uint32_t skew;    /* bytes from what malloc has aligned to IN and OUT */
    uint64_t layouts; /* of which the layouts are made; 0: there are none */
    bool has_rows;
    uint64_t deadline; /* 0: none */
    struct random_memory memory;
    struct random_side in_side, out_side;
    unsigned char *in, *out;
    unsigned char *before; /* OUT as it was before the call */
    /* In place of IN and OUT, if their elements lie as a layout says. */
    struct random_lying in_lying, out_lying;
    bool is_one_array; /* where these two lie */
    /* Of an exchange whose elements do. */
    cohort_layout_neighbour *to, *from;
    const void *given_in; /* what the call is given */
    void *given_out;
    size_t out_bytes;
    cohort_object *in_objects, *out_objects;
    cohort_site_objects list; /* in place of out_objects, of a sparse call */
    bool is_known;            /* what is said beforehand of the call: */
    cohort_status asked;
    cohort_future *done;
    cohort_future *rows[RANDOM_SITES];
};

bool random_can_reject(const struct random_call *call, uint32_t site, enum random_reject reject);

/* Starts the call. CALL, SITE, GENERATION, REJECT and the requested options are set by the caller,
 * the rest is zero. INPUT is copied. */
void random_site_begin(struct random_site *site, cohort_comm *comm, const unsigned char *input);

/* The two halves of that: what is the test's own, and the call. */
void random_site_prepare(struct random_site *site, const unsigned char *input);
void random_site_call(struct random_site *site, cohort_comm *comm);

/* Whether the call has been asked for futures of its rows. */
bool random_site_takes_rows(const struct random_site *site);

/* WANT: the correct contents of OUT. Returns a text that describes what is wrong, or NULL. */
const char *random_site_check(const struct random_site *site, const unsigned char *want);
const char *random_site_check_row(const struct random_site *site, const unsigned char *want,
                                  uint32_t row);

/* After the call has ended: frees all memory. */
void random_site_fini(struct random_site *site);

#endif
