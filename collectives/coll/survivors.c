/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/survivors.h"
#include "collectives/comm/commons.h"
#include "collectives/comm/create.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/idle.h"
#include "collectives/comm/remote.h"
#include "collectives/model/select.h"
#include "runtime/base/container.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/scope.h"

/* What is left to do after deaths: to know of them, to revoke, to agree and to shrink. */

/* Revoke -------------------------------------------------------------------------------------- */

/* A site's revocation. It goes through the home of the communicator's name, so that all localities
 * hear of the same one, whatever becomes of the site. */
struct revoke {
    struct cohort__revocation revocation;
    struct cohort__group *group; /* a reference */
    cohort_future *future;       /* the reference that completes it */
};

static void on_done(struct cohort__revocation *revocation, cohort_status status)
{
    struct revoke *call = COHORT_CONTAINER_OF(revocation, struct revoke, revocation);
    cohort__future_complete(call->future, status, status ? cohort__error_slot() : NULL);
    cohort__group_unref(call->group);
    free(call);
}

cohort_future *cohort_comm_revoke(cohort_comm *comm)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_comm_revoke");
    if (!comm)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                      "cohort_comm_revoke: no communicator");
    struct cohort__group *group = comm->group;
    if (cohort__remote_is_revoked(group))
        return cohort_future_of_value(NULL);
    struct revoke *call = malloc(sizeof(*call));
    cohort_future *future = call ? cohort__endpoint_begin(comm, COHORT__WAIT_PLAIN) : NULL;
    if (!future) {
        free(call);
        return cohort__future_no_memory();
    }
    *call = (struct revoke){
        .revocation = {.membership = group->membership, .site = comm->this_site, .done = on_done},
        .group = group,
        .future = future,
    };
    cohort__group_ref(group);
    cohort__registry_revoke(cohort__process_registry(group->commons->process), &call->revocation);
    return future;
}

/* Who has failed ------------------------------------------------------------------------------ */

static uint32_t sites_in(const struct cohort__membership *all, uint32_t rank)
{
    uint32_t num = 0;
    for (uint32_t site = 0; site < all->num_sites; site++)
        num += all->locality_of[site] == rank;
    return num;
}

uint32_t cohort_comm_failed(cohort_comm *comm, uint32_t *ret_sites, uint32_t capacity)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_comm_failed");
    if (!comm)
        return 0;
    struct cohort__process *process = comm->group->commons->process;
    const struct cohort__membership *all = comm->group->membership;
    struct cohort__death death;
    uint32_t num = 0;
    for (uint32_t last = 0; cohort__process_next_death(process, last, &death); last = death.order)
        for (uint32_t site = 0; site < all->num_sites; site++) {
            if (all->locality_of[site] != death.rank)
                continue;
            if (num < capacity)
                ret_sites[num] = site;
            num++;
        }
    return num;
}

/* Deaths are acknowledged in their order, so the last one says which. */
uint32_t cohort_comm_acknowledge(cohort_comm *comm, uint32_t num)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_comm_acknowledge");
    if (!comm)
        return 0;
    struct cohort__process *process = comm->group->commons->process;
    uint32_t before = atomic_load(&comm->acknowledged), last = 0;
    uint64_t num_sites = 0;
    struct cohort__death death;
    while (cohort__process_next_death(process, last, &death)) {
        uint32_t here = sites_in(comm->group->membership, death.rank);
        if (death.order > before && num_sites + here > num)
            break;
        num_sites += here;
        last = death.order;
    }
    while (before < last && !atomic_compare_exchange_weak(&comm->acknowledged, &before, last))
        ;
    return (uint32_t)num_sites;
}

/* Agree and shrink ---------------------------------------------------------------------------- */

/* One site's call of agree or shrink. It joins under a name that has the number of the call and
 * that of the dead sites in it. All localities hear of a death and of a complete creation in the
 * same order, if they do at all (runtime/proc/registry.h). So either all that live get the result,
 * or the join of all of them ends with the death, and they join again without the dead. The home is
 * that of the communicator, which knows who has left it. */
struct call {
    struct cohort__waiter waiter; /* for `made` */
    struct cohort__work work;
    struct cohort__join join; /* of an agree */
    cohort_future *made;      /* of a shrink: the attempt's */
    cohort_future *future;    /* the reference that completes it */
    cohort_comm *parent;      /* a reference */
    cohort_scope *scope;      /* of the caller, a reference; or NULL */
    struct cohort__commons *commons;
    cohort_comm **ret_comm;
    cohort_agreed *ret_agreed; /* NULL: it is a shrink */
    uint64_t value;
    uint64_t turn;
    uint32_t num_dead;          /* of the attempt */
    cohort_status status;       /* of an agree */
    struct cohort__error error; /* the same */
    char name[COHORT__NAME_BYTES_MAX + 1 + 2 * sizeof(uint64_t)];
    bool is_dead[]; /* the parent's sites, in the attempt; its memory is there before the turn is */
};

