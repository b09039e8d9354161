/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/create.h"

#include "cohort/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/endpoint_life.h"
#include "collectives/comm/inbox.h"
#include "collectives/comm/remote.h"
#include "collectives/comm/verdict.h"
#include "runtime/base/container.h"
#include "runtime/base/ledger.h"
#include "runtime/base/trace.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/scope.h"
#include "runtime/task/wait.h"

/* Ns. Long beside any call that goes well, so that a job that works asks nothing; short enough that
 * somebody who looks on hears soon who is missing. Not measured. */
enum { DEFAULT_STALL_AFTER = 1000000000 };

/* A creation that is not complete. */
struct creation {
    struct cohort__join join;
    _Atomic uint32_t refs; /* of the join, and of the revocation if there is one */
    struct cohort__inbox *inbox;
    cohort_comm_options options;
    struct cohort__comm_choice choice;
    struct cohort__packer settings;
    cohort_comm **ret_comm;
    cohort_future *future;
    struct cohort__revocation revocation; /* if there is no endpoint though all have joined */
    struct cohort__membership *lost;      /* then a reference to what is revoked */
    uintptr_t task;                       /* that creates it, as in the ledger */
    char name[COHORT__NAME_BYTES_MAX + 1 + 2 * sizeof(uint64_t)]; /* behind its 0: see child */
    char terms[256 + COHORT__ALGORITHMS_BYTES];
};

static void trace_endpoint(const struct cohort_comm *comm)
{
    const struct cohort__group *group = comm->group;
    cohort__trace_write(COHORT__TRACE_ENDPOINT, (uintptr_t)comm, group->membership->instance,
                        comm->this_site | (uint64_t)group->membership->num_sites << 32);
    cohort__trace_write_text(COHORT__TRACE_TEXT, group->name, strlen(group->name));
    for (uint32_t level = 0; level < cohort__machine_num_levels(group->machine); level++) {
        const char *name = cohort__machine_name(group->machine, level);
        cohort__trace_write((uint32_t)COHORT__TRACE_LEVEL | level << 8, (uintptr_t)comm, 0, 0);
        cohort__trace_write_text(COHORT__TRACE_TEXT, name, strlen(name));
    }
}

/* Makes the endpoint. Does all that can fail after all sites have joined. */
static cohort_status make_endpoint(struct creation *creation, struct cohort__membership *membership)
{
    struct cohort__group *group;
    struct cohort_comm *comm;
    struct cohort__comm_settings settings;
    cohort_status status = cohort__inbox_group(creation->inbox, creation->name, membership, &group);
    if (!status)
        status = cohort__comm_settings_unpack(&settings, group->membership->settings,
                                              group->membership->settings_bytes, creation->name);
    if (!status)
        status = cohort__endpoint_create(&comm, group, creation->options.this_site);
    if (status)
        return status;
    comm->root_site = creation->options.root_site;
    comm->arity = creation->options.arity;
    comm->is_flat = creation->choice.is_flat;
    comm->is_tree_forced = creation->choice.is_tree_forced;
    comm->flat_fallback_threshold = creation->options.flat_fallback_threshold;
    comm->memory_budget = creation->options.memory_budget;
    comm->auto_generation = creation->options.auto_generation;
    comm->stall_after = creation->options.stall_after;
    comm->deadline = creation->options.deadline;
    comm->next_call = cohort__endpoint_no_options(comm);
    comm->reproducible = creation->options.reproducible;
    atomic_store_explicit(&comm->line->task, creation->task, memory_order_relaxed);
    memcpy(comm->forced, creation->choice.forced, sizeof(comm->forced));
    comm->settings = settings;
    comm->check_asymmetric = creation->options.check_asymmetric || settings.check_asymmetric;
    *creation->ret_comm = comm;
    if (cohort__trace_is_on)
        trace_endpoint(comm);
    cohort__inbox_add(creation->inbox, comm);
    if (creation->join.name_bytes == 0)
        cohort__inbox_set_latest(creation->inbox, comm);
    cohort__group_add(group, comm->this_site, &comm->actor);
    cohort__verdicts_join(comm);
    if (cohort__remote_is_revoked(group)) { /* the others have been told */
        cohort__endpoint_peer_died(comm);
        cohort__process_more(group->commons->process);
    }
    return COHORT_OK;
}

static void creation_destroy(struct creation *creation)
{
    if (!creation || atomic_fetch_sub_explicit(&creation->refs, 1, memory_order_acq_rel) != 1)
        return;
    cohort__packer_fini(&creation->settings);
    cohort__membership_unref(creation->join.parent);
    free(creation);
}

