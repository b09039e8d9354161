/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/engine.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/message.h"
#include "collectives/comm/operation.h"
#include "collectives/comm/remote.h"
#include "collectives/exec/activity.h"
#include "collectives/exec/execution.h"
#include "collectives/exec/meet.h"
#include "collectives/exec/note_steps.h"
#include "collectives/exec/object_steps.h"
#include "collectives/exec/rejection.h"
#include "collectives/exec/sparse_steps.h"
#include "collectives/exec/stall.h"
#include "runtime/task/future.h"

/* What an execution waits for: asks for it, keeps the answers, and describes it. */

/* Whether STEP waits for its peer, which has to send, or to take what it is sent. Before the sites
 * agree, an early SEND does not: its peer may be wrong, and the agreement is to say so. */
static bool awaits(const struct cohort__execution *execution, uint32_t step)
{
    const uint8_t kind = execution->plan->steps[step].kind;
    if (kind == COHORT__STEP_MEET || kind == COHORT__STEP_POST)
        return false; /* see meet.c, note_steps.c */
    if (cohort__execution_is_before_agreement(execution, step))
        return false;
    if (execution->states[step] != COHORT__STEP_BUSY)
        return execution->states[step] == COHORT__STEP_POSTED;
    const struct cohort__activity *activity = execution->held[step];
    return activity->kind == COHORT__ACTIVITY_SEND || activity->kind == COHORT__ACTIVITY_LOAN;
}

/* The sites that steps of EXECUTION wait for, each of them once. */
struct walk {
    const struct cohort__execution *execution;
    bool *seen;    /* by site; NULL: no memory, so one may come more than once */
    uint32_t step; /* the first that waits for SITE */
    uint32_t site;
};

static struct walk walk_begin(const struct cohort__execution *execution)
{
    return (struct walk){.execution = execution,
                         .seen = calloc(execution->plan->num_sites, sizeof(bool)),
                         .step = UINT32_MAX};
}

/* False: there is none any more. */
static bool walk_next(struct walk *walk)
{
    while (++walk->step < walk->execution->plan->num_steps) {
        if (!awaits(walk->execution, walk->step))
            continue;
        walk->site = cohort__note_awaited(walk->execution, walk->step);
        if (walk->seen && walk->seen[walk->site])
            continue;
        if (walk->seen)
            walk->seen[walk->site] = true;
        return true;
    }
    return false;
}

static void walk_end(struct walk *walk)
{
    free(walk->seen);
}

/* Steps by their sites. A site may be asked by all others, and answers each; and gets an answer of
 * each. So neither may take as long as a plan that has steps with all of them. */

/* Whom a READ waits for changes while it does, so they are behind all sites. */
static uint32_t site_of(const struct cohort__plan *plan, uint32_t step)
{
    const struct cohort__step *what = &plan->steps[step];
    return what->kind == COHORT__STEP_READ ? COHORT__NO_SITE : what->peer;
}

static int compare(const void *left, const void *right, void *plan)
{
    uint32_t site = site_of(plan, *(const uint32_t *)left);
    uint32_t other = site_of(plan, *(const uint32_t *)right);
    return (site > other) - (site < other);
}

/* Steps of other kinds wait for no single site. */
static struct cohort__steps_by_site *sort_steps(const struct cohort__plan *plan)
{
    struct cohort__steps_by_site *sorted =
        malloc(sizeof(*sorted) + plan->num_steps * sizeof(sorted->steps[0]));
    if (!sorted)
        return NULL;
    sorted->num = 0;
    for (uint32_t step = 0; step < plan->num_steps; step++) {
        const uint8_t kind = plan->steps[step].kind;
        if (kind == COHORT__STEP_SEND || kind == COHORT__STEP_RECV || kind == COHORT__STEP_READ)
            sorted->steps[sorted->num++] = step;
    }
    qsort_r(sorted->steps, sorted->num, sizeof(sorted->steps[0]), compare, (void *)plan);
    return sorted;
}

/* Those of one site; or the READs. */
struct steps {
    const uint32_t *of;
    uint32_t num;
};

