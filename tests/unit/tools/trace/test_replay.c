/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/trace/replay.h"

#include <string.h>

#include "tests/support/test.h"

static struct replay replay;
static struct seen last; /* what was told of the last event */
static uint32_t depth;   /* of its thread then */
static bool is_over;     /* its generation */

static void tell(void *context, const struct event *event, const struct seen *seen)
{
    last = *seen;
    depth = seen->thread->stack.num;
    is_over = seen->generation && replay_is_over(seen->generation);
}

static void add(uint32_t thread, enum cohort__trace_kind kind, uint64_t value, uint64_t a,
                uint64_t b)
{
    static uint64_t at;
    CHECK(replay_add(&replay, &(struct event){.at = ++at,
                                              .thread = thread,
                                              .kind = kind,
                                              .value = value,
                                              .a = a,
                                              .b = b,
                                              .text = "some",
                                              .from = ""}));
}

/* Two tasks, of which one runs in place of an await of the other, wait and go on elsewhere. */
TEST(stacks)
{
    replay_init(&replay, tell, NULL);
    add(0, COHORT__TRACE_BEGIN, 0, 0, 0);
    add(0, COHORT__TRACE_BEGIN, 0, 0, 0);
    CHECK_INT(depth, 2);
    add(1, COHORT__TRACE_WAKE, 7, 0, 0); /* before it waits */
    CHECK_INT(last.wait->number, NONE);
    CHECK_INT(last.wait->running, NONE);
    add(0, COHORT__TRACE_SUSPEND, 7, 0, 0);
    CHECK_INT(depth, 0);
    CHECK_INT(last.wait->number, 0);
    CHECK(last.wait->is_woken);
    CHECK_INT(replay_top(&last.wait->stack), 1);
    CHECK_INT(last.thread->left, 1);
    add(1, COHORT__TRACE_RESUME, 7, 0, 0);
    CHECK_INT(depth, 2);
    add(1, COHORT__TRACE_END, 0, 0, 0);
    CHECK_INT(last.ended, 1);
    add(1, COHORT__TRACE_END, 0, 0, 0);
    CHECK_INT(last.ended, 0);
    CHECK_INT(last.thread->deed.ended, 0);
    add(1, COHORT__TRACE_END, 0, 0, 0); /* of what was lost */
    CHECK_INT(last.ended, NONE);
    CHECK_INT(replay.waits.num_nodes, 0);
    replay_fini(&replay);
}

static void endpoint(uint64_t address, uint64_t instance, uint64_t site, uint64_t num_sites)
{
    add(0, COHORT__TRACE_ENDPOINT, address, instance, site | num_sites << 32);
}

/* What is over is forgotten. */
TEST(calls)
{
    replay_init(&replay, tell, NULL);
    endpoint(50, 900, 0, 2);
    endpoint(60, 900, 1, 2);
    add(0, COHORT__TRACE_CALL, 50, 1, 0);
    CHECK_INT(last.call->number, 0);
    add(0, COHORT__TRACE_ENDED, 50, 1, 0);
    CHECK(!is_over);
    add(1, COHORT__TRACE_CALL, 60, 1, 0);
    CHECK_INT(last.call->number, 1);
    CHECK_INT(last.generation->number, 0);
    CHECK_INT(last.generation->num_called, 2);
    CHECK_INT(last.generation->arrivals[1].site, 1);
    add(1, COHORT__TRACE_STEP, 60, 1, 0);
    CHECK(last.call->phases.of[0].is_used);
    add(1, COHORT__TRACE_ENDED, 60, 1, 0);
    CHECK(is_over);
    CHECK_INT(replay.calls.num_nodes + replay.generations.num_nodes, 0);
    add(1, COHORT__TRACE_ENDED, 60, 1, 0); /* of what was lost */
    CHECK(!last.call);
    CHECK_INT(last.thread->deed.ended, NONE);
    replay_fini(&replay);
}

/* An endpoint has gone with a call under way, and another one has its address. */
TEST(reused)
{
    replay_init(&replay, tell, NULL);
    endpoint(50, 900, 0, 2);
    add(0, COHORT__TRACE_CALL, 50, 1, 0);
    endpoint(50, 901, 0, 1);
    add(0, COHORT__TRACE_ENDED, 50, 1, 0);
    CHECK(last.call && !last.generation);
    add(0, COHORT__TRACE_CALL, 50, 1, 0);
    CHECK_INT(last.generation->number, 1);
    add(0, COHORT__TRACE_ENDED, 50, 1, 0);
    CHECK(is_over);
    CHECK_INT(replay.generations.num_nodes, 1);
    replay_fini(&replay);
}
