/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "cohort/explain.h"
#include "collectives/comm/arenas.h"
#include "collectives/comm/channel.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/operation.h"
#include "collectives/exec/meeting.h"
#include "collectives/exec/plan_cache.h"
#include "collectives/plan/machine.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"

/* A communicator in words: where its sites are and what it keeps, and the calls that are under way.
 */

static void print_board(FILE *file, struct cohort__group *group)
{
    size_t bytes, all_bytes;
    cohort__meetings_arena(group, &bytes, &all_bytes);
    fprintf(file,
            "board %u of the host: this locality has %zu of %d KiB in memory, and %zu on all its "
            "boards\n",
            (unsigned)group->membership->number, bytes / 1024, COHORT__BOARD_ARENA / 1024,
            all_bytes / 1024);
}

static void print_plans(FILE *file, const cohort_comm *comm)
{
    const struct cohort__plan_cache *plans = comm->plans;
    uint32_t num = 0;
    size_t bytes = 0;
    if (plans)
        cohort__plan_cache_look(plans, &num, &bytes);
    if (num > 0)
        fprintf(file,
                "plans: this site keeps %u for its next calls, in %zu KiB; all sites of this "
                "locality %zu KiB, where %d are enough\n",
                num, bytes / 1024, atomic_load(&comm->group->commons->plans.bytes) / 1024,
                COHORT__PLANS_MOST / 1024);
}

static void print(FILE *file, const cohort_comm *comm)
{
    struct cohort__group *group = comm->group;
    uint32_t num = cohort_comm_num_sites(comm);
    fprintf(file, "communicator \"%s\": %u site%s\n", group->name, num, num == 1 ? "" : "s");
    cohort__machine_print(file, group->machine, COHORT__NO_ROOT, cohort__group_turn(group));
    if (group->has_board)
        print_board(file, group);
    print_plans(file, comm);
}

cohort_status cohort_comm_describe(const cohort_comm *comm, char **ret_text)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_comm_describe");
    if (!comm || !ret_text)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_comm_describe: no %s",
                           comm ? "place for the text" : "communicator");
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    if (file)
        print(file, comm);
    bool failed = !file || ferror(file);
    if (file && fclose(file))
        failed = true;
    if (failed) {
        free(text);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%s\": no memory to describe it",
                           cohort_comm_name(comm));
    }
    *ret_text = text;
    return COHORT_OK;
}

enum { TEXT_BYTES = 16384 };

struct roll_call {
    struct cohort__item item;
    cohort_future *future;
};

static void run(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    struct roll_call *call = COHORT_CONTAINER_OF(item, struct roll_call, item);
    char *text = malloc(TEXT_BYTES);
    size_t used = 0;
    if (text) {
        text[0] = 0;
        for (uint32_t i = 0; i < COHORT__WINDOW; i++)
            if (comm->window[i].in_flight)
                used = comm->window[i].in_flight->handlers->describe(comm->window[i].in_flight,
                                                                     text, used, TEXT_BYTES);
        cohort__channels_describe(comm, text, used, TEXT_BYTES);
        cohort__future_fulfil(call->future, text);
    } else {
        cohort__future_fail(call->future, COHORT_ERR_NO_MEMORY,
                            "communicator \"%.60s\", site %u: no memory for a roll-call",
                            comm->group->name, comm->this_site);
    }
    cohort__slab_free(call);
}

cohort_future *cohort_comm_roll_call(cohort_comm *comm)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_comm_roll_call");
    if (!comm)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                      "cohort_comm_roll_call: no communicator");
    if (cohort__fork_is_child())
        return cohort__fork_refused("cohort_comm_roll_call");
    struct roll_call *call = cohort__slab_alloc(sizeof(*call));
    cohort_future *future = call ? cohort__future_create() : NULL;
    if (!future) {
        cohort__slab_free(call);
        return cohort__future_no_memory();
    }
    call->item.run = run;
    call->future = future;
    cohort__endpoint_post(comm, &call->item);
    return future;
}
