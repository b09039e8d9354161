/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/parcel_steps.h"

#include <string.h>

#include "collectives/comm/blobs.h"
#include "collectives/exec/activity.h"
#include "collectives/exec/object_steps.h"

/* More bytes are copied by a worker. */
enum { ON_THE_SPOT_BYTES = 4096 };

static cohort_status init(struct cohort__execution *execution,
                          const struct cohort__execution_call *call)
{
    cohort_status status = COHORT_OK;
    cohort__objects_init(execution);
    execution->parcels = call->parcels_out;
    for (size_t i = 0; !status && !call->objection && i < execution->plan->in_bytes; i++) {
        struct cohort__part part = cohort__parcels_part(&call->parcels_in, i);
        const unsigned char *from = part.bytes > 0 ? call->parcels_in.base + part.offset : NULL;
        status = cohort__objects_bring(execution, i, from, part.bytes);
    }
    return status;
}

static const struct cohort__blob *parcel_of(const struct cohort__execution *execution, uint32_t row)
{
    return execution->slots[COHORT__SPACE_OUT][row];
}

static cohort_status hand_out(struct cohort__execution *execution, uint32_t row)
{
    const struct cohort__blob *parcel = parcel_of(execution, row);
    if (parcel)
        memcpy(execution->parcels.base + cohort__parcels_part(&execution->parcels, row).offset,
               parcel->data, parcel->bytes);
    return COHORT_OK;
}

static cohort_status perform_hand_out(struct cohort__activity *activity)
{
    struct cohort__execution *execution = activity->execution;
    return hand_out(execution, execution->plan->steps[activity->step].peer);
}

static void handed_out(struct cohort__activity *activity)
{
    struct cohort__execution *execution = activity->execution;
    cohort__execution_row_done(execution, execution->plan->steps[activity->step].peer);
    cohort__activity_finish(activity);
}

/* The objects of a row have come. */
static void done(struct cohort__execution *execution, uint32_t step)
{
    uint32_t row = execution->plan->steps[step].peer;
    const struct cohort__blob *parcel = parcel_of(execution, row);
    struct cohort__part part = cohort__parcels_part(&execution->parcels, row);
    size_t bytes = parcel ? parcel->bytes : 0;
    if (bytes != part.bytes) {
        cohort__operation_fail_with(&execution->operation, COHORT_ERR_MISMATCH,
                                    "site %u sent %zu bytes where %zu were expected", part.site,
                                    bytes, part.bytes);
    } else if (bytes > ON_THE_SPOT_BYTES) {
        struct cohort__activity *activity = cohort__activity_create(execution, step);
        if (activity)
            cohort__activity_chore(activity, perform_hand_out, handed_out);
    } else {
        hand_out(execution, row);
        cohort__execution_row_done(execution, row);
        cohort__execution_step_over(execution, step);
    }
}

const struct cohort__step_mode cohort__parcel_mode = {
    .has_slots = true,
    .send = cohort__objects_send,
    .receive = cohort__objects_receive,
    .compute = cohort__objects_compute,
    .done = done,
    .init = init,
    .release = cohort__objects_release,
};
