/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/registry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/base/ledger.h"
#include "runtime/base/list.h"
#include "runtime/base/log.h"
#include "runtime/base/map.h"
#include "runtime/base/text.h"
#include "runtime/names/home.h"
#include "runtime/names/requests.h"
#include "runtime/proc/letter.h"
#include "runtime/proc/peer.h"
#include "runtime/proc/process.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/scope.h"
#include "runtime/wire/pack.h"

/* The registry: what it knows, its letters, and where each goes; withdrawals (WITHDRAW): joins that
 * wait no longer, by whom, and at this home; joins: what sites of this locality have under way,
 * with leaving (LEAVE), revocations, and which of these a death or a revocation ends; and the
 * letters that come, how the registry breaks, and stops.
 *
 * The functions that need the lock say so: their caller holds it. All others are called without it,
 * since most of them take it or call back; only fail_as_over, discard and the two drop_ don't
 * care. */

struct cohort__registry {
    struct cohort__process *process;
    void (*ended)(void *context, uint64_t instance);
    void *context;
    void (*revoked)(void *context, uint64_t instance, uint32_t site);
    void *revoked_context;
    void (*unused)(void *context, const struct cohort__membership *membership);
    void *unused_context;
    bool (*ask_returned)(void *context);
    void *ask_context;
    _Atomic uint32_t num_joins;     /* of sites here */
    pthread_mutex_t lock;           /* of all below; callbacks and sends happen outside of it */
    struct cohort__list waiting;    /* joins of this locality that have no answer yet */
    struct cohort__map places;      /* the same, by name and site */
    struct cohort__map children;    /* those that end with their parent, by its instance */
    struct cohort__map revocations; /* by sites here, that have no answer yet; by instance */
    struct cohort__registry_home home;
    struct cohort__list untold;      /* memberships of which sites have left, see tell_untold */
    struct cohort__list outbox;      /* its letters; one thread at a time sends them, in order */
    bool is_sending;                 /* somebody does */
    struct cohort__list withdrawals; /* that wait for the answer */
    unsigned num_ticks;              /* for so many ticks */
    uint32_t view;                   /* how many deaths have ended joins here */
    struct cohort__error broken;     /* why joins are not reliable any more, or COHORT_OK */
};

enum { REASON_BYTES = 400 }; /* of why a join waits no longer */

static const char registry_message[] = "registry message";

cohort_status cohort__registry_create(struct cohort__registry **ret_registry,
                                      struct cohort__process *process)
{
    struct cohort__registry *registry = calloc(1, sizeof(*registry));
    if (!registry)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the name registry");
    registry->process = process;
    pthread_mutex_init(&registry->lock, NULL);
    cohort__list_init(&registry->waiting);
    cohort__list_init(&registry->withdrawals);
    cohort__list_init(&registry->outbox);
    cohort__list_init(&registry->untold);
    cohort__map_init(&registry->places);
    cohort__map_init(&registry->children);
    cohort__map_init(&registry->revocations);
    cohort__registry_home_init(&registry->home, process->options.rank, process->options.size);
    *ret_registry = registry;
    return COHORT_OK;
}

static void drop_untold(struct cohort__registry *registry)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&registry->untold)))
        cohort__membership_unref(COHORT_CONTAINER_OF(link, struct cohort__membership, link));
}

void cohort__registry_set_ended(struct cohort__registry *registry,
                                void (*ended)(void *context, uint64_t instance), void *context)
{
    registry->ended = ended;
    registry->context = context;
}

void cohort__registry_set_unused(struct cohort__registry *registry,
                                 void (*unused)(void *context,
                                                const struct cohort__membership *membership),
                                 void *context)
{
    registry->unused = unused;
    registry->unused_context = context;
}

void cohort__registry_set_revoked(struct cohort__registry *registry,
                                  void (*revoked)(void *context, uint64_t instance, uint32_t site),
                                  void *context)
{
    registry->revoked = revoked;
    registry->revoked_context = context;
}

void cohort__registry_set_ask_returned(struct cohort__registry *registry,
                                       bool (*ask)(void *context), void *context)
{
    registry->ask_returned = ask;
    registry->ask_context = context;
}

struct cohort__registry *cohort__process_registry(struct cohort__process *process)
{
    return process->registry;
}

/* One for this locality itself is handled at once. */
static void deliver_to(struct cohort__registry *registry, uint32_t rank,
                       const struct cohort__packer *packer)
{
    struct cohort__process *process = registry->process;
    if (rank == process->options.rank)
        cohort__registry_message(registry, rank, packer->data, packer->bytes);
    else if (rank == COHORT__HOME_LAUNCHER)
        process->options.letter(process->options.launcher, packer->data, packer->bytes);
    else
        cohort__letter_send(process, rank, packer->data, packer->bytes);
}

/* Sends the letter of LINK, unless it could not be packed, which who wrote it tells; and frees it.
 */
static void send_letter(struct cohort__registry *registry, struct cohort__list *link)
{
    struct cohort__registry_letter *letter =
        COHORT_CONTAINER_OF(link, struct cohort__registry_letter, link);
    for (uint32_t i = 0; !letter->packer.status && i < letter->num_ranks; i++)
        deliver_to(registry, letter->ranks[i], &letter->packer);
    cohort__registry_letter_destroy(letter);
}

/* Sends the letters of OUTBOX; one for this locality is handled at once. */
static void deliver(struct cohort__registry *registry, struct cohort__list *outbox)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(outbox)))
        send_letter(registry, link);
}

/* The letters of the home here, in the order in which it has written them, so that the maps of its
 * instances come to each locality in the order of their numbers. Who finds another thread at it, or
 * itself further up, leaves it to that. */
static void send_of_home(struct cohort__registry *registry)
{
    struct cohort__list *link;
    pthread_mutex_lock(&registry->lock);
    while (!registry->is_sending && (link = cohort__list_pop_front(&registry->outbox))) {
        registry->is_sending = true;
        pthread_mutex_unlock(&registry->lock);
        send_letter(registry, link);
        pthread_mutex_lock(&registry->lock);
        registry->is_sending = false;
    }
    pthread_mutex_unlock(&registry->lock);
}

/* Or drops them. */
static void discard(struct cohort__list *outbox)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(outbox)))
        cohort__registry_letter_destroy(
            COHORT_CONTAINER_OF(link, struct cohort__registry_letter, link));
}

