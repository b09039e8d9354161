/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/trace/blame.h"

#include <stdio.h>
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

/* What a locality, its site or its task does, and of which kind: of wait, of step, or of error. */
static const struct word {
    const char *word;
    enum cohort__trace_kind kind;
    int what;
} words[] = {
    {"calls", COHORT__TRACE_CALL, 0},
    {"waits", COHORT__TRACE_SUSPEND, COHORT__WAIT_COLLECTIVE},
    {"sleeps", COHORT__TRACE_SUSPEND, COHORT__WAIT_OUTSIDE},
    {"wakes", COHORT__TRACE_WAKE, 0},
    {"resumes", COHORT__TRACE_RESUME, 0},
    {"ends", COHORT__TRACE_ENDED, 0},
    {"fails", COHORT__TRACE_ENDED, COHORT_ERR_TIMEOUT}, /* by a deadline, a cancel or a death */
    {"returns", COHORT__TRACE_END, 0},
    {"writes", COHORT__TRACE_SENT, 0},
    {"gets", COHORT__TRACE_RECEIVED, 0},
    {"sends", COHORT__TRACE_STEP, COHORT__TRACE_STEP_SEND},
    {"receives", COHORT__TRACE_STEP, COHORT__TRACE_STEP_RECEIVE},
    {"received", COHORT__TRACE_OVER, COHORT__TRACE_STEP_RECEIVE},
    {"reads", COHORT__TRACE_STEP, COHORT__TRACE_STEP_READ},
    {"read", COHORT__TRACE_OVER, COHORT__TRACE_STEP_READ},
    {"posts", COHORT__TRACE_STEP, COHORT__TRACE_STEP_POST},
    {"meets", COHORT__TRACE_STEP, COHORT__TRACE_STEP_MEET},
    {"met", COHORT__TRACE_OVER, COHORT__TRACE_STEP_MEET},
};

/* NUMBER: the generation of a call, the peer of a step, or that of a message, which is from
 * locality 1. The end of a call wakes who waits for it. */
static void add_word(uint64_t at, uint32_t rank, const struct word *word, uint64_t number)
{
    const bool is_step = word->kind == COHORT__TRACE_STEP || word->kind == COHORT__TRACE_OVER;
    const uint64_t task = 70 + rank;
    if (word->kind == COHORT__TRACE_CALL) {
        call(at, rank, number);
    } else if (is_step) {
        struct event *event = add(at, rank, word->kind, 50, 1);
        event->small = (uint8_t)(word->what | 1 << 4);
        event->b = number | UINT64_C(2) << 60;
    } else if (word->kind == COHORT__TRACE_ENDED) {
        add(at, rank, COHORT__TRACE_ENDED, 50, number)->small = (uint8_t)word->what;
        add(at, rank, COHORT__TRACE_WAKE, task, 0);
    } else if (word->kind == COHORT__TRACE_SUSPEND) {
        add(at, rank, word->kind, task, 16 + (uint64_t)word->what);
    } else if (word->kind == COHORT__TRACE_WAKE || word->kind == COHORT__TRACE_RESUME) {
        add(at, rank, word->kind, task, 0);
    } else {
        add(at, rank, word->kind, word->kind == COHORT__TRACE_RECEIVED, number);
    }
}

