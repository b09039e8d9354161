/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/sim_links.h"

#include <stdlib.h>

struct counting {
    const struct cohort__network *network;
    const struct cohort__sim_steps *steps;
    struct cohort__sim_links result;
    size_t capacity; /* of result.links */
};

static void count_message(struct cohort__sim_link *at, uint64_t link, size_t bytes)
{
    at->link = link;
    at->bytes += bytes;
    at->messages++;
}

/* Moves LINK to the result, if anything went over it. */
static bool collect(struct counting *counting, struct cohort__sim_link *link)
{
    struct cohort__sim_links *result = &counting->result;
    if (link->messages == 0)
        return true;
    if (result->num == counting->capacity) {
        size_t capacity = counting->capacity + counting->capacity / 2 + 64;
        void *larger = realloc(result->links, capacity * sizeof(*result->links));
        if (!larger)
            return false;
        result->links = larger;
        counting->capacity = capacity;
    }
    if (link->bytes > result->busiest.bytes || result->busiest.messages == 0)
        result->busiest = *link;
    result->links[result->num++] = *link;
    *link = (struct cohort__sim_link){0};
    return true;
}

/* Counts the links that several routes share. */
static bool count_shared(struct counting *counting)
{
    const struct cohort__network *network = counting->network;
    struct cohort__sim_link *links = calloc(network->num_shared + 1, sizeof(*links));
    bool ok = links != NULL;
    for (uint32_t i = 0; ok && i < counting->steps->num_steps; i++) {
        const struct cohort__sim_step *step = &counting->steps->steps[i];
        if (step->kind != COHORT__STEP_SEND)
            continue;
        struct cohort__route route = cohort__route_begin(network, step->site, step->peer);
        uint64_t link;
        while (cohort__route_next(&route, &link))
            if (link < network->num_shared)
                count_message(&links[link], link, step->bytes);
    }
    for (uint64_t link = 0; ok && link < network->num_shared; link++)
        ok = collect(counting, &links[link]);
    free(links);
    return ok;
}

static int by_number(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Counts the links from SITE to each other site. LINKS has one for each site, all zero before and
 * after. */
static bool count_direct(struct counting *counting, uint32_t site, struct cohort__sim_link *links,
                         uint32_t *peers)
{
    const struct cohort__sim_steps *steps = counting->steps;
    size_t num_peers = 0;
    bool ok = true;
    for (uint32_t i = steps->first[site]; i < steps->first[site + 1]; i++) {
        const struct cohort__sim_step *step = &steps->steps[i];
        uint64_t link;
        if (step->kind != COHORT__STEP_SEND)
            continue;
        struct cohort__route route = cohort__route_begin(counting->network, site, step->peer);
        cohort__route_next(&route, &link);
        if (link < counting->network->num_shared)
            continue;
        if (links[step->peer].messages == 0)
            peers[num_peers++] = step->peer;
        count_message(&links[step->peer], link, step->bytes);
    }
    qsort(peers, num_peers, sizeof(*peers), by_number);
    for (size_t i = 0; i < num_peers && ok; i++)
        ok = collect(counting, &links[peers[i]]);
    return ok;
}

/* Site by site: for all sites at once the array would have num_sites squared entries. */
static bool count_all_direct(struct counting *counting)
{
    uint32_t num_sites = counting->network->num_sites;
    struct cohort__sim_link *links = calloc(num_sites, sizeof(*links));
    uint32_t *peers = calloc(num_sites, sizeof(*peers));
    bool ok = links && peers;
    for (uint32_t site = 0; site < num_sites && ok; site++)
        ok = count_direct(counting, site, links, peers);
    free(links);
    free(peers);
    return ok;
}

cohort_status cohort__sim_links_count(const struct cohort__network *network,
                                      const struct cohort__sim_steps *steps,
                                      struct cohort__sim_links *ret_links)
{
    struct counting counting = {.network = network, .steps = steps};
    if (!count_shared(&counting) ||
        (network->num_links > network->num_shared && !count_all_direct(&counting))) {
        free(counting.result.links);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "simulation of %u sites: no memory for its links",
                           steps->num_sites);
    }
    *ret_links = counting.result;
    return COHORT_OK;
}
