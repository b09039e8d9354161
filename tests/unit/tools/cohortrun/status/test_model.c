/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/status/model.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"
#include "tests/unit/tools/cohortrun/status/world.h"
#include "tools/cohortrun/status/print.h"

/* Jobs that are made up, and what is said of them, word by word. */

#define ONE "job 77, 1 locality: ./heat\n"
#define TWO "job 77, 2 localities: ./heat\n"
#define THREE "job 77, 3 localities: ./heat\n"

TEST(nothing)
{
    world_begin(1);
    world_check(ONE, "no task waits\n");
    w.job.pid = 0;
    world_check("process 100, alone: ./heat\n", "no task waits\n");
    w.looks[0].rank = 3; /* another launcher has started it */
    w.looks[0].size = 8;
    world_check("process 100, locality 3 of 8, the others of which are not read: ./heat\n",
                "no task waits\n");
    world_add_group(0, 5, 2, "halo");
    world_add_site(0, 5, 1, 1, 0x100);
    world_add_wait(0, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 12);
    CHECK_CONTAINS(world_say(), "generation 1: 1 of 2 sites has called, for 12.0 s; missing:\n"
                                "  site 0: not known, as not all localities can be read\n");
    world_begin(2); /* all have called the same, and nobody waits */
    world_add_group(0, 5, 2, "halo");
    world_add_site(0, 5, 0, 3, 0x100);
    world_add_site(1, 5, 1, 3, 0x100);
    world_check(TWO, "no task waits\n");
}

/* The sites of "halo", the last of which has not called generation 17. */
static void begin_halo(void)
{
    world_begin(3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        world_add_group(rank, 5, 3, "halo");
        world_add_site(rank, 5, rank, rank < 2 ? 17 : 16, 0x100);
    }
    world_add_wait(0, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 12);
    world_add_wait(1, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 13);
}

#define HALO                                                                                       \
    "communicator \"halo\", generation 17: 2 of 3 sites have called, for 13.0 s; missing:\n"
#define SITE_2 "  site 2 (locality 2): last called 16; "
#define MEETERS                                                                                    \
    "waiting tasks:\n"                                                                             \
    "  2 (2 localities) in heat+0x10 (task heat+0x800) for a collective, for 13.0 s at most\n"

