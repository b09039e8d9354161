/* SPDX-License-Identifier: Apache-2.0 */
/* tools: runs another program, and reads what it prints. */
#include "tools/share/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool failed(const char *what, int error)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(error));
    return false;
}

/* Starts the child with its output in a pipe, of which this process keeps the reading end. */
static bool start(char *const args[], pid_t *ret_pid, int *ret_fd)
{
    int fds[2];
    posix_spawn_file_actions_t actions;
    if (pipe2(fds, O_CLOEXEC))
        return failed("pipe", errno);
    int error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
        if (error == 0)
            error = posix_spawnp(ret_pid, args[0], &actions, NULL, args, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(fds[1]);
    if (error) {
        close(fds[0]);
        return failed(args[0], error);
    }
    *ret_fd = fds[0];
    return true;
}

static bool read_lines(int fd, bool (*on_line)(void *context, const char *line), void *context)
{
    char *line = NULL;
    size_t capacity = 0;
    bool goes_on = true;
    FILE *file = fdopen(fd, "r");
    if (!file) {
        close(fd);
        return failed("fdopen", errno);
    }
    while (getline(&line, &capacity, file) > 0)
        goes_on = goes_on && on_line(context, line);
    free(line);
    fclose(file);
    return goes_on;
}

/* False: STATUS is not 0, which is printed. */
static bool is_success(const char *name, int status)
{
    if (status == 0)
        return true;
    if (WIFSIGNALED(status))
        fprintf(stderr, "%s: %s was killed by signal %d\n", program_invocation_short_name, name,
                WTERMSIG(status));
    else
        fprintf(stderr, "%s: %s ended with status %d\n", program_invocation_short_name, name,
                WEXITSTATUS(status));
    return false;
}

static bool wait_for(pid_t pid, int *ret_status)
{
    while (waitpid(pid, ret_status, 0) < 0)
        if (errno != EINTR)
            return failed("waitpid", errno);
    return true;
}

bool child_run(char *const args[], bool (*on_line)(void *context, const char *line), void *context)
{
    pid_t pid;
    int fd, status;
    if (!start(args, &pid, &fd))
        return false;
    bool is_read = read_lines(fd, on_line, context);
    return wait_for(pid, &status) && is_success(args[0], status) && is_read;
}
