/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/status_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"
#include "tools/cohortrun/status_json.h"
#include "tools/cohortrun/status_print.h"
#include "tools/cohortrun/symbols.h"

/* Jobs that are made up, and what is said of them, word by word. */

enum { LOCALITIES = 4, SITES = 100 };
static const uint64_t second = 1000000000;

/* Where tasks wait: functions of the program, which has no symbols here. */
enum {
    HEAT = 0x1000,
    LIBRARY = 0x100000,
    MEET = HEAT + 0x10,
    GET = HEAT + 0x20,
    LOCK = HEAT + 0x30
};
enum { WORK = HEAT + 0x800, MAIN = LIBRARY + 0x800 };

static struct world {
    struct status_job job;
    struct status_locality localities[LOCALITIES];
    struct look looks[LOCALITIES];
    struct look_site sites[LOCALITIES][SITES];
    struct look_group groups[LOCALITIES][4];
    struct look_join joins[LOCALITIES][16];
    struct look_wait waits[LOCALITIES][SITES];
    struct look_pending pendings[LOCALITIES][4];
    struct look_serve serves[LOCALITIES][1];
    struct look_account accounts[LOCALITIES][1];
    struct look_worker workers[LOCALITIES][1];
    struct look_module modules[2];
} w;

static void begin(uint32_t num)
{
    memset(&w, 0, sizeof(w));
    w.modules[0] = (struct look_module){
        .begin = HEAT, .end = HEAT + 0x1000, .bias = HEAT, .path = "/none/heat"};
    w.modules[1] = (struct look_module){.begin = LIBRARY,
                                        .end = LIBRARY + 0x1000,
                                        .bias = LIBRARY,
                                        .path = "/none/libcohort.so.0.1.0"};
    for (uint32_t rank = 0; rank < num; rank++) {
        w.localities[rank] =
            (struct status_locality){.pid = 100 + (int)rank, .look = &w.looks[rank]};
        w.looks[rank] = (struct look){.rank = rank,
                                      .size = num,
                                      .stage = COHORT__LEDGER_RUNNING,
                                      .sites = w.sites[rank],
                                      .groups = w.groups[rank],
                                      .joins = w.joins[rank],
                                      .waits = w.waits[rank],
                                      .pendings = w.pendings[rank],
                                      .accounts = w.accounts[rank],
                                      .workers = w.workers[rank],
                                      .modules = w.modules,
                                      .serves = w.serves[rank],
                                      .num_workers = 1,
                                      .num_modules = 2};
        w.workers[rank][0] = (struct look_worker){.state = 'S', .is_idle = true};
    }
    w.job =
        (struct status_job){.pid = 77, .program = "./heat", .num = num, .localities = w.localities};
}

/* Site SITE of INSTANCE, in locality RANK, whose task has the address TASK. */
static void add_site(uint32_t rank, uint64_t instance, uint32_t site, uint64_t called,
                     uint64_t task)
{
    struct look *look = &w.looks[rank];
    look->sites[look->num_sites++] = (struct look_site){instance, called, task, site, rank};
}

static void add_group(uint32_t rank, uint64_t instance, uint32_t num_sites, const char *name)
{
    struct look *look = &w.looks[rank];
    struct look_group *group = &look->groups[look->num_groups++];
    *group = (struct look_group){.instance = instance, .num_sites = num_sites};
    snprintf(group->name, sizeof(group->name), "%s", name);
}

static void add_wait(uint32_t rank, uint64_t task, uint64_t caller, enum cohort__wait_kind kind,
                     uint64_t what, uint64_t seconds)
{
    struct look *look = &w.looks[rank];
    look->waits[look->num_waits++] = (struct look_wait){.age = seconds * second,
                                                        .caller = caller,
                                                        .what = what,
                                                        .kind = kind,
                                                        .function = WORK,
                                                        .task = task};
}

static void add_join(uint32_t rank, const char *name, uint32_t site, uint32_t num_sites,
                     uint64_t future)
{
    struct look *look = &w.looks[rank];
    struct look_join *join = &look->joins[look->num_joins++];
    *join = (struct look_join){
        .age = 12 * second, .future = future, .site = site, .num_sites = num_sites, .rank = rank};
    snprintf(join->name, sizeof(join->name), "%s", name);
}

/* What WRITE says of it; valid until the next call. */
static const char *say_by(void (*write)(FILE *file, const struct status_model *model,
                                        struct symbols *symbols))
{
    static char *text;
    size_t bytes;
    struct status_model *model = NULL;
    struct symbols *symbols = symbols_create();
    free(text);
    text = NULL;
    for (uint32_t rank = 0; rank < w.job.num; rank++)
        if (w.localities[rank].look)
            look_sort(w.localities[rank].look);
    CHECK_INT(status_model_create(&model, &w.job), COHORT_OK);
    FILE *file = open_memstream(&text, &bytes);
    CHECK(file);
    write(file, model, symbols);
    fclose(file);
    symbols_destroy(symbols);
    status_model_destroy(model);
    return text;
}

static const char *say(void)
{
    return say_by(status_print);
}

static void check_says(const char *head, const char *want)
{
    char text[4096];
    snprintf(text, sizeof(text), "%s%s", head, want);
    CHECK_TEXT(say(), text);
}

#define ONE "job 77, 1 locality: ./heat\n"
#define TWO "job 77, 2 localities: ./heat\n"
#define THREE "job 77, 3 localities: ./heat\n"

static void test_nothing(void)
{
    begin(1);
    check_says(ONE, "no task waits\n");
    w.job.pid = 0;
    check_says("process 100, alone: ./heat\n", "no task waits\n");
    w.looks[0].rank = 3; /* another launcher has started it */
    w.looks[0].size = 8;
    check_says("process 100, locality 3 of 8, the others of which are not read: ./heat\n",
               "no task waits\n");
    add_group(0, 5, 2, "halo");
    add_site(0, 5, 1, 1, 0x100);
    add_wait(0, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 12);
    CHECK_CONTAINS(say(), "generation 1: 1 of 2 sites has called, for 12.0 s; missing:\n"
                          "  site 0: not known, as not all localities can be read\n");
    begin(2); /* all have called the same, and nobody waits */
    add_group(0, 5, 2, "halo");
    add_site(0, 5, 0, 3, 0x100);
    add_site(1, 5, 1, 3, 0x100);
    check_says(TWO, "no task waits\n");
}

