/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/cgroup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 8192 };

/* A mounted hierarchy of control groups. */
struct hierarchy {
    bool is_version_2;
    char root[PATH_MAX]; /* the group that FOLDER shows */
    char folder[PATH_MAX];
};

/* Too large for the stack of a thread that is not ours. */
struct search {
    const char *controller;
    struct hierarchy hierarchy;
    struct cohort__cgroup group;
    char name[PATH_MAX]; /* of the group that this process is in */
    char line[MAX_LINE];
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

/* The line is one of mountinfo: id parent device root folder options... - type source options. */
static bool read_mount(struct search *search)
{
    struct hierarchy *hierarchy = &search->hierarchy;
    char type[32], options[1024];
    char *rest = strstr(search->line, " - ");
    if (!rest ||
        sscanf(search->line, "%*s %*s %*s %4095s %4095s", hierarchy->root, hierarchy->folder) !=
            2 ||
        sscanf(rest, " - %31s %*s %1023s", type, options) != 2)
        return false;
    hierarchy->is_version_2 = strcmp(type, "cgroup2") == 0;
    return hierarchy->is_version_2 ||
           (strcmp(type, "cgroup") == 0 && has_item(options, search->controller));
}

static FILE *open_below(const char *root, const char *folder, const char *name)
{
    char *path;
    if (asprintf(&path, "%s%s/%s", root, folder, name) < 0)
        return NULL;
    FILE *file = fopen(path, "re");
    free(path);
    return file;
}

/* Finds the name of the group of the hierarchy that this process is in. A line of the file:
 * id:controllers:group. */
static bool find_name(struct search *search)
{
    char *controllers = NULL, *name = NULL;
    bool found = false;
    FILE *file = open_below(search->group.root, "/proc/self", "cgroup");
    while (file && !found && fgets(search->line, sizeof(search->line), file)) {
        search->line[strcspn(search->line, "\n")] = '\0';
        controllers = strchr(search->line, ':');
        name = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!name || strlen(name) >= sizeof(search->name))
            continue;
        *controllers++ = *name++ = '\0';
        found = search->hierarchy.is_version_2 ? !*controllers
                                               : has_item(controllers, search->controller);
    }
    if (file)
        fclose(file);
    if (found)
        strcpy(search->name, name);
    return found;
}

/* A container sees its own group as the root, and may see the whole name of the group. */
static void enter(struct search *search)
{
    const struct hierarchy *hierarchy = &search->hierarchy;
    struct cohort__cgroup *group = &search->group;
    size_t above = strcmp(hierarchy->root, "/") == 0 ? 0 : strlen(hierarchy->root);
    bool is_seen = strncmp(search->name, hierarchy->root, above) == 0 && search->name[above] == '/';
    const char *below = is_seen ? search->name + above : "";
    group->is_version_2 = hierarchy->is_version_2;
    group->top = strlen(hierarchy->folder);
    snprintf(group->folder, sizeof(group->folder), "%s%s", hierarchy->folder,
             strcmp(below, "/") == 0 ? "" : below);
}

void cohort__cgroup_each(const char *root, const char *controller,
                         void (*function)(void *context, struct cohort__cgroup *group),
                         void *context)
{
    struct search *search = malloc(sizeof(*search));
    if (!search)
        return;
    search->controller = controller;
    search->group.root = root;
    FILE *file = open_below(root, "/proc/self", "mountinfo");
    while (file && fgets(search->line, sizeof(search->line), file)) {
        if (!read_mount(search) || !find_name(search))
            continue;
        enter(search);
        function(context, &search->group);
    }
    if (file)
        fclose(file);
    free(search);
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
