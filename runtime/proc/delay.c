/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/delay.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/log.h"
#include "runtime/proc/peer.h"
#include "runtime/task/scheduler.h"
#include "runtime/wire/envelope.h"

/* All of this is the loop's holder's. */
struct delayed {
    struct cohort__list node;
    struct cohort__timer timer;
    struct cohort__process *process; /* NULL: it has stopped */
    void (*deliver)(void *context, struct cohort__net_message *message);
    struct cohort__net_message message;
    _Alignas(16) unsigned char data[];
};

static void on_expired(struct cohort__timer *timer)
{
    struct delayed *delayed = COHORT_CONTAINER_OF(timer, struct delayed, timer);
    cohort__list_remove(&delayed->node);
    if (delayed->process)
        delayed->deliver(delayed->process, &delayed->message);
    free(delayed);
}

/* A CREDIT is not delayed, nor counted: when it comes depends on time. What is not of this job is
 * none of ours. */
static bool is_chosen(struct cohort__process *process, const struct cohort__net_message *message)
{
    struct cohort__envelope envelope;
    if (cohort__envelope_decode(message->data, message->bytes, &envelope) ||
        envelope.kind == COHORT__KIND_CREDIT || envelope.job_key != process->options.job_key ||
        envelope.source_locality >= process->options.size)
        return false;
    struct cohort__peer *peer = cohort__peer_get(process, envelope.source_locality);
    if (!peer || !cohort__fault_delays(process->options.fault, peer->rank, ++peer->num_come))
        return false;
    cohort__log(COHORT__LOG_INFO,
                "locality %u: COHORT_FAULT delays message %u from locality %u by %llu us",
                (unsigned)process->options.rank, (unsigned)peer->num_come, (unsigned)peer->rank,
                (unsigned long long)process->options.fault->plan.delay_ns / 1000);
    return true;
}

bool cohort__delay_take(struct cohort__process *process, struct cohort__net_message *message,
                        void (*deliver)(void *context, struct cohort__net_message *message))
{
    if (!is_chosen(process, message))
        return false;
    struct delayed *delayed = malloc(sizeof(*delayed) + message->bytes);
    if (!delayed)
        return false;
    *delayed = (struct delayed){.timer = {.expired = on_expired},
                                .process = process,
                                .deliver = deliver,
                                .message = {.net = message->net,
                                            .data = delayed->data,
                                            .bytes = message->bytes,
                                            .capacity = message->bytes,
                                            .is_passing = true}};
    memcpy(delayed->data, message->data, message->bytes);
    cohort__list_push_back(&process->delayed, &delayed->node);
    uint64_t deadline = cohort__clock_after(process->options.fault->plan.delay_ns);
    if (!cohort__scheduler_timer(&delayed->timer, deadline)) { /* the job starts or ends */
        cohort__list_remove(&delayed->node);
        free(delayed);
        return false;
    }
    cohort__net_release(message);
    return true;
}

void cohort__delay_stop(struct cohort__process *process)
{
    struct cohort__list *node;
    while ((node = cohort__list_pop_front(&process->delayed)))
        COHORT_CONTAINER_OF(node, struct delayed, node)->process = NULL;
}