/* The sites of "halo", the last of which has not called generation 17. */
static void begin_halo(void)
{
    begin(3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        add_group(rank, 5, 3, "halo");
        add_site(rank, 5, rank, rank < 2 ? 17 : 16, 0x100);
    }
    add_wait(0, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 12);
    add_wait(1, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 13);
}

#define HALO                                                                                       \
    "communicator \"halo\", generation 17: 2 of 3 sites have called, for 13.0 s; missing:\n"
#define SITE_2 "  site 2 (locality 2): last called 16; "
#define MEETERS                                                                                    \
    "waiting tasks:\n"                                                                             \
    "  2 (2 localities) in heat+0x10 (task heat+0x800) for a collective, for 13.0 s at most\n"

static void test_fates(void)
{
    begin_halo();
    check_says(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
    w.looks[2].num_workers = 1;
    w.workers[2][0] = (struct look_worker){.age = 9 * second, .state = 'S', .is_idle = true};
    check_says(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
    w.workers[2][0].is_idle = false;
    check_says(THREE, "locality 2 (pid 102): a task blocks worker 0, for 9.0 s, in a call of the "
                      "system: other tasks wait for this worker\n" HALO SITE_2
                      "its task does not wait: it runs or has ended\n" MEETERS);
    snprintf(w.workers[2][0].kernel_function, sizeof(w.workers[2][0].kernel_function), "futex_do");
    check_says(THREE,
               "locality 2 (pid 102): a task blocks worker 0, for 9.0 s, in a lock or a "
               "condition of pthreads: its holder may be a task that waits for this worker "
               "(futex_do)\n" HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
    w.workers[2][0].state = 'R';
    check_says(THREE, HALO SITE_2 "its task computes or has ended: a worker there has not paused, "
                                  "for 9.0 s\n" MEETERS);
    w.workers[2][0].age = second / 10; /* it has only just turned its loop */
    check_says(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
    w.workers[2][0].age = 9 * second;
    w.workers[2][0].index = UINT32_MAX; /* the progress thread */
    check_says(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
    w.looks[2].stage = COHORT__LEDGER_RETURNED;
    w.looks[2].stage_age = 9 * second;
    check_says(THREE, "locality 2 (pid 102): its program has returned, 9.0 s ago\n" HALO SITE_2
                      "its program has returned, 9.0 s ago\n" MEETERS);
    w.looks[2].is_stopped = true;
    check_says(THREE,
               "locality 2 (pid 102): its program has returned, 9.0 s ago: it is stopped, by "
               "a signal or a debugger\n" HALO SITE_2 "its process is stopped\n" MEETERS);
    w.localities[2].end = "locality 2 (pid 102) exited with status 0";
    check_says(THREE, "locality 2 (pid 102) exited with status 0\n" HALO SITE_2
                      "its locality has ended\n" MEETERS);
}

/* Sites of which there is no line. */
static void test_absent(void)
{
    begin_halo();
    w.looks[2].num_sites = 0;
    check_says(THREE, HALO "  site 2: not there any more, or not yet\n" MEETERS);
    w.localities[2].look = NULL;
    w.localities[2].why = "host b is another one, which is not read";
    check_says(THREE, "locality 2 can't be read: host b is another one, which is not read\n" HALO
                      "  site 2: not known, as not all localities can be read\n" MEETERS);
}

/* Those that can't be read are listed by why. */
static void test_unread(void)
{
    begin(4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        w.localities[rank].look = NULL;
        w.localities[rank].why = rank == 1 ? "two" : "one";
    }
    check_says("job 77, 4 localities: ./heat\n", "localities 0, 2-3 can't be read: one\n"
                                                 "locality 1 can't be read: two\n");
}

/* What a task waits for that has not come, and whom that waits for. */
static void test_chain(void)
{
    begin_halo();
    add_wait(2, 0x100, LOCK, COHORT__WAIT_MUTEX, 0x200, 14);
    add_wait(2, 0x200, LOCK, COHORT__WAIT_TASK, 0x300, 15);
    w.waits[2][1].function = LOCK; /* in the task's own function */
    w.waits[2][1].caller = LOCK + 4;
    check_says(THREE, HALO SITE_2
               "its task waits in heat+0x30 (task heat+0x800) for a mutex, for 14.0 s\n"
               "    the task that has the mutex, or is before it in line, waits in heat+0x34 (task "
               "heat+0x30) for a task, for 15.0 s\n"
               "    that task does not wait: it runs or has ended\n" MEETERS
               "  1 (locality 2) in heat+0x34 (task heat+0x30) for a task, for 15.0 s\n"
               "    that task does not wait: it runs or has ended\n"
               "  1 (locality 2) in heat+0x30 (task heat+0x800) for a mutex, for 14.0 s\n"
               "    the task that has the mutex, or is before it in line, waits in heat+0x34 (task "
               "heat+0x30) for a task, for 15.0 s\n"
               "    that task does not wait: it runs or has ended\n");
}

/* A task that runs another one in place of awaiting it is where that one waits. */
static void test_in_place(void)
{
    begin_halo();
    add_wait(2, 0x700, GET, COHORT__WAIT_GET, 0x900, 3);
    w.waits[2][0].outer = 0x600;
    w.waits[2][0].outermost = 0x100;
    CHECK_CONTAINS(say(), SITE_2 "its task waits in heat+0x20 (task heat+0x800) for a block from a "
                                 "channel (cohort_channel_get), for 3.0 s\n");
}

static void test_yields_run(void)
{
    begin_halo();
    add_wait(2, 0x100, GET, COHORT__WAIT_YIELD, 0, 0);
    check_says(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
}

/* The library's own functions say nothing to a user. */
static void test_places(void)
{
    begin(1);
    add_wait(0, 0x100, LIBRARY + 4, COHORT__WAIT_PLAIN, 0x900, 1);
    CHECK_CONTAINS(say(), "  1 in heat+0x800 (at its end) for a future, for 1.0 s\n");
    w.waits[0][0].function = MAIN;
    CHECK_CONTAINS(say(), "  1 in the program's main task (at its end) for a future, ");
    w.waits[0][0].caller = GET;
    CHECK_CONTAINS(say(), "  1 in heat+0x20 for a future, ");
    w.waits[0][0].function = 0;
    CHECK_CONTAINS(say(), "  1 in heat+0x20 (outside of tasks) for a future, ");
    w.waits[0][0].caller = 0x7;
    CHECK_CONTAINS(say(), "  1 in 0x7 (outside of tasks) for a future, ");
}

/* All have called, and some wait: a collective that does not get on. */
static void test_all_called(void)
{
    begin_halo();
    w.sites[2][0].last_called = 17;
    check_says(THREE,
               "communicator \"halo\", generation 17: all 3 sites have called, and the tasks "
               "of 2 wait, for 13.0 s\n" MEETERS);
}

/* A communicator that all have called is not named where another one explains the wait. */
static void test_explained(void)
{
    begin_halo();
    for (uint32_t rank = 0; rank < 3; rank++) {
        add_group(rank, 4, 3, "rows");
        add_site(rank, 4, rank, 9, 0x100);
    }
    check_says(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
    /* But it is if that is known to be the one. */
    for (uint32_t rank = 0; rank < 2; rank++) {
        w.looks[rank].num_pendings = 1;
        w.pendings[rank][0] = (struct look_pending){
            .age = second, .instance = 4, .future = 0x900, .number = 9, .site = rank};
    }
    check_says(THREE,
               "communicator \"rows\", generation 9: all 3 sites have called, and the tasks of 2 "
               "wait, for 13.0 s\n"
               "communicator \"halo\", generation 17: 2 of 3 sites have called; missing:\n" SITE_2
               "its task does not wait: it runs or has ended\n" MEETERS);
    /* What was seen before the wait began was another future there. */
    w.pendings[0][0].age = w.pendings[1][0].age = 20 * second;
    check_says(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
}

static void test_account(void)
{
    begin_halo();
    w.looks[1].num_accounts = 1;
    w.accounts[1][0] = (struct look_account){5, 17, 1, "barrier: waits\nfor\tsite 2;\n"};
    check_says(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n"
                                  "  site 1 says: barrier: waits; forsite 2\n" MEETERS);
    w.accounts[1][0].generation = 16;
    check_says(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
}

/* Two with one name are told apart. */
static void test_namesakes(void)
{
    begin_halo();
    add_group(0, 0xabc, 2, "halo");
    w.sites[2][0].task = 0;
    CHECK_CONTAINS(say(), "communicator \"halo\" (instance 5), generation 17: ");
}

/* A task that may wait in either of two is not said to wait in one. */
static void test_ambiguous(void)
{
    begin_halo();
    add_wait(2, 0x200, GET, COHORT__WAIT_COLLECTIVE, 0x910, 9);
    add_site(2, 5, 3, 17, 0x200);
    CHECK_CONTAINS(say(), "  1 (locality 2) in heat+0x20 (task heat+0x800) for a collective of "
                          "\"halo\", generation 17, for 9.0 s\n");
    add_group(2, 6, 2, "rows");
    add_site(2, 6, 0, 1, 0x200);
    add_site(2, 6, 1, 0, 0x300);
    CHECK_CONTAINS(say(), "  1 (locality 2) in heat+0x20 (task heat+0x800) for a collective, for "
                          "9.0 s\n");
}

/* A ledger that is damaged may have a site twice. */
static void test_twice(void)
{
    begin_halo();
    add_site(2, 5, 0, 17, 0x500);
    add_site(1, 5, 0, 17, 0x500);
    check_says(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
}

/* The same place is the same in processes that have the program at other addresses. */
static void test_moved(void)
{
    static struct look_module moved;
    begin_halo();
    moved = w.modules[0];
    moved.begin = moved.bias = 0x555000;
    moved.end = moved.begin + 0x1000;
    w.looks[1].modules = &moved;
    w.looks[1].num_modules = 1;
    w.waits[1][0].caller = 0x555010;
    w.waits[1][0].function = 0x555800;
    check_says(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
}

/* Long lists are cut. */
static void test_many(void)
{
    begin(1);
    add_group(0, 5, SITES + 100, "wide");
    add_site(0, 5, 0, 1, 0x100);
    for (uint32_t i = 1; i < 20; i++)
        add_site(0, 5, i, 0, 0x1000 + 16 * i);
    const char *text = say();
    CHECK_CONTAINS(text, "generation 1: 1 of 200 sites has called; missing:\n"
                         "  site 1 (locality 0): has called nothing; ");
    CHECK_CONTAINS(text, "  and 11 more sites\n"
                         "  sites 20-83 and 116 more: not there any more, or not yet\n");
    CHECK(!strstr(text, "site 9 "));
    text = say_by(status_json);
    CHECK_CONTAINS(text, "\"num_missing\": 199, ");
    CHECK_CONTAINS(text, "{\"site\": 19, \"locality\": 0, \"last_called\": 0, \"fate\": \"runs\"}");
    CHECK_CONTAINS(text, "\"absent\": [[20, 199]]");
    for (uint32_t i = 0; i < 20; i++) { /* every other one is there */
        w.sites[0][i].site = 2 * i;
        w.sites[0][i].last_called = 1;
    }
    add_wait(0, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 12);
    CHECK_CONTAINS(say(), "  sites 1, 3, 5, 7, 9, 11, 13, 15 and 172 more: not there");
}

/* Deadlocks ---------------------------------------------------------------------------------- */

/* Two tasks meet in two communicators, in opposite orders. */
static void begin_opposite(void)
{
    begin(2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        add_group(rank, 4, 2, "rows");
        add_group(rank, 5, 2, "columns");
        add_site(rank, 4, rank, rank == 0, 0x100);
        add_site(rank, 5, rank, rank == 1, 0x100);
        add_wait(rank, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 5);
    }
}

static void test_opposite(void)
{
    begin_opposite();
    const char *cycle =
        "deadlock: each of these tasks waits for the next, the last for the first:\n"
        "  locality 0: in heat+0x10 (task heat+0x800) for a collective of \"rows\", "
        "generation 1, for 5.0 s\n"
        "  locality 1: in heat+0x10 (task heat+0x800) for a collective of "
        "\"columns\", generation 1, for 5.0 s\n"
        "waiting tasks:\n";
    CHECK_CONTAINS(say(), cycle);
    CHECK(!strstr(say(), "perhaps"));
    w.waits[0][0].age = second / 2; /* the other may have been read at another time */
    CHECK_CONTAINS(say(), "\nperhaps a deadlock: each of these tasks");
    begin_opposite(); /* a collective may not need all of several that are missing */
    for (int i = 0; i < 4; i++)
        w.groups[i / 2][i % 2].num_sites = 3;
    CHECK_CONTAINS(say(), "\nperhaps a deadlock: each of these tasks");
    begin_opposite(); /* one waits for an earlier call, for which it needs nobody who is missing */
    w.looks[0].num_pendings = 1;
    w.pendings[0][0] = (struct look_pending){.age = second, .instance = 4, .future = 0x900};
    CHECK(!strstr(say(), "deadlock"));
    w.pendings[0][0].number = 1;
    CHECK_CONTAINS(say(), "\ndeadlock: ");
    begin_opposite(); /* one is stopped: that its task waits is known all the same */
    w.looks[1].is_stopped = true;
    CHECK_CONTAINS(say(), "\ndeadlock: each of these tasks");
    CHECK_CONTAINS(say(), "its process is stopped, and its task waits in heat+0x10 (task heat+"
                          "0x800) for a collective of \"columns\", generation 1, for 5.0 s\n");
    CHECK_CONTAINS(say_by(status_json), "\"fate\": \"stopped\", \"wait\": {\"in\": ");
    begin_opposite(); /* one of them does not wait */
    w.looks[1].num_waits = 0;
    CHECK(!strstr(say(), "deadlock"));
    begin_opposite(); /* one of them has died */
    w.localities[1].end = "locality 1 (pid 101) was killed";
    CHECK(!strstr(say(), "deadlock"));
}

static void check_perhaps(void)
{
    CHECK_CONTAINS(say(), "\nperhaps a deadlock: each of these tasks");
    CHECK_CONTAINS(say_by(status_json), "{\"certain\": false");
    begin_opposite();
}

/* Another task than the last one may call for a site, if there is one that can go on. */
static void test_not_quiet(void)
{
    begin_opposite();
    w.workers[1][0].is_idle = false;
    check_perhaps();
    w.looks[1].num_workers = 0; /* not known */
    check_perhaps();
    w.looks[1].num_tasks = 2; /* one is to follow something else, and does not wait by itself */
    check_perhaps();
    w.looks[1].is_cut = true;
    check_perhaps();
    w.looks[1].stage = COHORT__LEDGER_RETURNED;
    check_perhaps();
    for (int kind = 0; kind < COHORT__WAIT_KINDS; kind++) {
        add_wait(1, 0x200, LOCK, (enum cohort__wait_kind)kind, 0x910, 9);
        check_perhaps();
    }
    w.looks[1].num_tasks = 1;
    CHECK_CONTAINS(say(), "\ndeadlock: each of these tasks");
    add_wait(1, 0x200, LOCK, COHORT__WAIT_TASK, 0x100, 9); /* it waits for one that is stuck */
    add_wait(1, 0x300, LOCK, COHORT__WAIT_MUTEX, 0x200, 9);
    w.looks[1].num_tasks = 3;
    CHECK_CONTAINS(say(), "\ndeadlock: each of these tasks");
    CHECK_CONTAINS(say_by(status_json), "{\"certain\": true");
    w.waits[1][2].age = 0;
    check_perhaps();
    add_wait(1, 0x200, LOCK, COHORT__WAIT_TASK, 0x100, 9); /* with those that it runs in place */
    w.waits[1][1].outer = 0x300;
    w.waits[1][1].outermost = 0x400;
    w.looks[1].num_tasks = 4;
    CHECK_CONTAINS(say(), "\ndeadlock: each of these tasks");
    w.waits[1][1].outermost = 0x300;
    check_perhaps();
    w.workers[0][0].is_idle = false; /* in the other one */
    check_perhaps();
}

/* Not hung: the main task has made two sites, each for a task of its own, and waits for the first
 * one. That one has called, and the second one has yet to. */
static void test_made_for_others(void)
{
    begin(1);
    add_group(0, 5, 2, "halo");
    add_site(0, 5, 0, 1, 0x200);
    add_site(0, 5, 1, 0, 0x100);
    add_wait(0, 0x100, LOCK, COHORT__WAIT_TASK, 0x200, 5);
    add_wait(0, 0x200, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 5);
    w.looks[0].num_tasks = 3;
    CHECK_CONTAINS(say(), "\nperhaps a deadlock: each of these tasks");
    CHECK(!strstr(say(), "\ndeadlock"));
    add_wait(0, 0x300, GET, COHORT__WAIT_OUTSIDE, 0, 5);
    CHECK(!strstr(say(), "\ndeadlock"));
    w.looks[0].num_waits = 2; /* there is no third one */
    w.looks[0].num_tasks = 2;
    CHECK_CONTAINS(say(), "\ndeadlock: each of these tasks");
}

/* Localities 0 and 1 meet in two communicators, in opposite orders; 2 has come to neither. */
static void begin_three(void)
{
    begin(3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        add_group(rank, 4, 3, "rows");
        add_group(rank, 5, 3, "columns");
        add_site(rank, 4, rank, rank == 0, 0x100);
        add_site(rank, 5, rank, rank == 1, 0x100);
        if (rank == 2)
            break;
        add_wait(rank, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 5);
        w.looks[rank].num_pendings = 1;
        w.pendings[rank][0] = (struct look_pending){
            .age = second, .instance = 4 + rank, .future = 0x900, .number = 1, .site = rank};
    }
    w.workers[2][0].is_idle = false;
}

/* If several are missing, not each call needs all of them. */
static void test_several_missing(void)
{
    begin_three();
    CHECK_CONTAINS(say(), "\nperhaps a deadlock: each of these tasks");
    w.pendings[0][0].needs_all = true; /* the other one may need 2 only, which then calls "rows" */
    CHECK_CONTAINS(say(), "\nperhaps a deadlock: each of these tasks");
    w.pendings[1][0].needs_all = true;
    CHECK_CONTAINS(say(), "\ndeadlock: each of these tasks");
    w.looks[2].num_sites = 0; /* one that is not known makes no difference then */
    CHECK_CONTAINS(say(), "\ndeadlock: each of these tasks");
    w.looks[2].num_sites = 2; /* but one that has died does: it ends the calls */
    w.localities[2].end = "locality 2 (pid 102) was killed";
    CHECK(!strstr(say(), "\ndeadlock: "));
    begin_three(); /* whomever they need is stuck */
    w.workers[2][0].is_idle = true;
    add_wait(2, 0x100, LOCK, COHORT__WAIT_MUTEX, 0x200, 5);
    add_wait(2, 0x200, LOCK, COHORT__WAIT_TASK, 0x100, 5);
    const char *text = say();
    CHECK_CONTAINS(text, "\ndeadlock: each of these tasks waits for the next, the last for the "
                         "first:\n  locality 0: ");
    CHECK(!strstr(text, "perhaps"));
    w.looks[2].num_sites = 0; /* unless some are not known */
    CHECK_CONTAINS(say(), "\nperhaps a deadlock: ");
}

/* A site that lacks more than others is not the only one that a later call waits for. */
static void test_later_generation(void)
{
    begin_three();
    w.sites[0][0].last_called = w.pendings[0][0].number = 3; /* "rows": 3, 1, 0 */
    w.sites[1][0].last_called = 1;
    w.pendings[0][0].needs_all = w.pendings[1][0].needs_all = true;
    CHECK_CONTAINS(say(), "\ndeadlock: each of these tasks");
    w.sites[1][0].last_called = 3;
    CHECK(!strstr(say(), "deadlock"));
}

/* Who agrees waits for all that live. */
static void test_agrees(void)
{
    begin(3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        add_group(rank, 5, 3, "halo");
        add_site(rank, 5, rank, rank == 1, 0x100);
        if (rank == 1)
            continue;
        add_join(rank, "halo/survivors 1", rank / 2, 3, 0x900);
        w.joins[rank][0].kind = COHORT__JOIN_AGREEMENT;
        w.joins[rank][0].parent = 5;
        w.joins[rank][0].of_site = rank;
        add_wait(rank, 0x100, LOCK, COHORT__WAIT_CREATION, 0x900, 12);
    }
    add_wait(1, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x910, 11);
    const char *text = say();
    CHECK_CONTAINS(text,
                   "\ndeadlock: each of these tasks waits for the next, the last for the first:\n"
                   "  locality 0: in heat+0x30 (task heat+0x800) for an agreement of \"halo\", for "
                   "12.0 s\n"
                   "  locality 1: in heat+0x10 (task heat+0x800) for a collective of \"halo\", "
                   "generation 1, for 11.0 s\n");
    CHECK(!strstr(text, "perhaps"));
    w.workers[1][0].is_idle = false;
    CHECK_CONTAINS(say(), "\nperhaps a deadlock: ");
}

/* As core files say it: what waits has to have waited before any of the processes has died. */
static void test_cores(void)
{
    begin_opposite();
    w.job.pid = 0;
    w.job.num_cores = 2;
    w.localities[0].core = "core.100";
    w.localities[1].core = "core.101";
    w.localities[1].signal = 6;
    CHECK_CONTAINS(say(), "core files of 2 of 2 localities: ./heat\n"
                          "locality 0 (pid 100): in core.100\n"
                          "locality 1 (pid 101): in core.101, by signal 6 (Aborted)\n");
    CHECK_CONTAINS(say(), "\ndeadlock: ");
    CHECK_CONTAINS(say_by(status_json), "\"core\": \"core.101\", \"signal\": 6");
    w.looks[1].tick_age = 4 * second - 1;
    CHECK_CONTAINS(say(), "\ndeadlock: ");
    w.looks[1].tick_age = 4 * second + 1;
    CHECK_CONTAINS(say(), "\nperhaps a deadlock: ");
    w.job.num_cores = 1;
    w.localities[1] = (struct status_locality){.why = "no core file of it is given"};
    CHECK_CONTAINS(say(), "core files of 1 of 2 localities: ./heat\n"
                          "locality 0 (pid 100): in core.100\n"
                          "locality 1 can't be read: no core file of it is given\n");
    CHECK_CONTAINS(say(), "  site 1: not known, as not all localities can be read\n");
    CHECK(!strstr(say(), "deadlock"));
    begin(1);
    w.job = (struct status_job){
        .program = "./heat", .num = 1, .num_cores = 1, .localities = w.localities};
    w.localities[0].core = "core";
    check_says("core file of process 100, alone: ./heat\n", "locality 0 (pid 100): in core\n"
                                                            "no task waits\n");
}

/* A mutex whose holder awaits who wants it; one task that waits for itself; and a chain without
 * a circle. */
static void test_mutex(void)
{
    begin(1);
    add_wait(0, 0x100, GET, COHORT__WAIT_TASK, 0x200, 5);
    add_wait(0, 0x200, LOCK, COHORT__WAIT_MUTEX, 0x100, 5);
    add_wait(0, 0x300, LOCK, COHORT__WAIT_MUTEX, 0x200, 5);
    const char *text = say();
    CHECK_CONTAINS(text, "deadlock: each of these tasks waits for the next");
    CHECK(!strstr(strstr(text, "deadlock") + 1, "deadlock")); /* once */
    /* What it waits for in turn ends where it began. */
    CHECK_TEXT(strstr(text, "  1 in"),
               "  1 in heat+0x20 (task heat+0x800) for a task, for 5.0 s\n"
               "    that task waits in heat+0x30 (task heat+0x800) for a mutex, for 5.0 s\n"
               "    the task that has the mutex, or is before it in line, waits in heat+0x20 (task "
               "heat+0x800) for a task, for 5.0 s\n");
    begin(1);
    add_wait(0, 0x200, LOCK, COHORT__WAIT_MUTEX, 0x200, 5);
    CHECK_CONTAINS(say(), "deadlock: a task waits for itself:\n"
                          "  locality 0: in heat+0x30 (task heat+0x800) for a mutex, for 5.0 s\n");
    w.waits[0][0].what = w.waits[0][0].outer = 0x100; /* which awaits it, and so runs it */
    CHECK_CONTAINS(say(), "deadlock: a task waits for one that awaits it:\n");
    begin(1);
    add_wait(0, 0x200, LOCK, COHORT__WAIT_MUTEX, 0x300, 5);
    add_wait(0, 0x300, LOCK, COHORT__WAIT_SEVERAL, 0x200, 5); /* it may need one of them only */
    CHECK(!strstr(say(), "deadlock"));
}

/* A long chain that ends in a circle: the circle is found, wherever the search begins. */
static void test_long_chain(void)
{
    begin(1);
    for (uint64_t i = 0; i < SITES; i++) /* the last but one waits for the one before */
        add_wait(0, 0x1000 + 16 * i, LOCK, COHORT__WAIT_TASK,
                 0x1000 + 16 * (i < SITES - 1 ? i + 1 : i - 1), 5);
    CHECK_CONTAINS(say(), "deadlock: each of these tasks waits for the next");
}

/* Each waits for a block of the other. Another task of a site may send it. */
static void test_gets(void)
{
    begin(2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        add_group(rank, 4, 2, "ring");
        add_site(rank, 4, rank, 0, 0x100);
        add_wait(rank, 0x100, GET, COHORT__WAIT_GET, 0x900, 5);
        w.looks[rank].num_pendings = 1;
        w.pendings[rank][0] = (struct look_pending){.age = second,
                                                    .instance = 4,
                                                    .future = 0x900,
                                                    .number = 7,
                                                    .site = rank,
                                                    .from = 1 - rank,
                                                    .is_get = true};
    }
    w.workers[0][0].is_idle = false;
    CHECK_CONTAINS(say(),
                   "perhaps a deadlock: each of these tasks waits for the next, the last for "
                   "the first:\n"
                   "  locality 0: in heat+0x20 (task heat+0x800) for a block from site 1 of "
                   "\"ring\", tag 7 (cohort_channel_get), for 5.0 s\n"
                   "  locality 1: in heat+0x20 (task heat+0x800) for a block from site 0 of ");
    w.workers[0][0].is_idle = true;
    CHECK_CONTAINS(say(), "\ndeadlock: each of these tasks");
    w.pendings[1][0].from = UINT32_MAX;
    w.waits[1][0].caller = LOCK; /* so that it is listed alone */
    CHECK(!strstr(say(), "deadlock"));
    CHECK_CONTAINS(say(), "for a block from any site of \"ring\", tag 7 ");
}

/* Creations ---------------------------------------------------------------------------------- */

static void test_names(void)
{
    begin(3);
    add_join(0, "transpose", 0, 3, 0x900);
    add_join(2, "transpose", 2, 3, 0x910);
    add_join(1, "tranpose", 1, 3, 0x900);
    add_wait(1, 0x100, GET, COHORT__WAIT_PLAIN, 0x900, 12);
    add_group(0, 4, 3, "transposed");
    check_says(
        THREE,
        "creation of \"tranpose\", 3 sites: 1 has joined, for 12.0 s; missing: 0, 2\n"
        "  site 1 joined in locality 1, where its task waits in heat+0x20 (task heat+0x800)\n"
        "  looks like \"transpose\", which waits for sites, too (3 sites)\n"
        "creation of \"transpose\", 3 sites: 0, 2 have joined, for 12.0 s; missing: 1\n"
        "  site 0 joined in locality 0\n"
        "  site 2 joined in locality 2\n"
        "  looks like \"tranpose\", which waits for sites, too (3 sites)\n"
        "waiting tasks:\n"
        "  1 (locality 1) in heat+0x20 (task heat+0x800) for a communicator's other sites to "
        "join: \"tranpose\", for 12.0 s\n");
    w.looks[1].num_joins = 0;
    CHECK_CONTAINS(say(), "  looks like \"transposed\", which exists (3 sites)\n");
    w.groups[0][0].name[3] = '\0'; /* tra */
    CHECK(!strstr(say(), "looks like"));
    CHECK(!strstr(say(), "num_sites")); /* one in the middle is missing */
}

/* The closest name is said, and rather one that waits for sites than one that has all. */
static void test_closest(void)
{
    begin(1);
    add_join(0, "abcdefgh", 0, 2, 0);
    add_join(0, "abcdefgx", 1, 2, 0);
    add_join(0, "abcdefxx", 1, 2, 0);
    CHECK_CONTAINS(say(), "0 has joined, for 12.0 s; missing: 1\n  site 0 joined in locality 0\n"
                          "  looks like \"abcdefgx\", which waits");
    w.joins[0][1].kind = COHORT__JOIN_SPLIT; /* it has the name of what was split */
    CHECK_CONTAINS(say(), "  site 0 joined in locality 0\n  looks like \"abcdefxx\", which waits");
    add_group(0, 4, 2, "abcdefgi");
    CHECK_CONTAINS(say(), "  site 0 joined in locality 0\n  looks like \"abcdefxx\", which waits");
    w.looks[0].num_joins = 1;
    CHECK_CONTAINS(say(), "  site 0 joined in locality 0\n  looks like \"abcdefgi\", which exists");
}

static void test_numbers(void)
{
    begin(2);
    add_join(0, "grid", 0, 3, 0);
    add_join(1, "grid", 1, 3, 0);
    CHECK_CONTAINS(say(),
                   "creation of \"grid\", 3 sites: 0-1 have joined, for 12.0 s; missing: 2\n");
    CHECK_CONTAINS(say(), "  no name looks like it: num_sites may be too large, or ");
    w.joins[1][0].num_sites = 2;
    CHECK_CONTAINS(say(), "  others create it with 2 sites\n");
    w.joins[1][0].kind = COHORT__JOIN_SPLIT;
    CHECK_CONTAINS(say(), "split of a communicator \"grid\", 2 sites: 1 has joined");
    w.joins[1][0].num_sites = 3;
    CHECK_CONTAINS(say(), "creation of \"grid\", 3 sites: 0 has joined");
    CHECK_CONTAINS(say(), "split of a communicator \"grid\", 3 sites: 1 has joined");
    begin(1); /* all have come: who makes it has yet to say so */
    add_join(0, "grid", 0, 1, 0);
    CHECK_CONTAINS(say(), "creation of \"grid\", 1 sites: all have joined, for 12.0 s\n"
                          "  site 0 joined in locality 0\nno task waits\n");
}

/* Site 1 of four has died, 0 and 2 shrink or agree, and site 3 waits elsewhere. The call that has
 * failed by the death is not said to miss anybody, and no wait is guessed to be in it. */
static void begin_survivors(enum cohort__join_kind kind)
{
    begin(4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        add_group(rank, 5, 4, "halo");
        add_site(rank, 5, rank, rank == 1 ? 16 : 17, 0x100);
    }
    w.localities[1].end = "locality 1 (pid 101) was killed";
    for (uint32_t rank = 0; rank < 3; rank += 2) {
        add_join(rank, "halo/survivors 1", rank / 2, 3, 0x900);
        w.joins[rank][0].kind = kind;
        w.joins[rank][0].parent = 5;
        w.joins[rank][0].of_site = rank;
        add_wait(rank, 0x100, MEET, COHORT__WAIT_CREATION, 0x900, 12);
    }
    add_wait(3, 0x100, LOCK, COHORT__WAIT_PLAIN, 0x910, 9);
}

#define SURVIVORS(what, called)                                                                    \
    "locality 1 (pid 101) was killed\n" what " of \"halo\": 2 of 3 sites that live have called "   \
    "it, for 12.0 s; missing:\n"                                                                   \
    "  site 3 (locality 3): its task waits in heat+0x30 (task heat+0x800) for a future, for 9.0 "  \
    "s\n"                                                                                          \
    "  site 0 has called it in locality 0, where its task waits in heat+0x10 (task heat+0x800)\n"  \
    "  site 2 has called it in locality 2, where its task waits in heat+0x10 (task heat+0x800)\n"  \
    "waiting tasks:\n"                                                                             \
    "  2 (2 localities) in heat+0x10 (task heat+0x800) for " called ", for 12.0 s at most\n"       \
    "  1 (locality 3) in heat+0x30 (task heat+0x800) for a future, for 9.0 s\n"

#define FOUR "job 77, 4 localities: ./heat\n"

static void test_survivors(void)
{
    begin_survivors(COHORT__JOIN_SHRINK);
    check_says(FOUR, SURVIVORS("shrink", "a shrink"));
    begin_survivors(COHORT__JOIN_AGREEMENT);
    check_says(FOUR, SURVIVORS("agreement", "an agreement"));
    w.looks[0].num_waits = w.looks[0].num_joins = 0; /* one alone is named with the communicator */
    CHECK_CONTAINS(say(), "for an agreement of \"halo\", for 12.0 s\n");
    begin_survivors(COHORT__JOIN_SHRINK);
    w.joins[2][0].kind = COHORT__JOIN_AGREEMENT; /* which is another call */
    CHECK_CONTAINS(say(), "shrink of \"halo\": 1 of 3 sites that live has called it");
    CHECK_CONTAINS(say(),
                   "  site 2 (locality 2): its task waits in heat+0x10 (task heat+0x800) for "
                   "an agreement of \"halo\", for 12.0 s\n");
    begin_survivors(COHORT__JOIN_SHRINK);
    w.looks[3].num_sites = 0; /* it has no line */
    CHECK_CONTAINS(say(), "missing:\n  of 1 of them nothing is known\n");
    begin_survivors(COHORT__JOIN_SHRINK); /* nobody has died, but a site has revoked it */
    w.localities[1].end = NULL;
    CHECK_CONTAINS(say(), "shrink of \"halo\": 2 of 3");
    CHECK(!strstr(say(), "generation 17"));
}

/* Who waits for a collective of a communicator with a dead site waits in another one. */
static void test_dead_call(void)
{
    begin_halo();
    w.localities[2].end = "locality 2 (pid 102) was killed";
    w.looks[1].num_waits = 0;
    CHECK_CONTAINS(say(), "in heat+0x10 (task heat+0x800) for a collective, for 12.0 s\n");
    w.looks[0].num_waits = 0; /* then the call is over */
    CHECK(!strstr(say(), "generation 17"));
}

static void check_survivors_json(const char *kind, enum cohort__join_kind number)
{
    char want[64];
    begin_survivors(number);
    snprintf(want, sizeof(want), "\"kind\": \"%s\"", kind);
    CHECK_CONTAINS(say_by(status_json), want);
    snprintf(want, sizeof(want), "\"for\": \"%s\"", kind);
    CHECK_CONTAINS(say_by(status_json), want);
}

static void test_survivors_json(void)
{
    check_survivors_json("shrink", COHORT__JOIN_SHRINK);
    check_survivors_json("agreement", COHORT__JOIN_AGREEMENT);
}

/* A call of a remote task: which one, where, if that has been written down since it waits. */
static void test_remote(void)
{
    begin(2);
    add_wait(0, 0x100, GET, COHORT__WAIT_REMOTE, 0x900, 12);
    CHECK_CONTAINS(say(), "for a task of another locality, for 12.0 s\n");
    w.looks[0].num_pendings = 1;
    w.pendings[0][0] = (struct look_pending){
        .future = 0x900, .number = 5, .from = 1, .is_remote = true, .name = "solve"};
    CHECK_CONTAINS(say(), "for the remote task \"solve\" of locality 1, for 12.0 s\n");
    CHECK_CONTAINS(say_by(status_json), "\"function\": \"solve\", \"locality\": 1");
    CHECK_CONTAINS(say_by(status_json), "\"for\": \"remote\"");
    w.pendings[0][0].name[0] = 0;
    CHECK_CONTAINS(say(), "for the remote task of locality 1, for 12.0 s\n");
    w.pendings[0][0].is_remote = false; /* of another future, at the same address */
    CHECK_CONTAINS(say(), "for a task of another locality, for 12.0 s\n");
    w.pendings[0][0].is_remote = true;
    w.pendings[0][0].age = 13 * second; /* likewise */
    CHECK_CONTAINS(say(), "for a task of another locality, for 12.0 s\n");
}

/* Which task works on it, and what that waits for in turn. */
static void test_serving(void)
{
    begin(2);
    add_group(1, 5, 2, "halo");
    add_group(0, 5, 2, "halo");
    add_site(0, 5, 0, 0, 0x100);
    add_site(1, 5, 1, 1, 0x700);
    add_wait(0, 0x100, GET, COHORT__WAIT_REMOTE, 0x900, 12);
    add_wait(1, 0x700, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 11);
    w.looks[0].num_pendings = w.looks[1].num_serves = 1;
    w.pendings[0][0] = (struct look_pending){
        .future = 0x900, .number = 5, .from = 1, .is_remote = true, .name = "solve"};
    w.serves[1][0] = (struct look_serve){.age = second, .task = 0x700, .number = 5, .from = 0};
    CHECK_CONTAINS(say(), "\ndeadlock: each of these tasks waits for the next, the last for the "
                          "first:\n"
                          "  locality 0: in heat+0x20 (task heat+0x800) for the remote task "
                          "\"solve\" of locality 1, for 12.0 s\n"
                          "  locality 1: in heat+0x10 (task heat+0x800) for a collective of "
                          "\"halo\", generation 1, for 11.0 s\n");
    CHECK_CONTAINS(say(),
                   "  1 (locality 0) in heat+0x20 (task heat+0x800) for the remote task "
                   "\"solve\" of locality 1, for 12.0 s\n"
                   "    that task, of locality 1, waits in heat+0x10 (task heat+0x800) for a "
                   "collective of \"halo\", generation 1, for 11.0 s\n");
    CHECK_CONTAINS(say_by(status_json), "\"serving_task\": \"0x700\"");
    w.serves[1][0].age = 11 * second; /* what was seen before is of another task there */
    CHECK(!strstr(say(), "deadlock") && !strstr(say(), "that task, of"));
    w.serves[1][0] = (struct look_serve){.task = 0x700, .number = 6, .from = 0};
    CHECK(!strstr(say(), "deadlock"));
    w.serves[1][0] = (struct look_serve){.task = 0x700, .number = 5, .from = 1};
    CHECK(!strstr(say(), "deadlock"));
    w.serves[1][0] = (struct look_serve){.task = 0, .number = 5, .from = 0};
    CHECK(!strstr(say(), "deadlock"));
    w.pendings[0][0].from = 9; /* there is none */
    CHECK(!strstr(say(), "deadlock"));
}

/* The objects of cohort/sync.h. */
static void test_objects(void)
{
    static const struct {
        enum cohort__wait_kind kind;
        const char *text, *word;
    } objects[] = {
        {COHORT__WAIT_CONDITION, "a condition", "condition"},
        {COHORT__WAIT_SEMAPHORE, "a semaphore", "semaphore"},
        {COHORT__WAIT_LATCH, "a latch", "latch"},
        {COHORT__WAIT_LOCAL_BARRIER, "a local barrier", "local_barrier"},
        {COHORT__WAIT_QUEUE, "a queue", "queue"},
    };
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        char want[80];
        begin(1);
        add_wait(0, 0x100, LOCK, objects[i].kind, 0x900, 5);
        snprintf(want, sizeof(want), "(task heat+0x800) for %s, for 5.0 s\n", objects[i].text);
        CHECK_CONTAINS(say(), want);
        snprintf(want, sizeof(want), "\"for\": \"sync\", \"object\": \"%s\"", objects[i].word);
        CHECK_CONTAINS(say_by(status_json), want);
    }
}

/* What ledgers hold is not trusted: numbers may be any, names may be for a terminal. */
static void test_damaged(void)
{
    begin(2);
    add_join(0, "a\x1b[31m\"", UINT32_MAX, 0, 0);
    add_join(0, "b", UINT32_MAX, UINT32_MAX, 0);
    add_join(0, "b", UINT32_MAX, UINT32_MAX, 0);
    add_group(0, 9, UINT32_MAX, "many");
    add_group(1, 9, 0, "few");
    add_site(0, 9, UINT32_MAX, UINT64_MAX, 0x100);
    add_site(1, 9, UINT32_MAX, 0, 0x100);
    add_site(1, 8, 3, 0, 0x100);
    add_site(1, 8, 4, 1, 0x100);
    add_wait(0, 0, 0, (enum cohort__wait_kind)15, UINT64_MAX, 0);
    add_wait(0, 0x100, UINT64_MAX, COHORT__WAIT_COLLECTIVE, 0, 0);
    w.looks[0].is_cut = true;
    const char *text = say();
    CHECK_CONTAINS(text, "locality 0 (pid 100): it had no memory to say all\n");
    CHECK_CONTAINS(text, "creation of \"a\\x1b[31m\\x22\", 0 sites: ");
    CHECK_CONTAINS(text, "creation of \"b\", 4294967295 sites: 4294967295 has joined");
    CHECK_CONTAINS(text, "communicator \"?\", generation 1: 1 of 5 sites has called; missing:\n");
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"nothing", test_nothing},
        {"fates", test_fates},
        {"absent", test_absent},
        {"unread", test_unread},
        {"chain", test_chain},
        {"in_place", test_in_place},
        {"yields_run", test_yields_run},
        {"places", test_places},
        {"all_called", test_all_called},
        {"explained", test_explained},
        {"account", test_account},
        {"namesakes", test_namesakes},
        {"many", test_many},
        {"ambiguous", test_ambiguous},
        {"twice", test_twice},
        {"moved", test_moved},
        {"opposite", test_opposite},
        {"not_quiet", test_not_quiet},
        {"made_for_others", test_made_for_others},
        {"several_missing", test_several_missing},
        {"later_generation", test_later_generation},
        {"agrees", test_agrees},
        {"cores", test_cores},
        {"mutex", test_mutex},
        {"long_chain", test_long_chain},
        {"gets", test_gets},
        {"names", test_names},
        {"closest", test_closest},
        {"numbers", test_numbers},
        {"survivors", test_survivors},
        {"dead_call", test_dead_call},
        {"survivors_json", test_survivors_json},
        {"remote", test_remote},
        {"serving", test_serving},
        {"objects", test_objects},
        {"damaged", test_damaged},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
