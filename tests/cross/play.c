/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/play.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cohort/cohort.h>

#include "runtime/base/hash.h"
#include "tests/cross/simulation.h"
#include "tests/cross/stage.h"
#include "tests/support/scarce.h"
#include "tests/support/state.h"
#include "tests/support/test.h"

/* Why no program waits for ever, if the library is right: an actor waits only for what the others
 * have to do in the same step or in earlier ones, except for what somebody leaves out. For that all
 * wait at the end, and there each gives its endpoint back as soon as nothing of its own is in
 * flight on it, but not before all else is over. */

enum { MAX_FLIGHTS = 2 * MAX_STEPS, MOST_IN_FLIGHT = 8, MOST_ELEMENTS = 10000 };
/* So long nothing takes; on threads, within a sanitizer, beside other work. */
static const uint64_t LIMIT = UINT64_C(30000000000), REAL_LIMIT = UINT64_C(100000000000);
static const uint64_t PATIENCE = UINT64_C(1000000000);
static const uint64_t GRACE = UINT64_C(2000000000); /* of cohortrun, for those whose job is over */

struct actor {
    struct world *world;
    uint32_t index;
    uint32_t step; /* where it is */
    cohort_comm *comms[MAX_GROUPS];
    struct flight flights[MAX_FLIGHTS];
    uint32_t num_flights;
};

/* The trace ---------------------------------------------------------------------------------- */

static uint64_t sum;
static bool is_shown;

void trace_show(void)
{
    is_shown = true;
}

uint64_t trace_sum(void)
{
    return sum;
}

void trace(const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (!simulation_means.has_threads) {
        sum = cohort__hash_mix(sum, simulation_time());
        sum = cohort__hash_mix(sum, cohort__hash_bytes(text, strlen(text)));
    }
    if (is_shown)
        printf("%12llu %s\n", (unsigned long long)simulation_time(), text);
}

/* Waiting ------------------------------------------------------------------------------------ */

/* What is drawn for ACTOR in STEP, as number WHICH of such things. */
static uint32_t drawn(const struct actor *actor, const struct step *step, uint32_t which,
                      uint32_t limit)
{
    if (step->timing == 0)
        return 0;
    uint64_t hash = cohort__hash_mix(step->timing, actor->index * 128 + which);
    return (uint32_t)(hash >> 8) % limit;
}

static void yield(uint32_t num)
{
    YIELD_WHILE(num-- > 0);
}

/* Whether STATUS is due to an allocation that has failed, and not to the program. */
static bool is_shortage(cohort_status status)
{
    return status == COHORT_ERR_NO_MEMORY && scarce_has_failed();
}

static void nap(uint64_t microseconds)
{
    cohort_status status = cohort_await(cohort_sleep(microseconds * 1000));
    CHECK(status == COHORT_OK || is_shortage(status));
}

/* What is the test's own is there. */
static void *own_memory(size_t bytes)
{
    scarce_pause();
    void *memory = malloc(bytes);
    scarce_go_on();
    CHECK(memory);
    return memory;
}

/* Flights ------------------------------------------------------------------------------------ */

/* Who waits until an endpoint is idle waits for what is begun meanwhile, too. */
static void give_up_idle(struct actor *actor, const struct flight *hopeless)
{
    for (struct flight *flight = actor->flights; flight < hopeless; flight++)
        if (flight->kind == FLIGHT_IDLE && flight->step->group == hopeless->step->group)
            flight->is_hopeless = true;
}

static struct flight *fly(struct actor *actor, enum flight_kind kind, uint32_t number,
                          uint32_t site)
{
    CHECK(actor->num_flights < MAX_FLIGHTS);
    struct flight *flight = &actor->flights[actor->num_flights++];
    const struct program *program = actor->world->program;
    const struct step *step = &program->steps[number];
    *flight = (struct flight){
        .kind = kind, .world = actor->world, .step = step, .number = number, .site = site};
    flight->knew = actor->world->facts->groups[step->group].knows >> site & 1;
    const struct group *group = &program->groups[step->group];
    /* A get from any site fails when some other one dies, and nobody gets what is set for it; and
     * it waits on where the setter has got no endpoint, and others have. */
    bool is_any = step->verb == VERB_MESSAGE && program_gets_any(step);
    /* And who revokes and dies may have told some only. */
    bool is_at_risk = (program->victims || program->has_accidents) && (is_any || group->is_revoked);
    is_at_risk |= is_any && group->is_fragile;
    /* Where the job ends with the first death, some sites of it may not be there to take part. */
    is_at_risk |= program->victims && !program->keeps_going && group->is_fragile;
    /* What is to be taken back stays where a locality has no memory for that. */
    is_at_risk |= program->num_gaps > 0 && step->absent != NONE;
    bool ends_without_all = step->trouble == TROUBLE_SCOPE && !program_needs_all(step->verb);
    flight->is_hopeless = step->trouble == TROUBLE_SKIPPED || ends_without_all || is_at_risk;
    if (flight->is_hopeless)
        give_up_idle(actor, flight);
    return flight;
}

/* Its rows end, too, and each that has come is there, perhaps before the call is over. */
static void finish_rows(struct actor *actor, struct flight *flight)
{
    for (uint32_t row = 0; row < RANDOM_SITES; row++) {
        cohort_future *future = flight->call.rows[row];
        flight->call.rows[row] = NULL;
        if (future)
            oracle_check_row(actor->world, flight, row, cohort_await(future));
    }
}

/* Where there are threads, others may hear of one who leaves when it is just about to die. */
static void leave(struct actor *actor, uint32_t group, uint32_t site)
{
    trace("actor %u leaves group %u", actor->index, group);
    if (simulation_means.has_threads || !oracle_is_dead(actor->world, actor->index))
        learn(&actor->world->facts->groups[group].left, site);
    cohort_comm_unref(actor->comms[group]);
    actor->comms[group] = NULL;
}

