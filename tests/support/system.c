/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/system.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/test.h"

char system_root[64];

void system_play(const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s%s", system_root, name);
    for (char *at = path + strlen(system_root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(path, 0700);
    }
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    CHECK(fputs(text, file) >= 0);
    CHECK_INT(fclose(file), 0);
}

void system_begin(const char *mountinfo, const char *cgroup)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(system_root, sizeof(system_root), "%.40s/cohort-systemXXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(system_root) != NULL);
    system_play("/proc/self/mountinfo", mountinfo);
    system_play("/proc/self/cgroup", cgroup);
}

void system_end(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -r '%s'", system_root);
    CHECK_INT(system(command), 0);
}