static void on_given_up(struct cohort__revocation *revocation, cohort_status status)
{
    struct creation *creation = COHORT_CONTAINER_OF(revocation, struct creation, revocation);
    struct cohort__process *process = cohort__inbox_commons(creation->inbox)->process;
    if (status != COHORT_ERR_CANCELLED) /* the sites here must not wait for this one, in any case */
        cohort__inbox_give_up(creation->inbox, creation->lost, creation->options.this_site);
    if (status == COHORT_ERR_NO_MEMORY) { /* else the others know why without it */
        uint32_t rank = cohort__process_rank(process);
        cohort__registry_lost(cohort__process_registry(process), rank, status);
        /* That ends joins. The others of this instance have theirs behind them. */
        cohort__process_give_up(process, rank, "a site has no endpoint, and can't tell: no memory");
    }
    cohort__membership_unref(creation->lost);
    creation_destroy(creation);
}

/* All have joined MEMBERSHIP's instance, but this site has no endpoint, and the others would wait
 * for it: it is revoked. Takes the reference. The error that is set stays. */
static void give_up_place(struct creation *creation, struct cohort__membership *membership)
{
    struct cohort__registry *registry =
        cohort__process_registry(cohort__inbox_commons(creation->inbox)->process);
    struct cohort__error error = {0};
    cohort__error_copy(&error, cohort__error_slot());
    creation->revocation = (struct cohort__revocation){
        .membership = membership, .site = creation->options.this_site, .done = on_given_up};
    creation->lost = membership;
    atomic_fetch_add(&creation->refs, 1);
    cohort__membership_ref(membership);
    cohort__registry_revoke(registry, &creation->revocation);
    cohort__registry_leave(registry, membership, creation->options.this_site);
    cohort__membership_unref(membership);
    cohort__error_copy(cohort__error_slot(), &error);
    cohort__error_fini(&error);
}

static void on_joined(struct cohort__join *join, cohort_status status,
                      struct cohort__membership *membership)
{
    struct creation *creation = COHORT_CONTAINER_OF(join, struct creation, join);
    struct cohort__inbox *inbox = creation->inbox;
    if (!status) {
        cohort__membership_ref(membership);
        status = make_endpoint(creation, membership);
        if (status)
            (void)cohort_fail(status, "communicator \"%.60s\", site %u: no endpoint: %s",
                              creation->name, creation->options.this_site, cohort_error_message());
        if (status)
            give_up_place(creation, membership);
        else
            cohort__membership_unref(membership);
    }
    cohort__future_complete(creation->future, status, status ? cohort__error_slot() : NULL);
    cohort__inbox_creation_end(inbox);
    creation_destroy(creation);
}

static cohort_status check(const char *name, const cohort_comm_options *options)
{
    if (!name || !options)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_comm_create: no %s",
                           name ? "options" : "name");
    size_t bytes = strlen(name);
    if (bytes == 0 || bytes > COHORT__NAME_BYTES_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "cohort_comm_create: a name of %zu bytes; 1 to %d are possible", bytes,
                           COHORT__NAME_BYTES_MAX);
    if (options->num_sites == 0 || options->num_sites > INT32_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "communicator \"%s\": num_sites %u is not 1 to 2^31-1", name,
                           options->num_sites);
    if (options->this_site >= options->num_sites)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "communicator \"%s\": site %u is out of range: num_sites is %u", name,
                           options->this_site, options->num_sites);
    if (options->root_site >= options->num_sites)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "communicator \"%s\": site %u: root_site %u is out of range: "
                           "num_sites is %u",
                           name, options->this_site, options->root_site, options->num_sites);
    if (options->arity == 1)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "communicator \"%s\": site %u: arity 1: a tree needs 2 or more", name,
                           options->this_site);
    return COHORT_OK;
}

static void set_defaults(cohort_comm_options *options)
{
    if (options->arity == 0)
        options->arity = COHORT_DEFAULT_ARITY;
    if (options->flat_fallback_threshold == 0)
        options->flat_fallback_threshold = COHORT_DEFAULT_FLAT_FALLBACK_THRESHOLD;
    else if (options->flat_fallback_threshold == COHORT_FORCE_TREE)
        options->flat_fallback_threshold = 0;
    if (options->stall_after == 0)
        options->stall_after = DEFAULT_STALL_AFTER;
}

