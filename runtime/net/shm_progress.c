/* SPDX-License-Identifier: Apache-2.0 */
/* Incoming records, deferred work, and sleeping until there is one of the two. */
#include <string.h>

#include "runtime/base/bell.h"
#include "runtime/base/container.h"
#include "runtime/base/log.h"
#include "runtime/base/slab.h"
#include "runtime/net/shm_end.h"

/* How many records of one ring one call of progress handles at most, so that other rings get their
 * turn. */
enum { MAX_RECORDS = 64 };

static void ring(const struct cohort__shm *shm, uint32_t slot)
{
    if (!cohort__bell_ring(shm->hub->doorbells[slot]))
        cohort__log(COHORT__LOG_WARN, "net: writing to an eventfd failed");
}

/* No wake-up is lost. A locality that goes to sleep first sets `sleeping`, and then looks at
 * everything once more. A sender first writes its record, and then looks at `sleeping`. Both have a
 * fence in between, so at least one of them sees what the other has written.
 * tests/model/doorbell.pml is a model of this. */
void cohort__shm_rouse(const struct cohort__shm *shm, uint32_t slot)
{
    struct cohort__shm_slot *sleeper = cohort__shm_slot(shm, slot);
    if (atomic_load_explicit(&sleeper->sleeping, memory_order_relaxed) &&
        atomic_exchange(&sleeper->sleeping, 0))
        ring(shm, slot);
}

void cohort__shm_ring_bell(const struct cohort__shm *shm, uint32_t slot)
{
    atomic_thread_fence(memory_order_seq_cst);
    cohort__shm_rouse(shm, slot);
}

void cohort__shm_wake(const struct cohort__shm *shm)
{
    ring(shm, shm->slot);
}

void cohort__shm_defer(struct cohort__shm_peer *peer)
{
    struct cohort__shm *shm = peer->shm;
    if (!cohort__list_is_empty(&peer->deferred))
        return;
    cohort__list_push_back(&shm->deferred, &peer->deferred);
    atomic_store(&shm->has_deferred, true);
}

/* Incoming ------------------------------------------------------------------------------------ */

static void message_arrived(struct cohort__shm_peer *peer, struct cohort__net_message *message)
{
    struct cohort__net_handlers *handlers = &peer->shm->net.handlers;
    handlers->message(handlers->context, message);
}

/* The handler reads the message in place. After that, the memory belongs to the writer again. */
static void plain_arrived(struct cohort__shm_peer *peer, const struct cohort__ring_item *record)
{
    struct cohort__net_message message = {
        .net = &peer->shm->net, .data = record->data, .bytes = record->bytes, .is_passing = true};
    message_arrived(peer, &message);
}

static void lose(struct cohort__shm_peer *peer, const char *why)
{
    pthread_mutex_lock(&peer->shm->lock);
    cohort__shm_peer_lose(peer, why);
    pthread_mutex_unlock(&peer->shm->lock);
}

static const char makes_no_sense[] = "its ring in shared memory makes no sense";

/* False: memory ran out, so the record stays in the ring for now. */
static bool take(struct cohort__shm_peer *peer, const struct cohort__ring_item *record)
{
    struct cohort__net_message message;
    switch ((enum cohort__shm_kind)record->kind) {
    case COHORT__SHM_ABRIDGED:
        if (cohort__shm_read_message(peer, record, &message))
            message_arrived(peer, &message);
        else
            lose(peer, makes_no_sense);
        return true;
    case COHORT__SHM_MESSAGE:
        plain_arrived(peer, record);
        return true;
    case COHORT__SHM_REQUEST:
        return cohort__shm_request_arrived(peer, record);
    case COHORT__SHM_PIECE:
    case COHORT__SHM_REFUSAL:
        break; /* not in this ring */
    }
    lose(peer, "it has sent something unknown through shared memory");
    return true;
}

