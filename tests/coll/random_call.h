/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_COLL_RANDOM_CALL_H
#define COHORT_TESTS_COLL_RANDOM_CALL_H

#include <cohort/cohort.h>

#include "runtime/base/random.h"

/* One call of some collective, drawn at random, and its correct result. The result is computed by
 * an oracle that is independent of the library: it knows all sites' inputs and goes through them in
 * the order of the sites. */

enum { RANDOM_SITES = 20, RANDOM_BLOCKS = 24, RANDOM_NUM_TYPES = 20, RANDOM_NUM_OPS = 14 };

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
    RANDOM_ALL_TO_ALL_SPARSE,
    RANDOM_NUM_KINDS,
};

/* A block that an exchange sends along an edge. */
struct random_edge {
    uint8_t from, to;
    uint16_t count;
};

/* What all sites call. Which of the fields are used depends on the kind. */
struct random_call {
    enum random_kind kind;
    uint32_t num_sites;
    size_t count; /* elements in a block */
    /* By sender and receiver. If a kind has only one of the two, the other index is 0. */
    uint16_t counts[RANDOM_SITES][RANDOM_SITES];
    bool is_spread; /* blocks have displacements: the last one first, with gaps */
    uint32_t num_edges;
    struct random_edge edges[RANDOM_BLOCKS];
    uint32_t type; /* an index that random_datatype translates */
    uint32_t op;
    uint32_t root;
    uint32_t usual_root; /* of the communicator */
    bool has_root;       /* the root is an option of the call */
    int64_t q;
    bool is_checked;
    bool is_checked_anyway; /* the communicator's options check calls of this kind */
    bool is_reproducible;
    const char *algorithm; /* forced, or NULL */
};

/* Offset and count are in elements. PEER is UINT32_MAX if the block goes to all sites, or is made
 * from all sites' inputs. */
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

/* By ALGORITHM, if the collective has such a row. It may refuse the call. */
void random_call_force(struct random_call *call, const char *algorithm);

/* Draws a call on a communicator with ROOT. */
void random_call_draw(struct random_call *call, struct cohort__random *random, uint32_t num_sites,
                      uint32_t root);

/* Changes one thing in CALL that all sites have to agree on. So it becomes another call. */
void random_call_change(struct random_call *call, struct cohort__random *random);

/* Changes how the call is carried out, but not its result. */
void random_call_vary_options(struct random_call *call, struct cohort__random *random);

/* Changes the options, or something else that makes the call a little different. */
void random_call_vary(struct random_call *call, struct cohort__random *random);

bool random_kind_is_rooted(enum random_kind kind);
bool random_kind_reduces(enum random_kind kind);
bool random_kind_is_of_objects(enum random_kind kind);
bool random_kind_has_rows(enum random_kind kind);
/* Whether each block has a count of its own. Only the two sites that exchange the block have to
 * agree on its count. */
bool random_kind_is_loose(enum random_kind kind);
const char *random_kind_name(enum random_kind kind);

cohort_datatype random_datatype(const struct random_call *call);
size_t random_element(const struct random_call *call);
bool random_has_users_type(const struct random_call *call);
const cohort_op *random_op(const struct random_call *call);

/* Creates and releases the user's operations. */
void random_ops_init(void);
void random_ops_fini(void);

/* CALL as a question. COUNTS has room for all sites' counts, and has to live as long. */
cohort_call_question random_question(const struct random_call *call, size_t counts[RANDOM_SITES]);

void random_lay_out(const struct random_call *call, uint32_t site, struct random_side *in,
                    struct random_side *out);

/* SITE's input. The caller frees it. Its contents follow from KEY and SITE. */
unsigned char *random_input(const struct random_call *call, uint64_t key, uint32_t site);

/* The correct contents of the blocks of SITE's output. The caller frees it. */
unsigned char *random_output(const struct random_call *call, uint32_t site,
                             unsigned char *const *inputs);

/* Whether SITE's output depends on data from OTHER. */
bool random_depends(const struct random_call *call, uint32_t site, uint32_t other);

/* Describes the call in one line. */
void random_call_describe(const struct random_call *call, char *text, size_t capacity);

#endif
