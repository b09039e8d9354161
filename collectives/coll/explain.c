/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/explain.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/coll/call_check.h"
#include "collectives/coll/call_plan.h"
#include "collectives/coll/call_shape.h"
#include "collectives/comm/endpoint.h"
#include "collectives/exec/check_values.h"
#include "collectives/exec/op.h"
#include "collectives/model/select.h"
#include "runtime/base/options.h"

/* Calls that are not made, but asked about. They are described like real ones, and checked by the
 * same code. */

/* A call, with memory for what it points to. */
struct subject {
    struct cohort__call call;
    struct cohort__next_call options;
    struct cohort__ragged ragged;
    struct cohort__shape shape;
    struct cohort__part *parts;
    struct cohort__request request;
    struct cohort__question question;
};

static cohort_status unused(void *result, const void *left, const void *right, size_t count,
                            cohort_datatype datatype, void *arg)
{
    (void)result, (void)left, (void)right, (void)count, (void)datatype, (void)arg;
    return COHORT_ERR_NOT_SUPPORTED;
}

/* Used if the caller names no operation: a user's one, for any datatype. */
static const cohort_op any_op = {.function = unused, .refs = 1, .commutative = true, .name = "any"};

static cohort_status set_options(struct subject *subject, const char *function,
                                 const cohort_call_question *asked)
{
    struct cohort__next_call *options = &subject->options;
    if (asked->algorithm && strlen(asked->algorithm) >= sizeof(options->algorithm))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: \"%.60s...\" is no name of an algorithm",
                           function, asked->algorithm);
    if (asked->algorithm)
        memcpy(options->algorithm, asked->algorithm, strlen(asked->algorithm) + 1);
    options->has = COHORT__NEXT_OPTIONS;
    options->check_asymmetric = asked->check_asymmetric;
    options->reproducible = asked->reproducible;
    options->has_root = asked->root_site != NULL;
    options->root_site = asked->root_site ? *asked->root_site : 0;
    return COHORT_OK;
}

static bool has_objects(enum cohort__collective collective)
{
    return collective == COHORT__GATHER || collective == COHORT__SCATTER ||
           collective == COHORT__BROADCAST || collective == COHORT__ALL_GATHER ||
           collective == COHORT__ALL_TO_ALL;
}

static bool has_variant(enum cohort__collective collective)
{
    return collective == COHORT__GATHER || collective == COHORT__SCATTER ||
           collective == COHORT__ALL_GATHER || collective == COHORT__ALL_TO_ALL ||
           collective == COHORT__REDUCE_SCATTER;
}

/* Blocks of different sizes. For all_gatherv and reduce_scatterv all sites know the sizes. */
static cohort_status set_ragged(struct subject *subject, const cohort_call_question *asked)
{
    struct cohort__call *call = &subject->call;
    bool is_exchange = call->collective == COHORT__EXCHANGE;
    bool agrees =
        call->collective == COHORT__ALL_GATHER || call->collective == COHORT__REDUCE_SCATTER;
    if (!is_exchange && !asked->is_ragged)
        return COHORT_OK;
    if (!is_exchange && !has_variant(call->collective))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s has blocks of one size",
                           call->function, cohort__collective_name(call->collective));
    if (agrees && !asked->counts)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no counts", call->function);
    subject->ragged = (struct cohort__ragged){
        .variant = COHORT__VARIANT_COUNTS, .is_graph = is_exchange, .counts_agree = agrees};
    call->ragged = &subject->ragged;
    call->count = 0;
    return COHORT_OK;
}

/* Describes blocks whose sizes all sites know. */
static cohort_status set_parts(struct subject *subject, const cohort_call_question *asked)
{
    const struct cohort__call *call = &subject->call;
    struct cohort__request *request = &subject->shape.request;
    size_t element = cohort_datatype_size(call->datatype);
    subject->parts = calloc(request->num_sites, sizeof(*subject->parts));
    if (!subject->parts)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for describing the blocks",
                           call->function);
    for (uint32_t site = 0; site < request->num_sites; site++) {
        struct cohort__part *part = &subject->parts[site];
        part->site = site;
        if (__builtin_mul_overflow(asked->counts[site], element, &part->bytes))
            return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                               "%s: counts, block %u: %zu elements of %zu bytes end beyond memory",
                               call->function, site, asked->counts[site], element);
    }
    if (call->collective == COHORT__REDUCE_SCATTER) {
        request->in_parts = subject->parts;
        request->num_in_parts = request->num_sites;
    } else {
        request->out_parts = subject->parts;
        request->num_out_parts = request->num_sites;
    }
    return COHORT_OK;
}

