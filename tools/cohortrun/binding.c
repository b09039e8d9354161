/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: which processors each locality of this host is bound to. */
#include "tools/cohortrun/binding.h"

#include <errno.h>
#include <hwloc/glibc-sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/bounds.h"
#include "runtime/base/cores.h"
#include "runtime/launch/domain.h"

struct bindings {
    hwloc_topology_t topology;
    size_t mask_bytes;
    cpu_set_t *before; /* what this process may use */
    cpu_set_t *mask;   /* for the next locality */
    struct cohort__binding *told;
    bool is_asked_for; /* or else it is not worth a failure */
    uint32_t num;
    hwloc_bitmap_t sets[];
};

/* --- the plan --- */

/* Another job of the same user may be on the host, which would be bound to the same cores. So a job
 * that leaves half of the host free is not bound unless it is asked for. */
bool bindings_are_worth_it(uint32_t num, unsigned threads, unsigned num_processors)
{
    uint64_t need = (uint64_t)num * threads;
    return num > 1 && need > 0 && need <= num_processors && 2 * need > num_processors;
}

static unsigned num_units(hwloc_topology_t topology, hwloc_obj_type_t type,
                          hwloc_const_bitmap_t allowed)
{
    unsigned num = 0;
    for (hwloc_obj_t unit = NULL; (unit = hwloc_get_next_obj_by_type(topology, type, unit));)
        num += hwloc_bitmap_intersects(unit->cpuset, allowed);
    return num;
}

/* Of the units that intersect ALLOWED, puts number I into the set OF(I). */
static void deal(hwloc_bitmap_t *sets, hwloc_topology_t topology, hwloc_obj_type_t type,
                 hwloc_const_bitmap_t allowed, uint32_t num, unsigned each)
{
    uint64_t i = 0;
    for (hwloc_obj_t unit = NULL; (unit = hwloc_get_next_obj_by_type(topology, type, unit));) {
        if (!hwloc_bitmap_intersects(unit->cpuset, allowed))
            continue;
        if (i / each < num)
            hwloc_bitmap_or(sets[i / each], sets[i / each], unit->cpuset);
        i++;
    }
}

/* Whole cores if there are enough, else hardware threads. */
static bool plan_cores(hwloc_bitmap_t *sets, uint32_t num, unsigned threads,
                       hwloc_topology_t topology, hwloc_const_bitmap_t allowed)
{
    hwloc_obj_type_t type = HWLOC_OBJ_CORE;
    uint64_t need = (uint64_t)num * threads;
    if (need > num_units(topology, type, allowed))
        type = HWLOC_OBJ_PU;
    if (need == 0 || need > num_units(topology, type, allowed))
        return false;
    deal(sets, topology, type, allowed, num, threads);
    return true;
}

/* Each locality is in one node, or if there are more nodes than localities, in several. */
static bool is_node_of(uint64_t node, uint64_t num_nodes, uint64_t locality, uint64_t num)
{
    uint64_t first = locality * num_nodes / num, end = (locality + 1) * num_nodes / num;
    return node == first || (node > first && node < end);
}

static void plan_nodes(hwloc_bitmap_t *sets, uint32_t num, hwloc_topology_t topology,
                       hwloc_const_bitmap_t allowed)
{
    uint64_t num_nodes = num_units(topology, HWLOC_OBJ_NUMANODE, allowed), i = 0;
    for (hwloc_obj_t node = NULL;
         (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));) {
        if (!hwloc_bitmap_intersects(node->cpuset, allowed))
            continue;
        for (uint64_t k = 0; k < num; k++)
            if (is_node_of(i, num_nodes, k, num))
                hwloc_bitmap_or(sets[k], sets[k], node->cpuset);
        i++;
    }
    for (uint32_t k = 0; num_nodes == 0 && k < num; k++)
        hwloc_bitmap_copy(sets[k], allowed);
}

bool bindings_plan(hwloc_bitmap_t *sets, uint32_t num, enum binding_mode mode, unsigned threads,
                   hwloc_topology_t topology, hwloc_const_bitmap_t allowed)
{
    bool fits = true;
    for (uint32_t i = 0; i < num; i++)
        hwloc_bitmap_zero(sets[i]);
    if (mode == BINDING_NUMA)
        plan_nodes(sets, num, topology, allowed);
    else
        fits = plan_cores(sets, num, threads, topology, allowed);
    for (uint32_t i = 0; i < num; i++)
        hwloc_bitmap_and(sets[i], sets[i], allowed);
    return fits;
}

/* --- this host --- */

static unsigned number_of(const char *name)
{
    const char *text = getenv(name);
    char *end = NULL;
    unsigned long number = text ? strtoul(text, &end, 10) : 0;
    return text && *text >= '0' && *text <= '9' && !*end && number <= COHORT__MAX_WORKERS
               ? (unsigned)number
               : 0;
}

/* Of each locality: its workers, and its progress thread. 0: its share of the cores is less than
 * one. */
static unsigned threads_of(const struct binding_wish *wish, uint32_t num)
{
    const char *progress = getenv("COHORT_PROGRESS");
    unsigned workers = wish->workers ? wish->workers : number_of("COHORT_WORKERS");
    if (workers == 0)
        workers = cohort__cores_each(num, false);
    return workers ? workers + (progress && strcmp(progress, "thread") == 0) : 0;
}

