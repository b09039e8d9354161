/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_start.h"

#include <string.h>

#include "cohort/call.h"
#include "cohort/collectives.h"
#include "collectives/coll/call.h"
#include "collectives/coll/call_check.h"
#include "collectives/coll/call_layout.h"
#include "collectives/coll/call_plan.h"
#include "collectives/coll/call_shape.h"
#include "collectives/comm/deadline.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/scoped_calls.h"
#include "collectives/comm/site_line.h"
#include "collectives/exec/engine.h"
#include "collectives/exec/meeting_call.h"
#include "collectives/exec/rejection.h"
#include "runtime/base/options.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/scope.h"

static const char in_place;
const void *const COHORT_IN_PLACE = &in_place;

/* The options of the next call --------------------------------------------------------------- */

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

/* The process is a child, or has scopes, of which the caller may be in one, or hooks. */
__attribute__((noinline)) static cohort_status look_closer(const struct cohort__call *call)
{
    if (cohort__fork_is_child())
        return cohort__fork_refuse(call->function);
    if (cohort__scope_current())
        call->comm->next_call.has |= COHORT__NEXT_SCOPE;
    if (cohort__what_is_unusual() & COHORT__UNUSUAL_HOOKS)
        call->comm->hook_bytes = (struct cohort__hook_bytes){.are_known = true};
    return COHORT_OK;
}

/* A call ------------------------------------------------------------------------------------- */

/* CALL has been checked. The sizes of wrong ones are not looked at: what they say may lead to where
 * there is no memory. */
static void tell_bytes(const struct cohort__call *call)
{
    if (cohort__what_is_unusual() & COHORT__UNUSUAL_HOOKS)
        call->comm->hook_bytes = cohort__call_bytes(call);
}

/* Decides the generation and passes the gate. A failure leaves everything as it was. */
static cohort_status pass_gate(struct cohort__call *call)
{
    cohort_comm *comm = call->comm;
    if (cohort__what_is_unusual() && look_closer(call))
        return cohort__error_slot()->status;
    bool wants_auto = call->generation == COHORT_AUTO_GENERATION;
    if (wants_auto != comm->auto_generation) {
        if (wants_auto)
            call->generation = 0; /* for the error message */
        return cohort__call_wrong(
            call, COHORT_ERR_BAD_PARAMETER,
            wants_auto ? "COHORT_AUTO_GENERATION, but the communicator was created "
                         "without auto_generation: number the calls"
                       : "an explicit generation, but the communicator was created with "
                         "auto_generation");
    }
    if (wants_auto)
        call->generation = comm->gate.last + 1;
    if (cohort__gate_pass(&comm->gate, call->generation))
        return cohort__call_wrong(call, cohort__error_slot()->status, "%s", cohort_error_message());
    cohort__site_line_call(comm, call->generation);
    return COHORT_OK;
}

/* The call ends here. The endpoint never knows of it. */
static cohort_future *give_up(const struct cohort__call *call, const struct cohort__error *error)
{
    for (uint32_t row = 0; call->options->ret_rows && row < cohort_comm_num_sites(call->comm);
         row++)
        call->options->ret_rows[row] = cohort__future_of_status(error->status, error);
    return cohort__future_of_status(error->status, error);
}

/* Where there was no memory for it, the error does not say yet whose call it is. */
static cohort_status find_plan(const struct cohort__call *call, struct cohort__shape *shape,
                               struct cohort__plan_entry **ret_entry)
{
    static const char named[] = "communicator \"";
    cohort_status status = cohort__call_shape(call, shape);
    if (!status)
        status = cohort__call_plan(call, shape, ret_entry);
    if (status && strncmp(cohort_error_message(), named, sizeof(named) - 1) != 0)
        cohort__call_wrong(call, status, "%s", cohort_error_message());
    return status;
}

static struct cohort__signature signature_of(const struct cohort__call *call, uint64_t counts_hash,
                                             uint32_t row, uint8_t inner)
{
    const struct cohort__ragged *ragged = call->ragged;
    const cohort_op *op = cohort__collective_reduces(call->collective) ? call->op : NULL;
    const bool is_shift = call->collective == COHORT__SHIFT;
    return (struct cohort__signature){
        .collective = (uint8_t)call->collective,
        .algorithm = (uint8_t)row,
        .inner = inner,
        .datatype = call->collective == COHORT__CHECK ? 0 : call->datatype,
        .op = !op          ? 0
              : op->number ? op->number
                           : cohort__signature_of_users_op(op->hash),
        .place = is_shift ? cohort__call_shift(call) : cohort__call_root(call),
        .variant = (uint8_t)cohort__call_variant(call),
        .checked = call->is_checked,
        .count = ragged ? counts_hash : call->count,
        .count_is_hash = ragged && ragged->counts_agree,
        .purpose = (uint8_t)call->purpose,
    };
}

/* The same call again ------------------------------------------------------------------------ */

static bool is_plain(const struct cohort__call *call)
{
    return !call->ragged && call->in != COHORT_IN_PLACE && call->out != COHORT_IN_PLACE &&
           (!call->op || cohort__op_is_builtin(call->op));
}