void cohort__registry_return(struct cohort__registry *registry,
                             const struct cohort__membership *membership)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    if (membership->number == COHORT__NO_NUMBER || atomic_load(&registry->process->stopped))
        return;
    if (!cohort__registry_letter_write(
            &outbox, &membership->home, 1,
            &(struct cohort__registry_words){.type = COHORT__REGISTRY_RETURN,
                                             .instance = membership->instance,
                                             .number = membership->number}))
        deliver(registry, &outbox);
    else
        discard(&outbox); /* then the number is not lent again */
}

/* A message for the home here. RETURNED: of a WITHDRAW. */
static cohort_status at_home(struct cohort__registry *registry, uint32_t source,
                             const struct cohort__registry_words *words, const char *returned)
{
    pthread_mutex_lock(&registry->lock);
    cohort_status status =
        cohort__home_take(&registry->home, source, words, returned, &registry->outbox);
    pthread_mutex_unlock(&registry->lock);
    send_of_home(registry);
    return status;
}

static size_t join_name_bytes(const struct cohort__join *join)
{
    return join->name_bytes ? join->name_bytes : strlen(join->name);
}

/* withdrawals ---------------------------------------------------------------------------------- */

/* A join that waits no longer for the others, since its deadline is over or its scope is cancelled.
 * Its home is told (WITHDRAW), and fails it for all sites, unless all have joined by then. Model:
 * tests/model/withdraw.pml. */

/* --- by the site --- */

/* How long a join waits. It outlives the join, whose memory is the caller's. */
struct cohort__join_alarm {
    struct cohort__registry *registry;
    struct cohort__registry_letter *letter; /* the WITHDRAW, as far as it is known; then NULL */
    cohort_scope *scope;                    /* a reference, or NULL */
    struct cohort__scope_watch watch;
    struct cohort__timer timer;
    uint64_t deadline; /* 0: none */
    uint32_t sequence;
    bool has_timer;
    _Atomic uint32_t state; /* bits of enum state */
    _Atomic uint32_t refs;  /* the join's, its caller's, the timer's and the watch's */
};

/* The WITHDRAW is sent once, after the JOIN, so that it does not overtake that: by whoever sets the
 * second of JOINED and one of the others, unless the join is over. */
enum state { JOINED = 1, LATE = 2, CANCELLED = 4, OVER = 8 };

/* A WITHDRAW's letter is made before, since there may be no memory then: so large, besides the
 * name. */
enum { LETTER_BYTES = REASON_BYTES + 200 };

static void drop_letter(struct cohort__join_alarm *alarm)
{
    if (alarm->letter)
        cohort__registry_letter_destroy(alarm->letter);
    alarm->letter = NULL;
}

static void put(struct cohort__join_alarm *alarm)
{
    if (atomic_fetch_sub_explicit(&alarm->refs, 1, memory_order_acq_rel) != 1)
        return;
    drop_letter(alarm);
    cohort__scope_unref(alarm->scope);
    free(alarm);
}

/* Why the site waits no longer. */
static void print_reason(const struct cohort__join_alarm *alarm, uint32_t state, char *text)
{
    struct cohort__error error = {0};
    if (!(state & CANCELLED)) {
        snprintf(text, REASON_BYTES, "%g s are over", (double)alarm->deadline * 1e-9);
        return;
    }
    cohort__scope_explain(alarm->scope, NULL, &error);
    const char *why = cohort__error_message(&error);
    cohort__text_shorten(text, REASON_BYTES, why, strlen(why));
    cohort__error_fini(&error);
}

static void withdraw(struct cohort__join_alarm *alarm, uint32_t state)
{
    char reason[REASON_BYTES];
    struct cohort__list outbox;
    struct cohort__packer *packer = &alarm->letter->packer;
    print_reason(alarm, state, reason);
    cohort__pack_field_unsigned(packer, "sequence", alarm->sequence);
    cohort__pack_field_signed(packer, "failed",
                              state & CANCELLED ? COHORT_ERR_CANCELLED : COHORT_ERR_TIMEOUT);
    cohort__pack_field_bytes(packer, "terms", reason, strlen(reason));
    cohort__list_init(&outbox);
    cohort__list_push_back(&outbox, &alarm->letter->link);
    alarm->letter = NULL;
    deliver(alarm->registry, &outbox);
}

static void give_up(struct cohort__join_alarm *alarm, uint32_t why)
{
    if (atomic_fetch_or(&alarm->state, why) == JOINED)
        withdraw(alarm, why);
}

/* By the thread that turns the event loop, or at its end; also if the join is over. */
static void on_late(struct cohort__timer *timer)
{
    struct cohort__join_alarm *alarm = COHORT_CONTAINER_OF(timer, struct cohort__join_alarm, timer);
    give_up(alarm, LATE);
    put(alarm);
}

/* The home may be here, and end joins. The error of the task that cancels stays. Once the runtime
 * has ended, and in a forked child, there is nobody to tell. */
static void on_cancel(struct cohort__scope_watch *watch)
{
    struct cohort__error error = {0};
    cohort__error_copy(&error, cohort__error_slot());
    if (cohort__scheduler_hold())
        give_up(COHORT_CONTAINER_OF(watch, struct cohort__join_alarm, watch), CANCELLED);
    cohort__scheduler_release();
    cohort__error_copy(cohort__error_slot(), &error);
    cohort__error_fini(&error);
}

static void on_release(struct cohort__scope_watch *watch)
{
    put(COHORT_CONTAINER_OF(watch, struct cohort__join_alarm, watch));
}

static struct cohort__registry_letter *begin_letter(const struct cohort__join *join, uint32_t home)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    struct cohort__registry_letter *letter = cohort__registry_letter_add(&outbox, &home, 1);
    if (!letter)
        return NULL;
    struct cohort__packer *packer = &letter->packer;
    cohort__packer_reserve(packer, LETTER_BYTES + join_name_bytes(join));
    cohort__pack_map(packer, 6);
    cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_WITHDRAW);
    cohort__pack_field_bytes(packer, "name", join->name, join_name_bytes(join));
    cohort__pack_field_unsigned(packer, "site", join->site);
    if (!packer->status)
        return letter;
    cohort__registry_letter_destroy(letter);
    return NULL;
}

