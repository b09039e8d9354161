/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/sparse_steps.h"

#include <stdlib.h>

#include "collectives/comm/blobs.h"
#include "collectives/exec/object_steps.h"
#include "collectives/plan/plan.h"

/* Which of NUM slots is for TARGET; none, NUM. */
static size_t slot_for(const struct cohort__route *route, uint32_t target, size_t num)
{
    if (target >= cohort__machine_num_sites(route->machine))
        return num;
    uint32_t number = route->level == COHORT__BY_PLACE
                          ? cohort__machine_place(route->machine, target)
                          : cohort__machine_subgroup(route->machine, route->level, target);
    return number >= route->first && number - route->first < num ? number - route->first : num;
}

/* Counts the objects of BUNDLE for each of NUM slots. */
static cohort_status count(const struct cohort__route *route, const struct cohort__blob *bundle,
                           size_t *counts, size_t num)
{
    const struct cohort__entry *entries = cohort__bundle_entries(bundle);
    for (size_t i = 0; i < cohort__bundle_num(bundle); i++) {
        size_t slot = slot_for(route, entries[i].target, num);
        if (slot == num || entries[i].source >= cohort__machine_num_sites(route->machine))
            return cohort_fail(COHORT_ERR_PROTOCOL,
                               "an object from site %u for site %u went astray", entries[i].source,
                               entries[i].target);
        counts[slot]++;
    }
    return COHORT_OK;
}

/* Makes a bundle for each slot that gets objects. COUNTS becomes how many it has so far. */
static cohort_status make(struct cohort__blob **to, size_t *counts, size_t num)
{
    for (size_t i = 0; i < num; i++) {
        to[i] = counts[i] > 0 ? cohort__bundle_create(counts[i]) : NULL;
        if (counts[i] > 0 && !to[i])
            return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a bundle of %zu objects",
                               counts[i]);
        counts[i] = 0;
    }
    return COHORT_OK;
}

static cohort_status distribute(const struct cohort__route *route,
                                const struct cohort__blob *bundle, struct cohort__blob **to,
                                size_t *counts, size_t num)
{
    const struct cohort__entry *entries = cohort__bundle_entries(bundle);
    for (size_t i = 0; i < cohort__bundle_num(bundle); i++) {
        size_t slot = slot_for(route, entries[i].target, num);
        struct cohort__entry *entry = &cohort__bundle_entries(to[slot])[counts[slot]++];
        *entry = entries[i];
        const struct cohort__blob *object = entries[i].object;
        entry->object = route->copies ? cohort__blob_create(object->data, object->bytes)
                                      : cohort__blob_ref(entries[i].object);
        if (!entry->object)
            return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for an object of %zu bytes",
                               object->bytes);
    }
    return COHORT_OK;
}

cohort_status cohort__route(const struct cohort__route *route, struct cohort__blob *const *from,
                            size_t num_from, struct cohort__blob **to, size_t num_to)
{
    size_t *counts = calloc(num_to, sizeof(*counts));
    cohort_status status =
        counts ? COHORT_OK : cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for sorting objects");
    for (size_t i = 0; !status && i < num_from; i++)
        status = count(route, from[i], counts, num_to);
    if (!status)
        status = make(to, counts, num_to);
    for (size_t i = 0; !status && i < num_from; i++)
        status = distribute(route, from[i], to, counts, num_to);
    free(counts);
    return status;
}

static int compare_sources(const void *a, const void *b)
{
    const struct cohort__entry *left = a, *right = b;
    return (left->source > right->source) - (left->source < right->source);
}

cohort_status cohort__route_order(struct cohort__blob *bundle)
{
    struct cohort__entry *entries = cohort__bundle_entries(bundle);
    size_t num = cohort__bundle_num(bundle);
    if (num > 1)
        qsort(entries, num, sizeof(*entries), compare_sources);
    for (size_t i = 1; i < num; i++)
        if (entries[i].source == entries[i - 1].source)
            return cohort_fail(COHORT_ERR_PROTOCOL, "two objects from site %u for site %u",
                               entries[i].source, entries[i].target);
    return COHORT_OK;
}

/* Begin ---------------------------------------------------------------------------------------- */

