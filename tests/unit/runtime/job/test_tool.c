/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/tool.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"

/* The tool is a script, which takes a while and makes a file with its argument. */

static char folder[] = "/tmp/cohort-tool-XXXXXX", script[64], made[64];
static atomic_int num_children;

static void child_ended(int number)
{
    num_children++;
}

static void make_script(void)
{
    CHECK(mkdtemp(folder));
    snprintf(script, sizeof(script), "%s/cohort-some", folder);
    snprintf(made, sizeof(made), "%s/made", folder);
    FILE *file = fopen(script, "w");
    CHECK(file);
    CHECK(fputs("#!/bin/sh\nsleep 0.05\necho \"$2\" > \"$1\"\n", file) >= 0);
    CHECK_INT(fclose(file), 0);
    CHECK_INT(chmod(script, 0700), 0);
}

TEST(find)
{
    char command[PATH_MAX], path[PATH_MAX];
    snprintf(path, sizeof(path), "/nowhere::%s:/usr/bin", folder);
    CHECK(cohort__tool_find("cohort-some", path, command));
    CHECK_TEXT(command, script);
    CHECK(!cohort__tool_find("cohort-other", path, command));
    CHECK_TEXT(command, "");
    CHECK(!cohort__tool_find("cohort-some", NULL, command));
}

/* When it returns the tool has ended, and the program has no child and has got no signal. */
TEST(run)
{
    char text[] = "text", line[16] = "";
    char *arguments[] = {script, made, text, NULL};
    signal(SIGCHLD, child_ended);
    cohort__tool_run(script, arguments);
    signal(SIGCHLD, SIG_DFL);
    CHECK_INT(num_children, 0);
    CHECK_INT(waitpid(-1, NULL, __WALL | WNOHANG), -1);
    CHECK_INT(errno, ECHILD);
    FILE *file = fopen(made, "r");
    CHECK(file && fgets(line, sizeof(line), file));
    CHECK_TEXT(line, "text\n");
    fclose(file);
    unlink(made);
}

int main(int argc, char **argv)
{
    make_script();
    int status = tests_run(argc, argv);
    unlink(script);
    rmdir(folder);
    return status;
}
