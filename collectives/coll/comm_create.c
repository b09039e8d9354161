/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/comm_create.h"

#include <stdatomic.h>
#include <string.h>

#include "cohort/comm.h"
#include "collectives/algo/algorithm.h"
#include "collectives/coll/forced.h"
#include "collectives/coll/tuning.h"
#include "collectives/comm/create.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/fingerprint.h"
#include "collectives/exec/op.h"
#include "collectives/model/select.h"
#include "collectives/plan/partition.h"
#include "runtime/base/options.h"
#include "runtime/base/trace.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"

static enum cohort__trace_needs needs_of(uint32_t collective)
{
    static const enum cohort__trace_needs needs[COHORT__NUM_COLLECTIVES] = {
        [COHORT__GATHER] = COHORT__TRACE_NEEDS_ALL_AT_ROOT,
        [COHORT__SCATTER] = COHORT__TRACE_NEEDS_ROOT,
        [COHORT__BROADCAST] = COHORT__TRACE_NEEDS_ROOT,
        [COHORT__REDUCE] = COHORT__TRACE_NEEDS_ALL_AT_ROOT,
        [COHORT__ALL_GATHER] = COHORT__TRACE_NEEDS_ALL,
        [COHORT__ALL_REDUCE] = COHORT__TRACE_NEEDS_ALL,
        [COHORT__ALL_TO_ALL] = COHORT__TRACE_NEEDS_ALL,
        [COHORT__BARRIER] = COHORT__TRACE_NEEDS_ALL,
        [COHORT__REDUCE_SCATTER] = COHORT__TRACE_NEEDS_ALL,
        [COHORT__SCAN] = COHORT__TRACE_NEEDS_LOWER,
        [COHORT__EXCLUSIVE_SCAN] = COHORT__TRACE_NEEDS_LOWER,
        [COHORT__SHIFT] = COHORT__TRACE_NEEDS_SOURCE,
        [COHORT__EXCHANGE] = COHORT__TRACE_NEEDS_ITSELF, /* whom else, is not known */
        [COHORT__CHECK] = COHORT__TRACE_NEEDS_ALL,
    };
    return needs[collective];
}

static void write_row(uint32_t needs, uint32_t row, uint32_t collective, const char *name)
{
    cohort__trace(COHORT__TRACE_ROW, needs, row, collective, 0);
    cohort__trace_write_text(COHORT__TRACE_TEXT, name, strlen(name));
}

/* Writes into the trace, once, how the collectives and their rows are called, and whose calls a
 * site's result depends on. Any thread. */
static void trace_names_write(void)
{
    static atomic_bool is_written;
    if (atomic_exchange(&is_written, true))
        return;
    for (uint32_t i = 0; i < COHORT__NUM_COLLECTIVES; i++)
        write_row(needs_of(i), COHORT__TRACE_NO_ROW, i,
                  cohort__collective_name((enum cohort__collective)i));
    for (uint32_t i = 0; i < cohort__num_algorithms; i++)
        write_row(needs_of(cohort__algorithms[i]->collective), i, cohort__algorithms[i]->collective,
                  cohort__algorithms[i]->name);
}

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

static const char *place_name(uint32_t collective)
{
    if (collective == COHORT__SHIFT)
        return "by";
    bool is_rooted = collective < COHORT__NUM_COLLECTIVES &&
                     cohort__collective_is_rooted((enum cohort__collective)collective);
    return is_rooted ? "root" : NULL;
}

static const char *suffix(uint32_t collective, enum cohort__variant variant)
{
    static const char *const suffixes[] = {
        [COHORT__VARIANT_EQUAL] = "",         [COHORT__VARIANT_COUNTS] = "v",
        [COHORT__VARIANT_TYPES] = "w",        [COHORT__VARIANT_OBJECTS] = " of objects",
        [COHORT__VARIANT_SPARSE] = "_sparse",
    };
    return collective == COHORT__EXCHANGE ? "" : suffixes[variant];
}

/* A site of the others completes only after all have called, unless its blocks are empty. */
static bool may_end_alone(uint32_t collective)
{
    switch (collective) {
    case COHORT__ALL_GATHER:
    case COHORT__ALL_REDUCE:
    case COHORT__ALL_TO_ALL:
    case COHORT__BARRIER:
    case COHORT__REDUCE_SCATTER:
    case COHORT__CHECK:
        return false;
    default:
        return true;
    }
}

static const struct cohort__signature_names names = {
    .collective = collective_name,
    .algorithm = algorithm_name,
    .op = cohort__op_name,
    .place = place_name,
    .suffix = suffix,
    .may_end_alone = may_end_alone,
};

/* Site 0's parameters hold for all. The other sites read theirs, too, so that an error in them is
 * found now, and not when they are site 0 of another communicator. */
static cohort_status survey_tuning(uint32_t this_site, struct cohort__comm_settings *settings)
{
    struct cohort__bytes own = {0};
    cohort_status status = cohort__tuning_local(&own.data, &own.bytes);
    if (!status && this_site == 0)
        settings->tuning = own;
    return status;
}

static cohort_status choose(const char *name, const cohort_comm_options *options,
                            struct cohort__comm_choice *ret_choice)
{
    ret_choice->is_flat = cohort__select_is_flat(options->num_sites, options->arity,
                                                 options->flat_fallback_threshold);
    if (cohort__forced_parse(options->algorithms, ret_choice->forced))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "communicator \"%.60s\": site %u: %s", name,
                           options->this_site, cohort_error_message());
    cohort__forced_print(ret_choice->forced, ret_choice->algorithms,
                         sizeof(ret_choice->algorithms));
    ret_choice->is_tree_forced = options->flat_fallback_threshold == 0;
    return COHORT_OK;
}

cohort_future *cohort__comm_create_for(struct cohort__process *process, cohort_comm **ret_comm,
                                       const char *name, const cohort_comm_options *options)
{
    cohort__signature_set_names(&names);
    if (cohort__trace_is_on)
        trace_names_write();
    return cohort__comm_create_in(process, ret_comm, name, options, choose, survey_tuning);
}

cohort_future *cohort_comm_create_sized(cohort_comm **ret_comm, const char *name,
                                        const cohort_comm_options *options, size_t options_bytes)
{
    cohort_comm_options read;
    cohort_status status = cohort__options_read(&read, sizeof(read), options, options_bytes,
                                                "cohort_comm_create: cohort_comm_options");
    if (!status && cohort__fork_is_child())
        status = cohort__fork_refuse("cohort_comm_create");
    if (status)
        return cohort__future_of_status(status, cohort__error_slot());
    bool is_up = cohort__scheduler_hold();
    cohort_future *future =
        cohort__comm_create_for(is_up ? cohort__process_current() : NULL, ret_comm, name, &read);
    cohort__scheduler_release();
    return future;
}

uint32_t cohort_comm_levels(const cohort_comm *comm)
{
    cohort__endpoint_check_there(comm, "cohort_comm_levels");
    return comm->is_flat ? 1 : cohort__partition_levels(cohort_comm_num_sites(comm), comm->arity);
}
