/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/program.h"

#include <inttypes.h>
#include <stdio.h>

#include "runtime/base/hash.h"
#include "tests/support/test.h"

/* Of each choice 0 is what is simplest, since a program that fails is shrunk towards it. */

static const char *const verbs[NUM_VERBS] = {
    [VERB_CALL] = "call",
    [VERB_MESSAGE] = "message",
    [VERB_IDLE] = "idle",
    [VERB_SPLIT] = "split",
    [VERB_DUP] = "dup",
    [VERB_AGREE] = "agree",
    [VERB_LEAVE] = "leave",
    [VERB_REVOKE] = "revoke",
    [VERB_KILL] = "kill",
    [VERB_REMOTE] = "remote",
    [VERB_BURST] = "burst",
    [VERB_SHRINK] = "shrink",
    [VERB_TASKS] = "tasks",
    [VERB_ASK] = "ask",
    [VERB_SPLIT_LEVEL] = "split_level",
    [VERB_EVERYWHERE] = "everywhere",
    [VERB_ERRANDS] = "errands",
    [VERB_CREATE] = "create",
    [VERB_SITES] = "sites",
    [VERB_MEMORY] = "memory",
};

static const char *const troubles[NUM_TROUBLES] = {
    [TROUBLE_NONE] = "",
    [TROUBLE_LATE] = "is late",
    [TROUBLE_SKIPPED] = "does not call",
    [TROUBLE_CANCEL] = "takes it back",
    [TROUBLE_CANCEL_BEFORE] = "takes it back before it calls",
    [TROUBLE_DEADLINE] = "has a deadline",
    [TROUBLE_SCOPE] = "calls in a scope that is cancelled",
    [TROUBLE_DROPPED] = "drops the future",
};

const char *program_verb(enum verb verb)
{
    return verbs[verb];
}

bool program_needs_all(enum verb verb)
{
    return verb == VERB_AGREE || verb == VERB_SHRINK || verb == VERB_CREATE || verb == VERB_SITES;
}

uint32_t program_caller(const struct program *program, uint32_t actor)
{
    uint32_t caller = 0;
    while (program->locality_of[caller] != program->locality_of[actor])
        caller++;
    return caller;
}

uint32_t program_num_made(const struct program *program, const struct step *step)
{
    return step->num ? step->num : step->each * program->num_localities;
}

/* The first localities have one more if they can't all have the same. */
uint32_t program_locality_made(const struct program *program, const struct step *step,
                               uint32_t site)
{
    uint32_t num = program_num_made(program, step), locality = 0;
    uint32_t share = num / program->num_localities, rest = num % program->num_localities;
    for (uint32_t end = 0; site >= (end += share + (locality < rest));)
        locality++;
    return locality;
}

bool program_gets_any(const struct step *step)
{
    return step->getter == GET_ANY || step->getter == GET_ANY_OBJECT ||
           step->getter == GET_ANY_LAYOUT;
}

uint32_t program_place(const struct program *program, uint32_t locality, uint32_t level)
{
    const struct cohort__position *position = &program->positions[locality];
    if (level == COHORT_LEVEL_LOCALITY)
        return locality;
    if (!program->is_spread)
        return 0;
    return level == COHORT_LEVEL_HOST ? position->host : 2 * position->host + position->domain;
}

uint32_t program_site(const struct group *group, uint32_t actor)
{
    for (uint32_t site = 0; site < group->num_sites; site++)
        if (group->actors[site] == actor)
            return site;
    return NONE;
}

uint32_t program_sites_in(const struct program *program, const struct group *group,
                          uint32_t localities)
{
    uint32_t sites = 0;
    for (uint32_t site = 0; site < group->num_sites; site++)
        sites |= (localities >> program->locality_of[group->actors[site]] & 1) << site;
    return sites;
}

static uint32_t all_of(const struct group *group)
{
    return (1u << group->num_sites) - 1;
}

static void draw_faults(struct program *program, struct choices *choices)
{
    static const size_t budgets[] = {0, 0, 0, 4096};
    program->eager_budget = budgets[choose(choices, 4)];
    if (!program->means.has_deaths || program->num_localities == 1)
        return;
    if (choose_rarely(choices, 3))
        snprintf(program->slow, sizeof(program->slow), "delay:%u%%:%uus", 1 + choose(choices, 30),
                 1 + choose(choices, 4000));
    if (!program->means.has_shortages || !choose_rarely(choices, 5))
        return;
    program->lost_number = 1 + choose(choices, 4u << choose(choices, 7));
    program->lost_from = choose(choices, program->num_localities);
    program->lost_to = (program->lost_from + 1 + choose(choices, program->num_localities - 1)) %
                       program->num_localities;
}

