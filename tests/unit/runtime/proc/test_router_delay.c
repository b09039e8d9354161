/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/router.h"

#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/fault.h"
#include "runtime/proc/peer.h"
#include "runtime/task/scheduler.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/fake_net.h"

enum { MESSAGES = 8 };

static struct fake_net fake;
static struct cohort__timer *timers[MESSAGES];
static int num_timers;
static bool is_up = true;
static unsigned char got[2 * MESSAGES];
static int num_got;

/* Called instead of the real function (--wrap): the test says when they expire. */
bool __wrap_cohort__scheduler_timer(struct cohort__timer *timer, uint64_t deadline)
{
    uint64_t now = cohort__clock_now();
    CHECK(deadline > now && deadline <= now + 5000000);
    if (is_up)
        timers[num_timers++] = timer;
    return is_up;
}

static void on_message(void *context, struct cohort__arrival *arrival)
{
    CHECK_INT(arrival->envelope.payload_bytes, 1);
    got[num_got++] = arrival->data[0];
    cohort__arrival_release(arrival);
}

static void deliver(uint32_t number, enum cohort__kind kind, uint64_t key, uint32_t mark)
{
    unsigned char data[COHORT__ENVELOPE_BYTES + 1];
    bool is_data = kind == COHORT__KIND_DATA;
    cohort__envelope_encode(&(struct cohort__envelope){.kind = kind,
                                                       .job_key = key,
                                                       .epoch = FAKE_EPOCH,
                                                       .source_locality = 1,
                                                       .number = number,
                                                       .payload_bytes = is_data},
                            data);
    data[COHORT__ENVELOPE_BYTES] = (unsigned char)mark;
    fake_net_deliver_bytes(&fake, data, COHORT__ENVELOPE_BYTES + is_data);
}

static void open_all(struct cohort__fault *fault, const char *text)
{
    num_timers = num_got = 0;
    fault->rank = 0;
    CHECK_OK(cohort__fault_plan_read(text, &fault->plan));
    fake_net_open_faulty(&fake, fault);
    cohort__process_set_handlers(fake.process,
                                 &(struct cohort__process_handlers){.message = on_message});
}

/* Which messages are late is known from the seed. Others overtake them; then they come whole. So
 * many CREDITs come before each of them, which change nothing. */
static void overtake(uint32_t num_credits)
{
    struct cohort__fault fault;
    int num_late = 0, num_early = 0, last = 0;
    uint32_t number = 0;
    unsigned char want[MESSAGES];
    open_all(&fault, "seed:3,delay:50%:5ms");
    for (uint32_t i = 0; i < MESSAGES; i++)
        num_late += cohort__fault_delays(&fault, 1, i + 1);
    CHECK(num_late > 1 && num_late < MESSAGES - 1);
    last = MESSAGES - num_late;
    for (uint32_t i = 0; i < MESSAGES; i++)
        want[cohort__fault_delays(&fault, 1, i + 1) ? last++ : num_early++] = (unsigned char)i;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        for (uint32_t k = 0; k < num_credits; k++)
            deliver(number++, COHORT__KIND_CREDIT, FAKE_JOB_KEY, 0);
        deliver(number++, COHORT__KIND_DATA, FAKE_JOB_KEY, i);
    }
    CHECK_INT(fake.num_messages, 0); /* none of the transport's is kept */
    CHECK_INT(num_got, MESSAGES - num_late);
    CHECK_INT(num_timers, num_late);
    CHECK_INT(cohort__process_traffic(fake.process).received, MESSAGES - num_late);
    for (int i = 0; i < num_late; i++)
        timers[i]->expired(timers[i]);
    CHECK(memcmp(got, want, MESSAGES) == 0);
    CHECK_INT(num_got, MESSAGES);
    CHECK_INT(cohort__process_traffic(fake.process).received, MESSAGES);
    CHECK_INT(cohort__process_dropped(fake.process), 0);
    fake_net_close(&fake);
}

static void test_overtaken(void)
{
    overtake(0);
    overtake(1);
    overtake(3);
}

/* What is no message of this job's, and what gives credit, is handled at once. So is everything
 * while there is no loop that could wait. */
static void test_at_once(void)
{
    struct cohort__fault fault;
    open_all(&fault, "delay:100%:5ms");
    deliver(0, COHORT__KIND_CREDIT, FAKE_JOB_KEY, 0);
    deliver(1, COHORT__KIND_DATA, FAKE_JOB_KEY + 1, 0);
    CHECK_INT(num_timers, 0);
    CHECK_INT(cohort__process_dropped(fake.process), 1);
    is_up = false;
    deliver(1, COHORT__KIND_DATA, FAKE_JOB_KEY, 0);
    CHECK_INT(num_got, 1);
    is_up = true;
    CHECK_INT(cohort__process_dropped(fake.process), 1);
    fake_net_close(&fake);
}

/* What is late when the process stops never comes, but is freed when its timer ends. */
static void test_stopped(void)
{
    struct cohort__fault fault;
    open_all(&fault, "delay:100%:5ms");
    for (uint32_t i = 0; i < 3; i++)
        deliver(i, COHORT__KIND_DATA, FAKE_JOB_KEY, i);
    CHECK_INT(num_timers, 3);
    timers[1]->expired(timers[1]);
    CHECK_INT(num_got, 1);
    fake_net_close(&fake);
    timers[0]->expired(timers[0]);
    timers[2]->expired(timers[2]);
    CHECK_INT(num_got, 1);
}

int main(void)
{
    test_overtaken();
    test_at_once();
    test_stopped();
    return 0;
}