/* False: there is no memory. */
static bool find_steps(struct cohort__execution *execution, uint32_t site, struct steps *ret_steps)
{
    if (!execution->by_site)
        execution->by_site = sort_steps(execution->plan);
    const struct cohort__steps_by_site *sorted = execution->by_site;
    if (!sorted)
        return false;
    uint32_t first = 0, end = sorted->num;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (site_of(execution->plan, sorted->steps[middle]) < site)
            first = middle + 1;
        else
            end = middle;
    }
    while (end < sorted->num && site_of(execution->plan, sorted->steps[end]) == site)
        end++;
    *ret_steps = (struct steps){&sorted->steps[first], end - first};
    return true;
}

/* By site, how many messages PLAN receives from it, besides those of its agreement. Only in an
 * exchange may that be more than it sends: there they are the blocks. The caller frees it. NULL: no
 * memory. */
static uint32_t *count_recvs(const struct cohort__plan *plan)
{
    uint32_t *nums = calloc(plan->num_sites, sizeof(*nums));
    for (uint32_t i = 0; nums && i < plan->num_steps; i++) {
        const struct cohort__step *step = &plan->steps[i];
        if (step->kind == COHORT__STEP_RECV && step->phase != COHORT__PHASE_CHECK)
            nums[step->peer]++;
    }
    return nums;
}

static bool execution_stalled(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    struct walk walk = walk_begin(execution);
    uint32_t *nums = count_recvs(execution->plan);
    while (walk_next(&walk)) {
        if (execution->answers[walk.step] == COHORT__ANSWER_COMPLETED) {
            walk_end(&walk);
            free(nums);
            cohort__fail_forgotten(operation, walk.site);
            return true;
        }
        const uint32_t num = nums ? nums[walk.site] % (1U << COHORT__TAG_BITS) : 0;
        cohort__operation_ask(operation, walk.site,
                              cohort__message_tag(execution->plan->steps[walk.step].phase, num));
    }
    walk_end(&walk);
    free(nums);
    cohort__note_steps_stalled(execution);
    cohort__meets_stalled(execution);
    return true;
}

/* Plans don't change, so the answer is right whenever it is given: whatever is on its way. */
static uint32_t execution_num_sends(struct cohort__operation *operation, uint32_t site)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    struct steps steps;
    uint32_t num = 0;
    if (!find_steps(execution, site, &steps))
        return UINT32_MAX;
    for (uint32_t i = 0; i < steps.num; i++) {
        const struct cohort__step *step = &execution->plan->steps[steps.of[i]];
        num += step->kind == COHORT__STEP_SEND && step->phase != COHORT__PHASE_CHECK;
    }
    return num;
}

/* Without memory the answer is lost: it will ask again. */
static void execution_answer(struct cohort__operation *operation, uint32_t site,
                             enum cohort__answer answer)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    const uint32_t places[] = {site, COHORT__NO_SITE};
    struct steps steps;
    for (int k = 0; k < 2 && find_steps(execution, places[k], &steps); k++)
        for (uint32_t i = 0; i < steps.num; i++)
            if (awaits(execution, steps.of[i]) &&
                cohort__note_awaited(execution, steps.of[i]) == site)
                execution->answers[steps.of[i]] = (uint8_t)answer;
    cohort__meets_answer(execution, site, answer);
}

static uint32_t execution_find_absent(const struct cohort__operation *operation)
{
    return cohort__meets_find_absent((const struct cohort__execution *)operation);
}

static void execution_peer_died(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    bool was_entered = execution->is_entered;
    cohort__execution_enter(execution);
    if (!operation->failure.status)
        (void)cohort__operation_fail_if_broken(operation);
    if (!was_entered)
        cohort__execution_leave(execution);
}

static size_t execution_describe(const struct cohort__operation *operation, char *text, size_t used,
                                 size_t capacity)
{
    const struct cohort__execution *execution = (const struct cohort__execution *)operation;
    char what[COHORT__SIGNATURE_TEXT];
    cohort__signature_describe(&operation->signature, what, sizeof(what));
    used = cohort__describe_append(text, used, capacity,
                                   "generation %" PRIu64 ", %s:", operation->generation, what);
    struct walk walk = walk_begin(execution);
    while (used + 1 < capacity && walk_next(&walk))
        used = cohort__describe_awaited(operation, text, used, capacity, walk.site,
                                        execution->answers[walk.step]);
    walk_end(&walk);
    used = cohort__note_steps_describe(execution, text, used, capacity);
    used = cohort__meets_describe(execution, text, used, capacity);
    return cohort__describe_append(text, used, capacity, "\n");
}

