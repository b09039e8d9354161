/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/trace/blame.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/ledger_format.h"
#include "tests/support/test.h"
#include "tools/trace/absent.h"
#include "tools/trace/sums.h"

/* Traces that are made up, of localities with a thread each, and what is to follow from them. */

static struct event events[200];
static struct trace trace;
static struct model model;
static struct locality localities[4];

static void begin(void)
{
    trace = (struct trace){.events = events, .localities = localities, .num_localities = 4};
    memset(trace.needs, COHORT__TRACE_NEEDS_ALL, sizeof(trace.needs));
}

static struct event *add(uint64_t at, uint32_t rank, enum cohort__trace_kind kind, uint64_t value,
                         uint64_t a)
{
    struct event *event = &events[trace.num++];
    *event = (struct event){
        .at = at, .rank = rank, .kind = kind, .value = value, .a = a, .text = "", .from = ""};
    return event;
}

static void begin_task(uint64_t at, uint32_t rank, const char *function)
{
    add(at, rank, COHORT__TRACE_BEGIN, 0, 0)->text = function;
}

static void endpoint(uint32_t rank, uint32_t num_sites)
{
    struct event *event = add(0, rank, COHORT__TRACE_ENDPOINT, 50, 900);
    event->b = rank | (uint64_t)num_sites << 32;
    event->text = "halo";
}

/* A site a locality; all of one task. */
static void begin_sites(uint32_t num)
{
    begin();
    for (uint32_t rank = 0; rank < num; rank++) {
        endpoint(rank, num);
        begin_task(1, rank, "site");
    }
}

static struct event *call(uint64_t at, uint32_t rank, uint64_t generation)
{
    struct event *event = add(at, rank, COHORT__TRACE_CALL, 50, generation);
    event->text = "barrier linear";
    return event;
}

/* Suspends at BEGIN, is woken by the end of GENERATION at WOKEN, and goes on at END. By time, so
 * events of several are added by the caller in turn. */
static void suspend(uint64_t at, uint32_t rank)
{
    add(at, rank, COHORT__TRACE_SUSPEND, 70 + rank, 16 + COHORT__WAIT_COLLECTIVE);
}

/* A step of a call begins or is over: PEER is the other site. */
static void step(uint64_t at, uint32_t rank, enum cohort__trace_kind kind,
                 enum cohort__trace_step what, uint32_t peer)
{
    struct event *event = add(at, rank, kind, 50, 1);
    event->small = (uint8_t)(what | 1 << 4);
    event->b = peer | UINT64_C(2) << 60;
}

static void end_call(uint64_t at, uint32_t rank, uint64_t generation)
{
    add(at, rank, COHORT__TRACE_ENDED, 50, generation);
    add(at, rank, COHORT__TRACE_WAKE, 70 + rank, 0);
}

/* By a deadline, a cancel or a death. */
static void fail_call(uint64_t at, uint32_t rank, uint64_t generation)
{
    end_call(at, rank, generation);
    events[trace.num - 2].small = (uint8_t)COHORT_ERR_TIMEOUT;
}

static void resume(uint64_t at, uint32_t rank)
{
    add(at, rank, COHORT__TRACE_RESUME, 70 + rank, 0);
}

static uint64_t made[8], by[BLAME_KINDS];
static uint32_t missing_site;
static struct sums sums;

static void note(void *context, const struct blame *blame)
{
    by[blame->kind] += blame->ns;
    if (blame->kind == BLAME_TASK)
        made[model.tasks[blame->task].rank] += blame->ns;
    if (blame->kind == BLAME_MISSING)
        missing_site = blame->site;
}

/* Whom the first wait of locality RANK was for. */
static void blame_first(uint32_t rank, bool directly)
{
    memset(made, 0, sizeof(made));
    memset(by, 0, sizeof(by));
    for (uint32_t i = 0; i < model.num_waits; i++)
        if (model.waits[i].rank == rank) {
            blame_wait(&model, i, directly, note, NULL);
            return;
        }
    CHECK(!"no wait");
}

static void finish(void)
{
    CHECK_OK(model_init(&model, &trace));
}

static void sum_up(void)
{
    CHECK_OK(sums_init(&sums, &model, &(struct sums_options){.to = UINT64_MAX}));
}

