/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/status/model.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"
#include "tests/unit/tools/cohortrun/status/world.h"
#include "tools/cohortrun/status/print.h"

/* Tasks that wait for one another in a circle, and what is said of them. */

/* Two tasks meet in two communicators, in opposite orders. */
static void begin_opposite(void)
{
    world_begin(2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        world_add_group(rank, 4, 2, "rows");
        world_add_group(rank, 5, 2, "columns");
        world_add_site(rank, 4, rank, rank == 0, 0x100);
        world_add_site(rank, 5, rank, rank == 1, 0x100);
        world_add_wait(rank, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 5);
    }
}

TEST(opposite)
{
    begin_opposite();
    const char *cycle =
        "deadlock: each of these tasks waits for the next, the last for the first:\n"
        "  locality 0: in heat+0x10 (task heat+0x800) for a collective of \"rows\", "
        "generation 1, for 5.0 s\n"
        "  locality 1: in heat+0x10 (task heat+0x800) for a collective of "
        "\"columns\", generation 1, for 5.0 s\n"
        "waiting tasks:\n";
    CHECK_CONTAINS(world_say(), cycle);
    CHECK(!strstr(world_say(), "perhaps"));
    w.waits[0][0].age = second / 2; /* the other may have been read at another time */
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: each of these tasks");
    begin_opposite(); /* a collective may not need all of several that are missing */
    for (int i = 0; i < 4; i++)
        w.groups[i / 2][i % 2].num_sites = 3;
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: each of these tasks");
    begin_opposite(); /* one waits for an earlier call, for which it needs nobody who is missing */
    w.looks[0].num_pendings = 1;
    w.pendings[0][0] = (struct look_pending){
        .age = second, .instance = 4, .future = 0x900, .kind = COHORT__WAIT_COLLECTIVE};
    CHECK(!strstr(world_say(), "deadlock"));
    w.pendings[0][0].number = 1;
    CHECK_CONTAINS(world_say(), "\ndeadlock: ");
    begin_opposite(); /* one is stopped: that its task waits is known all the same */
    w.looks[1].is_stopped = true;
    CHECK_CONTAINS(world_say(), "\ndeadlock: each of these tasks");
    CHECK_CONTAINS(world_say(),
                   "its process is stopped, and its task waits in heat+0x10 (task heat+"
                   "0x800) for a collective of \"columns\", generation 1, for 5.0 s\n");
    CHECK_CONTAINS(world_say_by(status_json), "\"fate\": \"stopped\", \"wait\": {\"in\": ");
    begin_opposite(); /* one of them does not wait */
    w.looks[1].num_waits = 0;
    CHECK(!strstr(world_say(), "deadlock"));
    begin_opposite(); /* one of them has died */
    w.localities[1].end = "locality 1 (pid 101) was killed";
    CHECK(!strstr(world_say(), "deadlock"));
}

static void check_perhaps(void)
{
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: each of these tasks");
    CHECK_CONTAINS(world_say_by(status_json), "{\"certain\": false");
    begin_opposite();
}

/* Another task than the last one may call for a site, if there is one that can go on. */
TEST(not_quiet)
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
    w.looks[1].acts_outside = true; /* a timer of the program's own on the loop may call */
    check_perhaps();
    w.looks[1].stage = COHORT__LEDGER_RETURNED;
    check_perhaps();
    for (int kind = 0; kind < COHORT__WAIT_KINDS; kind++) {
        world_add_wait(1, 0x200, LOCK, (enum cohort__wait_kind)kind, 0x910, 9);
        check_perhaps();
    }
    w.looks[1].num_tasks = 1;
    CHECK_CONTAINS(world_say(), "\ndeadlock: each of these tasks");
    world_add_wait(1, 0x200, LOCK, COHORT__WAIT_TASK, 0x100,
                   9); /* it waits for one that is stuck */
    world_add_wait(1, 0x300, LOCK, COHORT__WAIT_MUTEX, 0x200, 9);
    w.looks[1].num_tasks = 3;
    CHECK_CONTAINS(world_say(), "\ndeadlock: each of these tasks");
    CHECK_CONTAINS(world_say_by(status_json), "{\"certain\": true");
    w.waits[1][2].age = 0;
    check_perhaps();
    world_add_wait(1, 0x200, LOCK, COHORT__WAIT_TASK, 0x100,
                   9); /* with those that it runs in place */
    w.waits[1][1].outer = 0x300;
    w.waits[1][1].outermost = 0x400;
    w.looks[1].num_tasks = 4;
    CHECK_CONTAINS(world_say(), "\ndeadlock: each of these tasks");
    w.waits[1][1].outermost = 0x300;
    check_perhaps();
    w.workers[0][0].is_idle = false; /* in the other one */
    check_perhaps();
}

