/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/peer.h"

#include <stdlib.h>

#include "runtime/base/clock.h"
#include "runtime/proc/router.h"
#include "runtime/proc/letter.h"

/* How long nothing is sent before the first question. This is long compared with the pauses of a
 * working job, and short compared with the 10 s after which a gap counts as a loss. */
static const uint64_t quiet_ns = UINT64_C(1000000000);

/* How often the pause doubles: a stopped peer gets at most about one question a minute, and one
 * that is watched one each four seconds. */
enum { MOST_DOUBLINGS = 6, MOST_DOUBLINGS_WATCHED = 2 };

static bool is_watched(const struct cohort__process *process, uint32_t rank)
{
    return atomic_load_explicit(&process->watches, memory_order_relaxed) &&
           rank == (process->options.rank + 1) % process->options.size;
}

/* Under the peer's lock. */
static bool is_due(const struct cohort__process *process, struct cohort__peer *peer, uint64_t now)
{
    struct cohort__probe *probe = &peer->probe;
    if (peer->dead || (peer->undrained == 0 && !is_watched(process, peer->rank)))
        return false;
    if (probe->number != peer->next_number)
        *probe = (struct cohort__probe){.number = peer->next_number, .at = now + quiet_ns};
    return now >= probe->at;
}

/* Under the peer's lock. If the transport accepts nothing now, other messages are still on their
 * way, so it is not tried again before the next time. */
static enum cohort__net_sent ask(struct cohort__process *process, struct cohort__peer *peer,
                                 uint64_t now)
{
    struct cohort__probe *probe = &peer->probe;
    enum cohort__net_sent sent = cohort__send_ask(process, peer);
    if (probe->num < (is_watched(process, peer->rank) ? MOST_DOUBLINGS_WATCHED : MOST_DOUBLINGS))
        probe->num++;
    probe->at = now + (quiet_ns << probe->num);
    probe->number = peer->next_number;
    return sent;
}

static void look_at(struct cohort__process *process, struct cohort__peer *peer, uint64_t now)
{
    enum cohort__net_sent sent = COHORT__NET_SENT;
    pthread_mutex_lock(&peer->lock);
    if (is_due(process, peer, now))
        sent = ask(process, peer, now);
    pthread_mutex_unlock(&peer->lock);
    cohort__send_refused(process, peer->rank, sent);
}

void cohort__probe_links(struct cohort__process *process, uint64_t now)
{
    if (!process->net || now < process->probe_at ||
        atomic_load_explicit(&process->stopped, memory_order_relaxed))
        return;
    process->probe_at = now + quiet_ns / 2;
    for (uint32_t rank = 0; rank < process->options.size; rank++) {
        struct cohort__peer *peer = atomic_load(&process->peers[rank]);
        if (peer && cohort__net_may_lose(process->net, rank))
            look_at(process, peer, now);
    }
}

/* No transport takes this long (10 s) to deliver a message that others have overtaken. The delivery
 * needs nothing more from the sender, so a busy sender doesn't delay it. */
static const uint64_t lost_after = UINT64_C(10000000000);

/* So much of that time may pass between two looks (1 s). A process that was stopped, or whose
 * machine was, has not looked meanwhile, and what it misses may have come. */
static const uint64_t most_at_once = UINT64_C(1000000000);

static uint64_t bit_of(uint32_t number)
{
    return UINT64_C(1) << number % 64;
}

static uint64_t *word_of(struct cohort__link *link, uint32_t number)
{
    return &link->ahead[number % COHORT__LINK_AHEAD / 64];
}

static void begin_to_miss(struct cohort__link *link)
{
    link->missed = 0;
    link->looked_at = cohort__clock_now();
}

/* Advances `next` over messages that have come before their turn. */
static void catch_up(struct cohort__link *link)
{
    while (link->num_ahead > 0 && *word_of(link, link->next) & bit_of(link->next)) {
        *word_of(link, link->next) &= ~bit_of(link->next);
        link->num_ahead--;
        link->next++;
    }
    if (link->num_ahead > 0)
        begin_to_miss(link);
}

static bool take_ahead(struct cohort__link *link, uint32_t number)
{
    bool is_there = *word_of(link, number) & bit_of(number);
    if (number - link->next >= COHORT__LINK_AHEAD || is_there)
        return false;
    *word_of(link, number) |= bit_of(number);
    if (link->num_ahead++ == 0)
        begin_to_miss(link);
    return true;
}

bool cohort__link_take(struct cohort__link *link, uint32_t number)
{
    if (number != link->next)
        return take_ahead(link, number);
    link->next++;
    if (link->num_ahead > 0)
        catch_up(link);
    return true;
}

bool cohort__link_look(struct cohort__link *link, uint64_t now)
{
    if (link->num_ahead == 0 || now <= link->looked_at)
        return false;
    uint64_t passed = now - link->looked_at;
    link->missed += passed < most_at_once ? passed : most_at_once;
    link->looked_at = now;
    return link->missed >= lost_after;
}

struct cohort__peer *cohort__peer_make(struct cohort__process *process, uint32_t rank)
{
    struct cohort__peer *peer = NULL;
    struct cohort__peer *made = calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    made->rank = rank;
    made->budget = process->options.eager_budget;
    pthread_mutex_init(&made->lock, NULL);
    cohort__list_init(&made->letters);
    cohort__list_init(&made->assemblies);
    cohort__list_init(&made->pending);
    cohort__list_init(&made->fetches);
    cohort__map_init(&made->announced);
    if (atomic_compare_exchange_strong(&process->peers[rank], &peer, made))
        return made;
    cohort__peer_destroy(made); /* another thread was faster */
    return peer;
}

void cohort__peer_destroy(struct cohort__peer *peer)
{
    if (!peer)
        return;
    cohort__letters_fini(&peer->letters);
    cohort__assemblies_fini(&peer->assemblies);
    cohort__map_fini(&peer->announced);
    pthread_mutex_destroy(&peer->lock);
    free(peer);
}
