/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/cgroup.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_LINE = 8192 };

/* A mounted hierarchy of control groups. */
struct hierarchy {
    bool is_version_2;
    char root[PATH_MAX]; /* the group that FOLDER shows */
    char folder[PATH_MAX];
};

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
static bool read_mount(char *line, const char *controller, struct hierarchy *ret)
{
    char type[32], options[1024];
    char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", ret->root, ret->folder) != 2 ||
        sscanf(rest, " - %31s %*s %1023s", type, options) != 2)
        return false;
    ret->is_version_2 = strcmp(type, "cgroup2") == 0;
    return ret->is_version_2 || (strcmp(type, "cgroup") == 0 && has_item(options, controller));
}

static FILE *open_below(const char *root, const char *folder, const char *name)
{
    char path[2 * PATH_MAX];
    int bytes = snprintf(path, sizeof(path), "%s%s/%s", root, folder, name);
    return bytes > 0 && (size_t)bytes < sizeof(path) ? fopen(path, "re") : NULL;
}

/* Finds the name of the group of HIERARCHY that this process is in. A line of the file:
 * id:controllers:group. */
static bool find_name(const char *root, const char *controller, const struct hierarchy *hierarchy,
                      char *ret_name)
{
    char line[MAX_LINE], *controllers = NULL, *name = NULL;
    bool found = false;
    FILE *file = open_below(root, "/proc/self", "cgroup");
    while (file && !found && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        controllers = strchr(line, ':');
        name = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!name || strlen(name) >= PATH_MAX)
            continue;
        *controllers++ = *name++ = '\0';
        found = hierarchy->is_version_2 ? !*controllers : has_item(controllers, controller);
    }
    if (file)
        fclose(file);
    if (found)
        strcpy(ret_name, name);
    return found;
}

/* A container sees its own group as the root, and may see the whole name of the group. */
static void enter(struct cohort__cgroup *group, const struct hierarchy *hierarchy, const char *name)
{
    size_t above = strcmp(hierarchy->root, "/") == 0 ? 0 : strlen(hierarchy->root);
    bool is_seen = strncmp(name, hierarchy->root, above) == 0 && name[above] == '/';
    const char *below = is_seen ? name + above : "";
    group->is_version_2 = hierarchy->is_version_2;
    group->top = strlen(hierarchy->folder);
    snprintf(group->folder, sizeof(group->folder), "%s%s", hierarchy->folder,
             strcmp(below, "/") == 0 ? "" : below);
}

void cohort__cgroup_each(const char *root, const char *controller,
                         void (*function)(void *context, struct cohort__cgroup *group),
                         void *context)
{
    char line[MAX_LINE], name[PATH_MAX];
    struct hierarchy hierarchy;
    struct cohort__cgroup group = {.root = root};
    FILE *file = open_below(root, "/proc/self", "mountinfo");
    while (file && fgets(line, sizeof(line), file)) {
        if (!read_mount(line, controller, &hierarchy) ||
            !find_name(root, controller, &hierarchy, name))
            continue;
        enter(&group, &hierarchy, name);
        function(context, &group);
    }
    if (file)
        fclose(file);
}

bool cohort__cgroup_ascend(struct cohort__cgroup *group)
{
    char *last = strrchr(group->folder + group->top, '/');
    if (last)
        *last = '\0';
    return last;
}

FILE *cohort__cgroup_open(const struct cohort__cgroup *group, const char *name)
{
    return open_below(group->root, group->folder, name);
}

bool cohort__cgroup_read(const struct cohort__cgroup *group, const char *name, int64_t *ret_number)
{
    FILE *file = cohort__cgroup_open(group, name);
    bool is_read = file && fscanf(file, "%" SCNd64, ret_number) == 1;
    if (file)
        fclose(file);
    return is_read;
}
