/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: the problems that Cohort and its peers solve alike. */
#ifndef COHORT_TOOLS_BENCH_PROBLEMS_H
#define COHORT_TOOLS_BENCH_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is the same for Cohort and its peers: C that C++ can include, too. */

struct problem {
    uint64_t size; /* of fib: its argument; of tree: see below; else how many items there are */
    unsigned workers;
    const char *work; /* its name */
};

/* How long a solution took, and how many items it had: the figure is the time of one. */
struct problem_time {
    uint64_t ns;
    uint64_t items;
};

/* fib: the Nth number of Fibonacci, where a call for 2 and more spawns one of its two calls. */
uint64_t problem_fib(uint64_t n);
uint64_t problem_fib_spawns(uint64_t n);

/* tree: that of UTS, the unbalanced tree search (Olivier et al., LCPC 2006), with a cheaper hash.
 * SIZE levels of 10 children each, below which each node has 8 children with a probability that
 * makes for 100 nodes in the mean, but some have tens of thousands. The root is at level SIZE. */
enum { PROBLEM_MOST_CHILDREN = 10 };

struct problem_node {
    uint64_t state;
    uint64_t level; /* 0: among those with 8 children or none */
};

struct problem_node problem_tree_root(uint64_t size);
unsigned problem_tree_children(const struct problem_node *node,
                               struct problem_node ret_children[PROBLEM_MOST_CHILDREN]);
uint64_t problem_tree_count(const struct problem_node *node);

/* Each item of the others leaves a mark, in a byte of its own. NULL: no memory. */
uint8_t *problem_marks_create(uint64_t num);
void problem_mark(uint8_t *marks, uint64_t index);
bool problem_marks_all(const uint8_t *marks, uint64_t num);

/* Computes for about a microsecond, then leaves a mark. */
void problem_mark_slowly(uint8_t *marks, uint64_t index);

/* A number that looks random: that of splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
uint64_t problem_hash(uint64_t state);

/* sleeps: how long the sleep INDEX lasts, 1 to 8 ms. */
uint64_t problem_sleep_ms(uint64_t index);

/* Seconds after which a work is taken to hang: SIGALRM ends the program. */
enum { PROBLEM_TIMEOUT = 180 };

/* wake: how long both threads have been idle before each of the wakes. */
enum { PROBLEM_IDLE_NS = 2000000 };

/* The median of the NUM times, which are sorted. */
uint64_t problem_median(uint64_t *times, uint64_t num);

#endif
