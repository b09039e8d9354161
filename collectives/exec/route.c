/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/route.h"

#include <stdlib.h>

#include "collectives/plan/plan.h"

/* Which of NUM slots is for TARGET; none, NUM. */
static size_t slot_for(const struct cohort__route *route, uint32_t target, size_t num)
{
    if (target >= cohort__machine_num_sites(route->machine))
        return num;
    uint32_t number = route->level == COHORT__BY_PLACE
                          ? cohort__machine_place(route->machine, target)
                          : cohort__machine_subgroup(route->machine, route->level, target);
    return number >= route->first && number - route->first < num ? number - route->first : num;
}

/* Counts the objects of BUNDLE for each of NUM slots. */
static cohort_status count(const struct cohort__route *route, const struct cohort__blob *bundle,
                           size_t *counts, size_t num)
{
    const struct cohort__entry *entries = cohort__bundle_entries(bundle);
    for (size_t i = 0; i < cohort__bundle_num(bundle); i++) {
        size_t slot = slot_for(route, entries[i].target, num);
        if (slot == num || entries[i].source >= cohort__machine_num_sites(route->machine))
            return cohort_fail(COHORT_ERR_PROTOCOL,
                               "an object from site %u for site %u went astray", entries[i].source,
                               entries[i].target);
        counts[slot]++;
    }
    return COHORT_OK;
}

/* Makes a bundle for each slot that gets objects. COUNTS becomes how many it has so far. */
static cohort_status make(struct cohort__blob **to, size_t *counts, size_t num)
{
    for (size_t i = 0; i < num; i++) {
        to[i] = counts[i] > 0 ? cohort__bundle_create(counts[i]) : NULL;
        if (counts[i] > 0 && !to[i])
            return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a bundle of %zu objects",
                               counts[i]);
        counts[i] = 0;
    }
    return COHORT_OK;
}

static cohort_status distribute(const struct cohort__route *route,
                                const struct cohort__blob *bundle, struct cohort__blob **to,
                                size_t *counts, size_t num)
{
    const struct cohort__entry *entries = cohort__bundle_entries(bundle);
    for (size_t i = 0; i < cohort__bundle_num(bundle); i++) {
        size_t slot = slot_for(route, entries[i].target, num);
        struct cohort__entry *entry = &cohort__bundle_entries(to[slot])[counts[slot]++];
        *entry = entries[i];
        const struct cohort__blob *object = entries[i].object;
        entry->object = route->copies ? cohort__blob_create(object->data, object->bytes)
                                      : cohort__blob_ref(entries[i].object);
        if (!entry->object)
            return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for an object of %zu bytes",
                               object->bytes);
    }
    return COHORT_OK;
}

cohort_status cohort__route(const struct cohort__route *route, struct cohort__blob *const *from,
                            size_t num_from, struct cohort__blob **to, size_t num_to)
{
    size_t *counts = calloc(num_to, sizeof(*counts));
    cohort_status status =
        counts ? COHORT_OK : cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for sorting objects");
    for (size_t i = 0; !status && i < num_from; i++)
        status = count(route, from[i], counts, num_to);
    if (!status)
        status = make(to, counts, num_to);
    for (size_t i = 0; !status && i < num_from; i++)
        status = distribute(route, from[i], to, counts, num_to);
    free(counts);
    return status;
}

static int compare_sources(const void *a, const void *b)
{
    const struct cohort__entry *left = a, *right = b;
    return (left->source > right->source) - (left->source < right->source);
}

cohort_status cohort__route_order(struct cohort__blob *bundle)
{
    struct cohort__entry *entries = cohort__bundle_entries(bundle);
    size_t num = cohort__bundle_num(bundle);
    if (num > 1)
        qsort(entries, num, sizeof(*entries), compare_sources);
    for (size_t i = 1; i < num; i++)
        if (entries[i].source == entries[i - 1].source)
            return cohort_fail(COHORT_ERR_PROTOCOL, "two objects from site %u for site %u",
                               entries[i].source, entries[i].target);
    return COHORT_OK;
}
