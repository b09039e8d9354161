/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/hash.h"
#include "tests/cross/play.h"
#include "tests/cross/stage.h"
#include "tests/support/scarce.h"
#include "tests/support/test.h"

/* What may become of a call follows from what has happened by the time that it ends: each error has
 * a cause, and a call that has succeeded has what it needs of the others. */

static const struct group *group_of(const struct world *world, const struct flight *flight)
{
    return &world->program->groups[flight->step->group];
}

static _Noreturn void wrong(const struct world *world, const struct flight *flight,
                            cohort_status status, const char *message, const char *what)
{
    fprintf(stderr, "step %u at site %u: %s %s\n", flight->number, flight->site,
            cohort_status_name(status), message);
    FAIL("%s: %s: %s", program_verb(flight->step->verb), what, cohort_status_name(status));
}

unsigned char oracle_byte(uint32_t step, size_t at)
{
    return (unsigned char)(cohort__hash_mix(step + 1, at / 64) >> (at % 8));
}

/* Memory of the test's own is always there. */
static unsigned char *own_output(const struct world *world, const struct flight *flight)
{
    scarce_pause();
    unsigned char *want =
        random_output(&flight->step->call, flight->site, world->inputs[flight->number]);
    scarce_go_on();
    return want;
}

bool oracle_is_dead(const struct world *world, uint32_t actor)
{
    return stage_dead() >> world->program->locality_of[actor] & 1;
}

/* Causes ------------------------------------------------------------------------------------- */

static bool is_checked(const struct random_call *call)
{
    return call->is_checked || call->is_checked_anyway;
}

/* Whether there was no memory for asking, or nobody can ask. */
static bool is_unknown(const struct flight *flight)
{
    return !flight->call.is_known ||
           (flight->call.asked == COHORT_ERR_NO_MEMORY && scarce_has_failed());
}

/* As it was told beforehand. But who agrees with a site whose call is too large, or which has no
 * memory, is not told why. */
static bool may_be_refused(const struct world *world, const struct flight *flight,
                           cohort_status status)
{
    bool has_limit = group_of(world, flight)->options.memory_budget > 0 || scarce_has_failed();
    return flight->kind == FLIGHT_CALL && (flight->call.asked == status || is_unknown(flight) ||
                                           (is_checked(&flight->step->call) && has_limit));
}

static uint32_t dead_sites(const struct world *world, const struct group *group)
{
    return program_sites_in(world->program, group, stage_dead());
}

/* All that live get the same, whoever dies or revokes the communicator. */
static bool is_for_survivors(const struct flight *flight)
{
    return flight->kind == FLIGHT_AGREE ||
           (flight->kind == FLIGHT_MAKE && flight->step->verb == VERB_SHRINK);
}

/* Whether a death may end FLIGHT. In a job that goes on it is one that concerns it. */
static bool may_be_ended_by_death(const struct world *world, const struct flight *flight)
{
    const struct step *step = flight->step;
    uint32_t dead = dead_sites(world, group_of(world, flight));
    uint32_t left = world->facts->groups[step->group].left; /* a death may be the reason for that */
    if (flight->kind == FLIGHT_REMOTE)
        return step->verb == VERB_EVERYWHERE ? stage_dead() : stage_dead() >> step->to & 1;
    if (flight->kind == FLIGHT_CREATE) /* nobody knows where a site is that has not joined */
        return stage_dead();
    if (!world->program->keeps_going)
        return flight->kind == FLIGHT_MAKE || flight->kind == FLIGHT_AGREE ? stage_dead() : dead;
    if (is_for_survivors(flight) || flight->kind == FLIGHT_IDLE)
        return false;
    if (flight->kind == FLIGHT_SET) /* also if its getter has lost it for want of memory */
        return dead >> step->to & 1 || (dead && (left >> step->to & 1 || scarce_has_failed()));
    if (flight->kind == FLIGHT_GET && program_gets_any(step))
        return dead >> step->from & 1 || flight->num_failed > flight->num_acknowledged;
    if (flight->kind == FLIGHT_GET || flight->kind == FLIGHT_PROBE)
        return dead >> step->from & 1 || (dead && left >> step->from & 1);
    return dead;
}