/* Mostly a short check of the buffers is enough. */
static bool are_buffers_fine(const struct cohort__call *call, const struct cohort__plan_memo *memo)
{
    bool are_there = (!call->needs_in || call->in) && (!call->needs_out || call->out);
    bool are_apart = cohort__are_apart((uintptr_t)call->in, memo->in_bytes, (uintptr_t)call->out,
                                       memo->out_bytes);
    return (are_there && are_apart && !call->of_objects) || !cohort__call_check_buffers(call);
}

/* The memo that knows CALL, whose buffers are checked again. NULL: there is none. */
static inline struct cohort__plan_memo *find_memo(const struct cohort__call *call)
{
    struct cohort__plan_cache *plans = call->comm->plans;
    if (!plans || (call->options->has & COHORT__NEXT_OPTIONS))
        return NULL;
    struct cohort__plan_memo *memo = cohort__plan_cache_memo(plans);
    const struct cohort__terms *terms = &memo->call.terms;
    const bool is_known = memo->function == call->function && terms->count == call->count &&
                          terms->datatype == call->datatype && terms->op == call->op &&
                          memo->q == call->q && is_plain(call) && are_buffers_fine(call, memo);
    return is_known ? memo : NULL;
}

/* Whether all that CALL, which is plain, does is to copy so many bytes of IN to OUT: its site is
 * the only one. Many bytes are copied by a plan. */
static bool is_alone(const struct cohort__call *call, size_t *ret_bytes)
{
    enum { MOST_BYTES = 4096 };
    const bool copies_none = call->collective == COHORT__BARRIER ||
                             call->collective == COHORT__BROADCAST ||
                             call->collective == COHORT__EXCLUSIVE_SCAN;
    *ret_bytes = copies_none ? 0 : call->count * cohort_datatype_size(call->datatype);
    return cohort_comm_num_sites(call->comm) == 1 && !call->is_checked && !call->of_objects &&
           *ret_bytes <= MOST_BYTES;
}

static void keep_memo(const struct cohort__call *call, const struct cohort__planned_call *planned)
{
    struct cohort__plan_memo *memo = cohort__plan_cache_memo(call->comm->plans);
    *memo = (struct cohort__plan_memo){
        .function = call->function,
        .q = call->q,
        .in_bytes = cohort__call_array_bytes(call, false),
        .out_bytes = cohort__call_array_bytes(call, true),
        .call = *planned,
    };
    memo->is_alone = is_alone(call, &memo->alone_bytes);
}

/* Whether CALL, which MEMO knows, is over now. It has waited for nobody, so it has needed neither
 * its deadline nor its scope. */
static inline bool is_over_alone(const struct cohort__call *call,
                                 const struct cohort__plan_memo *memo)
{
    const size_t bytes = memo->alone_bytes;
    if (!memo->is_alone || !cohort__alone_begin(call->comm, call->generation))
        return false;
    if (bytes == sizeof(uint64_t)) /* a call of a function takes longer */
        memcpy(call->out, call->in, sizeof(uint64_t));
    else if (bytes > 0)
        memcpy(call->out, call->in, bytes);
    cohort__alone_end(call->comm, call->generation, &memo->call.signature);
    return true;
}

static cohort_future *carry_out(const struct cohort__planned_call *planned)
{
    return planned->entry->plan ? cohort__execution_start(planned)
                                : cohort__meeting_call_start(planned);
}

/* Starts CALL, which is like the one in MEMO. */
static cohort_future *start_known(const struct cohort__call *call, struct cohort__plan_memo *memo)
{
    memo->call.generation = call->generation;
    memo->call.in = call->in;
    memo->call.out = call->out;
    return carry_out(&memo->call);
}

static struct cohort__terms terms_of(const struct cohort__call *call,
                                     const struct cohort__request *request)
{
    const size_t element = call->datatype ? cohort_datatype_size(call->datatype) : 1;
    return (struct cohort__terms){
        .kind = &cohort__movement_kinds[call->collective],
        .count = call->count,
        .element = element,
        .stride = call->count * element,
        .datatype = call->datatype,
        .op = call->op,
        .root = request->root,
        .shift = request->shift,
    };
}

/* OBJECTION: NULL, or why the call is wrong. A wrong call takes part in the agreement, so that all
 * sites are told. Takes ENTRY. */
static cohort_future *start(const struct cohort__call *call, const struct cohort__shape *shape,
                            struct cohort__plan_entry *entry, const struct cohort__error *objection)
{
    const bool is_out = call->is_in_place && call->in_place == COHORT__IN_PLACE_OUT;
    struct cohort__planned_call planned = {
        .comm = call->comm,
        .entry = entry,
        .signature = signature_of(call, shape->counts_hash, entry->row, entry->inner),
        .terms = terms_of(call, &shape->request),
        .segments = shape->segments,
        .generation = call->generation,
        .in = call->is_in_place && !is_out ? call->out : call->in,
        .out = is_out ? (void *)call->in : call->out,
        .ret_rows = cohort__call_ret_rows(call),
        .sequel = call->sequel,
        .objection = objection,
    };
    planned.fingerprint = cohort__fingerprint(&planned.signature);
    if (call->is_checked)
        planned.check = objection ? cohort__check_values_of_wrong_call()
                                  : cohort__check_values_of(call->datatype);
    if (!(call->options->has & COHORT__NEXT_OPTIONS) && !objection && is_plain(call))
        keep_memo(call, &planned);
    cohort_future *future = carry_out(&planned);
    cohort__plan_entry_unref(entry);
    return future;
}

