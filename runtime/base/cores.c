/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/cores.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/cgroup.h"
#include "runtime/base/hash.h"

enum { MAX_CORES = 1 << 16 };

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

cpu_set_t *cohort__cores_mask(size_t *ret_bytes)
{
    for (unsigned size = CPU_SETSIZE; size <= MAX_CORES; size *= 2) {
        cpu_set_t *set = CPU_ALLOC(size);
        if (!set)
            return NULL;
        *ret_bytes = CPU_ALLOC_SIZE(size);
        if (sched_getaffinity(0, *ret_bytes, set) == 0)
            return set;
        CPU_FREE(set);
        if (errno != EINVAL) /* EINVAL: the kernel's sets are larger */
            return NULL;
    }
    return NULL;
}

/* The number of cores in this thread's affinity mask; 0 if unknown. */
static unsigned mask_cores(void)
{
    size_t bytes;
    cpu_set_t *set = cohort__cores_mask(&bytes);
    unsigned count = set ? (unsigned)CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    return count;
}

bool cohort__cores_are_bound(unsigned count)
{
    return (long)count < sysconf(_SC_NPROCESSORS_ONLN);
}

/* A number that each start of a kernel chooses anew. 0: it can't be read. */
static uint64_t kernel_of_now(void)
{
    char boot[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    bool is_read = file && fgets(boot, sizeof(boot), file);
    if (file)
        fclose(file);
    return is_read ? cohort__hash_bytes(boot, strlen(boot)) : 0;
}

uint64_t cohort__cores_identify(void)
{
    size_t bytes;
    uint64_t kernel = kernel_of_now();
    cpu_set_t *set = cohort__cores_mask(&bytes);
    uint64_t number = 0;
    if (kernel != 0 && set)
        number = cohort__hash_mix(kernel, cohort__hash_bytes(set, bytes)) | 1;
    CPU_FREE(set);
    return number;
}

/* The quota of GROUP itself, without the groups above it. */
static unsigned group_quota(const struct cohort__cgroup *group)
{
    int64_t quota = -1, period = 0;
    if (group->is_version_2) {
        FILE *file = cohort__cgroup_open(group, "cpu.max");
        /* "max 100000": none */
        if (!file || fscanf(file, "%" SCNd64 " %" SCNd64, &quota, &period) != 2)
            quota = -1;
        if (file)
            fclose(file);
    } else if (!cohort__cgroup_read(group, "cpu.cfs_quota_us", &quota) ||
               !cohort__cgroup_read(group, "cpu.cfs_period_us", &period)) {
        return UINT_MAX;
    }
    if (quota < 0 || period <= 0)
        return UINT_MAX;
    return quota < period ? 1 : (unsigned)(quota / period);
}

/* Also takes in the quotas of this process's group and of all groups above it, as far as they are
 * visible. */
static void add_quotas(void *context, struct cohort__cgroup *group)
{
    unsigned *quota = context;
    do
        *quota = smaller(*quota, group_quota(group));
    while (cohort__cgroup_ascend(group));
}

unsigned cohort__cores_quota(const char *root)
{
    unsigned quota = UINT_MAX;
    cohort__cgroup_each(root, "cpu", add_quotas, &quota);
    return quota;
}

unsigned cohort__cores_each(unsigned num_processes, bool may_be_bound)
{
    unsigned mask = mask_cores();
    bool is_bound = may_be_bound && cohort__cores_are_bound(mask);
    unsigned by_mask = (mask ? mask : 1) / (is_bound ? 1 : num_processes);
    return smaller(by_mask, cohort__cores_quota("") / num_processes);
}

/* --- cache --- */

enum { COMMON_BYTES = 32 * 1024 * 1024, MAX_CACHES = 8 };

size_t cohort__cache_read_size(const char *text)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    size_t unit = *end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : *end == 'G' ? 1 << 30 : 0;
    if (*text < '0' || *text > '9' || unit == 0 || number > SIZE_MAX / unit)
        return 0;
    return number * unit;
}

/* Reads the kernel's files, since on some virtual machines the C library's sysconf() returns the
 * size times the number of processors. */
static size_t ask_kernel(void)
{
    size_t most = 0;
    for (int i = 0; i < MAX_CACHES; i++) {
        char path[80], text[32];
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        FILE *file = fopen(path, "re");
        if (!file)
            break;
        size_t bytes = fgets(text, sizeof(text), file) ? cohort__cache_read_size(text) : 0;
        fclose(file);
        if (bytes > most)
            most = bytes;
    }
    return most > 0 ? most : COMMON_BYTES;
}

size_t cohort__cache_bytes(void)
{
    static _Atomic size_t known;
    size_t bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (bytes == 0) {
        bytes = ask_kernel();
        atomic_store_explicit(&known, bytes, memory_order_relaxed);
    }
    return bytes;
}