static const struct cohort__step *step_at(const struct cohort__execution *execution, uint32_t step)
{
    return &execution->plan->steps[step];
}

/* An agreement is about bytes, even if the call is about objects. */
static const struct cohort__step_mode *mode_at(const struct cohort__execution *execution,
                                               uint32_t step)
{
    return step_at(execution, step)->phase == COHORT__PHASE_CHECK ? &cohort__byte_mode
                                                                  : execution->mode;
}

/* A message for a RECV. Takes MESSAGE. */
static void step_message(struct cohort__execution *execution, struct cohort__message *message)
{
    uint32_t step =
        cohort__plan_find_recv(execution->plan, cohort__message_phase(message->tag),
                               message->source_site, message->tag & ((1u << COHORT__TAG_BITS) - 1));
    uint8_t state = step == UINT32_MAX ? COHORT__STEP_OVER : execution->states[step];
    if (state == COHORT__STEP_POSTED) {
        mode_at(execution, step)->receive(execution, step, message);
    } else if (state == COHORT__STEP_IDLE) {
        execution->states[step] = COHORT__STEP_ARRIVED;
        execution->held[step] = message;
    } else {
        cohort__operation_fail_with(&execution->operation, COHORT_ERR_PROTOCOL,
                                    "site %u sent a message that nobody waits for (tag %x)",
                                    message->source_site, message->tag);
        cohort__message_release(message);
    }
}

/* Of the collective only early SENDs have begun. Unless the sites agree, nothing else will. */
static void look_at_agreement(struct cohort__execution *execution, uint32_t step)
{
    cohort_status status = cohort__check_values_judge(&execution->check);
    if (!status) {
        cohort__execution_step_over(execution, step);
        cohort__operation_agree(&execution->operation);
        return;
    }
    execution->operation.is_refused = true;
    execution->operation.are_all_told = true;
    if (execution->objection.status) {
        if (execution->objection.status != COHORT_ERR_NO_MEMORY) /* the call itself is wrong */
            cohort__error_set(&execution->objection, status, "%s",
                              cohort__error_message(&execution->objection));
        cohort__operation_fail(&execution->operation, &execution->objection);
    } else {
        char text[256];
        cohort__check_values_describe(&execution->check, execution->datatype, text, sizeof(text));
        cohort__operation_fail_with(&execution->operation, status, "%s", text);
    }
}

/* STEP, which waits for no other step any more, begins. */
static void step_start(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *what = step_at(execution, step);
    bool has_arrived = execution->states[step] == COHORT__STEP_ARRIVED;
    if (__builtin_expect(cohort__trace_is_on, 0))
        cohort__execution_trace(execution, step, COHORT__TRACE_STEP);
    switch ((enum cohort__step_kind)what->kind) {
    case COHORT__STEP_JOIN:
        cohort__execution_step_over(execution, step);
        break;
    case COHORT__STEP_DONE:
        cohort__execution_row_done(execution, what->peer);
        cohort__execution_step_over(execution, step);
        break;
    case COHORT__STEP_SEND:
        mode_at(execution, step)->send(execution, step);
        break;
    case COHORT__STEP_RECV:
        execution->states[step] = COHORT__STEP_POSTED;
        if (has_arrived) /* receive takes the message, also if it fails */
            mode_at(execution, step)->receive(execution, step, execution->held[step]);
        break;
    case COHORT__STEP_COPY:
    case COHORT__STEP_ZERO:
    case COHORT__STEP_REDUCE:
    case COHORT__STEP_ROUTE:
        mode_at(execution, step)->compute(execution, step);
        break;
    case COHORT__STEP_MEET:
        cohort__meet_start(execution, step);
        break;
    case COHORT__STEP_POST:
        cohort__note_post(execution, step);
        break;
    case COHORT__STEP_READ:
        cohort__note_read(execution, step);
        break;
    case COHORT__STEP_GUARD:
        look_at_agreement(execution, step);
        break;
    }
}

