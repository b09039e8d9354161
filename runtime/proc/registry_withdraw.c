/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/proc/process.h"
#include "runtime/proc/registry_private.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/scope.h"

/* A join that waits no longer for the others, since its deadline is over or its scope is cancelled.
 * Its home is told (WITHDRAW), and fails it for all sites, unless all have joined by then. Model:
 * tests/model/withdraw.pml. */

/* By the site ---------------------------------------------------------------------------------- */

/* How long a join waits. It outlives the join, whose memory is the caller's. */
struct cohort__patience {
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
enum { LETTER_BYTES = COHORT__REASON_BYTES + 200 };

static void drop_letter(struct cohort__patience *patience)
{
    if (patience->letter)
        cohort__registry_letter_destroy(patience->letter);
    patience->letter = NULL;
}

static void put(struct cohort__patience *patience)
{
    if (atomic_fetch_sub_explicit(&patience->refs, 1, memory_order_acq_rel) != 1)
        return;
    drop_letter(patience);
    cohort__scope_unref(patience->scope);
    free(patience);
}

/* Why the site waits no longer. */
static void print_reason(const struct cohort__patience *patience, uint32_t state, char *text)
{
    struct cohort__error error = {0};
    if (!(state & CANCELLED)) {
        snprintf(text, COHORT__REASON_BYTES, "%g s are over", (double)patience->deadline * 1e-9);
        return;
    }
    cohort__scope_explain(patience->scope, NULL, &error);
    const char *why = cohort__error_message(&error);
    cohort__text_shorten(text, COHORT__REASON_BYTES, why, strlen(why));
    cohort__error_fini(&error);
}

static void withdraw(struct cohort__patience *patience, uint32_t state)
{
    char reason[COHORT__REASON_BYTES];
    struct cohort__list outbox;
    struct cohort__packer *packer = &patience->letter->packer;
    print_reason(patience, state, reason);
    cohort__pack_field_unsigned(packer, "sequence", patience->sequence);
    cohort__pack_field_signed(packer, "failed",
                              state & CANCELLED ? COHORT_ERR_CANCELLED : COHORT_ERR_TIMEOUT);
    cohort__pack_field_bytes(packer, "terms", reason, strlen(reason));
    cohort__list_init(&outbox);
    cohort__list_push_back(&outbox, &patience->letter->link);
    patience->letter = NULL;
    cohort__registry_deliver(patience->registry, &outbox);
}

static void give_up(struct cohort__patience *patience, uint32_t why)
{
    if (atomic_fetch_or(&patience->state, why) == JOINED)
        withdraw(patience, why);
}

/* By the thread that turns the event loop, or at its end; also if the join is over. */
static void on_late(struct cohort__timer *timer)
{
    struct cohort__patience *patience = COHORT_CONTAINER_OF(timer, struct cohort__patience, timer);
    give_up(patience, LATE);
    put(patience);
}

/* The home may be here, and end joins. The error of the task that cancels stays. Once the runtime
 * has ended, and in a forked child, there is nobody to tell. */
static void on_cancel(struct cohort__scope_watch *watch)
{
    struct cohort__error error = {0};
    cohort__error_copy(&error, cohort__error_slot());
    if (cohort__scheduler_hold())
        give_up(COHORT_CONTAINER_OF(watch, struct cohort__patience, watch), CANCELLED);
    cohort__scheduler_release();
    cohort__error_copy(cohort__error_slot(), &error);
    cohort__error_fini(&error);
}

static void on_release(struct cohort__scope_watch *watch)
{
    put(COHORT_CONTAINER_OF(watch, struct cohort__patience, watch));
}

static struct cohort__registry_letter *begin_letter(const struct cohort__join *join, uint32_t home)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    struct cohort__registry_letter *letter = cohort__registry_letter_add(&outbox, &home, 1);
    if (!letter)
        return NULL;
    struct cohort__packer *packer = &letter->packer;
    cohort__packer_reserve(packer, LETTER_BYTES + cohort__join_name_bytes(join));
    cohort__pack_map(packer, 6);
    cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_WITHDRAW);
    cohort__pack_field_bytes(packer, "name", join->name, cohort__join_name_bytes(join));
    cohort__pack_field_unsigned(packer, "site", join->site);
    if (!packer->status)
        return letter;
    cohort__registry_letter_destroy(letter);
    return NULL;
}

