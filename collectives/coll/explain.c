/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/explain.h"

#include "collectives/coll/can_meet.h"
#include "collectives/coll/choice.h"
#include "collectives/coll/forced.h"
#include "collectives/comm/endpoint.h"
#include "collectives/exec/op.h"
#include "collectives/model/explain.h"

/* The request that a call with these arguments makes. */
static cohort_status describe(const cohort_comm *comm, const char *function, const char *name,
                              size_t count, cohort_datatype datatype, const cohort_op *op,
                              struct cohort__request *ret_request)
{
    enum cohort__collective collective = cohort__collective_find(name);
    if (collective == COHORT__NUM_COLLECTIVES)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: \"%.60s\" is no collective", function,
                           name);
    bool has_data = collective != COHORT__BARRIER;
    size_t element = has_data ? cohort_datatype_size(datatype) : 1, bytes;
    if (element == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %llu is no datatype", function,
                           (unsigned long long)datatype);
    if (__builtin_mul_overflow(has_data ? count : 0, element, &bytes))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s: %zu elements of %zu bytes are more than memory", function, count,
                           element);
    uint32_t num_sites = cohort_comm_num_sites(comm);
    bool reduces = cohort__collective_reduces(collective);
    *ret_request = (struct cohort__request){
        .collective = collective,
        .num_sites = num_sites,
        .root = cohort__collective_is_rooted(collective) ? comm->root_site : 0,
        .arity = comm->arity,
        .shift = collective == COHORT__SHIFT ? 1 % num_sites : 0,
        .bytes = bytes,
        .element = reduces ? element : 1,
        .commutative = !reduces || !op || op->commutative,
        .can_meet = cohort__call_can_meet(comm, collective, bytes),
    };
    return COHORT_OK;
}

cohort_status cohort_explain(cohort_comm *comm, const char *collective, size_t count,
                             cohort_datatype datatype, const cohort_op *op, char **ret_text)
{
    struct cohort__request request;
    struct cohort__question question;
    if (!comm || !collective || !ret_text)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_explain: no %s",
                           !comm         ? "communicator"
                           : !collective ? "collective"
                                         : "place for the text");
    cohort_status status =
        describe(comm, "cohort_explain", collective, count, datatype, op, &request);
    if (!status)
        status = cohort__choice_question(comm, &request, &question);
    return status ? status : cohort__explain(&question, ret_text);
}

cohort_status cohort_algorithm_check(cohort_comm *comm, const char *collective,
                                     const char *algorithm, size_t count, cohort_datatype datatype,
                                     const cohort_op *op)
{
    struct cohort__request request;
    uint8_t row;
    if (!comm || !collective || !algorithm)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_algorithm_check: no %s",
                           !comm         ? "communicator"
                           : !collective ? "collective"
                                         : "algorithm");
    cohort_status status =
        describe(comm, "cohort_algorithm_check", collective, count, datatype, op, &request);
    if (!status)
        status = cohort__forced_find(request.collective, algorithm, &row);
    if (status)
        return status;
    const char *refuses = cohort__algorithm_refuses(cohort__algorithms[row - 1], &request);
    return refuses ? cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s by %s is not possible here: %s",
                                 collective, algorithm, refuses)
                   : COHORT_OK;
}
