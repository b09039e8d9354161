/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NAMES_LIMITS_H
#define COHORT_RUNTIME_NAMES_LIMITS_H

#include <stdint.h>

/* What the home of a name and those who join under it have to agree on. */
enum {
    COHORT__NAME_BYTES_MAX = 255,
    COHORT__SETTINGS_BYTES_MAX = 9216,
    /* A map says in so many runs where its sites are. If that is not enough, it says it of each
     * site, in so many bytes, and has so many sites at most. With more sites it has runs again, as
     * many as a message has values for. */
    COHORT__MAP_RUNS_MAX = 1 << 16,
    COHORT__MAP_SITE_BYTES = 2,
    COHORT__MAP_SITES_MAX = 1 << 24,
    COHORT__MAP_RUNS_MOST = 349000,
    /* How many communicators may share memory within hosts (runtime/net/board.h, notes.h) at the
     * same time. Each home has its part of the numbers. What is not used takes addresses of the
     * memory's file only. */
    COHORT__NUM_NUMBERS = 1 << 20,
    /* In place of a locality's rank: cohortrun, which is the home of names if the job goes on
     * without the dead. Above all ranks. */
    COHORT__HOME_LAUNCHER = 4096,
};

/* The instance that HOME, a rank, has made as the NUMBER-th one, from 1: of two of the same home
 * the later one is the higher one. */
static inline uint64_t cohort__instance_of(uint32_t home, uint64_t number)
{
    return ((uint64_t)home + 1) << 32 | number;
}

static inline uint32_t cohort__instance_home(uint64_t instance)
{
    return (uint32_t)(instance >> 32) - 1;
}

static inline uint32_t cohort__instance_number(uint64_t instance)
{
    return (uint32_t)instance;
}

#endif
