/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/algorithm.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The pointers to all rows. rows.h has one line for each. */
#define ROW(collective, name) &cohort__##collective##_##name,
const struct cohort__algorithm *const cohort__algorithms[] = {
#include "collectives/algo/rows.h"
};
#undef ROW
const uint32_t cohort__num_algorithms = sizeof(cohort__algorithms) / sizeof(cohort__algorithms[0]);

/* Their plans' names. */
#define ROW(collective, name) #collective "_" #name,
static const char *const plan_names[] = {
#include "collectives/algo/rows.h"
};
#undef ROW

const char cohort__needs_power_of_two[] = "a power of two sites";

bool cohort__is_power_of_two(const struct cohort__request *request)
{
    return (request->num_sites & (request->num_sites - 1)) == 0;
}

const char cohort__needs_commutative[] = "a commutative operation";

bool cohort__is_commutative(const struct cohort__request *request)
{
    return request->commutative;
}

uint32_t cohort__algorithm_row(enum cohort__collective collective, const char *name)
{
    uint32_t row = 0;
    while (row < cohort__num_algorithms && (cohort__algorithms[row]->collective != collective ||
                                            strcmp(cohort__algorithms[row]->name, name) != 0))
        row++;
    return row;
}

const struct cohort__algorithm *cohort__algorithm_find(enum cohort__collective collective,
                                                       const char *name)
{
    uint32_t row = cohort__algorithm_row(collective, name);
    return row < cohort__num_algorithms ? cohort__algorithms[row] : NULL;
}

const char *cohort__collective_name(enum cohort__collective collective)
{
    static const char *const names[COHORT__NUM_COLLECTIVES] = {
        [COHORT__GATHER] = "gather",
        [COHORT__SCATTER] = "scatter",
        [COHORT__BROADCAST] = "broadcast",
        [COHORT__REDUCE] = "reduce",
        [COHORT__ALL_GATHER] = "all_gather",
        [COHORT__ALL_REDUCE] = "all_reduce",
        [COHORT__ALL_TO_ALL] = "all_to_all",
        [COHORT__BARRIER] = "barrier",
        [COHORT__REDUCE_SCATTER] = "reduce_scatter",
        [COHORT__SCAN] = "scan",
        [COHORT__EXCLUSIVE_SCAN] = "exclusive_scan",
        [COHORT__SHIFT] = "shift",
        [COHORT__EXCHANGE] = "exchange",
        [COHORT__CHECK] = "check",
    };
    return names[collective];
}

enum cohort__collective cohort__collective_find(const char *name)
{
    unsigned collective = 0;
    while (collective < COHORT__NUM_COLLECTIVES &&
           strcmp(name, cohort__collective_name((enum cohort__collective)collective)) != 0)
        collective++;
    return (enum cohort__collective)collective;
}

bool cohort__collective_is_rooted(enum cohort__collective collective)
{
    return collective == COHORT__GATHER || collective == COHORT__SCATTER ||
           collective == COHORT__BROADCAST || collective == COHORT__REDUCE;
}

struct cohort__part cohort__request_in(const struct cohort__request *request, uint32_t site)
{
    return request->in_parts ? request->in_parts[site]
                             : (struct cohort__part){site, site * request->bytes, request->bytes};
}

struct cohort__part cohort__request_out(const struct cohort__request *request, uint32_t site)
{
    return request->out_parts ? request->out_parts[site]
                              : (struct cohort__part){site, site * request->bytes, request->bytes};
}

size_t cohort__request_element(const struct cohort__request *request)
{
    return request->element > 0 ? request->element : 1;
}

/* How many blocks a row has at one site, at most. The root of a linear reduction has one of each
 * site. If a site's data is itself a vector of blocks, such a root, or a leader for its group, has
 * that of each site. */
static size_t most_blocks(enum cohort__collective collective, size_t num_sites)
{
    bool is_square = collective == COHORT__ALL_TO_ALL || collective == COHORT__REDUCE_SCATTER;
    return is_square ? num_sites * num_sites : num_sites;
}

bool cohort__sizes_fit(enum cohort__collective collective, uint32_t num_sites, size_t count,
                       size_t element)
{
    size_t bytes;
    return !__builtin_mul_overflow(count, element, &bytes) &&
           !__builtin_mul_overflow(bytes, most_blocks(collective, num_sites), &bytes) &&
           bytes <= PTRDIFF_MAX / 4;
}