/* The objects of IN that have bytes, as one bundle. */
static cohort_status bring(const struct cohort__execution *execution,
                           const struct cohort__sparse_in *in, struct cohort__blob **ret_bundle)
{
    size_t num = 0;
    for (size_t i = 0; i < in->num; i++)
        num += in->list[i].object.bytes > 0;
    if (num == 0)
        return COHORT_OK;
    struct cohort__blob *bundle = cohort__bundle_create(num);
    struct cohort__entry *entry = cohort__bundle_entries(bundle);
    if (!bundle)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a bundle of %zu objects", num);
    for (size_t i = 0; i < in->num; i++) {
        const cohort_object *object = &in->list[i].object;
        if (object->bytes == 0)
            continue;
        *entry = (struct cohort__entry){.source = execution->plan->this_site,
                                        .target = in->list[i].site,
                                        .object = cohort__blob_create(object->data, object->bytes)};
        if (!entry++->object) {
            cohort__blob_unref(bundle);
            return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for an object of %zu bytes",
                               object->bytes);
        }
    }
    *ret_bundle = bundle;
    return COHORT_OK;
}

static cohort_status init(struct cohort__execution *execution,
                          const struct cohort__planned_call *planned)
{
    execution->ret_list = planned->out;
    execution->list = NULL;
    cohort__objects_init(execution);
    /* The plan of a call that is wrong is its agreement alone, without slots. */
    return planned->objection ? COHORT_OK
                              : bring(execution, planned->in, execution->slots[COHORT__SPACE_IN]);
}

/* ROUTE ---------------------------------------------------------------------------------------- */

static struct cohort__blob **slots_of(const struct cohort__execution *execution, uint32_t step,
                                      uint32_t operand, size_t *ret_num)
{
    const struct cohort__plan *plan = execution->plan;
    const struct cohort__block *block =
        &plan->blocks[plan->block_refs[plan->steps[step].first_block + operand]];
    *ret_num = block->bytes;
    return execution->slots[block->space] + block->offset;
}

static void route(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *what = &execution->plan->steps[step];
    size_t num_to, num_from;
    struct cohort__blob **to = slots_of(execution, step, 0, &num_to);
    struct cohort__blob **from = slots_of(execution, step, 1, &num_from);
    cohort_status status =
        cohort__route(&(struct cohort__route){.machine = execution->operation.comm->group->machine,
                                              .level = what->peer,
                                              .first = what->tag,
                                              .copies = what->op},
                      from, num_from, to, num_to);
    if (status)
        cohort__operation_fail_with(&execution->operation, status, "%s", cohort_error_message());
    else
        cohort__execution_step_over(execution, step);
}

static void compute(struct cohort__execution *execution, uint32_t step)
{
    if (execution->plan->steps[step].kind == COHORT__STEP_ROUTE)
        route(execution, step);
    else
        cohort__objects_compute(execution, step);
}

/* End ------------------------------------------------------------------------------------------ */

/* What has come for this site, NULL if nothing has. */
static struct cohort__blob *result(const struct cohort__execution *execution)
{
    return execution->plan->out_bytes > 0 ? *execution->slots[COHORT__SPACE_OUT] : NULL;
}

/* The list is allocated while the call may still fail. Others may have references to the bundle,
 * but read it no more. */
static void finish(struct cohort__execution *execution)
{
    struct cohort__blob *bundle = result(execution);
    const size_t num = cohort__bundle_num(bundle);
    cohort__objects_empty(execution, COHORT__SPACE_IN);
    cohort__objects_empty(execution, COHORT__SPACE_TMP);
    if (num == 0 || execution->list)
        return;
    cohort_status status = cohort__route_order(bundle);
    if (!status) {
        execution->list = malloc(num * sizeof(*execution->list));
        if (!execution->list)
            status = cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a list of %zu objects", num);
    }
    if (status)
        cohort__operation_fail_with(&execution->operation, status, "%s", cohort_error_message());
}

/* No other site is handed the object, nor reads it any more: its data change hands, whoever still
 * has references. (Where others may read it, the last ROUTE has made a copy.) */
static cohort_object take(struct cohort__blob *blob)
{
    cohort_object object = {blob->data, blob->bytes};
    blob->data = NULL;
    return object;
}

static void release(struct cohort__execution *execution)
{
    struct cohort__blob *bundle = result(execution);
    const struct cohort__entry *entries = cohort__bundle_entries(bundle);
    if (!execution->operation.failure.status && execution->num_left == 0) {
        size_t num = cohort__bundle_num(bundle);
        for (size_t i = 0; i < num; i++)
            execution->list[i] = (cohort_site_object){entries[i].source, take(entries[i].object)};
        *execution->ret_list = (cohort_site_objects){.list = execution->list, .num = num};
    } else {
        free(execution->list);
    }
    cohort__objects_release(execution);
}

const struct cohort__step_mode cohort__sparse_mode = {
    .has_slots = true,
    .has_bundles = true,
    .send = cohort__objects_send,
    .receive = cohort__objects_receive,
    .compute = compute,
    .init = init,
    .finish = finish,
    .release = release,
};
