/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/ledger_read.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/ledger.h"
#include "runtime/base/random.h"
#include "tests/support/test.h"

/* A small ledger of which copies are damaged: the head, one chunk of waits, one of sites. */
enum {
    PAGE = COHORT__LEDGER_PAGE_BYTES,
    NUM_BYTES = 3 * PAGE,
    LINES = PAGE / 64,
    WAIT_LINES = PAGE / sizeof(struct cohort__wait_line)
};

static union {
    struct cohort__ledger_head head;
    char bytes[NUM_BYTES];
} good;

static int memory = -1;

static struct cohort__wait_line *waits(void)
{
    return (struct cohort__wait_line *)(void *)(good.bytes + PAGE);
}

static void make(void)
{
    memset(&good, 0, sizeof(good));
    good.head.magic = COHORT__LEDGER_MAGIC;
    good.head.version = COHORT__LEDGER_VERSION;
    good.head.first.cycles = 1000;
    good.head.first.mono = 500;
    good.head.last.cycles = 3000;
    good.head.last.mono = 1500;
    for (uint32_t i = 0; i < 2; i++) {
        good.head.chunks[i].kind = i == 0 ? COHORT__LEDGER_WAITS : COHORT__LEDGER_SITES;
        good.head.chunks[i].stride = cohort__ledger_stride(good.head.chunks[i].kind);
        good.head.chunks[i].num = PAGE / good.head.chunks[i].stride;
        good.head.chunks[i].page = 1 + i;
    }
    good.head.num_chunks = 2;
    for (uint32_t i = 0; i < WAIT_LINES; i += 3)
        waits()[i].since = i + 1;
    memory = memfd_create("test", MFD_CLOEXEC);
    CHECK_INT(pwrite(memory, &good, sizeof(good), 0), sizeof(good));
}

static void put(const void *bytes, size_t num, size_t at)
{
    CHECK_INT(pwrite(memory, bytes, num, (off_t)at), (long long)num);
}

static void count(void *context, const void *line)
{
    uint64_t first;
    memcpy(&first, line, sizeof(first));
    CHECK(first != 0);
    ++*(unsigned *)context;
}

TEST(reading)
{
    struct cohort__ledger_view view;
    unsigned num = 0;
    make();
    CHECK_OK(cohort__ledger_view_init(&view, memory, 0));
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_WAITS, count, &num));
    CHECK_INT(num, (WAIT_LINES + 2) / 3);
    num = 0;
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_SITES, count, &num));
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_JOINS, count, &num));
    CHECK_INT(num, 0);
    close(memory);
}

TEST(other_versions)
{
    struct cohort__ledger_view view;
    const uint32_t other = COHORT__LEDGER_VERSION + 1;
    make();
    put(&other, sizeof(other), offsetof(struct cohort__ledger_head, version));
    CHECK_INT(cohort__ledger_view_init(&view, memory, 0), COHORT_ERR_PROTOCOL);
    char versions[64];
    snprintf(versions, sizeof(versions), "version %u, not %u", other,
             (unsigned)COHORT__LEDGER_VERSION);
    CHECK_CONTAINS(cohort_error_message(), versions);
    CHECK_INT(cohort__ledger_view_init(&view, memory, 1), COHORT_ERR_PROTOCOL);
    close(memory);
    CHECK_INT(cohort__ledger_view_init(&view, memory, 0), COHORT_ERR_SYSTEM);
}

/* Each rule for a chunk: a damaged one is left out, the other one is read. */
TEST(damaged_chunks)
{
    const struct cohort__ledger_chunk bad[] = {
        {.kind = COHORT__LEDGER_WAITS, .stride = 64, .num = LINES, .page = 1},
        {.kind = COHORT__LEDGER_NUM_KINDS, .stride = 64, .num = LINES, .page = 1},
        {.kind = 0, .stride = 0, .num = LINES, .page = 1},
        {.kind = COHORT__LEDGER_WAITS, .stride = 128, .num = WAIT_LINES, .page = 0},
        {.kind = COHORT__LEDGER_WAITS, .stride = 128, .num = UINT32_MAX, .page = 1},
        {.kind = COHORT__LEDGER_WAITS, .stride = 128, .num = 1, .page = UINT32_MAX},
    };
    for (size_t i = 0; i < NUM_OF(bad); i++) {
        struct cohort__ledger_view view;
        make();
        put(&bad[i], sizeof(bad[i]), offsetof(struct cohort__ledger_head, chunks));
        CHECK_OK(cohort__ledger_view_init(&view, memory, 0));
        CHECK(view.is_damaged);
        CHECK_INT(view.num_chunks, 1);
        CHECK_INT(view.head.chunks[0].kind, COHORT__LEDGER_SITES);
        close(memory);
    }
}

