/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_COLL_RANDOM_CALL_H
#define COHORT_TESTS_COLL_RANDOM_CALL_H

#include <cohort/cohort.h>

#include "runtime/base/random.h"

/* One call of some collective, drawn at random, and what has to come of it: an oracle of its own,
 * which knows all sites' inputs and goes through them in the order of the sites. */

enum { RANDOM_SITES = 9, RANDOM_BLOCKS = 16 };

enum random_kind {
    RANDOM_BARRIER,
    RANDOM_CHECK,
    RANDOM_GATHER,
    RANDOM_SCATTER,
    RANDOM_BROADCAST,
    RANDOM_REDUCE,
    RANDOM_ALL_GATHER,
    RANDOM_ALL_REDUCE,
    RANDOM_ALL_TO_ALL,
    RANDOM_REDUCE_SCATTER,
    RANDOM_SCAN,
    RANDOM_EXCLUSIVE_SCAN,
    RANDOM_SHIFT,
    RANDOM_GATHERV,
    RANDOM_SCATTERV,
    RANDOM_ALL_GATHERV,
    RANDOM_REDUCE_SCATTERV,
    RANDOM_ALL_TO_ALLV,
    RANDOM_ALL_TO_ALLW,
    RANDOM_EXCHANGE,
    RANDOM_GATHER_OBJECTS,
    RANDOM_SCATTER_OBJECTS,
    RANDOM_BROADCAST_OBJECT,
    RANDOM_ALL_GATHER_OBJECTS,
    RANDOM_ALL_TO_ALL_OBJECTS,
    RANDOM_NUM_KINDS,
};

/* Of an exchange: a block that goes along it. */
struct random_edge {
    uint8_t from, to;
    uint16_t count;
};

/* What all sites call; which of the fields mean something depends on the kind. */
struct random_call {
    enum random_kind kind;
    uint32_t num_sites;
    size_t count;                                /* of elements of a block */
    uint16_t counts[RANDOM_SITES][RANDOM_SITES]; /* from, to; where there is one of them: the other
                                                    is 0 */
    bool is_spread; /* blocks have displacements: last one first, with gaps */
    uint32_t num_edges;
    struct random_edge edges[RANDOM_BLOCKS];
    uint32_t type; /* random_datatype knows which */
    uint32_t op;
    uint32_t root;
    uint32_t usual_root; /* the communicator's */
    bool has_root;       /* the root is an option of the call */
    int64_t q;
    bool is_checked;
    bool is_checked_anyway; /* the communicator wants it, of this kind */
    bool is_reproducible;
    const char *algorithm; /* forced, or NULL */
};

/* In elements. PEER: UINT32_MAX where it is for all, or comes of all. */
struct random_block {
    uint32_t peer;
    size_t offset;
    size_t count;
};

/* A site's input or output. */
struct random_side {
    struct random_block blocks[RANDOM_BLOCKS];
    uint32_t num;
    size_t end;
};

/* Draws; of a communicator with ROOT. */
void random_call_draw(struct random_call *call, struct cohort__random *random, uint32_t num_sites,
                      uint32_t root);

/* Changes one thing in CALL that all sites have to agree on, so that it is another call. */
void random_call_change(struct random_call *call, struct cohort__random *random);

/* Changes how it is carried out, and not what comes of it. */
void random_call_vary_options(struct random_call *call, struct cohort__random *random);

/* Changes that, or something else that makes it a little different. */
void random_call_vary(struct random_call *call, struct cohort__random *random);

bool random_kind_is_rooted(enum random_kind kind);
bool random_kind_reduces(enum random_kind kind);
bool random_kind_is_of_objects(enum random_kind kind);
bool random_kind_has_rows(enum random_kind kind);
/* Each block has a count of its own, which the two that it concerns have to agree on, nobody else.
 */
bool random_kind_is_loose(enum random_kind kind);
const char *random_kind_name(enum random_kind kind);

cohort_datatype random_datatype(const struct random_call *call);
size_t random_element(const struct random_call *call);
bool random_has_users_type(const struct random_call *call);
const cohort_op *random_op(const struct random_call *call);

/* Creates and gives back the user's operations. */
void random_ops_init(void);
void random_ops_fini(void);

void random_lay_out(const struct random_call *call, uint32_t site, struct random_side *in,
                    struct random_side *out);

/* SITE's input, which the caller frees; what is in it follows from KEY and SITE. */
unsigned char *random_input(const struct random_call *call, uint64_t key, uint32_t site);

/* What SITE's output has to be in its blocks; the caller frees it. */
unsigned char *random_output(const struct random_call *call, uint32_t site,
                             unsigned char *const *inputs);

/* Whether SITE can't have its output without something from OTHER. */
bool random_depends(const struct random_call *call, uint32_t site, uint32_t other);

/* A line that says what the call is. */
void random_call_describe(const struct random_call *call, char *text, size_t capacity);

#endif
