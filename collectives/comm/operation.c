/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/operation.h"

#include "collectives/comm/site_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "collectives/comm/early.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/idle.h"
#include "collectives/comm/remote.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/trace.h"
#include "runtime/proc/send.h"
#include "runtime/task/future.h"
#include "runtime/wire/pack.h"

/* The calls of an endpoint: those in flight, which are in the window, and those that wait for
 * it. */

static struct cohort__operation **in_flight(struct cohort_comm *comm, uint64_t generation)
{
    return &comm->window[generation % COHORT__WINDOW].in_flight;
}

struct cohort__operation *cohort__endpoint_find(struct cohort_comm *comm, uint64_t generation)
{
    struct cohort__operation *operation = *in_flight(comm, generation);
    return operation && operation->generation == generation ? operation : NULL;
}

struct cohort__operation *cohort__endpoint_find_waiting(const struct cohort_comm *comm,
                                                        uint64_t generation)
{
    struct cohort__map_node *node =
        cohort__map_find(&comm->waiting_of, cohort__hash_u64(generation), NULL, NULL);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__operation, of_generation) : NULL;
}

/* OPERATION is in the list of those that wait. */
static void note_waiting(struct cohort_comm *comm, struct cohort__operation *operation)
{
    cohort__map_insert(&comm->waiting_of, &operation->of_generation,
                       cohort__hash_u64(operation->generation));
}

static void wait_no_more(struct cohort__operation *operation)
{
    cohort__list_remove(&operation->waiting);
    cohort__map_remove(&operation->comm->waiting_of, &operation->of_generation);
}

struct cohort__operation *cohort__endpoint_first_waiting(const struct cohort_comm *comm)
{
    return cohort__list_is_empty(&comm->waiting)
               ? NULL
               : COHORT_CONTAINER_OF(comm->waiting.next, struct cohort__operation, waiting);
}

static void count_in_flight(struct cohort_comm *comm, int change)
{
    uint32_t num = atomic_load_explicit(&comm->num_in_flight, memory_order_relaxed);
    atomic_store_explicit(&comm->num_in_flight, num + (uint32_t)change, memory_order_relaxed);
}

/* A verdict on GENERATION is under way, and its call does not start before it is known. */
static bool has_to_wait(const struct cohort_comm *comm, uint64_t generation)
{
    const struct cohort__message *mark = cohort__early_find_mark(comm, generation);
    return mark && mark->tag != COHORT__TAG_CALL;
}

/* Fails OPERATION in place of its start, if a verdict has refused its generation. */
static bool fail_if_refused(struct cohort_comm *comm, struct cohort__operation *operation)
{
    const struct cohort__message *mark = cohort__early_find_mark(comm, operation->generation);
    if (!mark)
        return false;
    operation->are_all_told = true;
    cohort__error_copy(&operation->failure, &mark->error);
    operation->handlers->fail(operation);
    return true;
}

static inline void put_in_slot(struct cohort_comm *comm, struct cohort__operation *operation)
{
    *in_flight(comm, operation->generation) = operation;
    if (comm->oldest == 0)
        comm->oldest = operation->generation;
    count_in_flight(comm, 1);
}

/* Messages are parked, for this generation or for another one of its place; or a mark is. The calls
 * that wait go first when it may start. */
__attribute__((noinline)) static void start_with_parked(struct cohort_comm *comm,
                                                        struct cohort__operation *operation)
{
    uint64_t generation = operation->generation;
    if (has_to_wait(comm, generation)) {
        cohort__list_push_front(&comm->waiting, &operation->waiting);
        note_waiting(comm, operation);
        return;
    }
    put_in_slot(comm, operation);
    if (!fail_if_refused(comm, operation))
        operation->handlers->start(operation);
    /* It may have ended by now. Then what was parked is stale. */
    cohort__early_hand_in(comm, generation);
}

/* Nothing is parked while it starts. */
static void start(struct cohort_comm *comm, struct cohort__operation *operation)
{
    if (comm->window[operation->generation % COHORT__WINDOW].num_parked > 0) {
        start_with_parked(comm, operation);
        return;
    }
    put_in_slot(comm, operation);
    operation->handlers->start(operation);
}

static bool fits_window(const struct cohort_comm *comm, uint64_t generation)
{
    return comm->oldest == 0 || generation < comm->oldest + COHORT__WINDOW;
}