/* Site 2 comes 200 later than site 0, and all are through 10 after that. */
TEST(straggler)
{
    begin_sites(3);
    call(100, 0, 1);
    suspend(101, 0);
    call(150, 1, 1);
    suspend(151, 1);
    call(300, 2, 1);
    suspend(301, 2);
    for (uint32_t rank = 0; rank < 3; rank++)
        end_call(310, rank, 1);
    for (uint32_t rank = 0; rank < 3; rank++)
        resume(315, rank);
    add(400, 0, COHORT__TRACE_END, 0, 0);
    finish();
    blame_first(0, false);
    CHECK_INT(made[2], 199);
    CHECK_INT(made[1], 0);
    CHECK_INT(by[BLAME_OPERATION], 10);
    CHECK_INT(by[BLAME_QUEUE], 5);
    blame_first(2, false); /* the last one itself */
    CHECK_INT(by[BLAME_TASK], 0);
    CHECK_INT(by[BLAME_OPERATION], 9);
    sum_up();
    CHECK_INT(sums.num_pairs, 2);
    CHECK_INT(sums.pairs[0].ns, 199);
    CHECK_INT(sums.pairs[1].ns, 149);
    CHECK_INT(sums.num_calls, 1);
    CHECK_INT(sums.calls[0].last_site, 2);
    CHECK_INT(sums.calls[0].late, 348);
    CHECK_INT(sums.waited, 214 + 164 + 14);
    sums_fini(&sums);
    CHECK_OK(sums_init(&sums, &model, &(struct sums_options){.from = 140, .to = 160}));
    CHECK_INT(sums.num_pairs, 2); /* what lies between these times */
    CHECK_INT(sums.pairs[0].ns, 20);
    CHECK_INT(sums.pairs[1].ns, 9);
    CHECK_INT(sums.calls[0].num, 1);
    CHECK_INT(sums.waited, 29);
    sums_fini(&sums);
    CHECK_OK(sums_init(&sums, &model, &(struct sums_options){.from = 316, .to = 400}));
    CHECK_INT(sums.num_pairs + sums.num_calls + sums.waited, 0);
    sums_fini(&sums);
    model_fini(&model);
}

/* Whose call counts, by what the collective needs: site 3 is last, then 2, 1, 0. */
TEST(needs)
{
    static const struct {
        enum cohort__trace_needs needs;
        uint32_t place, rank, last;
    } rows[] = {
        {COHORT__TRACE_NEEDS_ALL, 0, 0, 3},         {COHORT__TRACE_NEEDS_ALL_AT_ROOT, 1, 1, 3},
        {COHORT__TRACE_NEEDS_ALL_AT_ROOT, 1, 0, 0}, {COHORT__TRACE_NEEDS_ROOT, 2, 0, 2},
        {COHORT__TRACE_NEEDS_ROOT, 0, 3, 3},        {COHORT__TRACE_NEEDS_LOWER, 0, 2, 2},
        {COHORT__TRACE_NEEDS_SOURCE, 1, 0, 3},      {COHORT__TRACE_NEEDS_SOURCE, 2, 0, 2},
        {COHORT__TRACE_NEEDS_ITSELF, 0, 0, 0},
    };
    for (size_t i = 0; i < NUM_OF(rows); i++) {
        begin_sites(4);
        memset(trace.needs, rows[i].needs, sizeof(trace.needs));
        for (uint32_t rank = 0; rank < 4; rank++)
            call(100 + rank, rank, 1)->d = rows[i].place;
        finish();
        CHECK_INT(model.calls[model_last(&model, rows[i].rank, 1000)].site, rows[i].last);
        CHECK_INT(model_last(&model, 0, 100), 0); /* before the others have called */
        model_fini(&model);
    }
}

/* A broadcast down a chain, from site 0 by 1 and 2 to 3. The root is early, site 2 late. Site 1 has
 * nothing to do with it, nor has site 4, from which site 2 gets something when it has sent. */
