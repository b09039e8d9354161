/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/ledger_read.h"
#include "runtime/base/sanitizer.h"
#include "tests/support/test.h"

/* What a reader finds in the ledger of this process. */
struct found {
    unsigned num;
    uint64_t sum; /* of the first words */
};

static void count(void *context, const void *line)
{
    struct found *found = context;
    uint64_t first;
    memcpy(&first, line, sizeof(first));
    found->num++;
    found->sum += first;
}

static struct found find_in(int memory, uint32_t slot, enum cohort__ledger_kind kind)
{
    struct cohort__ledger_view view;
    struct found found = {0};
    CHECK_OK(cohort__ledger_view_init(&view, memory, slot));
    CHECK(!view.is_damaged);
    CHECK_OK(cohort__ledger_each(&view, kind, count, &found));
    return found;
}

static struct found find(enum cohort__ledger_kind kind)
{
    int memory;
    uint32_t slot;
    CHECK_OK(cohort__ledger_find(getpid(), &memory, &slot));
    struct found found = find_in(memory, slot, kind);
    close(memory);
    return found;
}

static const struct cohort__ledger_head *head(void)
{
    static struct cohort__ledger_view view;
    int memory;
    uint32_t slot;
    CHECK_OK(cohort__ledger_find(getpid(), &memory, &slot));
    CHECK_OK(cohort__ledger_view_init(&view, memory, slot));
    close(memory);
    return &view.head;
}

static struct cohort__wait_line *take(uint64_t since)
{
    struct cohort__wait_line *line = cohort__ledger_take(COHORT__LEDGER_WAITS);
    CHECK(line);
    CHECK_INT((uintptr_t)line % 64, 0);
    CHECK_INT(line->since, 0);
    CHECK_INT(line->outermost, 0);
    line->outermost = 77;
    line->since = since;
    return line;
}

static void give_back(struct cohort__wait_line *line)
{
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, line);
}

static void check_there_is_none(void)
{
    int memory = -1;
    uint32_t slot;
    CHECK_FAILS(cohort__ledger_find(getpid(), &memory, &slot), COHORT_ERR_STATE, "has no ledger");
    CHECK_INT(memory, -1);
}

/* Lines are all zero, also when they were used before; what is given back is not found. */
TEST(lines)
{
    check_there_is_none();
    struct cohort__wait_line *first = take(1), *second = take(10), *third = take(100);
    CHECK_INT(find(COHORT__LEDGER_WAITS).num, 3);
    CHECK_INT(find(COHORT__LEDGER_WAITS).sum, 111);
    give_back(second);
    CHECK_INT(find(COHORT__LEDGER_WAITS).sum, 101);
    CHECK(take(1000) == second);
    third->since = 0; /* it runs */
    CHECK_INT(find(COHORT__LEDGER_WAITS).sum, 1001);
    cohort__ledger_close(); /* not while lines are in use */
    CHECK_INT(find(COHORT__LEDGER_WAITS).sum, 1001);
    give_back(first);
    give_back(second);
    give_back(third);
    give_back(NULL);
    CHECK_INT(find(COHORT__LEDGER_WAITS).num, 0);
    cohort__ledger_close();
    check_there_is_none();
}

#define TEST_LEDGER(name) TEST_BETWEEN(name, (void)0, cohort__ledger_close())

/* Of each kind, in chunks that grow. */
TEST_LEDGER(many)
{
    enum { NUM = 5000, WORKERS = 20 };
    static struct cohort__wait_line *lines[NUM];
    static void *workers[WORKERS];
    for (int i = 0; i < NUM; i++) {
        lines[i] = take((uint64_t)i + 1);
        if (i < WORKERS) {
            struct cohort__worker_line *line = cohort__ledger_take(COHORT__LEDGER_WORKERS);
            line->thread = 1;
            workers[i] = line;
        }
    }
    struct found found = find(COHORT__LEDGER_WAITS);
    CHECK_INT(found.num, NUM);
    CHECK_INT(found.sum, NUM * (NUM + 1) / 2);
    CHECK_INT(find(COHORT__LEDGER_WORKERS).num, WORKERS);
    CHECK(head()->num_chunks < 12);
    CHECK(!head()->is_cut);
    for (int i = 0; i < NUM; i++)
        give_back(lines[i]);
    for (int i = 0; i < WORKERS; i++)
        cohort__ledger_give_back(COHORT__LEDGER_WORKERS, workers[i]);
    CHECK_INT(find(COHORT__LEDGER_WAITS).num, 0);
}

