/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/tool.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
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
static pid_t tool_fork(void)
{
    return (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
}

/* Returns when CHILD has ended. */
static void tool_await(pid_t child)
{
    while (child > 0 && waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
        ;
}

/* The one in between has the program's handlers, too. */
void cohort__tool_run(const char *command, char *const arguments[])
{
    pid_t child = tool_fork();
    if (child == 0) {
        signal(SIGCHLD, SIG_DFL);
        pid_t tool = tool_fork();
        if (tool == 0) {
            execv(command, arguments);
            _exit(127);
        }
        while (tool > 0 && waitpid(tool, NULL, __WALL) < 0 && errno == EINTR)
            ;
        _exit(0);
    }
    tool_await(child);
}

/* --- status signal --- */

/* Found beforehand, since a handler may not look for anything. "": nowhere. */
static char command[PATH_MAX];

/* The decimal digits of NUMBER at the end of TEXT. */
static char *digits(unsigned number, char text[16])
{
    char *digit = text + 15;
    *digit = '\0';
    do {
        *--digit = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return digit;
}

/* In a child process; only what a signal handler may call. */
static void run_command(pid_t pid)
{
    static const char missing[] =
        "cohortrun, which can say what this program waits for, is neither beside libcohort nor in "
        "PATH\n";
    char text[16], option[] = "--status";
    char *arguments[] = {command, option, digits((unsigned)pid, text), NULL};
    if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 && command[0])
        execve(command, arguments, environ);
    if (write(STDERR_FILENO, missing, sizeof(missing) - 1) < 0)
        _exit(1);
    _exit(127);
}

/* The child of a child is nobody's here. */
static void handle(int number)
{
    int saved_errno = errno;
    pid_t pid = getpid(), child = tool_fork();
    (void)number;
    if (child == 0) {
        if (tool_fork() == 0)
            run_command(pid);
        _exit(0);
    }
    tool_await(child);
    errno = saved_errno;
}

void cohort__status_signal_watch(const char *path)
{
    struct sigaction old, action = {.sa_handler = handle, .sa_flags = SA_RESTART | SA_ONSTACK};
    if (sigaction(SIGUSR2, NULL, &old) != 0 || (old.sa_flags & SA_SIGINFO) ||
        old.sa_handler != SIG_DFL)
        return;
    cohort__tool_find("cohortrun", path, command);
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR2, &action, NULL);
}

void cohort__status_signal_unwatch(void)
{
    struct sigaction action;
    if (sigaction(SIGUSR2, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) &&
        action.sa_handler == handle)
        signal(SIGUSR2, SIG_DFL);
}
