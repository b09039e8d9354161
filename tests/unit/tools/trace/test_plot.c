/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/trace/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/test.h"

static char picture[64];

static void draw(uint64_t begin, uint64_t end)
{
    struct task task = {.rank = 0, .function = "compute", .begin = begin, .end = end};
    struct locality locality = {.rank = 0, .name = "heat here"};
    const struct trace trace = {.localities = &locality, .num_localities = 1, .size = 1};
    const struct model model = {
        .trace = &trace, .tasks = &task, .num_tasks = 1, .begin = begin, .end = end};
    CHECK_OK(plot_write(&model, &(struct sums){0}, picture));
}

/* How many columns of the band are as high as it is. */
static int count_full(void)
{
    static char text[100000];
    FILE *file = fopen(picture, "r");
    CHECK(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    int num = 0;
    for (const char *at = text; (at = strstr(at, "V60.0h1")); at++)
        num++;
    return num;
}

/* A task that runs all the time is drawn in each column, however long a column is. */
TEST(whole)
{
    for (uint64_t ns = 1000; ns < 3000000; ns += 1 + ns / 7) {
        draw(12345, 12345 + ns);
        CHECK_INT(count_full(), 1000);
    }
}

int main(int argc, char **argv)
{
    strcpy(picture, "/tmp/cohort-plot-XXXXXX");
    int fd = mkstemp(picture);
    CHECK(fd >= 0);
    close(fd);
    int status = tests_run(argc, argv);
    unlink(picture);
    return status;
}
