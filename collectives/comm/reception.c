/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/reception.h"

#include <inttypes.h>

#include "collectives/comm/fingerprint.h"
#include "collectives/comm/mail.h"
#include "runtime/base/container.h"

/* In the endpoint's turn: sends ANSWER to SITE, about GENERATION. ERROR: why the call has FAILED,
 * or what was called instead (MISMATCH). NULL with the other answers. */
static void send_answer(struct cohort_comm *comm, uint32_t site, uint64_t generation,
                        enum cohort__answer answer, const struct cohort__error *error)
{
    struct cohort__message *message =
        cohort__message_create(COHORT__KIND_ANSWER, comm->this_site, generation, 0, answer);
    if (!message)
        return; /* without memory: it will ask again */
    message->last_called = comm->has_left ? comm->gone_from - 1 : comm->history.last;
    if (error)
        cohort__error_copy(&message->error, error);
    cohort__mail_send(comm->group, site, message, 0);
}

static void fail_mismatch(struct cohort__operation *operation, uint32_t other_site,
                          const struct cohort__error *theirs)
{
    struct cohort__error error = {0};
    cohort__operation_mismatch(operation, other_site, cohort__error_message(theirs), &error);
    cohort__operation_fail(operation, &error);
    cohort__error_fini(&error);
}

static bool same_step(const struct cohort__message *left, const struct cohort__message *right)
{
    return left->generation == right->generation && left->source_site == right->source_site &&
           left->tag == right->tag;
}

/* Of messages that report the failure of a whole call, one for each call is kept, and
 * COHORT__FAILURES in all. If one is dropped, this site will ask when it stalls. */
static bool keep_failure(struct cohort_comm *comm, const struct cohort__message *message)
{
    if (comm->num_parked_failures == COHORT__FAILURES ||
        cohort__endpoint_is_told(comm, message->generation))
        return false;
    comm->num_parked_failures++;
    return true;
}

static void take_out(struct cohort_comm *comm, struct cohort__message *message)
{
    cohort__list_remove(&message->parked);
    comm->num_parked_failures -= message->tag == COHORT__TAG_CALL;
}

/* EARLY. If MESSAGE is an error, its sender gets back at once what it has lent or announced for the
 * same step. */
static void park(struct cohort_comm *comm, struct cohort__message *message)
{
    struct cohort__list *list = &comm->slots[message->generation % COHORT__WINDOW].parked, *next;
    if (message->tag == COHORT__TAG_CALL && !keep_failure(comm, message)) {
        cohort__message_release(message);
        return;
    }
    for (struct cohort__list *link = list->next; link != list; link = next) {
        next = link->next;
        struct cohort__message *other = COHORT_CONTAINER_OF(link, struct cohort__message, parked);
        if (!same_step(other, message))
            continue;
        if (other->kind == COHORT__KIND_ERROR) {
            cohort__message_release(message);
            return;
        }
        cohort__list_remove(link);
        cohort__message_release(other);
    }
    if (message->arrival)
        cohort__arrival_park(message->arrival);
    cohort__list_push_back(list, &message->parked);
}

/* OPEN: the operation is in flight here. If a site sends a message of another call, it is asked
 * what it has called, and told what this site has called. Then both fail. Before the sites agree,
 * that is what phase 0 compares, also of a message for a later phase: it is looked at again when
 * they have agreed. */
static void receive_open(struct cohort__operation *operation, struct cohort__message *message)
{
    unsigned phase = cohort__message_phase(message->tag);
    bool is_too_early = phase > 0 && cohort__operation_is_before_agreement(operation);
    unsigned compared = is_too_early ? 0 : phase;
    if (message->kind == COHORT__KIND_ERROR) {
        operation->are_all_told |= message->tag == COHORT__TAG_CALL;
        cohort__operation_fail(operation, &message->error);
        cohort__message_release(message);
    } else if (operation->failure.status) {
        cohort__message_release(message);
    } else if (!cohort__fingerprint_fits(operation->fingerprint, message->fingerprint, compared)) {
        cohort__operation_ask(operation, message->source_site, compared);
        cohort__message_release(message);
    } else if (is_too_early) {
        park(operation->comm, message);
    } else {
        operation->handlers->message(operation, message);
    }
}

static bool is_gone(const struct cohort_comm *comm, uint64_t generation)
{
    return comm->has_left && generation >= comm->gone_from;
}