/* When an operation fails, its site sends the error in place of data for every SEND that is not
 * done, and to those who wait for its notes, and fails its meetings. So the error reaches all sites
 * that depend on it. Then the operation waits as long as another site may access its buffers. A
 * peer that gets the error gives back what was lent or announced to it. If the sites do not agree,
 * no errors are sent: all sites see the same values, and each says so in its own words. */

/* Sends the error to the peer of STEP, a SEND. */
static void tell(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *send = &execution->plan->steps[step];
    const struct cohort__operation *operation = &execution->operation;
    struct cohort__message *message = cohort__message_create(
        COHORT__KIND_ERROR, execution->plan->this_site, operation->generation,
        operation->fingerprint, cohort__message_tag(send->phase, send->tag));
    if (!message)
        return; /* the peer will ask */
    uint64_t handle = 0;
    if (execution->states[step] == COHORT__STEP_BUSY) {
        const struct cohort__activity *activity = execution->held[step];
        if (activity->kind == COHORT__ACTIVITY_SEND)
            handle = cohort__send_handle(&activity->send);
    }
    cohort__error_copy(&message->error, &operation->failure);
    cohort__mail_send(operation->comm->group, send->peer, message, handle);
}

/* STEP, a RECV, needs its message no more. */
static void give_up(struct cohort__execution *execution, uint32_t step)
{
    if (execution->states[step] == COHORT__STEP_ARRIVED) {
        execution->states[step] = COHORT__STEP_OVER;
        cohort__message_release(execution->held[step]);
    } else if (execution->states[step] == COHORT__STEP_BUSY) {
        struct cohort__activity *activity = execution->held[step];
        if (activity->kind == COHORT__ACTIVITY_FETCH)
            cohort__fetch_stop(&activity->fetch);
    }
}

/* A handler of struct cohort__operation_handlers, for executions: the operation fails. */
static void execution_failing(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    const struct cohort__plan *plan = execution->plan;
    bool was_entered = execution->is_entered;
    cohort__execution_enter(execution);
    for (uint32_t step = 0; step < plan->num_steps; step++) {
        if (plan->steps[step].kind == COHORT__STEP_SEND && !operation->is_refused &&
            execution->states[step] != COHORT__STEP_OVER)
            tell(execution, step);
        else if (plan->steps[step].kind == COHORT__STEP_RECV)
            give_up(execution, step);
    }
    cohort__note_steps_fail(execution);
    cohort__meets_fail(execution);
    if (!was_entered)
        cohort__execution_leave(execution);
}

static void leave(struct cohort__execution *execution)
{
    struct cohort__operation *operation = &execution->operation;
    while (execution->ready_first < execution->ready_end && !operation->failure.status)
        step_start(execution, execution->ready[execution->ready_first++]);
    bool finished = execution->num_left == 0 && execution->num_busy == 0;
    if (finished && execution->mode->finish && !operation->failure.status)
        execution->mode->finish(execution);
    execution->is_entered = false;
    bool over = operation->failure.status || execution->num_left == 0;
    if (over && execution->num_busy == 0) {
        cohort__note_steps_end(execution);
        cohort__operation_ended(operation);
    }
}

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static const struct cohort__step_mode *mode_of(const struct cohort__plan_entry *entry)
{
    return entry->key.flags & COHORT__PLAN_SPARSE    ? &cohort__sparse_mode
           : entry->key.flags & COHORT__PLAN_OBJECTS ? &cohort__object_mode
                                                     : &cohort__byte_mode;
}

/* One block of memory for everything: where the arrays lie behind the struct. */
struct form {
    size_t rows;
    size_t meets;
    size_t notes;
    size_t tmp;
    size_t slots;
    size_t end;
};

static size_t num_rows_of(const struct cohort__plan_entry *entry)
{
    return entry->key.flags & COHORT__PLAN_ROWS ? entry->plan->num_sites : 0;
}