/* The call is wrong, or can't be carried out, and its generation is consumed. So all other sites
 * must be told. If there is an agreement before the call, they are told by it. */
static cohort_future *reject(struct cohort__call *call)
{
    struct cohort__error error = {0};
    struct cohort__shape shape;
    struct cohort__plan_entry *entry;
    cohort_future *future;
    cohort__error_copy(&error, cohort__error_slot());
    call->is_alone = true;
    call->holds_rows = false;
    if (call->is_checked && !find_plan(call, &shape, &entry)) {
        future = start(call, &shape, entry, &error);
    } else {
        struct cohort__signature signature = signature_of(call, 0, 0, 0);
        future = cohort__rejection_start(call->comm, call->generation, &signature, &error,
                                         call->options->ret_rows);
    }
    cohort__error_fini(&error);
    return future;
}

/* CALL, which has passed the gate, has a deadline, or its task is in a scope. Without memory for
 * what watches them it fails, as it might never end; and waits for no agreement. */
__attribute__((noinline)) static cohort_status watch(struct cohort__call *call)
{
    const struct cohort__next_call *options = call->options;
    cohort_status status = COHORT_OK;
    if (options->has & COHORT__NEXT_DEADLINE)
        status = cohort__deadline_prepare(call->comm, call->generation, options->deadline,
                                          &call->deadline);
    if (!status && (options->has & COHORT__NEXT_SCOPE)) {
        status = cohort__scoped_calls_prepare(call->comm, call->generation, &call->scoped_run);
        call->is_scoped = !status;
    }
    if (!status)
        return COHORT_OK;
    call->is_checked = false;
    return cohort__call_wrong(call, status, "no memory to watch its deadline or scope");
}

static cohort_future *pass_and_start(struct cohort__call *call)
{
    struct cohort__shape shape;
    struct cohort__plan_entry *entry;
    if (pass_gate(call))
        return give_up(call, cohort__error_slot());
    struct cohort__plan_memo *memo = find_memo(call);
    if (memo && is_over_alone(call, memo))
        return cohort_future_of_value(NULL);
    if (call->options->has && watch(call))
        return reject(call);
    if (memo) {
        tell_bytes(call);
        return start_known(call, memo);
    }
    if (cohort__call_check(call) || find_plan(call, &shape, &entry))
        return reject(call);
    if ((call->ragged || cohort__call_has_layouts(call)) && cohort__call_lay(call, &shape, entry)) {
        cohort__plan_entry_unref(entry);
        return reject(call);
    }
    tell_bytes(call);
    return start(call, &shape, entry, NULL);
}

/* CALL has been made with its options: its task may be in a scope, and the next one has other
 * options. */
__attribute__((noinline)) static void use_up(const struct cohort__call *call)
{
    const struct cohort__next_call *options = call->options;
    if (call->deadline)
        cohort__deadline_add(call->comm, call->deadline);
    if (call->is_scoped)
        cohort__scoped_calls_add(call->comm, call->scoped_run, call->generation);
    call->comm->next_call.has &= (uint8_t)~COHORT__NEXT_SCOPE;
    if (options->has & COHORT__NEXT_OPTIONS)
        call->comm->next_call = cohort__endpoint_no_options(call->comm);
}

/* COHORT__ENDPOINT_ENTER, but that who called is not known. */
static inline void enter(const struct cohort__call *call)
{
    if (!cohort__scheduler_hold() || cohort__is_gone(&call->comm->refs))
        cohort__endpoint_refuse(call->comm, call->function, NULL);
}

cohort_future *cohort__call_start(struct cohort__call *call)
{
    if (!call->comm)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: no communicator",
                                      call->function);
    enter(call);
    /* The options belong to the endpoint, and hold for this call only. */
    cohort__call_take_options(call, &call->comm->next_call);
    cohort_future *future = pass_and_start(call);
    if (call->options->has)
        use_up(call);
    cohort__scheduler_release();
    return future;
}

cohort_future *cohort__call_refuse(struct cohort__call *call, cohort_status status, const char *why)
{
    cohort_future *future;
    enter(call);
    cohort__call_take_options(call, &call->comm->next_call);
    if (pass_gate(call)) {
        future = give_up(call, cohort__error_slot());
    } else {
        if (!watch(call))
            cohort__call_wrong(call, status, "%s", why);
        future = reject(call);
    }
    use_up(call);
    cohort__scheduler_release();
    return future;
}