static void receive_step(struct cohort_comm *comm, struct cohort__message *message)
{
    uint64_t generation = message->generation;
    struct cohort__operation *operation = cohort__endpoint_find(comm, generation);
    const struct cohort__operation *waiting = cohort__endpoint_first_waiting(comm);
    bool skipped =
        generation <= comm->history.last && cohort__history_skipped(&comm->history, generation);
    if (operation) {
        receive_open(operation, message);
    } else if (generation <= comm->history.last && message->kind == COHORT__KIND_ERROR &&
               !(waiting && generation >= waiting->generation)) {
        cohort__message_release(message); /* no site waits for an answer to an error */
    } else if (skipped || is_gone(comm, generation)) {
        send_answer(comm, message->source_site, generation,
                    skipped ? COHORT__ANSWER_MOVED_PAST : COHORT__ANSWER_GONE, NULL);
        cohort__message_release(message);
    } else if (generation > comm->history.last || (waiting && generation >= waiting->generation)) {
        park(comm, message);
    } else {
        cohort__message_release(message); /* STALE: completed or failed here */
    }
}

/* The call that has ended here in the generation of ASK, if it was another one than ASK is about.
 * NULL: it was not, or it was too long ago to be remembered. */
static const struct cohort__signature *ended_differently(const struct cohort_comm *comm,
                                                         const struct cohort__message *ask)
{
    const struct cohort__ended *ended = &comm->slots[ask->generation % COHORT__WINDOW].ended;
    bool differs = ended->generation == ask->generation &&
                   !cohort__fingerprint_fits(cohort__fingerprint(&ended->signature),
                                             ask->fingerprint, cohort__message_phase(ask->tag));
    return differs ? &ended->signature : NULL;
}

static void answer_with_words(struct cohort_comm *comm, const struct cohort__message *ask,
                              const struct cohort__signature *mine)
{
    char words[COHORT__SIGNATURE_TEXT];
    struct cohort__error error = {0};
    cohort__signature_describe(mine, words, sizeof(words));
    cohort__error_set(&error, COHORT_ERR_MISMATCH, "%s", words);
    send_answer(comm, ask->source_site, ask->generation, COHORT__ANSWER_MISMATCH, &error);
    cohort__error_fini(&error);
}

/* The answer to ASK if the call has failed here. Who asks in an agreement that has refused it has
 * what it needs on its way, and will find why by itself. */
static enum cohort__answer answer_failed(const struct cohort__message *ask, bool is_refused,
                                         uint64_t mine)
{
    bool will_find = is_refused && cohort__message_phase(ask->tag) == 0 &&
                     cohort__fingerprint_fits(mine, ask->fingerprint, 0);
    return will_find ? COHORT__ANSWER_IN_FLIGHT : COHORT__ANSWER_FAILED;
}

static void answer_ask(struct cohort_comm *comm, const struct cohort__message *message)
{
    uint64_t generation = message->generation;
    struct cohort__operation *operation = cohort__endpoint_find(comm, generation);
    const struct cohort__operation *waiting = cohort__endpoint_first_waiting(comm);
    enum cohort__answer answer = COHORT__ANSWER_COMPLETED;
    const struct cohort__signature *mine = operation ? &operation->signature : NULL;
    const struct cohort__failure *failure = cohort__endpoint_failure(comm, generation);
    const struct cohort__error *error = failure ? &failure->error : NULL;
    if (operation && operation->failure.status) {
        answer = answer_failed(message, operation->is_refused, operation->fingerprint);
        error = &operation->failure;
    } else if (operation && !cohort__fingerprint_fits(operation->fingerprint, message->fingerprint,
                                                      cohort__message_phase(message->tag))) {
        answer = COHORT__ANSWER_MISMATCH;
    } else if (is_gone(comm, generation)) {
        answer = COHORT__ANSWER_GONE;
    } else if (operation ||
               (waiting && generation >= waiting->generation && generation <= comm->history.last)) {
        answer = COHORT__ANSWER_IN_FLIGHT;
    } else if (generation > comm->history.last) {
        answer = COHORT__ANSWER_NOT_CALLED;
    } else if (failure) {
        answer = answer_failed(message, failure->is_refused, failure->fingerprint);
    } else if (cohort__history_skipped(&comm->history, generation)) {
        answer = COHORT__ANSWER_MOVED_PAST;
    } else if ((mine = ended_differently(comm, message))) {
        answer = COHORT__ANSWER_MISMATCH; /* this site has ended without that one's data */
    }
    if (answer == COHORT__ANSWER_MISMATCH)
        answer_with_words(comm, message, mine);
    else
        send_answer(comm, message->source_site, generation, answer,
                    answer == COHORT__ANSWER_FAILED ? error : NULL);
    if (operation && answer == COHORT__ANSWER_MISMATCH)
        fail_mismatch(operation, message->source_site, &message->error);
}

