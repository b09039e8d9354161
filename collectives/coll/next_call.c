/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/call.h"

#include <string.h>

#include "cohort/collectives.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/endpoint_misuse.h"
#include "runtime/base/options.h"

static const char in_place;
const void *const COHORT_IN_PLACE = &in_place;

static cohort_status set(cohort_comm *comm, const cohort_call_options *options)
{
    struct cohort__next_call *next = &comm->next_call;
    const char *algorithm = options->algorithm ? options->algorithm : "";
    if (strlen(algorithm) >= sizeof(next->algorithm))
        return cohort_fail(
            COHORT_ERR_BAD_PARAMETER,
            "cohort_comm_next_call: communicator \"%.60s\", site %u: \"%.60s...\" is "
            "no name of an algorithm",
            cohort_comm_name(comm), cohort_comm_this_site(comm), algorithm);
    *next = cohort__endpoint_no_options(comm);
    next->has |= COHORT__NEXT_OPTIONS;
    if (options->deadline > 0) {
        next->has |= COHORT__NEXT_DEADLINE;
        next->deadline = options->deadline;
    }
    next->check_asymmetric = options->check_asymmetric;
    next->reproducible = options->reproducible;
    next->has_root = options->root_site != NULL;
    next->root_site = options->root_site ? *options->root_site : 0;
    next->ret_rows = options->ret_rows;
    next->in_layout = options->in_layout;
    next->out_layout = options->out_layout;
    memcpy(next->algorithm, algorithm, strlen(algorithm) + 1);
    return COHORT_OK;
}

cohort_status cohort_comm_next_call_sized(cohort_comm *comm, const cohort_call_options *options,
                                          size_t options_bytes)
{
    cohort__endpoint_check(comm, "cohort_comm_next_call");
    cohort_call_options read;
    if (!comm)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_comm_next_call: no communicator");
    if (!options) {
        comm->next_call = cohort__endpoint_no_options(comm);
        return COHORT_OK;
    }
    cohort_status status = cohort__options_read(&read, sizeof(read), options, options_bytes,
                                                "cohort_comm_next_call: cohort_call_options");
    return status ? status : set(comm, &read);
}