static cohort_status plan(struct bindings *bindings, enum binding_mode mode, unsigned threads,
                          hwloc_const_bitmap_t allowed)
{
    if (!bindings_plan(bindings->sets, bindings->num, mode, threads, bindings->topology, allowed))
        return cohort_fail(
            COHORT_ERR_BAD_PARAMETER,
            "--bind core: %u localities of %u threads need %llu cores of their own, and may use "
            "%d on this host",
            (unsigned)bindings->num, threads > 0 ? threads : 1,
            (unsigned long long)bindings->num * (threads > 0 ? threads : 1),
            hwloc_bitmap_weight(allowed));
    for (uint32_t i = 0; i < bindings->num; i++) {
        if (hwloc_bitmap_iszero(bindings->sets[i]))
            return cohort_fail(COHORT_ERR_SYSTEM, "--bind: hwloc knows no processor of this host "
                                                  "that this process may use");
        bindings->told[i].domain = cohort__domain_in(bindings->topology, bindings->sets[i]);
        for (uint32_t k = 0; k < bindings->num; k++)
            bindings->told[i].sharing +=
                hwloc_bitmap_isequal(bindings->sets[k], bindings->sets[i]) != 0;
    }
    return COHORT_OK;
}

static cohort_status fill(struct bindings *bindings, enum binding_mode mode, unsigned threads)
{
    cohort_status status = COHORT_OK;
    bindings->topology = cohort__domain_load(true);
    if (!bindings->topology)
        return cohort_fail(COHORT_ERR_SYSTEM, "--bind: hwloc can't tell the cores of this host");
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    bool has_memory = allowed && bindings->before && bindings->mask && bindings->told;
    for (uint32_t i = 0; i < bindings->num; i++)
        has_memory &= (bindings->sets[i] = hwloc_bitmap_alloc()) != NULL;
    if (!has_memory || hwloc_cpuset_from_glibc_sched_affinity(
                           bindings->topology, allowed, bindings->before, bindings->mask_bytes))
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "--bind: out of memory");
    else
        status = plan(bindings, mode, threads, allowed);
    hwloc_bitmap_free(allowed);
    return status;
}

cohort_status bindings_create(struct bindings **ret_bindings, const struct binding_wish *wish,
                              uint32_t num)
{
    enum binding_mode mode = wish->mode;
    unsigned threads = threads_of(wish, num);
    size_t bytes = 0;
    cpu_set_t *before = mode == BINDING_NONE ? NULL : cohort__cores_mask(&bytes);
    if (mode == BINDING_AUTO)
        mode = before && bindings_are_worth_it(num, threads, (unsigned)CPU_COUNT_S(bytes, before))
                   ? BINDING_CORE
                   : BINDING_NONE;
    if (mode == BINDING_NONE) {
        CPU_FREE(before);
        *ret_bindings = NULL;
        return COHORT_OK;
    }
    struct bindings *bindings = calloc(1, sizeof(*bindings) + num * sizeof(bindings->sets[0]));
    if (!bindings) {
        CPU_FREE(before);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "--bind: out of memory");
    }
    bindings->num = num;
    bindings->is_asked_for = wish->mode != BINDING_AUTO;
    bindings->mask_bytes = bytes;
    bindings->before = before;
    bindings->mask = CPU_ALLOC(8 * bytes);
    bindings->told = calloc(num, sizeof(*bindings->told));
    cohort_status status = fill(bindings, mode, threads);
    if (status && !bindings->is_asked_for) {
        bindings_destroy(bindings);
        bindings = NULL;
        status = COHORT_OK;
    }
    if (status)
        bindings_destroy(bindings);
    else
        *ret_bindings = bindings;
    return status;
}

void bindings_destroy(struct bindings *bindings)
{
    if (!bindings)
        return;
    for (uint32_t i = 0; i < bindings->num; i++)
        hwloc_bitmap_free(bindings->sets[i]);
    if (bindings->topology)
        hwloc_topology_destroy(bindings->topology);
    CPU_FREE(bindings->before);
    CPU_FREE(bindings->mask);
    free(bindings->told);
    free(bindings);
}

cohort_status bindings_enter(const struct bindings *bindings, uint32_t index,
                             char ret_variable[COHORT__BINDING_BYTES])
{
    ret_variable[0] = '\0';
    if (!bindings)
        return COHORT_OK;
    if (hwloc_cpuset_to_glibc_sched_affinity(bindings->topology, bindings->sets[index],
                                             bindings->mask, bindings->mask_bytes) ||
        sched_setaffinity(0, bindings->mask_bytes, bindings->mask))
        return bindings->is_asked_for
                   ? cohort_fail(COHORT_ERR_SYSTEM, "--bind: it can't be bound: %s",
                                 strerror(errno))
                   : COHORT_OK;
    cohort__binding_write(&bindings->told[index], ret_variable);
    return COHORT_OK;
}

void bindings_leave(const struct bindings *bindings)
{
    if (bindings)
        sched_setaffinity(0, bindings->mask_bytes, bindings->before);
}

void bindings_report(const struct bindings *bindings, uint32_t first, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++) {
        char *text = NULL;
        if (!bindings)
            fprintf(stderr, "locality %u: not bound\n", (unsigned)(first + i));
        else if (hwloc_bitmap_list_asprintf(&text, bindings->sets[i]) >= 0)
            fprintf(stderr, "locality %u: bound to processors %s\n", (unsigned)(first + i), text);
        free(text);
    }
}
