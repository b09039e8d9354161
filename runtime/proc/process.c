/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/process.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "runtime/names/limits.h"
#include "runtime/proc/boards.h"
#include "runtime/proc/peer.h"
#include "runtime/proc/registry.h"
#include "runtime/proc/router.h"
#include "runtime/proc/send.h"
#include "runtime/wire/schema.h"

/* How many bytes one peer may have sent eagerly, which we may have to keep until they are wanted.
 * This balances that memory, which every peer may take separately, against round trips: what is
 * beyond the budget is announced and fetched. Not measured. */
enum { DEFAULT_EAGER_BUDGET = 256 * 1024 };

static const struct cohort__process_handlers no_handlers;
static struct cohort__process *_Atomic current;

cohort_status cohort__process_create(struct cohort__process **ret_process,
                                     const struct cohort__process_options *options)
{
    struct cohort__process *process =
        calloc(1, sizeof(*process) + options->size * sizeof(process->peers[0]));
    if (!process)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a table of %u localities",
                           options->size);
    process->options = *options;
    if (process->options.eager_budget == 0)
        process->options.eager_budget = DEFAULT_EAGER_BUDGET;
    process->window = cohort__send_window(options->size);
    cohort__list_init(&process->delayed);
    cohort__blocks_init(&process->blocks);
    atomic_init(&process->handlers, &no_handlers);
    atomic_init(&process->remote_handlers, &no_handlers);
    atomic_init(&process->next_handle, 1);
    process->hosts = calloc(options->size, sizeof(*process->hosts));
    process->domains = calloc(options->size, sizeof(*process->domains));
    process->cores = calloc(options->size, sizeof(*process->cores));
    cohort_status status = COHORT_OK;
    if (!process->hosts || !process->domains || !process->cores)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the positions of %u localities",
                             options->size);
    if (!status)
        status = cohort__registry_create(&process->registry, process);
    if (status) {
        cohort__process_destroy(process);
        return status;
    }
    *ret_process = process;
    return COHORT_OK;
}

static void stop_user(const struct cohort__process_handlers *_Atomic *user)
{
    const struct cohort__process_handlers *handlers = atomic_load(user);
    if (handlers->stop)
        handlers->stop(handlers->context);
    atomic_store(user, &no_handlers);
}

void cohort__process_stop(struct cohort__process *process)
{
    atomic_store(&process->stopped, true);
    while (cohort__process_go_on(process))
        ;
    cohort__delay_stop(process);
    cohort__registry_stop(process->registry);
    for (uint32_t rank = 0; rank < process->options.size; rank++) {
        struct cohort__peer *peer = atomic_load(&process->peers[rank]);
        if (peer) {
            while (cohort__send_end_some(process, peer, COHORT_ERR_CANCELLED))
                ;
            cohort__fetch_end_waiting(process, peer, COHORT_ERR_CANCELLED);
        }
    }
    stop_user(&process->handlers);
    stop_user(&process->remote_handlers);
    cohort__blocks_close(&process->blocks);
}

void cohort__process_destroy(struct cohort__process *process)
{
    if (!process)
        return;
    cohort__registry_destroy(process->registry);
    for (uint32_t rank = 0; rank < process->options.size; rank++)
        cohort__peer_destroy(atomic_load(&process->peers[rank]));
    cohort__blocks_fini(&process->blocks);
    free(process->hosts);
    free(process->domains);
    free(process->cores);
    for (uint32_t i = 0; i < process->num_named_levels; i++)
        free(process->named_levels[i].group_of);
    free(process);
}

struct cohort__net_handlers cohort__process_net_handlers(struct cohort__process *process)
{
    return cohort__router_net_handlers(process);
}

void cohort__process_attach_net(struct cohort__process *process, struct cohort__net *net)
{
    process->net = net;
}

void cohort__process_set_handlers(struct cohort__process *process,
                                  const struct cohort__process_handlers *handlers)
{
    /* Other threads may read the handlers at this time. They see either none or all of them. */
    process->own_handlers = *handlers;
    atomic_store(&process->handlers, &process->own_handlers);
}

void *cohort__process_context(const struct cohort__process *process)
{
    return atomic_load(&process->handlers)->context;
}

void cohort__process_set_remote_handlers(struct cohort__process *process,
                                         const struct cohort__process_handlers *handlers)
{
    process->own_remote_handlers = *handlers;
    atomic_store(&process->remote_handlers, &process->own_remote_handlers);
}

void *cohort__process_remote_context(const struct cohort__process *process)
{
    return atomic_load_explicit(&process->remote_handlers, memory_order_acquire)->context;
}

