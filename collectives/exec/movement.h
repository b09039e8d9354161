/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MOVEMENT_H
#define COHORT_COLLECTIVES_EXEC_MOVEMENT_H

#include <stdbool.h>

#include "collectives/exec/op.h"

/* A collective among sites that share memory, when all of them are there: everybody's input is read
 * where it is, and everybody's output is written where it belongs. The work falls into parts that
 * touch different outputs, so that workers share it. Reductions go strictly from the left. */
struct cohort__movement {
    uint32_t num_sites;
    uint32_t root;
    uint32_t shift;
    size_t count; /* of a block, in elements */
    size_t element;
    cohort_datatype datatype;
    const cohort_op *op;
    unsigned char **in;  /* by site; the same as `out` where the call is in place */
    unsigned char **out; /* by site; NULL: its locality, another one, sees to it */
    bool has_far;        /* whether there are such */
    bool is_past_caches; /* all that moves is more than they hold: nothing is to stay there */
};

struct cohort__movement_kind {
    bool has_rows;    /* a row for each site; else one */
    bool has_columns; /* in each row a copy for each site; else a reduction of all sites */
    bool has_source;  /* only the root's input is read */
    bool reads_late;  /* an input is read after its site's output may have been written */
    /* One row, of it the copies from FIRST to END, of each the bytes from OFFSET on. */
    cohort_status (*perform)(const struct cohort__movement *movement, uint32_t row, uint32_t first,
                             uint32_t end, size_t offset, size_t bytes);
    size_t in_blocks; /* of a site's input: 1, or 0 for one for each site */
};

extern const struct cohort__movement_kind cohort__movement_gather;
extern const struct cohort__movement_kind cohort__movement_scatter;
extern const struct cohort__movement_kind cohort__movement_broadcast;
extern const struct cohort__movement_kind cohort__movement_reduce;
extern const struct cohort__movement_kind cohort__movement_all_gather;
extern const struct cohort__movement_kind cohort__movement_all_reduce;
extern const struct cohort__movement_kind cohort__movement_all_to_all;
extern const struct cohort__movement_kind cohort__movement_barrier;
extern const struct cohort__movement_kind cohort__movement_reduce_scatter;
extern const struct cohort__movement_kind cohort__movement_scan;
extern const struct cohort__movement_kind cohort__movement_exclusive_scan;
extern const struct cohort__movement_kind cohort__movement_shift;

/* A part is about so large: enough to be worth a worker's while, little enough to stay in its
 * cache. */
enum { COHORT__PART_BYTES = 32 * 1024 };

/* How many parts there are here, and what one of them does. Any worker. A status other than
 * COHORT_OK comes from the user's operation. */
uint64_t cohort__movement_num_parts(const struct cohort__movement_kind *kind,
                                    const struct cohort__movement *movement);
cohort_status cohort__movement_perform(const struct cohort__movement_kind *kind,
                                       const struct cohort__movement *movement, uint64_t part);

/* Of an all_reduce by a built-in operation: what is in all inputs, BYTES from PLACE on, reduced,
 * to TO. */
void cohort__movement_fold(const struct cohort__movement *movement, unsigned char *to, size_t place,
                           size_t bytes);

/* The bytes that all parts here write. */
size_t cohort__movement_bytes(const struct cohort__movement_kind *kind,
                              const struct cohort__movement *movement);

#endif
