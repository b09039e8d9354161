/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-info: what is known of the build, of the machine and of libfabric. */
#include "tools/info/facts.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "runtime/base/cores.h"
#include "runtime/base/memory_file.h"
#include "runtime/job/settings.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

static uint64_t limit_of(rlim_t value)
{
    return value == RLIM_INFINITY ? FACTS_UNLIMITED : value;
}

/* RET_HARD may be NULL. */
static void read_limit(int resource, uint64_t *ret_soft, uint64_t *ret_hard)
{
    struct rlimit limit;
    bool is_known = getrlimit((__rlimit_resource_t)resource, &limit) == 0;
    *ret_soft = is_known ? limit_of(limit.rlim_cur) : FACTS_UNKNOWN;
    if (ret_hard)
        *ret_hard = is_known ? limit_of(limit.rlim_max) : FACTS_UNKNOWN;
}

static uint64_t read_number(const char *path)
{
    unsigned long long value;
    FILE *file = fopen(path, "re");
    bool is_read = file && fscanf(file, "%llu", &value) == 1;
    if (file)
        fclose(file);
    return is_read ? value : FACTS_UNKNOWN;
}

/* Writes the processors of MASK as ranges. */
static void list_mask(const cpu_set_t *mask, size_t bytes, char *text, size_t text_bytes)
{
    const size_t num = 8 * bytes;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0, end; i < num && used < text_bytes; i = end) {
        end = i + 1;
        if (!CPU_ISSET_S(i, bytes, mask))
            continue;
        while (end < num && CPU_ISSET_S(end, bytes, mask))
            end++;
        used += (size_t)snprintf(text + used, text_bytes - used,
                                 end - i > 1 ? "%s%zu-%zu" : "%s%zu", used ? "," : "", i, end - 1);
    }
}

static void find_cores(struct facts *facts)
{
    size_t bytes = 0;
    cpu_set_t *mask = cohort__cores_mask(&bytes);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned quota = cohort__cores_quota("");
    facts->processors = online > 0 ? (uint64_t)online : FACTS_UNKNOWN;
    facts->allowed = mask ? (uint64_t)CPU_COUNT_S(bytes, mask) : FACTS_UNKNOWN;
    if (mask) {
        list_mask(mask, bytes, facts->mask, sizeof(facts->mask));
        CPU_FREE(mask);
    }
    facts->quota = quota == UINT_MAX ? FACTS_UNLIMITED : quota;
    facts->cores = cohort__cores_each(1, false);
}

static void find_memory(struct facts *facts)
{
    struct statvfs shm;
    const char *what;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int memory = cohort__memory_file_create("cohort-info", page, "", 0, &what);
    facts->has_memory_files = memory >= 0;
    if (memory >= 0)
        close(memory);
    void *pages = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) {
        facts->has_guards = madvise(pages, page, MADV_GUARD_INSTALL) == 0;
        munmap(pages, page);
    }
    bool has_shm = statvfs("/dev/shm", &shm) == 0;
    facts->shm_bytes = has_shm ? (uint64_t)shm.f_blocks * shm.f_frsize : FACTS_UNKNOWN;
    facts->max_maps = read_number("/proc/sys/vm/max_map_count");
    facts->ptrace_scope = read_number("/proc/sys/kernel/yama/ptrace_scope");
}

static void check_environment(struct facts *facts)
{
    static struct cohort__settings settings; /* large */
    const char *tune = getenv("COHORT_TUNE");
    facts->tune_is_missing = tune && *tune && access(tune, R_OK) != 0;
    if (cohort__settings_read(&settings))
        snprintf(facts->wrong, sizeof(facts->wrong), "%s", cohort_error_message());
}

void facts_collect(struct facts *ret_facts)
{
    struct utsname name;
    struct facts facts = {0};
    if (uname(&name) == 0)
        snprintf(facts.kernel, sizeof(facts.kernel), "%s %s %s", name.sysname, name.release,
                 name.machine);
    find_cores(&facts);
    find_memory(&facts);
    read_limit(RLIMIT_MEMLOCK, &facts.locked, NULL);
    read_limit(RLIMIT_NOFILE, &facts.descriptors, &facts.most_descriptors);
    read_limit(RLIMIT_NPROC, &facts.processes, NULL);
    check_environment(&facts);
    if (cohort__ofi_list(&facts.ofi))
        snprintf(facts.ofi_error, sizeof(facts.ofi_error), "%s", cohort_error_message());
    *ret_facts = facts;
}