/* Who has acknowledged that all others are dead waits for nobody any more. */
static bool may_be_alone(const struct world *world, const struct flight *flight)
{
    const struct group *group = group_of(world, flight);
    return flight->kind == FLIGHT_GET && program_gets_any(flight->step) &&
           (dead_sites(world, group) | 1u << flight->site) == (1u << group->num_sites) - 1;
}

static bool has_cause(const struct world *world, const struct flight *flight, cohort_status status)
{
    const struct step_facts *step = &world->facts->steps[flight->number];
    const struct group_facts *group = &world->facts->groups[flight->step->group];
    const struct group *its = group_of(world, flight);
    bool is_collective =
        flight->kind == FLIGHT_CALL || (flight->kind == FLIGHT_MAKE && !is_for_survivors(flight));
    if (status == COHORT_ERR_NO_MEMORY && scarce_has_failed())
        return true;
    if (flight->kind == FLIGHT_CREATE && status == COHORT_ERR_TIMEOUT)
        return world->program->groups[flight->step->made[flight->site]].options.create_deadline > 0;
    if (!has_comm(flight) && status != COHORT_ERR_PEER_DIED)
        return status == COHORT_ERR_CANCELLED && step->is_cancelled &&
               (!flight->is_again || (stage_dead() && flight->step->culprit != flight->site));
    switch (status) {
    case COHORT_ERR_BAD_PARAMETER:
    case COHORT_ERR_NOT_SUPPORTED:
        return may_be_refused(world, flight, status);
    case COHORT_ERR_MISMATCH:
        /* Who has no memory to remember why it has failed says that, too. */
        return is_collective && scarce_has_failed();
    case COHORT_ERR_MOVED_PAST:
        /* A call that there is no memory to tell of is left out. */
        return is_collective && (step->skipped || scarce_has_failed());
    case COHORT_ERR_GONE:
        /* A site that does not get its endpoint leaves, too. */
        return group->left & ~(1u << flight->site) || its->is_fragile ||
               /* So is told what is not fetched, also if its getter has lost it. */
               (flight->kind == FLIGHT_SET &&
                (group->left >> flight->step->to & 1 || scarce_has_failed())) ||
               may_be_alone(world, flight);
    case COHORT_ERR_CANCELLED:
        return step->is_cancelled || group->left >> flight->site & 1;
    case COHORT_ERR_TIMEOUT:
        return is_collective && (step->has_deadline || its->options.deadline > 0);
    case COHORT_ERR_NO_MEMORY:
        return is_collective && its->options.memory_budget > 0;
    case COHORT_ERR_REVOKED:
        /* Who has no memory for its endpoint revokes the communicator. */
        return (group->is_revoked && !is_for_survivors(flight)) ||
               (its->parent != NONE && scarce_has_failed());
    case COHORT_ERR_PEER_DIED:
        return may_be_ended_by_death(world, flight);
    default:
        return false;
    }
}

/* Success ------------------------------------------------------------------------------------ */

/* Those who call for localities that have sites, if the one at FLIGHT's site has some. */
static uint32_t callers_needed(const struct world *world, const struct flight *flight)
{
    const struct program *program = world->program;
    const struct group *group = group_of(world, flight);
    uint32_t here = program->locality_of[group->actors[flight->site]], sites = 0;
    if (!sites_made(program, flight->step, here))
        return 0;
    for (uint32_t site = 0; site < group->num_sites; site++) {
        uint32_t actor = group->actors[site];
        if (program_caller(program, actor) == actor &&
            sites_made(program, flight->step, program->locality_of[actor]))
            sites |= 1u << site;
    }
    return sites;
}