/* Without a launcher nobody is told that another one has no memory for a message. */
static void draw_gaps(struct program *program, struct choices *choices)
{
    bool has_launcher = program->means.has_deaths || program->num_localities == 1;
    if (!program->means.has_shortages || !has_launcher || choose(choices, 2) == 0)
        return;
    program->num_gaps = 1 + choose(choices, MAX_GAPS);
    for (uint32_t i = 0; i < program->num_gaps; i++)
        program->gaps[i] = choose(choices, 4u << choose(choices, 10));
}

/* Of the number that an order would be drawn from. */
static void draw_threads(struct program *program)
{
    if (program->means.has_threads) {
        program->num_workers = 2 + program->order % 3;
        program->tasks_move = program->order / 3 % 2;
        program->progress_thread = program->order / 6 % 2;
    } else
        program->num_workers = 1;
}

static void draw_machine(struct program *program, struct choices *choices)
{
    program->seed = choose(choices, 1 << 20);
    program->order = choose(choices, 1 << 20);
    draw_threads(program);
    program->num_localities = 1 + choose(choices, MAX_LOCALITIES);
    static const uint32_t most[] = {4, 4, 9, MAX_ACTORS};
    program->num_actors = 1 + choose(choices, most[choose(choices, 4)]);
    program->is_spread = choose(choices, 2);
    uint32_t num_hosts = 1 + choose(choices, 3);
    for (uint32_t i = 0; i < program->num_localities; i++)
        program->positions[i] = (struct cohort__position){
            .host = i * num_hosts / program->num_localities, .domain = i % 2};
    program->keeps_going =
        program->means.has_deaths && program->num_localities > 1 && choose(choices, 2);
    uint32_t places = choose(choices, 3);
    for (uint32_t i = 0; i < program->num_actors; i++)
        program->locality_of[i] = places == 0   ? i % program->num_localities
                                  : places == 1 ? i * program->num_localities / program->num_actors
                                                : choose(choices, program->num_localities);
    draw_faults(program, choices);
    draw_gaps(program, choices);
    program->has_accidents = program->num_gaps > 0 || program->lost_number > 0;
    program->has_hooks = choose_rarely(choices, 4);
    /* What is done at once, by a task, and in several pieces. */
    static const size_t areas[] = {4000, 4000, 4000, 4000, 300000, 300000, 300000, 5000000};
    program->area = areas[choose(choices, NUM_OF(areas))];
}

/* The window of an endpoint has 64 generations. */
static uint64_t draw_stride(struct choices *choices)
{
    static const uint64_t strides[] = {1, 1, 16, 64, 0};
    return strides[choose(choices, 5)];
}

static uint64_t next_generation(struct group *group, struct choices *choices)
{
    static const uint64_t strides[] = {1, 63, 2, 65};
    return group->generation += group->stride ? group->stride : strides[choose(choices, 4)];
}

/* Communicators that are made by their names. */
static void draw_first_groups(struct program *program, struct choices *choices)
{
    uint32_t num = 1 + choose(choices, 3);
    for (uint32_t g = 0; g < num; g++) {
        struct group *group = &program->groups[program->num_groups++];
        /* The first one has all actors, and others have those from some actor on. */
        uint32_t first = g == 0 ? 0 : choose(choices, program->num_actors);
        *group =
            (struct group){.parent = NONE, .away = NONE, .num_sites = program->num_actors - first};
        for (uint32_t site = 0; site < group->num_sites; site++)
            group->actors[site] = first + (site + g) % group->num_sites;
        group->root = choose(choices, group->num_sites);
        group->stride = draw_stride(choices);
        group->options = (cohort_comm_options){
            .num_sites = group->num_sites,
            .root_site = group->root,
            .arity = 2 + choose(choices, 2),
            .flat_fallback_threshold = choose(choices, 2) ? COHORT_FORCE_TREE : 1024,
            .reproducible = choose_rarely(choices, 8),
            .check_asymmetric = choose_rarely(choices, 8),
            .stall_after = choose(choices, 2) ? 2000000 : 50000000,
            .memory_budget = choose_rarely(choices, 12) ? 4096 : 0,
            .deadline = choose_rarely(choices, 12) ? 3000000 : 0,
        };
    }
}