/* Adds events, which are divided by semicolons: when, which locality, what it does, NUMBER. */
static void play(const char *text)
{
    for (; text; text = strchr(text, ';') ? strchr(text, ';') + 1 : NULL) {
        unsigned long long at, number = 0;
        uint32_t rank;
        char what[16];
        size_t i = 0;
        CHECK(sscanf(text, "%llu %u %15[a-z] %llu", &at, &rank, what, &number) >= 3);
        while (i < NUM_OF(words) && strcmp(words[i].word, what) != 0)
            i++;
        CHECK(i < NUM_OF(words));
        add_word(at, rank, &words[i], number);
    }
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

static void append(char *text, const char *name, uint64_t ns)
{
    if (ns)
        sprintf(text + strlen(text), "%s%s %llu", *text ? ", " : "", name, (unsigned long long)ns);
}

/* Whom the first wait of locality RANK was for: how long for tasks of which locality, and for what
 * else. */
static const char *blame_first(uint32_t rank, bool directly)
{
    static const char *const names[BLAME_KINDS] = {
        [BLAME_OPERATION] = "operation", [BLAME_MESSAGE] = "message", [BLAME_QUEUE] = "queue",
        [BLAME_OUTSIDE] = "outside",     [BLAME_MISSING] = "missing",
    };
    static char text[200];
    memset(made, 0, sizeof(made));
    memset(by, 0, sizeof(by));
    text[0] = 0;
    uint32_t i = 0;
    while (i < model.num_waits && model.waits[i].rank != rank)
        i++;
    CHECK(i < model.num_waits);
    blame_wait(&model, i, directly, note, NULL);
    for (i = 0; i < NUM_OF(made); i++)
        append(text, (char[]){'o', 'f', ' ', (char)('0' + i), 0}, made[i]);
    for (i = BLAME_TASK + 1; i < BLAME_KINDS; i++)
        append(text, names[i], by[i]);
    return text;
}

/* After some last events. */
static void finish(const char *text)
{
    play(text);
    CHECK_OK(model_init(&model, &trace));
}

static void sum_up(void)
{
    CHECK_OK(sums_init(&sums, &model, &(struct sums_options){.to = UINT64_MAX}));
}

#define TEST_MODEL(name) TEST_BETWEEN(name, (void)0, model_fini(&model))

/* Site 2 comes 200 later than site 0, and all are through 10 after that. */
TEST_MODEL(straggler)
{
    begin_sites(3);
    finish("100 0 calls 1; 101 0 waits; 150 1 calls 1; 151 1 waits; 300 2 calls 1; 301 2 waits; "
           "310 0 ends 1; 310 1 ends 1; 310 2 ends 1; 315 0 resumes; 315 1 resumes; "
           "315 2 resumes; 400 0 returns");
    CHECK_TEXT(blame_first(0, false), "of 2 199, operation 10, queue 5");
    CHECK_TEXT(blame_first(2, false), "operation 9, queue 5"); /* the last one itself */
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
        finish(NULL);
        CHECK_INT(model.calls[model_last(&model, rows[i].rank, 1000)].site, rows[i].last);
        CHECK_INT(model_last(&model, 0, 100), 0); /* before the others have called */
        model_fini(&model);
    }
}

/* A broadcast down a chain, from site 0 by 1 and 2 to 3. The root is early, site 2 late. Site 1 has
 * nothing to do with it, nor has site 4, from which site 2 gets something when it has sent. */
TEST_MODEL(relay)
{
    begin_sites(5);
    memset(trace.needs, COHORT__TRACE_NEEDS_ROOT, sizeof(trace.needs));
    finish("100 0 calls 1; 101 0 sends 1; 110 3 calls 1; 111 3 receives 2; 112 3 waits; "
           "120 1 calls 1; 121 1 receives 0; 122 1 received 0; 123 1 sends 2; 124 1 waits; "
           "125 1 ends 1; 126 1 resumes; 300 2 calls 1; 301 2 receives 1; 302 2 received 1; "
           "303 2 sends 3; 303 2 receives 4; 304 4 calls 1; 305 4 sends 2; 306 2 received 4; "
           "310 3 received 2; 311 3 ends 1; 312 3 resumes");
    CHECK_TEXT(blame_first(3, false), "of 2 188, operation 11, queue 1");
    CHECK_TEXT(blame_first(1, false), "operation 1, queue 1");
}

/* The same where notes are read, and where sites meet: 1 waits for 0. One on another host meets
 * others. */
TEST(notes_and_meetings)
{
    for (int is_meeting = 0; is_meeting < 2; is_meeting++) {
        begin_sites(3);
        for (uint32_t rank = 0; rank < 3; rank++)
            localities[rank] = (struct locality){.rank = rank, .host = rank == 2};
        memset(trace.needs, COHORT__TRACE_NEEDS_ITSELF, sizeof(trace.needs));
        play(is_meeting
                 ? "100 1 calls 1; 101 1 meets 0; 102 1 waits; 200 0 calls 1; 201 0 meets 0; "
                   "205 2 calls 1; 206 2 meets 0; 210 1 met 0"
                 : "100 1 calls 1; 101 1 reads 0; 102 1 waits; 200 0 calls 1; 201 0 posts 0; "
                   "205 2 calls 1; 206 2 posts 0; 210 1 read 0");
        finish("211 1 ends 1; 212 1 resumes");
        CHECK_TEXT(blame_first(1, false), "of 0 98, operation 11, queue 1");
        model_fini(&model);
    }
    memset(localities, 0, sizeof(localities));
}

/* An exchange: only those that are waited for, and not others with the same digits. */
TEST_MODEL(from)
{
    begin_sites(4);
    call(100, 0, 1)->from = "1 22";
    for (uint32_t rank = 1; rank < 4; rank++)
        call(100 + rank, rank, 1);
    finish(NULL);
    CHECK_INT(model.calls[model_last(&model, 0, 1000)].site, 1);
    struct absent absent;
    CHECK(absent_find(&model, 0, 100, &absent));
    CHECK(!absent_find(&model, 0, 101, &absent));
}