TEST_LEDGER(head)
{
    cohort__ledger_introduce(3, 5, UINT64_C(1) << 40, 7);
    CHECK_INT(head()->rank, 3);
    CHECK_INT(head()->size, 5);
    CHECK_INT(head()->key, UINT64_C(1) << 40);
    CHECK_INT(head()->epoch, 7);
    CHECK_INT(head()->pid, getpid());
    CHECK_INT(head()->stage, COHORT__LEDGER_STARTING);
    cohort__ledger_enter_stage(COHORT__LEDGER_RETURNED, COHORT_ERR_FAILED);
    CHECK_INT(head()->stage, COHORT__LEDGER_RETURNED);
    CHECK_INT(head()->status, COHORT_ERR_FAILED);
    CHECK(head()->stage_at > head()->first.mono);
    CHECK(head()->first.cycles > 0 && head()->last.cycles >= head()->first.cycles);
    uint64_t last = head()->last.mono;
    CHECK_INT(head()->acts_outside, false);
    cohort__ledger_tick(42, 7, true);
    CHECK_INT(head()->acts_outside, true);
    CHECK_INT(head()->moved, 42);
    CHECK_INT(head()->tasks, 7);
    CHECK(head()->last.mono > last);
}

static void copy_words(void *context, const void *line)
{
    memcpy(context, ((const struct cohort__words_line *)line)->text,
           sizeof(((const struct cohort__words_line *)line)->text));
}

static const char *words(void)
{
    static char text[2000];
    int memory;
    uint32_t slot;
    struct cohort__ledger_view view;
    text[0] = '\0';
    CHECK_OK(cohort__ledger_find(getpid(), &memory, &slot));
    CHECK_OK(cohort__ledger_view_init(&view, memory, slot));
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_WORDS, copy_words, text));
    close(memory);
    return text;
}

/* The last ones count, until another run begins. A child's are not the parent's. */
TEST(words)
{
    char many[3000] = {0};
    uint32_t rank;
    cohort__ledger_say("nobody hears this");
    cohort__ledger_introduce(0, 1, 0, 0);
    CHECK_TEXT(words(), "");
    CHECK(!cohort__ledger_rank(&rank));
    cohort__ledger_say("first");
    cohort__ledger_say("last");
    CHECK_TEXT(words(), "last");
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        cohort__ledger_say("a child's");
        _exit(0);
    }
    CHECK_INT(waitpid(child, NULL, 0), child);
    CHECK_TEXT(words(), "last");
    memset(many, 'x', sizeof(many) - 1);
    cohort__ledger_say(many);
    CHECK_INT((long long)strlen(words()), 1015);
    cohort__ledger_introduce(3, 5, 0, 1);
    CHECK_TEXT(words(), "");
    CHECK(cohort__ledger_rank(&rank));
    CHECK_INT(rank, 3);
    cohort__ledger_close();
    cohort__ledger_say("nor this");
}

/* Adopting ----------------------------------------------------------------------------------- */