static void start(struct cohort__join_alarm *alarm)
{
    if (alarm->deadline > 0) {
        alarm->timer.expired = on_late;
        atomic_fetch_add(&alarm->refs, 1);
        alarm->has_timer =
            cohort__scheduler_timer(&alarm->timer, cohort__clock_after(alarm->deadline));
        if (!alarm->has_timer) /* the job is over */
            atomic_fetch_sub(&alarm->refs, 1);
    }
    if (alarm->scope) {
        alarm->watch.cancel = on_cancel;
        alarm->watch.release = on_release;
        atomic_fetch_add(&alarm->refs, 1);
        cohort__scope_watch(alarm->scope, &alarm->watch);
    }
}

/* Watches the deadline and the scope of JOIN, which is about to be told to
 * HOME. *RET_ALARM is NULL if it has neither, and on failure; NULL is fine below.
 * COHORT_ERR_NO_MEMORY. */
static cohort_status alarm_create(struct cohort__join_alarm **ret_alarm,
                                  struct cohort__registry *registry,
                                  const struct cohort__join *join, uint32_t home)
{
    *ret_alarm = NULL;
    if (!join->scope && join->deadline == 0)
        return COHORT_OK;
    struct cohort__join_alarm *alarm = calloc(1, sizeof(*alarm));
    struct cohort__registry_letter *letter = alarm ? begin_letter(join, home) : NULL;
    if (!letter) {
        free(alarm);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for joining \"%s\"", join->name);
    }
    alarm->registry = registry;
    alarm->letter = letter;
    alarm->scope = cohort__scope_ref(join->scope);
    alarm->deadline = join->deadline;
    alarm->sequence = join->sequence;
    atomic_init(&alarm->refs, 2);
    start(alarm);
    *ret_alarm = alarm;
    return COHORT_OK;
}

/* Whether the scope is cancelled by now, and why: in REASON_BYTES at *RET_REASON. */
static bool alarm_is_cancelled(const struct cohort__join_alarm *alarm, char *ret_reason)
{
    const bool is_cancelled = alarm && atomic_load(&alarm->state) & CANCELLED;
    if (is_cancelled)
        print_reason(alarm, CANCELLED, ret_reason);
    return is_cancelled;
}

/* Once, by who has created it: the home has been told of the join, or the join is over. */
static void alarm_joined(struct cohort__join_alarm *alarm)
{
    if (!alarm)
        return;
    const uint32_t state = atomic_fetch_or(&alarm->state, JOINED);
    if (state & (LATE | CANCELLED) && !(state & OVER))
        withdraw(alarm, state);
    put(alarm);
}

/* Once: the join is over. Without the lock, since other waits of the scope may end in it. */
static void alarm_end(struct cohort__join_alarm *alarm)
{
    if (!alarm)
        return;
    if (!(atomic_fetch_or(&alarm->state, OVER) & (LATE | CANCELLED)))
        drop_letter(alarm); /* nobody sends it any more, but a watch may be kept for long */
    if (alarm->has_timer)
        cohort__scheduler_timer_cancel(&alarm->timer);
    if (alarm->scope)
        cohort__scope_unwatch(&alarm->watch);
    put(alarm);
}

/* --- at the home --- */

/* A WITHDRAW of who is late, until it is known whose programs have returned, so that the error can
 * name them. */
struct withdrawal {
    struct cohort__list link;
    uint32_t source;
    size_t bytes;
    unsigned char message[];
};

/* The registry ends: nobody waits for those that are kept. */
static void drop_withdrawals(struct cohort__registry *registry)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&registry->withdrawals)))
        free(COHORT_CONTAINER_OF(link, struct withdrawal, link));
}

/* False: nobody knows that. */
static bool put_off(struct cohort__registry *registry, uint32_t source, const void *data,
                    size_t bytes)
{
    struct withdrawal *withdrawal =
        registry->ask_returned ? malloc(sizeof(*withdrawal) + bytes) : NULL;
    if (!withdrawal)
        return false;
    withdrawal->source = source;
    withdrawal->bytes = bytes;
    memcpy(withdrawal->message, data, bytes);
    pthread_mutex_lock(&registry->lock);
    const bool is_first = cohort__list_is_empty(&registry->withdrawals);
    cohort__list_push_back(&registry->withdrawals, &withdrawal->link);
    if (is_first)
        registry->num_ticks = 0;
    pthread_mutex_unlock(&registry->lock);
    if (is_first && !registry->ask_returned(registry->ask_context))
        cohort__registry_returned(registry, "");
    return true;
}

/* A WITHDRAW, which is the BYTES at DATA. */
static cohort_status withdrawn(struct cohort__registry *registry, uint32_t source,
                               const struct cohort__registry_words *words, const void *data,
                               size_t bytes)
{
    return words->failed == COHORT_ERR_TIMEOUT && put_off(registry, source, data, bytes)
               ? COHORT_OK
               : at_home(registry, source, words, "");
}

void cohort__registry_returned(struct cohort__registry *registry, const char *text)
{
    struct cohort__list *link, all;
    cohort__list_init(&all);
    pthread_mutex_lock(&registry->lock);
    while ((link = cohort__list_pop_front(&registry->withdrawals)))
        cohort__list_push_back(&all, link);
    pthread_mutex_unlock(&registry->lock);
    while ((link = cohort__list_pop_front(&all))) {
        struct withdrawal *withdrawal = COHORT_CONTAINER_OF(link, struct withdrawal, link);
        struct cohort__registry_words words = {0};
        cohort_status status = cohort__schema_unpack(&cohort__registry_words, withdrawal->message,
                                                     withdrawal->bytes, registry_message, &words);
        if (!status)
            status = at_home(registry, withdrawal->source, &words, text);
        if (status)
            cohort__registry_lost(registry, withdrawal->source, status);
        free(withdrawal);
    }
}

/* A launcher that is stopped does not answer. Nobody waits longer than a second for it. */
static void tick_withdrawals(struct cohort__registry *registry)
{
    enum { TIMEOUT_TICKS = 10 };
    pthread_mutex_lock(&registry->lock);
    const bool is_late =
        !cohort__list_is_empty(&registry->withdrawals) && ++registry->num_ticks >= TIMEOUT_TICKS;
    pthread_mutex_unlock(&registry->lock);
    if (is_late)
        cohort__registry_returned(registry, "");
}

/* joins ---------------------------------------------------------------------------------------- */

/* The revocations by sites here, from request to answer, and what a revocation ends here. */

