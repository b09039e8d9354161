/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/object_steps.h"

#include <stdlib.h>
#include <string.h>

#include "cohort/objects.h"
#include "collectives/comm/blobs.h"
#include "collectives/exec/activity.h"

/* So many bytes of an object are copied when the call is made; more may be borrowed for as long as
 * it lasts. */
enum { COPIED_BYTES_MAX = 4096 };

/* An agreement in front is about bytes, so its steps are not done here. */

/* Slots ---------------------------------------------------------------------------------------- */

static size_t num_slots(const struct cohort__plan *plan)
{
    return plan->in_bytes + plan->out_bytes + plan->tmp_bytes;
}

size_t cohort__object_slots_bytes(const struct cohort__plan *plan)
{
    return num_slots(plan) * sizeof(struct cohort__blob *);
}

/* A walk over the slots of a list of blocks. */
struct walk {
    const struct cohort__execution *execution;
    const uint32_t *block_refs;
    uint32_t num_left; /* blocks after the current one */
    uint32_t piece;
    size_t slot; /* in the current piece */
};

/* A walk over NUM blocks of STEP, from its block FIRST on. */
static struct walk walk_over(const struct cohort__execution *execution, uint32_t step,
                             uint32_t first, uint32_t num)
{
    const struct cohort__plan *plan = execution->plan;
    return (struct walk){execution, plan->block_refs + plan->steps[step].first_block + first, num,
                         0, 0};
}

/* The next slot; NULL at the end. */
static struct cohort__blob **walk_on(struct walk *walk)
{
    for (; walk->num_left > 0; walk->num_left--, walk->block_refs++) {
        const struct cohort__block *block = &walk->execution->plan->blocks[*walk->block_refs];
        if (walk->slot == block->bytes) {
            walk->slot = 0;
            walk->piece++;
        }
        if (walk->piece < block->count && block->bytes > 0)
            return walk->execution->slots[block->space] + block->offset +
                   walk->piece * block->stride + walk->slot++;
        walk->piece = 0;
        walk->slot = 0;
    }
    return NULL;
}

static void put(struct cohort__blob **slot, struct cohort__blob *blob)
{
    cohort__blob_unref(*slot);
    *slot = blob;
}

/* What is in SLOT has data of its own from now on, which outlives the call. */
static cohort_status own(struct cohort__blob **slot)
{
    struct cohort__blob *copy = cohort__blob_create((*slot)->data, (*slot)->bytes);
    if (!copy)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for an object of %zu bytes",
                           (*slot)->bytes);
    put(slot, copy);
    return COHORT_OK;
}

static bool is_borrowed(const struct cohort__blob *blob)
{
    return blob && blob->is_borrowed;
}

/* The objects that STEP sends. They are shared with the slots. A site of this locality may have
 * them for longer than this call lasts. */
static struct cohort__blobs *pick_up(struct cohort__execution *execution, uint32_t step,
                                     bool is_here)
{
    const struct cohort__step *what = &execution->plan->steps[step];
    struct cohort__blobs *objects = NULL;
    cohort_status status = cohort__blobs_create(what->bytes, &objects);
    struct walk walk = walk_over(execution, step, 0, what->num_blocks);
    for (size_t i = 0; !status && i < objects->num; i++) {
        struct cohort__blob **slot = walk_on(&walk);
        if (is_here && is_borrowed(*slot))
            status = own(slot);
        if (!status)
            objects->blobs[i] = cohort__blob_ref(*slot);
    }
    if (!status)
        return objects;
    cohort__operation_fail_with(&execution->operation, status, "%s", cohort_error_message());
    if (objects)
        objects->attachment.release(&objects->attachment);
    return NULL;
}

/* Moves OBJECTS, as many as STEP has slots, into the slots. */
static void put_down(struct cohort__execution *execution, uint32_t step,
                     struct cohort__blobs *objects)
{
    struct walk walk = walk_over(execution, step, 0, execution->plan->steps[step].num_blocks);
    for (size_t i = 0; i < objects->num; i++) {
        put(walk_on(&walk), objects->blobs[i]);
        objects->blobs[i] = NULL;
    }
}

/* COPY, ZERO ----------------------------------------------------------------------------------- */

