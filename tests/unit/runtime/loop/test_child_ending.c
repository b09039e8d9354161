/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/child.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/loop/loop.h"
#include "tests/support/test.h"

struct watcher {
    struct cohort__loop *loop;
    struct cohort__ending *ending;
    unsigned num_ended;
    bool closes; /* in the handler */
};

static void ended(void *context)
{
    struct watcher *watcher = context;
    watcher->num_ended++;
    if (watcher->closes) {
        cohort__ending_close(watcher->ending);
        watcher->ending = NULL;
    }
}

static void start(struct watcher *watcher)
{
    *watcher = (struct watcher){0};
    CHECK_OK(cohort__loop_create(&watcher->loop));
}

static void watch(struct watcher *watcher, int pid)
{
    CHECK_OK(cohort__ending_open(&watcher->ending, watcher->loop, pid, ended, watcher));
}

static void stop(struct watcher *watcher)
{
    cohort__ending_close(watcher->ending);
    cohort__loop_destroy(watcher->loop);
}

static int start_child(void)
{
    int pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        for (;;)
            pause();
    return pid;
}

static void reap(int pid)
{
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

/* A child of a child: only its parent gets its status. */
TEST(grandchild)
{
    struct watcher watcher;
    int pids[2], pid;
    CHECK_INT(pipe(pids), 0);
    int child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        pid = fork();
        if (pid != 0) {
            (void)!write(pids[1], &pid, sizeof(pid));
            waitpid(pid, NULL, 0);
        }
        for (;;)
            pause();
    }
    CHECK_INT(read(pids[0], &pid, sizeof(pid)), sizeof(pid));
    start(&watcher);
    watch(&watcher, pid);
    CHECK_INT(cohort__loop_poll(watcher.loop), 0);
    CHECK_INT(watcher.num_ended, 0);
    kill(pid, SIGKILL);
    while (watcher.num_ended == 0)
        cohort__loop_park(watcher.loop);
    cohort__loop_poll(watcher.loop);
    CHECK_INT(watcher.num_ended, 1);
    stop(&watcher);
    kill(child, SIGKILL);
    reap(child);
    close(pids[0]);
    close(pids[1]);
}

/* It has ended, but is not reaped. The handler closes. */
TEST(zombie)
{
    struct watcher watcher;
    siginfo_t info;
    int pid = start_child();
    kill(pid, SIGKILL);
    CHECK_INT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    start(&watcher);
    watcher.closes = true;
    watch(&watcher, pid);
    CHECK_INT(watcher.num_ended, 0);
    while (watcher.num_ended == 0)
        cohort__loop_park(watcher.loop);
    CHECK_INT(watcher.num_ended, 1);
    stop(&watcher);
    reap(pid);
}

TEST(gone)
{
    struct watcher watcher;
    int pid = start_child();
    kill(pid, SIGKILL);
    reap(pid);
    start(&watcher);
    CHECK_FAILS(cohort__ending_open(&watcher.ending, watcher.loop, pid, ended, &watcher),
                COHORT_ERR_SYSTEM, "cannot watch process ");
    CHECK(!watcher.ending);
    stop(&watcher);
}

TEST(closed)
{
    struct watcher watcher;
    int pid = start_child();
    start(&watcher);
    watch(&watcher, pid);
    cohort__ending_close(watcher.ending);
    watcher.ending = NULL;
    kill(pid, SIGKILL);
    reap(pid);
    cohort__loop_poll(watcher.loop);
    CHECK_INT(watcher.num_ended, 0);
    stop(&watcher);
}
