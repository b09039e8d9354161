/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: compares its clock with those of other hosts, and fetches their parts of a trace. */
#include "tools/cohortrun/far_trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/far_fetch.h"
#include "tools/cohortrun/host.h"
#include "tools/cohortrun/timer.h"

enum { PINGS = 16 }; /* of a series */
static const uint64_t between_series_ns = 5000000000;
static const uint64_t timeout_ns = 20000000000;
static const uint64_t mib = 1 << 20;
/* A part is as long as COHORT_TRACE_MIB allows, and what threads had when they were killed. */
enum { USUAL_MIB = 1024, MORE_MIB = 1024 };

struct far_trace {
    struct far_trace_handlers handlers;
    const char *file;
    struct timer next_series;
    struct timer timeout; /* for any answer, when the job is over */
    struct trace_ping *pings;
    size_t num_pings;
    uint64_t key;
    uint64_t most_bytes;
    bool is_fetching, is_over;
};

static struct host *host_at(const struct far_trace *trace, uint32_t i)
{
    return trace->handlers.host(trace->handlers.context, i);
}

/* Clocks -------------------------------------------------------------------------------------- */

static void ping(struct host *host)
{
    unsigned char data[NODE_LINK_PING_BYTES];
    host->trace.sent = cohort__clock_now();
    bytes_put_u64(data, host->trace.sent);
    host_send(host, NODE_LINK_CLOCK, 0, data, sizeof(data));
}

static void begin_series(struct host *host)
{
    if (!host_is_ready(host) || host->trace.sent)
        return;
    host->trace.num_left = PINGS;
    ping(host);
}

static void begin_all_series(void *context)
{
    struct far_trace *trace = context;
    struct host *host;
    timer_set(&trace->next_series, between_series_ns);
    for (uint32_t i = 0; (host = host_at(trace, i)); i++)
        if (host->trace.stage == FAR_TRACE_RUNS)
            begin_series(host);
}

/* Differences of two clocks, so they may have any size. */
static void note(struct far_trace_host *host, bool is_first, const struct trace_ping *ping)
{
    struct trace_ping *best = &host->best;
    if (is_first || (int64_t)((ping->arrived - ping->sent) - (best->arrived - best->sent)) < 0) {
        best->sent = ping->sent;
        best->arrived = ping->arrived;
    }
    if (is_first ||
        (int64_t)((ping->returned - ping->answered) - (best->returned - best->answered)) < 0) {
        best->answered = ping->answered;
        best->returned = ping->returned;
    }
}

/* Without memory this series is lost. */
static void keep(struct far_trace *trace, const struct host *host)
{
    size_t num = trace->num_pings;
    if ((num & (num - 1)) == 0) {
        void *larger = realloc(trace->pings, (num ? 2 * num : 1) * sizeof(*trace->pings));
        if (!larger)
            return;
        trace->pings = larger;
    }
    trace->pings[trace->num_pings] = host->trace.best;
    trace->pings[trace->num_pings++].rank = host->name->first;
}

bool far_trace_take_clock(struct far_trace *trace, struct host *host, const unsigned char *data,
                          size_t bytes, uint64_t arrived)
{
    struct far_trace_host *state = &host->trace;
    if (!trace || bytes != NODE_LINK_PONG_BYTES || state->sent == 0 ||
        bytes_get_u64(data) != state->sent)
        return false;
    const struct trace_ping pong = {.sent = state->sent,
                                    .arrived = bytes_get_u64(data + 8),
                                    .answered = bytes_get_u64(data + 16),
                                    .returned = arrived};
    if (pong.answered < pong.arrived)
        return false;
    note(state, state->num_left == PINGS, &pong);
    state->sent = 0;
    if (--state->num_left > 0) {
        ping(host);
        return true;
    }
    keep(trace, host);
    if (state->stage == FAR_TRACE_CLOCK) {
        state->stage = FAR_TRACE_PARTS;
        timer_set(&trace->timeout, timeout_ns);
        far_fetch_begin(host, NODE_FETCH_PART);
    }
    return true;
}

/* Parts --------------------------------------------------------------------------------------- */

static void say(const struct far_trace *trace, const struct host *host, const char *what)
{
    char text[600];
    snprintf(text, sizeof(text), "COHORT_TRACE: host %s: %s", host->name->name, what);
    trace->handlers.said(trace->handlers.context, text);
}

static void end_host(struct host *host)
{
    far_fetch_stop(host, NODE_FETCH_PART);
    trace_part_copy_fini(&host->trace.copy, false);
    host->trace.stage = FAR_TRACE_IS_OVER;
}

