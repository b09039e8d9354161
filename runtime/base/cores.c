/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/cores.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/hash.h"

enum { MAX_CORES = 1 << 16, MAX_LINE = 8192 };

/* A mounted hierarchy of control groups that can limit processor time. */
struct hierarchy {
    bool is_version_2;
    char root[PATH_MAX]; /* the group that FOLDER shows */
    char folder[PATH_MAX];
};

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

/* Whether NAME is an item of LIST, whose items are separated by commas. */
static bool has_item(const char *list, const char *name)
{
    size_t bytes = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, bytes) == 0 && (at[bytes] == ',' || at[bytes] == '\0'))
            return true;
    }
    return false;
}

/* LINE is a line of mountinfo: id parent device root folder options... - type source options. */
static bool read_mount(char *line, struct hierarchy *ret)
{
    char type[32], options[1024];
    char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", ret->root, ret->folder) != 2 ||
        sscanf(rest, " - %31s %*s %1023s", type, options) != 2)
        return false;
    ret->is_version_2 = strcmp(type, "cgroup2") == 0;
    return ret->is_version_2 || (strcmp(type, "cgroup") == 0 && has_item(options, "cpu"));
}

static FILE *open_below(const char *root, const char *folder, const char *name)
{
    char path[2 * PATH_MAX];
    int bytes = snprintf(path, sizeof(path), "%s%s/%s", root, folder, name);
    return bytes > 0 && (size_t)bytes < sizeof(path) ? fopen(path, "re") : NULL;
}

/* Finds the group of HIERARCHY that this process is in. A line of the file:
 * id:controllers:group. */
static bool find_group(const char *root, const struct hierarchy *hierarchy, char *ret_group)
{
    char line[MAX_LINE], *controllers = NULL, *group = NULL;
    bool found = false;
    FILE *file = open_below(root, "/proc/self", "cgroup");
    while (file && !found && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        controllers = strchr(line, ':');
        group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group || strlen(group) > PATH_MAX)
            continue;
        *controllers++ = *group++ = '\0';
        found = hierarchy->is_version_2 ? !*controllers : has_item(controllers, "cpu");
    }
    if (file)
        fclose(file);
    if (found)
        strcpy(ret_group, group);
    return found;
}

static bool read_number(const char *root, const char *folder, const char *name, long long *ret)
{
    FILE *file = open_below(root, folder, name);
    bool is_read = file && fscanf(file, "%lld", ret) == 1;
    if (file)
        fclose(file);
    return is_read;
}

/* The quota of the group in FOLDER itself, without the groups above it. */
static unsigned group_quota(const char *root, const char *folder, bool is_version_2)
{
    long long quota = -1, period = 0;
    if (is_version_2) {
        FILE *file = open_below(root, folder, "cpu.max");
        if (!file || fscanf(file, "%lld %lld", &quota, &period) != 2) /* "max 100000": none */
            quota = -1;
        if (file)
            fclose(file);
    } else if (!read_number(root, folder, "cpu.cfs_quota_us", &quota) ||
               !read_number(root, folder, "cpu.cfs_period_us", &period)) {
        return UINT_MAX;
    }
    if (quota < 0 || period <= 0)
        return UINT_MAX;
    return quota < period ? 1 : (unsigned)(quota / period);
}

/* The smallest quota of this process's group and of all groups above it, as far as they are
 * visible. */
static unsigned hierarchy_quota(const char *root, const struct hierarchy *hierarchy)
{
    char group[PATH_MAX], folder[2 * PATH_MAX];
    if (!find_group(root, hierarchy, group))
        return UINT_MAX;
    size_t above = strcmp(hierarchy->root, "/") == 0 ? 0 : strlen(hierarchy->root);
    bool is_seen = strncmp(group, hierarchy->root, above) == 0 && group[above] == '/';
    size_t start = strlen(hierarchy->folder);
    snprintf(folder, sizeof(folder), "%s%s", hierarchy->folder, is_seen ? group + above : "");
    unsigned quota = UINT_MAX;
    for (;;) {
        quota = smaller(quota, group_quota(root, folder, hierarchy->is_version_2));
        char *last = strrchr(folder + start, '/');
        if (!last)
            return quota;
        *last = '\0';
    }
}

unsigned cohort__cores_quota(const char *root)
{
    char line[MAX_LINE];
    struct hierarchy hierarchy;
    unsigned quota = UINT_MAX;
    FILE *file = open_below(root, "/proc/self", "mountinfo");
    while (file && fgets(line, sizeof(line), file))
        if (read_mount(line, &hierarchy))
            quota = smaller(quota, hierarchy_quota(root, &hierarchy));
    if (file)
        fclose(file);
    return quota;
}

unsigned cohort__cores_each(unsigned num_processes, bool may_be_bound)
{
    unsigned mask = mask_cores();
    bool is_bound = may_be_bound && cohort__cores_are_bound(mask);
    unsigned by_mask = (mask ? mask : 1) / (is_bound ? 1 : num_processes);
    return smaller(by_mask, cohort__cores_quota("") / num_processes);
}