/* The parent's sites that live. */
struct living {
    uint32_t num;
    uint32_t rank; /* of this site among them */
    bool is_whole;
};

static struct cohort__registry *registry_of(const struct call *call)
{
    return cohort__process_registry(call->commons->process);
}

static struct living find_living(struct call *call)
{
    const struct cohort__membership *all = call->parent->group->membership;
    struct living living = {.is_whole = true};
    memset(call->is_dead, 0, all->num_sites * sizeof(*call->is_dead));
    call->num_dead = cohort__registry_count_dead(registry_of(call), all, call->is_dead);
    for (uint32_t site = 0; site < all->num_sites; site++) {
        if (call->is_dead[site])
            continue;
        living.num++;
        living.rank += site < call->parent->this_site;
        living.is_whole &= all->locality_of[site] == call->parent->group->rank;
    }
    return living;
}

static void print_name(struct call *call)
{
    char own[48];
    snprintf(own, sizeof(own), "/survivors %" PRIu64, call->turn);
    snprintf(call->name, COHORT__NAME_BYTES_MAX + 1, "%.*s%s",
             (int)(COHORT__NAME_BYTES_MAX - strlen(own)), cohort_comm_name(call->parent), own);
}

/* Completes the future, and frees CALL. The reference to the parent is given back before. */
static void conclude(struct call *call, cohort_status status, const struct cohort__error *error)
{
    cohort_comm_unref(call->parent);
    cohort__future_complete(call->future, status, error);
    cohort_future_unref(call->made);
    cohort__scope_unref(call->scope);
    cohort__error_fini(&call->error);
    free(call);
}

static void attempt(struct call *call);

/* An attempt is over. Others may have died since it began: then those that are left try again. */
static void go_on(struct call *call, cohort_status status, const struct cohort__error *error)
{
    const struct cohort__membership *all = call->parent->group->membership;
    bool is_out_of_date =
        status == COHORT_ERR_PEER_DIED && cohort__process_keeps_going(call->commons->process) &&
        cohort__registry_count_dead(registry_of(call), all, NULL) != call->num_dead;
    if (is_out_of_date)
        attempt(call);
    else
        conclude(call, status, error);
}

static void run(struct cohort__work *work)
{
    struct call *call = COHORT_CONTAINER_OF(work, struct call, work);
    struct cohort__commons *commons = call->commons;
    struct cohort__error error = {0};
    cohort_status status = call->status;
    if (call->made) {
        status = cohort__future_status(call->made);
        if (status)
            cohort__future_error(call->made, &error);
        cohort_future_unref(call->made);
        call->made = NULL;
    } else if (status) {
        cohort__error_copy(&error, &call->error);
    }
    go_on(call, status, status ? &error : NULL);
    cohort__error_fini(&error);
    cohort__commons_count_work(commons, -1);
}

/* For a worker: it takes time, and the caller may be anywhere. Where the call is cancelled it does
 * not go on; then, at the end of the job, there may be no worker any more. */
static void go_on_later(struct call *call, cohort_status status)
{
    cohort__commons_count_work(call->commons, 1);
    if (status == COHORT_ERR_CANCELLED)
        run(&call->work);
    else
        cohort__chore_post(&call->work);
}

/* Shrink -------------------------------------------------------------------------------------- */

static void on_made(struct cohort__waiter *waiter)
{
    struct call *call = COHORT_CONTAINER_OF(waiter, struct call, waiter);
    go_on_later(call, cohort__future_status(call->made));
}

static void try_to_shrink(struct call *call, const struct living *living)
{
    cohort_comm *parent = call->parent;
    struct cohort__comm_child child = {
        .name = call->name,
        .generation = call->num_dead,
        .num_sites = living->num,
        .this_site = living->rank,
        .home = parent->group->membership->home,
        .is_flat =
            cohort__select_is_flat(living->num, parent->arity, parent->flat_fallback_threshold),
        .is_whole = living->is_whole,
        .is_of_living = true,
        .num_dead = call->num_dead,
        .scope = call->scope,
        .awaited = call->future,
    };
    call->made = cohort__future_create();
    if (!call->made) { /* the others wait for this site in this turn */
        struct cohort__error error = {0};
        cohort__error_copy(&error, cohort__error_slot());
        cohort__registry_lost(registry_of(call), parent->group->rank, COHORT_ERR_NO_MEMORY);
        conclude(call, COHORT_ERR_NO_MEMORY, &error);
        cohort__error_fini(&error);
        return;
    }
    atomic_fetch_add(&parent->refs, 1); /* which the child's creation gives back */
    cohort__comm_create_child(parent, &child, call->ret_comm, call->made);
    if (!cohort__future_wait_with(call->made, &call->waiter))
        on_made(&call->waiter);
}

