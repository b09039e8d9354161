/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/status_signal.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "runtime/job/tool.h"

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
    pid_t pid = getpid(), child = cohort__tool_fork();
    (void)number;
    if (child == 0) {
        if (cohort__tool_fork() == 0)
            run_command(pid);
        _exit(0);
    }
    cohort__tool_await(child);
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
