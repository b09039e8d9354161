/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/domain.h"

#include <hwloc/glibc-sched.h>

#include "runtime/base/cores.h"

hwloc_topology_t cohort__domain_load(bool has_cores)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology))
        return NULL;
    /* Groups have the processors of NUMA nodes that are not those of a cache. */
    bool is_loaded =
        hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
        (!has_cores || hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE,
                                                      HWLOC_TYPE_FILTER_KEEP_ALL) == 0) &&
        hwloc_topology_set_type_filter(topology, HWLOC_OBJ_L3CACHE, HWLOC_TYPE_FILTER_KEEP_ALL) ==
            0 &&
        hwloc_topology_set_type_filter(topology, HWLOC_OBJ_GROUP,
                                       HWLOC_TYPE_FILTER_KEEP_STRUCTURE) == 0 &&
        hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
        hwloc_topology_load(topology) == 0;
    if (is_loaded)
        return topology;
    hwloc_topology_destroy(topology);
    return NULL;
}

uint32_t cohort__domain_in(hwloc_topology_t topology, hwloc_const_cpuset_t processors)
{
    int num_caches = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_L3CACHE);
    int num_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    hwloc_obj_type_t type = num_nodes > num_caches ? HWLOC_OBJ_NUMANODE : HWLOC_OBJ_L3CACHE;
    hwloc_obj_t domain = NULL;
    hwloc_bitmap_t shared = hwloc_bitmap_alloc();
    uint32_t found = COHORT__NO_DOMAIN;
    while (shared && (domain = hwloc_get_next_obj_by_type(topology, type, domain))) {
        hwloc_bitmap_and(shared, domain->cpuset, processors);
        if (2 * hwloc_bitmap_weight(shared) > hwloc_bitmap_weight(processors))
            found = (uint32_t)hwloc_bitmap_first(domain->cpuset);
    }
    hwloc_bitmap_free(shared);
    return found;
}

uint32_t cohort__domain_of(const cpu_set_t *mask, size_t bytes)
{
    uint32_t found = COHORT__NO_DOMAIN;
    hwloc_topology_t topology = cohort__domain_load(false);
    if (!topology)
        return found;
    hwloc_bitmap_t processors = hwloc_bitmap_alloc();
    if (processors &&
        hwloc_cpuset_from_glibc_sched_affinity(topology, processors, mask, bytes) == 0)
        found = cohort__domain_in(topology, processors);
    hwloc_bitmap_free(processors);
    hwloc_topology_destroy(topology);
    return found;
}

uint32_t cohort__domain_find(void)
{
    size_t bytes;
    cpu_set_t *mask = cohort__cores_mask(&bytes);
    bool is_bound = mask && cohort__cores_are_bound((unsigned)CPU_COUNT_S(bytes, mask));
    uint32_t found = is_bound ? cohort__domain_of(mask, bytes) : COHORT__NO_DOMAIN;
    CPU_FREE(mask);
    return found;
}
