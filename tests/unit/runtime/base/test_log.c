/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"

struct capture {
    char text[4096];
    size_t bytes;
    int num_lines;
};

static void capture_line(void *context, enum cohort__log_level level, const char *line,
                         size_t bytes)
{
    struct capture *capture = context;
    CHECK(capture->bytes + bytes < sizeof(capture->text));
    memcpy(capture->text + capture->bytes, line, bytes);
    capture->bytes += bytes;
    capture->text[capture->bytes] = '\0';
    capture->num_lines++;
}

/* Runs it in a child, since the environment is read only once. Returns what the child prints to
 * stderr. */
static void run_with_environment(const char *value, char *ret_text, size_t bytes)
{
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        if (value)
            setenv("COHORT_LOG", value, 1);
        else
            unsetenv("COHORT_LOG");
        cohort__log(COHORT__LOG_ERROR, "an error");
        cohort__log(COHORT__LOG_DEBUG, "a detail");
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while ((got = read(ends[0], ret_text + length, bytes - 1 - length)) > 0)
        length += (size_t)got;
    ret_text[length] = '\0';
    close(ends[0]);
    CHECK_INT(waitpid(child, NULL, 0), child);
}

/* First, since the others set the level. */
TEST(environment)
{
    char text[1000];
    run_with_environment(NULL, text, sizeof(text));
    CHECK_TEXT(text, "");
    run_with_environment("loud", text, sizeof(text));
    CHECK_TEXT(text, "");
    run_with_environment("info", text, sizeof(text));
    CHECK_CONTAINS(text, "error: an error\n");
    CHECK(!strstr(text, "detail"));
    run_with_environment("debug", text, sizeof(text));
    CHECK_CONTAINS(text, "debug: a detail\n");
}

TEST(levels)
{
    struct capture capture = {0};
    cohort__log_sink_set(capture_line, &capture);
    cohort__log_level_set(COHORT__LOG_WARN);
    CHECK(cohort__log_enabled(COHORT__LOG_ERROR));
    CHECK(!cohort__log_enabled(COHORT__LOG_INFO));
    CHECK(!cohort__log_enabled(COHORT__LOG_OFF));
    cohort__log(COHORT__LOG_ERROR, "first %d", 1);
    cohort__log(COHORT__LOG_INFO, "second");
    cohort__log(COHORT__LOG_WARN, "third");
    CHECK_INT(capture.num_lines, 2);
    CHECK_CONTAINS(capture.text, "error: first 1\n");
    CHECK_CONTAINS(capture.text, "warn: third\n");
    cohort__log_level_set(COHORT__LOG_OFF);
    cohort__log(COHORT__LOG_ERROR, "fourth");
    CHECK_INT(capture.num_lines, 2);
    cohort__log_sink_set(NULL, NULL);
}

TEST(long_lines_are_cut)
{
    struct capture capture = {0};
    char text[3000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    cohort__log_sink_set(capture_line, &capture);
    cohort__log_level_set(COHORT__LOG_ERROR);
    cohort__log(COHORT__LOG_ERROR, "%s", text);
    CHECK_INT(capture.num_lines, 1);
    CHECK(capture.bytes <= 1024 && capture.text[capture.bytes - 1] == '\n');
    cohort__log_sink_set(NULL, NULL);
}
