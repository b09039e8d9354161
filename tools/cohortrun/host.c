/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: one other host: its agent, its daemon, its localities. */
#include "tools/cohortrun/host.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/wire/pack.h"
#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/output.h"
#include "tools/cohortrun/state.h"

static const uint64_t second_ns = 1000000000;
static const uint64_t timeout_ns = 2000000000;

static void timed_out(void *context)
{
    struct host *host = context;
    host->is_given_up = ++host->num_timeouts > 2;
    if (host->is_given_up) {
        host->common->changed(host->common->context, host);
        return;
    }
    agent_kill(&host->agent, host->num_timeouts == 2);
    timer_set(&host->timeout,
              host->num_timeouts == 2 ? GUARDED_UNKILLABLE_SECONDS * second_ns : timeout_ns);
}

void host_init(struct host *host, const struct host_name *name, const struct host_common *common,
               struct locality *localities)
{
    *host = (struct host){.name = name,
                          .common = common,
                          .localities = localities,
                          .agent = {.input = -1, .told = true}};
    timer_init(&host->timeout, common->agent.loop, timed_out, host);
}

cohort_status host_start(struct host *host, const char *greeting)
{
    return agent_start(&host->agent, &host->common->agent, host->name->name, greeting, host);
}

/* Losing a host ------------------------------------------------------------------------------- */

static void lose_locality(struct host *host, struct locality *locality)
{
    if (locality->guarded.end == GUARDED_RUNS)
        locality->guarded.end = GUARDED_LOST;
    locality->guarded.is_gone = locality->control_ended = true;
    locality->loss = host->why;
    output_feed_end(host->common->output, locality->rank, OUTPUT_OUT);
    output_feed_end(host->common->output, locality->rank, OUTPUT_ERR);
    locality->handlers->changed(locality);
}

void host_lose(struct host *host, const char *why)
{
    if (host->stage == HOST_LOST || host->stage == HOST_DISMISSED)
        return;
    host->stage = HOST_LOST;
    snprintf(host->why, sizeof(host->why), "%s", why);
    node_link_close(host->node_link);
    host->node_link = NULL;
    timer_set(&host->timeout, timeout_ns);
    if (!host->is_ordered)
        host->common->failed(host->common->context, host);
    for (uint32_t i = 0; host->is_ordered && i < host->name->num; i++)
        lose_locality(host, &host->localities[i]);
    host->common->changed(host->common->context, host);
}

static void node_link_ended(void *context, const char *why)
{
    struct host *host = context;
    host_lose(host, why);
    node_link_close(host->node_link); /* still open if the host was dismissed */
    host->node_link = NULL;
    host->common->changed(host->common->context, host);
}

/* Messages from the daemon -------------------------------------------------------------------- */

static void output_taken_there(struct locality *locality, enum output_stream stream, size_t bytes)
{
    struct host *host = locality->host;
    unsigned char data[5] = {(unsigned char)stream};
    if (host->is_fed) {
        host->taken += bytes;
        return;
    }
    bytes_put_u32(data + 1, (uint32_t)bytes);
    host_send(host, NODE_LINK_TAKEN, locality->rank, data, sizeof(data));
}

static bool take_output(struct host *host, const struct host_message *message)
{
    struct locality *locality = message->locality;
    if (!locality || message->bytes == 0 || message->data[0] >= OUTPUT_NUM_STREAMS)
        return false;
    enum output_stream stream = (enum output_stream)message->data[0];
    if (message->bytes == 1) {
        output_feed_end(host->common->output, locality->rank, stream);
        return true;
    }
    host->is_fed = true;
    host->taken = 0;
    bool fits = output_feed(host->common->output, locality->rank, stream,
                            (const char *)message->data + 1, message->bytes - 1);
    host->is_fed = false;
    if (host->taken > 0)
        output_taken_there(locality, stream, host->taken);
    return fits;
}

static bool take_state(const struct host_message *message)
{
    struct locality *locality = message->locality;
    if (!locality || !state_read(locality, message->data, message->bytes))
        return false;
    locality->handlers->changed(locality);
    return true;
}

/* The host is there, but can't start what it was told: that is no death. */
static void take_refusal(struct host *host, const struct host_message *message)
{
    const size_t bytes = message->bytes < sizeof(host->why) ? message->bytes : sizeof(host->why);
    snprintf(host->why, sizeof(host->why), "cannot start the localities there: %.*s", (int)bytes,
             (const char *)message->data);
    host->common->failed(host->common->context, host);
}

static bool take_beat(struct host *host, const struct host_message *message)
{
    if (message->bytes != 1 || message->data[0] >= MOTION_NUM_RESULTS)
        return false;
    host->motion = (enum motion_result)message->data[0];
    return host->motion != MOTION_MOVES ||
           host->common->message(host->common->context, host, message);
}

/* False: the message makes no sense. */
static bool take(struct host *host, const struct host_message *message)
{
    struct locality *locality = message->locality;
    switch (message->kind) {
    case NODE_LINK_BEAT:
        return take_beat(host, message);
    case NODE_LINK_REFUSED:
        take_refusal(host, message);
        return true;
    case NODE_LINK_STATE:
        return take_state(message);
    case NODE_LINK_OUTPUT:
        return take_output(host, message);
    case NODE_LINK_CONTROL:
        if (locality)
            locality->handlers->control_arrived(locality, message->data, message->bytes);
        return locality;
    default:
        return host->common->message(host->common->context, host, message);
    }
}