static struct form form_of(const struct cohort__plan_entry *entry)
{
    const struct cohort__plan *plan = entry->plan;
    struct form form = {.rows = aligned(sizeof(struct cohort__execution))};
    form.meets = form.rows + aligned(plan->num_steps * (sizeof(void *) + 2 * sizeof(uint32_t) + 2) +
                                     num_rows_of(entry) * sizeof(cohort_future *));
    form.notes = form.meets + aligned(plan->num_meetings * sizeof(struct cohort__meet));
    form.tmp = form.notes +
               aligned((plan->num_posts + plan->num_reads) * sizeof(struct cohort__note_step));
    form.slots = form.tmp + aligned(plan->tmp_bytes);
    form.end =
        form.slots + (mode_of(entry)->has_slots ? aligned(cohort__object_slots_bytes(plan)) : 0);
    return form;
}

size_t cohort__execution_bytes(const struct cohort__plan_entry *entry)
{
    return entry->plan ? form_of(entry).end : 0;
}

static struct cohort__execution *allocate(const struct cohort__plan_entry *entry)
{
    const struct form form = form_of(entry);
    const size_t num = entry->plan->num_steps, num_rows = num_rows_of(entry);
    unsigned char *block = aligned_alloc(64, form.end);
    if (!block)
        return NULL;
    struct cohort__execution *execution = (struct cohort__execution *)block;
    execution->num_rows = (uint32_t)num_rows;
    execution->rows = (cohort_future **)(block + form.rows);
    execution->held = (void **)(execution->rows + num_rows);
    execution->waits = (uint32_t *)(execution->held + num);
    execution->ready = execution->waits + num;
    execution->states = (uint8_t *)(execution->ready + num);
    execution->answers = execution->states + num;
    execution->mode = mode_of(entry);
    execution->leave = leave;
    execution->meets = (struct cohort__meet *)(void *)(block + form.meets);
    execution->note_steps = (struct cohort__note_step *)(void *)(block + form.notes);
    execution->bases[COHORT__SPACE_TMP] = block + form.tmp;
    execution->slots[COHORT__SPACE_IN] = (struct cohort__blob **)(void *)(block + form.slots);
    return execution;
}

/* The rows that are not complete fail with ERROR. */
static void fail_rows(struct cohort__operation *operation, const struct cohort__error *error)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    for (uint32_t row = 0; row < execution->num_rows; row++) {
        cohort_future *future = execution->rows[row];
        execution->rows[row] = NULL;
        if (future)
            cohort__future_complete(future, error->status, error);
    }
}

static void release(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    fail_rows(operation, &operation->failure);
    if (execution->mode->release)
        execution->mode->release(execution);
    struct cohort__plan_entry *entry = execution->entry;
    struct cohort__execution *none = NULL;
    cohort__op_unref(execution->op);
    cohort__error_fini(&execution->objection);
    if (execution->by_site) /* mostly not */
        free(execution->by_site);
    if (!atomic_compare_exchange_strong(&entry->spare, &none, execution))
        free(execution);
    cohort__plan_entry_unref(entry);
}

/* The endpoint's calls ---------------------------------------------------------------------- */

static void start(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    const struct cohort__plan *plan = execution->plan;
    cohort__execution_enter(execution);
    if (cohort__remote_may_be_lost(operation->comm->group))
        execution_peer_died(operation);
    cohort__meets_enter(execution);
    cohort__note_steps_begin(execution);
    for (uint32_t step = 0; step < plan->num_steps; step++)
        if (plan->steps[step].num_waits == 0)
            execution->ready[execution->ready_end++] = step;
    leave(execution);
}

/* Also within the GUARD, which hands in what has come too early. */
static void on_message(struct cohort__operation *operation, struct cohort__message *message)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    bool was_entered = execution->is_entered;
    cohort__execution_enter(execution);
    step_message(execution, message);
    if (!was_entered)
        leave(execution);
}

static const struct cohort__operation_handlers handlers = {
    .start = start,
    .message = on_message,
    .fail = execution_failing,
    .stalled = execution_stalled,
    .answer = execution_answer,
    .find_absent = execution_find_absent,
    .num_sends = execution_num_sends,
    .peer_died = execution_peer_died,
    .describe = execution_describe,
    .refused = fail_rows,
    .release = release,
};

static void take_back_objects(void *out, size_t num)
{
    cohort_objects_fini(out, num);
}

static void take_back_list(void *out, size_t num)
{
    (void)num;
    cohort_site_objects_fini(out);
}

