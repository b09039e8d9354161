/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "runtime/net/board.h"
#include "tests/coll/random_site.h"
#include "tests/support/await_within.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"
#include "tests/support/state.h"

/* Random programs on random clusters, checked by an independent oracle. In some generations one
 * site deviates. Then the sites that depend on it fail, their messages name it, and no other site
 * is affected. test_random_calls [--shm] [SEED [NUM]] plays NUM seeds from SEED on, or only SEED.
 */

enum { NUM_SEEDS = 100, SEEDS_A_START = 500 };
enum { NUM_STEPS = 40, MAX_IN_FLIGHT = 8, MAX_LOCALITIES = 6, MAX_SITES = 9, LARGE_SITES = 4 };
static const uint64_t limit = UINT64_C(60000000000); /* a call that takes so long is a hang */

enum deviation {
    NONE,
    REJECTED,  /* the culprit's arguments are wrong */
    OTHER,     /* it calls another collective, or with other arguments */
    VARIED,    /* its call has the same meaning, maybe with other options */
    TOO_LARGE, /* it sends to one site, or expects from one, more than agreed */
    LEFT_OUT,
    DROPPED, /* it makes the right call, and drops the future */
};

/* One generation. */
struct step {
    uint64_t generation;
    struct random_call call;
    enum deviation deviation;
    uint32_t culprit;
    enum random_reject reject;
    struct random_call other; /* the culprit's call */
    uint32_t receiver;        /* of the block that is too large */
    unsigned char *inputs[RANDOM_SITES];
    unsigned char *outputs[RANDOM_SITES];
    unsigned char *other_input;
    cohort_status statuses[RANDOM_SITES];
};

/* What a seed determines. */
struct job {
    uint64_t seed;
    uint32_t num_localities;
    enum cluster_placement placement;
    uint32_t max_local_sites;
    bool is_spread; /* over hosts and domains: many calls follow the machine */
    struct cohort__position positions[MAX_LOCALITIES];
    uint64_t stride; /* between most generations; with long ones calls share places (net/notes.h) */
    bool is_patient; /* no site asks: errors have to be reported without questions */
    cohort_comm_options options;
    struct step steps[NUM_STEPS];
    pthread_mutex_t lock;
    cohort_comm *comms[RANDOM_SITES]; /* for roll-calls; NULL: not made yet, or already released */
};

static struct cluster *cluster;

static uint64_t below(struct cohort__random *random, uint64_t num)
{
    return cohort__random_below(random, num);
}

/* Drawing ------------------------------------------------------------------------------------ */

static uint32_t locality_of(const struct job *job, uint32_t site)
{
    return cluster_locality(job->placement, job->seed, job->num_localities, site,
                            job->options.num_sites);
}

static void draw_placement(struct job *job, struct cohort__random *random)
{
    uint32_t num_at[RANDOM_SITES] = {0};
    job->placement = (enum cluster_placement)below(random, CLUSTER_NUM_PLACEMENTS);
    for (uint32_t site = 0; site < job->options.num_sites; site++) {
        uint32_t num = ++num_at[locality_of(job, site)];
        job->max_local_sites = num > job->max_local_sites ? num : job->max_local_sites;
    }
}

static void draw_positions(struct job *job, struct cohort__random *random)
{
    static const uint64_t strides[] = {1, 16, 32, 64};
    job->is_spread = below(random, 2);
    job->stride = job->is_spread ? strides[below(random, 4)] : 1;
    uint32_t num_hosts = 2 + (uint32_t)below(random, 3);
    bool is_even =
        below(random, 2); /* hosts next to each other, about as many localities in each */
    for (uint32_t i = 0; job->is_spread && i < MAX_LOCALITIES; i++) {
        uint32_t host =
            is_even ? i * num_hosts / job->num_localities : (uint32_t)below(random, num_hosts);
        job->positions[i] =
            (struct cohort__position){.host = host, .domain = (uint32_t)below(random, 2)};
    }
}

