/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/tool.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"

/* What it starts is a script here, which says its arguments. multi/hang has the real one. */

static char folder[] = "/tmp/cohort-status-signal-XXXXXX", script[sizeof(folder) + 16];
static atomic_int num_children;

static void child_ended(int number)
{
    num_children++;
}

static void make_script(void)
{
    CHECK(mkdtemp(folder));
    snprintf(script, sizeof(script), "%s/cohortrun", folder);
    FILE *file = fopen(script, "w");
    CHECK(file);
    CHECK(fputs("#!/bin/sh\necho \"$@\"\n", file) >= 0);
    CHECK_INT(fclose(file), 0);
    CHECK_INT(chmod(script, 0700), 0);
}

static void remove_script(void)
{
    CHECK_INT(unlink(script), 0);
    CHECK_INT(rmdir(folder), 0);
}

/* What is written to standard error by the handler and by what it starts, until both are over. */
static void catch_output(char *text, size_t size)
{
    int ends[2], saved = dup(STDERR_FILENO);
    size_t used = 0;
    ssize_t got;
    CHECK(saved >= 0);
    CHECK_INT(pipe(ends), 0);
    CHECK_INT(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    close(ends[1]);
    errno = ENOTTY;
    CHECK_INT(raise(SIGUSR2), 0);
    CHECK_INT(errno, ENOTTY);
    CHECK_INT(dup2(saved, STDERR_FILENO), STDERR_FILENO);
    close(saved);
    while ((got = read(ends[0], text + used, size - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    close(ends[0]);
}

/* The program hears of no child, whatever it waits for. */
static void check_said(const char *want)
{
    char text[200];
    catch_output(text, sizeof(text));
    CHECK_INT(num_children, 0);
    CHECK_INT(waitpid(-1, NULL, __WALL), -1);
    CHECK_INT(errno, ECHILD);
    CHECK_TEXT(text, want);
}

TEST(no_child)
{
    char want[64];
    struct sigaction action = {.sa_handler = child_ended};
    CHECK_INT(sigaction(SIGCHLD, &action, NULL), 0);
    make_script();
    cohort__status_signal_watch(folder);
    snprintf(want, sizeof(want), "--status %d\n", (int)getpid());
    check_said(want);
    check_said(want);
    remove_script();
    check_said("cohortrun, which can say what this program waits for, is neither beside libcohort "
               "nor in PATH\n");
    cohort__status_signal_unwatch();
}

static void *handler(void)
{
    struct sigaction action;
    CHECK_INT(sigaction(SIGUSR2, NULL, &action), 0);
    return (void *)(uintptr_t)action.sa_handler;
}

/* Only what is at its default is taken, and only what was taken is put back. */
TEST(default)
{
    CHECK(handler() == (void *)(uintptr_t)SIG_DFL);
    cohort__status_signal_watch(NULL);
    CHECK(handler() != (void *)(uintptr_t)SIG_DFL);
    cohort__status_signal_unwatch();
    CHECK(handler() == (void *)(uintptr_t)SIG_DFL);
    signal(SIGUSR2, child_ended);
    cohort__status_signal_watch(NULL);
    CHECK(handler() == (void *)(uintptr_t)child_ended);
    cohort__status_signal_unwatch();
    CHECK(handler() == (void *)(uintptr_t)child_ended);
    signal(SIGUSR2, SIG_DFL);
}