static __attribute__((noinline)) bool receive(struct cohort__shm_peer *peer)
{
    const struct cohort__ring_item *record;
    bool is_broken = false;
    unsigned num = 0;
    while (num < MAX_RECORDS && !atomic_load_explicit(&peer->is_dead, memory_order_relaxed) &&
           (record = cohort__ring_next(&peer->reader, &is_broken)) && take(peer, record)) {
        cohort__ring_consume(&peer->reader);
        num++;
    }
    if (is_broken)
        lose(peer, makes_no_sense);
    return num > 0;
}

void cohort__shm_tell_of_room(const struct cohort__shm_peer *peer,
                              struct cohort__ring_reader *reader)
{
    if (cohort__ring_writer_waits(reader))
        cohort__shm_ring_bell(peer->shm, peer->slot);
}

/* The locality in SLOT has begun a ring to us. False: it can't be answered yet, and has to be tried
 * again. */
static bool answer(struct cohort__shm *shm, uint32_t slot)
{
    pthread_mutex_lock(&shm->lock);
    struct cohort__shm_peer *peer = cohort__shm_peer_at(shm, slot);
    uint32_t number = shm->numbers[slot];
    bool is_gone = !peer && number != COHORT__SHM_NONE && shm->slots[number] != slot;
    if (peer && !peer->reader.ring) {
        void *memory = cohort__shm_ring_map(shm, slot, shm->slot);
        if (memory) {
            cohort__ring_reader_init(&peer->reader, memory, COHORT__SHM_RING_BYTES);
            shm->callers[shm->num_callers++] = peer;
        } else {
            cohort__shm_peer_lose(peer, "no memory to hear it");
        }
    }
    pthread_mutex_unlock(&shm->lock);
    return peer || is_gone;
}

static bool has_new_callers(const struct cohort__shm *shm)
{
    for (uint32_t word = 0; word * 64 < shm->hub->size; word++)
        if (atomic_load_explicit(&shm->own->callers[word], memory_order_acquire))
            return true;
    return false;
}

/* Callers that are not known yet keep their bits. This function is not inlined, like everything
 * that progress does rarely, so that it costs nothing when there is nothing to do. */
static __attribute__((noinline)) void answer_all(struct cohort__shm *shm)
{
    for (uint32_t slot = 0; slot < shm->hub->size; slot++) {
        uint64_t bit = UINT64_C(1) << slot % 64;
        _Atomic uint64_t *word = &shm->own->callers[slot / 64];
        if (atomic_load_explicit(word, memory_order_acquire) & bit && answer(shm, slot))
            atomic_fetch_and(word, ~bit);
    }
}

/* What is deferred ---------------------------------------------------------------------------- */

static bool is_deferred(const struct cohort__shm_peer *peer)
{
    return peer->is_blocked || !cohort__list_is_empty(&peer->reads) ||
           !cohort__list_is_empty(&peer->unasked) || !cohort__list_is_empty(&peer->streams);
}

/* With the lock held, except while handlers run. */
static bool run_deferred(struct cohort__shm_peer *peer)
{
    struct cohort__shm *shm = peer->shm;
    bool any = false;
    if (peer->why) {
        const char *why = peer->why;
        peer->why = NULL;
        pthread_mutex_unlock(&shm->lock);
        shm->net.handlers.unreachable(shm->net.handlers.context, peer->number, why);
        pthread_mutex_lock(&shm->lock);
        any = true;
    }
    if (atomic_load(&peer->is_dead)) {
        cohort__shm_fetches_end(peer, COHORT_ERR_PEER_DIED);
        cohort__shm_streams_end(peer);
        if (atomic_load(&shm->has_died[peer->slot]))
            cohort__shm_peer_free_rings(peer);
        return true;
    }
    any |= cohort__shm_streams_progress(peer);
    any |= cohort__shm_fetches_progress(peer);
    if (peer->is_blocked && cohort__ring_has_room(&peer->writer, COHORT__SHM_MAX_MESSAGE)) {
        peer->is_blocked = false;
        pthread_mutex_unlock(&shm->lock);
        shm->net.handlers.writable(shm->net.handlers.context, peer->number);
        pthread_mutex_lock(&shm->lock);
        any = true;
    }
    return any;
}

