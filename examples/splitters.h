/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_SPLITTERS_H
#define COHORT_EXAMPLES_SPLITTERS_H

#include <stddef.h>
#include <stdint.h>

#include "examples/lines.h"

/* How sites agree which of them gets which lines, from a few of their lines. */

enum { SPLITTER_BYTES = 58, SPLITTER_NONE = UINT16_MAX };

/* The beginning of a line; that is enough to divide lines by. */
struct splitter {
    uint16_t length; /* SPLITTER_NONE: there was no line */
    char text[SPLITTER_BYTES];
};

/* Takes NUM of COUNT sorted lines, at equal distances. If there are no lines, all are
 * SPLITTER_NONE. */
void splitters_sample(const struct line *lines, size_t count, struct splitter *ret_samples,
                      size_t num);

/* Sorts the samples of all sites, and chooses NUM_BUCKETS - 1 splitters out of them. The splitters
 * are the first ones then. There are at least NUM_BUCKETS samples; some may be SPLITTER_NONE.
 * Returns how many splitters there are: 0 if there is no line at all. */
size_t splitters_choose(struct splitter *samples, size_t num_samples, size_t num_buckets);

/* The bytes, with newlines, that go into each of NUM_BUCKETS buckets: bucket b has the lines from
 * splitter b - 1 up to below splitter b. The lines are sorted, so buckets follow each other. */
void splitters_divide(const struct splitter *splitters, size_t num_splitters,
                      const struct line *lines, size_t count, size_t *ret_bytes,
                      size_t num_buckets);

#endif
