/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/tool.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cohort/job.h"

/* Whether the folder of BYTES has NAME, in BELOW it. */
static bool try_folder(const char *folder, size_t bytes, const char *below, const char *name,
                       char ret_command[PATH_MAX])
{
    int length = snprintf(ret_command, PATH_MAX, "%.*s%s/%s", (int)bytes, folder, below, name);
    bool is_there = length > 0 && length < PATH_MAX && access(ret_command, X_OK) == 0;
    if (!is_there)
        ret_command[0] = '\0';
    return is_there;
}

/* In the build folder, and where it is installed: bin beside lib or beside lib/ARCHITECTURE. */
static bool find_beside_library(const char *name, char ret_command[PATH_MAX])
{
    static const char *const below[] = {"/tools", "/../bin", "/../../bin"};
    Dl_info info;
    const char *slash = dladdr((const void *)(uintptr_t)cohort__tool_find, &info)
                            ? strrchr(info.dli_fname, '/')
                            : NULL;
    for (size_t i = 0; slash && i < sizeof(below) / sizeof(below[0]); i++)
        if (try_folder(info.dli_fname, (size_t)(slash - info.dli_fname), below[i], name,
                       ret_command))
            return true;
    return false;
}

bool cohort__tool_find(const char *name, const char *path, char ret_command[PATH_MAX])
{
    bool is_found = find_beside_library(name, ret_command);
    while (!is_found && path && *path) {
        size_t bytes = strcspn(path, ":");
        is_found = bytes > 0 && try_folder(path, bytes, "", name, ret_command);
        path += bytes + (path[bytes] == ':');
    }
    return is_found;
}

/* No arguments: no signal at its end, so only who asks for such ones (__WCLONE) can wait for it. */
pid_t cohort__tool_fork(void)
{
    return (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
}

void cohort__tool_await(pid_t child)
{
    while (child > 0 && waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
        ;
}

/* The one in between has the program's handlers, too. */
void cohort__tool_run(const char *command, char *const arguments[])
{
    pid_t child = cohort__tool_fork();
    if (child == 0) {
        signal(SIGCHLD, SIG_DFL);
        pid_t tool = cohort__tool_fork();
        if (tool == 0) {
            execv(command, arguments);
            _exit(127);
        }
        while (tool > 0 && waitpid(tool, NULL, __WALL) < 0 && errno == EINTR)
            ;
        _exit(0);
    }
    cohort__tool_await(child);
}