/* Agree --------------------------------------------------------------------------------------- */

static void on_agreed(struct cohort__join *join, cohort_status status,
                      struct cohort__membership *membership)
{
    struct call *call = COHORT_CONTAINER_OF(join, struct call, join);
    call->status = status;
    if (status)
        cohort__error_copy(&call->error, cohort__error_slot());
    else
        *call->ret_agreed = (cohort_agreed){membership->value, call->num_dead};
    cohort__membership_unref(membership);
    go_on_later(call, status);
}

static void try_to_agree(struct call *call, const struct living *living)
{
    struct cohort__membership *all = call->parent->group->membership;
    const uint64_t origin[] = {all->instance, call->num_dead};
    size_t bytes = strlen(call->name) + 1;
    memcpy(call->name + bytes, origin, sizeof(origin));
    call->join = (struct cohort__join){
        .name = call->name,
        .name_bytes = bytes + sizeof(origin),
        .home = all->home,
        .parent = all,
        .is_whole = living->is_whole,
        .is_of_living = true,
        .num_dead = call->num_dead,
        .parent_site = call->parent->this_site,
        .agrees = true,
        .value = call->value,
        .site = living->rank,
        .num_sites = living->num,
        .terms = "an agreement",
        .scope = call->scope,
        .future = call->future,
        .done = on_agreed,
    };
    cohort__registry_join(registry_of(call), &call->join);
}

/* Start --------------------------------------------------------------------------------------- */

static void attempt(struct call *call)
{
    const struct living living = find_living(call);
    if (call->ret_agreed)
        try_to_agree(call, &living);
    else
        try_to_shrink(call, &living);
}

static cohort_future *refuse(cohort_status status, const char *function, const char *why)
{
    (void)cohort_fail(status, "%s: %s", function, why);
    return cohort__future_of_status(status, cohort__error_slot());
}

/* Without memory this site has not had its turn: it may call again. From the turn on whatever it
 * can't do ends it for the others, too: the registry is lost here (cohort__registry_lost). */
static cohort_future *begin(const char *function, cohort_comm *comm, const struct call *own)
{
    struct call *call = malloc(sizeof(*call) + cohort_comm_num_sites(comm) * sizeof(bool));
    cohort_future *future = call ? cohort__endpoint_begin(comm, COHORT__WAIT_CREATION) : NULL;
    if (!future) {
        char why[128];
        free(call);
        snprintf(why, sizeof(why), "communicator \"%.60s\", site %" PRIu32 ": no memory",
                 cohort_comm_name(comm), comm->this_site);
        return refuse(COHORT_ERR_NO_MEMORY, function, why);
    }
    *call = *own;
    call->waiter = (struct cohort__waiter){.notify = on_made, .is_owner = true};
    call->work = (struct cohort__work){.run = run};
    call->future = future;
    call->parent = comm;
    call->scope = cohort__scope_ref(cohort__scope_current());
    call->commons = comm->group->commons;
    call->turn = atomic_fetch_add(&comm->num_turns, 1) + 1;
    atomic_fetch_add(&comm->refs, 1);
    print_name(call);
    attempt(call);
    return future;
}

cohort_future *cohort_comm_agree(cohort_comm *comm, uint64_t value, cohort_agreed *ret_agreed)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_comm_agree");
    if (!comm || !ret_agreed)
        return refuse(COHORT_ERR_BAD_PARAMETER, "cohort_comm_agree",
                      comm ? "no place for the result" : "no communicator");
    return begin("cohort_comm_agree", comm,
                 &(struct call){.ret_agreed = ret_agreed, .value = value});
}

cohort_future *cohort_comm_shrink(cohort_comm **ret_comm, cohort_comm *comm)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_comm_shrink");
    if (!comm || !ret_comm)
        return refuse(COHORT_ERR_BAD_PARAMETER, "cohort_comm_shrink",
                      comm ? "no place for the communicator" : "no communicator");
    return begin("cohort_comm_shrink", comm, &(struct call){.ret_comm = ret_comm});
}