/* Describes the call as the collective's own function does, but without buffers. */
static cohort_status set_call(struct subject *subject, cohort_comm *comm, const char *function,
                              const cohort_call_question *asked)
{
    enum cohort__collective collective = cohort__collective_find(asked->collective);
    bool has_data = collective != COHORT__BARRIER && !asked->of_objects;
    if (collective == COHORT__NUM_COLLECTIVES || collective == COHORT__CHECK)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: \"%.60s\" is no collective", function,
                           asked->collective);
    if (asked->of_objects && (asked->is_ragged || !has_objects(collective)))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s%s does not take objects", function,
                           asked->collective, asked->is_ragged ? "v" : "");
    subject->call = (struct cohort__call){
        .function = function,
        .collective = collective,
        .comm = comm,
        .of_objects = asked->of_objects,
        .count = asked->of_objects ? 1
                 : has_data        ? asked->count
                                   : 0,
        .datatype = has_data ? asked->datatype : 0,
        .op = !cohort__collective_reduces(collective) ? NULL
              : asked->op                             ? asked->op
                                                      : &any_op,
        .q = asked->q,
    };
    return set_ragged(subject, asked);
}

/* The question that the call would ask. The shape is made without the blocks, since these would be
 * described in scratch memory of the endpoint, which belongs to its calls. */
static cohort_status ask(struct subject *subject, cohort_comm *comm, const char *function,
                         const cohort_call_question *asked)
{
    struct cohort__call *call = &subject->call;
    cohort_status status = set_call(subject, comm, function, asked);
    if (!status)
        status = set_options(subject, function, asked);
    if (status)
        return status;
    cohort__call_take_options(call, &subject->options);
    status = cohort__call_check(call);
    const struct cohort__ragged *ragged = call->ragged;
    call->ragged = NULL;
    if (!status)
        status = cohort__call_shape(call, &subject->shape);
    call->ragged = ragged;
    if (!status && ragged && ragged->counts_agree)
        status = set_parts(subject, asked);
    return status ? status
                  : cohort__call_question(call, &subject->shape, &subject->request,
                                          &subject->question);
}

cohort_status cohort_explain(cohort_comm *comm, const char *collective, size_t count,
                             cohort_datatype datatype, const cohort_op *op, char **ret_text)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_explain");
    if (!comm || !collective || !ret_text)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_explain: no %s",
                           !comm         ? "communicator"
                           : !collective ? "collective"
                                         : "place for the text");
    struct subject subject = {0};
    cohort_status status =
        ask(&subject, comm, "cohort_explain",
            &(cohort_call_question){
                .collective = collective, .count = count, .datatype = datatype, .op = op, .q = 1});
    if (!status)
        status = cohort__explain(&subject.question, comm->group->machine,
                                 cohort__group_turn(comm->group), ret_text);
    free(subject.parts);
    return status;
}

/* The outcome of the agreement if all sites make this call. WRONG: the call is wrong, or takes too
 * much memory, and the error that is set says why. */
static cohort_status judge_agreement(const struct cohort__call *call, bool wrong)
{
    char text[512];
    struct cohort__check_values minima =
        wrong ? cohort__check_values_of_wrong_call() : cohort__check_values_of(call->datatype);
    cohort_status status = cohort__check_values_judge(&minima);
    if (wrong && cohort__error_slot()->status == COHORT_ERR_NO_MEMORY)
        return COHORT_ERR_NO_MEMORY;
    if (wrong)
        return cohort_fail(status, "%s", cohort_error_message());
    cohort__check_values_describe(&minima, call->datatype, text, sizeof(text));
    return status ? cohort__call_wrong(call, status, "%s", text) : COHORT_OK;
}

static cohort_status check(cohort_comm *comm, const char *function,
                           const cohort_call_question *asked)
{
    struct subject subject = {0};
    struct cohort__candidate choice;
    if (!comm || !asked->collective)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no %s", function,
                           comm ? "collective" : "communicator");
    cohort_status status = ask(&subject, comm, function, asked);
    if (!status)
        status = cohort__call_choose(&subject.call, &subject.shape, &choice);
    if (subject.call.is_checked)
        status = judge_agreement(&subject.call, status);
    free(subject.parts);
    return status;
}

cohort_status cohort_call_check_sized(cohort_comm *comm, const cohort_call_question *question,
                                      size_t question_bytes)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_call_check");
    cohort_call_question asked;
    cohort_status status = cohort__options_read(&asked, sizeof(asked), question, question_bytes,
                                                "cohort_call_check: cohort_call_question");
    return status ? status : check(comm, "cohort_call_check", &asked);
}

cohort_status cohort_algorithm_check(cohort_comm *comm, const char *collective,
                                     const char *algorithm, size_t count, cohort_datatype datatype,
                                     const cohort_op *op)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_algorithm_check");
    if (!algorithm)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_algorithm_check: no algorithm");
    return check(comm, "cohort_algorithm_check",
                 &(cohort_call_question){.collective = collective,
                                         .algorithm = algorithm,
                                         .count = count,
                                         .datatype = datatype,
                                         .op = op,
                                         .q = 1});
}
