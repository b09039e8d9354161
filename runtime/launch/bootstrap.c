/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/bootstrap.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/log.h"
#include "runtime/launch/bootstrap_private.h"
#include "runtime/loop/loop.h"
#include "runtime/net/hub.h"

/* The part that all ways of starting a program have in common. Each way is in a file of its own.
 * Calls from other threads become requests to the loop. */

struct failure {
    struct cohort__loop_request request;
    struct cohort__bootstrap *bootstrap;
    char text[];
};

struct letter {
    struct cohort__loop_request request;
    struct cohort__bootstrap *bootstrap;
    size_t bytes;
    unsigned char data[];
};

struct accusation {
    struct cohort__loop_request request;
    struct cohort__bootstrap *bootstrap;
    uint32_t rank;
    bool at_fault;
    char why[];
};

static void run_finished(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct cohort__bootstrap *bootstrap =
        COHORT_CONTAINER_OF(request, struct cohort__bootstrap, finished);
    if (!bootstrap->closing)
        bootstrap->way->finished(bootstrap);
}

static void run_ask_returned(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct cohort__bootstrap *bootstrap =
        COHORT_CONTAINER_OF(request, struct cohort__bootstrap, ask_returned);
    atomic_store(&bootstrap->is_asking_returned, false);
    if (!bootstrap->closing)
        bootstrap->way->ask_returned(bootstrap);
}

static void run_counted(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct cohort__bootstrap *bootstrap =
        COHORT_CONTAINER_OF(request, struct cohort__bootstrap, counted);
    bootstrap->is_counting = false;
    if (!bootstrap->closing)
        bootstrap->way->counted(bootstrap);
}

/* Runs even while closing, since the failure of the job is reported at the very end. */
static void run_failed(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct failure *failure = COHORT_CONTAINER_OF(request, struct failure, request);
    failure->bootstrap->way->failed(failure->bootstrap, failure->text);
    free(failure);
}

static void run_letter(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct letter *letter = COHORT_CONTAINER_OF(request, struct letter, request);
    struct cohort__bootstrap *bootstrap = letter->bootstrap;
    if (!bootstrap->closing && bootstrap->way->letter)
        bootstrap->way->letter(bootstrap, letter->data, letter->bytes);
    free(letter);
}

static void run_accuse(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct accusation *accusation = COHORT_CONTAINER_OF(request, struct accusation, request);
    struct cohort__bootstrap *bootstrap = accusation->bootstrap;
    if (!bootstrap->closing && bootstrap->way->accuse)
        bootstrap->way->accuse(bootstrap, accusation->rank, accusation->at_fault, accusation->why);
    free(accusation);
}

static void run_poor(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct cohort__bootstrap *bootstrap =
        COHORT_CONTAINER_OF(request, struct cohort__bootstrap, poor);
    if (!bootstrap->closing && bootstrap->way->accuse)
        bootstrap->way->accuse(bootstrap, bootstrap->job.rank, true,
                               "has no memory to say what is wrong");
}

static bool has_pmix(void)
{
    return getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK");
}

cohort_status cohort__bootstrap_create(struct cohort__bootstrap **ret_bootstrap,
                                       struct cohort__loop *loop,
                                       const struct cohort__bootstrap_handlers *handlers)
{
    struct cohort__bootstrap *bootstrap;
    const char *control = getenv("COHORT_CONTROL_FD");
    cohort_status status = control      ? cohort__bootstrap_open_launcher(&bootstrap, control)
                           : has_pmix() ? cohort__bootstrap_open_pmix(&bootstrap)
                                        : cohort__bootstrap_open_alone(&bootstrap);
    unsetenv("COHORT_CONTROL_FD"); /* it is used up, also if that has failed */
    if (status)
        return status;
    unsetenv("PMIX_NAMESPACE");
    unsetenv("PMIX_RANK");
    if (bootstrap->job.has_launcher)
        setenv("COHORT_ALONE", "1", 0); /* for what this locality starts */
    bootstrap->job.binding = cohort__binding_take();
    bootstrap->loop = loop;
    bootstrap->handlers = *handlers;
    bootstrap->finished.run = run_finished;
    bootstrap->ask_returned.run = run_ask_returned;
    bootstrap->counted.run = run_counted;
    bootstrap->poor.run = run_poor;
    *ret_bootstrap = bootstrap;
    return COHORT_OK;
}

