/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/router.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/ledger.h"
#include "runtime/base/log.h"
#include "runtime/base/trace.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/letter.h"
#include "runtime/proc/peer.h"
#include "runtime/task/scheduler.h"
#include "runtime/wire/envelope.h"

/* --- assembly --- */

/* A DATA that is too long for one message, but too short to be fetched, comes as several FRAGMENTs,
 * which may overtake each other, and is put together again. */
struct assembly {
    struct cohort__list link; /* in the peer's list */
    uint64_t handle;
    size_t bytes;
    size_t arrived;
    unsigned char *data;
};

static void destroy(struct assembly *assembly)
{
    cohort__list_remove(&assembly->link);
    free(assembly->data);
    free(assembly);
}

static struct assembly *find(const struct cohort__peer *peer, uint64_t handle)
{
    for (struct cohort__list *link = peer->assemblies.next; link != &peer->assemblies;
         link = link->next) {
        struct assembly *assembly = COHORT_CONTAINER_OF(link, struct assembly, link);
        if (assembly->handle == handle)
            return assembly;
    }
    return NULL;
}

/* NULL: out of memory. */
static struct assembly *create(struct cohort__peer *peer, const struct cohort__envelope *envelope)
{
    struct assembly *assembly = malloc(sizeof(*assembly));
    unsigned char *data = assembly ? malloc(envelope->total_bytes) : NULL;
    if (!data) {
        free(assembly);
        return NULL;
    }
    *assembly =
        (struct assembly){.handle = envelope->handle, .bytes = envelope->total_bytes, .data = data};
    cohort__list_push_back(&peer->assemblies, &assembly->link);
    peer->assembly_bytes += assembly->bytes;
    return assembly;
}

/* NULL: with the reason in WHY, which is empty where there is no memory. */
static struct assembly *find_or_create(struct cohort__peer *peer,
                                       const struct cohort__envelope *envelope, char *why,
                                       size_t why_bytes)
{
    struct assembly *assembly = find(peer, envelope->handle);
    if (!assembly && envelope->total_bytes > COHORT__ASSEMBLY_BYTES_MAX - peer->assembly_bytes) {
        snprintf(why, why_bytes, "sent parts of more than %d bytes at once",
                 COHORT__ASSEMBLY_BYTES_MAX);
        return NULL;
    }
    if (assembly && (assembly->bytes != envelope->total_bytes ||
                     envelope->payload_bytes > assembly->bytes - assembly->arrived)) {
        snprintf(why, why_bytes, "sent parts of %zu bytes that don't fit together",
                 assembly->bytes);
        return NULL;
    }
    *why = '\0';
    return assembly ? assembly : create(peer, envelope);
}

/* ASSEMBLY is complete: gives its data to ARRIVAL. */
static void hand_over(struct cohort__peer *peer, struct assembly *assembly,
                      struct cohort__arrival *arrival)
{
    cohort__net_release(arrival->message);
    arrival->message = NULL;
    arrival->copy = assembly->data;
    arrival->data = assembly->data;
    arrival->envelope.kind = COHORT__KIND_DATA;
    arrival->envelope.payload_bytes = (uint32_t)assembly->bytes;
    arrival->envelope.total_bytes = 0;
    arrival->envelope.offset = 0;
    peer->assembly_bytes -= assembly->bytes;
    assembly->data = NULL;
    destroy(assembly);
}

/* Takes ARRIVAL, a FRAGMENT of PEER, and releases it. True: with it the DATA is whole, and ARRIVAL
 * has become that, with its payload in `copy`. If the fragment makes no sense, or there is no
 * memory for the payload, PEER is given up: it counts as dead. */
static bool assembly_take(struct cohort__peer *peer, struct cohort__arrival *arrival)
{
    char why[120];
    const struct cohort__envelope *envelope = &arrival->envelope;
    struct assembly *assembly = find_or_create(peer, envelope, why, sizeof(why));
    if (assembly) {
        memcpy(assembly->data + envelope->offset, arrival->data, envelope->payload_bytes);
        assembly->arrived += envelope->payload_bytes;
        if (assembly->arrived == assembly->bytes) {
            hand_over(peer, assembly, arrival);
            return true;
        }
    }
    struct cohort__process *process = arrival->process;
    cohort__arrival_release(arrival);
    if (!assembly && *why)
        cohort__process_blame(process, peer->rank, why);
    else if (!assembly)
        cohort__process_give_up(process, peer->rank,
                                "was given up: no memory for parts of a message from it");
    return false;
}

