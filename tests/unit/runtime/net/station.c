/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/runtime/net/station.h"

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "tests/support/test.h"

/* Reached only on failure, however busy the machine is. */
static const uint64_t patience = 120ull * 1000 * 1000 * 1000;

static void on_message(void *context, struct cohort__net_message *message)
{
    struct station *station = context;
    if (station->on_message)
        station->on_message(station, message);
    if (station->keep)
        station->kept = message;
    else
        cohort__net_release(message);
    CHECK(!station->keep || !message->is_passing);
    atomic_fetch_add(&station->num_messages, 1);
}

static void on_broken(void *context, const unsigned char *data, size_t bytes, bool at_fault,
                      const char *why)
{
    struct station *station = context;
    CHECK_INT(bytes, sizeof(station->front));
    CHECK_INT(at_fault, strstr(why, "are no packet") != NULL);
    memcpy(station->front, data, bytes);
    snprintf(station->why, sizeof station->why, "%s", why);
    atomic_fetch_add(&station->num_broken, 1);
}

static void on_fetched(void *context, void *cookie, cohort_status status)
{
    struct station *station = context;
    CHECK(cookie == station);
    if (status != COHORT_OK) {
        station->fetch_status = status;
        atomic_fetch_add(&station->num_failed, 1);
    }
    if (station->on_fetched)
        station->on_fetched(station, status);
    atomic_fetch_add(&station->num_fetched, 1);
}

static void on_writable(void *context, uint32_t peer)
{
    struct station *station = context;
    CHECK(peer < STATION_MAX_PEERS);
    atomic_fetch_add(&station->num_writable[peer], 1);
}

static void on_unreachable(void *context, uint32_t peer, const char *why)
{
    struct station *station = context;
    CHECK(peer < STATION_MAX_PEERS);
    snprintf(station->why, sizeof station->why, "%s", why ? why : "no memory");
    atomic_fetch_add(&station->num_unreachable[peer], 1);
}

struct cohort__net_handlers station_handlers(struct station *station)
{
    return (struct cohort__net_handlers){
        .context = station,
        .message = on_message,
        .broken = on_broken,
        .fetched = on_fetched,
        .writable = on_writable,
        .unreachable = on_unreachable,
    };
}

static bool progress(struct cohort__net *net)
{
    return net->poller.progress(net->poller.context);
}

bool station_turn(struct station *station)
{
    bool any = progress(station->net);
    if (station->peer)
        any |= progress(station->peer->net);
    if (!any)
        sched_yield(); /* the other process may share this core */
    return any;
}

void station_until(struct station *station, const _Atomic unsigned long *counter,
                   unsigned long want)
{
    uint64_t deadline = cohort__clock_after(patience);
    while (atomic_load(counter) < want) {
        station_turn(station);
        if (cohort__clock_now() > deadline)
            FAIL("%lu of %lu after 120 s", atomic_load(counter), want);
    }
}

void station_until_unreachable(struct station *station, uint32_t peer)
{
    uint64_t deadline = cohort__clock_after(patience);
    while (atomic_load(&station->num_unreachable[peer]) == 0) {
        station_turn(station);
        CHECK(cohort__clock_now() < deadline);
    }
}

/* Waits after an AGAIN, before which the count of `writable` was BEFORE. */
static void wait_writable(struct station *station, uint32_t peer, unsigned before)
{
    uint64_t deadline = cohort__clock_after(patience);
    while (atomic_load(&station->num_writable[peer]) == before &&
           atomic_load(&station->num_unreachable[peer]) == 0) {
        station_turn(station);
        CHECK(cohort__clock_now() < deadline);
    }
}

enum cohort__net_sent station_send(struct station *station, uint32_t peer, const void *data,
                                   size_t bytes)
{
    /* In two parts, as a header and a payload are. */
    size_t head = bytes < COHORT__ENVELOPE_BYTES ? bytes : COHORT__ENVELOPE_BYTES;
    struct iovec parts[2] = {
        {.iov_base = (void *)(uintptr_t)data, .iov_len = head},
        {.iov_base = (char *)(uintptr_t)data + head, .iov_len = bytes - head},
    };
    for (;;) {
        unsigned before = atomic_load(&station->num_writable[peer]);
        enum cohort__net_sent sent = cohort__net_send(station->net, peer, parts, 2);
        if (sent != COHORT__NET_AGAIN)
            return sent;
        wait_writable(station, peer, before);
    }
}

enum cohort__net_sent station_fetch(struct station *station, uint32_t peer,
                                    const struct cohort__net_token *token, size_t offset,
                                    void *destination, size_t bytes)
{
    for (;;) {
        unsigned before = atomic_load(&station->num_writable[peer]);
        enum cohort__net_sent sent =
            cohort__net_fetch(station->net, peer, token, offset, destination, bytes, station);
        if (sent != COHORT__NET_AGAIN)
            return sent;
        wait_writable(station, peer, before);
    }
}

bool station_block(struct station *station, int milliseconds)
{
    const struct cohort__poller *poller = &station->net->poller;
    if (!poller->arm(poller->context))
        return true;
    struct pollfd entry = {.fd = poller->fd, .events = POLLIN};
    int n = poll(&entry, 1, milliseconds);
    poller->disarm(poller->context);
    CHECK(n >= 0);
    return n > 0;
}

uint64_t station_now(void)
{
    return cohort__clock_now();
}
