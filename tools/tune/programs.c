/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: finds this program and cohortrun, and makes the commands of jobs. */
#include "tools/tune/programs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool find_self(char ret_path[PROGRAMS_MAX_PATH])
{
    ssize_t length = readlink("/proc/self/exe", ret_path, PROGRAMS_MAX_PATH - 1);
    if (length <= 0) {
        fprintf(stderr, "%s: /proc/self/exe: %s\n", program_invocation_short_name, strerror(errno));
        return false;
    }
    ret_path[length] = '\0';
    return true;
}

bool programs_find(const char *launcher, struct programs *ret_programs)
{
    ret_programs->timeout = "7200";
    char *self = ret_programs->self, *cohortrun = ret_programs->cohortrun;
    if (!find_self(self))
        return false;
    int folder = (int)(strrchr(self, '/') - self);
    int written = launcher ? snprintf(cohortrun, PROGRAMS_MAX_PATH, "%s", launcher)
                           : snprintf(cohortrun, PROGRAMS_MAX_PATH, "%.*s/cohortrun", folder, self);
    if (written < PROGRAMS_MAX_PATH && access(cohortrun, X_OK) == 0)
        return true;
    fprintf(stderr, "%s: no launcher at '%s': give --cohortrun PATH\n",
            program_invocation_short_name, cohortrun);
    return false;
}

/* exec takes the arguments as they are, but its prototype doesn't say so. */
void programs_command_add(struct programs_command *command, const char *arg)
{
    if (command->num_args < PROGRAMS_MAX_ARGS)
        command->args[command->num_args++] = (char *)arg;
}

void programs_command_launch(struct programs_command *command, const struct programs *programs,
                             const char *localities, const char *workers)
{
    const char *const args[] = {programs->cohortrun, "-n",    localities,
                                "--workers",         workers, "--timeout",
                                programs->timeout};
    *command = (struct programs_command){.num_args = 0};
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
        programs_command_add(command, args[i]);
}