static void draw_job(struct job *job, struct cohort__random *random, uint64_t seed)
{
    uint32_t num_sites = 1 + (uint32_t)below(random, MAX_SITES);
    *job = (struct job){.seed = seed};
    pthread_mutex_init(&job->lock, NULL);
    job->num_localities = 1 + (uint32_t)below(random, MAX_LOCALITIES);
    job->options = (cohort_comm_options){
        .num_sites = num_sites,
        .root_site = (uint32_t)below(random, num_sites),
        .arity = 2 + (uint32_t)below(random, 2),
        .flat_fallback_threshold = below(random, 2) ? COHORT_FORCE_TREE : 1024,
        .reproducible = below(random, 8) == 0,
        .check_asymmetric = below(random, 8) == 0,
        .stall_after = 2000000,
    };
    job->is_patient = below(random, 4) == 0;
    if (job->is_patient)
        job->options.stall_after = 60 * limit;
    draw_placement(job, random);
    draw_positions(job, random);
}

/* A block that is just too large for a board. */
static void make_large(const struct job *job, struct random_call *call)
{
    bool is_for_each = call->kind == RANDOM_SCATTER || call->kind == RANDOM_ALL_TO_ALL ||
                       call->kind == RANDOM_REDUCE_SCATTER;
    size_t bytes = COHORT__BOARD_POST / job->max_local_sites;
    bytes /= is_for_each ? call->num_sites : 1;
    call->count = bytes / random_element(call) + 1;
}

/* As long as what is lent, or a little shorter. */
static void make_lent(struct random_call *call, struct cohort__random *random)
{
    size_t bytes = COHORT__BOARD_LENT * (3 + below(random, 6)) / 4;
    call->count = bytes / random_element(call) + 1;
}

static void set_checked(const struct job *job, struct random_call *call)
{
    bool is_asymmetric = call->kind == RANDOM_GATHER || call->kind == RANDOM_SCATTER ||
                         call->kind == RANDOM_GATHERV || call->kind == RANDOM_SCATTERV ||
                         call->kind == RANDOM_GATHER_OBJECTS ||
                         call->kind == RANDOM_SCATTER_OBJECTS;
    call->is_checked_anyway = is_asymmetric && job->options.check_asymmetric;
}

/* The culprit sends more than the receiver expects, or expects more than it gets. */
static bool make_too_large(struct step *step, struct cohort__random *random)
{
    struct random_call *other = &step->other;
    uint32_t culprit = step->culprit;
    uint32_t peer = (uint32_t)below(random, other->num_sites);
    if (peer == culprit || !random_kind_is_loose(other->kind))
        return false;
    step->receiver = peer;
    switch (other->kind) {
    case RANDOM_GATHERV:
        step->receiver = other->root;
        other->counts[culprit][0]++;
        return culprit != other->root;
    case RANDOM_SCATTERV:
        step->receiver = culprit;
        other->counts[0][culprit]++;
        return culprit != other->root;
    case RANDOM_EXCHANGE:
        for (uint32_t i = 0; i < other->num_edges; i++)
            if (other->edges[i].from == culprit && other->edges[i].to == peer) {
                other->edges[i].count++;
                return true;
            }
        return false;
    default:
        other->counts[culprit][peer]++;
        return true;
    }
}

static void draw_deviation(const struct job *job, struct step *step, struct cohort__random *random)
{
    static const enum deviation all[] = {REJECTED, REJECTED, OTHER,   OTHER,
                                         VARIED,   LEFT_OUT, DROPPED, TOO_LARGE};
    step->culprit = (uint32_t)below(random, job->options.num_sites);
    step->deviation = job->is_patient ? REJECTED : all[below(random, 8)];
    step->other = step->call;
    if (step->deviation == REJECTED)
        do
            step->reject = (enum random_reject)(1 + below(random, RANDOM_NUM_REJECTS - 1));
        while (!random_can_reject(&step->call, step->culprit, step->reject));
    else if (step->deviation == OTHER)
        random_call_change(&step->other, random);
    else if (step->deviation == VARIED)
        random_call_vary_options(&step->other, random);
    else if (step->deviation == TOO_LARGE && !make_too_large(step, random))
        step->deviation = NONE;
    if (step->deviation == NONE)
        step->other = step->call;
    set_checked(job, &step->other);
}