void cohort__assemblies_fini(struct cohort__list *assemblies)
{
    while (!cohort__list_is_empty(assemblies))
        destroy(COHORT_CONTAINER_OF(assemblies->next, struct assembly, link));
}

/* --- messages --- */

/* A message without this job's key and epoch belongs to another job, or is left over from an
 * earlier start. It is dropped and counted. */
static bool is_ours(const struct cohort__process *process, const struct cohort__envelope *envelope)
{
    return envelope->job_key == process->options.job_key &&
           envelope->epoch == process->options.epoch &&
           envelope->incarnation == COHORT__INCARNATION &&
           envelope->source_locality < process->options.size &&
           envelope->source_locality != process->options.rank;
}

/* There is no handler: no site of this locality has ever joined a communicator, or the job is
 * over. */
static void drop(struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    atomic_fetch_add(&arrival->process->dropped, 1);
    if (envelope->kind == COHORT__KIND_ANNOUNCE)
        cohort__fetch_decline(arrival->process, envelope->source_locality, envelope->handle);
    cohort__arrival_release(arrival);
}

/* Not questions and answers: a job that hangs goes on asking. */
static void note(const struct cohort__envelope *envelope)
{
    enum cohort__event_kind kind = COHORT__EVENT_RECEIVED;
    uint64_t number = envelope->generation;
    if (envelope->kind != COHORT__KIND_DATA && envelope->kind != COHORT__KIND_ANNOUNCE)
        return;
    if (envelope->instance == COHORT__INSTANCE_REMOTE) {
        kind = COHORT__EVENT_REMOTE;
    } else if (number == 0) {
        kind = COHORT__EVENT_CHANNEL;
        number = envelope->fingerprint;
    }
    cohort__ledger_note(kind, envelope->source_locality, number);
}

static void hand_on(struct cohort__arrival *arrival)
{
    struct cohort__process *process = arrival->process;
    bool is_remote_task = arrival->envelope.instance == COHORT__INSTANCE_REMOTE;
    const struct cohort__process_handlers *handlers = atomic_load_explicit(
        is_remote_task ? &process->remote_handlers : &process->handlers, memory_order_acquire);
    note(&arrival->envelope);
    if (handlers->message)
        handlers->message(handlers->context, arrival);
    else
        drop(arrival);
}

static void dispatch(struct cohort__peer *peer, struct cohort__arrival *arrival)
{
    struct cohort__process *process = arrival->process;
    const struct cohort__envelope *envelope = &arrival->envelope;
    switch (envelope->kind) {
    case COHORT__KIND_CREDIT:
        if (envelope->tag != 0)
            cohort__send_asked(process, peer);
        break;
    case COHORT__KIND_FETCHED:
        (void)cohort__death_receive(process, arrival->data, envelope->payload_bytes);
        cohort__send_fetched(process, peer, envelope->handle, envelope->tag != 0);
        break;
    case COHORT__KIND_REGISTRY:
        cohort__letter_arrived(process, peer, envelope, arrival->data);
        break;
    case COHORT__KIND_FRAGMENT:
        if (assembly_take(peer, arrival))
            hand_on(arrival);
        return;
    default:
        hand_on(arrival);
        return;
    }
    cohort__arrival_release(arrival);
}

/* NUM messages have come. While one is missing, those that have overtaken it are not confirmed: so
 * no more than a window of them can. Only the router changes the counter, so it needs no atomic
 * addition. */
static void count_drained(struct cohort__peer *peer, uint32_t num)
{
    bool is_ahead = peer->link.num_ahead > 0;
    num += peer->num_overtaking;
    peer->num_overtaking = is_ahead ? num : 0;
    uint32_t drained = atomic_load_explicit(&peer->drained, memory_order_relaxed);
    atomic_store_explicit(&peer->drained, drained + (is_ahead ? 0 : num), memory_order_release);
}