struct cohort__process *cohort__process_current(void)
{
    return atomic_load_explicit(&current, memory_order_acquire);
}

void cohort__process_set_current(struct cohort__process *process)
{
    atomic_store_explicit(&current, process, memory_order_release);
}

uint32_t cohort__process_rank(const struct cohort__process *process)
{
    return process->options.rank;
}

uint32_t cohort__process_size(const struct cohort__process *process)
{
    return process->options.size;
}

/* Some of what was sent to the dead ends. */
static bool end_sends(struct cohort__process *process)
{
    bool has_more = false;
    for (uint32_t rank = 0; rank < process->options.size; rank++) {
        struct cohort__peer *peer = atomic_load(&process->peers[rank]);
        struct cohort__death death;
        if (peer && cohort__process_death_of(process, rank, &death))
            has_more |= cohort__send_end_some(process, peer, COHORT_ERR_PEER_DIED);
    }
    return has_more;
}

bool cohort__process_go_on(struct cohort__process *process)
{
    if (!atomic_exchange(&process->has_more, false))
        return false;
    bool has_more = end_sends(process);
    const struct cohort__process_handlers *users[] = {atomic_load(&process->handlers),
                                                      atomic_load(&process->remote_handlers)};
    for (int i = 0; i < 2; i++)
        if (users[i]->go_on)
            has_more |= users[i]->go_on(users[i]->context);
    if (has_more)
        atomic_store(&process->has_more, true);
    return has_more;
}

void cohort__process_more(struct cohort__process *process)
{
    atomic_store(&process->has_more, true);
    if (process->options.more) {
        process->options.more(process->options.launcher);
        return;
    }
    while (cohort__process_go_on(process))
        ;
}

/* Under the peer's lock: records DEATH, unless a better report is known already. */
static void take_death(struct cohort__process *process, struct cohort__peer *peer,
                       const struct cohort__death *death)
{
    uint32_t order = death->order;
    if (order == 0 || order >= COHORT__DEATH_NOTICED) {
        if (peer->dead)
            return;
        order = COHORT__DEATH_NOTICED + atomic_fetch_add(&process->num_noticed, 1);
    }
    if (peer->dead && peer->death.order <= order)
        return;
    peer->death = *death;
    peer->death.order = order;
}

void cohort__process_death_told(struct cohort__process *process, const struct cohort__death *death)
{
    uint32_t rank = death->rank;
    if (rank >= process->options.size || rank == process->options.rank)
        return;
    struct cohort__peer *peer = cohort__peer_get(process, rank);
    if (!peer) { /* without a launcher the job ends with the death anyway */
        if (process->options.accuse)
            cohort__process_give_up(process, rank, "has died, and there is no memory to note that");
        /* Who counts the dead otherwise than all others agrees on nothing any more. */
        if (cohort__process_keeps_going(process))
            cohort__registry_lost(process->registry, process->options.rank, COHORT_ERR_NO_MEMORY);
        return;
    }
    pthread_mutex_lock(&peer->lock);
    bool was_dead = peer->dead, is_dropped = peer->is_dropped;
    take_death(process, peer, death);
    peer->dead = true;
    pthread_mutex_unlock(&peer->lock);
    atomic_fetch_add(&process->num_news, 1);
    if (was_dead)
        return;
    cohort__log(COHORT__LOG_INFO, "locality %u: locality %u %s", process->options.rank, rank,
                death->why);
    if (!atomic_exchange(&process->any_dead, true) && process->options.broken) {
        char text[sizeof(death->why) + 32];
        snprintf(text, sizeof(text), "locality %u %s", rank, death->why);
        process->options.broken(process->options.launcher, text);
    }
    if (cohort__process_keeps_going(process)) /* so it has ended, and writes nothing any more */
        cohort__boards_peer_died(process, rank);
    if (process->net && !is_dropped)
        cohort__net_remove_peer(process->net, rank);
    cohort__process_more(process); /* its sends */
    cohort__fetch_end_waiting(process, peer, COHORT_ERR_PEER_DIED);
    cohort__registry_peer_died(process->registry, rank);
    const struct cohort__process_handlers *users[] = {atomic_load(&process->handlers),
                                                      atomic_load(&process->remote_handlers)};
    for (int i = 0; i < 2; i++)
        if (users[i]->peer_died)
            users[i]->peer_died(users[i]->context, rank);
}

/* Tells the launcher that RANK can't go on, and waits for its word: until then, what is under way
 * to and from RANK neither goes on nor ends. */