/* A new call, or one of the last few calls again, maybe slightly changed. */
static void draw_call(const struct job *job, uint32_t index, struct cohort__random *random)
{
    struct random_call *call = (struct random_call *)&job->steps[index].call;
    if (index > 0 && below(random, 2)) {
        uint32_t back = 1 + (uint32_t)below(random, index < 4 ? index : 4);
        *call = job->steps[index - back].call;
        if (call->count > 10000)
            call->count = 3;
        uint64_t way = below(random, 4);
        if (way == 0)
            random_call_change(call, random);
        else if (way == 1)
            random_call_vary(call, random);
    } else {
        random_call_draw(call, random, job->options.num_sites, job->options.root_site);
        bool is_plain = call->kind > RANDOM_CHECK && call->kind < RANDOM_GATHERV;
        /* With many sites one such call takes longer than a hundred programs. */
        if (is_plain && call->num_sites <= LARGE_SITES && below(random, 30) == 0)
            make_large(job, call);
        else if (is_plain && below(random, 5) == 0)
            make_lent(call, random);
    }
    if (job->is_spread && below(random, 2))
        random_call_force(call, below(random, 3) ? "levels" : "shares");
    set_checked(job, call);
}

/* The culprit's call has one more element in one block. All other elements are the same. */
static void copy_blocks(const struct step *step)
{
    struct random_side from, into, unused;
    size_t element = random_element(&step->call);
    random_lay_out(&step->call, step->culprit, &from, &unused);
    random_lay_out(&step->other, step->culprit, &into, &unused);
    for (uint32_t i = 0; i < from.num; i++)
        memcpy(step->other_input + into.blocks[i].offset * element,
               step->inputs[step->culprit] + from.blocks[i].offset * element,
               from.blocks[i].count * element);
}

static void fill_step(const struct job *job, struct step *step)
{
    uint64_t key = job->seed * 1000 + step->generation;
    for (uint32_t site = 0; site < job->options.num_sites; site++)
        step->inputs[site] = random_input(&step->call, key, site);
    for (uint32_t site = 0; site < job->options.num_sites; site++)
        step->outputs[site] = random_output(&step->call, site, step->inputs);
    step->other_input = random_input(&step->other, key, step->culprit);
    if (step->deviation == TOO_LARGE)
        copy_blocks(step);
}

static void draw_steps(struct job *job, struct cohort__random *random)
{
    uint64_t generation = 0;
    for (uint32_t i = 0; i < NUM_STEPS; i++) {
        struct step *step = &job->steps[i];
        generation += below(random, 5) ? job->stride : 1 + below(random, 4);
        step->generation = generation;
        draw_call(job, i, random);
        step->other = step->call;
        if (below(random, 4) == 0)
            draw_deviation(job, step, random);
        if (i + 1 == NUM_STEPS) { /* all sites make this call */
            step->deviation = NONE;
            step->call = (struct random_call){.num_sites = job->options.num_sites};
            step->other = step->call;
        }
        fill_step(job, step);
    }
}

static void job_fini(struct job *job)
{
    for (uint32_t i = 0; i < NUM_STEPS; i++) {
        for (uint32_t site = 0; site < job->options.num_sites; site++) {
            free(job->steps[i].inputs[site]);
            free(job->steps[i].outputs[site]);
        }
        free(job->steps[i].other_input);
    }
    pthread_mutex_destroy(&job->lock);
}

/* Telling ------------------------------------------------------------------------------------ */

static const char *const deviation_names[] = {
    [NONE] = "nobody deviates",    [REJECTED] = "is rejected",   [OTHER] = "calls something else",
    [VARIED] = "varies",           [TOO_LARGE] = "is too large", [LEFT_OUT] = "leaves it out",
    [DROPPED] = "drops its future"};

