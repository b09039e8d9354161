/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/pinning.h"

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

struct cohort__pinning {
    hwloc_topology_t topology;
    hwloc_obj_type_t type; /* cores, or hardware threads if hwloc knows no cores */
    unsigned num_cores;
};

cohort_status cohort__pinning_create(struct cohort__pinning **ret_pinning)
{
    struct cohort__pinning *pinning = calloc(1, sizeof(*pinning));
    if (!pinning || hwloc_topology_init(&pinning->topology) != 0) {
        free(pinning);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "pinning: no memory for the topology");
    }
    if (hwloc_topology_load(pinning->topology) != 0)
        goto fail;
    pinning->type = HWLOC_OBJ_CORE;
    if (hwloc_get_nbobjs_by_type(pinning->topology, pinning->type) < 1)
        pinning->type = HWLOC_OBJ_PU;
    int num_cores = hwloc_get_nbobjs_by_type(pinning->topology, pinning->type);
    if (num_cores < 1)
        goto fail;
    pinning->num_cores = (unsigned)num_cores;
    *ret_pinning = pinning;
    return COHORT_OK;
fail:
    cohort__pinning_destroy(pinning);
    return cohort_fail(COHORT_ERR_SYSTEM, "pinning: hwloc can't tell the cores of this machine");
}

void cohort__pinning_destroy(struct cohort__pinning *pinning)
{
    if (!pinning)
        return;
    hwloc_topology_destroy(pinning->topology);
    free(pinning);
}

cohort_status cohort__pinning_apply(struct cohort__pinning *pinning, unsigned index)
{
    hwloc_obj_t core =
        hwloc_get_obj_by_type(pinning->topology, pinning->type, index % pinning->num_cores);
    if (hwloc_set_cpubind(pinning->topology, core->cpuset, HWLOC_CPUBIND_THREAD) != 0)
        return cohort_fail(COHORT_ERR_SYSTEM, "pinning: worker %u to core %u: %s", index,
                           index % pinning->num_cores, strerror(errno));
    return COHORT_OK;
}

unsigned cohort__pinning_num_cores(const struct cohort__pinning *pinning)
{
    return pinning->num_cores;
}