TEST(relay)
{
    begin_sites(5);
    memset(trace.needs, COHORT__TRACE_NEEDS_ROOT, sizeof(trace.needs));
    call(100, 0, 1);
    step(101, 0, COHORT__TRACE_STEP, COHORT__TRACE_STEP_SEND, 1);
    call(110, 3, 1);
    step(111, 3, COHORT__TRACE_STEP, COHORT__TRACE_STEP_RECEIVE, 2);
    suspend(112, 3);
    call(120, 1, 1);
    step(121, 1, COHORT__TRACE_STEP, COHORT__TRACE_STEP_RECEIVE, 0);
    step(122, 1, COHORT__TRACE_OVER, COHORT__TRACE_STEP_RECEIVE, 0);
    step(123, 1, COHORT__TRACE_STEP, COHORT__TRACE_STEP_SEND, 2);
    suspend(124, 1);
    end_call(125, 1, 1);
    resume(126, 1);
    call(300, 2, 1);
    step(301, 2, COHORT__TRACE_STEP, COHORT__TRACE_STEP_RECEIVE, 1);
    step(302, 2, COHORT__TRACE_OVER, COHORT__TRACE_STEP_RECEIVE, 1);
    step(303, 2, COHORT__TRACE_STEP, COHORT__TRACE_STEP_SEND, 3);
    step(303, 2, COHORT__TRACE_STEP, COHORT__TRACE_STEP_RECEIVE, 4);
    call(304, 4, 1);
    step(305, 4, COHORT__TRACE_STEP, COHORT__TRACE_STEP_SEND, 2);
    step(306, 2, COHORT__TRACE_OVER, COHORT__TRACE_STEP_RECEIVE, 4);
    step(310, 3, COHORT__TRACE_OVER, COHORT__TRACE_STEP_RECEIVE, 2);
    end_call(311, 3, 1);
    resume(312, 3);
    finish();
    blame_first(3, false);
    CHECK_INT(made[2], 300 - 112);
    CHECK_INT(by[BLAME_OPERATION], 11);
    blame_first(1, false);
    CHECK_INT(by[BLAME_TASK], 0);
    CHECK_INT(by[BLAME_OPERATION], 1);
    model_fini(&model);
}

/* The same where notes are read, and where sites meet: 1 waits for 0. One on another host meets
 * others. */
TEST(notes_and_meetings)
{
    for (int is_meeting = 0; is_meeting < 2; is_meeting++) {
        enum cohort__trace_step in = is_meeting ? COHORT__TRACE_STEP_MEET : COHORT__TRACE_STEP_READ,
                                out =
                                    is_meeting ? COHORT__TRACE_STEP_MEET : COHORT__TRACE_STEP_POST;
        begin_sites(3);
        for (uint32_t rank = 0; rank < 3; rank++)
            localities[rank] = (struct locality){.rank = rank, .host = rank == 2};
        memset(trace.needs, COHORT__TRACE_NEEDS_ITSELF, sizeof(trace.needs));
        call(100, 1, 1);
        step(101, 1, COHORT__TRACE_STEP, in, 0);
        suspend(102, 1);
        call(200, 0, 1);
        step(201, 0, COHORT__TRACE_STEP, out, 0);
        call(205, 2, 1);
        step(206, 2, COHORT__TRACE_STEP, out, 0);
        step(210, 1, COHORT__TRACE_OVER, in, 0);
        end_call(211, 1, 1);
        resume(212, 1);
        finish();
        blame_first(1, false);
        CHECK_INT(made[0], 200 - 102);
        CHECK_INT(made[2], 0);
        model_fini(&model);
    }
    memset(localities, 0, sizeof(localities));
}

/* An exchange: only those that are waited for, and not others with the same digits. */
TEST(from)
{
    begin_sites(4);
    call(100, 0, 1)->from = "1 22";
    for (uint32_t rank = 1; rank < 4; rank++)
        call(100 + rank, rank, 1);
    finish();
    CHECK_INT(model.calls[model_last(&model, 0, 1000)].site, 1);
    struct absent absent;
    CHECK(absent_find(&model, 0, 100, &absent));
    CHECK(!absent_find(&model, 0, 101, &absent));
    model_fini(&model);
}

/* 0 exchanges with 1 and 2, both of which have called; 1 has left out its block for 0, and waits
 * for 0 in its next call. It is to blame, whether the call of 0 fails or the trace ends before. */