static void accuse(struct cohort__process *process, uint32_t rank, bool at_fault, const char *why)
{
    struct cohort__peer *peer =
        rank < process->options.size ? cohort__peer_get(process, rank) : NULL;
    bool is_new = true; /* without memory for what is known of it, it may be accused twice */
    if (rank >= process->options.size || atomic_load(&process->stopped))
        return;
    if (peer) {
        pthread_mutex_lock(&peer->lock);
        is_new = !peer->dead && !peer->is_blamed && (at_fault || !peer->is_accused);
        peer->is_accused = true;
        peer->is_blamed |= at_fault;
        pthread_mutex_unlock(&peer->lock);
    }
    if (!is_new)
        return;
    cohort__log(COHORT__LOG_INFO, "locality %u: accuses locality %u: it %s", process->options.rank,
                rank, why);
    process->options.accuse(process->options.launcher, rank, at_fault, why);
}

void cohort__process_give_up(struct cohort__process *process, uint32_t rank, const char *why)
{
    char whole[700], text[sizeof(((struct cohort__death *)NULL)->why)];
    if (!process->options.accuse) {
        cohort__process_peer_lost(process, rank, why);
        return;
    }
    if (rank == COHORT__HOME_LAUNCHER)
        snprintf(whole, sizeof(whole), "can't go on with cohortrun, which %s", why);
    else if (rank == process->options.rank)
        snprintf(whole, sizeof(whole), "can't go on: %s", why);
    else
        snprintf(whole, sizeof(whole), "can't go on with locality %u, which %s", rank, why);
    cohort__text_shorten(text, sizeof(text), whole, strlen(whole));
    accuse(process, process->options.rank, true, text);
}

static void lose(struct cohort__process *process, uint32_t rank, bool at_fault, const char *why)
{
    struct cohort__death death = {.rank = rank};
    if (process->options.accuse) {
        accuse(process, rank, at_fault, why);
        return;
    }
    cohort__death_set_why(&death, why, strlen(why));
    cohort__process_death_told(process, &death);
}

void cohort__process_peer_lost(struct cohort__process *process, uint32_t rank, const char *why)
{
    lose(process, rank, false, why);
}

void cohort__process_blame(struct cohort__process *process, uint32_t rank, const char *why)
{
    lose(process, rank, true, why);
}

void cohort__process_tick(struct cohort__process *process, uint64_t now)
{
    const struct cohort__process_handlers *users[] = {atomic_load(&process->handlers),
                                                      atomic_load(&process->remote_handlers)};
    cohort__router_look_for_gaps(process, now);
    cohort__probe_links(process, now);
    cohort__registry_tick(process->registry);
    for (int i = 0; i < 2; i++)
        if (users[i]->tick)
            users[i]->tick(users[i]->context, now);
}

void cohort__process_watch(struct cohort__process *process)
{
    if (process->options.size > 1)
        (void)cohort__peer_get(process, (process->options.rank + 1) % process->options.size);
    atomic_store(&process->watches, true);
}

/* Another locality reports a death. Where a launcher tells deaths, its word is awaited. Whether it
 * is dead here now. */
static bool death_heard(struct cohort__process *process, const struct cohort__death *death)
{
    struct cohort__death known;
    if (process->options.accuse)
        return death->rank >= process->options.size ||
               cohort__process_death_of(process, death->rank, &known);
    cohort__process_death_told(process, death);
    return true;
}

bool cohort__process_death_of(struct cohort__process *process, uint32_t rank,
                              struct cohort__death *ret_death)
{
    struct cohort__peer *peer =
        rank < process->options.size ? atomic_load(&process->peers[rank]) : NULL;
    if (!peer)
        return false;
    pthread_mutex_lock(&peer->lock);
    bool dead = peer->dead;
    if (dead)
        *ret_death = peer->death;
    pthread_mutex_unlock(&peer->lock);
    return dead;
}

bool cohort__process_check_dead(struct cohort__process *process, uint32_t rank)
{
    struct cohort__death death;
    bool dead = cohort__process_death_of(process, rank, &death);
    if (dead)
        cohort_fail(COHORT_ERR_PEER_DIED, "locality %u %s", rank, death.why);
    return dead;
}

bool cohort__process_first_death(struct cohort__process *process, struct cohort__death *ret_death)
{
    return cohort__process_next_death(process, 0, ret_death);
}

bool cohort__process_is_broken(struct cohort__process *process)
{
    struct cohort__death death;
    bool is_broken = cohort__process_first_death(process, &death);
    if (is_broken)
        cohort_fail(COHORT_ERR_PEER_DIED, "locality %u %s", death.rank, death.why);
    return is_broken;
}

bool cohort__process_keeps_going(const struct cohort__process *process)
{
    return process->options.letter;
}

