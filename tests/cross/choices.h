/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_CROSS_CHOICES_H
#define COHORT_TESTS_CROSS_CHOICES_H

#include <stdbool.h>

#include "runtime/base/random.h"

/* The numbers that a program is made of. They are drawn from a seed, or given: then what follows
 * the last one is 0, which always stands for the simplest choice. So a program that fails gets
 * simpler when some of its numbers are left out, or get smaller, whatever they stand for. */
enum { CHOICES_MOST = 4096 };

struct choices {
    uint32_t list[CHOICES_MOST]; /* each below the limit that it was asked for with */
    uint32_t num;                /* how many have been asked for */
    uint32_t num_given;
    /* Where parts begin that can be left out as a whole. */
    uint32_t marks[CHOICES_MOST];
    uint32_t num_marks;
    struct cohort__random random;
    bool is_given;
};

void choices_draw(struct choices *choices, uint64_t seed);
void choices_give(struct choices *choices, const uint32_t *list, uint32_t num);

/* A number below LIMIT. */
uint32_t choose(struct choices *choices, uint32_t limit);
/* Whether something that happens once in ODDS times does. */
bool choose_rarely(struct choices *choices, uint32_t odds);
void choices_mark(struct choices *choices);

#endif