void cohort__bootstrap_refuse(const char *why)
{
    const char *control = getenv("COHORT_CONTROL_FD");
    if (control)
        cohort__bootstrap_refuse_launcher(control, why);
    else if (has_pmix())
        cohort__bootstrap_refuse_pmix();
    unsetenv("COHORT_CONTROL_FD");
}

void cohort__bootstrap_destroy(struct cohort__bootstrap *bootstrap)
{
    if (!bootstrap)
        return;
    bootstrap->closing = true;
    if (bootstrap->pausing)
        cohort__loop_timer_cancel(bootstrap->loop, &bootstrap->pause);
    cohort__loop_run_requests(bootstrap->loop); /* including those made here */
    cohort__hub_destroy(bootstrap->hub);
    struct cohort__bytes *addresses = bootstrap->addresses;
    bootstrap->way->close(bootstrap);
    free(addresses);
}

cohort_status cohort__bootstrap_store_addresses(struct cohort__bootstrap *bootstrap,
                                                const struct cohort__bytes *addresses,
                                                uint32_t size)
{
    size_t bytes = size * sizeof(*addresses);
    for (uint32_t i = 0; i < size; i++)
        bytes += addresses[i].bytes;
    bootstrap->addresses = malloc(bytes);
    if (!bootstrap->addresses)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "addresses of the localities: out of memory");
    unsigned char *next = (unsigned char *)(bootstrap->addresses + size);
    for (uint32_t i = 0; i < size; i++) {
        const struct cohort__bytes *address = &addresses[i];
        bootstrap->addresses[i] = (struct cohort__bytes){.data = next, .bytes = address->bytes};
        if (address->bytes > 0)
            memcpy(next, address->data, address->bytes);
        next += address->bytes;
    }
    return COHORT_OK;
}

cohort_status cohort__bootstrap_exchange(struct cohort__bootstrap *bootstrap, const void *address,
                                         size_t bytes)
{
    if (bytes > COHORT__CONTROL_MAX_ADDRESS)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "an address of %zu bytes is above %d", bytes,
                           COHORT__CONTROL_MAX_ADDRESS);
    if (bootstrap->exchanged)
        return cohort_fail(COHORT_ERR_STATE, "addresses have been exchanged already");
    bootstrap->exchanged = true;
    return bootstrap->way->exchange(bootstrap, address, bytes);
}

const struct cohort__bootstrap_job *cohort__bootstrap_job(const struct cohort__bootstrap *bootstrap)
{
    return &bootstrap->job;
}

void cohort__bootstrap_set_grace(struct cohort__bootstrap *bootstrap, uint64_t nanoseconds)
{
    bootstrap->grace = nanoseconds;
}

struct cohort__hub *cohort__bootstrap_take_hub(struct cohort__bootstrap *bootstrap)
{
    struct cohort__hub *hub = bootstrap->hub;
    bootstrap->hub = NULL;
    return hub;
}

const void *cohort__bootstrap_address(const struct cohort__bootstrap *bootstrap, uint32_t rank,
                                      size_t *ret_bytes)
{
    *ret_bytes = bootstrap->addresses[rank].bytes;
    return bootstrap->addresses[rank].data;
}

void cohort__bootstrap_finished(struct cohort__bootstrap *bootstrap)
{
    cohort__loop_request(bootstrap->loop, &bootstrap->finished);
}

bool cohort__bootstrap_ask_returned(struct cohort__bootstrap *bootstrap)
{
    if (!bootstrap->way->ask_returned)
        return false;
    if (!atomic_exchange(&bootstrap->is_asking_returned, true))
        cohort__loop_request(bootstrap->loop, &bootstrap->ask_returned);
    return true;
}

void cohort__bootstrap_report_counts(struct cohort__bootstrap *bootstrap, uint64_t round,
                                     uint64_t sent, uint64_t received, bool busy)
{
    bootstrap->counts.round = round;
    bootstrap->counts.sent = sent;
    bootstrap->counts.received = received;
    bootstrap->counts.busy = busy;
    if (!bootstrap->is_counting)
        cohort__loop_request(bootstrap->loop, &bootstrap->counted);
    bootstrap->is_counting = true;
}

