/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_SEGMENTS_H
#define COHORT_COLLECTIVES_EXEC_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cohort__group;

/* How the blocks of a call are cut where they are longer than a post on the board: into segments,
 * each of which is a meeting of its own. While one is read, the next one is written. */
struct cohort__segments {
    uint32_t num;
    size_t bytes; /* of a block, in each but the last one, which may have fewer */
};

/* For sites of GROUP that meet, where each brings NUM_BLOCKS blocks of BYTES, made of elements of
 * ELEMENT bytes. False: they can't, since not all are in one locality, and they have no board, or
 * too little room on it. The same at all sites. */
bool cohort__segments_find(const struct cohort__group *group, uint32_t num_blocks, size_t bytes,
                           size_t element, struct cohort__segments *ret_segments);

#endif
