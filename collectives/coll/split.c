/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/split.h"
#include "collectives/coll/call.h"
#include "collectives/coll/call_start.h"
#include "collectives/comm/commons.h"
#include "collectives/comm/create.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/idle.h"
#include "collectives/model/select.h"
#include "runtime/base/container.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"

/* What a site asks for in a call that makes communicators out of one. */
struct cohort__division_call {
    const char *function; /* for messages */
    enum cohort__purpose purpose;
    int32_t color; /* of a SPLIT; the same for all else */
    int32_t key;
    const char *wrong; /* with its arguments; NULL: nothing */
    cohort_comm *comm;
    cohort_comm **ret_comm;
    uint64_t generation;
};

/* What a site of a SPLIT says: two COHORT_INT32. */
struct wish {
    int32_t color;
    int32_t key;
};

struct division {
    struct cohort__waiter waiter; /* for `called` */
    struct cohort__work work;
    cohort_future *called; /* the parent's collective */
    cohort_future *future; /* the reference that completes it */
    cohort_comm *parent;   /* a reference */
    struct cohort__commons *commons;
    cohort_comm **ret_comm;
    enum cohort__purpose purpose;
    uint64_t generation;
    struct wish own;
    struct wish all[]; /* of a SPLIT: by the parent's sites */
};

/* The members -------------------------------------------------------------------------------- */

/* The sites of the parent that get one communicator with this site. */
struct family {
    uint32_t num;
    uint32_t rank;   /* of this site among them */
    uint32_t first;  /* the site that becomes site 0 */
    uint32_t number; /* the subgroup at a level */
    bool is_whole;
};

static void add(struct family *family, const struct division *division, uint32_t site,
                bool is_before_this, bool is_before_first)
{
    const uint32_t *locality_of = division->parent->group->membership->locality_of;
    if (family->num++ == 0 || is_before_first)
        family->first = site;
    family->rank += is_before_this;
    family->is_whole &= locality_of[site] == locality_of[division->parent->this_site];
}

static bool is_before(const struct division *division, uint32_t left, uint32_t right)
{
    const struct wish *all = division->all;
    return all[left].key < all[right].key || (all[left].key == all[right].key && left < right);
}

static struct family of_color(const struct division *division)
{
    struct family family = {.is_whole = true};
    for (uint32_t site = 0; site < cohort_comm_num_sites(division->parent); site++)
        if (division->all[site].color == division->own.color)
            add(&family, division, site, is_before(division, site, division->parent->this_site),
                is_before(division, site, family.first));
    return family;
}

/* The members of a subgroup are not in the order of their numbers, but the lowest is the first. */
static struct family of_level(const struct division *division, uint32_t level)
{
    const struct cohort__machine *machine = division->parent->group->machine;
    uint32_t number = cohort__machine_subgroup(machine, level, division->parent->this_site);
    struct cohort__members members = cohort__machine_members(machine, level, number);
    struct family family = {.number = number, .is_whole = true};
    for (uint32_t i = 0; i < members.num; i++)
        add(&family, division, members.sites[i], members.sites[i] < division->parent->this_site,
            false);
    return family;
}

static struct family find_family(const struct division *division)
{
    const cohort_comm *parent = division->parent;
    uint32_t level;
    if (division->purpose == COHORT__PURPOSE_SPLIT)
        return of_color(division);
    if (cohort__purpose_is_level(division->purpose, &level))
        return of_level(division, level);
    return (struct family){.num = cohort_comm_num_sites(parent),
                           .rank = parent->this_site,
                           .is_whole = parent->group->is_whole};
}

/* The parent's name, cut off where it is too long, and what is special about this one. */
static void print_name(char text[COHORT__NAME_BYTES_MAX + 1], const struct division *division,
                       const struct family *family)
{
    const struct cohort__machine *machine = division->parent->group->machine;
    char own[80];
    uint32_t level;
    if (division->purpose == COHORT__PURPOSE_SPLIT)
        snprintf(own, sizeof(own), "/split %" PRIu64 " color %" PRId32, division->generation,
                 division->own.color);
    else if (cohort__purpose_is_level(division->purpose, &level))
        snprintf(own, sizeof(own), "/%s %" PRIu32, cohort__machine_name(machine, level),
                 family->number);
    else
        snprintf(own, sizeof(own), "/dup %" PRIu64, division->generation);
    snprintf(text, COHORT__NAME_BYTES_MAX + 1, "%.*s%s",
             (int)(COHORT__NAME_BYTES_MAX - strlen(own)), cohort_comm_name(division->parent), own);
}

/* After the parent's collective --------------------------------------------------------------- */

