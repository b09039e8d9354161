/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_CGROUP_H
#define COHORT_RUNTIME_BASE_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A control group that this process is in, or one above it. */
struct cohort__cgroup {
    const char *root;
    bool is_version_2;
    size_t top; /* how much of FOLDER is the highest group that is visible */
    char folder[2 * PATH_MAX];
};

/* Calls FUNCTION for each mounted hierarchy (version 1 or 2) that may limit what CONTROLLER ("cpu")
 * stands for, with the group that this process is in. It may change GROUP. Reads files below ROOT:
 * /proc/self/mountinfo, /proc/self/cgroup, and with the functions below those of the groups that
 * these name. ROOT is "" except in tests, which give a folder with files of their own. Without
 * memory it finds none. */
void cohort__cgroup_each(const char *root, const char *controller,
                         void (*function)(void *context, struct cohort__cgroup *group),
                         void *context);

/* Goes to the group above. False: it is not visible. */
bool cohort__cgroup_ascend(struct cohort__cgroup *group);

/* Opens a file of GROUP for reading. NULL: it has none of this name. */
FILE *cohort__cgroup_open(const struct cohort__cgroup *group, const char *name);

/* Reads the number that a file of GROUP begins with. False: there is none. */
bool cohort__cgroup_read(const struct cohort__cgroup *group, const char *name, int64_t *ret_number);

#endif