void cohort__bootstrap_accuse(struct cohort__bootstrap *bootstrap, uint32_t rank, bool at_fault,
                              const char *why)
{
    size_t bytes = strlen(why) + 1;
    struct accusation *accusation = malloc(sizeof(*accusation) + bytes);
    if (!accusation) {
        cohort__log(COHORT__LOG_ERROR, "locality %u: no memory to say that locality %u %s",
                    (unsigned)bootstrap->job.rank, (unsigned)rank, why);
        if (!atomic_exchange(&bootstrap->is_poor, true))
            cohort__loop_request(bootstrap->loop, &bootstrap->poor);
        return;
    }
    accusation->request.run = run_accuse;
    accusation->bootstrap = bootstrap;
    accusation->rank = rank;
    accusation->at_fault = at_fault;
    memcpy(accusation->why, why, bytes);
    cohort__loop_request(bootstrap->loop, &accusation->request);
}

void cohort__bootstrap_send_letter(struct cohort__bootstrap *bootstrap, const void *data,
                                   size_t bytes)
{
    struct letter *letter = malloc(sizeof(*letter) + bytes);
    if (!letter) {
        cohort__bootstrap_accuse(bootstrap, bootstrap->job.rank, true,
                                 "has no memory for a letter");
        return;
    }
    letter->request.run = run_letter;
    letter->bootstrap = bootstrap;
    letter->bytes = bytes;
    memcpy(letter->data, data, bytes);
    cohort__loop_request(bootstrap->loop, &letter->request);
}

void cohort__bootstrap_broken(struct cohort__bootstrap *bootstrap, const char *why)
{
    if (bootstrap->way->broken)
        bootstrap->way->broken(bootstrap, why);
}

void cohort__bootstrap_report_failure(struct cohort__bootstrap *bootstrap, const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct failure *failure = malloc(sizeof(*failure) + bytes);
    if (!failure)
        return; /* the launcher will see the end, but without a reason */
    failure->request.run = run_failed;
    failure->bootstrap = bootstrap;
    memcpy(failure->text, text, bytes);
    cohort__loop_request(bootstrap->loop, &failure->request);
}

bool cohort__bootstrap_abort(struct cohort__bootstrap *bootstrap, int code, const char *reason)
{
    return bootstrap->way->abort && bootstrap->way->abort(bootstrap, code, reason);
}

/* --- rounds of the drain, for jobs in which no launcher runs them --- */

void cohort__bootstrap_round_begin(struct cohort__bootstrap *bootstrap)
{
    if (!bootstrap->closing)
        bootstrap->handlers.count_asked(bootstrap->handlers.context,
                                        cohort__drain_begin(&bootstrap->drain));
}

static void pause_over(struct cohort__timer *timer)
{
    struct cohort__bootstrap *bootstrap =
        COHORT_CONTAINER_OF(timer, struct cohort__bootstrap, pause);
    bootstrap->pausing = false;
    cohort__bootstrap_round_begin(bootstrap);
}

static void pause_begin(struct cohort__bootstrap *bootstrap)
{
    uint64_t pause = cohort__drain_pause_ns(&bootstrap->drain);
    bootstrap->pausing = true;
    bootstrap->pause.expired = pause_over;
    cohort__loop_timer(bootstrap->loop, &bootstrap->pause, cohort__clock_after(pause));
}

void cohort__bootstrap_release(struct cohort__bootstrap *bootstrap)
{
    bootstrap->released = true;
    bootstrap->handlers.exit_allowed(bootstrap->handlers.context);
}

bool cohort__bootstrap_round_answer(struct cohort__bootstrap *bootstrap, uint64_t sent,
                                    uint64_t received, bool busy)
{
    enum cohort__drain_next next =
        cohort__drain_answer(&bootstrap->drain, bootstrap->drain.round, sent, received, busy);
    if (next == COHORT__DRAIN_AGAIN)
        pause_begin(bootstrap);
    return next == COHORT__DRAIN_DONE;
}