/* A group of the sites of PARENT in MEMBERS, a bit each. */
static uint32_t add_group(struct program *program, uint32_t parent_index, uint32_t members,
                          uint64_t stride)
{
    struct group *parent = &program->groups[parent_index];
    uint32_t index = program->num_groups++;
    struct group *group = &program->groups[index];
    *group = (struct group){
        .parent = parent_index, .away = NONE, .stride = stride, .options = parent->options};
    for (uint32_t site = 0; site < parent->num_sites; site++)
        if (members >> site & 1)
            group->actors[group->num_sites++] = parent->actors[site];
    group->options.num_sites = group->num_sites;
    return index;
}

static void draw_split(struct program *program, struct step *step, struct choices *choices)
{
    const struct group *parent = &program->groups[step->group];
    uint64_t stride = draw_stride(choices);
    uint32_t all = all_of(parent), colors[2] = {all, 0}, made[2] = {NONE, NONE};
    if (step->verb == VERB_SPLIT) {
        colors[0] = choose(choices, all + 1);
        colors[1] = all & ~colors[0];
    }
    for (uint32_t color = 0; color < 2; color++)
        if (colors[color])
            made[color] = add_group(program, step->group, colors[color], stride);
    for (uint32_t site = 0; site < parent->num_sites; site++)
        step->made[site] = made[colors[0] >> site & 1 ? 0 : 1];
    if (step->verb == VERB_CREATE)
        program->groups[made[0]].is_named = true;
    if (step->verb != VERB_SPLIT)
        program->groups[made[0]].root = program->groups[made[0]].options.root_site = parent->root;
    else
        for (uint32_t color = 0; color < 2; color++)
            if (made[color] != NONE)
                program->groups[made[color]].options.root_site = 0;
}

static void draw_split_level(struct program *program, struct step *step, struct choices *choices)
{
    const struct group *parent = &program->groups[step->group];
    uint64_t stride = draw_stride(choices);
    uint32_t members[2 * MAX_LOCALITIES] = {0}, made[2 * MAX_LOCALITIES];
    step->to = program->means.has_places ? choose(choices, NUM_LEVELS) : COHORT_LEVEL_LOCALITY;
    step->form = choose(choices, 2);
    for (uint32_t site = 0; site < parent->num_sites; site++)
        members[program_place(program, program->locality_of[parent->actors[site]], step->to)] |=
            1u << site;
    for (uint32_t place = 0; place < 2 * MAX_LOCALITIES; place++)
        if (members[place])
            made[place] = add_group(program, step->group, members[place], stride);
    for (uint32_t site = 0; site < parent->num_sites; site++)
        step->made[site] =
            made[program_place(program, program->locality_of[parent->actors[site]], step->to)];
    for (uint32_t place = 0; place < 2 * MAX_LOCALITIES; place++)
        if (members[place])
            program->groups[made[place]].options.root_site = 0;
}

static void draw_sites(const struct program *program, struct step *step, struct choices *choices)
{
    if (choose(choices, 2))
        step->num = 1 + choose(choices, 2 * MAX_LOCALITIES);
    else
        step->each = 1 + choose(choices, 3);
    bool fails = choose_rarely(choices, 4);
    step->failing = fails ? choose(choices, program_num_made(program, step)) : NONE;
    step->fails_late = choose(choices, 2);
}

/* Of those that are alive by then, in a job that goes on. */
static void draw_shrink(struct program *program, struct step *step, struct choices *choices)
{
    const struct group *parent = &program->groups[step->group];
    uint32_t gone = program->keeps_going ? program_sites_in(program, parent, program->victims) : 0;
    uint32_t made = add_group(program, step->group, all_of(parent) & ~gone, draw_stride(choices));
    program->groups[made].options.root_site = 0;
    program->groups[made].is_shrunk = true;
    for (uint32_t site = 0; site < parent->num_sites; site++)
        step->made[site] = gone >> site & 1 ? NONE : made;
}

/* What the communicator's options say of STEP's call. */
static void check_anyway(const struct group *group, struct step *step)
{
    bool is_asymmetric = step->call.kind == RANDOM_GATHER || step->call.kind == RANDOM_SCATTER ||
                         step->call.kind == RANDOM_GATHERV || step->call.kind == RANDOM_SCATTERV ||
                         step->call.kind == RANDOM_GATHER_OBJECTS ||
                         step->call.kind == RANDOM_SCATTER_OBJECTS;
    step->call.is_checked_anyway = is_asymmetric && group->options.check_asymmetric;
}

