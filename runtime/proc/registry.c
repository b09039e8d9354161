/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/registry_private.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/container.h"
#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "runtime/names/requests.h"
#include "runtime/proc/letter.h"
#include "runtime/proc/peer.h"

/* A message that is lost at one locality (no memory, or it makes no sense) may be one that anybody
 * waits for, so that is the loss of its sender. What a locality has no memory to say itself may be
 * a join for which others wait, and it is not known any more who has joined. Then the registry is
 * broken in all localities: waiting joins end with the reason, and so do all later ones; or, if the
 * job goes on without the dead, it goes on without this locality, and the registry is broken here
 * only: what was lost may be an agreement that others have, and until its end this locality must
 * not come to another one without them. (An accusation of this locality would not do without a
 * launcher that takes some: then nobody else would end the joins of the other sites here, or in the
 * other localities, and name the one that has no memory.) */

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

void cohort__registry_destroy(struct cohort__registry *registry)
{
    if (!registry)
        return;
    cohort__registry_drop_withdrawals(registry);
    cohort__registry_drop_untold(registry);
    cohort__registry_home_fini(&registry->home);
    cohort__map_fini(&registry->places);
    cohort__map_fini(&registry->children);
    cohort__map_fini(&registry->revocations);
    cohort__error_fini(&registry->broken);
    pthread_mutex_destroy(&registry->lock);
    free(registry);
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

void cohort__registry_deliver(struct cohort__registry *registry, struct cohort__list *outbox)
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

void cohort__registry_discard(struct cohort__list *outbox)
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
    struct cohort__registry_letter *letter =
        cohort__registry_letter_add(&outbox, &membership->home, 1);
    if (!letter)
        return; /* then the number is not lent again */
    struct cohort__packer *packer = &letter->packer;
    cohort__pack_map(packer, 3);
    cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_RETURN);
    cohort__pack_field_unsigned(packer, "instance", membership->instance);
    cohort__pack_field_unsigned(packer, "number", membership->number);
    if (!packer->status)
        cohort__registry_deliver(registry, &outbox);
    else
        cohort__registry_letter_destroy(letter);
}

cohort_status cohort__registry_at_home(struct cohort__registry *registry, uint32_t source,
                                       uint64_t type, const struct cohort__unpacked *unpacked,
                                       const char *returned)
{
    pthread_mutex_lock(&registry->lock);
    cohort_status status =
        cohort__home_take(&registry->home, source, type, unpacked, returned, &registry->outbox);
    pthread_mutex_unlock(&registry->lock);
    send_of_home(registry);
    return status;
}

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
    cohort__registry_take_waiting(registry, &ended);
    cohort__registry_take_revocations(registry, 0, &revocations);
    pthread_mutex_unlock(&registry->lock);
    struct cohort__join *join;
    while ((join = cohort__registry_next_ended(&ended))) {
        cohort_fail(status, "%s", text);
        join->done(join, status, NULL);
    }
    cohort__registry_end_revocations(&revocations, status, text);
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
    cohort__pack_map(&packer, 3);
    cohort__pack_field_unsigned(&packer, "type", COHORT__REGISTRY_BROKEN);
    cohort__pack_field_signed(&packer, "status", status);
    cohort__pack_field_text(&packer, "text", text);
    for (uint32_t rank = 0; rank < process->options.size; rank++)
        if (rank != process->options.rank && !packer.status)
            cohort__letter_send(process, rank, packer.data, packer.bytes);
        else if (rank != process->options.rank)
            cohort__process_give_up(process, rank, "can't be told: out of memory here");
    cohort__packer_fini(&packer);
}

static cohort_status broken(struct cohort__registry *registry,
                            const struct cohort__unpacked *unpacked)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    int64_t status;
    const char *text;
    size_t bytes;
    char copy[COHORT__ERROR_BYTES];
    cohort_status wrong = cohort__get_signed(unpacked, map, "status", &status);
    if (!wrong)
        wrong = cohort__get_text(unpacked, map, "text", &text, &bytes);
    if (!wrong && (status >= 0 || status < INT32_MIN))
        wrong = cohort_fail(COHORT_ERR_PROTOCOL, "it is broken with status %d", (int)status);
    if (wrong)
        return wrong;
    cohort__text_shorten(copy, sizeof(copy), text, bytes);
    (void)become_broken(registry, (cohort_status)status, copy);
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
    uint64_t type = 0, instance;
    cohort_status status = cohort__unpack(&unpacked, data, bytes, "registry message");
    const struct cohort__value *map = status ? NULL : cohort__unpacked_root(unpacked);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "type", COHORT__REGISTRY_REVOKED, &type);
    if (!status)
        switch ((enum cohort__registry_type)type) {
        case COHORT__REGISTRY_JOIN:
        case COHORT__REGISTRY_LEAVE:
            status = cohort__registry_at_home(registry, source, type, unpacked, "");
            break;
        case COHORT__REGISTRY_WITHDRAW:
            status = cohort__registry_withdrawn(registry, source, unpacked, data, bytes);
            break;
        case COHORT__REGISTRY_RETURN:
        case COHORT__REGISTRY_REVOKE:
            status = cohort__registry_at_home(registry, source, type, unpacked, "");
            break;
        case COHORT__REGISTRY_REFUSE:
            status = cohort__registry_refused(registry, unpacked);
            break;
        case COHORT__REGISTRY_MAP:
            status = cohort__registry_mapped(registry, source, unpacked);
            break;
        case COHORT__REGISTRY_END:
            status = cohort__get_unsigned(unpacked, map, "instance", UINT64_MAX, &instance);
            if (!status && registry->ended)
                registry->ended(registry->context, instance);
            break;
        case COHORT__REGISTRY_BROKEN:
            status = broken(registry, unpacked);
            break;
        case COHORT__REGISTRY_REVOKED:
            status = cohort__registry_revoked(registry, unpacked);
            break;
        default:
            status =
                cohort_fail(COHORT_ERR_PROTOCOL, "registry message of type %u", (unsigned)type);
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
    cohort__registry_tick_withdrawals(registry);
    cohort__registry_tell_untold(registry);
}

void cohort__registry_stop(struct cohort__registry *registry)
{
    struct cohort__list ended, revocations;
    cohort__list_init(&ended);
    cohort__list_init(&revocations);
    pthread_mutex_lock(&registry->lock);
    cohort__registry_take_waiting(registry, &ended);
    cohort__registry_take_revocations(registry, 0, &revocations);
    pthread_mutex_unlock(&registry->lock);
    struct cohort__join *join;
    while ((join = cohort__registry_next_ended(&ended)))
        join->done(join, cohort__registry_fail_as_over(join), NULL);
    cohort__registry_end_revocations(&revocations, COHORT_ERR_CANCELLED, "the job is over");
}
