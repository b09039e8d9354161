/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "runtime/base/error.h"

cohort_status cohort__call_wrong(const struct cohort__call *call, cohort_status status,
                                 const char *format, ...)
{
    char why[COHORT__ERROR_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    return cohort_fail(status, "communicator \"%.60s\", generation %" PRIu64 ", site %u, %s: %s",
                       call->comm->group->name, call->generation, call->comm->this_site,
                       call->function, why);
}

enum cohort__variant cohort__call_variant(const struct cohort__call *call)
{
    if (call->of_objects)
        return call->is_sparse ? COHORT__VARIANT_SPARSE : COHORT__VARIANT_OBJECTS;
    return call->ragged ? call->ragged->variant : COHORT__VARIANT_EQUAL;
}

uint32_t cohort__call_root(const struct cohort__call *call)
{
    const struct cohort_comm *comm = call->comm;
    if (!cohort__collective_is_rooted(call->collective))
        return 0;
    bool is_given =
        call->options->has_root && call->options->root_site < cohort_comm_num_sites(comm);
    return is_given ? call->options->root_site : comm->root_site;
}

uint32_t cohort__call_shift(const struct cohort__call *call)
{
    int64_t num_sites = cohort_comm_num_sites(call->comm);
    int64_t rest = call->q % num_sites;
    return (uint32_t)(rest < 0 ? rest + num_sites : rest);
}

cohort_status cohort__call_cache(cohort_comm *comm, struct cohort__plan_cache **ret_cache)
{
    struct cohort__plan_cache *cache = comm->plans;
    if (!cache) {
        cohort_status status = cohort__plan_cache_create(&cache, &comm->group->commons->plans);
        if (status)
            return status;
        comm->plans_destroy = cohort__plan_cache_destroy;
        comm->plans = cache;
    }
    *ret_cache = cache;
    return COHORT_OK;
}
