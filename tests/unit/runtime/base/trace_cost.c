/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/trace.h"
#include "tests/support/test.h"

/* How long an event of a trace takes, with what its file takes: the least of some rounds of a
 * million each. Usage: trace_cost [FOLDER] */

enum { ROUNDS = 5, EVENTS = 1000000, MOST_NS = 100 };

static void write_one(uint64_t i)
{
    cohort__trace(COHORT__TRACE_BEGIN, 0, 0, i, 4711);
}

/* As of a message, or a call: two records. */
static void write_long(uint64_t i)
{
    cohort__trace_write_more(0, COHORT__TRACE_SENT, 1, i, 4711, 5, 0);
}

static double measure(const char *what, void (*write)(uint64_t i))
{
    double least = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = cohort__clock_now();
        for (uint64_t i = 0; i < EVENTS; i++)
            write(i);
        double ns = (double)(cohort__clock_now() - begin) / EVENTS;
        least = ns < least ? ns : least;
    }
    printf("%s: %.1f ns, at most %d wanted\n", what, least, MOST_NS);
    return least;
}

int main(int argc, char **argv)
{
    char folder[200], file[220], part[240];
    struct stat stat_of;
    snprintf(folder, sizeof(folder), "%.150s/cohort-trace-XXXXXX", argc > 1 ? argv[1] : "/tmp");
    CHECK(mkdtemp(folder));
    snprintf(file, sizeof(file), "%s/trace", folder);
    snprintf(part, sizeof(part), "%s.0.part", file);
    CHECK_OK(cohort__trace_begin(
        &(struct cohort__trace_options){.file = file, .most_bytes = UINT64_C(1) << 30, .size = 1}));
    double one = measure("an event of one record", write_one);
    double two = measure("an event of two records", write_long);
    CHECK(cohort__trace_end());
    CHECK_INT(stat(part, &stat_of), 0); /* nothing was lost */
    CHECK(stat_of.st_size >
          (off_t)3 * ROUNDS * EVENTS * (off_t)sizeof(struct cohort__trace_record));
    unlink(part);
    rmdir(folder);
    return one > MOST_NS || two > MOST_NS;
}