/* Under the lock: why nobody would answer a revocation at HOME. */
static cohort_status has_no_answer(const struct cohort__registry *registry, uint32_t home)
{
    struct cohort__process *process = registry->process;
    if (registry->broken.status)
        return cohort_fail(registry->broken.status, "%s", cohort__error_message(&registry->broken));
    if (atomic_load(&process->stopped))
        return cohort_fail(COHORT_ERR_CANCELLED, "the job is over");
    bool may_die = home != COHORT__HOME_LAUNCHER && home != process->options.rank;
    return may_die && cohort__process_is_broken(process) ? COHORT_ERR_PEER_DIED : COHORT_OK;
}

/* A LEAVE, or a REVOKE, of SITE. */
static cohort_status write_of_site(struct cohort__list *outbox, enum cohort__registry_type type,
                                   const struct cohort__membership *membership, uint32_t site)
{
    return cohort__registry_letter_write(
        outbox, &membership->home, 1,
        &(struct cohort__registry_words){.type = type,
                                         .name = {membership->name, membership->name_bytes},
                                         .site = site,
                                         .instance = membership->instance});
}

void cohort__registry_revoke(struct cohort__registry *registry,
                             struct cohort__revocation *revocation)
{
    const struct cohort__membership *membership = revocation->membership;
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    cohort_status status =
        write_of_site(&outbox, COHORT__REGISTRY_REVOKE, membership, revocation->site);
    if (status)
        (void)cohort_fail(status, "communicator \"%.60s\", site %u: no memory to revoke it",
                          (const char *)membership->name, revocation->site);
    pthread_mutex_lock(&registry->lock);
    if (!status)
        status = has_no_answer(registry, membership->home);
    if (!status)
        cohort__map_insert(&registry->revocations, &revocation->node,
                           cohort__hash_u64(membership->instance));
    pthread_mutex_unlock(&registry->lock);
    if (!status) {
        deliver(registry, &outbox);
        return;
    }
    discard(&outbox);
    revocation->done(revocation, status);
}

static bool is_of(const struct cohort__map_node *node, const void *key)
{
    const struct cohort__revocation *revocation =
        COHORT_CONTAINER_OF(node, struct cohort__revocation, node);
    return revocation->membership->instance == *(const uint64_t *)key;
}

/* Under the lock: moves the revocations of INSTANCE, or all if it is 0, to
 * ENDED. */
static void take_revocations(struct cohort__registry *registry, uint64_t instance,
                             struct cohort__list *ended)
{
    struct cohort__map *map = &registry->revocations;
    const uint64_t hash = cohort__hash_u64(instance);
    struct cohort__map_node *node;
    while ((node = instance == 0 ? cohort__map_some(map)
                                 : cohort__map_find(map, hash, is_of, &instance))) {
        cohort__map_remove(map, node);
        cohort__list_push_back(ended,
                               &COHORT_CONTAINER_OF(node, struct cohort__revocation, node)->link);
    }
}

/* TEXT: of STATUS, if that is not COHORT_OK. */
static void end_revocations(struct cohort__list *ended, cohort_status status, const char *text)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(ended))) {
        struct cohort__revocation *revocation =
            COHORT_CONTAINER_OF(link, struct cohort__revocation, link);
        if (status)
            cohort_fail(status, "%s", text);
        revocation->done(revocation, status);
    }
}

static void take_children(struct cohort__registry *registry, uint64_t instance,
                          struct cohort__list *ended);
/* Sets the error that JOIN ends with: SITE has revoked its parent. */
static cohort_status registry_fail_revoked(const struct cohort__join *join, uint32_t site)
{
    return cohort_fail(COHORT_ERR_REVOKED,
                       "communicator \"%.60s\", site %u: site %u of the one that it is made of has "
                       "revoked that",
                       join->name, join->site, site);
}

/* Takes the first one out of ENDED, for the caller to call its `done`. NULL: there is none. */
static struct cohort__join *next_ended(struct cohort__list *ended)
{
    struct cohort__list *link = cohort__list_pop_front(ended);
    struct cohort__join *join = link ? COHORT_CONTAINER_OF(link, struct cohort__join, link) : NULL;
    if (join)
        alarm_end(join->alarm);
    return join;
}

/* Who has the sites is told first, so that a join that is not listed yet sees it. */
static void registry_revoked(struct cohort__registry *registry, uint64_t instance, uint32_t site)
{
    if (registry->revoked)
        registry->revoked(registry->revoked_context, instance, site);
    struct cohort__list joins, revocations;
    struct cohort__join *join;
    cohort__list_init(&joins);
    cohort__list_init(&revocations);
    pthread_mutex_lock(&registry->lock);
    take_children(registry, instance, &joins);
    take_revocations(registry, instance, &revocations);
    pthread_mutex_unlock(&registry->lock);
    while ((join = next_ended(&joins)))
        join->done(join, registry_fail_revoked(join, site), NULL);
    end_revocations(&revocations, COHORT_OK, "");
}

/* Sites that have left: their home has to hear of it, since those who gather (cohort/survivors.h)
 * would wait for them. What there is no memory to tell is told at a later tick. */

/* False: no memory. */
static bool tell(struct cohort__registry *registry, const struct cohort__membership *membership,
                 uint32_t site)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    const bool is_packed = !write_of_site(&outbox, COHORT__REGISTRY_LEAVE, membership, site);
    if (is_packed)
        deliver(registry, &outbox);
    else
        discard(&outbox);
    return is_packed;
}

/* Under the lock. The site's byte of those that are untold, and its bit in that. */
static unsigned char *byte_of(struct cohort__membership *membership, uint32_t site)
{
    return &cohort__membership_untold(membership)[site / 8];
}

static unsigned char bit_of(uint32_t site)
{
    return (unsigned char)(1u << site % 8);
}

void cohort__registry_leave(struct cohort__registry *registry,
                            struct cohort__membership *membership, uint32_t site)
{
    if (tell(registry, membership, site))
        return;
    pthread_mutex_lock(&registry->lock);
    *byte_of(membership, site) |= bit_of(site);
    if (membership->num_untold++ == 0) {
        cohort__membership_ref(membership);
        cohort__list_push_back(&registry->untold, &membership->link);
    }
    pthread_mutex_unlock(&registry->lock);
}

/* Under the lock: the last instance called NAME that SITE has left without its home having been
 * told, or 0. */