/* Nor is a get from a site that has died: it fails. */
TEST(not_quiet_by_death)
{
    begin_opposite();
    w.job.num = 3;
    world_add_group(0, 6, 2, "ring");
    world_add_site(2, 6, 1, 0, 0x100);
    world_add_wait(2, 0x100, LOCK, COHORT__WAIT_MUTEX, 0x100, 12);
    world_add_wait(0, 0x200, GET, COHORT__WAIT_GET, 0x910, 12);
    w.looks[0].num_pendings = 1;
    w.pendings[0][0] = (struct look_pending){
        .instance = 6, .future = 0x910, .number = 7, .peer = 1, .kind = COHORT__WAIT_GET};
    CHECK(!strstr(world_say(), "perhaps"));
    w.localities[2].end = "locality 2 (pid 102) was killed";
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: ");
}

/* A task that waits for one of another locality that may go on may do so, too. */
TEST(not_quiet_by_another)
{
    begin_opposite();
    w.job.num = 3;
    world_add_wait(0, 0x200, GET, COHORT__WAIT_REMOTE, 0x910, 12);
    world_add_wait(2, 0x700, LOCK, COHORT__WAIT_MUTEX, 0x800, 12);
    world_add_wait(2, 0x800, LOCK, COHORT__WAIT_TASK, 0x700, 12);
    w.looks[0].num_pendings = w.looks[2].num_serves = 1;
    w.pendings[0][0] =
        (struct look_pending){.future = 0x910, .number = 5, .peer = 2, .kind = COHORT__WAIT_REMOTE};
    w.serves[2][0] = (struct look_serve){.age = second, .task = 0x700, .number = 5, .from = 0};
    CHECK(!strstr(world_say(), "perhaps"));
    w.waits[2][1].kind = COHORT__WAIT_OUTSIDE;
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: ");
}

/* What may go on is found from the end of long chains, too. If one is too long, nothing is for
 * certain. */
TEST(long_ways)
{
    for (uint64_t length = 40; length <= 80; length += 40) {
        world_begin(1);
        for (uint64_t i = 0; i < length; i++)
            world_add_wait(0, 0x1000 + 16 * i, LOCK,
                           i < length - 1 ? COHORT__WAIT_TASK : COHORT__WAIT_OUTSIDE,
                           0x1000 + 16 * (i + 1), 5);
        world_add_wait(0, 0x100, LOCK, COHORT__WAIT_MUTEX, 0x200, 5);
        world_add_wait(0, 0x200, LOCK, COHORT__WAIT_TASK, 0x100, 5);
        CHECK_CONTAINS(world_say(), length == 40 ? "\ndeadlock: " : "\nperhaps a deadlock: ");
    }
}

/* Not hung: the main task has made two sites, each for a task of its own, and waits for the first
 * one. That one has called, and the second one has yet to. */
TEST(made_for_others)
{
    world_begin(1);
    world_add_group(0, 5, 2, "halo");
    world_add_site(0, 5, 0, 1, 0x200);
    world_add_site(0, 5, 1, 0, 0x100);
    world_add_wait(0, 0x100, LOCK, COHORT__WAIT_TASK, 0x200, 5);
    world_add_wait(0, 0x200, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 5);
    w.looks[0].num_tasks = 3;
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: each of these tasks");
    CHECK(!strstr(world_say(), "\ndeadlock"));
    world_add_wait(0, 0x300, GET, COHORT__WAIT_OUTSIDE, 0, 5);
    CHECK(!strstr(world_say(), "\ndeadlock"));
    w.sites[0][0].task = 0x100; /* the main task has called itself */
    w.looks[0].num_waits = 0;
    world_add_wait(0, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 5);
    w.looks[0].num_tasks = 2;
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: a task waits for itself:\n");
    w.looks[0].num_tasks = 1;
    CHECK_CONTAINS(world_say(), "\ndeadlock: a task waits for itself:\n");
    w.looks[0].num_waits = 0;
    w.sites[0][0].task = 0x200;
    world_add_wait(0, 0x100, LOCK, COHORT__WAIT_TASK, 0x200, 5);
    world_add_wait(0, 0x200, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 5);
    w.looks[0].num_waits = 2; /* there is no third one */
    w.looks[0].num_tasks = 2;
    CHECK_CONTAINS(world_say(), "\ndeadlock: each of these tasks");
}