/* The options, and what follows from them, in words. They are the same at all sites. */
static void print_terms(char *ret_text, size_t bytes, const cohort_comm_options *options,
                        const struct cohort__comm_choice *choice)
{
    char budget[48] = "";
    if (options->memory_budget > 0)
        snprintf(budget, sizeof(budget), ", memory_budget %llu",
                 (unsigned long long)options->memory_budget);
    snprintf(ret_text, bytes,
             "num_sites %u, root_site %u, arity %u, flat_fallback_threshold %u%s%s%s%s%s%s",
             options->num_sites, options->root_site, options->arity,
             options->flat_fallback_threshold, options->auto_generation ? ", auto_generation" : "",
             options->reproducible ? ", reproducible" : "",
             options->check_asymmetric ? ", check_asymmetric" : "", budget,
             choice->algorithms[0] ? ", algorithms " : "", choice->algorithms);
}

/* FAILED, with a message, is why this site can't take part. */
static struct creation *creation_create(cohort_comm **ret_comm, const char *name,
                                        const cohort_comm_options *options,
                                        const struct cohort__comm_choice *choice,
                                        cohort_status failed)
{
    struct creation *creation = calloc(1, sizeof(*creation));
    if (!creation) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%s\": no memory", name);
        return NULL;
    }
    atomic_init(&creation->refs, 1);
    cohort__comm_settings_pack(&choice->settings, &creation->settings);
    if (creation->settings.status) {
        cohort_fail(creation->settings.status, "communicator \"%s\": no memory for settings", name);
        creation_destroy(creation);
        return NULL;
    }
    creation->options = *options;
    creation->ret_comm = ret_comm;
    creation->choice = *choice;
    snprintf(creation->name, sizeof(creation->name), "%s", name);
    if (failed)
        snprintf(creation->terms, sizeof(creation->terms), "%s", cohort_error_message());
    else
        print_terms(creation->terms, sizeof(creation->terms), options, choice);
    return creation;
}

/* All else of the join is set. */
static void begin(struct creation *creation, struct cohort__inbox *inbox, cohort_future *future,
                  uintptr_t task)
{
    struct cohort__join *join = &creation->join;
    creation->inbox = inbox;
    creation->future = future;
    creation->task = task;
    join->name = creation->name;
    join->site = creation->options.this_site;
    join->num_sites = creation->options.num_sites;
    join->terms = creation->terms;
    join->settings = creation->settings.data;
    join->settings_bytes = creation->settings.bytes;
    join->deadline = creation->options.create_deadline;
    join->done = on_joined;
    cohort__inbox_creation_begin(inbox);
    cohort__registry_join(cohort__process_registry(cohort__inbox_commons(inbox)->process), join);
}

cohort_future *cohort__comm_create_in(struct cohort__process *process, cohort_comm **ret_comm,
                                      const char *name, const cohort_comm_options *given,
                                      cohort__comm_chooser *choose, cohort__comm_surveyor *survey)
{
    cohort_status status = check(name, given);
    if (!status && !ret_comm)
        status = cohort_fail(COHORT_ERR_BAD_PARAMETER,
                             "communicator \"%s\": site %u: no place for the result", name,
                             given->this_site);
    if (!status && !process)
        status = cohort_fail(COHORT_ERR_STATE,
                             "communicator \"%s\": no job: call from within cohort_main", name);
    struct cohort__comm_choice choice = {0};
    cohort_comm_options options = {0};
    if (!status) {
        options = *given;
        set_defaults(&options);
        status = choose(name, &options, &choice);
    }
    struct cohort__inbox *inbox = NULL;
    if (!status)
        status = cohort__inbox_get(process, &inbox);
    uint64_t left_instance = 0;
    if (!status && cohort__inbox_has_site(inbox, name, options.this_site, &left_instance))
        status = cohort_fail(COHORT_ERR_DUPLICATE_SITE,
                             "communicator \"%s\": site %u joins, but its endpoint still lives in "
                             "this locality (%u)",
                             name, options.this_site, cohort__process_rank(process));
    cohort_status failed = COHORT_OK;
    if (!status) {
        failed = cohort__comm_settings_read(&choice.settings);
        if (!failed)
            failed = survey(options.this_site, &choice.settings);
    }
    struct creation *creation =
        status ? NULL : creation_create(ret_comm, name, &options, &choice, failed);
    cohort_future *future = creation ? cohort__future_create() : NULL;
    if (!future) {
        creation_destroy(creation);
        return cohort__future_of_status(cohort__error_slot()->status, cohort__error_slot());
    }
    creation->join.left_instance = left_instance;
    creation->join.failed = failed;
    creation->join.scope = cohort__scope_current();
    creation->join.future = future;
    begin(creation, inbox, future, cohort__wait_line_stamped_self());
    return future;
}