static void print_job(const struct job *job)
{
    const cohort_comm_options *options = &job->options;
    fprintf(stderr, "seed %" PRIu64 ": %u sites on %u localities (", job->seed, options->num_sites,
            job->num_localities);
    for (uint32_t site = 0; site < options->num_sites; site++)
        fprintf(stderr, " %u", locality_of(job, site));
    fprintf(stderr, " ), root %u, arity %u, %s%s%s\n", options->root_site, options->arity,
            options->flat_fallback_threshold == COHORT_FORCE_TREE ? "tree" : "flat",
            options->reproducible ? ", reproducible" : "",
            options->check_asymmetric ? ", checked" : "");
    for (uint32_t i = 0; job->is_spread && i < job->num_localities; i++)
        fprintf(stderr, "locality %u: host %u, domain %u\n", i, job->positions[i].host,
                job->positions[i].domain);
}

static void print_step(const struct step *step)
{
    char text[256];
    random_call_describe(&step->call, text, sizeof(text));
    fprintf(stderr, "generation %" PRIu64 ": %s\n", step->generation, text);
    if (step->deviation == NONE)
        return;
    random_call_describe(&step->other, text, sizeof(text));
    fprintf(stderr, "  site %u %s (%d): %s\n", step->culprit, deviation_names[step->deviation],
            step->reject, text);
}

static void print_roll_calls(struct job *job)
{
    pthread_mutex_lock(&job->lock);
    for (uint32_t site = 0; site < job->options.num_sites; site++) {
        void *text;
        if (!job->comms[site] || await_within(cohort_comm_roll_call(job->comms[site]), limit / 20))
            continue;
        if (!cohort_await_value(cohort_comm_roll_call(job->comms[site]), &text))
            fprintf(stderr, "%s%s", *(const char *)text ? "at a site, " : "", (const char *)text);
    }
    pthread_mutex_unlock(&job->lock);
}

static _Noreturn void blame(struct job *job, const struct step *step, uint32_t site,
                            const char *what, cohort_status status, const char *message)
{
    print_job(job);
    if (step)
        print_step(step);
    if (status == COHORT_ERR_TIMEOUT) { /* a roll call would suspend, and others hang as well */
        state_print();
        fprintf(stderr, "seed %" PRIu64 ", site %u: %s\n", job->seed, site, what);
        abort(); /* for a core */
    }
    print_roll_calls(job);
    FAIL("seed %" PRIu64 ", site %u: %s: %s %s", job->seed, site, what, cohort_status_name(status),
         message);
}

/* Expecting ---------------------------------------------------------------------------------- */

static bool is_checked(const struct random_call *call)
{
    return call->is_checked || call->is_checked_anyway;
}

/* Sites can't agree on a user's type. */
static bool cannot_agree(const struct random_call *call)
{
    bool has_type = call->kind != RANDOM_BARRIER && call->kind != RANDOM_ALL_TO_ALLW;
    return is_checked(call) && has_type && random_has_users_type(call);
}

/* Some algorithms can't carry out such a call. */
static bool may_be_refused(const struct job *job, const struct random_call *call)
{
    return call->algorithm || call->is_reproducible || job->options.reproducible;
}

/* Whether SITE needs data of OTHER. Calls that differ only in what needs no agreement count as the
 * same. */
static bool depends(const struct step *step, const struct random_call *call, uint32_t site,
                    uint32_t other)
{
    struct random_call unchecked = *call;
    bool agree = step->deviation == OTHER && step->call.kind == step->other.kind &&
                 call->kind != RANDOM_CHECK;
    if (agree)
        unchecked.is_checked = unchecked.is_checked_anyway = false;
    return random_depends(&unchecked, site, other);
}