void cohort__objects_compute(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *what = &execution->plan->steps[step];
    struct walk to = walk_over(execution, step, 0, 1);
    struct walk from = walk_over(execution, step, 1, 1);
    struct cohort__blob **slot;
    if (what->kind == COHORT__STEP_REDUCE) {
        cohort__operation_fail_with(&execution->operation, COHORT_ERR_NOT_SUPPORTED,
                                    "objects can't be reduced");
        return;
    }
    while ((slot = walk_on(&to)))
        put(slot, what->kind == COHORT__STEP_COPY ? cohort__blob_ref(*walk_on(&from)) : NULL);
    cohort__execution_step_over(execution, step);
}

/* SEND ----------------------------------------------------------------------------------------- */

static void send_here(struct cohort__execution *execution, uint32_t step,
                      struct cohort__blobs *objects)
{
    struct cohort__operation *operation = &execution->operation;
    const struct cohort__step *what = &execution->plan->steps[step];
    struct cohort__message *message =
        cohort__message_create(COHORT__KIND_DATA, execution->plan->this_site, operation->generation,
                               operation->fingerprint, cohort__message_tag(what->phase, what->tag));
    if (!message) {
        cohort__operation_fail_with(operation, COHORT_ERR_NO_MEMORY, "no memory for a message");
        objects->attachment.release(&objects->attachment);
        return;
    }
    message->attachment = &objects->attachment;
    cohort__execution_step_over(execution, step);
    cohort__group_deliver(operation->comm->group, what->peer, message);
}

/* A message of one object is just its bytes, none if it is empty. Both ends know how many there
 * are. */
static bool is_bare(const struct cohort__execution *execution, uint32_t step)
{
    return execution->plan->steps[step].bytes == 1 && !execution->mode->has_bundles;
}

static cohort_status pack(struct cohort__activity *activity)
{
    cohort__blobs_pack((struct cohort__blobs *)activity->attachment, activity->buffer);
    return COHORT_OK;
}

static void send_away(struct cohort__execution *execution, uint32_t step,
                      struct cohort__blobs *objects)
{
    struct cohort__activity *activity = cohort__activity_create(execution, step);
    if (!activity) {
        objects->attachment.release(&objects->attachment);
        return;
    }
    activity->attachment = &objects->attachment;
    if (is_bare(execution, step)) {
        const struct cohort__blob *blob = objects->blobs[0];
        cohort__activity_send(activity, blob ? blob->data : NULL, blob ? blob->bytes : 0);
        return;
    }
    cohort__activity_send_packed(activity, cohort__blobs_packed_bytes(objects), pack);
}

void cohort__objects_send(struct cohort__execution *execution, uint32_t step)
{
    const bool is_here =
        cohort__group_is_local(execution->operation.comm->group, execution->plan->steps[step].peer);
    struct cohort__blobs *objects = pick_up(execution, step, is_here);
    if (!objects)
        return;
    if (is_here)
        send_here(execution, step, objects);
    else
        send_away(execution, step, objects);
}

/* RECV ----------------------------------------------------------------------------------------- */

/* DATA NULL: the bytes are not set. */
static cohort_status take_bare(const void *data, size_t bytes, struct cohort__blobs **ret_blobs)
{
    struct cohort__blobs *objects;
    cohort_status status = cohort__blobs_create(1, &objects);
    if (status)
        return status;
    if (bytes > 0 && !(objects->blobs[0] = cohort__blob_create(data, bytes))) {
        objects->attachment.release(&objects->attachment);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for an object of %zu bytes", bytes);
    }
    *ret_blobs = objects;
    return COHORT_OK;
}

/* The error message names the sender. */
static cohort_status unpack(const struct cohort__execution *execution, uint32_t step,
                            const void *data, size_t bytes, struct cohort__blobs **ret_blobs)
{
    const struct cohort__step *what = &execution->plan->steps[step];
    cohort_status status = is_bare(execution, step)
                               ? take_bare(data, bytes, ret_blobs)
                               : cohort__blobs_unpack(data, bytes, what->bytes,
                                                      execution->mode->has_bundles, ret_blobs);
    return status ? cohort_fail(status, "a message of %zu bytes from site %u: %s", bytes,
                                what->peer, cohort_error_message())
                  : COHORT_OK;
}

/* By a worker: unpacks data that has been fetched, or has come with the message. */
static cohort_status perform_unpack(struct cohort__activity *activity)
{
    const struct cohort__message *message = activity->message;
    struct cohort__blobs *objects;
    cohort_status status =
        unpack(activity->execution, activity->step,
               message ? message->arrival->data : activity->buffer, activity->bytes, &objects);
    if (!status)
        activity->attachment = &objects->attachment;
    return status;
}

