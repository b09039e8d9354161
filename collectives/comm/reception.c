/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/reception.h"

#include <inttypes.h>

#include "collectives/comm/channel.h"
#include "collectives/comm/early.h"
#include "collectives/comm/endpoint_life.h"
#include "collectives/comm/fingerprint.h"
#include "collectives/comm/operation.h"
#include "collectives/comm/remote.h"

/* In the endpoint's turn: answers MESSAGE, and takes it. NUMBER: of a call that is IN_FLIGHT,
 * `absent` as in struct cohort__operation; of one that has LEFT_OUT messages, how many of
 * them. ERROR: why the call has FAILED, or what was called instead (MISMATCH). 0 and NULL with
 * the other answers. */
static void answer_with(struct cohort_comm *comm, struct cohort__message *message,
                        enum cohort__answer answer, uint32_t number,
                        const struct cohort__error *error)
{
    const uint32_t site = message->source_site;
    cohort__message_answer(message, comm->this_site, number, answer);
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
        cohort__operation_ask_anyway(operation, message->source_site,
                                     cohort__message_tag(compared, 0));
        cohort__message_release(message);
    } else if (is_too_early) {
        cohort__early_park(operation->comm, message);
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
        answer_with(comm, message, skipped ? COHORT__ANSWER_MOVED_PAST : COHORT__ANSWER_GONE, 0,
                    NULL);
    } else if (generation > comm->history.last || (waiting && generation >= waiting->generation)) {
        cohort__early_park(comm, message);
    } else {
        cohort__message_release(message); /* STALE: completed or failed here */
    }
}

/* The call that has ended here in the generation of ASK, if it was another one than ASK is about.
 * NULL: it was not, or it was too long ago to be remembered. */
static const struct cohort__signature *ended_differently(const struct cohort_comm *comm,
                                                         const struct cohort__message *ask)
{
    const struct cohort__ended *ended = &comm->window[ask->generation % COHORT__WINDOW].ended;
    bool differs = ended->generation == ask->generation &&
                   !cohort__fingerprint_fits(cohort__fingerprint(&ended->signature),
                                             ask->fingerprint, cohort__message_phase(ask->tag));
    return differs ? &ended->signature : NULL;
}

