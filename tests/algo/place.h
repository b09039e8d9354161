/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_ALGO_PLACE_H
#define COHORT_TESTS_ALGO_PLACE_H

#include "collectives/algo/algorithm.h"
#include "runtime/base/random.h"

/* Machines for the rows that follow the machine. */

enum { PLACE_MAX_SITES = 72, PLACE_MAX_LOCALITIES = 24, PLACE_MAX_HOSTS = 16 };

/* A machine of localities, domains and hosts, and of switches, unless there are none. */
struct place {
    uint32_t num_sites, num_localities;
    uint32_t locality_of[PLACE_MAX_SITES];
    uint32_t domain_of[PLACE_MAX_LOCALITIES];
    uint32_t host_of[PLACE_MAX_LOCALITIES];
    uint32_t hosts_of_switch; /* with consecutive numbers; 0: no switches */
    uint32_t switch_of[PLACE_MAX_LOCALITIES];
    struct cohort__machine *machine;
};

/* HOSTS x DOMAINS x LOCALITIES x TASKS, one after the other or dealt out, with HOSTS_OF_SWITCH. */
void place_switches(struct place *place, uint32_t hosts_of_switch, uint32_t hosts, uint32_t domains,
                    uint32_t localities, uint32_t tasks, bool is_cyclic);
void place_regular(struct place *place, uint32_t hosts, uint32_t domains, uint32_t localities,
                   uint32_t tasks, bool is_cyclic);
/* Any; every fourth has up to PLACE_MAX_HOSTS hosts. */
void place_random(struct place *place, struct cohort__random *random);
/* Half of them by place_random, half by place_switches. */
void place_random_or_regular(struct place *place, struct cohort__random *random);
void place_fini(struct place *place);

uint32_t place_host_of(const struct place *place, uint32_t site);

/* How many leaders there are at the top of a row, and whether all have the same number of sites. */
uint32_t place_num_leaders(const struct place *place);
bool place_is_even(const struct place *place);

/* "levels" or "shares". */
bool place_is_composed(const struct cohort__algorithm *row);

/* Any row for the leaders: request.inner. */
uint32_t place_random_inner(enum cohort__collective collective, uint32_t num_leaders,
                            bool commutative, bool is_even, struct cohort__random *random);

#endif
