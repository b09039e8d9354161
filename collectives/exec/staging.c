/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/staging.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/endpoint.h"
#include "collectives/exec/stall.h"
#include "runtime/base/container.h"
#include "runtime/task/future.h"

/* Where the arrays are in the memory. */
struct form {
    size_t parts;
    size_t rows;
    size_t in;
    size_t out;
    size_t end;
};

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static struct form form_of(const struct cohort__staging_call *call)
{
    struct form form = {.parts = aligned(sizeof(struct cohort__staging))};
    form.rows = form.parts + aligned(call->num_out_parts * sizeof(struct cohort__part));
    form.in = form.rows + aligned(call->num_rows * sizeof(cohort_future *));
    form.out = form.in + aligned(call->in_bytes);
    form.end = form.out + aligned(call->out_bytes);
    return form;
}

/* The memory of the last such call if it is enough, or new one. */
static struct cohort__staging *allocate(struct cohort__plan_entry *entry, size_t bytes)
{
    struct cohort__staging *staging = atomic_exchange(&entry->spare_staging, NULL);
    if (staging && staging->capacity >= bytes)
        return staging;
    free(staging);
    staging = aligned_alloc(64, bytes);
    if (staging)
        staging->capacity = bytes;
    return staging;
}

static void unpack(const struct cohort__staging *staging)
{
    for (uint32_t i = 0; i < staging->num_parts; i++) {
        const struct cohort__part *part = &staging->parts[i];
        cohort__layout_unpack_some(staging->layout, staging->element,
                                   part->offset / staging->element, part->bytes / staging->element,
                                   staging->users_out, staging->out + part->offset);
    }
}

/* Back in the endpoint's turn. */
static void run_unpacked(struct cohort__actor *actor, struct cohort__item *item)
{
    (void)actor;
    cohort__operation_ended(COHORT_CONTAINER_OF(item, struct cohort__operation, call));
}

static void perform_unpack(struct cohort__work *work)
{
    struct cohort__staging *staging = COHORT_CONTAINER_OF(work, struct cohort__staging, work);
    struct cohort_comm *comm = staging->operation.comm;
    struct cohort__commons *commons = comm->group->commons;
    unpack(staging);
    staging->operation.call.run = run_unpacked;
    cohort__endpoint_post(comm, &staging->operation.call);
    cohort__commons_count_work(commons, -1);
}

static size_t unpacked_bytes(const struct cohort__staging *staging)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < staging->num_parts; i++)
        bytes += staging->parts[i].bytes;
    return bytes;
}

static void start(struct cohort__operation *operation)
{
    struct cohort__staging *staging = (struct cohort__staging *)operation;
    if (unpacked_bytes(staging) > COHORT__ON_THE_SPOT_BYTES) {
        staging->work.run = perform_unpack;
        cohort__commons_count_work(operation->comm->group->commons, 1);
        cohort__chore_post(&staging->work);
        return;
    }
    unpack(staging);
    cohort__operation_ended(operation);
}

/* What has come too late for the call, as for one that has ended. */
static void on_message(struct cohort__operation *operation, struct cohort__message *message)
{
    (void)operation;
    cohort__message_release(message);
}

/* The call needs nothing of the other sites any more, nor they of it. If it fails, it still ends
 * only when OUT is not touched any more. */
static void do_nothing(struct cohort__operation *operation)
{
    (void)operation;
}

static bool on_stalled(struct cohort__operation *operation)
{
    (void)operation;
    return true;
}

static void on_answer(struct cohort__operation *operation, uint32_t site,
                      enum cohort__answer answer)
{
    (void)operation;
    (void)site;
    (void)answer;
}

static uint32_t find_absent(const struct cohort__operation *operation)
{
    (void)operation;
    return COHORT__NO_SITE;
}

static size_t describe(const struct cohort__operation *operation, char *text, size_t used,
                       size_t capacity)
{
    char what[COHORT__SIGNATURE_TEXT];
    cohort__signature_describe(&operation->signature, what, sizeof(what));
    return cohort__describe_append(
        text, used, capacity, "generation %" PRIu64 ", %s: waits for a worker that unpacks OUT\n",
        operation->generation, what);
}

static void end_rows(struct cohort__operation *operation, const struct cohort__error *error)
{
    struct cohort__staging *staging = (struct cohort__staging *)operation;
    for (uint32_t row = 0; row < staging->num_rows; row++) {
        cohort_future *future = staging->rows[row];
        staging->rows[row] = NULL;
        if (future)
            cohort__future_complete(future, error->status, error->status ? error : NULL);
    }
}

static void release(struct cohort__operation *operation)
{
    struct cohort__staging *staging = (struct cohort__staging *)operation;
    end_rows(operation, &operation->failure);
    struct cohort__plan_entry *entry = staging->entry;
    struct cohort__staging *none = NULL;
    cohort_layout_unref(staging->layout);
    if (!atomic_compare_exchange_strong(&entry->spare_staging, &none, staging))
        free(staging);
    cohort__plan_entry_unref(entry);
}

static const struct cohort__operation_handlers handlers = {
    .start = start,
    .message = on_message,
    .fail = do_nothing,
    .stalled = on_stalled,
    .answer = on_answer,
    .find_absent = find_absent,
    .peer_died = do_nothing,
    .describe = describe,
    .refused = end_rows,
    .release = release,
};

/* If there is no memory for one of them, only that one fails, at once. */
static void init_rows(struct cohort__staging *staging, cohort_future **ret_rows)
{
    for (uint32_t row = 0; row < staging->num_rows; row++) {
        staging->rows[row] = cohort__future_create_about(COHORT__WAIT_COLLECTIVE);
        ret_rows[row] = staging->rows[row] ? staging->rows[row] : cohort__future_no_memory();
    }
}

cohort_status cohort__staging_create(const struct cohort__staging_call *call,
                                     struct cohort__staging **ret_staging)
{
    const struct form form = form_of(call);
    /* Each of them fits into memory, but both may be too many for a size_t. */
    bool fits = call->in_bytes <= PTRDIFF_MAX - call->out_bytes;
    struct cohort__staging *staging = fits ? allocate(call->entry, form.end) : NULL;
    if (!staging)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for packing %zu bytes",
                           call->in_bytes + call->out_bytes);
    unsigned char *memory = (unsigned char *)staging;
    *staging = (struct cohort__staging){
        .operation.handlers = &handlers,
        .in = memory + form.in,
        .out = memory + form.out,
        .entry = call->entry,
        .layout = cohort_layout_ref((cohort_layout *)call->out_layout),
        .users_out = call->out,
        .element = call->element,
        .rows = (cohort_future **)(void *)(memory + form.rows),
        .num_rows = call->num_rows,
        .parts = (struct cohort__part *)(void *)(memory + form.parts),
        .num_parts = call->out_layout ? call->num_out_parts : 0,
        .capacity = staging->capacity,
    };
    cohort__plan_entry_ref(call->entry);
    if (staging->num_parts > 0)
        memcpy(staging->parts, call->out_parts, staging->num_parts * sizeof(*staging->parts));
    init_rows(staging, call->ret_rows);
    *ret_staging = staging;
    return COHORT_OK;
}