/* The group's latest call once more, perhaps with one thing changed. */
static bool repeat_call(const struct program *program, struct step *step, struct choices *choices)
{
    const struct group *group = &program->groups[step->group];
    if (group->latest == 0 || !choose_rarely(choices, 3))
        return false;
    uint32_t how = choose(choices, 3);
    struct cohort__random random = cohort__random_seeded(choose(choices, 1 << 16));
    step->call = program->steps[group->latest - 1].call;
    if (how == 1)
        random_call_change(&step->call, &random);
    else if (how == 2)
        random_call_vary(&step->call, &random);
    step->form = choose(choices, 2) ? choose(choices, 1 << 16) : 0;
    return true;
}

static void draw_call(struct program *program, struct step *step, struct choices *choices)
{
    const struct group *group = &program->groups[step->group];
    uint32_t seed = choose(choices, 1 << 24);
    struct cohort__random random = cohort__random_seeded(seed);
    random_call_draw(&step->call, &random, group->num_sites, group->root);
    if (seed == 0)
        step->call = (struct random_call){
            .kind = RANDOM_BARRIER, .num_sites = group->num_sites, .root = group->root};
    /* Some are longer than what is unpacked, copied and reduced on the spot, or is not lent. */
    static const size_t counts[] = {0, 0, 600, 3000, 9000};
    size_t count = counts[choose(choices, 5)];
    if (count > 0)
        step->call.count = count;
    step->form = choose(choices, 1 << 16);
    static const char *const composed[] = {
        "levels(linear)", "levels(binomial)",     "levels(ring)",
        "levels(bruck)",  "levels(hierarchical)",
    };
    if (choose_rarely(choices, 8) && step->call.kind != RANDOM_CHECK)
        step->call.algorithm = composed[choose(choices, NUM_OF(composed))];
}

enum { NUM_SIZES = 6 };
static const size_t sizes[NUM_SIZES] = {8, 0, 64, 4000, 20000, 300000};

static void draw_message(struct program *program, struct step *step, struct choices *choices)
{
    const struct group *group = &program->groups[step->group];
    step->from = choose(choices, group->num_sites);
    step->to = choose(choices, group->num_sites);
    step->bytes = sizes[choose(choices, NUM_SIZES)];
    step->getter = (enum getter)choose(choices, NUM_GETTERS);
    step->has_own_tag = choose(choices, 2);
    step->sets_layout = choose_rarely(choices, 3);
    step->form = choose(choices, 1 << 16);
}

static bool has_trouble(const struct step *step, enum trouble trouble)
{
    switch (trouble) {
    case TROUBLE_CANCEL:
    case TROUBLE_CANCEL_BEFORE:
    case TROUBLE_DEADLINE:
        return step->verb == VERB_CALL;
    case TROUBLE_DROPPED:
        return step->verb == VERB_CALL;
    case TROUBLE_SCOPE:
        return step->verb == VERB_CALL || step->verb == VERB_REMOTE ||
               step->verb == VERB_EVERYWHERE || step->verb == VERB_MEMORY ||
               program_needs_all(step->verb) ||
               (step->verb == VERB_MESSAGE && step->getter != GET_PROBED);
    case TROUBLE_SKIPPED:
        return step->verb == VERB_CALL || step->verb == VERB_MESSAGE;
    default:
        return true;
    }
}

/* What is to end a call without all of its sites. */
static bool ends_calls(enum trouble trouble)
{
    return trouble == TROUBLE_CANCEL || trouble == TROUBLE_CANCEL_BEFORE ||
           trouble == TROUBLE_DEADLINE || trouble == TROUBLE_SCOPE;
}

/* Who has not called the latest generation may stay away, so that both are in flight, or one waits
 * for the window. */
static void draw_absent(struct group *group, struct step *step, struct choices *choices)
{
    bool is_there = !(group->left >> step->culprit & 1); /* else nobody ends the call */
    if (ends_calls(step->trouble) && is_there && group->num_sites > 1 && choose(choices, 2)) {
        bool is_away = group->away != NONE && group->away != step->culprit && choose(choices, 2);
        step->absent = is_away ? group->away
                               : (step->culprit + 1 + choose(choices, group->num_sites - 1)) %
                                     group->num_sites;
    }
    if (step->verb == VERB_CALL)
        group->away = step->trouble == TROUBLE_SKIPPED ? step->culprit : step->absent;
}