bool cohort__process_any_dead(const struct cohort__process *process)
{
    return atomic_load_explicit(&process->any_dead, memory_order_acquire);
}

uint32_t cohort__process_death_news(const struct cohort__process *process)
{
    return atomic_load_explicit(&process->num_news, memory_order_acquire);
}

bool cohort__process_next_death(struct cohort__process *process, uint32_t after,
                                struct cohort__death *ret_death)
{
    struct cohort__death death;
    bool any = false;
    if (!cohort__process_any_dead(process))
        return false;
    for (uint32_t rank = 0; rank < process->options.size; rank++)
        if (cohort__process_death_of(process, rank, &death) && death.order > after &&
            (!any || death.order < ret_death->order)) {
            *ret_death = death;
            any = true;
        }
    return any;
}

uint32_t cohort__process_deaths(struct cohort__process *process, uint32_t *ret_ranks,
                                uint32_t capacity)
{
    struct cohort__death death = {0}; /* gcc -O3 does not see that it is set */
    uint32_t num = 0;
    for (uint32_t last = 0; cohort__process_next_death(process, last, &death); last = death.order) {
        if (num < capacity)
            ret_ranks[num] = death.rank;
        num++;
    }
    return num;
}

struct cohort__process_traffic cohort__process_traffic(struct cohort__process *process)
{
    const struct cohort__process_handlers *users[] = {atomic_load(&process->handlers),
                                                      atomic_load(&process->remote_handlers)};
    /* These counters only grow. So if their sum has not changed, none of them has changed. */
    uint64_t sent = 0, received = 0;
    struct cohort__death death;
    bool any_dead = cohort__process_any_dead(process);
    for (uint32_t rank = 0; rank < process->options.size; rank++) {
        struct cohort__peer *peer = atomic_load(&process->peers[rank]);
        if (!peer || (any_dead && cohort__process_death_of(process, rank, &death)))
            continue;
        sent += atomic_load(&peer->sent);
        received += atomic_load(&peer->received);
    }
    bool busy = atomic_load(&process->under_way) != 0;
    for (int i = 0; i < 2; i++)
        busy |= users[i]->busy && users[i]->busy(users[i]->context);
    return (struct cohort__process_traffic){.sent = sent, .received = received, .busy = busy};
}

void cohort__process_num_messages(const struct cohort__process *process, uint64_t *ret_sent,
                                  uint64_t *ret_received)
{
    uint64_t sent = 0, received = 0;
    for (uint32_t rank = 0; rank < process->options.size; rank++) {
        const struct cohort__peer *peer = atomic_load(&process->peers[rank]);
        if (!peer)
            continue;
        sent += atomic_load_explicit(&peer->sent, memory_order_relaxed);
        received += atomic_load_explicit(&peer->received, memory_order_relaxed);
    }
    *ret_sent = sent;
    *ret_received = received;
}

uint64_t cohort__process_dropped(const struct cohort__process *process)
{
    return atomic_load(&process->dropped);
}

/* --- deaths that peers tell --- */

void cohort__death_set_why(struct cohort__death *death, const char *why, size_t bytes)
{
    cohort__text_shorten(death->why, sizeof(death->why), why, bytes);
}

static const struct cohort__field fields[] = {
    COHORT__FIELD(struct cohort__death, rank, UINT32_MAX),
    COHORT__FIELD(struct cohort__death, order, UINT32_MAX),
    COHORT__CHARS(struct cohort__death, why),
};
static const struct cohort__schema schema = COHORT__SCHEMA(struct cohort__death, fields, 0);

void cohort__death_pack(struct cohort__packer *packer, const struct cohort__death *death)
{
    cohort__schema_pack(packer, &schema, death);
}

void cohort__death_send(struct cohort__process *process, uint32_t rank,
                        const struct cohort__envelope *envelope)
{
    struct cohort__packer packer = {0};
    struct cohort__death death;
    if (cohort__process_first_death(process, &death))
        cohort__death_pack(&packer, &death);
    /* If there is no memory for the death, only the launcher will report it. */
    cohort__send_control(process, rank, envelope, packer.data, packer.status ? 0 : packer.bytes);
    cohort__packer_fini(&packer);
}

bool cohort__death_receive(struct cohort__process *process, const void *data, size_t bytes)
{
    struct cohort__death death;
    if (bytes == 0)
        return false;
    if (cohort__schema_unpack(&schema, data, bytes, "a death that a peer tells", &death)) {
        cohort__log(COHORT__LOG_ERROR, "locality %u: %s", cohort__process_rank(process),
                    cohort_error_message());
        return false;
    }
    return !death_heard(process, &death);
}