/* Whether nothing more comes of any host. */
static bool check_over(struct far_trace *trace)
{
    const struct host *host;
    for (uint32_t i = 0; (host = host_at(trace, i)); i++)
        if (host->trace.stage != FAR_TRACE_IS_OVER)
            return false;
    timer_clear(&trace->timeout);
    trace->is_over = true;
    return true;
}

/* Where there is no part, or a part is here already, nothing is to be said. */
static cohort_status write_piece(const struct far_trace *trace, struct host *host,
                                 const struct far_piece *piece)
{
    struct trace_part_copy *copy = &host->trace.copy;
    cohort_status status = piece->kind == NODE_FETCH_NONE ? COHORT_ERR_STATE : COHORT_OK;
    if (!status && piece->at == 0)
        status =
            trace_part_copy_init(copy, trace->file, trace->key, piece->rank, trace->most_bytes);
    if (!status)
        status = trace_part_copy_take(copy, piece->data, piece->bytes);
    if (status && status != COHORT_ERR_STATE)
        say(trace, host, cohort_error_message());
    return status;
}

void far_trace_take_piece(struct far_trace *trace, struct host *host, const struct far_piece *piece)
{
    const cohort_status status = write_piece(trace, host, piece);
    const bool is_whole = !status && piece->kind == NODE_FETCH_LAST;
    const bool is_over = status || is_whole;
    timer_set(&trace->timeout, timeout_ns);
    if (is_over)
        trace_part_copy_fini(&host->trace.copy, is_whole);
    if (is_whole)
        host_send(host, NODE_LINK_PART_HERE, piece->rank, NULL, 0);
    far_fetch_go_on(host, NODE_FETCH_PART, is_over);
    if (host->fetches[NODE_FETCH_PART].is_asked)
        return;
    end_host(host);
    if (check_over(trace))
        trace->handlers.over(trace->handlers.context);
}

bool far_trace_fetch(struct far_trace *trace, uint64_t key)
{
    struct host *host;
    if (!trace || trace->is_over)
        return true;
    if (!trace->is_fetching) {
        trace->is_fetching = true;
        trace->key = key;
        timer_clear(&trace->next_series);
        timer_set(&trace->timeout, timeout_ns);
    }
    for (uint32_t i = 0; (host = host_at(trace, i)); i++) {
        if (!host_is_ready(host) || key == 0) {
            end_host(host);
        } else if (host->trace.stage == FAR_TRACE_RUNS) {
            host->trace.stage = FAR_TRACE_CLOCK;
            begin_series(host);
        }
    }
    return check_over(trace);
}

bool far_trace_give_up(struct far_trace *trace)
{
    struct host *host;
    if (!trace || !trace->is_fetching || trace->is_over)
        return false;
    for (uint32_t i = 0; (host = host_at(trace, i)); i++)
        if (host->trace.stage != FAR_TRACE_IS_OVER) {
            say(trace, host, "its parts of the trace have not all come");
            end_host(host);
        }
    check_over(trace);
    trace->handlers.over(trace->handlers.context);
    return true;
}

static void timed_out(void *context)
{
    (void)far_trace_give_up(context);
}

/* The whole ----------------------------------------------------------------------------------- */

/* The localities check it. */
static uint64_t most_bytes(void)
{
    const char *text = getenv("COHORT_TRACE_MIB");
    uint64_t most = text ? strtoull(text, NULL, 10) : 0;
    return ((most > 0 && most < UINT64_MAX / mib / 2 ? most : USUAL_MIB) + MORE_MIB) * mib;
}

struct far_trace *far_trace_create(struct cohort__loop *loop, const char *file,
                                   const struct far_trace_handlers *handlers)
{
    struct far_trace *trace = calloc(1, sizeof(*trace));
    if (!trace)
        return NULL;
    trace->handlers = *handlers;
    trace->file = file;
    trace->most_bytes = most_bytes();
    timer_init(&trace->next_series, loop, begin_all_series, trace);
    timer_init(&trace->timeout, loop, timed_out, trace);
    return trace;
}

void far_trace_begin(struct far_trace *trace)
{
    if (trace)
        begin_all_series(trace);
}

const struct trace_ping *far_trace_pings(const struct far_trace *trace, size_t *ret_num)
{
    *ret_num = trace ? trace->num_pings : 0;
    return trace ? trace->pings : NULL;
}

void far_trace_close(struct far_trace *trace)
{
    struct host *host;
    if (!trace)
        return;
    trace->is_over = true;
    timer_clear(&trace->next_series);
    timer_clear(&trace->timeout);
    for (uint32_t i = 0; (host = host_at(trace, i)); i++)
        end_host(host);
}

void far_trace_destroy(struct far_trace *trace)
{
    if (!trace)
        return;
    free(trace->pings);
    free(trace);
}