TEST(fates)
{
    begin_halo();
    world_check(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
    w.looks[2].num_workers = 1;
    w.workers[2][0] = (struct look_worker){.age = 9 * second, .state = 'S', .is_idle = true};
    world_check(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
    w.workers[2][0].is_idle = false;
    world_check(THREE, "locality 2 (pid 102): a task blocks worker 0, for 9.0 s, in a call of the "
                       "system: other tasks wait for this worker\n" HALO SITE_2
                       "its task does not wait: it runs or has ended\n" MEETERS);
    snprintf(w.workers[2][0].kernel_function, sizeof(w.workers[2][0].kernel_function), "futex_do");
    world_check(THREE, "locality 2 (pid 102): a task blocks worker 0, for 9.0 s, in a lock or a "
                       "condition of pthreads: its holder may be a task that waits for this worker "
                       "(futex_do)\n" HALO SITE_2
                       "its task does not wait: it runs or has ended\n" MEETERS);
    w.workers[2][0].state = 'R';
    world_check(THREE, "locality 2 (pid 102): what is no task has not paused on worker 0, for 9.0 "
                       "s\n" HALO SITE_2 "its task computes or has ended: what is no task has not "
                       "paused on worker 0, for 9.0 s\n" MEETERS);
    w.workers[2][0].function = WORK;
    world_check(THREE, "locality 2 (pid 102): the task heat+0x800 has not paused on worker 0, for "
                       "9.0 s\n" HALO SITE_2 "its task computes or has ended: the task heat+0x800 "
                       "has not paused on worker 0, for 9.0 s\n" MEETERS);
    CHECK_CONTAINS(world_say_by(status_json), "\"computing\": [{\"worker\": 0, \"task_function\": "
                                              "\"heat+0x800\", \"seconds\": 9.000}]");
    w.workers[2][0].age = second / 10; /* it has only just turned its loop */
    world_check(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
    w.workers[2][0].age = 9 * second;
    w.workers[2][0].index = UINT32_MAX; /* the progress thread */
    world_check(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
    w.looks[2].stage = COHORT__LEDGER_RETURNED;
    w.looks[2].stage_age = 9 * second;
    world_check(THREE, "locality 2 (pid 102): its program has returned, 9.0 s ago\n" HALO SITE_2
                       "its program has returned, 9.0 s ago\n" MEETERS);
    w.looks[2].is_stopped = true;
    world_check(THREE,
                "locality 2 (pid 102): its program has returned, 9.0 s ago: it is stopped, by "
                "a signal or a debugger\n" HALO SITE_2 "its process is stopped\n" MEETERS);
    w.looks[2].stage = COHORT__LEDGER_RUNNING; /* both are said: that, and where it was */
    w.workers[2][0].index = 0;
    w.workers[2][0].state = 't';
    world_check(
        THREE,
        "locality 2 (pid 102): it is stopped, by a signal or a debugger\n"
        "locality 2 (pid 102): the task heat+0x800 has not paused on worker 0, for 9.0 s\n" HALO
            SITE_2 "its process is stopped, and its task computes or has ended: the task "
        "heat+0x800 has not paused on worker 0, for 9.0 s\n" MEETERS);
    w.workers[2][0].function = 0; /* it was looking for work */
    world_check(THREE,
                "locality 2 (pid 102): it is stopped, by a signal or a debugger\n" HALO SITE_2
                "its process is stopped\n" MEETERS);
    w.localities[2].end = "locality 2 (pid 102) exited with status 0";
    world_check(THREE, "locality 2 (pid 102) exited with status 0\n" HALO SITE_2
                       "its locality has ended\n" MEETERS);
}

/* All workers that compute, by function. */
TEST(computing)
{
    world_begin(1);
    w.looks[0].num_workers = 12;
    for (uint32_t i = 0; i < 12; i++) /* the ledger has them in any order */
        w.workers[0][i] = (struct look_worker){.age = (9 + i) * second,
                                               .index = (i + 5) % 12,
                                               .state = 'R',
                                               .function = i == 4 ? 0 : WORK + i % 2 * 8};
    w.workers[0][6].state = 'S'; /* worker 11 sleeps, */
    w.workers[0][6].is_idle = true;
    world_check(ONE, "locality 0 (pid 100): the task heat+0x800 has not paused on workers 1, 3, 5, "
                     "7, for 19.0 s at most\n"
                     "locality 0 (pid 100): the task heat+0x808 has not paused on workers 0, 2, 4, "
                     "6, 8, 10, for 20.0 s at most\n"
                     "locality 0 (pid 100): what is no task has not paused on worker 9, for 13.0 "
                     "s\nno task waits\n");
    for (uint32_t i = 0; i < 12; i++)
        w.workers[0][i] = (struct look_worker){
            .age = 9 * second, .index = i, .state = 'R', .function = WORK + 8 * (uint64_t)i};
    CHECK_CONTAINS(world_say(), "the task heat+0x838 has not paused on worker 7, for 9.0 s\n"
                                "locality 0: and tasks of 4 more functions\nno task waits\n");
}

/* Which processes the localities are, at first those that were named; of one that a script has
 * started the program's own. One that has ended is none. */
TEST(processes)
{
    begin_halo();
    CHECK_CONTAINS(
        world_say_by(status_print),
        "\nprocesses, for gdb -p: 102 (locality 2), 100 (locality 0), 101 (locality 1)\n");
    w.looks[2].pid = 202;
    w.localities[2].host = "b";
    CHECK_CONTAINS(world_say_by(status_print),
                   "\nprocesses, for gdb -p: 202 (locality 2 on host b), 100 (locality 0), "
                   "101 (locality 1)\n");
    CHECK_CONTAINS(world_say_by(status_json), "\"pid\": 102, \"member_pid\": 202, \"host\": \"b\"");
    w.localities[2].end = "locality 2 (pid 102) exited with status 0";
    CHECK_CONTAINS(world_say_by(status_print),
                   "\nprocesses, for gdb -p: 100 (locality 0), 101 (locality 1)\n");
    w.job.pid = 0; /* a program alone, whose pid is said at first, or core files */
    CHECK(!strstr(world_say_by(status_print), "processes"));
}

/* All in which a task waits or computes, as far as there is room. */
TEST(more_processes)
{
    struct status_locality localities[21];
    world_begin(2);
    world_add_wait(0, 0x100, LOCK, COHORT__WAIT_MUTEX, 0, 2);
    for (int rank = 0; rank < 21; rank++) /* one of which has no task */
        localities[rank] = (struct status_locality){.pid = 200 + rank, .look = &w.looks[rank == 3]};
    w.job.localities = localities;
    w.job.num = 21;
    CHECK_CONTAINS(world_say_by(status_print), ", 202 (locality 2), 204 (locality 4), 205 (");
    CHECK_CONTAINS(world_say_by(status_print), ", 216 (locality 16) and 4 more\n");
    w.looks[1].num_workers = 1; /* now it has */
    w.workers[1][0] = (struct look_worker){.age = 9 * second, .state = 'R', .function = WORK};
    CHECK_CONTAINS(world_say_by(status_print), ", 215 (locality 15) and 5 more\n");
}

/* Why a program has failed, or what it has died of. */
TEST(words)
{
    begin_halo();
    w.looks[2].stage = COHORT__LEDGER_RETURNED;
    w.looks[2].stage_age = 9 * second;
    w.looks[2].status = COHORT_ERR_FAILED;
    snprintf(w.looks[2].words, sizeof(w.looks[2].words), "cannot read\n\x1bx");
    CHECK_CONTAINS(world_say(), "\nlocality 2 (pid 102): its program has returned an error, 9.0 s "
                                "ago: cannot read; x\n");
    CHECK_CONTAINS(world_say_by(status_json), "\"error\": \"cannot read\\u000a\\u001bx\"");
    w.localities[2].end = "locality 2 (pid 102) was killed by signal 11";
    CHECK_CONTAINS(world_say(), "\nlocality 2 (pid 102) was killed by signal 11: cannot read; x\n");
}

/* Sites of which there is no line. */
TEST(absent)
{
    begin_halo();
    w.looks[2].num_sites = 0;
    world_check(THREE, HALO "  site 2: not there any more, or not yet\n" MEETERS);
    w.localities[2].look = NULL;
    w.localities[2].why = "host b is another one, which is not read";
    world_check(THREE, "locality 2 can't be read: host b is another one, which is not read\n" HALO
                       "  site 2: not known, as not all localities can be read\n" MEETERS);
}

/* Those that can't be read are listed by why. */
TEST(unread)
{
    world_begin(4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        w.localities[rank].look = NULL;
        w.localities[rank].why = rank == 1 ? "two" : "one";
    }
    world_check("job 77, 4 localities: ./heat\n", "localities 0, 2-3 can't be read: one\n"
                                                  "locality 1 can't be read: two\n");
}

/* What a task waits for that has not come, and whom that waits for. */
TEST(chain)
{
    begin_halo();
    world_add_wait(2, 0x100, LOCK, COHORT__WAIT_MUTEX, 0x200, 14);
    world_add_wait(2, 0x200, LOCK, COHORT__WAIT_TASK, 0x300, 15);
    w.waits[2][1].function = LOCK; /* in the task's own function */
    w.waits[2][1].caller = LOCK + 4;
    world_check(
        THREE, HALO SITE_2
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
TEST(in_place)
{
    begin_halo();
    world_add_wait(2, 0x700, GET, COHORT__WAIT_GET, 0x900, 3);
    w.waits[2][0].outer = 0x600;
    w.waits[2][0].outermost = 0x100;
    CHECK_CONTAINS(world_say(),
                   SITE_2 "its task waits in heat+0x20 (task heat+0x800) for a block from a "
                          "channel (cohort_channel_get), for 3.0 s\n");
}

TEST(yields_run)
{
    begin_halo();
    world_add_wait(2, 0x100, GET, COHORT__WAIT_YIELD, 0, 0);
    world_check(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
    w.looks[2].is_stopped = true;
    CHECK_CONTAINS(world_say(), SITE_2 "its process is stopped\n");
}

/* The library's own functions say nothing to a user. */
TEST(places)
{
    world_begin(1);
    world_add_wait(0, 0x100, LIBRARY + 4, COHORT__WAIT_PLAIN, 0x900, 1);
    CHECK_CONTAINS(world_say(), "  1 in heat+0x800 (at its end) for a future, for 1.0 s\n");
    w.waits[0][0].caller = GET;
    CHECK_CONTAINS(world_say(), "  1 in heat+0x20 (task heat+0x800) for a future, ");
    w.waits[0][0].function = 0;
    CHECK_CONTAINS(world_say(), "  1 in heat+0x20 (outside of tasks) for a future, ");
    w.waits[0][0].caller = 0x7;
    CHECK_CONTAINS(world_say(), "  1 in 0x7 (outside of tasks) for a future, ");
}

/* All have called, and some wait: a collective that does not get on. */
TEST(all_called)
{
    begin_halo();
    w.sites[2][0].last_called = 17;
    world_check(THREE,
                "communicator \"halo\", generation 17: all 3 sites have called, and the tasks "
                "of 2 wait, for 13.0 s\n" MEETERS);
}

/* A communicator that all have called is not named where another one explains the wait. */
TEST(explained)
{
    begin_halo();
    for (uint32_t rank = 0; rank < 3; rank++) {
        world_add_group(rank, 4, 3, "rows");
        world_add_site(rank, 4, rank, 9, 0x100);
    }
    world_check(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
    /* But it is if that is known to be the one. */
    for (uint32_t rank = 0; rank < 2; rank++) {
        w.looks[rank].num_pendings = 1;
        w.pendings[rank][0] = (struct look_pending){.age = second,
                                                    .instance = 4,
                                                    .future = 0x900,
                                                    .number = 9,
                                                    .site = rank,
                                                    .kind = COHORT__WAIT_COLLECTIVE};
    }
    world_check(THREE,
                "communicator \"rows\", generation 9: all 3 sites have called, and the tasks of 2 "
                "wait, for 13.0 s\n"
                "communicator \"halo\", generation 17: 2 of 3 sites have called; missing:\n" SITE_2
                "its task does not wait: it runs or has ended\n" MEETERS);
    /* What was seen before the wait began was another future there. */
    w.pendings[0][0].age = w.pendings[1][0].age = 20 * second;
    world_check(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
}

TEST(account)
{
    begin_halo();
    w.looks[1].num_accounts = 1;
    w.accounts[1][0] = (struct look_account){5, 17, 1, "barrier: waits\nfor\tsite 2;\n"};
    world_check(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n"
                                   "  site 1 says: barrier: waits; forsite 2\n" MEETERS);
    w.accounts[1][0].generation = 16;
    world_check(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
}

/* Two with one name are told apart. */
TEST(namesakes)
{
    begin_halo();
    world_add_group(0, 0xabc, 2, "halo");
    w.sites[2][0].task = 0;
    CHECK_CONTAINS(world_say(), "communicator \"halo\" (instance 5), generation 17: ");
}

/* A task that may wait in either of two is not said to wait in one. */
TEST(ambiguous)
{
    begin_halo();
    world_add_wait(2, 0x200, GET, COHORT__WAIT_COLLECTIVE, 0x910, 9);
    world_add_site(2, 5, 3, 17, 0x200);
    CHECK_CONTAINS(world_say(),
                   "  1 (locality 2) in heat+0x20 (task heat+0x800) for a collective of "
                   "\"halo\", generation 17, for 9.0 s\n");
    world_add_group(2, 6, 2, "rows");
    world_add_site(2, 6, 0, 1, 0x200);
    world_add_site(2, 6, 1, 0, 0x300);
    CHECK_CONTAINS(world_say(),
                   "  1 (locality 2) in heat+0x20 (task heat+0x800) for a collective, for "
                   "9.0 s\n");
}

/* A ledger that is damaged may have a site twice. */
TEST(twice)
{
    begin_halo();
    world_add_site(2, 5, 0, 17, 0x500);
    world_add_site(1, 5, 0, 17, 0x500);
    world_check(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
}

/* The same place is the same in processes that have the program at other addresses. */
TEST(moved)
{
    static struct cohort__module_line moved;
    begin_halo();
    moved = w.modules[0];
    moved.begin = moved.bias = 0x555000;
    moved.end = moved.begin + 0x1000;
    w.looks[1].modules = &moved;
    w.looks[1].num_modules = 1;
    w.waits[1][0].caller = 0x555010;
    w.waits[1][0].function = 0x555800;
    world_check(THREE, HALO SITE_2 "its task does not wait: it runs or has ended\n" MEETERS);
}

/* Long lists are cut. */
TEST(many)
{
    world_begin(1);
    world_add_group(0, 5, SITES + 100, "wide");
    world_add_site(0, 5, 0, 1, 0x100);
    for (uint32_t i = 1; i < 20; i++)
        world_add_site(0, 5, i, 0, 0x1000 + 16 * i);
    const char *text = world_say();
    CHECK_CONTAINS(text, "generation 1: 1 of 200 sites has called; missing:\n"
                         "  site 1 (locality 0): has called nothing; ");
    CHECK_CONTAINS(text, "  and 11 more sites\n"
                         "  sites 20-83 and 116 more: not there any more, or not yet\n");
    CHECK(!strstr(text, "site 9 "));
    text = world_say_by(status_json);
    CHECK_CONTAINS(text, "\"num_missing\": 199, ");
    CHECK_CONTAINS(text, "{\"site\": 19, \"locality\": 0, \"last_called\": 0, \"fate\": \"runs\"}");
    CHECK_CONTAINS(text, "\"absent\": [[20, 199]]");
    for (uint32_t i = 0; i < 20; i++) { /* every other one is there */
        w.sites[0][i].site = 2 * i;
        w.sites[0][i].last_called = 1;
    }
    world_add_wait(0, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 12);
    CHECK_CONTAINS(world_say(), "  sites 1, 3, 5, 7, 9, 11, 13, 15 and 172 more: not there");
}

/* Creations ---------------------------------------------------------------------------------- */

TEST(names)
{
    world_begin(3);
    world_add_join(0, "transpose", 0, 3, 0x900);
    world_add_join(2, "transpose", 2, 3, 0x910);
    world_add_join(1, "tranpose", 1, 3, 0x900);
    world_add_wait(1, 0x100, GET, COHORT__WAIT_PLAIN, 0x900, 12);
    world_add_group(0, 4, 3, "transposed");
    world_check(
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
    CHECK_CONTAINS(world_say(), "  looks like \"transposed\", which exists (3 sites)\n");
    w.groups[0][0].name[3] = '\0'; /* tra */
    CHECK(!strstr(world_say(), "looks like"));
    CHECK(!strstr(world_say(), "num_sites")); /* one in the middle is missing */
}

/* The closest name is said, and rather one that waits for sites than one that has all. */
TEST(closest)
{
    world_begin(1);
    world_add_join(0, "abcdefgh", 0, 2, 0);
    world_add_join(0, "abcdefgx", 1, 2, 0);
    world_add_join(0, "abcdefxx", 1, 2, 0);
    CHECK_CONTAINS(world_say(),
                   "0 has joined, for 12.0 s; missing: 1\n  site 0 joined in locality 0\n"
                   "  looks like \"abcdefgx\", which waits");
    w.joins[0][1].kind = COHORT__JOIN_SPLIT; /* it has the name of what was split */
    CHECK_CONTAINS(world_say(),
                   "  site 0 joined in locality 0\n  looks like \"abcdefxx\", which waits");
    world_add_group(0, 4, 2, "abcdefgi");
    CHECK_CONTAINS(world_say(),
                   "  site 0 joined in locality 0\n  looks like \"abcdefxx\", which waits");
    w.looks[0].num_joins = 1;
    CHECK_CONTAINS(world_say(),
                   "  site 0 joined in locality 0\n  looks like \"abcdefgi\", which exists");
}

TEST(numbers)
{
    world_begin(2);
    world_add_join(0, "grid", 0, 3, 0);
    world_add_join(1, "grid", 1, 3, 0);
    CHECK_CONTAINS(world_say(),
                   "creation of \"grid\", 3 sites: 0-1 have joined, for 12.0 s; missing: 2\n");
    CHECK_CONTAINS(world_say(), "  no name looks like it: num_sites may be too large, or ");
    w.joins[1][0].num_sites = 2;
    CHECK_CONTAINS(world_say(), "  others create it with 2 sites\n");
    w.joins[1][0].kind = COHORT__JOIN_SPLIT;
    CHECK_CONTAINS(world_say(), "split of a communicator \"grid\", 2 sites: 1 has joined");
    w.joins[1][0].num_sites = 3;
    CHECK_CONTAINS(world_say(), "creation of \"grid\", 3 sites: 0 has joined");
    CHECK_CONTAINS(world_say(), "split of a communicator \"grid\", 3 sites: 1 has joined");
    world_begin(1); /* all have come: who makes it has yet to say so */
    world_add_join(0, "grid", 0, 1, 0);
    CHECK_CONTAINS(world_say(), "creation of \"grid\", 1 sites: all have joined, for 12.0 s\n"
                                "  site 0 joined in locality 0\nno task waits\n");
}

/* Site 1 of four has died, 0 and 2 shrink or agree, and site 3 waits elsewhere. The call that has
 * failed by the death is not said to miss anybody, and no wait is guessed to be in it. */
static void begin_survivors(enum cohort__join_kind kind)
{
    world_begin(4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        world_add_group(rank, 5, 4, "halo");
        world_add_site(rank, 5, rank, rank == 1 ? 16 : 17, 0x100);
    }
    w.localities[1].end = "locality 1 (pid 101) was killed";
    for (uint32_t rank = 0; rank < 3; rank += 2) {
        world_add_join(rank, "halo/survivors 1", rank / 2, 3, 0x900);
        w.joins[rank][0].kind = kind;
        w.joins[rank][0].parent = 5;
        w.joins[rank][0].of_site = rank;
        world_add_wait(rank, 0x100, MEET, COHORT__WAIT_CREATION, 0x900, 12);
    }
    world_add_wait(3, 0x100, LOCK, COHORT__WAIT_PLAIN, 0x910, 9);
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

TEST(survivors)
{
    begin_survivors(COHORT__JOIN_SHRINK);
    world_check(FOUR, SURVIVORS("shrink", "a shrink"));
    begin_survivors(COHORT__JOIN_AGREEMENT);
    world_check(FOUR, SURVIVORS("agreement", "an agreement"));
    w.looks[0].num_waits = w.looks[0].num_joins = 0; /* one alone is named with the communicator */
    CHECK_CONTAINS(world_say(), "for an agreement of \"halo\", for 12.0 s\n");
    begin_survivors(COHORT__JOIN_SHRINK);
    w.joins[2][0].kind = COHORT__JOIN_AGREEMENT; /* which is another call */
    CHECK_CONTAINS(world_say(), "shrink of \"halo\": 1 of 3 sites that live has called it");
    CHECK_CONTAINS(world_say(),
                   "  site 2 (locality 2): its task waits in heat+0x10 (task heat+0x800) for "
                   "an agreement of \"halo\", for 12.0 s\n");
    begin_survivors(COHORT__JOIN_SHRINK);
    w.looks[3].num_sites = 0; /* it has no line */
    CHECK_CONTAINS(world_say(), "missing:\n  of 1 of them nothing is known\n");
    begin_survivors(COHORT__JOIN_SHRINK); /* nobody has died, but a site has revoked it */
    w.localities[1].end = NULL;
    CHECK_CONTAINS(world_say(), "shrink of \"halo\": 2 of 3");
    CHECK(!strstr(world_say(), "generation 17"));
}

/* Who waits for a collective of a communicator with a dead site waits in another one. */
TEST(dead_call)
{
    begin_halo();
    w.localities[2].end = "locality 2 (pid 102) was killed";
    w.looks[1].num_waits = 0;
    CHECK_CONTAINS(world_say(), "in heat+0x10 (task heat+0x800) for a collective, for 12.0 s\n");
    w.looks[0].num_waits = 0; /* then the call is over */
    CHECK(!strstr(world_say(), "generation 17"));
}

static void check_survivors_json(const char *kind, enum cohort__join_kind number)
{
    char want[64];
    begin_survivors(number);
    snprintf(want, sizeof(want), "\"kind\": \"%s\"", kind);
    CHECK_CONTAINS(world_say_by(status_json), want);
    snprintf(want, sizeof(want), "\"for\": \"%s\"", kind);
    CHECK_CONTAINS(world_say_by(status_json), want);
}

TEST(survivors_json)
{
    check_survivors_json("shrink", COHORT__JOIN_SHRINK);
    check_survivors_json("agreement", COHORT__JOIN_AGREEMENT);
}

/* A call of a remote task: which one, where, if it has a place in the ledger. */
TEST(remote)
{
    world_begin(2);
    world_add_wait(0, 0x100, GET, COHORT__WAIT_REMOTE, 0x900, 12);
    CHECK_CONTAINS(world_say(), "for a task of another locality, for 12.0 s\n");
    w.looks[0].num_pendings = 1;
    w.pendings[0][0] = (struct look_pending){
        .future = 0x900, .number = 5, .peer = 1, .kind = COHORT__WAIT_REMOTE, .name = "solve"};
    CHECK_CONTAINS(world_say(), "for the remote task \"solve\" of locality 1, for 12.0 s\n");
    CHECK_CONTAINS(world_say_by(status_json), "\"function\": \"solve\", \"locality\": 1");
    CHECK_CONTAINS(world_say_by(status_json), "\"for\": \"remote\"");
    w.pendings[0][0].name[0] = 0;
    CHECK_CONTAINS(world_say(), "for the remote task of locality 1, for 12.0 s\n");
    w.pendings[0][0].kind = COHORT__WAIT_GET; /* of another future, at the same address */
    CHECK_CONTAINS(world_say(), "for a task of another locality, for 12.0 s\n");
    w.pendings[0][0].kind = COHORT__WAIT_REMOTE;
    w.pendings[0][0].age = 13 * second; /* it is only there until it ends */
    CHECK_CONTAINS(world_say(), "for the remote task of locality 1, for 12.0 s\n");
}

/* The objects of cohort/sync.h. */
TEST(objects)
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
    for (size_t i = 0; i < NUM_OF(objects); i++) {
        char want[80];
        world_begin(1);
        world_add_wait(0, 0x100, LOCK, objects[i].kind, 0x900, 5);
        snprintf(want, sizeof(want), "(task heat+0x800) for %s, for 5.0 s\n", objects[i].text);
        CHECK_CONTAINS(world_say(), want);
        snprintf(want, sizeof(want), "\"for\": \"sync\", \"object\": \"%s\"", objects[i].word);
        CHECK_CONTAINS(world_say_by(status_json), want);
    }
}

/* What ledgers hold is not trusted: numbers may be any, names may be for a terminal. */
TEST(damaged)
{
    world_begin(2);
    world_add_join(0, "a\x1b[31m\"", UINT32_MAX, 0, 0);
    world_add_join(0, "b", UINT32_MAX, UINT32_MAX, 0);
    world_add_join(0, "b", UINT32_MAX, UINT32_MAX, 0);
    world_add_group(0, 9, UINT32_MAX, "many");
    world_add_group(1, 9, 0, "few");
    world_add_site(0, 9, UINT32_MAX, UINT64_MAX, 0x100);
    world_add_site(1, 9, UINT32_MAX, 0, 0x100);
    world_add_site(1, 8, 3, 0, 0x100);
    world_add_site(1, 8, 4, 1, 0x100);
    world_add_wait(0, 0, 0, (enum cohort__wait_kind)15, UINT64_MAX, 0);
    world_add_wait(0, 0x100, UINT64_MAX, COHORT__WAIT_COLLECTIVE, 0, 0);
    w.looks[0].is_cut = true;
    const char *text = world_say();
    CHECK_CONTAINS(text, "locality 0 (pid 100): it had no memory to say all\n");
    CHECK_CONTAINS(text, "creation of \"a\\x1b[31m\\x22\", 0 sites: ");
    CHECK_CONTAINS(text, "creation of \"b\", 4294967295 sites: 4294967295 has joined");
    CHECK_CONTAINS(text, "communicator \"?\", generation 1: 1 of 5 sites has called; missing:\n");
}
