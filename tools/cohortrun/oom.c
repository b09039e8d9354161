/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: whether the kernel has killed processes since there was no memory for them. */
#include "tools/cohortrun/oom.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/cgroup.h"
#include "runtime/base/text.h"

/* Version 1 has such numbers where there is no limit, a page less than the largest one. */
static const int64_t no_limit = INT64_MAX / 2;

/* What the files of a control group say about memory. */
struct memory {
    bool is_found;
    int64_t kills;
    int64_t limit;   /* of the group, or of one above it that has a smaller one */
    char folder[96]; /* shortened */
};

/* The file has lines of a name and a number. */
static bool read_kills(const struct cohort__cgroup *group, int64_t *ret_kills)
{
    char name[64];
    bool is_read = false;
    FILE *file =
        cohort__cgroup_open(group, group->is_version_2 ? "memory.events" : "memory.oom_control");
    while (file && !is_read && fscanf(file, "%63s %" SCNd64, name, ret_kills) == 2)
        is_read = strcmp(name, "oom_kill") == 0;
    if (file)
        fclose(file);
    return is_read;
}

static void add_limit(const struct cohort__cgroup *group, int64_t *limit)
{
    const char *name = group->is_version_2 ? "memory.max" : "memory.limit_in_bytes";
    int64_t own;
    if (cohort__cgroup_read(group, name, &own) && own < *limit) /* "max": none */
        *limit = own;
}

/* In version 2 a group without the file leaves its memory to the next one above that has it. */
static void look_at(void *context, struct cohort__cgroup *group)
{
    struct memory *memory = context;
    if (memory->is_found)
        return;
    while (!(memory->is_found = read_kills(group, &memory->kills)))
        if (!cohort__cgroup_ascend(group))
            return;
    cohort__text_shorten(memory->folder, sizeof(memory->folder), group->folder,
                         strlen(group->folder));
    memory->limit = no_limit;
    do
        add_limit(group, &memory->limit);
    while (cohort__cgroup_ascend(group));
}

static struct memory look(const char *root)
{
    struct memory memory = {0};
    cohort__cgroup_each(root, "memory", look_at, &memory);
    if (!memory.is_found)
        memory.kills = 0;
    return memory;
}

int64_t oom_count(const char *root)
{
    return look(root).kills;
}

bool oom_describe(const char *root, int64_t before, char ret_text[OOM_TEXT_BYTES])
{
    struct memory memory = look(root);
    char limit[48] = "";
    if (memory.kills <= before)
        return false;
    if (memory.limit < no_limit)
        snprintf(limit, sizeof(limit), " (limit %.1f MiB)", (double)memory.limit / (1 << 20));
    snprintf(ret_text, OOM_TEXT_BYTES,
             "the kernel has killed a process of control group %s for want of memory%s",
             memory.folder, limit);
    return true;
}
