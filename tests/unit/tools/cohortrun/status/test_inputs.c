/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"
#include "tests/unit/tools/cohortrun/status/world.h"
#include "tools/cohortrun/status/print.h"

/* What combinators, scopes and tasks that have yet to begin wait for, and when that is a deadlock
 * for certain. */

static bool is_certain(void)
{
    return strstr(world_say(), "\ndeadlock: ") != NULL;
}

static bool is_perhaps(void)
{
    return strstr(world_say(), "perhaps a deadlock: ") && !is_certain();
}

/* Task 0x100 waits for WANTED of NUM futures. The first NUM_STUCK are tasks that need it in turn,
 * and the next one, if it is listed, is a future of which nothing is known. */
static void make(uint64_t wanted, uint64_t num, unsigned num_stuck, bool is_rest_listed)
{
    world_begin(1);
    world_add_wait(0, 0x100, GET, COHORT__WAIT_SEVERAL, 0x900, 5);
    world_add_inputs(0, 0x900, wanted, num, 5);
    for (unsigned i = 0; i < num_stuck; i++) {
        world_add_wait(0, 0x200 + 0x10 * i, LOCK, COHORT__WAIT_MUTEX, 0x100, 5);
        world_add_input(0, COHORT__WAIT_TASK, 0x200 + 0x10 * i);
    }
    if (is_rest_listed)
        world_add_input(0, COHORT__WAIT_PLAIN, 0xa00);
}

TEST(all)
{
    make(2, 2, 1, true);
    const char *text = world_say();
    CHECK_CONTAINS(text, "\ndeadlock: each of these tasks waits for the next, the last for the "
                         "first:\n"
                         "  locality 0: in heat+0x20 (task heat+0x800) for all of 2 futures, for "
                         "5.0 s\n"
                         "    that is, for a task\n"
                         "  locality 0: in heat+0x30 (task heat+0x800) for a mutex, for 5.0 s\n"
                         "waiting tasks:\n");
    CHECK_CONTAINS(text, "  1 in heat+0x20 (task heat+0x800) for all of 2 futures, for 5.0 s\n"
                         "    one is a task\n"
                         "      that task waits in heat+0x30 (task heat+0x800) for a mutex, for "
                         "5.0 s\n"
                         "      the task that has the mutex, or is before it in line, waits in "
                         "heat+0x20 (task heat+0x800) for all of 2 futures, for 5.0 s\n"
                         "    one is a future\n");
    make(1, 1, 1, false); /* the last one */
    CHECK_CONTAINS(world_say(), "for one future, for 5.0 s\n    it is a task\n");
    CHECK(is_certain());
    make(2, 2, 0, true);
    CHECK(!strstr(world_say(), "deadlock"));
}

TEST(any_and_some)
{
    make(1, 2, 1, true); /* the other one may come */
    CHECK(is_perhaps());
    CHECK_CONTAINS(world_say(), "for one of 2 futures, for 5.0 s\n");
    make(1, 2, 2, false);
    CHECK(is_certain());
    make(1, 3, 2, false); /* of the third nothing is known */
    CHECK(is_perhaps());
    make(2, 3, 2, true);
    CHECK_CONTAINS(world_say(), "for 2 of 3 futures, for 5.0 s\n");
    CHECK(is_certain());
    make(2, 3, 1, true);
    CHECK(is_perhaps());
    make(4, 3, 3, false); /* which is damaged */
    CHECK(is_perhaps());
}

TEST(young)
{
    make(1, 1, 1, false);
    w.listed[0][0].age = second / 2;
    CHECK(is_perhaps());
}

/* One circle, though there is a way from one task to the other by each input; and it is certain,
 * though it may end by the first of these. */
TEST(several_ways)
{
    make(2, 2, 0, true);
    world_add_wait(0, 0x200, LOCK, COHORT__WAIT_MUTEX, 0x100, 5);
    w.listed[0][0] = (struct look_wait){.kind = COHORT__WAIT_TASK, .what = 0x200}; /* young */
    world_add_input(0, COHORT__WAIT_TASK, 0x200);
    const char *text = strstr(world_say(), "deadlock: ");
    CHECK(text && !strstr(text + 1, "deadlock: "));
    CHECK(is_certain());
}

TEST(nested)
{
    world_begin(1);
    world_add_wait(0, 0x100, GET, COHORT__WAIT_SEVERAL, 0x900, 5);
    world_add_inputs(0, 0x900, 2, 2, 5);
    world_add_input(0, COHORT__WAIT_SEVERAL, 0x910);
    world_add_input(0, COHORT__WAIT_OUTSIDE, 0xa00);
    world_add_inputs(0, 0x910, 1, 20, 5);
    for (uint64_t i = 0; i < 5; i++)
        world_add_input(0, i == 1 ? COHORT__WAIT_SEVERAL : COHORT__WAIT_PLAIN, 0xb00 + 0x10 * i);
    CHECK_CONTAINS(world_say(), "  1 in heat+0x20 (task heat+0x800) for all of 2 futures, for "
                                "5.0 s\n"
                                "    one needs one of 20 futures\n"
                                "      one is a future\n"
                                "      one is several futures\n"
                                "      one is a future\n"
                                "      one is a future\n"
                                "      and 16 more\n"
                                "    one is a timer, a file, a connection or a blocking call\n");
    CHECK_CONTAINS(
        world_say_by(status_json),
        "\"for\": \"several\", \"pending\": 2, \"wanted\": 2, \"combinator\": \"0x900\"");
    CHECK_CONTAINS(world_say_by(status_json),
                   "\"inputs\": [{\"for\": \"several\", \"pending\": 20, \"wanted\": 1, "
                   "\"combinator\": \"0x910\"}, {\"for\": \"outside\"}]");
}