static void join(struct division *division)
{
    cohort_comm *parent = division->parent;
    struct family family = find_family(division);
    char name[COHORT__NAME_BYTES_MAX + 1];
    print_name(name, division, &family);
    struct cohort__comm_child child = {
        .name = name,
        .generation = division->generation,
        .num_sites = family.num,
        .this_site = family.rank,
        .root_site = division->purpose == COHORT__PURPOSE_DUP ? parent->root_site : 0,
        .home = parent->group->membership->locality_of[family.first],
        .is_flat =
            cohort__select_is_flat(family.num, parent->arity, parent->flat_fallback_threshold),
        .is_whole = family.is_whole,
    };
    cohort__comm_create_child(parent, &child, division->ret_comm, division->future);
}

static void fail(struct division *division)
{
    struct cohort__error error = {0};
    cohort__future_error(division->called, &error);
    cohort__future_complete(division->future, error.status, &error);
    cohort__error_fini(&error);
}

/* The collective is over. The reference to the parent is given back before the future completes:
 * the site may then give back the parent, too, and make one of the same name at once. */
static void conclude(struct division *division)
{
    if (cohort__future_status(division->called)) {
        cohort_comm_unref(division->parent);
        fail(division);
    } else if (division->purpose == COHORT__PURPOSE_SPLIT &&
               division->own.color == COHORT_COLOR_NONE) {
        cohort_comm_unref(division->parent);
        *division->ret_comm = NULL;
        cohort__future_fulfil(division->future, NULL);
    } else {
        join(division);
    }
    cohort_future_unref(division->called);
    free(division);
}

/* A site that runs out of memory may be the only one whose collective has failed, and others wait
 * for it to join. But if memory is limited, that limit is the likely reason, and it is the same at
 * all sites. */
static void tell_others(const struct division *division)
{
    struct cohort__process *process = division->commons->process;
    struct cohort__error error = {0};
    cohort__future_error(division->called, &error);
    if (error.status == COHORT_ERR_NO_MEMORY && division->parent->memory_budget == 0) {
        cohort_fail(error.status, "%s", cohort__error_message(&error));
        cohort__registry_lost(cohort__process_registry(process), cohort__process_rank(process),
                              error.status);
    }
    cohort__error_fini(&error);
}

static void run(struct cohort__work *work)
{
    struct division *division = COHORT_CONTAINER_OF(work, struct division, work);
    struct cohort__commons *commons = division->commons;
    tell_others(division);
    conclude(division);
    cohort__commons_count_work(commons, -1);
}

/* Joining takes time, and the caller may be anywhere: it is for a worker. At the end of the job
 * there is none any more; then the collective has been cancelled. */
static void notify(struct cohort__waiter *waiter)
{
    struct division *division = COHORT_CONTAINER_OF(waiter, struct division, waiter);
    if (cohort__future_status(division->called) == COHORT_ERR_CANCELLED) {
        conclude(division);
        return;
    }
    cohort__commons_count_work(division->commons, 1);
    cohort__chore_post(&division->work);
}

/* Start --------------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static struct division *create(const struct cohort__division_call *call)
{
    cohort_comm *parent = call->comm;
    size_t num = call->purpose == COHORT__PURPOSE_SPLIT ? cohort_comm_num_sites(parent) : 0;
    struct division *division = malloc(sizeof(*division) + num * sizeof(division->all[0]));
    if (!division)
        return NULL;
    *division = (struct division){
        .waiter = {.notify = notify, .is_owner = true},
        .work = {.run = run},
        .parent = parent,
        .commons = parent->group->commons,
        .ret_comm = call->ret_comm,
        .purpose = call->purpose,
        .own = {call->color, call->key},
    };
    return division;
}

static struct cohort__call collective_of(const struct cohort__division_call *call)
{
    bool gathers = call->purpose == COHORT__PURPOSE_SPLIT;
    return (struct cohort__call){
        .function = call->function,
        .collective = gathers ? COHORT__ALL_GATHER : COHORT__BARRIER,
        .purpose = call->purpose,
        .needs_in = gathers,
        .needs_out = gathers,
        .comm = call->comm,
        .count = gathers ? 2 : 0,
        .datatype = gathers ? COHORT_INT32 : 0,
        .generation = call->generation,
    };
}

/* First a collective of COMM tells each site what all others ask for, or that all have come. Then
 * each site knows who is with it, and joins its new communicator. Never NULL. */