/* Who has no memory for its part in a step gives up, so that nobody waits for it: it revokes the
 * communicator, and leaves it. */
static void look_at(struct actor *actor, uint32_t number, uint32_t site, cohort_status status)
{
    uint32_t group = actor->world->program->steps[number].group;
    if (!is_shortage(status))
        return;
    learn(&actor->world->facts->steps[number].skipped, site);
    cohort_comm *comm = actor->comms[group];
    if (!comm)
        return;
    trace("actor %u gives up group %u", actor->index, group);
    learn(&actor->world->facts->groups[group].is_revoked, site);
    for (uint32_t i = 0; i <= MAX_GAPS && is_shortage(cohort_await(cohort_comm_revoke(comm))); i++)
        yield(1);
    if (actor->comms[group])
        leave(actor, group, site);
}

/* What has been shrunk further than the program expects is of no use for anybody. */
static void take_made(struct actor *actor, const struct flight *flight)
{
    uint32_t group = flight->step->made[flight->site];
    if (cohort_comm_num_sites(flight->made) == actor->world->program->groups[group].num_sites)
        actor->comms[group] = flight->made;
    else
        cohort_comm_unref(flight->made);
}

/* What FLIGHT has is given back as soon as its future is complete, for whoever finds those who use
 * it longer. */
static void end(struct actor *actor, struct flight *flight, cohort_status status)
{
    const char *message = status ? cohort_error_message() : "";
    cohort_comm *comm = actor->comms[flight->step->group];
    flight->num_failed = comm ? cohort_comm_failed(comm, NULL, 0) : NONE;
    oracle_check(actor->world, flight, status, message);
    learn(&actor->world->facts->steps[flight->number].over, flight->site);
    flight->status = status;
    flight->is_over = true;
    for (uint32_t i = 0; flight->kind == FLIGHT_IDLE && !status && i < flight->num_before; i++) {
        const struct flight *before = &actor->flights[i];
        if (before->step->group == flight->step->group && is_in_flight(before) &&
            has_comm(before) && !cohort_future_ready(before->future))
            FAIL("idle, but step %u is in flight at site %u", before->number, before->site);
    }
    if (flight->kind == FLIGHT_CALL) {
        finish_rows(actor, flight);
        if (!status && !(actor->world->facts->done >> actor->index & 1))
            memory_check_inputs(actor->world, flight, oracle_needed(actor->world, flight));
        random_site_fini(&flight->call);
    }
    if (flight->made && status == COHORT_OK)
        take_made(actor, flight);
    free(flight->data);
    flight->data = NULL;
    free(flight->lying.array);
    random_lying_fini(&flight->lying);
    flight->lying = (struct random_lying){0};
    cohort_object_fini(&flight->object);
    cohort_objects_fini(flight->everywhere, MAX_LOCALITIES);
    if (flight->kind != FLIGHT_REMOTE)
        look_at(actor, flight->number, flight->site, status);
}

static void end_ready(struct actor *actor)
{
    for (uint32_t i = 0; i < actor->num_flights; i++)
        if (is_in_flight(&actor->flights[i]) && cohort_future_ready(actor->flights[i].future))
            end(actor, &actor->flights[i], cohort_await(actor->flights[i].future));
}

/* Where memory may be lacking, FLIGHT may wait for those who wait until this actor gives up
 * something else. */
static void look_around(struct actor *actor, const struct flight *flight)
{
    while (actor->world->program->num_gaps > 0 && !flight->is_over &&
           !cohort_future_ready(flight->future)) {
        end_ready(actor);
        nap(20);
    }
}

/* FLIGHT together with others that are waited for anyway. Where memory may be lacking, these may
 * wait for what this actor gives up. */
static void await_together(struct actor *actor, const struct flight *flight, enum combine how)
{
    cohort_future *futures[MAX_FLIGHTS] = {flight->future};
    uint32_t num = 1;
    for (uint32_t i = 0; actor->world->program->num_gaps == 0 && i < actor->num_flights; i++) {
        const struct flight *other = &actor->flights[i];
        if (other != flight && is_in_flight(other) && (how == COMBINE_ANY || !other->is_hopeless))
            futures[num++] = other->future;
    }
    combine_await(futures, num, how, drawn(actor, flight->step, 123, MAX_FLIGHTS));
}

/* Awaits FLIGHT, by itself or together with others. */
static void finish(struct actor *actor, struct flight *flight)
{
    enum combine how = (enum combine)drawn(actor, flight->step, 122, 2 * NUM_COMBINES);
    look_around(actor, flight);
    if (flight->is_over)
        return;
    if (drawn(actor, flight->step, 3, 2))
        finish_rows(actor, flight);
    if (how > COMBINE_NONE && how < NUM_COMBINES)
        await_together(actor, flight, how);
    end(actor, flight, cohort_await(flight->future));
}

/* Some of what is in flight, the newest ones first or the oldest ones. */
static void finish_some(struct actor *actor, const struct step *step)
{
    uint32_t num = 0, num_flights = actor->num_flights, is_back = drawn(actor, step, 4, 2);
    for (uint32_t i = 0; i < num_flights; i++)
        num += is_in_flight(&actor->flights[i]) && !actor->flights[i].is_hopeless;
    for (uint32_t i = 0; i < num_flights; i++) {
        struct flight *flight = &actor->flights[is_back ? num_flights - 1 - i : i];
        if (!is_in_flight(flight) || flight->is_hopeless)
            continue;
        if (num > MOST_IN_FLIGHT || drawn(actor, step, 6 + i, 2) == 0) {
            finish(actor, flight);
            num--;
        }
    }
}

/* Steps -------------------------------------------------------------------------------------- */