static __attribute__((noinline)) bool run_all_deferred(struct cohort__shm *shm)
{
    struct cohort__list deferred, *node;
    bool any = false;
    cohort__list_init(&deferred);
    pthread_mutex_lock(&shm->lock);
    atomic_store(&shm->has_deferred, false);
    cohort__list_splice_back(&deferred, &shm->deferred);
    while ((node = cohort__list_pop_front(&deferred))) {
        struct cohort__shm_peer *peer =
            COHORT_CONTAINER_OF(node, struct cohort__shm_peer, deferred);
        any |= run_deferred(peer);
        if (is_deferred(peer))
            cohort__shm_defer(peer);
    }
    pthread_mutex_unlock(&shm->lock);
    return any;
}

/* The poller ---------------------------------------------------------------------------------- */

/* Messages come last, since their receivers wait for them and go on when this returns. */
bool cohort__shm_progress(void *context)
{
    struct cohort__shm *shm = context;
    bool any = false;
    if (has_new_callers(shm))
        answer_all(shm);
    if (atomic_load_explicit(&shm->num_requested, memory_order_relaxed) > 0)
        any |= cohort__shm_pieces_progress(shm);
    if (atomic_load_explicit(&shm->has_deferred, memory_order_relaxed))
        any |= run_all_deferred(shm);
    if (shm->net.handlers.look)
        any |= shm->net.handlers.look(shm->net.handlers.context);
    for (uint32_t i = 0; i < shm->num_callers; i++) {
        struct cohort__shm_peer *peer = shm->callers[i];
        if (!cohort__ring_is_empty(&peer->reader))
            any |= receive(peer);
        cohort__shm_tell_of_room(peer, &peer->reader);
    }
    return any;
}

/* Whether something deferred for PEER can go on. If it waits for room in a ring, asks to be told
 * when there is room for the smallest thing that waits: less room would wake us for nothing. With
 * the lock held. */
static bool can_go_on(struct cohort__shm_peer *peer)
{
    if (peer->why || atomic_load(&peer->is_dead))
        return true;
    size_t bytes = cohort__shm_fetches_room(peer);
    if (peer->is_blocked && bytes > COHORT__SHM_MAX_MESSAGE)
        bytes = COHORT__SHM_MAX_MESSAGE;
    return cohort__shm_streams_can_go_on(peer) || bytes == 0 ||
           (bytes < SIZE_MAX && !cohort__ring_await_room(&peer->writer, bytes));
}

static bool has_work(struct cohort__shm *shm)
{
    bool any = has_new_callers(shm);
    for (uint32_t i = 0; i < shm->num_callers; i++) {
        struct cohort__shm_peer *peer = shm->callers[i];
        any |= !atomic_load(&peer->is_dead) && !cohort__ring_is_empty(&peer->reader);
        cohort__shm_tell_of_room(peer, &peer->reader);
    }
    any |= cohort__shm_pieces_wait(shm);
    if (shm->net.handlers.look)
        any |= shm->net.handlers.look(shm->net.handlers.context);
    if (any || !atomic_load(&shm->has_deferred))
        return any;
    pthread_mutex_lock(&shm->lock);
    for (struct cohort__list *node = shm->deferred.next; node != &shm->deferred; node = node->next)
        any |= can_go_on(COHORT_CONTAINER_OF(node, struct cohort__shm_peer, deferred));
    pthread_mutex_unlock(&shm->lock);
    return any;
}

bool cohort__shm_arm(void *context)
{
    struct cohort__shm *shm = context;
    atomic_store(&shm->own->sleeping, 1);
    atomic_thread_fence(memory_order_seq_cst);
    if (!has_work(shm))
        return true;
    atomic_store(&shm->own->sleeping, 0);
    return false;
}

void cohort__shm_disarm(void *context)
{
    struct cohort__shm *shm = context;
    atomic_store(&shm->own->sleeping, 0);
    /* Always: a process may have decided to ring the bell while we slept, and do it only now. */
    cohort__bell_silence(shm->hub->doorbells[shm->slot]);
}