static uint64_t left_untold(struct cohort__registry *registry, const char *name, size_t bytes,
                            uint32_t site)
{
    uint64_t latest = 0;
    struct cohort__list *untold = &registry->untold;
    for (struct cohort__list *link = untold->next; link != untold; link = link->next) {
        struct cohort__membership *membership =
            COHORT_CONTAINER_OF(link, struct cohort__membership, link);
        if (membership->instance > latest && site < membership->num_sites &&
            (*byte_of(membership, site) & bit_of(site)) && membership->name_bytes == bytes &&
            memcmp(membership->name, name, bytes) == 0)
            latest = membership->instance;
    }
    return latest;
}

/* Until it is told, a join of that site has to say it: see left_untold. Returns
 * whether all of MEMBERSHIP are told. */
static bool tell_again(struct cohort__registry *registry, struct cohort__membership *membership)
{
    bool are_all_told = false;
    for (uint32_t site = 0; !are_all_told && site < membership->num_sites; site++) {
        pthread_mutex_lock(&registry->lock);
        const bool is_untold = *byte_of(membership, site) & bit_of(site);
        pthread_mutex_unlock(&registry->lock);
        if (!is_untold || !tell(registry, membership, site))
            continue;
        pthread_mutex_lock(&registry->lock);
        *byte_of(membership, site) &= (unsigned char)~bit_of(site);
        are_all_told = --membership->num_untold == 0;
        if (are_all_told)
            cohort__list_remove(&membership->link);
        pthread_mutex_unlock(&registry->lock);
    }
    return are_all_told;
}

/* Others only append to the list. */
static void tell_untold(struct cohort__registry *registry)
{
    pthread_mutex_lock(&registry->lock);
    struct cohort__list *next, *link = registry->untold.next;
    while (link != &registry->untold) {
        next = link->next;
        pthread_mutex_unlock(&registry->lock);
        struct cohort__membership *membership =
            COHORT_CONTAINER_OF(link, struct cohort__membership, link);
        if (tell_again(registry, membership))
            cohort__membership_unref(membership);
        pthread_mutex_lock(&registry->lock);
        link = next;
    }
    pthread_mutex_unlock(&registry->lock);
}

/* What a death changes among the joins and revocations of this locality. */

/* Under the lock: what cohort__registry_count_dead says. */
static uint32_t count_dead_in_view(const struct cohort__registry *registry,
                                   const struct cohort__membership *membership, bool *is_dead)
{
    struct cohort__process *process = registry->process;
    uint32_t num_dead = 0;
    bool any = cohort__process_any_dead(process), is_before = false;
    for (uint32_t site = 0; site < membership->num_sites; site++) {
        struct cohort__death death;
        uint32_t rank = membership->locality_of[site];
        if (site == 0 || rank != membership->locality_of[site - 1])
            is_before = any && cohort__process_death_of(process, rank, &death) &&
                        (death.order <= registry->view || death.order >= COHORT__DEATH_NOTICED);
        num_dead += is_before;
        if (is_dead)
            is_dead[site] = is_before;
    }
    return num_dead;
}

uint32_t cohort__registry_count_dead(struct cohort__registry *registry,
                                     const struct cohort__membership *membership, bool *is_dead)
{
    pthread_mutex_lock(&registry->lock);
    uint32_t num_dead = count_dead_in_view(registry, membership, is_dead);
    pthread_mutex_unlock(&registry->lock);
    return num_dead;
}

/* Whether the death of RANK concerns JOIN. */
static bool concerns(const struct cohort__registry *registry, const struct cohort__join *join,
                     uint32_t rank)
{
    const struct cohort__membership *parent = join->parent;
    bool has_rank = !registry->process->options.letter || !parent;
    for (uint32_t site = 0; !has_rank && site < parent->num_sites; site++)
        has_rank = parent->locality_of[site] == rank;
    return has_rank;
}

static void remove_waiting(struct cohort__registry *registry, struct cohort__join *join);

void cohort__registry_peer_died(struct cohort__registry *registry, uint32_t rank)
{
    struct cohort__list ended, revocations, *next;
    cohort__list_init(&ended);
    cohort__list_init(&revocations);
    pthread_mutex_lock(&registry->lock);
    registry->view++;
    for (struct cohort__list *link = registry->waiting.next; link != &registry->waiting;
         link = next) {
        struct cohort__join *join = COHORT_CONTAINER_OF(link, struct cohort__join, link);
        next = link->next;
        if (!concerns(registry, join, rank))
            continue;
        remove_waiting(registry, join);
        cohort__list_push_back(&ended, link);
    }
    if (!registry->process->options.letter) /* the home may have died */
        take_revocations(registry, 0, &revocations);
    pthread_mutex_unlock(&registry->lock);
    struct cohort__join *join;
    while ((join = next_ended(&ended))) {
        if (registry->process->options.letter)
            cohort__process_check_dead(registry->process, rank); /* sets the message */
        else
            cohort__process_is_broken(registry->process);
        join->done(join, COHORT_ERR_PEER_DIED, NULL);
    }
    struct cohort__death death;
    if (!cohort__list_is_empty(&revocations) &&
        cohort__process_first_death(registry->process, &death)) {
        char text[64 + sizeof(death.why)];
        snprintf(text, sizeof(text), "locality %u %s", (unsigned)death.rank, death.why);
        end_revocations(&revocations, COHORT_ERR_PEER_DIED, text);
    }
}

/* The joins of this locality that wait: from a site's request to its answer. */

static uint32_t home_of(const struct cohort__registry *registry, const struct cohort__join *join)
{
    uint64_t hash = cohort__hash_u64(cohort__hash_bytes(join->name, join_name_bytes(join)));
    if (join->is_of_living) /* that of their parent, which knows who has left it */
        return join->home;
    if (registry->process->options.letter && !join->is_whole)
        return COHORT__HOME_LAUNCHER;
    return join->name_bytes ? join->home : (uint32_t)(hash % registry->process->options.size);
}

/* A site of a name: the key of `places`. */
struct place {
    const char *name;
    size_t bytes;
    uint32_t site;
};

static uint64_t hash_of(const struct place *place)
{
    return cohort__hash_mix(cohort__hash_bytes(place->name, place->bytes), place->site);
}

static bool is_at(const struct cohort__map_node *node, const void *key)
{
    const struct cohort__join *join = COHORT_CONTAINER_OF(node, struct cohort__join, node);
    const struct place *place = key;
    return join->site == place->site && join_name_bytes(join) == place->bytes &&
           memcmp(join->name, place->name, place->bytes) == 0;
}