static void count_received(struct cohort__peer *peer)
{
    uint64_t received = atomic_load_explicit(&peer->received, memory_order_relaxed);
    atomic_store_explicit(&peer->received, received + 1, memory_order_release);
}

static void drop_message(struct cohort__process *process, struct cohort__net_message *message,
                         const char *why)
{
    atomic_fetch_add(&process->dropped, 1);
    cohort__log(COHORT__LOG_WARN, "locality %u: dropped a message: %s", process->options.rank, why);
    cohort__net_release(message);
}

/* Records the message's number. False: PEER can't have sent it, or it has come before. */
static bool take_number(struct cohort__peer *peer, const struct cohort__envelope *envelope,
                        struct cohort__process *process)
{
    if (!cohort__link_take(&peer->link, envelope->number))
        return false;
    if (peer->link.num_ahead > 0)
        process->has_gaps = true;
    return true;
}

/* What a dead locality has sent may still come. Nobody waits for it any more, and it may be about
 * what has been given to another since its death. */
static bool is_dead(struct cohort__process *process, uint32_t rank)
{
    struct cohort__death death;
    return cohort__process_any_dead(process) && cohort__process_death_of(process, rank, &death);
}

static void on_message(void *context, struct cohort__net_message *message)
{
    struct cohort__process *process = context;
    struct cohort__arrival arrival;
    const struct cohort__envelope *envelope = &arrival.envelope;
    cohort_status status =
        cohort__envelope_decode(message->data, message->bytes, &arrival.envelope);
    struct cohort__peer *peer = NULL;
    bool is_good = !status && is_ours(process, envelope);
    if (is_good)
        peer = cohort__peer_get(process, envelope->source_locality);
    if (is_good && !peer) { /* perhaps there is some again */
        drop_message(process, message, "no memory for its locality");
        cohort__process_give_up(process, envelope->source_locality,
                                "was given up: a message from it was lost here: no memory");
        return;
    }
    if (!peer) {
        drop_message(process, message, status ? cohort_error_message() : "not of this job");
        return;
    }
    if (is_dead(process, envelope->source_locality)) {
        atomic_fetch_add(&process->dropped, 1);
        cohort__net_release(message);
        return;
    }
    if (!take_number(peer, envelope, process)) {
        drop_message(process, message, "its number has come before, or is not to come yet");
        return;
    }
    if (__builtin_expect(cohort__trace_is_on, 0))
        cohort__trace_write_more(0, COHORT__TRACE_RECEIVED | (uint32_t)envelope->kind << 8,
                                 envelope->source_locality, envelope->number,
                                 envelope->payload_bytes, envelope->generation, 0);
    arrival.process = process;
    arrival.data = message->data + COHORT__ENVELOPE_BYTES;
    arrival.message = message;
    arrival.copy = NULL;
    arrival.is_kept = false;
    arrival.is_ahead = peer->link.num_ahead > 0;
    bool counts = envelope->kind != COHORT__KIND_CREDIT;
    /* Counted before it is handled, so that an answer to it already confirms it. */
    count_drained(peer, counts);
    if (envelope->credit > 0 || envelope->drained > 0)
        cohort__send_credited(process, peer, envelope->credit, envelope->drained);
    dispatch(peer, &arrival);
    /* Counted after it has been handled: what it has started counts as busy by then. */
    if (counts)
        count_received(peer);
    cohort__send_credit(process, peer);
}

/* --- delay --- */

/* Messages that came and are kept back for a while, since COHORT_FAULT says so. To the rest it
 * looks as if the transport had them, and others had overtaken them. All of this is the loop's
 * holder's.
 */
struct delayed {
    struct cohort__list node;
    struct cohort__timer timer;
    struct cohort__process *process; /* NULL: it has stopped */
    struct cohort__net_message message;
    _Alignas(16) unsigned char data[];
};