/* One region of several, which a program has used before. */
TEST(adopt)
{
    int memory = -1;
    CHECK_OK(cohort__ledger_create(&memory, 3));
    for (int round = 0; round < 2; round++) {
        CHECK_OK(cohort__ledger_adopt(fcntl(memory, F_DUPFD, 100), 2));
        CHECK_INT(fcntl(100, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        CHECK_INT(find_in(memory, 2, COHORT__LEDGER_WAITS).num, 0);
        struct cohort__wait_line *line = take(5);
        CHECK_INT(find_in(memory, 2, COHORT__LEDGER_WAITS).sum, 5);
        CHECK_INT(find(COHORT__LEDGER_WAITS).sum, 5); /* so the slot was found */
        if (round == 0)
            give_back(line);
        line->since = 6; /* left over */
        cohort__ledger_enter_stage(COHORT__LEDGER_OVER, COHORT_OK);
        if (round == 1)
            give_back(line);
        cohort__ledger_close();
        CHECK(fcntl(100, F_GETFD) < 0);
        struct cohort__ledger_view view;
        CHECK_OK(cohort__ledger_view_init(&view, memory, 2));
        CHECK_INT(view.head.stage, COHORT__LEDGER_OVER);
        CHECK_FAILS(cohort__ledger_view_init(&view, memory, 1), COHORT_ERR_PROTOCOL,
                    "no program has begun");
        CHECK_FAILS(cohort__ledger_view_init(&view, memory, 3), COHORT_ERR_PROTOCOL,
                    "ends too early");
    }
    close(memory);
}

static void check_refused(int memory, uint32_t slot, cohort_status status, const char *text)
{
    CHECK_FAILS(cohort__ledger_adopt(memory, slot), status, text);
    CHECK(fcntl(memory, F_GETFD) < 0);
}

TEST_LEDGER(adopt_refuses)
{
    int memory = -1;
    CHECK_INT(cohort__ledger_create(&memory, 0), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort__ledger_create(&memory, COHORT__LEDGER_MAX_SLOTS + 1),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(memory, -1);
    CHECK_OK(cohort__ledger_create(&memory, 2));
    check_refused(fcntl(memory, F_DUPFD, 100), 2, COHORT_ERR_PROTOCOL, "3 localities or more");
    check_refused(memfd_create("none", MFD_CLOEXEC), 0, COHORT_ERR_PROTOCOL, "was it closed?");
    struct cohort__wait_line *line = take(1);
    check_refused(memory, 1, COHORT_ERR_STATE, "has one already");
    give_back(line);
}

static void check_variable(const char *value, const char *text)
{
    setenv(COHORT__LEDGER_VARIABLE, value, 1);
    CHECK_FAILS(cohort__ledger_inherit(), COHORT_ERR_PROTOCOL, text);
}

TEST(inherit)
{
    int memory = -1;
    CHECK_OK(cohort__ledger_inherit());
    check_there_is_none();
    check_variable("", "is ''");
    check_variable("2 0", "is '2 0'");
    check_variable("100", "is '100'");
    check_variable("100 x", "is '100 x'");
    check_variable("100 4096", "is '100 4096'");
    check_variable("100 1 ", "is '100 1 '");
    check_variable("100 1", "descriptor 100");
    CHECK(!getenv(COHORT__LEDGER_VARIABLE));
    CHECK_OK(cohort__ledger_create(&memory, 2));
    CHECK_INT(fcntl(memory, F_DUPFD, 100), 100);
    setenv(COHORT__LEDGER_VARIABLE, "100 1", 1);
    CHECK_OK(cohort__ledger_inherit());
    CHECK(!getenv(COHORT__LEDGER_VARIABLE));
    give_back(take(3));
    CHECK_INT(find_in(memory, 1, COHORT__LEDGER_WAITS).num, 0);
    cohort__ledger_close();
    close(memory);
}

/* Where there is no memory ------------------------------------------------------------------- */

/* RUN in a child, which must end well. */
static void in_child(void (*run)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        run();
        _exit(0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

/* A program may close descriptors that it does not know, and open others. */
static void close_it(void)
{
    int memory = -1;
    CHECK_OK(cohort__ledger_create(&memory, 1));
    int other = memfd_create("other", MFD_CLOEXEC);
    CHECK_OK(cohort__ledger_adopt(fcntl(memory, F_DUPFD, 100), 0));
    struct cohort__wait_line *line = take(1);
    CHECK_INT(dup2(other, 100), 100);
    struct cohort__site_line *site = cohort__ledger_take(COHORT__LEDGER_SITES);
    CHECK(site);
    site->instance = 1;
    CHECK_INT(find_in(memory, 0, COHORT__LEDGER_SITES).num, 0);
    CHECK_INT(find_in(memory, 0, COHORT__LEDGER_WAITS).num, 1);
    struct cohort__ledger_view view;
    CHECK_OK(cohort__ledger_view_init(&view, memory, 0));
    CHECK_INT(view.head.is_cut, 1);
    cohort__ledger_give_back(COHORT__LEDGER_SITES, site);
    give_back(line);
}

TEST_CALL(closed_by_the_program, in_child(close_it))

/* No descriptor for it: all lines are private. */
static void take_without(void)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    cohort__ledger_introduce(0, 1, 0, 0);
    cohort__ledger_enter_stage(COHORT__LEDGER_RUNNING, COHORT_OK);
    struct cohort__wait_line *line = take(1);
    give_back(line);
    cohort__ledger_tick(1, 0, false);
    cohort__ledger_close();
}

TEST_CALL(no_memory, in_child(take_without))

/* No addresses for another chunk. Who has called this has an errno. */
static void take_without_addresses(void)
{
    const struct rlimit none = {1, 1};
    struct cohort__wait_line *line = take(1);
    CHECK_INT(head()->is_cut, 0);
    setrlimit(RLIMIT_AS, &none);
    errno = 7;
    struct cohort__site_line *site = cohort__ledger_take(COHORT__LEDGER_SITES);
    CHECK_INT(errno, 7);
    CHECK(site);
    CHECK_INT(site->instance, 0);
    CHECK_INT(head()->is_cut, 1);
    cohort__ledger_give_back(COHORT__LEDGER_SITES, site);
    give_back(line);
}

TEST(no_addresses)
{
    if (!COHORT__ASAN && !COHORT__TSAN)
        in_child(take_without_addresses);
}

/* A child does not write into its parent's. */
static struct cohort__wait_line *parents;

static void use_in_child(void)
{
    struct cohort__wait_line *line = take(99);
    cohort__ledger_enter_stage(COHORT__LEDGER_OVER, COHORT_OK);
    give_back(parents);
    cohort__ledger_close();
    CHECK_INT(parents->since, 5);
    give_back(line);
}

TEST_LEDGER(fork)
{
    parents = take(5);
    in_child(use_in_child);
    CHECK_INT(find(COHORT__LEDGER_WAITS).sum, 5);
    CHECK_INT(head()->stage, COHORT__LEDGER_STARTING);
    give_back(parents);
}

/* Events and modules ------------------------------------------------------------------------- */

TEST_LEDGER(events)
{
    enum { NUM = COHORT__LEDGER_EVENTS + 10 };
    cohort__ledger_note(COHORT__EVENT_CALL, 1, 1); /* no line: nothing happens */
    struct cohort__worker_line *line = cohort__ledger_take(COHORT__LEDGER_WORKERS);
    cohort__ledger_thread = line;
    for (uint64_t i = 0; i < NUM; i++) {
        line->seen_at = 1000 + i;
        cohort__ledger_note(COHORT__EVENT_END, 0xabcde, i);
    }
    CHECK_INT(line->event_bytes, NUM * sizeof(line->events[0]));
    const struct cohort__ledger_event *last = &line->events[(NUM - 1) % COHORT__LEDGER_EVENTS];
    CHECK_INT(last->at, 1000 + 4105);
    CHECK_INT(last->what, UINT64_C(4105) << 24 | COHORT__EVENT_END << 20 | 0xabcde);
    CHECK_INT(last[1].what >> 24, NUM - COHORT__LEDGER_EVENTS); /* the oldest */
    cohort__ledger_thread = NULL;
    cohort__ledger_give_back(COHORT__LEDGER_WORKERS, line);
}

struct sought {
    uint64_t address;
    unsigned num;
    struct cohort__module_line line;
};

static void seek(void *context, const void *found)
{
    const struct cohort__module_line *line = found;
    struct sought *sought = context;
    if (sought->address < line->begin || sought->address >= line->end)
        return;
    sought->num++;
    sought->line = *line;
}

static struct sought find_module(uint64_t address)
{
    struct cohort__ledger_view view;
    int memory;
    uint32_t slot;
    struct sought sought = {.address = address};
    CHECK_OK(cohort__ledger_find(getpid(), &memory, &slot));
    CHECK_OK(cohort__ledger_view_init(&view, memory, slot));
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_MODULES, seek, &sought));
    close(memory);
    return sought;
}

TEST(modules)
{
    char path[512] = "";
    cohort__ledger_introduce(0, 1, 0, 0);
    cohort__ledger_tick(0, 0, false); /* nothing new */
    CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    struct sought own = find_module((uintptr_t)find_module);
    CHECK_INT(own.num, 1);
    CHECK_TEXT(own.line.path, path);
    struct sought library = find_module((uintptr_t)&readlink);
    CHECK_INT(library.num, 1);
    CHECK(library.line.path[0] == '/');
    CHECK_INT(find_module(1).num, 0);
    cohort__ledger_close();
    check_there_is_none();
}
