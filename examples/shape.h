/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_SHAPE_H
#define COHORT_EXAMPLES_SHAPE_H

/* Graphs of tasks as Task Bench has them (Slaughter et al., SC 2020). There are steps, one after
 * the other, each of SHAPE_WIDTH tasks, one a column. A task needs the results of some tasks of the
 * step before. The steps take turns with a few sets of such dependencies. */

enum { SHAPE_WIDTH = 32, SHAPE_MAX_SETS = 5 };

/* Columns of the step before or of the next one. */
struct shape_columns {
    unsigned num;
    unsigned columns[SHAPE_WIDTH];
};

struct shape_set {
    struct shape_columns inputs[SHAPE_WIDTH];  /* that a column needs */
    struct shape_columns outputs[SHAPE_WIDTH]; /* that need a column of the step before */
};

struct shape {
    const char *name;
    unsigned num_sets; /* step i has the set i modulo this number */
    struct shape_set sets[SHAPE_MAX_SETS];
};

/* Names of the shapes, which end with NULL. */
extern const char *const shape_names[];

/* NAME is one of these. */
void shape_init(struct shape *shape, const char *name);

/* Of the tasks of STEP, which is not the first. */
const struct shape_set *shape_set(const struct shape *shape, unsigned step);

#endif
