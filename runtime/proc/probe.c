/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/probe.h"

#include "runtime/proc/peer.h"

/* How long nothing is sent before the first question. This is long compared with the pauses of a
 * working job, and short compared with the 10 s after which a gap counts as a loss (link.c). */
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

void cohort__process_watch(struct cohort__process *process)
{
    if (process->options.size > 1)
        (void)cohort__peer_get(process, (process->options.rank + 1) % process->options.size);
    atomic_store(&process->watches, true);
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
