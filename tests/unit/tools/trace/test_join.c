/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/trace/join.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/random.h"
#include "tools/trace/clocks.h"
#include "tools/trace/merge.h"
#include "tools/trace/part.h"
#include "tests/support/test.h"

static char folder[] = "/tmp/cohort-test-XXXXXX";
static char file[64], paths[3][80];

/* A part that is being made, with two blocks. */
static struct {
    struct cohort__trace_head head;
    struct cohort__trace_block blocks[2];
} part;

static void make(uint32_t rank, const char *clock)
{
    memset(&part, 0, sizeof(part));
    part.head = (struct cohort__trace_head){.magic = COHORT__TRACE_MAGIC,
                                            .version = COHORT__TRACE_VERSION,
                                            .key = 11,
                                            .rank = rank,
                                            .size = 3,
                                            .pid = 100,
                                            .is_closed = 1,
                                            .program = "/bin/heat"};
    snprintf(part.head.clock, sizeof(part.head.clock), "%s", clock);
    part.blocks[0].thread = 1;
    part.blocks[1].thread = 1;
    part.blocks[1].sequence = 1;
}

static void add(uint32_t block, enum cohort__trace_kind kind, uint64_t at, uint64_t value,
                uint64_t a, uint64_t b)
{
    struct cohort__trace_record *record = part.blocks[block].records;
    while (record->at)
        record++;
    record->head = (uint64_t)kind | value << 16;
    record->a = a;
    record->b = b;
    record->at = at;
}