void cohort__operation_refuse_waiting(struct cohort__operation *operation, cohort_future *stand_in,
                                      const struct cohort__error *error)
{
    cohort_future *real = operation->future;
    operation->future = stand_in;
    cohort_future_unref(stand_in);
    for (struct cohort__operation *part = operation; part; part = part->sequel)
        if (part->handlers->refused)
            part->handlers->refused(part, error);
    cohort__future_complete(real, error->status, error);
}

/* OPERATION waits for the window, perhaps for long. If its generation was refused, its
 * future completes now. Without memory for that it does when the call would start. */
static void look_at_mark(struct cohort_comm *comm, struct cohort__operation *operation)
{
    const struct cohort__message *mark = cohort__early_find_mark(comm, operation->generation);
    bool is_refused = mark && mark->tag == COHORT__TAG_CALL;
    cohort_future *stand_in = is_refused ? cohort__future_create() : NULL;
    if (stand_in)
        cohort__operation_refuse_waiting(operation, stand_in, &mark->error);
}

__attribute__((noinline)) static void put_in_line(struct cohort_comm *comm,
                                                  struct cohort__operation *operation)
{
    cohort__list_push_back(&comm->waiting, &operation->waiting);
    note_waiting(comm, operation);
    look_at_mark(comm, operation);
}

static void run_call(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    struct cohort__operation *operation = COHORT_CONTAINER_OF(item, struct cohort__operation, call);
    uint64_t expected = comm->history.last + 1;
    cohort__history_call(&comm->history, operation->generation);
    if (operation->generation != expected)
        cohort__early_sweep(comm, expected, operation->generation);
    if (cohort__list_is_empty(&comm->waiting) && fits_window(comm, operation->generation))
        start(comm, operation);
    else
        put_in_line(comm, operation);
}

/* Out of line, since it is mostly not needed. */
__attribute__((noinline, cold)) static void trace_call(const struct cohort__operation *operation)
{
    const struct cohort__signature *signature = &operation->signature;
    cohort__trace_write_more(0, COHORT__TRACE_CALL | (uint32_t)signature->collective << 8,
                             (uintptr_t)operation->comm, operation->generation,
                             signature->algorithm, signature->count, signature->place);
}

/* TEXT takes the name. */
static cohort_hook_call hook_call(const struct cohort__operation *operation,
                                  char text[static COHORT__SIGNATURE_TEXT])
{
    const struct cohort_comm *comm = operation->comm;
    cohort__signature_name(&operation->signature, text, COHORT__SIGNATURE_TEXT);
    return (cohort_hook_call){
        .name = text,
        .communicator = comm->group->name,
        .site = comm->this_site,
        .num_sites = comm->group->membership->num_sites,
        .generation = operation->generation,
        .in_bytes = operation->hooked.bytes.in,
        .out_bytes = operation->hooked.bytes.out,
    };
}

/* The caller's endpoint has the sizes, unless the hooks have been set during the call. */
__attribute__((noinline, cold)) static void hook_begin(struct cohort__operation *operation)
{
    struct cohort__hooked *hooked = &operation->hooked;
    char text[COHORT__SIGNATURE_TEXT];
    hooked->bytes = operation->comm->hook_bytes;
    operation->comm->hook_bytes.are_known = false;
    if (!hooked->bytes.are_known)
        return;
    const cohort_hook_call call = hook_call(operation, text);
    hooked->begun = cohort__hooks_begin(&call);
}

__attribute__((noinline, cold)) static void hook_end(const struct cohort__operation *operation,
                                                     cohort_status status)
{
    char text[COHORT__SIGNATURE_TEXT];
    if (!operation->hooked.bytes.are_known)
        return; /* it began before they were set */
    const cohort_hook_call call = hook_call(operation, text);
    cohort__hooks_end(&call, status, operation->hooked.begun);
}

static void tell_end(const struct cohort__operation *operation, cohort_status status)
{
    if (cohort__hooks_are_set())
        hook_end(operation, status);
    cohort__trace(COHORT__TRACE_ENDED, (uint32_t)status, (uintptr_t)operation->comm,
                  operation->generation, operation->signature.collective);
}

void cohort__operation_call(struct cohort__operation *operation)
{
    if (__builtin_expect(cohort__trace_is_on, 0))
        trace_call(operation);
    if (cohort__hooks_are_set())
        hook_begin(operation);
    operation->call.run = run_call;
    cohort__endpoint_post(operation->comm, &operation->call);
}