static void unpacked(struct cohort__activity *activity)
{
    put_down(activity->execution, activity->step, (struct cohort__blobs *)activity->attachment);
    cohort__activity_finish(activity);
}

static void fetched(struct cohort__activity *activity)
{
    cohort__activity_chore(activity, perform_unpack, unpacked);
}

/* MESSAGE announces an object, which is fetched to where it stays. */
static void fetch_bare(struct cohort__activity *activity, struct cohort__message *message)
{
    struct cohort__blobs *objects = NULL; /* gcc 12 does not see that it is set */
    cohort_status status = take_bare(NULL, message->bytes, &objects);
    if (status) {
        activity->next = unpacked;
        cohort__message_release(message);
        cohort__activity_done(activity, status);
        return;
    }
    activity->attachment = &objects->attachment;
    cohort__activity_fetch(activity, message, objects->blobs[0]->data, unpacked);
}

static void receive_here(struct cohort__execution *execution, uint32_t step,
                         const struct cohort__message *message)
{
    struct cohort__blobs *objects = (struct cohort__blobs *)message->attachment;
    size_t num = execution->plan->steps[step].bytes;
    if (objects->num != num) {
        cohort__operation_fail_with(&execution->operation, COHORT_ERR_MISMATCH,
                                    "site %u sent %zu objects where %zu were expected",
                                    message->source_site, objects->num, num);
        return;
    }
    put_down(execution, step, objects);
    cohort__execution_step_over(execution, step);
}

static void receive_few(struct cohort__execution *execution, uint32_t step,
                        const struct cohort__message *message)
{
    struct cohort__blobs *objects;
    cohort_status status =
        unpack(execution, step, message->arrival->data, message->bytes, &objects);
    if (status) {
        cohort__operation_fail_with(&execution->operation, status, "%s", cohort_error_message());
        return;
    }
    put_down(execution, step, objects);
    objects->attachment.release(&objects->attachment);
    cohort__execution_step_over(execution, step);
}

static void receive_much(struct cohort__execution *execution, uint32_t step,
                         struct cohort__message *message)
{
    struct cohort__activity *activity = cohort__activity_create(execution, step);
    if (!activity) {
        cohort__message_release(message);
        return;
    }
    activity->bytes = message->bytes;
    if (message->kind == COHORT__KIND_ANNOUNCE && is_bare(execution, step)) {
        fetch_bare(activity, message);
    } else if (message->kind == COHORT__KIND_ANNOUNCE) {
        cohort__activity_fetch(activity, message, NULL, fetched);
    } else {
        activity->message = message;
        cohort__activity_chore(activity, perform_unpack, unpacked);
    }
}

void cohort__objects_receive(struct cohort__execution *execution, uint32_t step,
                             struct cohort__message *message)
{
    bool announced = message->kind == COHORT__KIND_ANNOUNCE;
    if (!message->attachment && (announced || message->bytes > COHORT__ON_THE_SPOT_BYTES)) {
        receive_much(execution, step, message);
        return;
    }
    if (message->attachment)
        receive_here(execution, step, message);
    else
        receive_few(execution, step, message);
    cohort__message_release(message);
}

/* Begin and end ---------------------------------------------------------------------------------
 */

static void empty(struct cohort__blob **slots, size_t num)
{
    for (size_t i = 0; i < num; i++)
        put(&slots[i], NULL);
}

void cohort__objects_empty(struct cohort__execution *execution, enum cohort__space space)
{
    const struct cohort__plan *plan = execution->plan;
    size_t num = space == COHORT__SPACE_IN    ? plan->in_bytes
                 : space == COHORT__SPACE_OUT ? plan->out_bytes
                                              : plan->tmp_bytes;
    empty(execution->slots[space], num);
}

void cohort__objects_init(struct cohort__execution *execution)
{
    const struct cohort__plan *plan = execution->plan;
    struct cohort__blob **slots = execution->slots[COHORT__SPACE_IN];
    memset(slots, 0, cohort__object_slots_bytes(plan));
    execution->slots[COHORT__SPACE_OUT] = slots + plan->in_bytes;
    execution->slots[COHORT__SPACE_TMP] = slots + plan->in_bytes + plan->out_bytes;
}

void cohort__objects_release(struct cohort__execution *execution)
{
    empty(execution->slots[COHORT__SPACE_IN], num_slots(execution->plan));
}