/* Localities 0 and 1 meet in two communicators, in opposite orders; 2 has come to neither. */
static void begin_three(void)
{
    world_begin(3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        world_add_group(rank, 4, 3, "rows");
        world_add_group(rank, 5, 3, "columns");
        world_add_site(rank, 4, rank, rank == 0, 0x100);
        world_add_site(rank, 5, rank, rank == 1, 0x100);
        if (rank == 2)
            break;
        world_add_wait(rank, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 5);
        w.looks[rank].num_pendings = 1;
        w.pendings[rank][0] = (struct look_pending){.age = second,
                                                    .instance = 4 + rank,
                                                    .future = 0x900,
                                                    .number = 1,
                                                    .site = rank,
                                                    .kind = COHORT__WAIT_COLLECTIVE};
    }
    w.workers[2][0].is_idle = false;
}

/* If several are missing, not each call needs all of them. */
TEST(several_missing)
{
    begin_three();
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: each of these tasks");
    w.pendings[0][0].needs_all = true; /* the other one may need 2 only, which then calls "rows" */
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: each of these tasks");
    w.pendings[1][0].needs_all = true;
    CHECK_CONTAINS(world_say(), "\ndeadlock: each of these tasks");
    w.looks[2].num_sites = 0; /* one that is not known makes no difference then */
    CHECK_CONTAINS(world_say(), "\ndeadlock: each of these tasks");
    w.looks[2].num_sites = 2; /* but one that has died does: it ends the calls */
    w.localities[2].end = "locality 2 (pid 102) was killed";
    CHECK(!strstr(world_say(), "\ndeadlock: "));
    begin_three(); /* whomever they need is stuck */
    w.workers[2][0].is_idle = true;
    world_add_wait(2, 0x100, LOCK, COHORT__WAIT_MUTEX, 0x200, 5);
    world_add_wait(2, 0x200, LOCK, COHORT__WAIT_TASK, 0x100, 5);
    const char *text = world_say();
    CHECK_CONTAINS(text, "\ndeadlock: each of these tasks waits for the next, the last for the "
                         "first:\n  locality 0: ");
    CHECK(!strstr(text, "perhaps"));
    w.looks[2].num_sites = 0; /* unless some are not known */
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: ");
    world_add_site(0, 4, 0, 1, 0x100); /* a line that is there twice is of one site */
    world_add_site(1, 5, 1, 1, 0x100);
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: ");
    begin_three(); /* or one does not wait, and so may begin something */
    w.workers[2][0].is_idle = true;
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: ");
}

/* A site that lacks more than others is not the only one that a later call waits for. */
TEST(later_generation)
{
    begin_three();
    w.sites[0][0].last_called = w.pendings[0][0].number = 3; /* "rows": 3, 1, 0 */
    w.sites[1][0].last_called = 1;
    w.pendings[0][0].needs_all = w.pendings[1][0].needs_all = true;
    CHECK_CONTAINS(world_say(), "\ndeadlock: each of these tasks");
    w.sites[1][0].last_called = 3;
    CHECK(!strstr(world_say(), "deadlock"));
}

/* Who agrees waits for all that live. */
TEST(agrees)
{
    world_begin(3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        world_add_group(rank, 5, 3, "halo");
        world_add_site(rank, 5, rank, rank == 1, 0x100);
        if (rank == 1)
            continue;
        world_add_join(rank, "halo/survivors 1", rank / 2, 3, 0x900);
        w.joins[rank][0].kind = COHORT__JOIN_AGREEMENT;
        w.joins[rank][0].parent = 5;
        w.joins[rank][0].of_site = rank;
        world_add_wait(rank, 0x100, LOCK, COHORT__WAIT_CREATION, 0x900, 12);
    }
    world_add_wait(1, 0x100, MEET, COHORT__WAIT_COLLECTIVE, 0x910, 11);
    const char *text = world_say();
    CHECK_CONTAINS(text,
                   "\ndeadlock: each of these tasks waits for the next, the last for the first:\n"
                   "  locality 0: in heat+0x30 (task heat+0x800) for an agreement of \"halo\", for "
                   "12.0 s\n"
                   "  locality 1: in heat+0x10 (task heat+0x800) for a collective of \"halo\", "
                   "generation 1, for 11.0 s\n");
    CHECK(!strstr(text, "perhaps"));
    w.workers[1][0].is_idle = false;
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: ");
}

