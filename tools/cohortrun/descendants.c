/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: finds and kills all that a process has started, also what has left its group. */
#include "tools/cohortrun/descendants.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

int descendants_parent_of(int pid)
{
    char path[64], text[512];
    int parent = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t bytes = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[bytes] = '\0';
    const char *end = strrchr(text, ')'); /* of the name, in which there may be anything */
    return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

bool descendants_include(int top, int pid)
{
    enum { MAX_PARENTS = 64 };
    const int subreaper = descendants_parent_of(top);
    int parent = descendants_parent_of(pid);
    for (int i = 0; i < MAX_PARENTS && parent > 1; i++) {
        if (parent == top || parent == subreaper)
            return true;
        parent = descendants_parent_of(parent);
    }
    return false;
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