TEST(left_out)
{
    for (int ends = 0; ends < 2; ends++) {
        begin_sites(3);
        for (uint32_t rank = 0; rank < 3; rank++)
            call(100, rank, 1)->from = rank == 0 ? "1 2" : rank == 1 ? "2" : "0";
        step(110, 0, COHORT__TRACE_STEP, COHORT__TRACE_STEP_RECEIVE, 1);
        step(110, 0, COHORT__TRACE_STEP, COHORT__TRACE_STEP_RECEIVE, 2);
        step(110, 0, COHORT__TRACE_STEP, COHORT__TRACE_STEP_SEND, 1);
        step(110, 1, COHORT__TRACE_STEP, COHORT__TRACE_STEP_SEND, 2);
        step(110, 2, COHORT__TRACE_STEP, COHORT__TRACE_STEP_SEND, 0);
        step(120, 0, COHORT__TRACE_OVER, COHORT__TRACE_STEP_RECEIVE, 2);
        end_call(120, 1, 1);
        suspend(130, 0);
        call(130, 1, 2);
        suspend(130, 1);
        if (ends) {
            fail_call(300, 0, 1);
            resume(310, 0);
        } else {
            add(310, 0, COHORT__TRACE_END, 0, 0);
        }
        finish();
        blame_first(0, false);
        CHECK_INT(made[1], ends ? 170 : 180);
        CHECK_INT(made[0] + made[2], 0);
        CHECK_INT(by[BLAME_OUTSIDE], 0);
        sum_up();
        CHECK_INT(sums.num_calls, 1);
        CHECK_INT(sums.calls[0].last_site, NONE);
        sums_fini(&sums);
        model_fini(&model);
    }
}

/* 1 was late since it waited for 2: in the end it is 2's. */
TEST(charged_on)
{
    begin_sites(3);
    memset(trace.needs, COHORT__TRACE_NEEDS_ITSELF, sizeof(trace.needs));
    call(100, 1, 1)->from = "2";
    suspend(100, 1);
    call(100, 0, 2)->from = "1";
    suspend(100, 0);
    call(250, 2, 1);
    end_call(260, 1, 1);
    resume(270, 1);
    call(290, 1, 2);
    end_call(300, 0, 2);
    resume(300, 0);
    finish();
    blame_first(0, true);
    CHECK_INT(made[1], 190);
    CHECK_INT(made[2], 0);
    blame_first(0, false);
    CHECK_INT(made[2], 150);
    CHECK_INT(made[1], 20);
    CHECK_INT(by[BLAME_OPERATION], 10 + 10);
    CHECK_INT(by[BLAME_QUEUE], 10);
    model_fini(&model);
}

/* Who is late since it sleeps, is late itself. */
TEST(sleeps)
{
    begin_sites(2);
    call(100, 0, 1);
    suspend(100, 0);
    add(110, 1, COHORT__TRACE_SUSPEND, 71, 16 + COHORT__WAIT_OUTSIDE);
    add(190, 1, COHORT__TRACE_WAKE, 71, 0);
    resume(190, 1);
    call(200, 1, 1);
    end_call(200, 0, 1);
    resume(200, 0);
    finish();
    blame_first(0, false);
    CHECK_INT(made[1], 100);
    blame_first(1, false);
    CHECK_INT(by[BLAME_OUTSIDE], 80);
    model_fini(&model);
}

/* A function of cohort_blocking is to blame, but not a task that has ended on the thread of a
 * timer.
 */
TEST(blocking)
{
    begin();
    begin_task(10, 0, "caller");
    add(100, 0, COHORT__TRACE_SUSPEND, 70, 16 + COHORT__WAIT_OUTSIDE);
    begin_task(110, 0, "blocking");
    events[trace.num - 1].small = 2;
    events[trace.num - 1].thread = 1;
    add(150, 0, COHORT__TRACE_END, 0, 0)->thread = 1;
    add(150, 0, COHORT__TRACE_WAKE, 70, 0)->thread = 1;
    resume(160, 0);
    add(200, 0, COHORT__TRACE_SUSPEND, 70, 16 + COHORT__WAIT_OUTSIDE);
    begin_task(210, 0, "other");
    add(220, 0, COHORT__TRACE_END, 0, 0);
    add(250, 0, COHORT__TRACE_WAKE, 70, 0);
    resume(250, 0);
    finish();
    blame_first(0, false);
    CHECK_INT(by[BLAME_TASK], 50);
    CHECK_INT(by[BLAME_QUEUE], 10);
    CHECK_INT(model.waits[0].by, 1);
    CHECK_INT(model.waits[1].cause, CAUSE_OUTSIDE);
    model_fini(&model);
}

/* A message: until it was sent by the task that sends it. */
TEST(message)
{
    begin_sites(2);
    suspend(100, 0);
    add(180, 1, COHORT__TRACE_SENT, 0, 5);
    add(200, 0, COHORT__TRACE_RECEIVED, 1, 5);
    add(201, 0, COHORT__TRACE_WAKE, 70, 0);
    resume(205, 0);
    finish();
    blame_first(0, false);
    CHECK_INT(made[1], 80);
    CHECK_INT(by[BLAME_MESSAGE], 21);
    CHECK_INT(by[BLAME_QUEUE], 4);
    model_fini(&model);
}

