/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/descendants.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"

/* A guardian as cohortrun has one for each locality, with a program that it has started and what
 * comes from that. All live until the guardian is told to end: then it kills them, and says by its
 * status whether none is left. */
struct family {
    int guardian;
    int top;    /* its program */
    int child;  /* of that */
    int orphan; /* in a session of its own; its parent was a child of `child`, and is over */
    int parent; /* that was the parent */
    int last;   /* a child of the orphan */
    int end;    /* the pipe whose closing ends the guardian */
};

static void tell(int to, int what)
{
    CHECK(write(to, &what, sizeof(what)) == sizeof(what));
}

static int hear(int from)
{
    int what = 0;
    CHECK(read(from, &what, sizeof(what)) == sizeof(what));
    return what;
}

static int forked(void)
{
    int pid = fork();
    CHECK(pid >= 0);
    return pid;
}

_Noreturn static void wait_for_end(void)
{
    alarm(60); /* where a check has failed, nobody ends it */
    for (;;)
        pause();
}

/* Has one child, and ends when that is in its own session. */
_Noreturn static void be_parent(int to)
{
    int ready[2];
    tell(to, getpid());
    CHECK_INT(pipe(ready), 0);
    if (forked() == 0) {
        CHECK(setsid() > 0);
        tell(to, getpid());
        const int last = forked();
        if (last == 0)
            wait_for_end();
        tell(to, last);
        tell(ready[1], 1);
        wait_for_end();
    }
    (void)hear(ready[0]);
    _exit(0);
}

_Noreturn static void be_child(int to)
{
    tell(to, getpid());
    int parent = forked();
    if (parent == 0)
        be_parent(to);
    CHECK_INT(waitpid(parent, NULL, 0), parent); /* so its child has another parent by now */
    tell(to, 1);
    wait_for_end();
}

_Noreturn static void be_top(int to)
{
    tell(to, getpid());
    if (forked() == 0)
        be_child(to);
    wait_for_end();
}

_Noreturn static void be_guardian(int to, int end)
{
    char byte;
    CHECK(descendants_are_none());
    descendants_adopt();
    if (forked() == 0)
        be_top(to);
    CHECK(!descendants_are_none());
    CHECK_INT(read(end, &byte, 1), 0);
    descendants_kill();
    _exit(descendants_are_none() ? 0 : 1);
}

static struct family found(void)
{
    struct family family;
    int told[2], end[2];
    CHECK_INT(pipe(told), 0);
    CHECK_INT(pipe(end), 0);
    family.guardian = forked();
    if (family.guardian == 0) {
        close(end[1]);
        be_guardian(told[1], end[0]);
    }
    close(end[0]);
    close(told[1]);
    family.end = end[1];
    family.top = hear(told[0]);
    family.child = hear(told[0]);
    family.parent = hear(told[0]);
    family.orphan = hear(told[0]);
    family.last = hear(told[0]);
    CHECK_INT(hear(told[0]), 1);
    close(told[0]);
    return family;
}

static bool lives(int pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

static void end(const struct family *family)
{
    int status;
    close(family->end);
    CHECK_INT(waitpid(family->guardian, &status, 0), family->guardian);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
    CHECK(!lives(family->top) && !lives(family->child) && !lives(family->orphan) &&
          !lives(family->last));
}

TEST(parent)
{
    int ready[2];
    CHECK_INT(descendants_parent_of(getpid()), getppid());
    CHECK_INT(descendants_parent_of(1), 0);
    CHECK_INT(pipe(ready), 0);
    int pid = forked();
    if (pid == 0) {
        prctl(PR_SET_NAME, ") S 1 (x"); /* what looks like the fields behind the name */
        tell(ready[1], 1);
        wait_for_end();
    }
    (void)hear(ready[0]);
    CHECK_INT(descendants_parent_of(pid), getpid());
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    CHECK_INT(descendants_parent_of(pid), 0);
    close(ready[0]);
    close(ready[1]);
}

TEST(include)
{
    struct family one = found(), other = found();
    CHECK(descendants_include(one.top, one.child));
    CHECK(descendants_include(one.top, one.orphan)); /* by the subreaper */
    CHECK(descendants_include(one.top, one.last));
    CHECK_INT(descendants_parent_of(one.orphan), one.guardian);
    CHECK(!descendants_include(one.top, one.parent)); /* it is over */
    CHECK(!descendants_include(one.child, one.top));
    CHECK(!descendants_include(one.top, other.top));
    CHECK(!descendants_include(one.top, other.child));
    CHECK(!descendants_include(one.top, other.orphan));
    CHECK(!descendants_include(one.top, getpid()));
    CHECK(!descendants_include(one.top, one.guardian));
    end(&other);
    CHECK(lives(one.top) && lives(one.child) && lives(one.orphan));
    end(&one);
}

/* One that has never had a child, and one whose child has ended and was not waited for. */
TEST(kill)
{
    descendants_kill();
    CHECK(descendants_are_none());
    int pid = forked();
    if (pid == 0)
        _exit(0);
    CHECK(!descendants_are_none());
    descendants_kill();
    CHECK(descendants_are_none());
    CHECK(!lives(pid));
}
