/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/stage.h"

#include <stdlib.h>

#include "collectives/coll/comm_create.h"
#include "runtime/remote/tasks.h"
#include "tests/support/cluster.h"

static struct cluster *cluster;
static const struct program *program;
static struct facts facts;

struct facts *stage_begin(const struct program *played)
{
    program = played;
    cluster = program->keeps_going ? cluster_create_going(program->seed, program->num_localities)
                                   : cluster_create(program->seed, program->num_localities, 0);
    if (program->is_spread)
        cluster_locate(cluster, program->positions);
    return &facts;
}

void stage_end(void)
{
    if (stage_dead() && !program->keeps_going)
        cluster_abandon(cluster);
    else
        cluster_destroy(cluster);
}

bool stage_has(uint32_t locality)
{
    (void)locality;
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

/* For those there all others are dead, so that what they wait for ends. */
void stage_kill(uint32_t locality)
{
    cluster_kill(cluster, locality);
    for (uint32_t peer = 0, order = 0; peer < program->num_localities; peer++)
        if (peer != locality && !program->keeps_going)
            cluster_tell_death(cluster, locality, peer, ++order, "is out of reach");
}

uint32_t stage_dead(void)
{
    return cluster_dead(cluster);
}