/* Takes ASK. */
static void answer_with_words(struct cohort_comm *comm, struct cohort__message *ask,
                              const struct cohort__signature *mine)
{
    char words[COHORT__SIGNATURE_TEXT];
    struct cohort__error error = {0};
    cohort__signature_describe(mine, words, sizeof(words));
    cohort__error_set(&error, COHORT_ERR_MISMATCH, "%s", words);
    answer_with(comm, ask, COHORT__ANSWER_MISMATCH, 0, &error);
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

/* Whose absence keeps OPERATION waiting, as far as it knows: the number + 1, or 0. */
static uint32_t find_absent(const struct cohort__operation *operation)
{
    if (operation->absent || operation->failure.status)
        return operation->absent;
    uint32_t site = operation->handlers->find_absent(operation);
    return site == COHORT__NO_SITE ? 0 : site + 1;
}

/* How many of the messages that ASK is about OPERATION never sends. A call that is wrong here has
 * no messages but those of the agreement, by which all will hear of it. */
static uint32_t num_left_out(struct cohort__operation *operation, const struct cohort__message *ask)
{
    const uint32_t num = ask->tag % (1U << COHORT__TAG_BITS);
    if (num == 0 || !operation->handlers->num_sends ||
        cohort__operation_is_before_agreement(operation))
        return 0;
    const uint32_t num_sends = operation->handlers->num_sends(operation, ask->source_site);
    return num > num_sends ? num - num_sends : 0;
}

/* Takes MESSAGE. */
static void answer_ask(struct cohort_comm *comm, struct cohort__message *message)
{
    uint64_t generation = message->generation;
    const uint32_t site = message->source_site;
    struct cohort__operation *operation = cohort__endpoint_find(comm, generation);
    const struct cohort__operation *waiting = cohort__endpoint_first_waiting(comm);
    enum cohort__answer answer = COHORT__ANSWER_COMPLETED;
    const struct cohort__signature *mine = operation ? &operation->signature : NULL;
    const struct cohort__failure *failure = cohort__endpoint_failure(comm, generation);
    const struct cohort__error *error = failure ? &failure->error : NULL;
    uint32_t number = 0;
    if (operation && operation->failure.status) {
        answer = answer_failed(message, operation->is_refused, operation->fingerprint);
        error = &operation->failure;
    } else if (operation && !cohort__fingerprint_fits(operation->fingerprint, message->fingerprint,
                                                      cohort__message_phase(message->tag))) {
        answer = COHORT__ANSWER_MISMATCH;
    } else if (is_gone(comm, generation)) {
        answer = COHORT__ANSWER_GONE;
    } else if (operation && (number = num_left_out(operation, message)) > 0) {
        answer = COHORT__ANSWER_LEFT_OUT;
    } else if (operation) {
        answer = COHORT__ANSWER_IN_FLIGHT;
        number = find_absent(operation);
    } else if (waiting && generation >= waiting->generation && generation <= comm->history.last) {
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
    if (answer != COHORT__ANSWER_MISMATCH) {
        answer_with(comm, message, answer, number, answer == COHORT__ANSWER_FAILED ? error : NULL);
        return;
    }
    struct cohort__error theirs = {0};
    cohort__error_copy(&theirs, &message->error);
    answer_with_words(comm, message, mine);
    if (operation)
        fail_mismatch(operation, site, &theirs);
    cohort__error_fini(&theirs);
}

/* Who is asked hands on what it has been told, so that who waits for a leader learns of its
 * followers. */
static void keep_absent(struct cohort__operation *operation, const struct cohort__message *message)
{
    uint32_t site = message->source_site, absent = 0;
    if (message->tag == COHORT__ANSWER_NOT_CALLED)
        absent = site + 1;
    else if (message->tag == COHORT__ANSWER_IN_FLIGHT &&
             message->fingerprint <= operation->comm->group->membership->num_sites)
        absent = (uint32_t)message->fingerprint;
    if (absent || operation->absent_by == site) {
        operation->absent = absent;
        operation->absent_by = site;
    }
}

static void take_answer(struct cohort_comm *comm, const struct cohort__message *message)
{
    struct cohort__operation *operation = cohort__endpoint_find(comm, message->generation);
    uint32_t site = message->source_site;
    if (!operation)
        return;
    cohort__questions_end(&operation->questions, site);
    switch ((enum cohort__answer)message->tag) {
    case COHORT__ANSWER_NOT_CALLED:
    case COHORT__ANSWER_IN_FLIGHT:
    case COHORT__ANSWER_COMPLETED:
        keep_absent(operation, message);
        operation->handlers->answer(operation, site, (enum cohort__answer)message->tag);
        break;
    case COHORT__ANSWER_MOVED_PAST:
        cohort__operation_fail_with(
            operation, COHORT_ERR_MOVED_PAST,
            "site %u (locality %u) has left out this generation; its last is %" PRIu64, site,
            comm->group->membership->locality_of[site], message->last_called);
        break;
    case COHORT__ANSWER_GONE:
        /* Who has left what is revoked has not gone by itself, and that will be known here, too. */
        if (cohort__operation_fail_if_broken(operation) || message->fingerprint > 0)
            break;
        cohort__operation_fail_with(
            operation, COHORT_ERR_GONE,
            "site %u (locality %u) has left the communicator after generation %" PRIu64, site,
            comm->group->membership->locality_of[site], message->last_called);
        cohort__endpoint_site_left(comm);
        break;
    case COHORT__ANSWER_FAILED:
        cohort__operation_fail(operation, &message->error);
        break;
    case COHORT__ANSWER_MISMATCH:
        fail_mismatch(operation, site, &message->error);
        break;
    case COHORT__ANSWER_LEFT_OUT:
        cohort__operation_fail_with(operation, COHORT_ERR_MISMATCH,
                                    "site %u (locality %u) has left out %u of the blocks that this "
                                    "site expects of it",
                                    site, comm->group->membership->locality_of[site],
                                    (unsigned)message->fingerprint);
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
    } else if (message->kind == COHORT__KIND_ANSWER) {
        take_answer(comm, message);
        cohort__message_release(message);
    } else {
        receive_step(comm, message);
    }
}