static void draw_trouble(struct program *program, struct step *step, struct choices *choices)
{
    struct group *group = &program->groups[step->group];
    bool is_any = choose_rarely(choices, 3);
    enum trouble trouble = is_any ? (enum trouble)choose(choices, NUM_TROUBLES) : TROUBLE_NONE;
    step->culprit = choose(choices, group->num_sites);
    step->moment = choose(choices, 64);
    if (step->verb == VERB_MESSAGE)
        step->culprit = step->culprit % 2 ? step->from : step->to;
    if (!has_trouble(step, trouble))
        trouble = TROUBLE_NONE;
    /* A call whose locality, or another one, has no memory for taking it back stays in flight. */
    if (program->num_gaps > 0 && step->verb == VERB_CALL && trouble == TROUBLE_SCOPE)
        trouble = TROUBLE_CANCEL;
    step->trouble = trouble;
    if (step->verb == VERB_MESSAGE && trouble == TROUBLE_SCOPE && step->from != step->to &&
        choose(choices, 2))
        step->absent = step->culprit == step->from ? step->to : step->from;
    if (step->verb == VERB_CALL || (program_needs_all(step->verb) && program->num_gaps == 0))
        draw_absent(group, step, choices);
    if (step->verb != VERB_MESSAGE && step->verb != VERB_BURST)
        return;
    /* A get from any site would wait until all others have left. */
    if (program_gets_any(step) && (program->has_accidents || trouble == TROUBLE_SKIPPED ||
                                   trouble == TROUBLE_SCOPE || group->left >> step->from & 1))
        step->getter = GET_BYTES;
    step->has_own_tag |= program->num_gaps || program_gets_any(step) ||
                         trouble == TROUBLE_SKIPPED || trouble == TROUBLE_SCOPE;
}

static bool has_living(const struct program *program, const struct group *group)
{
    return program_sites_in(program, group, program->victims) != all_of(group);
}

/* Who kills is alive, so that it does. */
static void draw_victim(struct program *program, struct step *step, struct choices *choices)
{
    const struct group *group = &program->groups[step->group];
    while (program_sites_in(program, group, program->victims) >> step->culprit & 1)
        step->culprit = (step->culprit + 1) % group->num_sites;
    step->to = choose(choices, program->num_localities);
    while (program->victims >> step->to & 1)
        step->to = (step->to + 1) % program->num_localities;
    program->victims |= 1u << step->to;
}

/* Whether each locality has somebody to call for it. */
static bool has_callers(const struct program *program)
{
    uint32_t localities = 0;
    for (uint32_t i = 0; i < program->num_actors; i++)
        localities |= 1u << program->locality_of[i];
    return localities == (1u << program->num_localities) - 1;
}

static bool is_possible(const struct program *program, enum verb verb, const struct group *group)
{
    switch (verb) {
    case VERB_SPLIT_LEVEL:
        return program->num_groups + MAX_LOCALITIES <= MAX_GROUPS && !group->is_troubled;
    case VERB_SPLIT:
    case VERB_DUP:
        return program->num_groups + 2 <= MAX_GROUPS && !group->is_troubled;
    case VERB_CREATE: /* who has no memory would leave the others waiting */
        return program->num_groups < MAX_GROUPS && program->num_gaps == 0;
    case VERB_SITES: /* likewise */
        return has_callers(program) && program->num_gaps == 0;
    case VERB_SHRINK:
        return program->num_groups < MAX_GROUPS && has_living(program, group);
    case VERB_KILL:
        return program->means.has_deaths && has_living(program, group) &&
               (uint32_t)__builtin_popcount(program->victims) + 1 <
                   (program->keeps_going ? program->num_localities : 2) &&
               program->num_localities > 1;
    default:
        return true;
    }
}

/* Who calls for the locality of the one that was drawn. */
static void find_callers(const struct program *program, struct step *step)
{
    step->culprit = program_caller(program, step->culprit);
    if (step->absent != NONE)
        step->absent = program_caller(program, step->absent);
    if (step->absent == step->culprit)
        step->absent = NONE;
}