/* The largest memory of any plan is two matrices of padded blocks. */
static bool fits(const struct cohort__request *request)
{
    size_t bytes;
    return !__builtin_mul_overflow(request->bytes, request->num_sites, &bytes) &&
           !__builtin_mul_overflow(bytes, request->num_sites, &bytes) && bytes <= SIZE_MAX / 8;
}

/* Whether all sites exist, and no sum overflows. */
static bool parts_fit(const struct cohort__part *parts, uint32_t num_parts, uint32_t num_sites)
{
    size_t end, all = 0;
    for (uint32_t i = 0; i < num_parts; i++)
        if (parts[i].site >= num_sites ||
            __builtin_add_overflow(parts[i].offset, parts[i].bytes, &end) ||
            __builtin_add_overflow(all, parts[i].bytes, &all))
            return false;
    return true;
}

/* The first part from index FROM on that is for this site itself. num_parts: there is none. */
static uint32_t own_part(const struct cohort__request *request, const struct cohort__part *parts,
                         uint32_t num_parts, uint32_t from)
{
    while (from < num_parts && parts[from].site != request->this_site)
        from++;
    return from;
}

/* Whether what a site sends to itself, part by part, is what it receives from itself. */
static bool own_parts_match(const struct cohort__request *request)
{
    const struct cohort__part *in = request->in_parts, *out = request->out_parts;
    uint32_t i = 0, k = 0;
    if (request->collective == COHORT__ALL_TO_ALL)
        return cohort__request_in(request, request->this_site).bytes ==
               cohort__request_out(request, request->this_site).bytes;
    if (request->collective != COHORT__EXCHANGE)
        return true;
    for (;; i++, k++) {
        i = own_part(request, in, request->num_in_parts, i);
        k = own_part(request, out, request->num_out_parts, k);
        if (i == request->num_in_parts || k == request->num_out_parts)
            return i == request->num_in_parts && k == request->num_out_parts;
        if (in[i].bytes != out[k].bytes)
            return false;
    }
}

static const char *parts_refuse(const struct cohort__request *request)
{
    uint32_t num_sites = request->num_sites;
    bool is_exchange = request->collective == COHORT__EXCHANGE;
    if (!is_exchange && ((request->in_parts && request->num_in_parts != num_sites) ||
                         (request->out_parts && request->num_out_parts != num_sites)))
        return "there is not one part for each site";
    if (!parts_fit(request->in_parts, request->num_in_parts, num_sites) ||
        !parts_fit(request->out_parts, request->num_out_parts, num_sites))
        return "a part is too large, or for no site";
    if (!own_parts_match(request))
        return "what this site sends itself is not what it receives";
    return NULL;
}

/* A new field must be added in cohort__request_words, unless it is the communicator's, or the
 * contents of parts. */
_Static_assert(sizeof(struct cohort__request) == 104, "cohort__request_words knows all fields");

void cohort__request_words(const struct cohort__request *request,
                           uint64_t ret_words[COHORT__REQUEST_WORDS])
{
    const uint64_t words[COHORT__REQUEST_WORDS] = {
        request->collective | (uint64_t)request->commutative << 32 |
            (uint64_t)request->can_meet << 33 | (uint64_t)(request->in_parts != NULL) << 34 |
            (uint64_t)(request->out_parts != NULL) << 35 | (uint64_t)request->meets << 36 |
            (uint64_t)request->has_notes << 37,
        request->num_sites | (uint64_t)request->this_site << 32,
        request->root | (uint64_t)request->arity << 32,
        request->shift | (uint64_t)request->inner << 32,
        request->bytes,
        request->element,
        request->num_in_parts | (uint64_t)request->num_out_parts << 32,
    };
    memcpy(ret_words, words, sizeof(words));
}

const char *cohort__request_refuses(const struct cohort__request *request)
{
    if (request->this_site >= request->num_sites)
        return "no such site";
    if (request->root >= request->num_sites)
        return "no such root";
    if (request->arity < 2)
        return "the arity is below 2";
    if (request->bytes % cohort__request_element(request) != 0)
        return "the block is no whole number of elements";
    if (request->collective == COHORT__SHIFT && request->shift >= request->num_sites)
        return "the shift is not below the number of sites";
    if (!fits(request))
        return "the blocks are too large";
    return parts_refuse(request);
}