/* Nothing waits, or is parked for GENERATION: a verdict may have taken that back before it is
 * called. None before it is left out, whose marks would have to be swept. */
static bool is_idle_for(const struct cohort_comm *comm, uint64_t generation)
{
    return comm->oldest == 0 && cohort__list_is_empty(&comm->waiting) &&
           comm->window[generation % COHORT__WINDOW].num_parked == 0 &&
           generation == comm->history.last + 1 && !cohort__remote_may_be_lost(comm->group);
}

bool cohort__alone_begin(struct cohort_comm *comm, uint64_t generation)
{
    if (cohort__trace_is_on || cohort__hooks_are_set() || !cohort__actor_turn_begin(&comm->actor))
        return false;
    const bool is_idle = is_idle_for(comm, generation);
    if (!is_idle)
        cohort__actor_turn_end(&comm->actor);
    return is_idle;
}

void cohort__alone_end(struct cohort_comm *comm, uint64_t generation,
                       const struct cohort__signature *signature)
{
    cohort__history_call(&comm->history, generation);
    comm->window[generation % COHORT__WINDOW].ended =
        (struct cohort__ended){generation, *signature};
    cohort__site_line_end(comm, generation);
    cohort__actor_turn_end(&comm->actor);
}

/* In an item of its own, since an operation may end as soon as it starts. After a death all do, and
 * each makes room for the next one. */
static void run_resume(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    (void)item;
    struct cohort__operation *operation;
    uint32_t left = COHORT__ENDS_OF_A_TURN;
    for (; left > 0 && (operation = cohort__endpoint_first_waiting(comm)) &&
           fits_window(comm, operation->generation) && !has_to_wait(comm, operation->generation);
         left--) {
        wait_no_more(operation);
        start(comm, operation);
    }
    comm->resume_posted = false;
    comm->resumes_later = left == 0;
    if (comm->resumes_later)
        cohort__later_more(comm);
}

void cohort__endpoint_resume(struct cohort_comm *comm)
{
    if (!cohort__endpoint_first_waiting(comm) || comm->resume_posted || comm->resumes_later)
        return;
    comm->resume_posted = true;
    comm->resume.run = run_resume;
    cohort__endpoint_post(comm, &comm->resume);
}

void cohort__endpoint_resume_later(struct cohort_comm *comm)
{
    comm->resumes_later = false;
    cohort__endpoint_resume(comm);
}

static void remember_failure(struct cohort_comm *comm, const struct cohort__operation *operation)
{
    struct cohort__failure *failure = &comm->failures[comm->num_failures++ % COHORT__FAILURES];
    failure->generation = operation->generation;
    failure->fingerprint = operation->fingerprint;
    failure->is_refused = operation->is_refused;
    cohort__error_copy(&failure->error, &operation->failure);
}

const struct cohort__failure *cohort__endpoint_failure(const struct cohort_comm *comm,
                                                       uint64_t generation)
{
    for (uint32_t i = 0; i < COHORT__FAILURES; i++)
        if (comm->failures[i].generation == generation)
            return &comm->failures[i];
    return NULL;
}

static void find_oldest(struct cohort_comm *comm)
{
    uint64_t last = comm->oldest + COHORT__WINDOW;
    comm->oldest = 0;
    if (atomic_load_explicit(&comm->num_in_flight, memory_order_relaxed) == 0)
        return;
    for (uint64_t generation = last - COHORT__WINDOW + 1; generation < last; generation++)
        if (cohort__endpoint_find(comm, generation)) {
            comm->oldest = generation;
            return;
        }
}

/* OPERATION is over, its sequel is the call from now on. Returns that. */
__attribute__((noinline)) static struct cohort__operation *
go_on_with_sequel(struct cohort__operation *operation)
{
    struct cohort__operation *sequel = operation->sequel;
    const struct cohort__operation_handlers *handlers = sequel->handlers;
    *sequel = *operation;
    sequel->handlers = handlers;
    sequel->sequel = NULL;
    operation->handlers->release(operation);
    return sequel;
}

/* Gives back the memory of OPERATION, and completes its future. */
static void conclude(struct cohort__operation *operation)
{
    cohort_future *future = operation->future;
    struct cohort__error error = operation->failure; /* with its text */
    tell_end(operation, error.status);
    cohort__questions_fini(&operation->questions);
    operation->handlers->release(operation);
    cohort__future_complete(future, error.status, error.status ? &error : NULL);
    cohort__error_fini(&error);
}

