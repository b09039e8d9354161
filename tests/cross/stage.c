/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/stage.h"

#include <stdlib.h>

#include "collectives/coll/comm_create.h"
#include "collectives/coll/sites.h"
#include "runtime/proc/memory.h"
#include "runtime/proc/process.h"
#include "runtime/remote/memory.h"
#include "runtime/remote/tasks.h"
#include "runtime/task/scheduler.h"
#include "tests/support/cluster.h"

static struct cluster *cluster;
static const struct program *program;
static struct facts facts;

struct facts *stage_facts(void)
{
    return &facts;
}

void stage_begin(const struct program *played)
{
    program = played;
    cluster = program->means.has_deaths
                  ? cluster_launch(program->seed, program->num_localities, program->eager_budget,
                                   program->keeps_going, program->slow)
                  : cluster_create(program->seed, program->num_localities, program->eager_budget);
    if (program->is_spread)
        cluster_locate(cluster, program->positions);
}

/* Where a death ends the job, a remote task may wait for who is not heard any more, until cohortrun
 * ends it. */
void stage_end(void)
{
    const bool is_over = stage_dead() && !program->keeps_going;
    if (is_over && cohort__scheduler_live_tasks() > 1)
        play_end_as_killed();
    if (is_over)
        cluster_abandon(cluster);
    else
        cluster_destroy(cluster);
}

bool stage_has(uint32_t locality)
{
    return true;
}

cohort_future *stage_create_comm(uint32_t locality, cohort_comm **ret_comm, const char *name,
                                 const cohort_comm_options *options)
{
    return cohort__comm_create_for(cluster_process(cluster, locality), ret_comm, name, options);
}

cohort_future *stage_async_at(uint32_t locality, uint32_t to, const char *name,
                              const cohort_object *in, cohort_object *ret_out)
{
    return cohort__async_at_from(cluster_process(cluster, locality), to, name, in, ret_out);
}

cohort_future *stage_async_everywhere(uint32_t locality, const char *name, const cohort_object *in,
                                      cohort_object *ret_out)
{
    return cohort__async_everywhere_from(cluster_process(cluster, locality), name, in, ret_out);
}

cohort_future *stage_sites(uint32_t locality, const char *name, const cohort_sites_options *options,
                           cohort_site_function *function, void *arg)
{
    return cohort__sites_for(cluster_process(cluster, locality), name, options, sizeof(*options),
                             sizeof(cohort_comm_options), function, arg);
}

uint32_t stage_failed_localities(uint32_t locality, uint32_t *ret_ranks, uint32_t capacity)
{
    return cohort__process_deaths(cluster_process(cluster, locality), ret_ranks, capacity);
}

cohort_status stage_scope_async_at(uint32_t locality, cohort_scope *scope, uint32_t to,
                                   const char *name, const cohort_object *in)
{
    return cohort__scope_async_at_from(cluster_process(cluster, locality), scope, to, name, in);
}

void *stage_memory_alloc(uint32_t locality, size_t bytes)
{
    return cluster_memory_alloc(cluster, locality, bytes);
}

void stage_memory_free(uint32_t locality, void *memory)
{
    cluster_memory_free(cluster, locality, memory);
}

cohort_status stage_memory_share(uint32_t locality, cohort_memory_handle *ret_handle,
                                 const void *memory, size_t bytes)
{
    return cohort__memory_share_for(cluster_process(cluster, locality), ret_handle, memory, bytes);
}

cohort_future *stage_memory_get(uint32_t locality, const cohort_memory_handle *handle,
                                size_t offset, void *to, size_t bytes)
{
    return cohort__memory_get_from(cluster_process(cluster, locality), handle, offset, to, bytes);
}

cohort_future *stage_memory_put(uint32_t locality, const cohort_memory_handle *handle,
                                size_t offset, const void *from, size_t bytes)
{
    return cohort__memory_put_from(cluster_process(cluster, locality), handle, offset, from, bytes);
}

cohort_future *stage_memory_add(uint32_t locality, const cohort_memory_handle *handle,
                                size_t offset, uint64_t value, uint64_t *ret_before)
{
    return cohort__memory_add_from(cluster_process(cluster, locality), handle, offset, value,
                                   ret_before);
}

void stage_kill(uint32_t locality)
{
    cluster_kill(cluster, locality);
}

void stage_lose_link(void)
{
    if (program->lost_number > 0)
        cluster_lose_link(cluster, program->lost_from, program->lost_to, program->lost_number);
}

uint32_t stage_dead(void)
{
    return cluster_dead(cluster);
}