bool cohort__algorithm_may_lead(const struct cohort__algorithm *algorithm,
                                const struct cohort__algorithm *composed)
{
    return composed->stages && algorithm->collective == composed->top && !algorithm->shared &&
           !algorithm->hierarchical && !algorithm->stages;
}

const char *cohort__algorithm_name(uint32_t row, uint32_t inner,
                                   char ret_name[COHORT__ALGORITHM_NAME])
{
    snprintf(ret_name, COHORT__ALGORITHM_NAME, inner > 0 ? "%s(%s)" : "%s",
             cohort__algorithms[row]->name, inner > 0 ? cohort__algorithms[inner - 1]->name : "");
    return ret_name;
}

const char *cohort__algorithm_refuses(const struct cohort__algorithm *algorithm,
                                      const struct cohort__request *request)
{
    if (algorithm->collective != request->collective)
        return "it is for another collective";
    const char *wrong = cohort__request_refuses(request);
    if (wrong)
        return wrong;
    if ((request->in_parts || request->out_parts) && !algorithm->ragged)
        return "all blocks have to be of one size";
    if (algorithm->shared && !request->can_meet)
        return "all sites have to be in one locality, or bring little enough for what they share";
    if (algorithm->accepts && !algorithm->accepts(request))
        return algorithm->needs;
    return NULL;
}

/* REQUEST as ALGORITHM sees it. */
static struct cohort__request own_of(const struct cohort__algorithm *algorithm,
                                     const struct cohort__request *request)
{
    struct cohort__request own = *request;
    if (algorithm->flat)
        own.arity = own.num_sites;
    return own;
}

struct cohort__cost cohort__algorithm_cost(const struct cohort__algorithm *algorithm,
                                           const struct cohort__request *request)
{
    const struct cohort__request own = own_of(algorithm, request);
    return algorithm->mesh ? algorithm->cost_on(&own, algorithm->mesh(own.num_sites))
                           : algorithm->cost(&own);
}

cohort_status cohort__algorithm_plan(const struct cohort__algorithm *algorithm,
                                     const struct cohort__request *request,
                                     struct cohort__plan **ret_plan)
{
    const struct cohort__request own = own_of(algorithm, request);
    struct cohort__plan_builder *builder = NULL;
    uint32_t row = 0;
    while (cohort__algorithms[row] != algorithm)
        row++;
    cohort_status status = cohort__plan_builder_create(&builder, plan_names[row],
                                                       request->num_sites, request->this_site);
    if (status)
        return status;
    if (request->num_sites == 1 && cohort__collective_reduces(algorithm->collective)) {
        if (algorithm->collective != COHORT__EXCLUSIVE_SCAN)
            cohort__alone_append(builder, request);
    } else if (algorithm->mesh) {
        algorithm->build_on(builder, &own, algorithm->mesh(own.num_sites));
    } else {
        algorithm->build(builder, &own);
    }
    return cohort__plan_finish(builder, ret_plan);
}

cohort_status cohort__algorithm_build(const struct cohort__algorithm *algorithm,
                                      const struct cohort__request *request,
                                      struct cohort__plan **ret_plan)
{
    const char *wrong = cohort__algorithm_refuses(algorithm, request);
    if (!wrong && algorithm->shared)
        wrong = "it has no plan";
    if (wrong)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "algorithm %s for %s at site %u of %u, root %u, arity %u, %zu bytes: %s",
                           algorithm->name, cohort__collective_name(request->collective),
                           request->this_site, request->num_sites, request->root, request->arity,
                           request->bytes, wrong);
    return cohort__algorithm_plan(algorithm, request, ret_plan);
}

enum { PHASE = 1 };

void cohort__alone_append(struct cohort__plan_builder *builder,
                          const struct cohort__request *request)
{
    const struct cohort__part in = cohort__request_in(request, 0);
    uint32_t to = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, in.bytes);
    uint32_t from = cohort__plan_range(builder, COHORT__SPACE_IN, in.offset, in.bytes);
    cohort__plan_copy(builder, PHASE, to, from);
}