static void start(struct cohort__patience *patience)
{
    if (patience->deadline > 0) {
        patience->timer.expired = on_late;
        atomic_fetch_add(&patience->refs, 1);
        patience->has_timer =
            cohort__scheduler_timer(&patience->timer, cohort__clock_after(patience->deadline));
        if (!patience->has_timer) /* the job is over */
            atomic_fetch_sub(&patience->refs, 1);
    }
    if (patience->scope) {
        patience->watch.cancel = on_cancel;
        patience->watch.release = on_release;
        atomic_fetch_add(&patience->refs, 1);
        cohort__scope_watch(patience->scope, &patience->watch);
    }
}

cohort_status cohort__patience_create(struct cohort__patience **ret_patience,
                                      struct cohort__registry *registry,
                                      const struct cohort__join *join, uint32_t home)
{
    *ret_patience = NULL;
    if (!join->scope && join->deadline == 0)
        return COHORT_OK;
    struct cohort__patience *patience = calloc(1, sizeof(*patience));
    struct cohort__registry_letter *letter = patience ? begin_letter(join, home) : NULL;
    if (!letter) {
        free(patience);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for joining \"%s\"", join->name);
    }
    patience->registry = registry;
    patience->letter = letter;
    patience->scope = cohort__scope_ref(join->scope);
    patience->deadline = join->deadline;
    patience->sequence = join->sequence;
    atomic_init(&patience->refs, 2);
    start(patience);
    *ret_patience = patience;
    return COHORT_OK;
}

bool cohort__patience_is_cancelled(const struct cohort__patience *patience, char *ret_reason)
{
    const bool is_cancelled = patience && atomic_load(&patience->state) & CANCELLED;
    if (is_cancelled)
        print_reason(patience, CANCELLED, ret_reason);
    return is_cancelled;
}

void cohort__patience_joined(struct cohort__patience *patience)
{
    if (!patience)
        return;
    const uint32_t state = atomic_fetch_or(&patience->state, JOINED);
    if (state & (LATE | CANCELLED) && !(state & OVER))
        withdraw(patience, state);
    put(patience);
}

void cohort__patience_end(struct cohort__patience *patience)
{
    if (!patience)
        return;
    if (!(atomic_fetch_or(&patience->state, OVER) & (LATE | CANCELLED)))
        drop_letter(patience); /* nobody sends it any more, but a watch may be kept for long */
    if (patience->has_timer)
        cohort__scheduler_timer_cancel(&patience->timer);
    if (patience->scope)
        cohort__scope_unwatch(&patience->watch);
    put(patience);
}

/* At the home --------------------------------------------------------------------------------- */

/* A WITHDRAW of who is late, until it is known whose programs have returned, so that the error can
 * name them. */
struct withdrawal {
    struct cohort__list link;
    uint32_t source;
    size_t bytes;
    unsigned char message[];
};

void cohort__registry_drop_withdrawals(struct cohort__registry *registry)
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

cohort_status cohort__registry_withdrawn(struct cohort__registry *registry, uint32_t source,
                                         const struct cohort__unpacked *unpacked, const void *data,
                                         size_t bytes)
{
    int64_t failed;
    cohort_status status =
        cohort__get_signed(unpacked, cohort__unpacked_root(unpacked), "failed", &failed);
    if (status || (failed == COHORT_ERR_TIMEOUT && put_off(registry, source, data, bytes)))
        return status;
    return cohort__registry_at_home(registry, source, COHORT__REGISTRY_WITHDRAW, unpacked, "");
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
        struct cohort__unpacked *unpacked = NULL;
        cohort_status status =
            cohort__unpack(&unpacked, withdrawal->message, withdrawal->bytes, "registry message");
        if (!status)
            status = cohort__registry_at_home(registry, withdrawal->source,
                                              COHORT__REGISTRY_WITHDRAW, unpacked, text);
        cohort__unpacked_destroy(unpacked);
        if (status)
            cohort__registry_lost(registry, withdrawal->source, status);
        free(withdrawal);
    }
}

/* A launcher that is stopped does not answer. Nobody waits longer than a second for it. */
void cohort__registry_tick_withdrawals(struct cohort__registry *registry)
{
    enum { PATIENCE_TICKS = 10 };
    pthread_mutex_lock(&registry->lock);
    const bool is_late =
        !cohort__list_is_empty(&registry->withdrawals) && ++registry->num_ticks >= PATIENCE_TICKS;
    pthread_mutex_unlock(&registry->lock);
    if (is_late)
        cohort__registry_returned(registry, "");
}