/* As core files say it: what waits has to have waited before any of the processes has died. */
TEST(cores)
{
    begin_opposite();
    w.job.pid = 0;
    w.job.num_cores = 2;
    w.localities[0].core = "core.100";
    w.localities[1].core = "core.101";
    w.localities[1].signal = 6;
    CHECK_CONTAINS(world_say(), "core files of 2 of 2 localities: ./heat\n"
                                "locality 0 (pid 100): read from core.100\n"
                                "locality 1 (pid 101): read from core.101, signal 6 (Aborted)\n");
    CHECK_CONTAINS(world_say(), "\ndeadlock: ");
    CHECK_CONTAINS(world_say_by(status_json), "\"core\": \"core.101\", \"signal\": 6");
    w.looks[1].tick_age = 4 * second - 1;
    CHECK_CONTAINS(world_say(), "\ndeadlock: ");
    w.looks[1].tick_age = 4 * second + 1;
    CHECK_CONTAINS(world_say(), "\nperhaps a deadlock: ");
    w.job.num_cores = 1;
    w.localities[1] = (struct status_locality){.why = "no core file of it is given"};
    CHECK_CONTAINS(world_say(), "core files of 1 of 2 localities: ./heat\n"
                                "locality 0 (pid 100): read from core.100\n"
                                "locality 1 can't be read: no core file of it is given\n");
    CHECK_CONTAINS(world_say(), "  site 1: not known, as not all localities can be read\n");
    CHECK(!strstr(world_say(), "deadlock"));
    world_begin(1);
    w.job = (struct status_job){
        .program = "./heat", .num = 1, .num_cores = 1, .localities = w.localities};
    w.localities[0].core = "core";
    world_check("core file of process 100, alone: ./heat\n",
                "locality 0 (pid 100): read from core\n"
                "no task waits\n");
}

/* A mutex whose holder awaits who wants it; one task that waits for itself; and a chain without
 * a circle. */
TEST(mutex)
{
    world_begin(1);
    world_add_wait(0, 0x100, GET, COHORT__WAIT_TASK, 0x200, 5);
    world_add_wait(0, 0x200, LOCK, COHORT__WAIT_MUTEX, 0x100, 5);
    world_add_wait(0, 0x300, LOCK, COHORT__WAIT_MUTEX, 0x200, 5);
    const char *text = world_say();
    CHECK_CONTAINS(text, "deadlock: each of these tasks waits for the next");
    CHECK(!strstr(strstr(text, "deadlock") + 1, "deadlock")); /* once */
    /* What it waits for in turn ends where it began. */
    CHECK_TEXT(strstr(text, "  1 in"),
               "  1 in heat+0x20 (task heat+0x800) for a task, for 5.0 s\n"
               "    that task waits in heat+0x30 (task heat+0x800) for a mutex, for 5.0 s\n"
               "    the task that has the mutex, or is before it in line, waits in heat+0x20 (task "
               "heat+0x800) for a task, for 5.0 s\n");
    world_begin(1);
    world_add_wait(0, 0x200, LOCK, COHORT__WAIT_MUTEX, 0x200, 5);
    CHECK_CONTAINS(world_say(),
                   "deadlock: a task waits for itself:\n"
                   "  locality 0: in heat+0x30 (task heat+0x800) for a mutex, for 5.0 s\n");
    w.waits[0][0].age = 0; /* however young it is, and whatever else there is */
    w.workers[0][0].is_idle = false;
    CHECK_CONTAINS(world_say(), "\ndeadlock: a task waits for itself:\n");
    CHECK_CONTAINS(world_say_by(status_json), "{\"certain\": true");
    w.waits[0][0].what = w.waits[0][0].outer = 0x100; /* which awaits it, and so runs it */
    CHECK_CONTAINS(world_say(), "deadlock: a task waits for one that awaits it:\n");
    world_begin(1);
    world_add_wait(0, 0x200, LOCK, COHORT__WAIT_MUTEX, 0x300, 5);
    world_add_wait(0, 0x300, LOCK, COHORT__WAIT_SEVERAL, 0x200,
                   5); /* it may need one of them only */
    CHECK(!strstr(world_say(), "deadlock"));
}

