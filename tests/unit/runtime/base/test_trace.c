/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "tests/support/thread.h"

static char folder[] = "/tmp/cohort-test-XXXXXX";
static char file[64], path[80];

/* There is one trace in a process, so each case has one of its own. */
static void in_child(void (*run)(void))
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        run();
        exit(0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

#define TEST_IN_CHILD(name)                                                                        \
    static void name(void);                                                                        \
    TEST(name)                                                                                     \
    {                                                                                              \
        in_child(name);                                                                            \
    }                                                                                              \
    static void name(void)

static void begin(uint64_t most_bytes)
{
    CHECK(!cohort__trace_is_on);
    CHECK_OK(cohort__trace_begin(&(struct cohort__trace_options){
        .file = file, .most_bytes = most_bytes, .key = 7, .rank = 3, .size = 4}));
    CHECK(cohort__trace_is_on);
}

static struct cohort__trace_head read_head(void)
{
    struct cohort__trace_head head;
    int part = open(path, O_RDONLY);
    CHECK_INT(read(part, &head, sizeof(head)), sizeof(head));
    close(part);
    CHECK(head.magic == COHORT__TRACE_MAGIC);
    CHECK_INT(head.rank, 3);
    CHECK_INT(head.size, 4);
    CHECK_INT(head.key, 7);
    return head;
}

/* Calls VISIT for each record of the part, in the order of the file. None of a thread is earlier
 * than the one before it. */
static void each(void (*visit)(const struct cohort__trace_block *block,
                               const struct cohort__trace_record *record))
{
    static struct cohort__trace_block block;
    uint64_t last[8] = {0};
    int part = open(path, O_RDONLY);
    CHECK(lseek(part, COHORT__TRACE_HEAD_BYTES, SEEK_SET) > 0);
    while (read(part, &block, sizeof(block)) == sizeof(block))
        for (uint32_t i = 0; i < COHORT__TRACE_BLOCK_RECORDS && block.records[i].at; i++) {
            CHECK(block.thread < 8);
            CHECK(block.records[i].at >= last[block.thread]);
            last[block.thread] = block.records[i].at;
            visit(&block, &block.records[i]);
        }
    close(part);
}

static uint64_t num_wakes, last_at, num_threads, wake_thread;

static void look(const struct cohort__trace_block *block, const struct cohort__trace_record *record)
{
    uint64_t head = record->head;
    num_threads += (head & 0xff) == COHORT__TRACE_THREAD;
    if ((head & 0xff) != COHORT__TRACE_WAKE)
        return;
    CHECK_INT(head >> 8 & 0xff, 5);
    CHECK_INT(head >> 16, 0x123456789abc);
    CHECK_INT(record->a, num_wakes++);
    CHECK_INT(record->b, 1);
    CHECK(record->at >= last_at);
    last_at = record->at;
    wake_thread = block->thread;
}

static void write_wakes(uint64_t from, uint64_t num)
{
    for (uint64_t i = from; i < from + num; i++)
        cohort__trace(COHORT__TRACE_WAKE, 5, 0x123456789abc, i, 1);
}

TEST_IN_CHILD(many)
{
    begin(1 << 20);
    errno = 77;
    write_wakes(0, 5000);
    CHECK_INT(errno, 77);
    CHECK(cohort__trace_end());
    CHECK(!cohort__trace_is_on);
    CHECK(!cohort__trace_end());
    each(look);
    CHECK_INT(num_wakes, 5000);
    struct cohort__trace_head head = read_head();
    CHECK_INT(head.is_closed, 1);
    CHECK_INT(head.lost, 0);
    CHECK_INT(cohort__trace_begin(&(struct cohort__trace_options){.file = file}), COHORT_ERR_STATE);
}

/* The beginning is there, and all that is not is counted. */
static void check_cut(void)
{
    CHECK(cohort__trace_end());
    each(look);
    CHECK(num_wakes > 1500);
    CHECK(num_wakes < 5000);
    uint64_t lost = read_head().lost;
    CHECK(lost >= 5000 - num_wakes);
    CHECK(lost < 6000);
}

TEST_IN_CHILD(limit)
{
    begin(COHORT__TRACE_BLOCK_BYTES);
    write_wakes(0, 5000);
    check_cut();
}

TEST_IN_CHILD(full)
{
    struct rlimit limit = {COHORT__TRACE_HEAD_BYTES + COHORT__TRACE_BLOCK_BYTES + 1000,
                           RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    begin(1 << 20);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    write_wakes(0, 5000);
    check_cut();
}

static void *in_thread(void *arg)
{
    cohort__trace_write_more(cohort__trace_now(), COHORT__TRACE_SENT, 1, 0, 50, 0, 0);
    write_wakes(*(uint64_t *)arg, 1000);
    return arg;
}

/* The second thread takes over what the first one had. What each writes first is of a time before
 * that. */
TEST_IN_CHILD(threads)
{
    uint64_t from[2] = {0, 1000};
    begin(1 << 20);
    for (int i = 0; i < 2; i++) {
        pthread_t thread = new_thread(in_thread, &from[i]);
        end_thread(thread);
    }
    CHECK(cohort__trace_end());
    each(look);
    CHECK_INT(num_wakes, 2000);
    CHECK_INT(num_threads, 3);
    CHECK_INT(wake_thread, 2);
}

static void child_of_child(void)
{
    CHECK(!cohort__trace_is_on);
    write_wakes(100, 10000);
    CHECK(!cohort__trace_end());
}

TEST_IN_CHILD(forks)
{
    begin(1 << 20);
    write_wakes(0, 100);
    in_child(child_of_child);
    write_wakes(100, 100);
    CHECK(cohort__trace_end());
    each(look);
    CHECK_INT(num_wakes, 200);
}

static char text[300];
static size_t text_bytes;

static void take_text(const struct cohort__trace_block *block,
                      const struct cohort__trace_record *record)
{
    uint64_t head = record->head;
    if ((head & 0xff) != COHORT__TRACE_FROM)
        return;
    unsigned char packed[24];
    for (unsigned i = 0; i < 8; i++)
        packed[i] = (unsigned char)(head >> 8 * i);
    memcpy(packed + 8, (const void *)&record->a, 8);
    memcpy(packed + 16, (const void *)&record->b, 8);
    memcpy(text + text_bytes, packed + 2, packed[1]);
    text_bytes += packed[1];
}

TEST_IN_CHILD(texts)
{
    static const char long_text[] = "a text that takes more than two records, so it has to be long";
    begin(1 << 20);
    cohort__trace_write_text(COHORT__TRACE_FROM, long_text, strlen(long_text));
    cohort__trace_write_text(COHORT__TRACE_FROM, long_text, 0);
    CHECK(cohort__trace_end());
    each(take_text);
    CHECK_TEXT(text, long_text);
}

/* What had the name is replaced. A link is not followed. */
TEST_IN_CHILD(replaces)
{
    char other[80];
    snprintf(other, sizeof(other), "%s/other", folder);
    unlink(path);
    CHECK_INT(symlink(other, path), 0);
    begin(1 << 20);
    CHECK(cohort__trace_end());
    CHECK_INT(access(other, F_OK), -1);
    CHECK_INT(read_head().is_closed, 1);
}

TEST_IN_CHILD(refused)
{
    CHECK_FAILS(cohort__trace_begin(&(struct cohort__trace_options){
                    .file = "/nowhere/at/all", .most_bytes = 1, .rank = 1, .size = 2}),
                COHORT_ERR_SYSTEM,
                "COHORT_TRACE: /nowhere/at/all.1.part can't be written: "
                "No such file");
    CHECK(!cohort__trace_is_on);
    write_wakes(0, 1);
    CHECK_INT(cohort__trace_now(), 0);
    CHECK(!cohort__trace_end());
}

/* Without a file: nothing is written down, and the counters of all threads, also of those that have
 * ended, are there after the end. */
static void *count_more(void *arg)
{
    cohort__trace(COHORT__TRACE_CALL, 7, 0, 0, 0);
    cohort__trace(COHORT__TRACE_ENDED, COHORT_ERR_STATE, 0, 0, 7);
    return arg;
}

TEST_IN_CHILD(counts)
{
    pthread_t thread;
    struct cohort__counters counters = {0};
    const struct cohort__trace_options options = {.file = NULL};
    cohort__trace_count(COHORT__COUNTER_FETCHES, 1); /* not yet */
    CHECK_OK(cohort__trace_begin(&options));
    CHECK_INT(cohort__trace_begin(&options), COHORT_ERR_STATE);
    errno = 77;
    cohort__trace_count(COHORT__COUNTER_FETCHES, 1);
    cohort__trace_count(COHORT__COUNTER_BYTES_FETCHED, 1000);
    cohort__trace(COHORT__TRACE_BEGIN, 0, 0, 0, 0);
    cohort__trace(COHORT__TRACE_BEGIN, 1, 0, 0, 0);
    cohort__trace(COHORT__TRACE_SUSPEND, 0, 0, 64 + COHORT__WAIT_YIELD, 0);
    cohort__trace(COHORT__TRACE_SUSPEND, 0, 0, 64 + COHORT__WAIT_TASK, 0);
    cohort__trace(COHORT__TRACE_SUSPEND, 0, 0, 64 + COHORT__WAIT_MUTEX, 0);
    cohort__trace(COHORT__TRACE_SLEEP, 0, 0, 0, 0);
    cohort__trace(COHORT__TRACE_CALL, 255, 0, 0, 0); /* no collective */
    cohort__trace(COHORT__TRACE_CALL, 0, 0, 0, 0);
    cohort__trace(COHORT__TRACE_ENDED, COHORT_OK, 0, 0, 13);
    cohort__trace_write_more(0, COHORT__TRACE_SENT, 1, 0, 50, 0, 0);
    cohort__trace_write_more(0, COHORT__TRACE_RECEIVED, 1, 0, 60, 0, 0);
    cohort__trace_write_text(COHORT__TRACE_FROM, "1 2", 3);
    CHECK_INT(errno, 77);
    for (int i = 0; i < 2; i++) { /* one takes over from the other */
        thread = new_thread(count_more, NULL);
        end_thread(thread);
    }
    cohort__trace_tick();
    CHECK(!cohort__trace_end());
    CHECK(!cohort__trace_is_on);
    cohort__trace_count(COHORT__COUNTER_FETCHES, 1); /* not any more */
    cohort__trace_sum(&counters);
    CHECK_INT(counters.of[COHORT__COUNTER_FETCHES], 1);
    CHECK_INT(counters.of[COHORT__COUNTER_BYTES_FETCHED], 1000);
    CHECK_INT(counters.of[COHORT__COUNTER_TASKS_IN_PLACE], 1);
    CHECK_INT(counters.of[COHORT__COUNTER_YIELDS], 1);
    CHECK_INT(counters.of[COHORT__COUNTER_SUSPENSIONS], 2);
    CHECK_INT(counters.of[COHORT__COUNTER_THREAD_SLEEPS], 1);
    CHECK_INT(counters.of[COHORT__COUNTER_BYTES_SENT], 50);
    CHECK_INT(counters.of[COHORT__COUNTER_BYTES_RECEIVED], 60);
    CHECK_INT(counters.of[COHORT__COUNTER_CALLED], 1);
    CHECK_INT(counters.of[COHORT__COUNTER_CALLED + 7], 2);
    CHECK_INT(counters.of[COHORT__COUNTER_ENDED + 7], 2);
    CHECK_INT(counters.of[COHORT__COUNTER_ENDED + 13], 1);
    CHECK_INT(counters.of[COHORT__COUNTER_COLLECTIVES_FAILED], 2);
    uint64_t sum = 0;
    for (unsigned i = 0; i < COHORT__NUM_COUNTERS; i++)
        sum += counters.of[i];
    CHECK_INT(sum, 1 + 1000 + 1 + 1 + 2 + 1 + 50 + 60 + 1 + 2 + 2 + 1 + 2);
}

int main(int argc, char **argv)
{
    CHECK(mkdtemp(folder));
    snprintf(file, sizeof(file), "%s/trace", folder);
    snprintf(path, sizeof(path), "%s.3.part", file);
    int status = tests_run(argc, argv);
    unlink(path);
    rmdir(folder);
    return status;
}
