/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/comm.h"

#include "collectives/algo/algorithm.h"
#include "collectives/coll/comm_create.h"
#include "collectives/comm/create.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/fingerprint.h"
#include "collectives/exec/op.h"
#include "collectives/model/select.h"
#include "collectives/plan/partition.h"

static const char *collective_name(uint32_t collective)
{
    return collective < COHORT__NUM_COLLECTIVES
               ? cohort__collective_name((enum cohort__collective)collective)
               : "?";
}

static const char *algorithm_name(uint32_t row)
{
    return row < cohort__num_algorithms ? cohort__algorithms[row]->name : "?";
}

static const struct cohort__fingerprint_names names = {
    .collective = collective_name,
    .algorithm = algorithm_name,
    .op = cohort__op_name,
};

static cohort_status choose(const char *name, const cohort_comm_options *options,
                            struct cohort__comm_choice *ret_choice)
{
    const struct cohort__algorithm *forced = NULL;
    if (options->all_to_all_algorithm) {
        forced = cohort__algorithm_find(COHORT__ALL_TO_ALL, options->all_to_all_algorithm);
        if (!forced)
            return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                               "communicator \"%s\": site %u: no all_to_all algorithm is called "
                               "\"%.60s\"",
                               name, options->this_site, options->all_to_all_algorithm);
    }
    ret_choice->all_to_all = forced;
    ret_choice->is_flat = cohort__select_is_flat(options->num_sites, options->arity,
                                                 options->flat_fallback_threshold);
    return COHORT_OK;
}

cohort_future *cohort__comm_create_for(struct cohort__process *process, cohort_comm **ret_comm,
                                       const char *name, const cohort_comm_options *options)
{
    cohort__fingerprint_set_names(&names);
    return cohort__comm_create_in(process, ret_comm, name, options, choose);
}

cohort_future *cohort_comm_create(cohort_comm **ret_comm, const char *name,
                                  const cohort_comm_options *options)
{
    return cohort__comm_create_for(cohort__process_current(), ret_comm, name, options);
}

uint32_t cohort_comm_levels(const cohort_comm *comm)
{
    return comm->is_flat ? 1 : cohort__partition_levels(cohort_comm_num_sites(comm), comm->arity);
}
