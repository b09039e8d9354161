/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/algo/place.h"

#include "tests/support/test.h"

static void place_init(struct place *place)
{
    const struct cohort__machine_level outer[] = {
        {"domain", place->domain_of}, {"host", place->host_of}, {"switch", place->switch_of}};
    for (uint32_t i = 0; place->hosts_of_switch > 0 && i < place->num_localities; i++)
        place->switch_of[i] = place->host_of[i] / place->hosts_of_switch;
    CHECK_OK(cohort__machine_create(&place->machine, place->locality_of, place->num_sites,
                                    place->num_localities, outer, place->hosts_of_switch ? 3 : 2));
}

void place_switches(struct place *place, uint32_t hosts_of_switch, uint32_t hosts, uint32_t domains,
                    uint32_t localities, uint32_t tasks, bool is_cyclic)
{
    *place = (struct place){.num_localities = hosts * domains * localities,
                            .hosts_of_switch = hosts_of_switch};
    place->num_sites = place->num_localities * tasks;
    CHECK(place->num_sites <= PLACE_MAX_SITES && place->num_localities <= PLACE_MAX_LOCALITIES);
    for (uint32_t i = 0; i < place->num_localities; i++) {
        place->domain_of[i] = i / localities;
        place->host_of[i] = i / localities / domains;
    }
    for (uint32_t site = 0; site < place->num_sites; site++)
        place->locality_of[site] = is_cyclic ? site % place->num_localities : site / tasks;
    place_init(place);
}

void place_regular(struct place *place, uint32_t hosts, uint32_t domains, uint32_t localities,
                   uint32_t tasks, bool is_cyclic)
{
    place_switches(place, 0, hosts, domains, localities, tasks, is_cyclic);
}

/* That of an earlier locality of the same host, or a new one. */
static uint32_t random_domain(const struct place *place, uint32_t locality,
                              struct cohort__random *random)
{
    uint32_t other = (uint32_t)cohort__random_below(random, locality + 1);
    return place->host_of[other] == place->host_of[locality] && other < locality
               ? place->domain_of[other]
               : locality;
}

void place_random(struct place *place, struct cohort__random *random)
{
    bool has_many = cohort__random_below(random, 4) == 0;
    uint32_t num_hosts = 1 + (uint32_t)cohort__random_below(random, has_many ? PLACE_MAX_HOSTS : 5);
    *place = (struct place){
        .num_localities = num_hosts + (uint32_t)cohort__random_below(random, 8),
        .num_sites = 1 + (uint32_t)cohort__random_below(random, 40),
        .hosts_of_switch = (uint32_t)cohort__random_below(random, 4),
    };
    bool is_sorted = cohort__random_below(random, 2);
    for (uint32_t i = 0; i < place->num_localities; i++) {
        place->host_of[i] = is_sorted ? i * num_hosts / place->num_localities
                                      : (uint32_t)cohort__random_below(random, num_hosts);
    }
    for (uint32_t i = 0; i < place->num_localities; i++)
        place->domain_of[i] = random_domain(place, i, random);
    for (uint32_t site = 0; site < place->num_sites; site++)
        place->locality_of[site] =
            is_sorted ? site * place->num_localities / place->num_sites
                      : (uint32_t)cohort__random_below(random, place->num_localities);
    place_init(place);
}

void place_random_or_regular(struct place *place, struct cohort__random *random)
{
    if (cohort__random_below(random, 2))
        place_random(place, random);
    else
        place_switches(place, (uint32_t)cohort__random_below(random, 3),
                       2 + (uint32_t)cohort__random_below(random, 2),
                       1 + (uint32_t)cohort__random_below(random, 2),
                       1 + (uint32_t)cohort__random_below(random, 2),
                       1 + (uint32_t)cohort__random_below(random, 3),
                       cohort__random_below(random, 2));
}

void place_fini(struct place *place)
{
    cohort__machine_destroy(place->machine);
}

uint32_t place_host_of(const struct place *place, uint32_t site)
{
    return place->host_of[place->locality_of[site]];
}

bool place_is_composed(const struct cohort__algorithm *row)
{
    return row->stages != NULL;
}

/* Subgroups of different sizes have blocks of different sizes. */
static bool may_be_inner(const struct cohort__algorithm *row, const struct cohort__request *request,
                         bool is_even)
{
    bool has_blocks =
        request->collective == COHORT__GATHER || request->collective == COHORT__SCATTER ||
        request->collective == COHORT__ALL_GATHER || request->collective == COHORT__ALL_TO_ALL ||
        request->collective == COHORT__REDUCE_SCATTER;
    return !row->shared && !place_is_composed(row) && !row->hierarchical &&
           (row->ragged || !has_blocks || is_even) && !cohort__algorithm_refuses(row, request);
}

uint32_t place_random_inner(enum cohort__collective collective, uint32_t num_leaders,
                            bool commutative, bool is_even, struct cohort__random *random)
{
    const struct cohort__request request = {.collective = collective,
                                            .num_sites = num_leaders,
                                            .arity = 2,
                                            .bytes = 24,
                                            .element = 8,
                                            .commutative = commutative};
    uint32_t row = (uint32_t)cohort__random_below(random, cohort__num_algorithms);
    for (uint32_t i = 0; i < cohort__num_algorithms; i++, row = (row + 1) % cohort__num_algorithms)
        if (may_be_inner(cohort__algorithms[row], &request, is_even))
            return row + 1;
    return 0;
}

/* The coarsest level that divides the sites. */
static uint32_t level_of_leaders(const struct place *place)
{
    uint32_t level = cohort__machine_num_levels(place->machine) - 1;
    while (level > 0 && cohort__machine_num_subgroups(place->machine, level) == 1)
        level--;
    return level;
}

uint32_t place_num_leaders(const struct place *place)
{
    return cohort__machine_num_subgroups(place->machine, level_of_leaders(place));
}

bool place_is_even(const struct place *place)
{
    return place_num_leaders(place) *
               cohort__machine_largest(place->machine, level_of_leaders(place)) ==
           place->num_sites;
}