void cohort__operation_ended(struct cohort__operation *operation)
{
    struct cohort_comm *comm = operation->comm;
    if (operation->failure.status) {
        remember_failure(comm, operation);
        cohort__later_count(comm, 1);
    }
    if (operation->has_left)
        operation->failure.status = COHORT_ERR_CANCELLED; /* the others have been told */
    if (__builtin_expect(operation->sequel != NULL, 0)) {
        operation = go_on_with_sequel(operation);
        *in_flight(comm, operation->generation) = operation;
        if (!operation->failure.status) {
            operation->handlers->start(operation);
            return;
        }
    }
    comm->window[operation->generation % COHORT__WINDOW].ended =
        (struct cohort__ended){operation->generation, operation->signature};
    *in_flight(comm, operation->generation) = NULL;
    count_in_flight(comm, -1);
    if (operation->generation == comm->oldest)
        find_oldest(comm);
    cohort__site_line_end(comm, operation->generation);
    if (cohort__endpoint_first_waiting(comm))
        cohort__endpoint_resume(comm); /* before who sees the end can ask what is under way */
    conclude(operation);
    cohort__endpoint_over(comm);
}

void cohort__operation_fail(struct cohort__operation *operation, const struct cohort__error *error)
{
    if (operation->failure.status)
        return; /* the first one wins */
    struct cohort_comm *comm = operation->comm;
    uint64_t generation = operation->generation;
    bool may_have_parked = cohort__operation_is_before_agreement(operation);
    cohort__error_copy(&operation->failure, error);
    operation->handlers->fail(operation);
    if (may_have_parked)
        cohort__early_hand_in(comm, generation); /* which drops it */
}

void cohort__operation_agree(struct cohort__operation *operation)
{
    operation->is_agreed = true;
    cohort__early_hand_in(operation->comm, operation->generation);
}

void cohort__call_error(const struct cohort_comm *comm, uint64_t generation,
                        const struct cohort__signature *signature, cohort_status status,
                        const char *why, struct cohort__error *ret_error)
{
    char what[COHORT__SIGNATURE_TEXT];
    cohort__signature_describe(signature, what, sizeof(what));
    cohort__error_set(ret_error, status,
                      "communicator \"%.60s\", generation %" PRIu64 ", site %u, %s: %s",
                      comm->group->name, generation, comm->this_site, what, why);
}

void cohort__operation_fail_with(struct cohort__operation *operation, cohort_status status,
                                 const char *format, ...)
{
    char why[COHORT__ERROR_BYTES];
    struct cohort__error error = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    cohort__call_error(operation->comm, operation->generation, &operation->signature, status, why,
                       &error);
    cohort__operation_fail(operation, &error);
    cohort__error_fini(&error);
}

bool cohort__operation_fail_if_broken(struct cohort__operation *operation)
{
    const struct cohort_comm *comm = operation->comm;
    if (!cohort__remote_may_be_lost(comm->group))
        return false; /* mostly */
    cohort_status status = cohort__remote_broken(comm->group);
    if (!status)
        return false;
    operation->are_all_told = true;
    cohort__operation_fail_with(operation, status, "%s", cohort_error_message());
    return true;
}

/* Names the lower site first. */
void cohort__operation_mismatch(const struct cohort__operation *operation, uint32_t other_site,
                                const char *theirs, struct cohort__error *error)
{
    const struct cohort_comm *comm = operation->comm;
    char mine[COHORT__SIGNATURE_TEXT];
    cohort__signature_describe(&operation->signature, mine, sizeof(mine));
    bool first = comm->this_site < other_site;
    cohort__error_set(
        error, COHORT_ERR_MISMATCH,
        "communicator \"%.60s\", generation %" PRIu64 ": site %u called %.144s, site %u called "
        "%.144s",
        comm->group->name, operation->generation, first ? comm->this_site : other_site,
        first ? mine : theirs, first ? other_site : comm->this_site, first ? theirs : mine);
}

struct cohort__message *cohort__operation_question(const struct cohort__operation *operation,
                                                   uint32_t tag)
{
    char words[COHORT__SIGNATURE_TEXT];
    struct cohort__message *message =
        cohort__message_create(COHORT__KIND_ASK, operation->comm->this_site, operation->generation,
                               operation->fingerprint, tag);
    if (!message)
        return NULL;
    cohort__signature_describe(&operation->signature, words, sizeof(words));
    cohort__error_set(&message->error, COHORT_ERR_MISMATCH, "%s", words);
    return message;
}