/* Under the lock. */
static struct cohort__join *find_waiting(struct cohort__registry *registry, const char *name,
                                         size_t bytes, uint32_t site)
{
    struct place place = {name, bytes, site};
    struct cohort__map_node *node =
        cohort__map_find(&registry->places, hash_of(&place), is_at, &place);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__join, node) : NULL;
}

static enum cohort__join_kind kind_of(const struct cohort__join *join)
{
    if (join->agrees)
        return COHORT__JOIN_AGREEMENT;
    if (join->is_of_living)
        return COHORT__JOIN_SHRINK;
    return join->name_bytes > 0 ? COHORT__JOIN_SPLIT : COHORT__JOIN_NAME;
}

/* For those who look on; without memory they don't see it. A name that a user gives ends at its
 * 0. */
static void write_line(const struct cohort__registry *registry, struct cohort__join *join)
{
    struct cohort__join_line *line = cohort__ledger_take(COHORT__LEDGER_JOINS);
    join->line = line;
    if (!line)
        return;
    memcpy(line->name, join->name, strnlen(join->name, sizeof(line->name) - 1));
    atomic_store_explicit(&line->future, (uintptr_t)join->future, memory_order_relaxed);
    atomic_store_explicit(&line->site, join->site, memory_order_relaxed);
    atomic_store_explicit(&line->num_sites, join->num_sites, memory_order_relaxed);
    atomic_store_explicit(&line->rank, registry->process->options.rank, memory_order_relaxed);
    atomic_store_explicit(&line->kind, (uint32_t)kind_of(join), memory_order_relaxed);
    atomic_store_explicit(&line->parent, join->is_of_living ? join->parent->instance : 0,
                          memory_order_relaxed);
    atomic_store_explicit(&line->of_site, join->parent_site, memory_order_relaxed);
    atomic_store_explicit(&line->since, cohort__clock_now(), memory_order_release);
}

/* Whether it does not go on once its parent is revoked. */
static bool ends_with_parent(const struct cohort__join *join)
{
    return join->parent && !join->is_of_living;
}

static void add_waiting(struct cohort__registry *registry, struct cohort__join *join)
{
    struct place place = {join->name, join_name_bytes(join), join->site};
    cohort__list_push_back(&registry->waiting, &join->link);
    cohort__map_insert(&registry->places, &join->node, hash_of(&place));
    if (ends_with_parent(join))
        cohort__map_insert(&registry->children, &join->child,
                           cohort__hash_u64(join->parent->instance));
    write_line(registry, join);
}

/* Under the lock: JOIN waits no longer. */
static void remove_waiting(struct cohort__registry *registry, struct cohort__join *join)
{
    cohort__list_remove(&join->link);
    cohort__map_remove(&registry->places, &join->node);
    if (ends_with_parent(join))
        cohort__map_remove(&registry->children, &join->child);
    cohort__ledger_give_back(COHORT__LEDGER_JOINS, join->line);
    join->line = NULL;
}

/* Under the lock. The last instance that its site has left: the home may not have been told. */
static uint64_t left_by(struct cohort__registry *registry, const struct cohort__join *join)
{
    const uint64_t untold = left_untold(registry, join->name, join_name_bytes(join), join->site);
    return untold ? untold : join->left_instance;
}

/* Under the lock, so that the join is of the view in which it is listed: the next death ends it. */
static cohort_status write_join(struct cohort__registry *registry, struct cohort__list *outbox,
                                uint32_t home, const struct cohort__join *join)
{
    if (join->settings_bytes > COHORT__SETTINGS_BYTES_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "communicator \"%s\": site %u joins with %zu bytes of settings; %d are "
                           "possible",
                           join->name, join->site, join->settings_bytes,
                           COHORT__SETTINGS_BYTES_MAX);
    const struct cohort__membership *of = join->is_of_living ? join->parent : NULL;
    struct cohort__registry_words words = {.type = COHORT__REGISTRY_JOIN,
                                           .name = {join->name, join_name_bytes(join)},
                                           .site = join->site,
                                           .instance = left_by(registry, join),
                                           .sequence = join->sequence,
                                           .failed = join->failed,
                                           .terms = {join->terms, strlen(join->terms)},
                                           .num_sites = join->num_sites,
                                           .settings = {join->settings, join->settings_bytes},
                                           .view = registry->view,
                                           .agrees = join->agrees,
                                           .value = join->value};
    if (of) {
        words.of = of->instance;
        words.of_name = (struct cohort__bytes){of->name, of->name_bytes};
    }
    cohort_status status = cohort__registry_letter_write(outbox, &home, 1, &words);
    return status ? cohort_fail(status, "no memory for joining \"%s\"", join->name) : COHORT_OK;
}

/* Why JOIN can't become anything: its parent is revoked, or because of a death. The sites of a dead
 * locality can't join any more, and which sites these are is not known. If the job goes on, who
 * joins under a name of a user from now on knows of the death. */
static cohort_status is_in_vain(const struct cohort__registry *registry,
                                const struct cohort__join *join)
{
    struct cohort__process *process = registry->process;
    uint32_t revoked_by = join->parent ? atomic_load(&join->parent->revoked_by) : 0;
    if (revoked_by > 0 && !join->is_of_living)
        return registry_fail_revoked(join, revoked_by - 1);
    if (!process->options.letter)
        return cohort__process_is_broken(process) ? COHORT_ERR_PEER_DIED : COHORT_OK;
    if (!join->parent || !cohort__process_any_dead(process))
        return COHORT_OK;
    if (join->is_of_living)
        return count_dead_in_view(registry, join->parent, NULL) == join->num_dead
                   ? COHORT_OK
                   : cohort_fail(COHORT_ERR_PEER_DIED, "another locality has died meanwhile");
    for (uint32_t site = 0; site < join->parent->num_sites; site++)
        if (cohort__process_check_dead(process, join->parent->locality_of[site]))
            return COHORT_ERR_PEER_DIED;
    return COHORT_OK;
}

static cohort_status fail_as_over(const struct cohort__join *join)
{
    return cohort_fail(COHORT_ERR_CANCELLED,
                       "communicator \"%.60s\", site %u waits for the others: the job is over",
                       join->name, join->site);
}

/* Where JOIN's scope is cancelled already, it joins as one that can't take part: so the others are
 * told, and not even as the last one it makes them all begin. */
static void fail_if_cancelled(struct cohort__join *join, char *reason)
{
    if (!alarm_is_cancelled(join->alarm, reason))
        return;
    join->failed = COHORT_ERR_CANCELLED;
    join->terms = reason; /* which are only written */
}