static void take_answer(struct cohort_comm *comm, const struct cohort__message *message)
{
    struct cohort__operation *operation = cohort__endpoint_find(comm, message->generation);
    uint32_t site = message->source_site;
    if (!operation)
        return;
    switch ((enum cohort__answer)message->tag) {
    case COHORT__ANSWER_NOT_CALLED:
    case COHORT__ANSWER_IN_FLIGHT:
    case COHORT__ANSWER_COMPLETED:
        operation->handlers->answer(operation, site, (enum cohort__answer)message->tag);
        break;
    case COHORT__ANSWER_MOVED_PAST:
        cohort__operation_fail_with(
            operation, COHORT_ERR_MOVED_PAST,
            "site %u (locality %u) has left out this generation; its last is %" PRIu64, site,
            comm->group->membership->locality_of[site], message->last_called);
        break;
    case COHORT__ANSWER_GONE:
        if (!cohort__operation_fail_if_broken(operation))
            cohort__operation_fail_with(
                operation, COHORT_ERR_GONE,
                "site %u (locality %u) has left the communicator after generation %" PRIu64, site,
                comm->group->membership->locality_of[site], message->last_called);
        break;
    case COHORT__ANSWER_FAILED:
        cohort__operation_fail(operation, &message->error);
        break;
    case COHORT__ANSWER_MISMATCH:
        fail_mismatch(operation, site, &message->error);
        break;
    default:
        break;
    }
}

void cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message)
{
    if (message->generation == 0) {
        cohort__channels_receive(comm, message);
    } else if (message->kind == COHORT__KIND_ASK) {
        answer_ask(comm, message);
        cohort__message_release(message);
    } else if (message->kind == COHORT__KIND_ANSWER) {
        take_answer(comm, message);
        cohort__message_release(message);
    } else {
        receive_step(comm, message);
    }
}

/* Hands in the early messages for GENERATION, which has just started, or agreed, or failed. */
void cohort__endpoint_unpark(struct cohort_comm *comm, uint64_t generation)
{
    struct cohort__list *list = &comm->slots[generation % COHORT__WINDOW].parked;
    if (cohort__list_is_empty(list))
        return;
    struct cohort__list mine, *next, *link;
    cohort__list_init(&mine);
    for (link = list->next; link != list; link = next) {
        next = link->next;
        if (COHORT_CONTAINER_OF(link, struct cohort__message, parked)->generation != generation)
            continue;
        take_out(comm, COHORT_CONTAINER_OF(link, struct cohort__message, parked));
        cohort__list_push_back(&mine, link);
    }
    while ((link = cohort__list_pop_front(&mine)))
        cohort__endpoint_receive(comm, COHORT_CONTAINER_OF(link, struct cohort__message, parked));
}

/* Tells the sources of early messages that this site has left out their generation. */
void cohort__endpoint_sweep_below(struct cohort_comm *comm, uint64_t generation)
{
    for (uint32_t i = 0; i < COHORT__WINDOW; i++) {
        struct cohort__list *list = &comm->slots[i].parked, *next;
        for (struct cohort__list *link = list->next; link != list; link = next) {
            next = link->next;
            struct cohort__message *message =
                COHORT_CONTAINER_OF(link, struct cohort__message, parked);
            if (message->generation >= generation ||
                !cohort__history_skipped(&comm->history, message->generation))
                continue;
            take_out(comm, message);
            cohort__endpoint_receive(comm, message);
        }
    }
}

void cohort__endpoint_release_parked(struct cohort_comm *comm)
{
    struct cohort__list *list, *link;
    for (uint32_t i = 0; i < COHORT__WINDOW; i++)
        for (list = &comm->slots[i].parked; (link = list->next) != list;) {
            struct cohort__message *message =
                COHORT_CONTAINER_OF(link, struct cohort__message, parked);
            take_out(comm, message);
            cohort__endpoint_receive(comm, message);
        }
}