uint32_t oracle_needed(const struct world *world, const struct flight *flight)
{
    const struct step *step = flight->step;
    uint32_t num_sites = group_of(world, flight)->num_sites, all = (1u << num_sites) - 1;
    if (flight->kind == FLIGHT_GET || flight->kind == FLIGHT_PROBE)
        return 1u << step->from;
    if (is_for_survivors(flight)) /* whose sites may have died since */
        return all & ~dead_sites(world, group_of(world, flight));
    if (flight->kind == FLIGHT_MAKE || flight->kind == FLIGHT_CREATE)
        return all;
    if (flight->kind == FLIGHT_SITES)
        return callers_needed(world, flight);
    uint32_t sites = 0;
    for (uint32_t other = 0; flight->kind == FLIGHT_CALL && other < num_sites; other++)
        sites |= (uint32_t)random_depends(&step->call, flight->site, other) << other;
    return sites;
}

static const char *check_data(const struct world *world, const struct flight *flight)
{
    unsigned char *want = own_output(world, flight);
    scarce_pause();
    const char *what = random_site_check(&flight->call, want);
    scarce_go_on();
    free(want);
    return what;
}

/* Puts the elements that have come into flight->data, one behind the other. */
static const char *take_up(const struct flight *flight)
{
    const struct random_lying *lying = &flight->lying;
    scarce_pause();
    bool is_kept = random_lying_is_kept(lying, lying->num, NULL, NULL, 0);
    random_lying_take(lying, flight->data, 0, lying->num);
    scarce_go_on();
    return is_kept ? NULL : "something lies beside the layout";
}

static bool is_message(const struct flight *flight, const unsigned char *data)
{
    for (size_t at = 0; at < flight->step->bytes; at++)
        if (data[at] != oracle_byte(flight->number, at))
            return false;
    return true;
}

static const char *check_message(const struct flight *flight)
{
    const struct step *step = flight->step;
    const unsigned char *data = flight->data;
    const char *what = NULL;
    size_t bytes = flight->bytes;
    if (flight->lying.places) {
        what = take_up(flight);
        bytes = step->bytes; /* which the call does not say */
    } else if (step->getter == GET_OBJECT || step->getter == GET_ANY_OBJECT ||
               flight->kind == FLIGHT_REMOTE) {
        data = flight->object.data;
        bytes = flight->object.bytes;
    }
    if (bytes != step->bytes)
        return "another length";
    bool tells_sender = program_gets_any(step) || step->getter == GET_LAYOUT;
    if (flight->kind == FLIGHT_GET && tells_sender && flight->from != step->from)
        return "another sender";
    return is_message(flight, data) ? what : "another message";
}

/* From each that lives. */
static const char *check_everywhere(const struct world *world, const struct flight *flight)
{
    const cohort_object *list = flight->everywhere;
    for (uint32_t i = 0; i < world->program->num_localities; i++) {
        bool is_left_out = stage_dead() >> i & 1 && !list[i].data;
        if (!is_left_out &&
            (list[i].bytes != flight->step->bytes || !is_message(flight, list[i].data)))
            return "another message";
    }
    return NULL;
}

static const char *check_made(const struct world *world, const struct flight *flight)
{
    uint32_t made = flight->step->made[flight->site];
    const struct group *group = &world->program->groups[made];
    uint32_t actor = group_of(world, flight)->actors[flight->site];
    if (!flight->made || cohort_comm_num_sites(flight->made) != group->num_sites ||
        cohort_comm_this_site(flight->made) != program_site(group, actor) ||
        cohort_comm_root_site(flight->made) != group->options.root_site ||
        cohort_comm_arity(flight->made) != group->options.arity)
        return "another communicator";
    return NULL;
}

bool oracle_is_the_same(struct step_facts *step, uint64_t number)
{
    uint64_t first = 0;
    return atomic_compare_exchange_strong_explicit(&step->result, &first, number,
                                                   memory_order_relaxed, memory_order_relaxed) ||
           first == number;
}