static bool must_fail(const struct step *step, uint32_t site)
{
    bool is_culprit = site == step->culprit;
    if (cannot_agree(&step->call) && !is_culprit)
        return true;
    switch (step->deviation) {
    case REJECTED:
        return is_culprit || depends(step, &step->call, site, step->culprit);
    case OTHER:
        for (uint32_t other = 0; is_culprit && other < step->call.num_sites; other++)
            if (depends(step, &step->other, site, other))
                return true;
        return !is_culprit && depends(step, &step->call, site, step->culprit);
    case TOO_LARGE:
        return site == step->receiver;
    case LEFT_OUT:
        return depends(step, &step->call, site, step->culprit);
    case VARIED:
        return false;
    default:
        return cannot_agree(&step->call);
    }
}

static bool may_fail(const struct job *job, const struct step *step)
{
    return (step->deviation != NONE && step->deviation != DROPPED) || cannot_agree(&step->call) ||
           may_be_refused(job, &step->call);
}

static bool is_refusal(cohort_status status)
{
    return status == COHORT_ERR_BAD_PARAMETER || status == COHORT_ERR_NOT_SUPPORTED;
}

static bool is_expected(const struct job *job, const struct step *step, cohort_status status)
{
    bool may_agree_on_failing = is_checked(&step->call) || is_checked(&step->other);
    bool may_refuse = may_be_refused(job, &step->call) || may_be_refused(job, &step->other);
    if (is_refusal(status) && (may_agree_on_failing || may_refuse))
        return true;
    switch (step->deviation) {
    case REJECTED:
        return status == (step->reject == RANDOM_REJECT_ROLE ? COHORT_ERR_WRONG_ROLE
                                                             : COHORT_ERR_BAD_PARAMETER);
    case LEFT_OUT:
        return status == COHORT_ERR_MOVED_PAST;
    case NONE:
    case DROPPED:
        return false;
    default:
        return status == COHORT_ERR_MISMATCH;
    }
}

/* If the sites refuse a call themselves, each message names the site itself. If they have agreed,
 * it names none. */
static void check_blame(struct job *job, const struct step *step, uint32_t site,
                        cohort_status status, const char *message)
{
    char culprit[16];
    snprintf(culprit, sizeof(culprit), "site %u", step->culprit);
    bool is_of_one = step->deviation != NONE && step->deviation != DROPPED &&
                     !(is_refusal(status) &&
                       (is_checked(&step->call) || is_checked(&step->other) ||
                        may_be_refused(job, &step->call) || may_be_refused(job, &step->other)));
    bool is_forgotten = job->stride > 1 && strstr(message, "too long ago to remember what");
    if (is_of_one && !is_forgotten && !strstr(message, culprit))
        blame(job, step, site, "the culprit is not named", status, message);
}

/* Playing ------------------------------------------------------------------------------------ */

struct flight {
    struct random_site site;
    struct step *step;
};

struct player {
    struct job *job;
    cohort_comm *comm;
    struct cohort__random random;
    struct flight *flights[MAX_IN_FLIGHT];
    uint32_t num_flights;
    struct flight *dropped[NUM_STEPS];
    uint32_t num_dropped;
    uint64_t last; /* the last generation */
};

static cohort_status end_of(struct player *player, const struct step *step, cohort_future *future,
                            char *message, size_t capacity)
{
    cohort_status status = await_within(future, limit);
    snprintf(message, capacity, "%s", status ? cohort_error_message() : "");
    if (status == COHORT_ERR_TIMEOUT)
        blame(player->job, step, cohort_comm_this_site(player->comm), "hangs", status, "");
    return status;
}

static void check(struct player *player, struct flight *flight, cohort_status status,
                  const char *message)
{
    struct job *job = player->job;
    struct step *step = flight->step;
    uint32_t me = cohort_comm_this_site(player->comm);
    step->statuses[me] = status;
    if (status && !may_fail(job, step))
        blame(job, step, me, "fails", status, message);
    if (status && !is_expected(job, step, status))
        blame(job, step, me, "fails in another way", status, message);
    if (status)
        check_blame(job, step, me, status, message);
    bool is_right = step->deviation == NONE || step->deviation == DROPPED;
    if (is_right && flight->site.is_known && status != flight->site.asked)
        blame(job, step, me, "was asked about, and told of otherwise", status, message);
    if (!status && must_fail(step, me))
        blame(job, step, me, "does not fail", status, message);
    bool is_other = flight->site.call == &step->other && step->deviation != VARIED;
    const char *wrong =
        status || is_other ? NULL : random_site_check(&flight->site, step->outputs[me]);
    if (wrong)
        blame(job, step, me, wrong, status, "");
}