/* One in a locality that has died holds nobody up. */
TEST(dead_circle)
{
    world_begin(1);
    world_add_wait(0, 0x200, LOCK, COHORT__WAIT_MUTEX, 0x200, 5);
    w.localities[0].end = "locality 0 (pid 100) was killed";
    CHECK(!strstr(world_say(), "deadlock"));
}

/* A long chain that ends in a circle: the circle is found, wherever the search begins. */
TEST(long_chain)
{
    world_begin(1);
    for (uint64_t i = 0; i < SITES; i++) /* the last but one waits for the one before */
        world_add_wait(0, 0x1000 + 16 * i, LOCK, COHORT__WAIT_TASK,
                       0x1000 + 16 * (i < SITES - 1 ? i + 1 : i - 1), 5);
    CHECK_CONTAINS(world_say(), "deadlock: each of these tasks waits for the next");
}

/* Each waits for a block of the other. Another task of a site may send it. */
TEST(gets)
{
    world_begin(2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        world_add_group(rank, 4, 2, "ring");
        world_add_site(rank, 4, rank, 0, 0x100);
        world_add_wait(rank, 0x100, GET, COHORT__WAIT_GET, 0x900, 5);
        w.looks[rank].num_pendings = 1;
        w.pendings[rank][0] = (struct look_pending){.age = second,
                                                    .instance = 4,
                                                    .future = 0x900,
                                                    .number = 7,
                                                    .site = rank,
                                                    .peer = 1 - rank,
                                                    .kind = COHORT__WAIT_GET};
    }
    w.workers[0][0].is_idle = false;
    CHECK_CONTAINS(world_say(),
                   "perhaps a deadlock: each of these tasks waits for the next, the last for "
                   "the first:\n"
                   "  locality 0: in heat+0x20 (task heat+0x800) for a block from site 1 of "
                   "\"ring\", tag 7 (cohort_channel_get), for 5.0 s\n"
                   "  locality 1: in heat+0x20 (task heat+0x800) for a block from site 0 of ");
    w.workers[0][0].is_idle = true;
    CHECK_CONTAINS(world_say(), "\ndeadlock: each of these tasks");
    w.localities[1].end = "locality 1 (pid 101) was killed"; /* then the get fails */
    CHECK(!strstr(world_say(), "deadlock"));
    w.localities[1].end = NULL;
    w.pendings[1][0].peer = UINT32_MAX;
    w.waits[1][0].caller = LOCK; /* so that it is listed alone */
    CHECK(!strstr(world_say(), "deadlock"));
    CHECK_CONTAINS(world_say(), "for a block from any site of \"ring\", tag 7 ");
}

/* Each waits until the other gets its block. A get there ends that, whoever has asked for it. */
TEST(sets)
{
    world_begin(2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        world_add_group(rank, 4, 2, "ring");
        world_add_site(rank, 4, rank, 0, 0x100);
        world_add_wait(rank, 0x100, GET, COHORT__WAIT_SET, 0x900, 5);
        w.looks[rank].num_pendings = 1;
        w.pendings[rank][0] = (struct look_pending){.age = second,
                                                    .instance = 4,
                                                    .future = 0x900,
                                                    .number = 7,
                                                    .site = rank,
                                                    .peer = 1 - rank,
                                                    .kind = COHORT__WAIT_SET,
                                                    .needs_all = true};
    }
    CHECK_CONTAINS(world_say(), "\ndeadlock: each of these tasks waits for the next, the last for "
                                "the first:\n"
                                "  locality 0: in heat+0x20 (task heat+0x800) for site 1 of "
                                "\"ring\" to get a block, tag 7 (cohort_channel_set), for 5.0 s\n"
                                "  locality 1: in heat+0x20 (task heat+0x800) for site 0 of ");
    CHECK_CONTAINS(world_say_by(status_json),
                   "\"for\": \"set\", \"communicator\": \"ring\", \"site\": 1, \"tag\": 7, "
                   "\"receiver_locality\": 1");
    w.looks[1].num_pendings = 2;
    w.pendings[1][1] = (struct look_pending){.instance = 4,
                                             .future = 0x910,
                                             .number = 8, /* for another one */
                                             .site = 1,
                                             .peer = 0,
                                             .kind = COHORT__WAIT_GET};
    CHECK_CONTAINS(world_say(), "\ndeadlock: each of these tasks");
    w.pendings[1][1].has_more = true;
    CHECK(!strstr(world_say(), "deadlock"));
    w.pendings[1][1].has_more = false;
    w.pendings[1][1].number = 7;
    CHECK(!strstr(world_say(), "deadlock"));
    w.pendings[1][1].peer = UINT32_MAX;
    CHECK(!strstr(world_say(), "deadlock"));
    w.looks[1].num_pendings = 1;
    w.pendings[1][0].needs_all = false; /* it only waits for room on its way */
    CHECK(!strstr(world_say(), "deadlock"));
}