/* As planned, or without some that have died meanwhile: then it is of no use for the program. */
static const char *check_shrunk(struct world *world, const struct flight *flight)
{
    struct step_facts *step = &world->facts->steps[flight->number];
    const struct group *group = &world->program->groups[flight->step->made[flight->site]];
    uint32_t num_dead = (uint32_t)__builtin_popcount(dead_sites(world, group));
    uint32_t num = flight->made ? cohort_comm_num_sites(flight->made) : 0;
    if (!oracle_is_the_same(step, num + 1))
        return "another number of survivors than elsewhere";
    if (num == group->num_sites)
        return check_made(world, flight);
    return num > 0 && num < group->num_sites && num + num_dead >= group->num_sites
               ? NULL
               : "another number of survivors";
}

/* The AND of those that live, and perhaps of some that have died since. */
static const char *check_agreed(struct world *world, const struct flight *flight)
{
    struct step_facts *step = &world->facts->steps[flight->number];
    const struct group *group = group_of(world, flight);
    const cohort_agreed *agreed = &flight->agreed;
    uint32_t dead = dead_sites(world, group);
    uint64_t least = UINT64_MAX, most = UINT64_MAX;
    for (uint32_t site = 0; site < group->num_sites; site++) {
        uint64_t value = cohort__hash_mix(flight->number, site);
        least &= value;
        most &= dead >> site & 1 ? UINT64_MAX : value;
    }
    if (!oracle_is_the_same(step, cohort__hash_mix(agreed->value, agreed->num_failed) | 1))
        return "not agreed";
    if (least & ~agreed->value || agreed->value & ~most)
        return "another value";
    return agreed->num_failed > (uint32_t)__builtin_popcount(dead) ||
                   agreed->num_failed > flight->num_failed
               ? "another number of dead"
               : NULL;
}

static const char *check_success(struct world *world, const struct flight *flight)
{
    if (oracle_needed(world, flight) & ~world->facts->steps[flight->number].begun)
        return "without a site that has not called";
    switch (flight->kind) {
    case FLIGHT_CALL:
        return flight->call.asked && !is_unknown(flight) ? "that was said to be refused"
                                                         : check_data(world, flight);
    case FLIGHT_GET:
        return check_message(flight);
    case FLIGHT_REMOTE:
        return flight->step->verb == VERB_EVERYWHERE ? check_everywhere(world, flight)
                                                     : check_message(flight);
    case FLIGHT_PROBE:
        return flight->bytes == flight->step->bytes && flight->from == flight->step->from
                   ? NULL
                   : "another message is there";
    case FLIGHT_MAKE:
        return is_for_survivors(flight) ? check_shrunk(world, flight) : check_made(world, flight);
    case FLIGHT_CREATE:
        return check_made(world, flight);
    case FLIGHT_AGREE:
        return check_agreed(world, flight);
    default:
        return NULL;
    }
}

/* What goes beyond one site ---------------------------------------------------------------- */

/* Whether there is an object though the call has failed. */
static bool has_object(const struct flight *flight)
{
    const struct random_site *call = &flight->call;
    bool any = flight->object.data || call->list.list;
    for (uint32_t i = 0; i < MAX_LOCALITIES; i++)
        any |= flight->everywhere[i].data != NULL;
    for (uint32_t i = 0; call->out_objects && i < RANDOM_SITES; i++)
        any |= call->out_objects[i].data != NULL;
    return any;
}

/* Whether each site's result needs something of each other one's. */
static bool is_for_all(const struct flight *flight)
{
    const struct random_call *call = &flight->step->call;
    if (flight->kind == FLIGHT_SITES)
        return false;
    if (flight->kind != FLIGHT_CALL)
        return program_needs_all(flight->step->verb) && !flight->is_again;
    switch (call->kind) {
    case RANDOM_ALL_GATHER:
    case RANDOM_ALL_REDUCE:
    case RANDOM_ALL_TO_ALL:
    case RANDOM_REDUCE_SCATTER:
        return call->count > 0;
    default:
        return call->kind == RANDOM_BARRIER;
    }
}