static void cancel(struct actor *actor, uint32_t number, uint32_t site)
{
    const struct step *step = &actor->world->program->steps[number];
    if (!actor->comms[step->group])
        return;
    learn(&actor->world->facts->steps[number].is_cancelled, site);
    trace("actor %u takes generation %llu back", actor->index,
          (unsigned long long)step->generation);
    cohort_status status = cohort_comm_cancel(actor->comms[step->group], step->generation);
    CHECK(status == COHORT_OK || is_shortage(status));
    look_at(actor, number, site, status);
}

static void call(struct actor *actor, struct flight *flight)
{
    const struct step *step = flight->step;
    struct world *world = actor->world;
    struct step_facts *facts = &world->facts->steps[flight->number];
    bool is_culprit = step->culprit == flight->site;
    flight->call = (struct random_site){
        .call = &step->call, .site = flight->site, .generation = step->generation};
    if (step->form > 0) {
        uint64_t form = cohort__hash_mix(step->form, flight->site);
        flight->call.is_in_place = form % 3 == 0;
        flight->call.skew = form >> 40 & 1 ? form >> 41 & 15 : 0;
        flight->call.layouts = form >> 8 & 1 ? 1 + (form >> 16 & 1023) : 0;
        flight->call.has_rows = form >> 32 & 1;
        const uint32_t locality = world->program->locality_of[actor->index];
        if (form >> 50 & 1)
            flight->call.memory =
                form >> 51 & 1
                    ? (struct random_memory){memory_alloc, memory_free, locality}
                    : (struct random_memory){stage_memory_alloc, stage_memory_free, locality};
    }
    /* Where a site is absent, the culprit's own call may end without that one. */
    if (step->trouble == TROUBLE_DEADLINE && (is_culprit || step->absent != NONE))
        flight->call.deadline = (1 + step->moment) * 50000;
    if (flight->call.deadline > 0)
        learn(&facts->has_deadline, flight->site);
    learn(&facts->begun, flight->site);
    trace("actor %u calls in step %u", actor->index, flight->number);
    scarce_pause();
    random_site_prepare(&flight->call, world->inputs[flight->number][flight->site]);
    scarce_go_on();
    memory_tell_input(flight);
    hooks_forget();
    random_site_call(&flight->call, actor->comms[step->group]);
    flight->begun = hooks_begun();
    flight->future = flight->call.done;
    for (uint32_t row = 0; random_site_takes_rows(&flight->call) && row < step->call.num_sites;
         row++)
        CHECK(flight->call.rows[row]);
}

/* What a remote task runs. */
static cohort_status echo(const cohort_object *in, cohort_object *ret_out, void *context)
{
    yield((uint32_t)in->bytes % 7);
    if (in->bytes % 3 == 1)
        (void)!cohort_await(cohort_sleep(300000));
    if (cohort_cancelled())
        return cohort_fail(COHORT_ERR_CANCELLED, "the scope is cancelled");
    ret_out->bytes = in->bytes;
    ret_out->data = own_memory(in->bytes + 1);
    if (in->bytes > 0)
        memcpy(ret_out->data, in->data, in->bytes);
    return COHORT_OK;
}

void play_register(void)
{
    CHECK_OK(cohort_remote_register("echo", echo, NULL));
    errands_register();
}

static void fill(struct flight *flight)
{
    flight->data = own_memory(flight->step->bytes + 1);
    for (size_t at = 0; at < flight->step->bytes; at++)
        flight->data[at] = oracle_byte(flight->number, at);
}

static void call_remote(struct actor *actor, struct flight *flight)
{
    const struct program *program = actor->world->program;
    fill(flight);
    learn(&actor->world->facts->steps[flight->number].begun, flight->site);
    trace("actor %u calls locality %u", actor->index, flight->step->to);
    const cohort_object in = {flight->data, flight->step->bytes};
    uint32_t here = program->locality_of[actor->index];
    flight->future = flight->step->verb == VERB_EVERYWHERE
                         ? stage_async_everywhere(here, "echo", &in, flight->everywhere)
                         : stage_async_at(here, flight->step->to, "echo", &in, &flight->object);
}

static uint64_t tag_of(const struct flight *flight)
{
    return flight->step->has_own_tag ? 1000 + flight->number : 7;
}

/* The elements of a message that lies as a layout says. */
static cohort_datatype element_of(const struct step *step)
{
    static const size_t sizes[] = {8, 4, 40, 1};
    size_t bytes = sizes[step->form % 4];
    bool fits = step->bytes % bytes == 0 && step->bytes / bytes <= MOST_ELEMENTS;
    return cohort_datatype_of_bytes(fits ? bytes : 8);
}

/* An array for FLIGHT's message, with what is at DATA if that is not NULL. */
static void lay_out(struct flight *flight, const unsigned char *data)
{
    struct random_lying *lying = &flight->lying;
    size_t element = cohort_datatype_size(element_of(flight->step));
    scarce_pause();
    struct cohort__random random =
        cohort__random_seeded(cohort__hash_mix(flight->step->form, flight->kind));
    lying->num = flight->step->bytes / element;
    lying->layout = random_layout(&random, lying->num, &lying->places);
    random_lying_make_array(lying, element);
    if (data)
        random_lying_put(lying, data, lying->num);
    scarce_go_on();
}

/* The call has returned. */
static void forget_layout(struct flight *flight)
{
    cohort_layout_unref(flight->lying.layout);
    flight->lying.layout = NULL;
}

static void set(struct actor *actor, struct flight *flight)
{
    const struct step *step = flight->step;
    cohort_comm *comm = actor->comms[step->group];
    uint64_t tag = tag_of(flight);
    fill(flight);
    if (!step->sets_layout) {
        flight->future = cohort_channel_set(comm, step->to, tag, flight->data, step->bytes);
        return;
    }
    lay_out(flight, flight->data);
    flight->future = cohort_channel_set_layout(comm, step->to, tag, flight->lying.array,
                                               flight->lying.layout, element_of(step));
    forget_layout(flight);
}