/* False: there is no memory. */
static bool ask(const struct cohort__operation *operation, uint32_t site, uint32_t tag)
{
    struct cohort__message *message = cohort__operation_question(operation, tag);
    if (message)
        cohort__mail_send(operation->comm->group, site, message, 0);
    return message != NULL;
}

void cohort__operation_ask(struct cohort__operation *operation, uint32_t site, uint32_t tag)
{
    const uint32_t num_sites = operation->comm->group->membership->num_sites;
    if (cohort__questions_begin(&operation->questions, num_sites, site) &&
        !ask(operation, site, tag))
        cohort__questions_end(&operation->questions, site); /* it will ask later */
}

void cohort__operation_ask_anyway(const struct cohort__operation *operation, uint32_t site,
                                  uint32_t tag)
{
    (void)ask(operation, site, tag); /* without memory: it will ask when it stalls */
}

/* The operation may be gone then. A site may leave because of a death before this endpoint has been
 * told of it. */
void cohort__operation_leave(struct cohort__operation *operation)
{
    const struct cohort_comm *comm = operation->comm;
    if (operation->failure.status || cohort__operation_fail_if_broken(operation))
        return;
    operation->has_left = true;
    cohort__operation_fail_with(operation, COHORT_ERR_GONE,
                                "site %" PRIu32 " (locality %" PRIu32
                                ") has left the communicator meanwhile",
                                comm->this_site, comm->group->rank);
}

/* Ends OPERATION, which has not started. */
void cohort__operation_abandon(struct cohort__operation *operation)
{
    wait_no_more(operation);
    cohort__error_set(&operation->failure, COHORT_ERR_CANCELLED,
                      "communicator \"%.60s\", generation %" PRIu64
                      ": site %u has left the communicator before it could start",
                      operation->comm->group->name, operation->generation,
                      operation->comm->this_site);
    conclude(operation->sequel ? go_on_with_sequel(operation) : operation);
}

void cohort__failure_tell_sites(struct cohort__group *group, const struct cohort__message *failure,
                                uint32_t source_site)
{
    for (uint32_t i = 0; i < group->local.num; i++) {
        uint32_t site = group->local.sites[i];
        if (site == source_site)
            continue;
        struct cohort__message *message =
            cohort__message_create(COHORT__KIND_ERROR, source_site, failure->generation,
                                   failure->fingerprint, COHORT__TAG_CALL);
        if (!message)
            return; /* without memory: the other sites will ask */
        cohort__error_copy(&message->error, &failure->error);
        cohort__group_deliver(group, site, message);
    }
}

/* Tells each other locality that has sites of the group. */
static void tell_localities(const struct cohort__operation *operation,
                            const struct cohort__packer *words)
{
    const struct cohort__group *group = operation->comm->group;
    const struct cohort__membership *membership = group->membership;
    struct cohort__process *process = group->commons->process;
    for (uint32_t i = 0; i < group->num_localities; i++) {
        uint32_t rank = membership->locality_of[cohort__group_first_site(group, i)];
        if (rank == group->rank)
            continue;
        cohort__send_control(process, rank,
                             &(struct cohort__envelope){
                                 .kind = COHORT__KIND_ERROR,
                                 .instance = membership->instance,
                                 .generation = operation->generation,
                                 .source_site = operation->comm->this_site,
                                 .dest_site = COHORT__NO_SITE,
                                 .fingerprint = operation->fingerprint,
                                 .tag = COHORT__TAG_CALL,
                             },
                             words->data, words->bytes);
    }
}

void cohort__failure_tell(struct cohort__operation *operation, bool is_for_all)
{
    struct cohort_comm *comm = operation->comm;
    if (operation->are_all_told || cohort__early_is_told(comm, operation->generation))
        return;
    const struct cohort__message failure = {.generation = operation->generation,
                                            .fingerprint = operation->fingerprint,
                                            .error = operation->failure};
    cohort__failure_tell_sites(comm->group, &failure, comm->this_site);
    operation->are_all_told = is_for_all; /* each segment of a call may come here */
    if (!is_for_all || comm->group->is_whole)
        return;
    struct cohort__packer words = {0};
    cohort__message_pack_error(&words, &operation->failure);
    if (!words.status) /* without memory for it, the other sites will ask */
        tell_localities(operation, &words);
    cohort__packer_fini(&words);
}