static cohort_future *division_start(const struct cohort__division_call *call)
{
    struct cohort__call collective = collective_of(call);
    if (!call->comm)
        return cohort__call_start(&collective);
    if (call->wrong || !call->ret_comm)
        return cohort__call_refuse(&collective, COHORT_ERR_BAD_PARAMETER,
                                   call->wrong ? call->wrong : "no place for the communicator");
    struct division *division = create(call);
    cohort_future *future =
        division ? cohort__endpoint_begin(call->comm, COHORT__WAIT_COLLECTIVE) : NULL;
    if (!future) {
        free(division);
        return cohort__call_refuse(&collective, COHORT_ERR_NO_MEMORY,
                                   "no memory for what the sites ask for");
    }
    atomic_fetch_add(&call->comm->refs, 1);
    collective.in = &division->own;
    collective.out = division->all;
    division->future = future;
    division->called = cohort__call_start(&collective);
    division->generation = collective.generation;
    if (!cohort__future_wait_with(division->called, &division->waiter))
        conclude(division);
    return future;
}

cohort_future *cohort_comm_split(cohort_comm **ret_comm, cohort_comm *comm, int32_t color,
                                 int32_t key, uint64_t generation)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_comm_split");
    return division_start(&(struct cohort__division_call){
        .function = "cohort_comm_split",
        .purpose = COHORT__PURPOSE_SPLIT,
        .color = color,
        .key = key,
        .comm = comm,
        .ret_comm = ret_comm,
        .generation = generation,
    });
}

cohort_future *cohort_comm_split_level(cohort_comm **ret_comm, cohort_comm *comm,
                                       cohort_level level, uint64_t generation)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_comm_split_level");
    /* The texts differ, since the call like the last one is found by them, see call_start.c. */
    static const char *const functions[] = {
        [COHORT_LEVEL_LOCALITY] = "cohort_comm_split_level by localities",
        [COHORT_LEVEL_DOMAIN] = "cohort_comm_split_level by domains",
        [COHORT_LEVEL_HOST] = "cohort_comm_split_level by hosts",
    };
    bool is_level = (unsigned)level < sizeof(functions) / sizeof(functions[0]);
    return division_start(&(struct cohort__division_call){
        .function = is_level ? functions[level] : "cohort_comm_split_level",
        .purpose = COHORT__PURPOSE_LOCALITY + (is_level ? level : COHORT_LEVEL_LOCALITY),
        .wrong = is_level ? NULL : "there is no such level",
        .comm = comm,
        .ret_comm = ret_comm,
        .generation = generation,
    });
}

/* "there is no level 'swich', only locality, domain, host, switch" */
static void describe_missing(const struct cohort__machine *machine, const char *name, char *text,
                             size_t bytes)
{
    int used = snprintf(text, bytes, "there is no level '%.60s', only", name);
    for (uint32_t i = 0; i < cohort__machine_num_levels(machine); i++)
        used += snprintf(text + used, bytes - (size_t)used, "%s %s", i > 0 ? "," : "",
                         cohort__machine_name(machine, i));
}

cohort_future *cohort_comm_split_named_level(cohort_comm **ret_comm, cohort_comm *comm,
                                             const char *name, uint64_t generation)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_comm_split_named_level");
    /* As above. */
    static const char *const functions[] = {
        "cohort_comm_split_named_level by localities", "cohort_comm_split_named_level by domains",
        "cohort_comm_split_named_level by hosts",      "cohort_comm_split_named_level by level 1",
        "cohort_comm_split_named_level by level 2",    "cohort_comm_split_named_level by level 3",
        "cohort_comm_split_named_level by level 4",
    };
    enum { MOST_LEVELS = sizeof(functions) / sizeof(functions[0]) };
    _Static_assert(MOST_LEVELS == COHORT__NUM_PURPOSES - COHORT__PURPOSE_LOCALITY,
                   "a text for each level");
    char why[100 + 2 * COHORT__NAMED_LEVELS_LIST] = "no name of a level";
    const struct cohort__machine *machine = comm ? comm->group->machine : NULL;
    uint32_t level = machine && name ? cohort__machine_find(machine, name) : 0;
    bool is_level = machine && name && level < cohort__machine_num_levels(machine);
    if (machine && name && !is_level)
        describe_missing(machine, name, why, sizeof(why));
    return division_start(&(struct cohort__division_call){
        .function = is_level ? functions[level] : "cohort_comm_split_named_level",
        .purpose = COHORT__PURPOSE_LOCALITY + (is_level ? level : 0),
        .wrong = is_level ? NULL : why,
        .comm = comm,
        .ret_comm = ret_comm,
        .generation = generation,
    });
}

cohort_future *cohort_comm_dup(cohort_comm **ret_comm, cohort_comm *comm, uint64_t generation)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_comm_dup");
    return division_start(&(struct cohort__division_call){
        .function = "cohort_comm_dup",
        .purpose = COHORT__PURPOSE_DUP,
        .comm = comm,
        .ret_comm = ret_comm,
        .generation = generation,
    });
}