/* Awaits the rows in any order. A row that is ready is right, whatever the call's status is. */
static void await_rows(struct player *player, struct flight *flight, cohort_status *ret_failure)
{
    char message[512];
    struct step *step = flight->step;
    uint32_t num = player->job->options.num_sites, me = cohort_comm_this_site(player->comm);
    uint32_t first = (uint32_t)below(&player->random, num);
    for (uint32_t i = 0; i < num; i++) {
        uint32_t row = (first + i) % num;
        if (!flight->site.rows[row])
            continue;
        cohort_status status =
            end_of(player, step, flight->site.rows[row], message, sizeof(message));
        bool is_own = flight->site.call == &step->call;
        const char *wrong =
            status || !is_own ? NULL : random_site_check_row(&flight->site, step->outputs[me], row);
        if (wrong)
            blame(player->job, step, me, wrong, status, "");
        if (status)
            *ret_failure = status;
    }
}

static void finish(struct player *player, uint32_t index)
{
    char message[512];
    struct flight *flight = player->flights[index];
    cohort_status of_rows = COHORT_OK;
    player->flights[index] = player->flights[--player->num_flights];
    bool are_rows_first = below(&player->random, 2);
    if (are_rows_first)
        await_rows(player, flight, &of_rows);
    cohort_status status =
        end_of(player, flight->step, flight->site.done, message, sizeof(message));
    if (!are_rows_first)
        await_rows(player, flight, &of_rows);
    check(player, flight, status, message);
    if (of_rows && of_rows != status)
        blame(player->job, flight->step, cohort_comm_this_site(player->comm),
              "a row fails in another way", of_rows, message);
    random_site_fini(&flight->site);
    free(flight);
}

static void drop(struct player *player, struct flight *flight)
{
    cohort_future_unref(flight->site.done);
    for (uint32_t row = 0; row < RANDOM_SITES; row++)
        cohort_future_unref(flight->site.rows[row]);
    player->dropped[player->num_dropped++] = flight;
}

/* A call with a generation that has been used changes nothing. */
static void call_again(struct player *player)
{
    if (player->last == 0 || below(&player->random, 16))
        return;
    CHECK_INT(cohort_await(cohort_barrier(player->comm, player->last)), COHORT_ERR_GENERATION);
}

static void *alloc_in(uint32_t locality, size_t bytes)
{
    return cluster_memory_alloc(cluster, locality, bytes);
}

static void free_in(uint32_t locality, void *memory)
{
    cluster_memory_free(cluster, locality, memory);
}

static void begin(struct player *player, struct step *step)
{
    uint32_t me = cohort_comm_this_site(player->comm);
    bool is_culprit = step->deviation != NONE && me == step->culprit;
    bool calls_other = is_culprit && (step->deviation == OTHER || step->deviation == VARIED ||
                                      step->deviation == TOO_LARGE);
    if (is_culprit && step->deviation == LEFT_OUT)
        return;
    call_again(player);
    struct flight *flight = test_calloc(1, sizeof(*flight));
    flight->step = step;
    const uint32_t locality = locality_of(player->job, me);
    flight->site = (struct random_site){
        .call = calls_other ? &step->other : &step->call,
        .site = me,
        .generation = step->generation,
        .reject = is_culprit ? step->reject : RANDOM_REJECT_NONE,
        .is_in_place = below(&player->random, 3) == 0,
        .has_rows = below(&player->random, 3) == 0,
        .skew = below(&player->random, 2) ? below(&player->random, 16) : 0,
        .layouts = below(&player->random, 3) == 0 ? 1 + below(&player->random, 1000) : 0,
    };
    if (below(&player->random, 3) > 0)
        flight->site.memory = (struct random_memory){alloc_in, free_in, locality};
    random_site_begin(&flight->site, player->comm,
                      calls_other ? step->other_input : step->inputs[me]);
    player->last = step->generation;
    if (is_culprit && step->deviation == DROPPED)
        drop(player, flight);
    else
        player->flights[player->num_flights++] = flight;
}