static void put(uint32_t i)
{
    int made = open(paths[i], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK_INT(write(made, &part, sizeof(part)), sizeof(part));
    close(made);
}

/* A tick is 2 ns. */
static void make_usual(uint32_t rank)
{
    make(rank, "boot");
    add(0, COHORT__TRACE_CLOCK, 1000, 0, 50000, 0);
    add(0, COHORT__TRACE_THREAD, 1001, 0, 17, 0);
    add(0, COHORT__TRACE_BEGIN, 1100 + rank, 0, 0x1000, 0x2000);
    add(0, COHORT__TRACE_SUSPEND, 1200 + rank, 0x5000, 0x10, 0x2010);
    add(0, COHORT__TRACE_WAKE, 1300 + rank, 0x5000, 0, 0);
    add(1, COHORT__TRACE_RESUME, 1400 + rank, 0x5000, 0, 0);
    add(1, COHORT__TRACE_END, 1500 + rank, 0, 0x1000, 0);
    add(1, COHORT__TRACE_CLOCK, 2000, 0, 52000, 0);
}

static cohort_status join(struct trace_joined *ret_joined)
{
    return trace_join(&(struct trace_join_options){.file = file}, ret_joined);
}

TEST(usual)
{
    struct trace_joined joined;
    struct stat stat_of;
    for (uint32_t rank = 0; rank < 2; rank++) {
        make_usual(rank);
        part.head.is_closed = rank == 0;
        part.head.lost = rank;
        put(rank);
    }
    CHECK_OK(join(&joined));
    CHECK_INT(joined.num_parts, 2);
    CHECK_INT(joined.size, 3);
    CHECK_INT(joined.num_cut, 1);
    CHECK_INT(joined.lost, 1);
    CHECK_INT(joined.num_hosts, 1);
    CHECK_INT(joined.num_events, 16);
    CHECK_INT(access(paths[0], F_OK), -1);
    CHECK_INT(stat(file, &stat_of), 0);
    CHECK(stat_of.st_size > 1000);
}

static void refuse(cohort_status status, const char *why)
{
    unlink(file);
    CHECK_FAILS(join(NULL), status, why);
    CHECK_INT(access(file, F_OK), -1);
}

TEST(refused)
{
    make_usual(0);
    put(0);
    put(1);
    refuse(COHORT_ERR_STATE, "are both of locality 0");
    make_usual(1);
    part.head.key = 12;
    put(1);
    refuse(COHORT_ERR_STATE, "is of another job than");
    CHECK_INT(access(paths[0], F_OK), 0);
    part.head.version++;
    put(1);
    refuse(COHORT_ERR_PROTOCOL, "is a part of version 3, this program reads version 2");
    part.head.magic++;
    put(1);
    refuse(COHORT_ERR_PROTOCOL, "trace.1.part: is no part of a trace");
    make_usual(3);
    put(1);
    refuse(COHORT_ERR_PROTOCOL, "is of locality 3 of 3");
    unlink(paths[0]);
    unlink(paths[1]);
    refuse(COHORT_ERR_STATE, "there are no parts of it");
}

/* With a key parts of other jobs are left alone. */
TEST(key)
{
    struct trace_joined joined;
    for (uint32_t rank = 0; rank < 2; rank++) {
        make_usual(rank);
        part.head.key = 11 + rank;
        put(rank);
    }
    CHECK_OK(trace_join(&(struct trace_join_options){.file = file, .has_key = true, .key = 12},
                        &joined));
    CHECK_INT(joined.num_parts, 1);
    CHECK_INT(access(paths[0], F_OK), 0);
    unlink(paths[0]);
}

/* Times, the order, and a block that is there twice. */
TEST(merge)
{
    struct part read;
    struct merge merge;
    struct event event;
    static const uint64_t times[] = {50000, 50002, 50200, 50400, 50600, 50800, 51000, 52000};
    make_usual(0);
    struct cohort__trace_block block = part.blocks[0];
    put(0);
    int more = open(paths[0], O_WRONLY | O_APPEND);
    CHECK_INT(write(more, &block, sizeof(block)), sizeof(block));
    close(more);
    CHECK_OK(part_init(&read, paths[0]));
    CHECK_INT(read.num_blocks, 2);
    CHECK_OK(merge_init(&merge, &read, 1));
    for (size_t i = 0; i < NUM_OF(times); i++) {
        CHECK(merge_next(&merge, &event));
        CHECK_INT(event.at, times[i]);
    }
    CHECK(!merge_next(&merge, &event));
    merge_fini(&merge);
    part_fini(&read);
    unlink(paths[0]);
}

/* A call with a phase. */
static void add_call(void)
{
    add(0, COHORT__TRACE_ENDPOINT, 1310, 0x7000, 900, UINT64_C(1) << 32);
    add(0, COHORT__TRACE_LEVEL, 1311, 0x7000, 0, 0);
    add(0, COHORT__TRACE_CALL, 1312, 0x7000, 1, 0);
    add(0, COHORT__TRACE_STEP, 1313, 0x7000, 1, 0);
    add(0, COHORT__TRACE_OVER, 1314, 0x7000, 1, 0);
    add(0, COHORT__TRACE_ENDED, 1315, 0x7000, 1, 0);
}

/* An endpoint has gone with a call under way, and another one has its address. */
TEST(reused)
{
    make_usual(0);
    add_call();
    part.blocks[0].records[10].at = 0; /* its ENDED comes later */
    add(0, COHORT__TRACE_ENDPOINT, 1316, 0x7000, 901, UINT64_C(1) << 32);
    add(0, COHORT__TRACE_ENDED, 1317, 0x7000, 1, 0);
    put(0);
    CHECK_OK(join(NULL));
}

/* Whatever is in the file, it ends, with a status. */
TEST(damaged)
{
    struct cohort__random random = cohort__random_seeded(4711);
    const uint64_t rounds = test_rounds(1500, 200);
    for (uint64_t round = 0; round < rounds; round++) {
        make_usual(0);
        add_call();
        for (uint64_t n = cohort__random_below(&random, 8) + 1; n > 0; n--) {
            size_t at = cohort__random_below(&random, 2)
                            ? cohort__random_below(&random, 300)
                            : COHORT__TRACE_HEAD_BYTES + cohort__random_below(&random, 500);
            ((unsigned char *)&part)[at] ^= (unsigned char)(1 << cohort__random_below(&random, 8));
        }
        part.head.magic = COHORT__TRACE_MAGIC;
        put(0);
        if (cohort__random_below(&random, 4) == 0)
            CHECK_INT(truncate(paths[0], (off_t)cohort__random_below(&random, sizeof(part))), 0);
        (void)!join(NULL);
        unlink(paths[0]);
    }
}

/* Messages between two hosts, of which the second is AHEAD of the first and drifts. A message takes
 * 10 us, and some take longer. */
TEST(clocks)
{
    static struct part parts[2];
    struct known_clock found[2];
    const uint32_t hosts[2] = {0, 1};
    const int64_t ahead = 1000000000000;
    for (uint32_t rank = 0; rank < 2; rank++) {
        make(rank, rank ? "b" : "a");
        for (uint64_t i = 0; i < 600; i++) {
            uint64_t at = 1000000 + i * 50000000; /* 30 s by the first clock */
            uint64_t drift = rank ? at / 50000 : 0, late = i % 3 * 20000;
            uint64_t own = at + (rank ? (uint64_t)ahead : 0) + drift;
            if (i % 10 == 0)
                add(i / 300 % 2, COHORT__TRACE_CLOCK, own, 0, own, 0);
            add(i / 300 % 2, i % 2 == rank ? COHORT__TRACE_SENT : COHORT__TRACE_RECEIVED,
                i % 2 == rank ? own : own + 10000 + late, 1 - rank, i, 0);
        }
        put(rank);
        CHECK_OK(part_init(&parts[rank], paths[rank]));
    }
    CHECK_OK(clocks_align(parts, 2, hosts, 2, NULL, found));
    CHECK_INT(found[0].known, COHORT__TRACE_CLOCK_SAME);
    CHECK_INT(found[1].known, COHORT__TRACE_CLOCK_COMPARED);
    CHECK(llabs(found[1].ahead - ahead) < 700000); /* it drifts by 600 us */
    for (uint64_t at = 3000000000; at < 27000000000; at += 1000000000) {
        int64_t first = (int64_t)part_time(&parts[0], at);
        uint64_t own = at + (uint64_t)ahead + at / 50000;
        int64_t second = (int64_t)part_time(&parts[1], own);
        CHECK(llabs(first - second) < 60000); /* it drifts by 100 us in a window */
    }
    part_fini(&parts[0]);
    part_fini(&parts[1]);
    unlink(paths[0]);
    unlink(paths[1]);
}

/* Hosts that exchange no messages, but cohortrun does with both of them, or with the second if it
 * is on the first. AHEAD is by how much each is ahead of cohortrun. */
static void look_at_pings(const char *clock, const int64_t ahead[2], bool are_known)
{
    static struct part parts[2];
    struct known_clock found[2];
    struct trace_ping list[40];
    const uint32_t hosts[2] = {0, 1};
    struct trace_pings pings = {list, 0, clock};
    for (uint32_t rank = 0; rank < 2; rank++) {
        make(rank, rank ? "b" : "a");
        for (uint64_t i = 0; i < 20; i++) {
            bool is_slow = i >= 5 && i < 10; /* a window of 5 s, which says little then */
            uint64_t sent = 1000000 + i * 1000000000,
                     out = 7000 + i % 3 * 1000 + (is_slow ? 3000000 : 0),
                     back = 9000 + i % 5 * 1000, far = (uint64_t)ahead[rank];
            add(0, COHORT__TRACE_CLOCK, sent + far, 0, sent + far, (uint64_t)(rank * 500000000));
            if (are_known)
                list[pings.num++] = (struct trace_ping){
                    .rank = i == 3 ? 77 : rank, /* there is none such */
                    .sent = sent,
                    .arrived = sent + far + out,
                    .answered = sent + far + 500000,
                    .returned = sent + 500000 + back,
                };
        }
        put(rank);
        CHECK_OK(part_init(&parts[rank], paths[rank]));
    }
    CHECK_OK(clocks_align(parts, 2, hosts, 2, &pings, found));
    for (uint64_t at = 1000000000; at < 19000000000; at += 1000000000) {
        int64_t first = (int64_t)part_time(&parts[0], at + (uint64_t)ahead[0]);
        int64_t second = (int64_t)part_time(&parts[1], at + (uint64_t)ahead[1]);
        CHECK(!are_known || llabs(first - second) <= 2000);
        CHECK_INT(first, at + (uint64_t)ahead[0]); /* the first one is the measure */
    }
    CHECK_INT(found[1].known, are_known ? COHORT__TRACE_CLOCK_COMPARED : COHORT__TRACE_CLOCK_DAY);
    CHECK(!are_known || llabs(found[1].ahead - (ahead[1] - ahead[0])) <= 2000);
    CHECK(!are_known || (found[1].bound >= 7000 && found[1].bound <= 18000));
    for (uint32_t rank = 0; rank < 2; rank++) {
        part_fini(&parts[rank]);
        unlink(paths[rank]);
    }
}

TEST(pings)
{
    look_at_pings("c", (int64_t[]){5000000000, 1000000000000}, true);
    look_at_pings("a", (int64_t[]){0, -900000}, true);
    look_at_pings("b", (int64_t[]){700000000000, 0}, true);
    look_at_pings("b", (int64_t[]){900000, 0}, true);
    look_at_pings("c", (int64_t[]){700000000000, 0}, false);
}

/* A part that can't be opened is named: else there would be no trace, and nobody would know why. */
static void check_without_descriptors(void)
{
    struct rlimit limit, none;
    char want[120];
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
    CHECK_INT(trace_join_closed(file), COHORT_ERR_SYSTEM);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    snprintf(want, sizeof(want), "no trace is made: part 0 of %s: Too many open files", file);
    CHECK_TEXT(cohort_error_message(), want);
    static char long_path[2 * PATH_MAX];
    memset(long_path, 'x', sizeof(long_path) - 1);
    CHECK_FAILS(trace_join_closed(long_path), COHORT_ERR_SYSTEM, "no trace is made: part 0 of xxx");
}

/* Only when all are closed, and only one of several that find that. */
TEST(closed)
{
    enum { AT_ONCE = 4 };
    pid_t children[AT_ONCE];
    for (int round = 0; round < 3; round++) {
        unlink(file);
        for (uint32_t rank = 0; rank < 3; rank++) {
            make_usual(rank);
            part.head.is_closed = rank < 2;
            put(rank);
        }
        CHECK_OK(trace_join_closed(file));
        CHECK_INT(access(file, F_OK), -1);
        part.head.is_closed = 1;
        part.head.key = 12; /* of another job */
        put(2);
        CHECK_OK(trace_join_closed(file));
        unlink(paths[2]); /* one is missing */
        CHECK_OK(trace_join_closed(file));
        part.head.key = 11;
        put(2);
        CHECK_INT(access(file, F_OK), -1);
        check_without_descriptors();
        for (int i = 0; i < AT_ONCE; i++)
            if ((children[i] = fork()) == 0)
                _exit(trace_join_closed(file) != COHORT_OK);
        for (int i = 0; i < AT_ONCE; i++) {
            int status;
            CHECK_INT(waitpid(children[i], &status, 0), children[i]);
            CHECK_INT(status, 0);
        }
        CHECK_INT(access(file, F_OK), 0);
        for (uint32_t rank = 0; rank < 3; rank++)
            CHECK_INT(access(paths[rank], F_OK), -1);
    }
}

int main(int argc, char **argv)
{
    CHECK(mkdtemp(folder));
    snprintf(file, sizeof(file), "%s/trace", folder);
    for (int i = 0; i < 3; i++)
        snprintf(paths[i], sizeof(paths[i]), "%s.%d.part", file, i);
    int status = tests_run(argc, argv);
    unlink(file);
    rmdir(folder);
    return status;
}