/* One that is sent later by the loop is that of the task before, until it left. */
TEST(late_message)
{
    begin_sites(2);
    suspend(100, 0);
    add(150, 1, COHORT__TRACE_SUSPEND, 71, 16 + COHORT__WAIT_OUTSIDE);
    add(180, 1, COHORT__TRACE_SENT, 0, 5);
    add(200, 0, COHORT__TRACE_RECEIVED, 1, 5);
    add(201, 0, COHORT__TRACE_WAKE, 70, 0);
    resume(201, 0);
    finish();
    blame_first(0, false);
    CHECK_INT(made[1], 50);
    CHECK_INT(by[BLAME_MESSAGE], 51);
    model_fini(&model);
}

/* The end of a task; and a wake-up that is written before the suspension. */
TEST(task)
{
    begin();
    begin_task(10, 0, "outer");
    suspend(100, 0);
    begin_task(110, 0, "inner");
    add(150, 0, COHORT__TRACE_END, 0, 0);
    add(150, 0, COHORT__TRACE_WAKE, 70, 0);
    resume(160, 0);
    begin_task(160, 1, "waker");
    add(170, 1, COHORT__TRACE_WAKE, 70, 0)->rank = 0;
    events[trace.num - 1].thread = 1;
    suspend(180, 0);
    resume(190, 0);
    finish();
    CHECK_INT(model.num_waits, 2);
    blame_first(0, false);
    CHECK_INT(by[BLAME_TASK], 50);
    CHECK_INT(by[BLAME_QUEUE], 10);
    CHECK_INT(model.waits[0].by, 1);
    CHECK_INT(model.waits[1].begin, 180);
    CHECK_INT(model.waits[1].woken, 180);
    CHECK_INT(model.tasks[0].num_waits, 2);
    model_fini(&model);
}

/* What has no end. */
TEST(missing)
{
    begin_sites(2);
    call(100, 0, 1);
    suspend(100, 0);
    add(500, 1, COHORT__TRACE_END, 0, 0);
    finish();
    blame_first(0, false);
    CHECK_INT(by[BLAME_MISSING], 400);
    CHECK_INT(missing_site, 1);
    sum_up();
    CHECK_INT(sums.num_pairs, 1);
    CHECK_INT(sums.pairs[0].maker, 1);
    CHECK_INT(sums.pairs[0].ns, 400);
    CHECK_INT(sums.num_absent, 1);
    CHECK_INT(sums.absent[0].rank, 1);
    CHECK_INT(sums.calls[0].late, 400);
    CHECK_INT(sums.calls[0].last_site, NONE);
    sums_fini(&sums);
    model_fini(&model);
}

/* A deadline: site 2 calls when the others have given up. */
TEST(deadline)
{
    begin_sites(3);
    call(100, 0, 1);
    suspend(101, 0);
    call(150, 1, 1);
    suspend(151, 1);
    fail_call(300, 0, 1);
    resume(305, 0);
    fail_call(350, 1, 1);
    resume(350, 1);
    call(400, 2, 1);
    suspend(401, 2);
    fail_call(410, 2, 1);
    resume(410, 2);
    finish();
    blame_first(0, false);
    CHECK_INT(made[2], 199);
    CHECK_INT(made[1], 0);
    CHECK_INT(by[BLAME_OPERATION], 0);
    CHECK_INT(by[BLAME_QUEUE], 5);
    blame_first(1, false);
    CHECK_INT(made[2], 199);
    blame_first(2, false); /* all others had called */
    CHECK_INT(by[BLAME_TASK], 0);
    CHECK_INT(by[BLAME_OPERATION], 9);
    sum_up();
    CHECK_INT(sums.calls[0].late, 398);
    CHECK_INT(sums.calls[0].last_site, 2);
    CHECK_INT(sums.num_absent, 0);
    sums_fini(&sums);
    model_fini(&model);
}

/* An error although all had called by then, in the meantime: as if it had none. */
TEST(failed_late)
{
    begin_sites(2);
    call(100, 0, 1);
    suspend(100, 0);
    call(200, 1, 1);
    fail_call(300, 0, 1);
    resume(300, 0);
    finish();
    blame_first(0, false);
    CHECK_INT(made[1], 100);
    CHECK_INT(by[BLAME_OPERATION], 100);
    model_fini(&model);
}