static void draw_step(struct program *program, struct choices *choices)
{
    struct step *step = &program->steps[program->num_steps];
    *step = (struct step){.group = choose(choices, program->num_groups), .absent = NONE};
    struct group *group = &program->groups[step->group];
    /* Half of the steps are calls of collectives. */
    step->verb = choose(choices, 2) ? (enum verb)choose(choices, NUM_VERBS) : VERB_CALL;
    step->timing = choose(choices, 1 << 16);
    /* It takes long, and who has no memory for something else would be in the middle of it. */
    if (step->verb == VERB_BURST && (program->num_gaps || !choose_rarely(choices, 3)))
        step->verb = VERB_MESSAGE;
    /* With the dead in it hardly anything works. */
    if (program->keeps_going && program_sites_in(program, group, program->victims) &&
        choose(choices, 2))
        step->verb = VERB_SHRINK;
    if (!is_possible(program, step->verb, group))
        step->verb = VERB_CALL;
    if (step->verb == VERB_SITES) /* of which each actor is a site */
        group = &program->groups[step->group = 0];
    if (step->verb == VERB_CALL || step->verb == VERB_SPLIT || step->verb == VERB_DUP ||
        step->verb == VERB_SPLIT_LEVEL)
        step->generation = next_generation(group, choices);
    if (step->verb == VERB_CALL) {
        if (!repeat_call(program, step, choices))
            draw_call(program, step, choices);
        check_anyway(group, step);
        group->latest = program->num_steps + 1;
    } else if (step->verb == VERB_MESSAGE || step->verb == VERB_BURST)
        draw_message(program, step, choices);
    else if (step->verb == VERB_SPLIT || step->verb == VERB_DUP || step->verb == VERB_CREATE)
        draw_split(program, step, choices);
    else if (step->verb == VERB_SPLIT_LEVEL)
        draw_split_level(program, step, choices);
    else if (step->verb == VERB_SHRINK)
        draw_shrink(program, step, choices);
    else if (step->verb == VERB_ASK)
        draw_call(program, step, choices);
    else if (step->verb == VERB_SITES)
        draw_sites(program, step, choices);
    else if (step->verb == VERB_REMOTE || step->verb == VERB_EVERYWHERE) {
        step->to = choose(choices, program->num_localities);
        step->bytes = sizes[choose(choices, NUM_SIZES)];
    } else if (step->verb == VERB_TASKS || step->verb == VERB_ERRANDS)
        step->form = choose(choices, 1 << 16);
    else if (step->verb == VERB_MEMORY) {
        step->to = program->locality_of[choose(choices, program->num_actors)];
        step->form = choose(choices, 1 << 16);
    }
    draw_trouble(program, step, choices);
    if (step->verb == VERB_SITES)
        find_callers(program, step);
    if (step->verb == VERB_LEAVE)
        group->left |= 1u << step->culprit;
    group->is_troubled |= step->verb == VERB_LEAVE || step->verb == VERB_REVOKE;
    group->is_revoked |= step->verb == VERB_REVOKE;
    if (step->verb == VERB_KILL)
        draw_victim(program, step, choices);
    program->num_steps++;
}

/* What is made out of a group is fragile if somebody leaves that one, or revokes it, or if a
 * locality of it dies, ever: a site may be slow, and still take part in what others have done long
 * ago. In a job that does not go on that may be any locality. But those who shrink all get the
 * same. */
static bool is_fragile(const struct program *program, const struct group *group)
{
    const struct group *parent = &program->groups[group->parent];
    uint32_t deaths = program->keeps_going ? program_sites_in(program, parent, program->victims)
                                           : program->victims;
    bool is_sure = group->is_shrunk && (program->keeps_going || !program->victims);
    if (program->has_accidents)
        return true; /* somebody may leave at any time */
    if (group->is_named)
        return deaths;
    if (parent->is_fragile || is_sure)
        return parent->is_fragile;
    return parent->options.deadline > 0 || parent->is_troubled || deaths;
}

/* Who creates by a name after a death may wait for the dead. */
static void find_fragile(struct program *program)
{
    for (uint32_t g = 0; g < program->num_groups; g++) {
        struct group *group = &program->groups[g];
        if (group->parent == NONE)
            continue;
        group->is_fragile = is_fragile(program, group);
        group->options.create_deadline = group->is_fragile ? UINT64_C(5000000000) : 0;
    }
}