/* Of two at the same place it is one of them that is told of. */
TEST(group)
{
    make(2, 2, 0, true);
    world_add_wait(0, 0x110, GET, COHORT__WAIT_SEVERAL, 0x910, 6);
    CHECK_CONTAINS(world_say(), "  2 in heat+0x20 (task heat+0x800) for several futures, for 6.0 s "
                                "at most\n"
                                "    one of them, of locality 0, for all of 2 futures:\n"
                                "      one is a future\n"
                                "      and 1 more\n");
}

/* They are followed one after the other, not by a recursion for each. */
TEST(deep)
{
    enum { DEEP = 20000 };
    world_begin(1);
    world_add_wait(0, 0x100, GET, COHORT__WAIT_SEVERAL, 0x10000, 5);
    struct look_inputs *inputs = test_calloc(DEEP, sizeof(*inputs));
    struct look_wait *listed = test_calloc(DEEP, sizeof(*listed));
    w.looks[0].inputs = inputs;
    w.looks[0].listed = listed;
    for (uint64_t i = 0; i < DEEP; i++) {
        world_add_inputs(0, 0x10000 + 0x10 * i, 1, 1, 5);
        world_add_input(0, COHORT__WAIT_SEVERAL, 0x10000 + 0x10 * (i + 1));
    }
    CHECK_CONTAINS(world_say(), "\n    it needs one future\n      it needs one future\n");
    CHECK_CONTAINS(world_say_by(status_json), "\"combinator\": \"0x10000\"");
    free(inputs);
    free(listed);
}

TEST(scope)
{
    world_begin(1);
    world_add_wait(0, 0x100, GET, COHORT__WAIT_SEVERAL, 0x900, 5);
    world_add_inputs(0, 0x900, 2, 2, 5);
    w.inputs[0][0].scope = 0x70;
    world_add_wait(0, 0x200, LOCK, COHORT__WAIT_MUTEX, 0x100, 5);
    CHECK(!strstr(world_say(), "deadlock")); /* it is in no scope */
    w.waits[0][1].scope = 0x80;
    CHECK(!strstr(world_say(), "deadlock"));
    w.waits[0][1].scope = 0x70; /* the other one runs, which does not help */
    CHECK_CONTAINS(world_say(), "\ndeadlock: each of these tasks waits for the next, the last for "
                                "the first:\n"
                                "  locality 0: in heat+0x20 (task heat+0x800) for the end of a "
                                "scope with 2 tasks left, for 5.0 s\n"
                                "  locality 0: in heat+0x30 (task heat+0x800) for a mutex, for "
                                "5.0 s\n");
    CHECK_CONTAINS(world_say_by(status_json),
                   "\"for\": \"scope\", \"tasks_left\": 2, \"cancelled\": false");
    w.inputs[0][0].num = w.inputs[0][0].wanted = 1;
    w.inputs[0][0].is_cancelled = true;
    CHECK_CONTAINS(world_say(), "for the end of a cancelled scope with 1 task left, for 5.0 s\n");
}

TEST(range)
{
    world_begin(1);
    world_add_wait(0, 0x100, GET, COHORT__WAIT_SEVERAL, 0x900, 5);
    world_add_inputs(0, 0x900, 3, 3, 5);
    w.inputs[0][0].scope = 0x70;
    w.inputs[0][0].is_range = true;
    world_add_wait(0, 0x200, LOCK, COHORT__WAIT_MUTEX, 0x100, 5);
    CHECK(!strstr(world_say(), "deadlock"));
    w.waits[0][1].range = 0x70;
    CHECK(is_certain());
    CHECK_CONTAINS(world_say(), "for the end of a range with 3 parts left, for 5.0 s\n");
    CHECK_CONTAINS(world_say_by(status_json), "\"for\": \"range\", \"parts_left\": 3, \"seconds\"");
}

/* A task that begins after one that awaits it. It is one of those that wait, so the locality, where
 * there are no others, is quiet. */
TEST(has_to_begin)
{
    world_begin(1);
    world_add_group(0, 4, 2, "ring");
    world_add_site(0, 4, 0, 0, 0x100);
    world_add_site(0, 4, 1, 1, 0x100);
    world_add_wait(0, 0x100, GET, COHORT__WAIT_TASK, 0x300, 5);
    world_add_wait(0, 0x300, 0, COHORT__WAIT_SEVERAL, 0x300, 5);
    world_add_inputs(0, 0x300, 1, 1, 5);
    world_add_input(0, COHORT__WAIT_COLLECTIVE, 0x900);
    w.looks[0].num_tasks = 2;
    w.looks[0].num_pendings = 1;
    w.pendings[0][0] = (struct look_pending){.age = second,
                                             .instance = 4,
                                             .future = 0x900,
                                             .number = 1,
                                             .kind = COHORT__WAIT_COLLECTIVE,
                                             .needs_all = true};
    CHECK_CONTAINS(world_say(), "\ndeadlock: each of these tasks waits for the next, the last for "
                                "the first:\n"
                                "  locality 0: in heat+0x20 (task heat+0x800) for a task, for "
                                "5.0 s\n"
                                "  locality 0: to begin the task heat+0x800 for one future, for "
                                "5.0 s\n"
                                "    that is, for a collective of \"ring\", generation 1\n");
    CHECK_CONTAINS(world_say(), "  1 to begin the task heat+0x800 for one future, for 5.0 s\n"
                                "    it is a collective of \"ring\", generation 1\n");
    CHECK_CONTAINS(world_say_by(status_json), "{\"has_to_begin\": true, \"task_function\": ");
    w.looks[0].num_tasks = 3;
    CHECK(is_perhaps());
}