/* Whatever is written there, reading ends, and harms nobody. */
TEST(any_bytes)
{
    const uint64_t rounds = test_rounds(1000, 200);
    struct cohort__random random = cohort__random_seeded(1);
    make();
    for (uint64_t round = 0; round < rounds; round++) {
        struct cohort__ledger_view view;
        unsigned num = 0;
        put(&good, sizeof(good.head), 0);
        for (unsigned i = 0; i < 20; i++) {
            uint64_t word = cohort__random_next(&random) >> cohort__random_below(&random, 64);
            put(&word, sizeof(word), 8 + 4 * cohort__random_below(&random, 200));
        }
        if (cohort__ledger_view_init(&view, memory, 0) == COHORT_OK)
            for (int kind = 0; kind <= COHORT__LEDGER_NUM_KINDS; kind++) {
                /* One that ends before the region does is an error. */
                cohort_status status =
                    cohort__ledger_each(&view, (enum cohort__ledger_kind)kind, count, &num);
                CHECK(status == COHORT_OK || status == COHORT_ERR_PROTOCOL);
            }
    }
    close(memory);
}

TEST(time)
{
    struct cohort__ledger_view view;
    make();
    CHECK_OK(cohort__ledger_view_init(&view, memory, 0));
    CHECK_INT(cohort__ledger_nanoseconds(&view, 0, 0, 2000), 1000);
    CHECK_INT(cohort__ledger_nanoseconds(&view, 0, 0, 5000), 2500);
    CHECK_INT(cohort__ledger_nanoseconds(&view, 0, 0, 0), 0);
    CHECK_INT(cohort__ledger_nanoseconds(&view, 2000, 2500, 1500), 1500);
    CHECK_INT(cohort__ledger_nanoseconds(&view, 1000, 500, 1500), 500); /* no time has passed */
    CHECK_INT(cohort__ledger_nanoseconds(&view, 1000, 900, 1500), 500);
    CHECK_INT((long long)cohort__ledger_nanoseconds(&view, 1001, UINT64_MAX, UINT64_MAX),
              (long long)UINT64_MAX);
    close(memory);
}

/* That of a process that is stopped, read by another one. */
TEST(find)
{
    int ends[2], status, other = -1;
    uint32_t slot = 9;
    char ready;
    CHECK_INT(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        cohort__ledger_introduce(1, 2, 9, 3);
        struct cohort__wait_line *line = cohort__ledger_take(COHORT__LEDGER_WAITS);
        line->since = 1;
        CHECK_INT(write(ends[1], "r", 1), 1);
        for (;;)
            pause();
    }
    CHECK_INT(read(ends[0], &ready, 1), 1);
    kill(child, SIGSTOP);
    CHECK_INT(waitpid(child, &status, WUNTRACED), child);
    struct cohort__ledger_view view;
    unsigned num = 0;
    CHECK_OK(cohort__ledger_find(child, &other, &slot));
    CHECK_INT(slot, 0);
    kill(child, SIGKILL);
    CHECK_INT(waitpid(child, &status, 0), child);
    /* Its memory stays as long as it is open here. */
    CHECK_OK(cohort__ledger_view_init(&view, other, slot));
    CHECK_INT(view.head.pid, child);
    CHECK_INT(view.head.rank, 1);
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_WAITS, count, &num));
    CHECK_INT(num, 1);
    CHECK_FAILS(cohort__ledger_find(child, &other, &slot), COHORT_ERR_SYSTEM, "there is none");
    close(other);
    close(ends[0]);
    close(ends[1]);
}