void cohort__registry_join(struct cohort__registry *registry, struct cohort__join *join)
{
    struct cohort__list outbox;
    char reason[REASON_BYTES];
    cohort__list_init(&outbox);
    uint32_t home = home_of(registry, join);
    join->sequence = atomic_fetch_add(&registry->num_joins, 1);
    struct cohort__join_alarm *alarm;
    cohort_status status = alarm_create(&alarm, registry, join, home);
    join->alarm = alarm;
    fail_if_cancelled(join, reason);
    pthread_mutex_lock(&registry->lock);
    if (!status)
        status = write_join(registry, &outbox, home, join);
    const bool is_lost = status == COHORT_ERR_NO_MEMORY && join->name_bytes > 0;
    if (!status)
        status = is_in_vain(registry, join);
    if (!status && registry->broken.status)
        status =
            cohort_fail(registry->broken.status, "%s", cohort__error_message(&registry->broken));
    if (!status && atomic_load(&registry->process->stopped))
        status = fail_as_over(join);
    if (!status && find_waiting(registry, join->name, join_name_bytes(join), join->site))
        status = cohort_fail(COHORT_ERR_DUPLICATE_SITE,
                             "communicator \"%s\": site %u joins, but is waiting for the others "
                             "already, in this locality (%u)",
                             join->name, join->site, registry->process->options.rank);
    if (!status)
        add_waiting(registry, join);
    pthread_mutex_unlock(&registry->lock);
    if (!status) {
        deliver(registry, &outbox);
        alarm_joined(alarm);
        return;
    }
    discard(&outbox);
    alarm_end(alarm);
    alarm_joined(alarm);
    join->done(join, status, NULL);
    if (is_lost) /* the other sites of its parent wait for it */
        cohort__registry_lost(registry, registry->process->options.rank, status);
}

static cohort_status refused(struct cohort__registry *registry,
                             const struct cohort__registry_words *words)
{
    const cohort_status status = (cohort_status)words->status;
    if (status >= 0)
        return cohort_fail(COHORT_ERR_PROTOCOL, "a refusal with status %d", words->status);
    pthread_mutex_lock(&registry->lock);
    struct cohort__join *join =
        find_waiting(registry, words->name.data, words->name.bytes, words->site);
    if (join)
        remove_waiting(registry, join);
    pthread_mutex_unlock(&registry->lock);
    if (join) {
        alarm_end(join->alarm);
        cohort_fail(status, "%.*s", (int)words->text.bytes, (const char *)words->text.data);
        join->done(join, status, NULL);
    }
    return COHORT_OK;
}

/* Under the lock: takes out all local joins that MEMBERSHIP answers. */
static void take_joined(struct cohort__registry *registry,
                        const struct cohort__membership *membership, struct cohort__list *joined)
{
    for (uint32_t site = 0; site < membership->num_sites; site++) {
        bool is_here = membership->locality_of[site] == registry->process->options.rank;
        struct cohort__join *join =
            is_here ? find_waiting(registry, membership->name, membership->name_bytes, site) : NULL;
        if (!join || join->num_sites != membership->num_sites)
            continue;
        remove_waiting(registry, join);
        cohort__list_push_back(joined, &join->link);
    }
}

/* The joins of the sites here have ended before the map has come, since their parent was revoked:
 * there will be nothing of the instance here. */
static void leave_unused(struct cohort__registry *registry, struct cohort__membership *membership)
{
    if (atomic_load(&registry->process->stopped))
        return;
    for (uint32_t site = 0; site < membership->num_sites; site++)
        if (membership->locality_of[site] == registry->process->options.rank)
            cohort__registry_leave(registry, membership, site);
    if (registry->unused)
        registry->unused(registry->unused_context, membership);
    cohort__registry_return(registry, membership);
}

static cohort_status mapped(struct cohort__registry *registry, uint32_t home,
                            const struct cohort__registry_words *words,
                            const struct cohort__unpacked *unpacked)
{
    struct cohort__membership *membership;
    cohort_status status = cohort__membership_read(&membership, words, unpacked, home,
                                                   registry->process->options.size);
    if (status)
        return status;
    struct cohort__list joined;
    cohort__list_init(&joined);
    pthread_mutex_lock(&registry->lock);
    take_joined(registry, membership, &joined);
    pthread_mutex_unlock(&registry->lock);
    if (cohort__list_is_empty(&joined))
        leave_unused(registry, membership);
    struct cohort__join *join;
    while ((join = next_ended(&joined))) {
        cohort__membership_ref(membership);
        join->done(join, COHORT_OK, membership);
    }
    cohort__membership_unref(membership);
    return COHORT_OK;
}

static bool is_child(const struct cohort__map_node *node, const void *key)
{
    const struct cohort__join *join = COHORT_CONTAINER_OF(node, struct cohort__join, child);
    return join->parent->instance == *(const uint64_t *)key;
}

static void take_children(struct cohort__registry *registry, uint64_t instance,
                          struct cohort__list *ended)
{
    const uint64_t hash = cohort__hash_u64(instance);
    struct cohort__map_node *node;
    while ((node = cohort__map_find(&registry->children, hash, is_child, &instance))) {
        struct cohort__join *join = COHORT_CONTAINER_OF(node, struct cohort__join, child);
        remove_waiting(registry, join);
        cohort__list_push_back(ended, &join->link);
    }
}

/* Under the lock: moves all waiting joins to ENDED, or those that end with INSTANCE, which is
 * revoked. */
static void take_waiting(struct cohort__registry *registry, struct cohort__list *ended)
{
    while (!cohort__list_is_empty(&registry->waiting)) {
        struct cohort__list *link = registry->waiting.next;
        remove_waiting(registry, COHORT_CONTAINER_OF(link, struct cohort__join, link));
        cohort__list_push_back(ended, link);
    }
}

/* letters that come --------------------------------------------------------------------------- */

/* A message that is lost at one locality (no memory, or it makes no sense) may be one that anybody
 * waits for, so that is the loss of its sender. What a locality has no memory to say itself may be
 * a join for which others wait, and it is not known any more who has joined. Then the registry is
 * broken in all localities: waiting joins end with the reason, and so do all later ones; or, if the
 * job goes on without the dead, it goes on without this locality, and the registry is broken here
 * only: what was lost may be an agreement that others have, and until its end this locality must
 * not come to another one without them. (An accusation of this locality would not do without a
 * launcher that takes some: then nobody else would end the joins of the other sites here, or in the
 * other localities, and name the one that has no memory.) */

