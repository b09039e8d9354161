/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/timer.h"

#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/stream.h"
#include "tests/support/test.h"

enum { MILLISECOND = 1000000 };

struct story {
    struct cohort__loop *loop;
    struct timer timer;
    unsigned num_messages;
    unsigned num_expired;
    unsigned num_messages_before; /* before that */
};

static void rings(void *context)
{
    struct story *story = context;
    story->num_expired++;
    story->num_messages_before = story->num_messages;
    cohort__loop_stop(story->loop);
}

static void message(void *context, const void *data, size_t bytes)
{
    ((struct story *)context)->num_messages++;
}

static void ended(void *context, cohort_status status)
{
}

static void begin(struct story *story)
{
    *story = (struct story){0};
    CHECK_OK(cohort__loop_create(&story->loop));
    timer_init(&story->timer, story->loop, rings, story);
}

/* As if this process had been stopped for NANOSECONDS. */
static void hold_up(uint64_t nanoseconds)
{
    uint64_t end = cohort__clock_after(nanoseconds);
    while (cohort__clock_now() < end)
        sched_yield();
}

/* Messages that arrived before the time are handled before it, however late the loop runs. */
TEST(listens_first)
{
    static const unsigned char sent[] = {1, 0, 0, 0, 'x'};
    struct story story;
    struct cohort__stream *stream;
    int fds[2];
    begin(&story);
    struct cohort__stream_handlers handlers = {&story, message, ended};
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    CHECK_OK(cohort__stream_open(&stream, story.loop, fds[0], "this test", 10, &handlers));
    for (unsigned round = 1; round <= 3; round++) {
        timer_set(&story.timer, MILLISECOND);
        CHECK_INT(write(fds[1], sent, sizeof(sent)), sizeof(sent));
        hold_up(2 * MILLISECOND);
        cohort__loop_run(story.loop);
        CHECK_INT(story.num_expired, round);
        CHECK_INT(story.num_messages_before, round);
        CHECK(!timer_is_set(&story.timer));
    }
    cohort__stream_close(stream);
    cohort__loop_destroy(story.loop);
    close(fds[1]);
}

/* The timer is set again, to a later and to an earlier time. */
TEST(set_again)
{
    const uint64_t hour = UINT64_C(3600000) * MILLISECOND;
    struct story story;
    begin(&story);
    uint64_t start = cohort__clock_now();
    timer_set(&story.timer, 1);
    timer_set(&story.timer, 5 * MILLISECOND);
    cohort__loop_run(story.loop);
    CHECK(cohort__clock_now() - start >= 5 * MILLISECOND);
    timer_set(&story.timer, hour);
    timer_set(&story.timer, MILLISECOND);
    cohort__loop_run(story.loop);
    CHECK_INT(story.num_expired, 2);
    cohort__loop_destroy(story.loop);
}

TEST(clear)
{
    struct story story;
    begin(&story);
    timer_set(&story.timer, MILLISECOND);
    CHECK(timer_is_set(&story.timer));
    timer_clear(&story.timer);
    CHECK(!timer_is_set(&story.timer));
    cohort__loop_run(story.loop); /* only the timer could keep the loop running */
    CHECK_INT(story.num_expired, 0);
    cohort__loop_destroy(story.loop);
}
