/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/position.h"

#include "runtime/base/cores.h"
#include "runtime/launch/domain.h"

/* The topology's hosts and domains are filled in the order of the ranks. */
static cohort_status play(const struct cohort__bootstrap *bootstrap,
                          const struct cohort__topology *topology,
                          struct cohort__position *ret_position)
{
    uint32_t rank = cohort__bootstrap_rank(bootstrap), size = cohort__bootstrap_size(bootstrap);
    uint64_t each = (uint64_t)topology->domains * topology->localities; /* of a host */
    if (size > topology->hosts * each)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "environment variable COHORT_TOPOLOGY is %ux%ux%u, but the job has %u "
                           "localities",
                           (unsigned)topology->hosts, (unsigned)topology->domains,
                           (unsigned)topology->localities, (unsigned)size);
    uint64_t first = rank / each * each, end = first + each < size ? first + each : size;
    uint32_t real_first = rank - cohort__bootstrap_slot(bootstrap);
    if (first < real_first || end > real_first + cohort__bootstrap_sharing(bootstrap))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "environment variable COHORT_TOPOLOGY is %ux%ux%u: localities %u to %u "
                           "are to be one host, but are on several",
                           (unsigned)topology->hosts, (unsigned)topology->domains,
                           (unsigned)topology->localities, (unsigned)first, (unsigned)(end - 1));
    *ret_position = (struct cohort__position){.host = (uint32_t)(rank / each),
                                              .domain = rank / topology->localities,
                                              .cores = cohort__cores_identify()};
    return COHORT_OK;
}

cohort_status cohort__position_find(const struct cohort__bootstrap *bootstrap,
                                    const struct cohort__topology *topology,
                                    struct cohort__position *ret_position)
{
    if (topology->hosts > 0)
        return play(bootstrap, topology, ret_position);
    const struct cohort__binding *binding = cohort__bootstrap_binding(bootstrap);
    uint32_t domain = binding->sharing ? binding->domain : cohort__domain_find();
    *ret_position = (struct cohort__position){.host = cohort__bootstrap_host(bootstrap),
                                              .domain = domain,
                                              .cores = cohort__cores_identify()};
    return COHORT_OK;
}
