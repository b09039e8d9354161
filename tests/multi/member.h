/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_MULTI_MEMBER_H
#define COHORT_TESTS_MULTI_MEMBER_H

#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* What the test programs that cohortrun starts have in common: their options, and which sites are
 * in which locality. All localities get the same options. */

enum placement {
    PLACEMENT_ROUND_ROBIN,
    PLACEMENT_BLOCKS,
    PLACEMENT_ONE, /* all in the last locality */
    PLACEMENT_RANDOM,
};

struct member {
    const char *mode;
    cohort_comm_options options;
    enum placement placement;
    uint32_t kind; /* enum exercise_kind; EXERCISE_NUM_KINDS: drawn for each generation */
    size_t count;
    bool count_drawn; /* 0 .. count */
    uint64_t generations;
    uint32_t in_flight;
    bool skips;    /* leaves generations out, the same at all sites */
    bool is_plain; /* calls without options, with blocks of one size */
    uint64_t seed;
    uint32_t num_comms; /* at once */
    uint32_t levels;    /* the least number of levels that there must be */
    uint32_t victim;    /* a locality */
};

enum { MEMBER_MAX_IN_FLIGHT = 128, MEMBER_MAX_COMMS = 16 };

/* Reads MODE and pairs of --option and value. A wrong one ends the program with status 2. */
void member_read(struct member *member, int argc, char **argv);

/* The locality of SITE. Call it in tasks. */
uint32_t member_locality(const struct member *member, uint32_t site);

/* How many sites are in this locality. */
uint32_t member_num_sites_here(const struct member *member);

/* The sites of a communicator that are in this locality. The second function also runs them. */
struct sites member_sites(const struct member *member, const char *name,
                          cohort_status (*run)(cohort_comm *comm, void *arg), void *arg);
cohort_status member_run(const struct member *member, const char *name,
                         cohort_status (*run)(cohort_comm *comm, void *arg), void *arg);

/* Prints one line to standard output, without buffering. */
void member_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