void program_draw(struct program *program, struct choices *choices, struct means means)
{
    *program = (struct program){.means = means};
    draw_machine(program, choices);
    draw_first_groups(program, choices);
    for (;;) {
        choices_mark(choices);
        if (program->num_steps == MAX_STEPS || choose(choices, 24) == 0)
            break;
        draw_step(program, choices);
    }
    find_fragile(program);
}

static void print_step(const struct step *step)
{
    char text[256] = "";
    if (step->verb == VERB_CALL || step->verb == VERB_ASK)
        random_call_describe(&step->call, text, sizeof(text));
    if (step->verb == VERB_MESSAGE)
        snprintf(text, sizeof(text), "of %zu bytes from site %u to %u, got by %d%s%s", step->bytes,
                 step->from, step->to, step->getter, step->has_own_tag ? ", own tag" : "",
                 step->sets_layout ? ", set by layout" : "");
    if (step->verb == VERB_KILL || step->verb == VERB_REMOTE || step->verb == VERB_MEMORY ||
        step->verb == VERB_SPLIT_LEVEL)
        snprintf(text, sizeof(text), step->verb == VERB_SPLIT_LEVEL ? "level %u" : "locality %u",
                 step->to);
    if (step->verb == VERB_SITES)
        snprintf(text, sizeof(text), "%u in each locality, or %u, of which %d fails%s", step->each,
                 step->num, (int)step->failing, step->fails_late ? " late" : "");
    fprintf(stderr, "%s on group %u, generation %" PRIu64 ", timing %u, form %u: %s",
            verbs[step->verb], step->group, step->generation, step->timing, step->form, text);
    if (step->trouble || step->verb == VERB_LEAVE || step->verb == VERB_REVOKE ||
        step->verb == VERB_IDLE || step->verb == VERB_KILL || step->verb == VERB_REMOTE ||
        step->verb == VERB_TASKS || step->verb == VERB_EVERYWHERE || step->verb == VERB_ERRANDS ||
        step->verb == VERB_MEMORY)
        fprintf(stderr, "; site %u %s (%u)", step->culprit, troubles[step->trouble], step->moment);
    if (step->absent != NONE)
        fprintf(stderr, "; site %u %s", step->absent,
                program_needs_all(step->verb) ? "calls after that" : "does not call");
    fputs("\n", stderr);
}

void program_print(const struct program *program)
{
    fprintf(stderr,
            "transport %" PRIu64 ", order %" PRIu64 ", %u workers%s%s%s, %u localities%s%s; "
            "actors at",
            program->seed, program->order, program->num_workers,
            program->tasks_move ? ", tasks move" : "",
            program->progress_thread ? ", a progress thread" : "",
            program->has_hooks ? ", hooks" : "", program->num_localities,
            program->is_spread ? " on several hosts" : "",
            program->keeps_going ? ", going on without the dead" : "");
    for (uint32_t i = 0; i < program->num_actors; i++)
        fprintf(stderr, " %u", program->locality_of[i]);
    for (uint32_t i = 0; i < program->num_gaps; i++)
        fprintf(stderr, "%s %u", i ? "," : "; no memory after", program->gaps[i]);
    if (program->lost_number > 0)
        fprintf(stderr, "; locality %u does not reach %u from message %u on", program->lost_from,
                program->lost_to, program->lost_number);
    if (program->eager_budget > 0)
        fprintf(stderr, "; budget %zu", program->eager_budget);
    if (program->slow[0])
        fprintf(stderr, "; %s", program->slow);
    fprintf(stderr, "; areas of %zu bytes", program->area);
    fputs("\n", stderr);
    for (uint32_t g = 0; g < program->num_groups; g++) {
        const struct group *group = &program->groups[g];
        fprintf(stderr, "group %u, %s%d, root %u, arity %u%s%s%s%s: actors", g,
                group->parent == NONE ? "by name " : "of group ", (int)group->parent, group->root,
                group->options.arity,
                group->options.flat_fallback_threshold == COHORT_FORCE_TREE ? ", tree" : "",
                group->options.reproducible ? ", reproducible" : "",
                group->options.check_asymmetric ? ", checked" : "",
                group->is_fragile ? ", fragile" : "");
        for (uint32_t site = 0; site < group->num_sites; site++)
            fprintf(stderr, " %u", group->actors[site]);
        fputs("\n", stderr);
    }
    for (uint32_t s = 0; s < program->num_steps; s++) {
        fprintf(stderr, "%3u ", s);
        print_step(&program->steps[s]);
    }
}