static void get_by_layout(cohort_comm *comm, struct flight *flight, uint32_t from)
{
    lay_out(flight, NULL);
    flight->future =
        cohort_channel_get_layout(comm, from, tag_of(flight), flight->lying.array,
                                  flight->lying.layout, element_of(flight->step), &flight->from);
    forget_layout(flight);
}

static void get(struct actor *actor, struct flight *flight)
{
    const struct step *step = flight->step;
    uint64_t tag = tag_of(flight);
    cohort_comm *comm = actor->comms[step->group];
    flight->data = own_memory(step->bytes + 1);
    if (program_gets_any(step) && drawn(actor, step, 121, 2))
        flight->num_acknowledged = cohort_comm_acknowledge(comm, UINT32_MAX);
    switch (step->getter) {
    case GET_OBJECT:
        flight->future = cohort_channel_get_object(comm, step->from, tag, &flight->object);
        break;
    case GET_ANY_OBJECT:
        flight->future = cohort_channel_get_any_object(comm, tag, &flight->object, &flight->from);
        break;
    case GET_LAYOUT:
    case GET_ANY_LAYOUT:
        get_by_layout(comm, flight, step->getter == GET_LAYOUT ? step->from : COHORT_ANY_SITE);
        break;
    case GET_ANY:
        flight->future = cohort_channel_get_any(comm, tag, flight->data, step->bytes,
                                                &flight->bytes, &flight->from);
        break;
    default:
        flight->future =
            cohort_channel_get(comm, step->from, tag, flight->data, step->bytes, &flight->bytes);
        break;
    }
}

static void make(struct actor *actor, struct flight *flight)
{
    const struct step *step = flight->step;
    cohort_comm *comm = actor->comms[step->group];
    uint32_t number = step->made[flight->site];
    trace("actor %u makes group %u", actor->index, number);
    if (step->verb == VERB_SHRINK)
        flight->future = cohort_comm_shrink(&flight->made, comm);
    else if (step->verb == VERB_DUP)
        flight->future = cohort_comm_dup(&flight->made, comm, step->generation);
    else if (step->verb == VERB_SPLIT_LEVEL && step->form == 0)
        flight->future =
            cohort_comm_split_level(&flight->made, comm, (cohort_level)step->to, step->generation);
    else if (step->verb == VERB_SPLIT_LEVEL)
        flight->future = cohort_comm_split_named_level(
            &flight->made, comm, cohort_comm_level_name(comm, step->to), step->generation);
    else
        flight->future = cohort_comm_split(&flight->made, comm, (int32_t)number % 2,
                                           (int32_t)actor->world->program->groups[number].num_sites,
                                           step->generation);
}

static void agree(struct actor *actor, struct flight *flight)
{
    flight->future =
        cohort_comm_agree(actor->comms[flight->step->group],
                          cohort__hash_mix(flight->number, flight->site), &flight->agreed);
}

static cohort_future *create(const struct actor *actor, uint32_t group, uint32_t site,
                             cohort_comm **ret_comm)
{
    const struct program *program = actor->world->program;
    cohort_comm_options options = program->groups[group].options;
    char name[32];
    options.this_site = site;
    snprintf(name, sizeof(name), "group %u", group);
    return stage_create_comm(program->locality_of[actor->index], ret_comm, name, &options);
}

static void start(struct actor *actor, struct flight *flight)
{
    learn(&actor->world->facts->steps[flight->number].begun, flight->site);
    switch (flight->kind) {
    case FLIGHT_REMOTE:
        call_remote(actor, flight);
        break;
    case FLIGHT_SET:
        set(actor, flight);
        break;
    case FLIGHT_GET:
        get(actor, flight);
        break;
    case FLIGHT_MAKE:
        make(actor, flight);
        break;
    case FLIGHT_AGREE:
        agree(actor, flight);
        break;
    case FLIGHT_SITES:
        flight->future = sites_start(flight);
        break;
    case FLIGHT_CREATE:
        flight->future =
            create(actor, flight->step->made[flight->site], flight->site, &flight->made);
        break;
    default:
        call(actor, flight);
        break;
    }
}

/* A call in a scope that is cancelled. */
struct scoped {
    struct actor *actor;
    struct flight *flight;
    _Atomic bool has_begun;
};

static cohort_status call_in_scope(void *arg)
{
    struct scoped *scoped = arg;
    scoped->has_begun = true;
    yield(scoped->flight->step->moment % 8 * 4); /* perhaps it is cancelled by then */
    start(scoped->actor, scoped->flight);
    end(scoped->actor, scoped->flight, cohort_await(scoped->flight->future));
    return COHORT_OK;
}

static void scope(struct actor *actor, struct flight *flight)
{
    struct step_facts *facts = &actor->world->facts->steps[flight->number];
    struct scoped scoped = {.actor = actor, .flight = flight};
    cohort_scope *scope;
    cohort_status status = cohort_scope_create(NULL, &scope);
    CHECK(status == COHORT_OK || is_shortage(status));
    if (!status) {
        status = cohort_scope_async(scope, call_in_scope, &scoped);
        CHECK(status == COHORT_OK || is_shortage(status));
        /* What has not begun by then never does. */
        while (!status && program_needs_all(flight->step->verb) && !scoped.has_begun)
            yield(1);
        yield(flight->step->moment / 2);
        learn(&facts->is_cancelled, flight->site);
        cohort_scope_cancel(scope);
        status = cohort_scope_await(scope);
        CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED || is_shortage(status));
    }
    if (facts->begun >> flight->site & 1) {
        CHECK(flight->is_over);
    } else if (program_needs_all(flight->step->verb)) {
        start(actor, flight); /* there was no memory for a scope */
    } else {
        learn(&facts->skipped, flight->site);
        flight->is_over = true;
    }
}

/* In a scope that is cancelled, if that is its site's trouble. */
static void start_scoped(struct actor *actor, struct flight *flight)
{
    const struct step *step = flight->step;
    if (step->trouble == TROUBLE_SCOPE && step->culprit == flight->site)
        scope(actor, flight);
    else
        start(actor, flight);
}

