/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the common part of the programs that are measured beside `tasks --works`. */
#ifndef COHORT_TOOLS_BENCH_PEER_WORKS_H
#define COHORT_TOOLS_BENCH_PEER_WORKS_H

#include "tools/bench/problems.h"

/* Such a program is started as PROGRAM SECONDS WORKERS LIST. Of the works in LIST it measures those
 * that it has, by the same series of runs as Cohort, and prints a line for each. PROGRAM --version
 * prints the version of what it measures. This is C that C++ can include, too. */

struct peer_work {
    const char *name;
    const char *way; /* up to 7 letters; of several of the same name the fastest counts */
    /* Solves the problem once. False: the result is wrong. */
    bool (*solve)(const struct problem *problem, struct problem_time *ret_time);
};

/* Main's part. WORKS ends with a name of NULL. */
int peer_works_main(int argc, char **argv, const char *version, const struct peer_work *works);

uint64_t peer_now(void); /* nanoseconds */

/* A byte for each item; without memory the program ends. */
uint8_t *peer_marks(uint64_t num);

/* Whether all items left their marks; frees MARKS. */
bool peer_marks_check(uint8_t *marks, uint64_t num);

#endif
