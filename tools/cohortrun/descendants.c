/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: kills all that a process has started, also what has left its group. */
#include "tools/cohortrun/descendants.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void descendants_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool descendants_are_none(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && errno == ECHILD;
}

/* Kills all children; false if there was none that may be killed. */
static bool kill_children(void)
{
    char path[64];
    int pid;
    bool any = false;
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    FILE *list = fopen(path, "re");
    if (!list)
        return false;
    while (fscanf(list, "%d", &pid) == 1)
        if (kill(pid, SIGKILL) == 0)
            any = true;
    fclose(list);
    return any;
}

void descendants_kill(void)
{
    sigset_t chld;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL);
    /* When a process dies, its children become ours, so they appear in the list of the next
     * round. */
    while (kill_children()) {
        pid_t pid;
        bool reaped = false;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            reaped = true;
        if (pid < 0 && errno == ECHILD)
            return;
        /* The kernel may leave out a child of a list that changes, so look again after a while. */
        if (!reaped)
            sigtimedwait(&chld, NULL, &(struct timespec){.tv_nsec = 10000000});
    }
}