static void step_call(struct actor *actor, uint32_t number, uint32_t site)
{
    const struct step *step = &actor->world->program->steps[number];
    bool is_culprit = step->culprit == site;
    bool was_taken_back = is_culprit && step->trouble == TROUBLE_CANCEL_BEFORE;
    if (was_taken_back) {
        cancel(actor, number, site);
        yield(step->moment / 4);
    }
    if (!actor->comms[step->group])
        return;
    struct flight *flight = fly(actor, FLIGHT_CALL, number, site);
    flight->was_taken_back = was_taken_back;
    if (is_culprit && step->trouble == TROUBLE_SCOPE) {
        scope(actor, flight);
        return;
    }
    call(actor, flight);
    if (is_culprit && step->trouble == TROUBLE_CANCEL) {
        yield(step->moment / 4);
        cancel(actor, number, site);
    }
    if (is_culprit && step->trouble == TROUBLE_DROPPED) {
        cohort_future_unref(flight->future);
        flight->was_dropped = true; /* its memory is given back at the end */
    }
}

static void start_message(struct actor *actor, struct flight *flight)
{
    if (flight->step->from != flight->step->to)
        start_scoped(actor, flight);
    else
        start(actor, flight);
}

static void step_message(struct actor *actor, uint32_t number, uint32_t site)
{
    const struct step *step = &actor->world->program->steps[number];
    trace("actor %u in message of step %u", actor->index, number);
    if (site == step->from)
        start_message(actor, fly(actor, FLIGHT_SET, number, site));
    if (site == step->to && step->getter == GET_PROBED) {
        struct flight *probe = fly(actor, FLIGHT_PROBE, number, site);
        learn(&actor->world->facts->steps[number].begun, site);
        probe->future = cohort_channel_probe(actor->comms[step->group], step->from, tag_of(probe),
                                             &probe->bytes, &probe->from);
    }
    if (site == step->to)
        start_message(actor, fly(actor, FLIGHT_GET, number, site));
}

static bool may_fail(const struct actor *actor, uint32_t group)
{
    const struct group_facts *facts = &actor->world->facts->groups[group];
    return stage_dead() || facts->left || facts->is_revoked || scarce_has_failed() ||
           actor->world->program->groups[group].is_fragile;
}

static cohort_status set_all(const struct actor *actor, const struct step *step, uint64_t tag)
{
    cohort_future **futures = own_memory(BURST_MESSAGES * sizeof(cohort_future *));
    uint32_t *numbers = own_memory(BURST_MESSAGES * sizeof(*numbers));
    cohort_status first = COHORT_OK;
    for (uint32_t i = 0; i < BURST_MESSAGES; i++) {
        numbers[i] = i;
        futures[i] = cohort_channel_set(actor->comms[step->group], step->to, tag, &numbers[i],
                                        sizeof(numbers[i]));
    }
    for (uint32_t i = 0; i < BURST_MESSAGES; i++) {
        cohort_status status = cohort_await(futures[i]);
        first = first ? first : status;
    }
    CHECK(!first || may_fail(actor, step->group));
    free(futures);
    free(numbers);
    return first;
}

/* The next message. A death fails a get from any site, whoever it is, until it is acknowledged. */
static cohort_status get_next(const struct actor *actor, const struct step *step, uint64_t tag,
                              uint32_t *ret_number, uint32_t *ret_from)
{
    const struct world *world = actor->world;
    uint32_t setter = world->program->groups[step->group].actors[step->from];
    uint32_t num_known = 0, num_before;
    cohort_comm *comm = actor->comms[step->group];
    cohort_status status;
    /* A death that was acknowledged before does not end a get from any site, nor does it if the
     * setter has got no endpoint. */
    if (!program_gets_any(step) || oracle_is_dead(world, setter) ||
        world->program->groups[step->group].is_fragile)
        return cohort_await(
            cohort_channel_get(comm, step->from, tag, ret_number, sizeof(*ret_number), NULL));
    do {
        status = cohort_await(
            cohort_channel_get_any(comm, tag, ret_number, sizeof(*ret_number), NULL, ret_from));
        num_before = num_known;
        if (status == COHORT_ERR_PEER_DIED && !oracle_is_dead(world, setter))
            num_known = cohort_comm_acknowledge(comm, UINT32_MAX);
    } while (num_known > num_before);
    return status;
}

static cohort_status get_all(const struct actor *actor, const struct step *step, uint64_t tag)
{
    cohort_status status = COHORT_OK;
    uint32_t number = 0, from = step->from;
    for (uint32_t next = 0; !status && next < BURST_MESSAGES; next = number + 1) {
        status = get_next(actor, step, tag, &number, &from);
        /* One that there was no memory for is left out. */
        bool may_miss = scarce_has_failed() && number < BURST_MESSAGES;
        CHECK(status || (from == step->from && (may_miss ? number >= next : number == next)));
    }
    CHECK(!status || may_fail(actor, step->group));
    return status;
}

/* Who sets does not wait for who gets. But a job that does not keep going may end before all have
 * heard of a revocation, so that one fails and the other one waits. */
static void step_burst(struct actor *actor, uint32_t number, uint32_t site)
{
    const struct program *program = actor->world->program;
    const struct step *step = &program->steps[number];
    if ((program->victims || program->has_accidents) && !program->keeps_going &&
        program->groups[step->group].is_revoked)
        return;
    trace("actor %u in burst of step %u", actor->index, number);
    if (site == step->from)
        look_at(actor, number, site, set_all(actor, step, 1000 + number));
    if (site == step->to && actor->comms[step->group])
        look_at(actor, number, site, get_all(actor, step, 1000 + number));
}

