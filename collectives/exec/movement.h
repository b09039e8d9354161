/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MOVEMENT_H
#define COHORT_COLLECTIVES_EXEC_MOVEMENT_H

#include <stdbool.h>

#include "collectives/exec/op.h"
#include "collectives/plan/plan.h"

struct cohort__movement;

struct cohort__movement_kind {
    bool has_rows;    /* a row for each site; else one row */
    bool has_columns; /* each row has a copy for each site; else it is one reduction of all sites */
    bool has_source;  /* only the root's input is read */
    bool reads_late;  /* an input is read after its site's output may have been written */
    /* Does one row: of it the copies from FIRST to END, and of each copy BYTES from OFFSET on. */
    cohort_status (*perform)(const struct cohort__movement *movement, uint32_t row, uint32_t first,
                             uint32_t end, size_t offset, size_t bytes);
    size_t in_blocks; /* of a site's input; 0: one block for each site */
};

/* By collective. Those without `perform` are not done by meetings. */
extern const struct cohort__movement_kind cohort__movement_kinds[COHORT__NUM_COLLECTIVES];

/* How many blocks each of NUM_SITES sites brings. */
static inline size_t cohort__movement_in_blocks(const struct cohort__movement_kind *kind,
                                                uint32_t num_sites)
{
    return kind->in_blocks ? kind->in_blocks : num_sites;
}

/* What sites that meet do. It has to be the same at all of them. */
struct cohort__terms {
    const struct cohort__movement_kind *kind;
    size_t count;             /* of a block, in elements; or of a segment of it */
    size_t element;           /* its bytes */
    size_t stride;            /* bytes from one block to the next, in a site's input or output */
    cohort_datatype datatype; /* 0: no elements */
    const cohort_op *op;      /* or NULL; whoever has this has a reference */
    uint32_t root;            /* a rank */
    uint32_t shift;
    bool of_objects; /* the bytes are slots (object_steps.h): their objects are shared */
};

/* A collective among sites that share memory, when all of them are there. A site here is one of a
 * subgroup, and its number is its rank there. Every input is read where
 * it is, and every output is written where it belongs. The work is cut into parts that write to
 * different outputs, so that workers can share it. Reductions go strictly from left to right. */
struct cohort__movement {
    struct cohort__terms terms;
    uint32_t num_sites;
    unsigned char **in;  /* by site; the same as `out` where the call is in place */
    unsigned char **out; /* by site; NULL: the site's locality, another one, writes it */
    bool *is_posted;     /* by site: its input is on the board, where blocks have no gaps */
    bool has_far;        /* whether there are sites of other localities */
    bool is_past_caches; /* the data is more than the caches hold: write past them */
};

/* About the size of a part. It is large enough to be worth handing to a worker, and small enough to
 * stay in its cache. */
enum { COHORT__PART_BYTES = 32 * 1024 };

/* The number of parts in this locality, and what one of them does. Any worker. A status other than
 * COHORT_OK comes from the user's operation. */
uint64_t cohort__movement_num_parts(const struct cohort__movement *movement);
cohort_status cohort__movement_perform(const struct cohort__movement *movement, uint64_t part);

/* For a movement with a source: copies the bytes from BEGIN to END of what it has posted. */
void cohort__movement_read(const struct cohort__movement *movement, size_t begin, size_t end);

/* For an all_reduce by a built-in operation: reduces BYTES at PLACE of all inputs into TO. */
void cohort__movement_fold(const struct cohort__movement *movement, unsigned char *to, size_t place,
                           size_t bytes);

/* How many bytes all parts of this locality write. */
size_t cohort__movement_bytes(const struct cohort__movement *movement);

#endif