/* What the endpoints of CHILD have of PARENT's. The settings of all sites but site 0 are not
 * used. */
static void take_over(const struct cohort_comm *parent, const struct cohort__comm_child *child,
                      cohort_comm_options *ret_options, struct cohort__comm_choice *ret_choice)
{
    *ret_options = (cohort_comm_options){
        .num_sites = child->num_sites,
        .this_site = child->this_site,
        .root_site = child->root_site,
        .arity = parent->arity,
        .flat_fallback_threshold = parent->flat_fallback_threshold,
        .auto_generation = parent->auto_generation,
        .stall_after = parent->stall_after,
        .deadline = parent->deadline,
        .reproducible = parent->reproducible,
        .check_asymmetric = parent->check_asymmetric,
        .memory_budget = parent->memory_budget,
    };
    *ret_choice = (struct cohort__comm_choice){
        .is_flat = child->is_flat,
        .is_tree_forced = parent->is_tree_forced,
    };
    memcpy(ret_choice->forced, parent->forced, sizeof(parent->forced));
    if (child->this_site == 0)
        ret_choice->settings = parent->settings;
}

/* The registry's name of a child goes on behind the 0 of its name for messages: with the parent's
 * instance, and the generation of the call that makes it. */
void cohort__comm_create_child(struct cohort_comm *parent, const struct cohort__comm_child *child,
                               cohort_comm **ret_comm, cohort_future *future)
{
    struct cohort__membership *membership = parent->group->membership;
    const uint64_t origin[] = {membership->instance, child->generation};
    struct cohort__inbox *inbox = cohort__inbox_of(parent->group->commons);
    struct cohort__process *process = parent->group->commons->process;
    const uint32_t parent_site = parent->this_site;
    cohort_comm_options options;
    struct cohort__comm_choice choice;
    take_over(parent, child, &options, &choice);
    struct creation *creation =
        creation_create(ret_comm, child->name, &options, &choice, COHORT_OK);
    struct cohort__error error = {0};
    if (!creation)
        cohort__error_copy(&error, cohort__error_slot());
    /* That of the parent's last call, most likely the one that makes this. */
    uintptr_t task =
        parent->line ? atomic_load_explicit(&parent->line->task, memory_order_relaxed) : 0;
    cohort__membership_ref(membership); /* for the join */
    cohort_comm_unref(parent);          /* now that its settings have been copied */
    if (!creation) {
        cohort__membership_unref(membership);
        cohort__registry_lost(cohort__process_registry(process), cohort__process_rank(process),
                              error.status);
        cohort__future_complete(future, error.status, &error);
        cohort__error_fini(&error);
        return;
    }
    size_t bytes = strlen(creation->name) + 1;
    memcpy(creation->name + bytes, origin, sizeof(origin));
    creation->join.name_bytes = bytes + sizeof(origin);
    creation->join.home = child->home;
    creation->join.is_whole = child->is_whole;
    creation->join.is_of_living = child->is_of_living;
    creation->join.num_dead = child->num_dead;
    creation->join.scope = child->scope;
    creation->join.parent_site = parent_site;
    creation->join.future = child->awaited ? child->awaited : future;
    creation->join.parent = membership;
    begin(creation, inbox, future, task);
}

void cohort_comm_unref(cohort_comm *comm)
{
    if (!comm || cohort__fork_is_child())
        return;
    /* As the runtime ends, endpoints do. */
    bool is_up = cohort__scheduler_hold();
    if (is_up)
        cohort__endpoint_check(comm, "cohort_comm_unref");
    if (is_up && atomic_fetch_sub(&comm->refs, 1) == 1)
        cohort__endpoint_leave(comm);
    cohort__scheduler_release();
}

uint32_t cohort_comm_num_sites(const cohort_comm *comm)
{
    cohort__endpoint_check_there(comm, "cohort_comm_num_sites");
    return comm->group->membership->num_sites;
}

uint32_t cohort_comm_this_site(const cohort_comm *comm)
{
    cohort__endpoint_check_there(comm, "cohort_comm_this_site");
    return comm->this_site;
}

uint32_t cohort_comm_root_site(const cohort_comm *comm)
{
    cohort__endpoint_check_there(comm, "cohort_comm_root_site");
    return comm->root_site;
}

uint32_t cohort_comm_arity(const cohort_comm *comm)
{
    cohort__endpoint_check_there(comm, "cohort_comm_arity");
    return comm->arity;
}

const char *cohort_comm_name(const cohort_comm *comm)
{
    cohort__endpoint_check_there(comm, "cohort_comm_name");
    return comm->group->name;
}