static void step_remote(struct actor *actor, uint32_t number, uint32_t site)
{
    struct flight *flight = fly(actor, FLIGHT_REMOTE, number, site);
    if (flight->step->trouble == TROUBLE_SCOPE)
        scope(actor, flight);
    else
        call_remote(actor, flight);
}

static void step_tasks(const struct actor *actor, const struct step *step)
{
    trace("actor %u plays tasks of form %u", actor->index, step->form);
    tasks_play(step->form);
}

static void step_idle(struct actor *actor, uint32_t number, uint32_t site)
{
    bool is_hopeless = false;
    struct flight *flight = fly(actor, FLIGHT_IDLE, number, site);
    flight->num_before = actor->num_flights - 1;
    for (uint32_t i = 0; i < flight->num_before; i++)
        is_hopeless |= actor->flights[i].is_hopeless && is_in_flight(&actor->flights[i]);
    flight->is_hopeless = is_hopeless;
    flight->future = cohort_comm_idle(actor->comms[flight->step->group]);
}

/* Whether all who live create it again, since FLIGHT has failed: it was taken back, or somebody
 * else has died meanwhile. */
static bool creates_again(const struct actor *actor, const struct flight *flight)
{
    const struct program *program = actor->world->program;
    const struct group *group = &program->groups[flight->step->group];
    bool is_passing = flight->status == COHORT_ERR_CANCELLED ||
                      (flight->status == COHORT_ERR_PEER_DIED && program->keeps_going);
    return is_passing && !program_sites_in(program, group, stage_dead());
}

/* This site waits, as the others may need it to create it again. */
static void step_create(struct actor *actor, uint32_t number, uint32_t site)
{
    struct flight *flight = fly(actor, FLIGHT_CREATE, number, site);
    trace("actor %u creates group %u", actor->index, flight->step->made[site]);
    start_scoped(actor, flight);
    if (!flight->is_over)
        finish(actor, flight);
    while (creates_again(actor, flight)) {
        flight = fly(actor, FLIGHT_CREATE, number, site);
        flight->is_again = true;
        start(actor, flight);
        finish(actor, flight);
    }
}

static void step_ask(struct actor *actor, uint32_t number, uint32_t site)
{
    trace("actor %u asks in step %u", actor->index, number);
    cohort_status status = ask_all(actor->world, number, site,
                                   actor->comms[actor->world->program->steps[number].group],
                                   actor->flights, actor->num_flights);
    CHECK(!status || is_shortage(status));
}

static void revoke_group(struct actor *actor, uint32_t number, uint32_t site)
{
    uint32_t group = actor->world->program->steps[number].group;
    trace("actor %u revokes group %u", actor->index, group);
    learn(&actor->world->facts->groups[group].is_revoked, site);
    cohort_status status = cohort_await(cohort_comm_revoke(actor->comms[group]));
    bool may_end = stage_dead() && !actor->world->program->keeps_going;
    CHECK(status == COHORT_OK || is_shortage(status) ||
          oracle_is_dead(actor->world, actor->index) ||
          (status == COHORT_ERR_PEER_DIED && may_end));
    if (!status)
        learn(&actor->world->facts->groups[group].knows, site);
    look_at(actor, number, site, status);
}

static void die(uint32_t victim)
{
    trace("locality %u dies", victim);
    stage_kill(victim);
}

/* Those who are to die before step NUMBER do so, as the program has it, also if who was to see to
 * that has died for want of memory. */
static void await_deaths(struct world *world, uint32_t number)
{
    for (uint32_t s = 0; s < number; s++) {
        const struct step *step = &world->program->steps[s];
        uint32_t culprit = world->program->groups[step->group].actors[step->culprit];
        while (step->verb == VERB_KILL && !(stage_dead() >> step->to & 1)) {
            if (oracle_is_dead(world, culprit))
                die(step->to);
            else
                nap(50);
        }
    }
}

/* Until the culprit's call is over, or will not be. */
static void await_culprits_call(const struct actor *actor, uint32_t number)
{
    const struct world *world = actor->world;
    const struct step *step = &world->program->steps[number];
    const struct step_facts *facts = &world->facts->steps[number];
    uint32_t culprit = world->program->groups[step->group].actors[step->culprit];
    while (!((facts->over | facts->skipped) >> step->culprit & 1) &&
           !oracle_is_dead(world, culprit) && !oracle_is_dead(world, actor->index))
        nap(50);
}

static void take(struct actor *actor, uint32_t number, uint32_t site)
{
    const struct step *step = &actor->world->program->steps[number];
    bool is_culprit = step->culprit == site;
    switch (step->verb) {
    case VERB_CALL:
        step_call(actor, number, site);
        break;
    case VERB_MESSAGE:
        step_message(actor, number, site);
        break;
    case VERB_BURST:
        step_burst(actor, number, site);
        break;
    case VERB_SPLIT:
    case VERB_SPLIT_LEVEL:
    case VERB_DUP:
    case VERB_SHRINK:
        start_scoped(actor, fly(actor, FLIGHT_MAKE, number, site));
        break;
    case VERB_AGREE:
        start_scoped(actor, fly(actor, FLIGHT_AGREE, number, site));
        break;
    case VERB_CREATE:
        step_create(actor, number, site);
        break;
    case VERB_ASK:
        step_ask(actor, number, site);
        break;
    case VERB_SITES:
        if (actor->index == program_caller(actor->world->program, actor->index))
            start_scoped(actor, fly(actor, FLIGHT_SITES, number, site));
        break;
    case VERB_IDLE:
        if (is_culprit)
            step_idle(actor, number, site);
        break;
    case VERB_LEAVE:
        if (is_culprit)
            leave(actor, step->group, site);
        break;
    case VERB_REMOTE:
    case VERB_EVERYWHERE:
        if (is_culprit)
            step_remote(actor, number, site);
        break;
    case VERB_ERRANDS:
        if (is_culprit)
            errands_play(actor->world, number, actor->world->program->locality_of[actor->index]);
        break;
    case VERB_TASKS:
        if (is_culprit)
            step_tasks(actor, step);
        break;
    case VERB_KILL:
        if (is_culprit)
            die(step->to);
        break;
    case VERB_MEMORY:
        if (is_culprit)
            memory_play(step, actor->index);
        break;
    default:
        if (is_culprit)
            revoke_group(actor, number, site);
        break;
    }
}