/* 0 exchanges with 1 and 2, both of which have called; 1 has left out its block for 0, and waits
 * for 0 in its next call. It is to blame, whether the call of 0 fails or the trace ends before. */
TEST(left_out)
{
    for (int ends = 0; ends < 2; ends++) {
        begin_sites(3);
        for (uint32_t rank = 0; rank < 3; rank++)
            call(100, rank, 1)->from = rank == 0 ? "1 2" : rank == 1 ? "2" : "0";
        play("110 0 receives 1; 110 0 receives 2; 110 0 sends 1; 110 1 sends 2; "
             "110 2 sends 0; 120 0 received 2; 120 1 ends 1; 130 0 waits; 130 1 calls 2; "
             "130 1 waits");
        finish(ends ? "300 0 fails 1; 310 0 resumes" : "310 0 returns");
        CHECK_TEXT(blame_first(0, false), ends ? "of 1 170, queue 10" : "of 1 180");
        sum_up();
        CHECK_INT(sums.num_calls, 1);
        CHECK_INT(sums.calls[0].last_site, NONE);
        sums_fini(&sums);
        model_fini(&model);
    }
}

/* 1 was late since it waited for 2: in the end it is 2's. */
TEST_MODEL(charged_on)
{
    begin_sites(3);
    memset(trace.needs, COHORT__TRACE_NEEDS_ITSELF, sizeof(trace.needs));
    call(100, 1, 1)->from = "2";
    play("100 1 waits");
    call(100, 0, 2)->from = "1";
    finish("100 0 waits; 250 2 calls 1; 260 1 ends 1; 270 1 resumes; 290 1 calls 2; "
           "300 0 ends 2; 300 0 resumes");
    CHECK_TEXT(blame_first(0, true), "of 1 190, operation 10");
    CHECK_TEXT(blame_first(0, false), "of 1 20, of 2 150, operation 20, queue 10");
}

/* Who is late since it sleeps, is late itself. */
TEST_MODEL(sleeps)
{
    begin_sites(2);
    finish("100 0 calls 1; 100 0 waits; 110 1 sleeps; 190 1 wakes; 190 1 resumes; "
           "200 1 calls 1; 200 0 ends 1; 200 0 resumes");
    CHECK_TEXT(blame_first(0, false), "of 1 100");
    CHECK_TEXT(blame_first(1, false), "outside 80");
}

/* A function of cohort_blocking is to blame, but not a task that has ended on the thread of a
 * timer.
 */
TEST_MODEL(blocking)
{
    begin();
    begin_task(10, 0, "caller");
    play("100 0 sleeps");
    begin_task(110, 0, "blocking");
    events[trace.num - 1].small = 2;
    events[trace.num - 1].thread = 1;
    add(150, 0, COHORT__TRACE_END, 0, 0)->thread = 1;
    add(150, 0, COHORT__TRACE_WAKE, 70, 0)->thread = 1;
    play("160 0 resumes; 200 0 sleeps");
    begin_task(210, 0, "other");
    finish("220 0 returns; 250 0 wakes; 250 0 resumes");
    CHECK_TEXT(blame_first(0, false), "of 0 50, queue 10");
    CHECK_INT(model.waits[0].by, 1);
    CHECK_INT(model.waits[1].cause, CAUSE_OUTSIDE);
}

/* A message: until it was sent by the task that sends it. */
TEST_MODEL(message)
{
    begin_sites(2);
    finish("100 0 waits; 180 1 writes 5; 200 0 gets 5; 201 0 wakes; 205 0 resumes");
    CHECK_TEXT(blame_first(0, false), "of 1 80, message 21, queue 4");
}

/* One that is sent later by the loop is that of the task before, until it left. */
TEST_MODEL(late_message)
{
    begin_sites(2);
    finish("100 0 waits; 150 1 sleeps; 180 1 writes 5; 200 0 gets 5; 201 0 wakes; 201 0 resumes");
    CHECK_TEXT(blame_first(0, false), "of 1 50, message 51");
}

/* The end of a task; and a wake-up that is written before the suspension. */
TEST_MODEL(task)
{
    begin();
    begin_task(10, 0, "outer");
    play("100 0 waits");
    begin_task(110, 0, "inner");
    play("150 0 returns; 150 0 wakes; 160 0 resumes");
    begin_task(160, 1, "waker");
    add(170, 1, COHORT__TRACE_WAKE, 70, 0)->rank = 0;
    events[trace.num - 1].thread = 1;
    finish("180 0 waits; 190 0 resumes");
    CHECK_INT(model.num_waits, 2);
    CHECK_TEXT(blame_first(0, false), "of 0 50, queue 10");
    CHECK_INT(model.waits[0].by, 1);
    CHECK_INT(model.waits[1].begin, 180);
    CHECK_INT(model.waits[1].woken, 180);
    CHECK_INT(model.tasks[0].num_waits, 2);
}