/* In a meeting other sites take a reference to what lies in IN, without asking. */
static bool has_meeting(const struct cohort__plan *plan)
{
    for (uint32_t step = 0; step < plan->num_steps; step++)
        if (plan->steps[step].kind == COHORT__STEP_MEET)
            return true;
    return false;
}

/* Puts OBJECT into slot SLOT of IN, behind those that are filled already. On COHORT_ERR_NO_MEMORY
 * all of them are empty again. A long object may stay where it is if MAY_BORROW: what is sent away
 * has been sent when the call ends. */
static cohort_status bring(struct cohort__execution *execution, size_t slot,
                           const cohort_object *object, bool may_borrow)
{
    struct cohort__blob **slots = execution->slots[COHORT__SPACE_IN];
    if (object->bytes == 0)
        return COHORT_OK;
    slots[slot] = may_borrow && object->bytes > COPIED_BYTES_MAX
                      ? cohort__blob_borrow(object->data, object->bytes)
                      : cohort__blob_create(object->data, object->bytes);
    if (slots[slot])
        return COHORT_OK;
    empty(slots, slot);
    return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for an object of %zu bytes", object->bytes);
}

static cohort_status init(struct cohort__execution *execution,
                          const struct cohort__planned_call *planned)
{
    const struct cohort__plan *plan = execution->plan;
    const cohort_object *in = planned->in;
    const bool may_borrow = !has_meeting(plan);
    cohort_status status = COHORT_OK;
    cohort__objects_init(execution);
    execution->out_objects = planned->out;
    for (size_t i = 0; !status && !planned->objection && i < plan->in_bytes; i++)
        status = bring(execution, i, &in[i], may_borrow);
    return status;
}

/* Handing out: an object that other sites of this locality have, too, is copied, since the caller
 * may write to its own. So is one of IN. */

static bool is_shared(const struct cohort__blob *blob)
{
    return is_borrowed(blob) ||
           (blob && atomic_load_explicit(&blob->refs, memory_order_acquire) > 1);
}

static cohort_status make_unique(struct cohort__execution *execution)
{
    struct cohort__blob **slots = execution->slots[COHORT__SPACE_OUT];
    for (size_t i = 0; i < execution->plan->out_bytes; i++) {
        cohort_status status = is_shared(slots[i]) ? own(&slots[i]) : COHORT_OK;
        if (status)
            return status;
    }
    return COHORT_OK;
}

static size_t shared_bytes(const struct cohort__execution *execution)
{
    struct cohort__blob **slots = execution->slots[COHORT__SPACE_OUT];
    size_t sum = 0;
    for (size_t i = 0; i < execution->plan->out_bytes; i++)
        sum += is_shared(slots[i]) ? slots[i]->bytes : 0;
    return sum;
}

static cohort_status perform_unique(struct cohort__activity *activity)
{
    return make_unique(activity->execution);
}

static void finish(struct cohort__execution *execution)
{
    cohort__objects_empty(execution, COHORT__SPACE_IN);
    cohort__objects_empty(execution, COHORT__SPACE_TMP);
    size_t bytes = shared_bytes(execution);
    if (bytes == 0)
        return;
    if (bytes > COHORT__ON_THE_SPOT_BYTES) {
        struct cohort__activity *activity = cohort__activity_create(execution, COHORT__NO_STEP);
        if (activity)
            cohort__activity_chore(activity, perform_unique, cohort__activity_finish);
    } else if (make_unique(execution)) {
        cohort__operation_fail_with(&execution->operation, COHORT_ERR_NO_MEMORY, "%s",
                                    cohort_error_message());
    }
}

static bool is_complete(const struct cohort__execution *execution)
{
    return !execution->operation.failure.status && execution->num_left == 0;
}

/* Of a blob that no other site has. */
static cohort_object take_data(struct cohort__blob *blob)
{
    cohort_object object = {blob->data, blob->bytes};
    blob->data = NULL;
    return object;
}

static void release(struct cohort__execution *execution)
{
    struct cohort__blob **slots = execution->slots[COHORT__SPACE_OUT];
    if (is_complete(execution))
        for (size_t i = 0; i < execution->plan->out_bytes; i++)
            if (slots[i])
                execution->out_objects[i] = take_data(slots[i]);
    cohort__objects_release(execution);
}

const struct cohort__step_mode cohort__object_mode = {
    .has_slots = true,
    .send = cohort__objects_send,
    .receive = cohort__objects_receive,
    .compute = cohort__objects_compute,
    .init = init,
    .finish = finish,
    .release = release,
};
