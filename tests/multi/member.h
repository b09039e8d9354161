/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_MULTI_MEMBER_H
#define COHORT_TESTS_MULTI_MEMBER_H

#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* What the test programs that cohortrun starts have in common: options, and which sites sit where.
 * All localities are given the same options. */

enum placement {
    PLACEMENT_ROUND_ROBIN,
    PLACEMENT_BLOCKS,
    PLACEMENT_ONE, /* all in the last locality; the others have none */
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
    bool skips; /* leaves generations out, alike at all sites */
    uint64_t seed;
    uint32_t num_comms; /* at once */
    uint32_t levels;    /* that there must be, at least */
    uint32_t victim;    /* a locality */
};

enum { MEMBER_MAX_IN_FLIGHT = 128, MEMBER_MAX_COMMS = 16 };

/* MODE and --option value pairs; a wrong one ends the program with status 2. */
void member_read(struct member *member, int argc, char **argv);

/* Where SITE sits; in tasks. */
uint32_t member_locality(const struct member *member, uint32_t site);

/* How many sites sit here. */
uint32_t member_num_sites_here(const struct member *member);

/* A communicator's sites that sit here; and the same, run. */
struct sites member_sites(const struct member *member, const char *name,
                          cohort_status (*run)(cohort_comm *comm, void *arg), void *arg);
cohort_status member_run(const struct member *member, const char *name,
                         cohort_status (*run)(cohort_comm *comm, void *arg), void *arg);

/* One line to standard output, at once. */
void member_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