/* What has no end. */
TEST_MODEL(missing)
{
    begin_sites(2);
    finish("100 0 calls 1; 100 0 waits; 500 1 returns");
    CHECK_TEXT(blame_first(0, false), "missing 400");
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
}

/* A deadline: site 2 calls when the others have given up. */
TEST_MODEL(deadline)
{
    begin_sites(3);
    finish("100 0 calls 1; 101 0 waits; 150 1 calls 1; 151 1 waits; 300 0 fails 1; "
           "305 0 resumes; 350 1 fails 1; 350 1 resumes; 400 2 calls 1; 401 2 waits; "
           "410 2 fails 1; 410 2 resumes");
    CHECK_TEXT(blame_first(0, false), "of 2 199, queue 5");
    CHECK_TEXT(blame_first(1, false), "of 2 199");
    CHECK_TEXT(blame_first(2, false), "operation 9"); /* all others had called */
    sum_up();
    CHECK_INT(sums.calls[0].late, 398);
    CHECK_INT(sums.calls[0].last_site, 2);
    CHECK_INT(sums.num_absent, 0);
    sums_fini(&sums);
}

/* An error although all had called by then, in the meantime: as if it had none. */
TEST_MODEL(failed_late)
{
    begin_sites(2);
    finish("100 0 calls 1; 100 0 waits; 200 1 calls 1; 300 0 fails 1; 300 0 resumes");
    CHECK_TEXT(blame_first(0, false), "of 1 100, operation 100");
}

/* Sites 1 and 4 call later, 2 and 3 never: the lowest of these is charged, both are named. The
 * calls of two generations are one line. */
TEST_MODEL(died)
{
    begin_sites(5);
    finish("1000 0 calls 1; 1000 0 waits; 1500 0 fails 1; 1500 0 resumes; 1600 1 calls 1; "
           "1610 4 calls 1; 2000 0 calls 2; 2000 0 waits; 2500 0 fails 2; 2500 0 resumes; "
           "2600 1 calls 2; 2610 4 calls 2");
    CHECK_TEXT(blame_first(0, false), "missing 500");
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
}

/* All have called later: the last one is to blame. */
TEST_MODEL(given_up)
{
    begin_sites(4);
    finish("100 0 calls 1; 100 0 waits; 200 0 fails 1; 200 0 resumes; 300 1 calls 1; "
           "310 3 calls 1; 320 2 calls 1");
    CHECK_TEXT(blame_first(0, false), "of 2 100");
}

/* A site whose locality is not in the trace has a name, too. */
TEST_MODEL(no_locality)
{
    begin();
    endpoint(0, 2);
    begin_task(1, 0, "site");
    finish("100 0 calls 1; 100 0 waits; 200 0 fails 1; 200 0 resumes");
    sum_up();
    CHECK_INT(sums.num_pairs, 0);
    CHECK_INT(sums.num_absent, 1);
    CHECK_INT(sums.absent[0].site, 1);
    CHECK_INT(sums.absent[0].rank, NONE);
    CHECK_INT(sums.calls[0].last_site, NONE);
    sums_fini(&sums);
}

/* Only the root is needed, and it has called: it is the relay, site 1 before 2, which has not. What
 * site 3 has got is over. */
TEST_MODEL(absent_relay)
{
    begin_sites(5);
    memset(trace.needs, COHORT__TRACE_NEEDS_ROOT, sizeof(trace.needs));
    finish("100 0 calls 1; 110 3 calls 1; 111 3 receives 4; 111 3 received 4; 112 3 receives 2; "
           "112 3 waits; 120 2 calls 1; 121 2 receives 1; 312 3 fails 1; 312 3 resumes; "
           "400 1 calls 1");
    CHECK_TEXT(blame_first(3, false), "of 1 200");
}

/* Two calls of which each waits for the other's site, which waits in the other call. */
TEST_MODEL(circle)
{
    begin_sites(2);
    finish("100 0 calls 1; 100 0 waits; 100 1 calls 2; 100 1 waits; 200 0 fails 1; "
           "200 0 resumes; 200 1 fails 2; 200 1 resumes; 300 0 calls 2; 300 1 calls 1");
    CHECK_TEXT(blame_first(0, false), "of 1 100");
}