/* Sites 1 and 4 call later, 2 and 3 never: the lowest of these is charged, both are named. The
 * calls of two generations are one line. */
TEST(died)
{
    begin_sites(5);
    for (uint64_t i = 1; i < 3; i++) {
        call(1000 * i, 0, i);
        suspend(1000 * i, 0);
        fail_call(1000 * i + 500, 0, i);
        resume(1000 * i + 500, 0);
        call(1000 * i + 600, 1, i);
        call(1000 * i + 610, 4, i);
    }
    finish();
    blame_first(0, false);
    CHECK_INT(by[BLAME_MISSING], 500);
    CHECK_INT(missing_site, 2);
    sum_up();
    CHECK_INT(sums.num_pairs, 1);
    CHECK_INT(sums.pairs[0].maker, 2);
    CHECK_INT(sums.pairs[0].ns, 1000);
    CHECK_INT(sums.by[BLAME_MISSING], 1000);
    CHECK_INT(sums.num_absent, 2);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_INT(sums.absent[i].site, 2 + i);
        CHECK_INT(sums.absent[i].rank, 2 + i);
        CHECK_INT(sums.absent[i].first, 1);
        CHECK_INT(sums.absent[i].last, 2);
        CHECK_INT(sums.absent[i].ns, 1000);
    }
    CHECK_INT(sums.calls[0].last_site, NONE);
    sums_fini(&sums);
    model_fini(&model);
}

/* All have called later: the last one is to blame. */
TEST(given_up)
{
    begin_sites(4);
    call(100, 0, 1);
    suspend(100, 0);
    fail_call(200, 0, 1);
    resume(200, 0);
    call(300, 1, 1);
    call(310, 3, 1);
    call(320, 2, 1);
    finish();
    blame_first(0, false);
    CHECK_INT(made[2], 100);
    CHECK_INT(made[1] + made[3], 0);
    model_fini(&model);
}

/* A site whose locality is not in the trace has a name, too. */
TEST(no_locality)
{
    begin();
    endpoint(0, 2);
    begin_task(1, 0, "site");
    call(100, 0, 1);
    suspend(100, 0);
    fail_call(200, 0, 1);
    resume(200, 0);
    finish();
    sum_up();
    CHECK_INT(sums.num_pairs, 0);
    CHECK_INT(sums.num_absent, 1);
    CHECK_INT(sums.absent[0].site, 1);
    CHECK_INT(sums.absent[0].rank, NONE);
    CHECK_INT(sums.calls[0].last_site, NONE);
    sums_fini(&sums);
    model_fini(&model);
}

/* Only the root is needed, and it has called: it is the relay, site 1 before 2, which has not. What
 * site 3 has got is over. */
TEST(absent_relay)
{
    begin_sites(5);
    memset(trace.needs, COHORT__TRACE_NEEDS_ROOT, sizeof(trace.needs));
    call(100, 0, 1);
    call(110, 3, 1);
    step(111, 3, COHORT__TRACE_STEP, COHORT__TRACE_STEP_RECEIVE, 4);
    step(111, 3, COHORT__TRACE_OVER, COHORT__TRACE_STEP_RECEIVE, 4);
    step(112, 3, COHORT__TRACE_STEP, COHORT__TRACE_STEP_RECEIVE, 2);
    suspend(112, 3);
    call(120, 2, 1);
    step(121, 2, COHORT__TRACE_STEP, COHORT__TRACE_STEP_RECEIVE, 1);
    fail_call(312, 3, 1);
    resume(312, 3);
    call(400, 1, 1);
    finish();
    blame_first(3, false);
    CHECK_INT(made[1], 200);
    CHECK_INT(by[BLAME_OPERATION] + by[BLAME_MISSING], 0);
    model_fini(&model);
}

/* Two calls of which each waits for the other's site, which waits in the other call. */
TEST(circle)
{
    begin_sites(2);
    call(100, 0, 1);
    suspend(100, 0);
    call(100, 1, 2);
    suspend(100, 1);
    fail_call(200, 0, 1);
    resume(200, 0);
    fail_call(200, 1, 2);
    resume(200, 1);
    call(300, 0, 2);
    call(300, 1, 1);
    finish();
    blame_first(0, false);
    CHECK_INT(made[0] + made[1], 100);
    model_fini(&model);
}