static void on_expired(struct cohort__timer *timer)
{
    struct delayed *delayed = COHORT_CONTAINER_OF(timer, struct delayed, timer);
    cohort__list_remove(&delayed->node);
    if (delayed->process)
        on_message(delayed->process, &delayed->message);
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

/* False: MESSAGE is to be handled now. Else it is copied and released, and the copy is
 * handled later, from the loop. */
static bool delay_take(struct cohort__process *process, struct cohort__net_message *message)
{
    if (!is_chosen(process, message))
        return false;
    struct delayed *delayed = malloc(sizeof(*delayed) + message->bytes);
    if (!delayed)
        return false;
    *delayed = (struct delayed){.timer = {.expired = on_expired},
                                .process = process,
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

/* With COHORT_FAULT instead of the former. */
static void on_message_or_later(void *context, struct cohort__net_message *message)
{
    if (!delay_take(context, message))
        on_message(context, message);
}

/* What its sender has sent behind it may be lost as well, and its sender was told that all went
 * well. A stranger's message is nobody's loss. */
static void on_broken(void *context, const unsigned char *data, size_t bytes, bool at_fault,
                      const char *why)
{
    struct cohort__process *process = context;
    struct cohort__envelope envelope;
    char text[200];
    atomic_fetch_add(&process->dropped, 1);
    if (cohort__envelope_decode_front(data, bytes, &envelope) || !is_ours(process, &envelope)) {
        cohort__log(COHORT__LOG_WARN, "locality %u: a message could not be received: %s",
                    process->options.rank, why);
        return;
    }
    snprintf(text, sizeof(text), "%s: its message %u to locality %u could not be received: %s",
             at_fault ? "has sent nonsense" : "can't be reached", (unsigned)envelope.number,
             (unsigned)process->options.rank, why);
    if (at_fault)
        cohort__process_blame(process, envelope.source_locality, text);
    else
        cohort__process_peer_lost(process, envelope.source_locality, text);
}

void cohort__router_look_for_gaps(struct cohort__process *process, uint64_t now)
{
    if (!process->has_gaps)
        return;
    process->has_gaps = false;
    for (uint32_t rank = 0; rank < process->options.size; rank++) {
        struct cohort__peer *peer = atomic_load(&process->peers[rank]);
        if (!peer || peer->link.num_ahead == 0)
            continue;
        if (!cohort__link_look(&peer->link, now)) {
            process->has_gaps = true;
            continue;
        }
        char why[120];
        snprintf(why, sizeof(why),
                 "can't be reached: its message %u to locality %u was lost, of which later ones "
                 "have come",
                 (unsigned)peer->link.next, (unsigned)process->options.rank);
        cohort__process_peer_lost(process, rank, why);
    }
}

static void on_fetched(void *context, void *cookie, cohort_status status)
{
    (void)context;
    cohort__fetch_piece_done(cookie, status);
}

static void on_writable(void *context, uint32_t rank)
{
    struct cohort__process *process = context;
    struct cohort__peer *peer = cohort__peer_get(process, rank);
    if (!peer)
        return;
    cohort__send_writable(process, peer);
    cohort__fetch_writable(process, peer);
}

static void on_unreachable(void *context, uint32_t rank, const char *why)
{
    char text[160];
    if (!why) {
        cohort__send_refused(context, rank, COHORT__NET_NO_MEMORY);
        return;
    }
    snprintf(text, sizeof(text), "can't be reached: %s", why);
    cohort__process_peer_lost(context, rank, text);
}

static bool on_look(void *context)
{
    const struct cohort__process *process = context;
    const struct cohort__process_handlers *handlers =
        atomic_load_explicit(&process->handlers, memory_order_acquire);
    return handlers->look && handlers->look(handlers->context);
}

struct cohort__net_handlers cohort__router_net_handlers(struct cohort__process *process)
{
    bool delays = process->options.fault && process->options.fault->plan.delay_ns > 0;
    return (struct cohort__net_handlers){
        .context = process,
        .message = delays ? on_message_or_later : on_message,
        .broken = on_broken,
        .fetched = on_fetched,
        .writable = on_writable,
        .unreachable = on_unreachable,
        .look = on_look,
    };
}