/* A get whose message is being read ends by itself. */
TEST(get_has_come)
{
    world_begin(1);
    world_add_group(0, 4, 1, "ring");
    world_add_site(0, 4, 0, 0, 0x100);
    world_add_wait(0, 0x100, GET, COHORT__WAIT_GET, 0x900, 5);
    w.looks[0].num_pendings = 1;
    w.pendings[0][0] = (struct look_pending){
        .age = second, .instance = 4, .future = 0x900, .number = 7, .kind = COHORT__WAIT_GET};
    CHECK_CONTAINS(world_say(), "\ndeadlock: a task waits for itself");
    w.pendings[0][0].has_come = true;
    CHECK(!strstr(world_say(), "deadlock"));
}

/* Which task works on it, and what that waits for in turn. */
TEST(serving)
{
    world_begin(2);
    world_add_group(1, 5, 2, "halo");
    world_add_group(0, 5, 2, "halo");
    world_add_site(0, 5, 0, 0, 0x100);
    world_add_site(1, 5, 1, 1, 0x700);
    world_add_wait(0, 0x100, GET, COHORT__WAIT_REMOTE, 0x900, 12);
    world_add_wait(1, 0x700, MEET, COHORT__WAIT_COLLECTIVE, 0x900, 11);
    w.looks[0].num_pendings = w.looks[1].num_serves = 1;
    w.pendings[0][0] = (struct look_pending){
        .future = 0x900, .number = 5, .peer = 1, .kind = COHORT__WAIT_REMOTE, .name = "solve"};
    w.serves[1][0] = (struct look_serve){.age = second, .task = 0x700, .number = 5, .from = 0};
    CHECK_CONTAINS(world_say(),
                   "\ndeadlock: each of these tasks waits for the next, the last for the "
                   "first:\n"
                   "  locality 0: in heat+0x20 (task heat+0x800) for the remote task "
                   "\"solve\" of locality 1, for 12.0 s\n"
                   "  locality 1: in heat+0x10 (task heat+0x800) for a collective of "
                   "\"halo\", generation 1, for 11.0 s\n");
    CHECK_CONTAINS(world_say(),
                   "  1 (locality 0) in heat+0x20 (task heat+0x800) for the remote task "
                   "\"solve\" of locality 1, for 12.0 s\n"
                   "    that task, of locality 1, waits in heat+0x10 (task heat+0x800) for a "
                   "collective of \"halo\", generation 1, for 11.0 s\n");
    CHECK_CONTAINS(world_say_by(status_json), "\"serving_task\": \"0x700\"");
    w.serves[1][0].age = 11 * second; /* what was seen before is of another task there */
    CHECK(!strstr(world_say(), "deadlock") && !strstr(world_say(), "that task, of"));
    w.serves[1][0] = (struct look_serve){.task = 0x700, .number = 6, .from = 0};
    CHECK(!strstr(world_say(), "deadlock"));
    w.serves[1][0] = (struct look_serve){.task = 0x700, .number = 5, .from = 1};
    CHECK(!strstr(world_say(), "deadlock"));
    w.serves[1][0] = (struct look_serve){.task = 0, .number = 5, .from = 0};
    CHECK(!strstr(world_say(), "deadlock"));
    w.pendings[0][0].peer = 9; /* there is none */
    CHECK(!strstr(world_say(), "deadlock"));
}