/* False: it was broken before. */
static bool become_broken(struct cohort__registry *registry, cohort_status status, const char *text)
{
    struct cohort__list ended, revocations;
    cohort__list_init(&ended);
    cohort__list_init(&revocations);
    pthread_mutex_lock(&registry->lock);
    bool is_first = !registry->broken.status;
    if (is_first)
        cohort__error_set(&registry->broken, status, "%s", text);
    take_waiting(registry, &ended);
    take_revocations(registry, 0, &revocations);
    pthread_mutex_unlock(&registry->lock);
    struct cohort__join *join;
    while ((join = next_ended(&ended))) {
        cohort_fail(status, "%s", text);
        join->done(join, status, NULL);
    }
    end_revocations(&revocations, status, text);
    return is_first;
}

/* Makes the registry broken here and in all other localities. */
static void break_registry(struct cohort__registry *registry, cohort_status status,
                           const char *text)
{
    struct cohort__process *process = registry->process;
    struct cohort__packer packer = {0};
    if (!become_broken(registry, status, text))
        return;
    cohort__schema_pack(&packer, &cohort__registry_words,
                        &(struct cohort__registry_words){.type = COHORT__REGISTRY_BROKEN,
                                                         .status = status,
                                                         .text = {text, strlen(text)}});
    for (uint32_t rank = 0; rank < process->options.size; rank++)
        if (rank != process->options.rank && !packer.status)
            cohort__letter_send(process, rank, packer.data, packer.bytes);
        else if (rank != process->options.rank)
            cohort__process_give_up(process, rank, "can't be told: out of memory here");
    cohort__packer_fini(&packer);
}

static cohort_status broken(struct cohort__registry *registry,
                            const struct cohort__registry_words *words)
{
    char copy[COHORT__ERROR_BYTES];
    if (words->status >= 0)
        return cohort_fail(COHORT_ERR_PROTOCOL, "it is broken with status %d", words->status);
    cohort__text_shorten(copy, sizeof(copy), words->text.data, words->text.bytes);
    (void)become_broken(registry, (cohort_status)words->status, copy);
    return COHORT_OK;
}

void cohort__registry_lost(struct cohort__registry *registry, uint32_t source, cohort_status status)
{
    struct cohort__process *process = registry->process;
    bool is_own = source == process->options.rank;
    bool is_told = cohort__error_slot()->status == status;
    const char *reason = is_told ? cohort_error_message() : cohort_status_text(status);
    char why[COHORT__ERROR_BYTES + 64], text[sizeof(why) + 64];
    snprintf(why, sizeof(why), "%s%s",
             is_own ? "" : "has sent a registry message that is lost here: ", reason);
    snprintf(text, sizeof(text), "locality %u: %s", process->options.rank, reason);
    if (is_own && !cohort__process_keeps_going(process)) {
        cohort__log(COHORT__LOG_ERROR, "%s", text);
        break_registry(registry, status, text);
    } else if (status == COHORT_ERR_PROTOCOL && source != COHORT__HOME_LAUNCHER) {
        cohort__process_blame(process, source, why);
    } else {
        if (cohort__process_keeps_going(process))
            (void)become_broken(registry, status, text);
        cohort__process_give_up(process, source, why);
    }
}

void cohort__registry_message(struct cohort__registry *registry, uint32_t source, const void *data,
                              size_t bytes)
{
    struct cohort__unpacked *unpacked = NULL;
    struct cohort__registry_words words = {0};
    cohort_status status = cohort__unpack(&unpacked, data, bytes, registry_message);
    if (!status)
        status = cohort__schema_read(&cohort__registry_words, unpacked, registry_message, &words);
    if (!status)
        switch ((enum cohort__registry_type)words.type) {
        case COHORT__REGISTRY_JOIN:
        case COHORT__REGISTRY_LEAVE:
        case COHORT__REGISTRY_RETURN:
        case COHORT__REGISTRY_REVOKE:
            status = at_home(registry, source, &words, "");
            break;
        case COHORT__REGISTRY_WITHDRAW:
            status = withdrawn(registry, source, &words, data, bytes);
            break;
        case COHORT__REGISTRY_REFUSE:
            status = refused(registry, &words);
            break;
        case COHORT__REGISTRY_MAP:
            status = mapped(registry, source, &words, unpacked);
            break;
        case COHORT__REGISTRY_END:
            if (registry->ended)
                registry->ended(registry->context, words.instance);
            break;
        case COHORT__REGISTRY_BROKEN:
            status = broken(registry, &words);
            break;
        case COHORT__REGISTRY_REVOKED:
            registry_revoked(registry, words.instance, words.site);
            break;
        default:
            status = cohort_fail(COHORT_ERR_PROTOCOL, "registry message of type %u", words.type);
            break;
        }
    cohort__unpacked_destroy(unpacked);
    if (status)
        cohort__registry_lost(registry, source, status);
    /* Others go by what it has said, and is lost here, such as a revocation. */
    if (status && source == registry->process->options.rank)
        cohort__process_give_up(registry->process, source, "a registry message is lost here");
}

void cohort__registry_tick(struct cohort__registry *registry)
{
    tick_withdrawals(registry);
    tell_untold(registry);
}

void cohort__registry_stop(struct cohort__registry *registry)
{
    struct cohort__list ended, revocations;
    cohort__list_init(&ended);
    cohort__list_init(&revocations);
    pthread_mutex_lock(&registry->lock);
    take_waiting(registry, &ended);
    take_revocations(registry, 0, &revocations);
    pthread_mutex_unlock(&registry->lock);
    struct cohort__join *join;
    while ((join = next_ended(&ended)))
        join->done(join, fail_as_over(join), NULL);
    end_revocations(&revocations, COHORT_ERR_CANCELLED, "the job is over");
}

void cohort__registry_destroy(struct cohort__registry *registry)
{
    if (!registry)
        return;
    drop_withdrawals(registry);
    drop_untold(registry);
    cohort__registry_home_fini(&registry->home);
    cohort__map_fini(&registry->places);
    cohort__map_fini(&registry->children);
    cohort__map_fini(&registry->revocations);
    cohort__error_fini(&registry->broken);
    pthread_mutex_destroy(&registry->lock);
    free(registry);
}