/* GROUP is used now, so it has to be there, if it is to be at all. */
static void finish_made(struct actor *actor, uint32_t group)
{
    for (uint32_t i = 0; i < actor->num_flights; i++) {
        struct flight *flight = &actor->flights[i];
        if (is_in_flight(flight) && flight->kind == FLIGHT_MAKE &&
            flight->step->made[flight->site] == group)
            finish(actor, flight);
    }
}

/* Whether ACTOR, at SITE, has no part in STEP. */
static bool leaves_out(const struct actor *actor, const struct step *step, uint32_t site)
{
    const struct program *program = actor->world->program;
    bool needs_comm = step->verb < VERB_REMOTE || step->verb == VERB_ASK;
    bool is_in_vain = (step->verb == VERB_CREATE &&
                       program_sites_in(program, &program->groups[step->group], stage_dead())) ||
                      (step->verb == VERB_SITES && stage_dead());
    return (needs_comm && !actor->comms[step->group]) || is_in_vain ||
           (site == step->absent && !program_needs_all(step->verb)) ||
           (site == step->culprit && step->trouble == TROUBLE_SKIPPED);
}

static void walk(struct actor *actor, uint32_t number)
{
    const struct step *step = &actor->world->program->steps[number];
    uint32_t site = program_site(&actor->world->program->groups[step->group], actor->index);
    if (site == NONE || oracle_is_dead(actor->world, actor->index))
        return;
    bool is_culprit = step->culprit == site;
    finish_made(actor, step->group);
    if (actor->world->program->num_gaps >
        0) /* who has not had its turn does not take another one */
        end_ready(actor);
    if (leaves_out(actor, step, site)) {
        learn(&actor->world->facts->steps[number].skipped, site);
        return;
    }
    if (site == step->absent)
        await_culprits_call(actor, number);
    static const uint32_t yields[] = {0, 0, 1, 3, 10, 30};
    yield(yields[drawn(actor, step, 1, 6)]);
    if (drawn(actor, step, 2, 8) == 7)
        nap(100 * (1 + drawn(actor, step, 5, 50)));
    if (is_culprit ? step->trouble == TROUBLE_LATE
                   : step->trouble == TROUBLE_DEADLINE &&
                         site == (step->culprit + 1) %
                                     actor->world->program->groups[step->group].num_sites)
        nap(1 + step->moment * 100);
    if (step->verb == VERB_SHRINK || step->verb == VERB_KILL)
        await_deaths(actor->world, number);
    if (oracle_is_dead(actor->world, actor->index))
        return;
    take(actor, number, site);
    finish_some(actor, step);
}

/* The end ------------------------------------------------------------------------------------ */

/* Messages, and who waits for these. And what is revoked or fragile where the job ends with the
 * first death: who has died may have told some of the revocation only, some may have no endpoint,
 * and it is the launcher that ends the others. */
static bool may_never_end(const struct actor *actor, const struct flight *flight)
{
    const struct program *program = actor->world->program;
    const struct group *group = &program->groups[flight->step->group];
    bool is_job_over = stage_dead() && !program->keeps_going;
    return (is_job_over && (group->is_revoked || group->is_fragile)) ||
           flight->kind == FLIGHT_SET || flight->kind == FLIGHT_GET ||
           flight->kind == FLIGHT_PROBE || flight->kind == FLIGHT_IDLE;
}

/* Whether ACTOR need not wait for FLIGHT. Nobody tells the dead, who may wait for each other. */
static bool may_leave(const struct actor *actor, const struct flight *flight)
{
    return oracle_is_dead(actor->world, actor->index) ||
           (flight->is_hopeless && may_never_end(actor, flight));
}

/* Whether something is in flight on GROUP. Without patience, what may not come does not count. */
static bool has_flights(const struct actor *actor, uint32_t group, bool is_patient)
{
    for (uint32_t i = 0; i < actor->num_flights; i++) {
        const struct flight *flight = &actor->flights[i];
        if (is_in_flight(flight) && flight->step->group == group &&
            (is_patient || !may_leave(actor, flight)))
            return true;
    }
    return false;
}

/* Whether all are at their end. Those who are dead may wait for each other. */
static bool are_all_done(const struct world *world)
{
    for (uint32_t i = 0; i < world->program->num_actors; i++)
        if (!(world->facts->done >> i & 1) && !oracle_is_dead(world, i))
            return false;
    return true;
}

/* Whether ACTOR has died before FLIGHT was over, which may be since others have died, too. */
static bool dies_waiting(const struct actor *actor, const struct flight *flight)
{
    const struct program *program = actor->world->program;
    bool is_victim = program->victims >> program->locality_of[actor->index] & 1;
    while (is_victim && !cohort_future_ready(flight->future)) {
        if (oracle_is_dead(actor->world, actor->index))
            return true;
        nap(200);
    }
    return false;
}

/* What somebody waits for ends without anybody leaving. */
static void finish_all(struct actor *actor)
{
    for (uint32_t i = 0; i < actor->num_flights; i++) {
        struct flight *flight = &actor->flights[i];
        if (is_in_flight(flight) && !flight->is_hopeless && !dies_waiting(actor, flight))
            finish(actor, flight);
    }
    learn(&actor->world->facts->done, actor->index);
    while (!are_all_done(actor->world))
        nap(200);
}

/* One may wait for the message of another who waits for the first one's call, which a scope has
 * left out: then both lose patience. */