static struct cohort__handout handout_of(const struct cohort__execution *execution, void *out)
{
    if (execution->mode == &cohort__sparse_mode)
        return (struct cohort__handout){take_back_list, out, 1};
    if (execution->mode == &cohort__object_mode)
        return (struct cohort__handout){take_back_objects, out, execution->plan->out_bytes};
    return (struct cohort__handout){0};
}

static cohort_status init(struct cohort__execution *execution,
                          const struct cohort__planned_call *planned, cohort_future *future)
{
    const struct cohort__plan *plan = planned->entry->plan;
    execution->operation = (struct cohort__operation){
        .handlers = &handlers,
        .comm = planned->comm,
        .future = future,
        .generation = planned->generation,
        .fingerprint = planned->fingerprint,
        .sequel = planned->sequel,
    };
    execution->operation.signature = planned->signature;
    execution->entry = planned->entry;
    execution->plan = plan;
    execution->operation.handout = handout_of(execution, planned->out);
    execution->bases[COHORT__SPACE_IN] = (unsigned char *)planned->in;
    execution->bases[COHORT__SPACE_OUT] = planned->out;
    execution->bases[COHORT__SPACE_CHECK] = (unsigned char *)&execution->check;
    execution->check = planned->check;
    execution->objection = (struct cohort__error){0};
    if (planned->objection)
        cohort__error_copy(&execution->objection, planned->objection);
    execution->op = planned->terms.op;
    cohort__op_ref(planned->terms.op);
    execution->datatype = planned->terms.datatype;
    execution->num_left = plan->num_steps;
    execution->num_busy = 0;
    execution->ready_first = 0;
    execution->ready_end = 0;
    execution->is_entered = false;
    execution->by_site = NULL;
    for (uint32_t step = 0; step < plan->num_steps; step++)
        execution->waits[step] = plan->steps[step].num_waits;
    memset(execution->states, COHORT__STEP_IDLE, plan->num_steps);
    memset(execution->answers, COHORT__ANSWER_NONE, plan->num_steps);
    cohort_status status =
        execution->mode->init ? execution->mode->init(execution, planned) : COHORT_OK;
    cohort__meets_init(execution);
    cohort__note_steps_init(execution);
    return status;
}

/* Makes the caller's futures of the rows. If there is no memory for one of them, only that one
 * fails, at once. */
static void init_rows(struct cohort__execution *execution, cohort_future **ret_rows)
{
    for (uint32_t row = 0; row < execution->num_rows; row++) {
        execution->rows[row] = cohort__future_create_about(COHORT__WAIT_COLLECTIVE);
        ret_rows[row] = execution->rows[row] ? execution->rows[row] : cohort__future_no_memory();
    }
}

/* The call can't start for lack of memory, as WHY says. Takes FUTURE and EXECUTION where they are
 * there. */
static cohort_future *no_memory(const struct cohort__planned_call *planned, cohort_future *future,
                                struct cohort__execution *execution, const char *why)
{
    cohort_future *rejected = cohort__rejection_no_memory(planned, why);
    free(execution);
    if (future)
        cohort__future_fail(future, COHORT_ERR_NO_MEMORY, "no memory"); /* nobody has it */
    cohort_future_unref(future);
    return rejected;
}

cohort_future *cohort__execution_start(const struct cohort__planned_call *planned)
{
    cohort_future *future = cohort__future_create_about(COHORT__WAIT_COLLECTIVE);
    struct cohort__execution *execution = atomic_exchange(&planned->entry->spare, NULL);
    if (!execution)
        execution = allocate(planned->entry);
    if (!future || !execution) {
        char why[48];
        snprintf(why, sizeof(why), "no memory for a plan of %u steps",
                 planned->entry->plan->num_steps);
        return no_memory(planned, future, execution, why);
    }
    if (init(execution, planned, future)) {
        cohort__error_fini(&execution->objection);
        cohort__op_unref(execution->op);
        return no_memory(planned, future, execution, cohort_error_message());
    }
    init_rows(execution, planned->ret_rows);
    cohort__plan_entry_ref(planned->entry);
    cohort__operation_call(&execution->operation);
    return future;
}