static void set_comm(struct job *job, uint32_t site, cohort_comm *comm)
{
    pthread_mutex_lock(&job->lock);
    job->comms[site] = comm;
    pthread_mutex_unlock(&job->lock);
}

static cohort_status play(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    char message[512];
    uint32_t me = cohort_comm_this_site(comm);
    struct player player = {.job = job, .comm = comm};
    player.random = cohort__random_seeded(job->seed * RANDOM_SITES + me);
    uint64_t room = 1 + below(&player.random, MAX_IN_FLIGHT), haste = 1 + below(&player.random, 4);
    set_comm(job, me, comm);
    for (uint32_t i = 0; i < NUM_STEPS; i++) {
        begin(&player, &job->steps[i]);
        for (uint64_t n = below(&player.random, 3); n > 0; n--)
            cohort_yield();
        while (player.num_flights == room ||
               (player.num_flights > 0 && below(&player.random, haste) == 0))
            finish(&player, (uint32_t)below(&player.random, player.num_flights));
    }
    while (player.num_flights > 0)
        finish(&player, (uint32_t)below(&player.random, player.num_flights));
    end_of(&player, NULL, cohort_comm_idle(comm), message, sizeof(message));
    for (uint32_t i = 0; i < player.num_dropped; i++) {
        random_site_fini(&player.dropped[i]->site);
        free(player.dropped[i]);
    }
    set_comm(job, me, NULL);
    return COHORT_OK;
}

/* If no site deviates, either all sites refuse a call or none. */
static void check_together(struct job *job)
{
    for (uint32_t i = 0; i < NUM_STEPS; i++)
        for (uint32_t site = 1; site < job->options.num_sites; site++) {
            const struct step *step = &job->steps[i];
            if (step->deviation == NONE && step->statuses[site] != step->statuses[0])
                blame(job, step, site, "another status than at site 0", step->statuses[site], "");
        }
}

static uint64_t first_seed = 1, num_seeds = NUM_SEEDS;

static void play_seed(struct job *job, uint64_t seed)
{
    struct cohort__random random = cohort__random_seeded(seed);
    draw_job(job, &random, seed);
    draw_steps(job, &random);
    cluster = cluster_create(seed, job->num_localities, 0);
    cluster_place(cluster, job->placement);
    if (job->is_spread)
        cluster_locate(cluster, job->positions);
    CHECK_OK(cluster_sites(
        cluster,
        (struct sites){.name = "random", .options = job->options, .run = play, .arg = job}));
    check_together(job);
    cluster_destroy(cluster);
    job_fini(job);
}

TEST(seeds)
{
    struct job *job = test_malloc(sizeof(*job));
    random_ops_init();
    for (uint64_t i = 0; i < num_seeds; i++)
        play_seed(job, first_seed + i);
    random_ops_fini();
    free(job);
}

int main(int argc, char **argv)
{
    int first = argc;
    while (first > 1 && isdigit((unsigned char)argv[first - 1][0]))
        first--;
    if (first < argc) {
        first_seed = strtoull(argv[first], NULL, 10);
        num_seeds = first + 1 < argc ? strtoull(argv[first + 1], NULL, 10) : 1;
    }
    /* Clusters are freed, and their descriptors are closed, when the workers have ended. */
    int status = 0;
    for (uint64_t left = num_seeds; left > 0 && status == 0; left -= num_seeds) {
        char *args[8]; /* cluster_test takes its options out */
        num_seeds = left < SEEDS_A_START ? left : SEEDS_A_START;
        CHECK((size_t)first < NUM_OF(args));
        memcpy(args, argv, (size_t)first * sizeof(args[0]));
        status = cluster_test(first, args, 1);
        first_seed += num_seeds;
    }
    return status;
}