/* A call that all depend on is taken back everywhere or nowhere. What is for survivors fails so in
 * whatever way, and a death makes no difference to those who live. */
static const char *check_verdict(struct world *world, const struct flight *flight,
                                 cohort_status status)
{
    struct step_facts *step = &world->facts->steps[flight->number];
    const struct group_facts *group = &world->facts->groups[flight->step->group];
    if (!is_for_all(flight))
        return NULL;
    if (!status)
        learn(&step->ok, flight->site);
    if (status == COHORT_ERR_TIMEOUT || status == COHORT_ERR_CANCELLED ||
        (status && is_for_survivors(flight) && world->program->keeps_going))
        learn(&step->refused, flight->site);
    /* First what there is, then what may be the reason for it. */
    uint32_t ok = step->ok, refused = step->refused;
    bool may_differ =
        !is_for_survivors(flight) &&
        (stage_dead() || (flight->kind == FLIGHT_CALL && (group->is_revoked || group->left)));
    uint32_t living = ~dead_sites(world, group_of(world, flight));
    return ok & living && refused & living && !may_differ && !scarce_has_failed()
               ? "taken back at some sites only"
               : NULL;
}

/* What was set and has left its setter comes, also after that one has left. */
static const char *check_set(struct world *world, const struct flight *flight, cohort_status status)
{
    struct step_facts *step = &world->facts->steps[flight->number];
    if (flight->kind == FLIGHT_SET && !status)
        learn(&step->is_set, flight->site);
    if (flight->kind == FLIGHT_GET && status == COHORT_ERR_GONE)
        learn(&step->is_gone, flight->site);
    return step->is_set && step->is_gone && !stage_dead() ? "what was set does not come" : NULL;
}

void oracle_check(struct world *world, const struct flight *flight, cohort_status status,
                  const char *message)
{
    trace("step %u, site %u, kind %d: %s", flight->number, flight->site, (int)flight->kind,
          cohort_status_name(status));
    if (oracle_is_dead(world, group_of(world, flight)->actors[flight->site]))
        return;
    const char *what = status ? NULL : check_success(world, flight);
    if (!status && !what && flight->knew && !is_for_survivors(flight) &&
        flight->kind != FLIGHT_IDLE && has_comm(flight))
        what = "after this site has revoked the communicator";
    if (flight->kind == FLIGHT_SITES)
        what = what ? what : sites_check(flight, status, message);
    else if (status && !has_cause(world, flight, status))
        what = "without a cause";
    if (!what && flight->kind == FLIGHT_CALL && world->program->has_hooks)
        what = hooks_check(flight->begun, status);
    if (!status && flight->was_taken_back && group_of(world, flight)->num_sites == 1)
        what = "though it was taken back before";
    if (!what)
        what = check_verdict(world, flight, status);
    if (!what)
        what = check_set(world, flight, status);
    if (!what && status && has_object(flight))
        what = "an object of what has failed";
    if (what)
        wrong(world, flight, status, message, what);
}

void oracle_check_row(struct world *world, const struct flight *flight, uint32_t row,
                      cohort_status status)
{
    trace("step %u, site %u, row %u: %s", flight->number, flight->site, row,
          cohort_status_name(status));
    if (oracle_is_dead(world, group_of(world, flight)->actors[flight->site]) || status)
        return; /* as the call, which is looked at */
    unsigned char *want = own_output(world, flight);
    scarce_pause();
    const char *what = random_site_check_row(&flight->call, want, row);
    scarce_go_on();
    free(want);
    if (what)
        wrong(world, flight, status, "", what);
}