static void node_link_message(void *context, enum node_link_kind kind, uint32_t rank,
                              const unsigned char *data, size_t bytes)
{
    struct host *host = context;
    uint32_t index = rank - host->name->first;
    bool is_here = host->is_ordered && index < host->name->num;
    const struct host_message message = {.kind = kind,
                                         .locality = is_here ? &host->localities[index] : NULL,
                                         .data = data,
                                         .bytes = bytes,
                                         .arrived = cohort__clock_now()};
    pulse_heard(&host->pulse);
    if (!take(host, &message))
        host_lose(host, "its node daemon does not speak as it should");
}

void host_welcome(struct host *host, struct node_link *node_link, const struct address *from)
{
    struct node_link_handlers handlers = {
        .context = host, .message = node_link_message, .ended = node_link_ended};
    node_link_hand_over(node_link, &handlers);
    host->node_link = node_link;
    host->stage = HOST_READY;
    address_text(from, false, host->address);
    pulse_start(&host->pulse, host->common->heartbeat_ns, host->common->heartbeat_timeout_ns);
}

/* Messages to the daemon ---------------------------------------------------------------------- */

void host_send(struct host *host, enum node_link_kind kind, uint32_t rank, const void *data,
               size_t bytes)
{
    if (host->node_link)
        node_link_send(host->node_link, kind, rank, data, bytes);
}

static void signal_there(struct locality *locality, int signal)
{
    unsigned char byte = (unsigned char)signal;
    if (locality->guarded.end == GUARDED_RUNS)
        host_send(locality->host, NODE_LINK_SIGNAL, locality->rank, &byte, sizeof(byte));
}

static void kill_guardian_there(struct locality *locality)
{
    if (locality->guarded.end == GUARDED_RUNS)
        host_send(locality->host, NODE_LINK_REAP, locality->rank, NULL, 0);
}

static void send_control_there(struct locality *locality, const void *message, size_t bytes)
{
    host_send(locality->host, NODE_LINK_CONTROL, locality->rank, message, bytes);
}

static const struct locality_ways there = {signal_there, kill_guardian_there, send_control_there,
                                           output_taken_there};

static cohort_status await_locality(struct host *host, struct locality *locality,
                                    const struct locality_handlers *handlers)
{
    *locality = (struct locality){.context = locality->context,
                                  .handlers = handlers,
                                  .rank = locality->rank,
                                  .ways = &there,
                                  .host = host,
                                  .host_name = host->name->name};
    for (int stream = 0; stream < OUTPUT_NUM_STREAMS; stream++) {
        cohort_status status =
            output_add_fed(host->common->output, locality->rank, (enum output_stream)stream);
        if (status)
            return status;
        locality->num_outputs++;
    }
    return COHORT_OK;
}

void host_order(struct host *host, const struct cohort__packer *order,
                const struct locality_handlers *handlers)
{
    cohort_status status = order->status;
    if (host->stage != HOST_READY)
        return;
    if (!status && order->bytes > NODE_LINK_MAX_MESSAGE / 2)
        status = cohort_fail(COHORT_ERR_BAD_PARAMETER,
                             "arguments and environment of %zu bytes are too much", order->bytes);
    host->is_ordered = !status;
    for (uint32_t i = 0; host->is_ordered && i < host->name->num; i++) {
        const cohort_status awaited = await_locality(host, &host->localities[i], handlers);
        if (awaited)
            status = awaited;
    }
    if (status)
        host_lose(host, cohort_error_message());
    else
        host_send(host, NODE_LINK_ORDER, host->name->first, order->data, order->bytes);
}

void host_input(struct host *host, const void *data, size_t bytes)
{
    host_send(host, NODE_LINK_INPUT, 0, data, bytes);
}

void host_beat(struct host *host)
{
    char why[80];
    if (!host->node_link)
        return;
    host_send(host, NODE_LINK_BEAT, 0, NULL, 0);
    if (!pulse_is_silent(&host->pulse))
        return;
    snprintf(why, sizeof(why), "it has been silent for %g s", (double)host->pulse.timeout_ns / 1e9);
    if (host->stage == HOST_DISMISSED)
        node_link_ended(host, why);
    else
        host_lose(host, why);
}

/* The end ------------------------------------------------------------------------------------- */

void host_dismiss(struct host *host)
{
    if (host->stage == HOST_LOST || host->stage == HOST_DISMISSED)
        return;
    if (host->stage == HOST_AWAITED)
        agent_kill(&host->agent, false);
    host->stage = HOST_DISMISSED;
    host_send(host, NODE_LINK_DISMISS, 0, NULL, 0);
    timer_set(&host->timeout, timeout_ns);
}

bool host_is_gone(const struct host *host)
{
    return host->is_given_up || (!host->node_link && agent_is_gone(&host->agent));
}

void host_close(struct host *host)
{
    node_link_close(host->node_link);
    host->node_link = NULL;
    agent_close(&host->agent);
    timer_clear(&host->timeout);
}

void host_fini(struct host *host)
{
    agent_fini(&host->agent);
}