static void come_home(struct actor *actor)
{
    const uint64_t begin = simulation_time();
    for (bool is_home = false; !is_home; nap(50)) {
        is_home = true;
        end_ready(actor);
        for (uint32_t g = 0; g < actor->world->program->num_groups; g++) {
            bool is_patient = simulation_time() - begin < PATIENCE;
            bool is_busy = has_flights(actor, g, is_patient);
            is_home &= !has_flights(actor, g, true);
            if (is_busy || !actor->comms[g])
                continue;
            if (is_patient)
                (void)!cohort_await(cohort_comm_idle(actor->comms[g]));
            leave(actor, g, program_site(&actor->world->program->groups[g], actor->index));
        }
    }
    for (uint32_t i = 0; i < actor->num_flights; i++)
        if (actor->flights[i].was_dropped) {
            finish_rows(actor, &actor->flights[i]);
            random_site_fini(&actor->flights[i].call);
        }
}

static cohort_status act(void *arg)
{
    struct actor *actor = arg;
    const struct program *program = actor->world->program;
    cohort_future *made[MAX_GROUPS];
    const uint32_t locality = program->locality_of[actor->index];
    bool is_caller = program_caller(program, actor->index) == actor->index;
    size_t num = 0;
    if (is_caller)
        memory_begin(locality);
    for (uint32_t g = 0; g < program->num_groups; g++) {
        const struct group *group = &program->groups[g];
        uint32_t site = program_site(group, actor->index);
        if (group->parent == NONE && site != NONE)
            made[num++] = create(actor, g, site, &actor->comms[g]);
    }
    CHECK_OK(cohort_await(cohort_when_all(made, num)));
    /* What goes wrong later goes wrong with communicators that are there. */
    if (++actor->world->facts->num_ready == program->num_actors) {
        stage_lose_link();
        scarce_begin_gaps(program->gaps, program->num_gaps);
    }
    YIELD_WHILE(actor->world->facts->num_ready < program->num_actors);
    for (actor->step = 0; actor->step < program->num_steps; actor->step++)
        walk(actor, actor->step);
    finish_all(actor);
    if (is_caller)
        memory_check_all(locality);
    come_home(actor);
    return COHORT_OK;
}

static struct world *world_create(const struct program *program)
{
    struct world *world = test_calloc(1, sizeof(*world));
    world->program = program;
    for (uint32_t s = 0; s < program->num_steps; s++)
        for (uint32_t site = 0;
             program->steps[s].verb == VERB_CALL && site < program->steps[s].call.num_sites; site++)
            world->inputs[s][site] = random_input(&program->steps[s].call, s + 1, site);
    stage_begin(program);
    world->facts = stage_facts();
    memory_init(world);
    return world;
}

static void world_destroy(struct world *world)
{
    for (uint32_t i = 0; i < world->program->num_localities; i++)
        if (stage_has(i))
            memory_end(i);
    stage_end();
    for (uint32_t s = 0; s < MAX_STEPS; s++)
        for (uint32_t site = 0; site < MAX_ACTORS; site++)
            free(world->inputs[s][site]);
    free(world);
}

static void print_hang(const struct actor *actors, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++) {
        if (!actors[i].world)
            continue;
        fprintf(stderr, "actor %u is at step %u; in flight:", i, actors[i].step);
        for (uint32_t f = 0; f < actors[i].num_flights; f++)
            if (is_in_flight(&actors[i].flights[f]))
                fprintf(stderr, " %u%s", actors[i].flights[f].number,
                        cohort_future_ready(actors[i].flights[f].future) ? " (complete)" : "");
        fputs("\n", stderr);
    }
    state_print();
}

/* Whether the job ends with a death, and a link may be lost then, or a message for want of memory:
 * who waits for that is ended by cohortrun. */
static bool will_be_killed(const struct program *program)
{
    return program->has_accidents && !program->keeps_going && stage_dead();
}

void play_end_as_killed(void)
{
    fflush(NULL);
    _exit(PLAY_KILLED);
}

/* Without memory a wait is over at once. */
static bool wait_for_end(const struct program *program, cohort_future *all)
{
    enum cohort_wait_end end = COHORT_WAIT_EXPIRED;
    const uint64_t limit = simulation_means.has_threads ? REAL_LIMIT : LIMIT;
    const uint64_t begin = simulation_time();
    uint64_t over = 0;
    while (end != COHORT_WAIT_COMPLETE && simulation_time() - begin < limit) {
        cohort_status status = cohort_wait(all, PATIENCE, &end);
        CHECK(status == COHORT_OK || is_shortage(status));
        if (over == 0 && will_be_killed(program))
            over = simulation_time();
        if (over > 0 && end != COHORT_WAIT_COMPLETE && simulation_time() - over > GRACE)
            play_end_as_killed();
    }
    return end == COHORT_WAIT_COMPLETE;
}

void play(const struct program *program)
{
    struct world *world = world_create(program);
    struct actor *actors = calloc(program->num_actors, sizeof(*actors));
    cohort_future *futures[MAX_ACTORS], *all;
    uint32_t num = 0;
    CHECK(actors);
    random_ops_init();
    if (program->has_hooks)
        hooks_set();
    simulation_begin(program->order);
    for (uint32_t i = 0; i < program->num_actors; i++) {
        if (!stage_has(program->locality_of[i]))
            continue;
        actors[i].world = world;
        actors[i].index = i;
        futures[num++] = cohort_async(act, &actors[i]);
    }
    all = cohort_when_all(futures, num);
    if (!wait_for_end(program, all)) {
        scarce_begin_gaps(NULL, 0);
        print_hang(actors, program->num_actors);
        FAIL("a hang");
    }
    CHECK_OK(cohort_await(all));
    sites_check_all(world);
    simulation_end();
    scarce_begin_gaps(NULL, 0);
    random_ops_fini();
    bool is_any_dead = stage_dead();
    world_destroy(world);
    if (!is_any_dead) /* whose calls may have no end */
        hooks_check_all();
    free(actors);
}
