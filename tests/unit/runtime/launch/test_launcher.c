/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/launcher.h"

#include <stdio.h>
#include <string.h>

#include "runtime/launch/control.h"
#include "tests/support/test.h"

/* The launcher without sockets. What it sends is recorded for each locality: the names of the kinds
 * in order ("WELCOME EXIT "), with the fields that matter. */
enum { MAX_SIZE = 8 };

struct job {
    struct cohort__launcher *launcher;
    char log[MAX_SIZE][512];
    uint64_t round;
    uint64_t pause;
    unsigned num_broken;
    uint32_t broken_rank;
    char broken_text[256];
    char going_on[256];
};

static cohort_status note(void *context, const struct cohort__control *control)
{
    char *log = context;
    size_t used = strlen(log);
    snprintf(log + used, 512 - used, "%s", cohort__control_kind_name(control->kind));
    used = strlen(log);
    if (control->kind == COHORT__CONTROL_WELCOME)
        snprintf(log + used, 512 - used, "(%u/%u epoch %u, %u/%u on %u/%u %s) ", control->rank,
                 control->size, control->epoch, control->slot, control->sharing, control->host,
                 control->num_hosts, control->host_address);
    else if (control->kind == COHORT__CONTROL_DIED)
        snprintf(log + used, 512 - used, "(%u order %u %s) ", control->rank, control->order,
                 control->text);
    else if (control->kind == COHORT__CONTROL_RETURNED)
        snprintf(log + used, 512 - used, "(%s) ", control->text);
    else if (control->kind == COHORT__CONTROL_COUNT)
        snprintf(log + used, 512 - used, "(%llu) ", (unsigned long long)control->round);
    else if (control->kind == COHORT__CONTROL_ADDRESSES)
        snprintf(log + used, 512 - used, "(%.*s..) ", (int)control->addresses[0].bytes,
                 (const char *)control->addresses[0].data);
    else
        snprintf(log + used, 512 - used, " ");
    return COHORT_OK;
}

static void sent(void *context, uint32_t rank, const void *message, size_t bytes)
{
    struct job *job = context;
    CHECK_OK(cohort__control_read(message, bytes, "the launcher", note, job->log[rank]));
}

static void paused(void *context, uint64_t nanoseconds)
{
    ((struct job *)context)->pause = nanoseconds;
}

static void broken(void *context, uint32_t rank, const char *text)
{
    struct job *job = context;
    job->num_broken++;
    job->broken_rank = rank;
    snprintf(job->broken_text, sizeof(job->broken_text), "%s", text);
}

static void died(void *context, uint32_t rank, uint32_t num_living, const char *text)
{
    struct job *job = context;
    size_t used = strlen(job->going_on);
    snprintf(job->going_on + used, sizeof(job->going_on) - used, "%u of %u (%s) ", rank, num_living,
             text);
}

static void accused(void *context, uint32_t rank, uint32_t by, bool at_fault, const char *text)
{
    struct job *job = context;
    size_t used = strlen(job->going_on);
    snprintf(job->going_on + used, sizeof(job->going_on) - used, "%u by %u%s: %s ", rank, by,
             at_fault ? " at fault" : "", text);
}

static void aborted(void *context, uint32_t rank, int code, const char *reason)
{
    struct job *job = context;
    size_t used = strlen(job->going_on);
    snprintf(job->going_on + used, sizeof(job->going_on) - used, "%u aborts with %d: %s ", rank,
             code, reason);
}

static void start_as(struct job *job, const struct cohort__launcher_options *options)
{
    struct cohort__launcher_handlers handlers = {job, sent, paused, broken, died, accused, aborted};
    memset(job, 0, sizeof(*job));
    CHECK_OK(cohort__launcher_create(&job->launcher, options, &handlers));
}

static void start(struct job *job, uint32_t size)
{
    start_as(job, &(struct cohort__launcher_options){.size = size, .key = 99});
}

/* RANK's log since the last call. */
static const char *log_of(struct job *job, uint32_t rank)
{
    static char text[512];
    strcpy(text, job->log[rank]);
    job->log[rank][0] = '\0';
    return text;
}

static void say_message(struct job *job, uint32_t rank, const struct cohort__control *control)
{
    struct cohort__packer packer = {0};
    cohort__control_pack(&packer, control);
    cohort__launcher_message(job->launcher, rank, packer.data, packer.bytes);
    cohort__packer_fini(&packer);
}

static void say(struct job *job, uint32_t rank, enum cohort__control_kind kind)
{
    say_message(job, rank, &(struct cohort__control){.kind = kind});
}

static void hello(struct job *job, uint32_t rank)
{
    char address[8];
    snprintf(address, sizeof(address), "at%u", rank);
    say_message(job, rank,
                &(struct cohort__control){.kind = COHORT__CONTROL_HELLO,
                                          .version = COHORT__CONTROL_VERSION,
                                          .address = {address, strlen(address)}});
}

static void counts(struct job *job, uint32_t rank, uint64_t round, uint64_t num_sent,
                   uint64_t num_received)
{
    say_message(job, rank,
                &(struct cohort__control){.kind = COHORT__CONTROL_COUNTS,
                                          .round = round,
                                          .sent = num_sent,
                                          .received = num_received});
}

/* Two localities, from WELCOME to FINISHED. */
static void start_pair(struct job *job)
{
    start(job, 2);
    hello(job, 0);
    hello(job, 1);
    log_of(job, 0);
    log_of(job, 1);
}

static void release_pair(struct job *job)
{
    say(job, 0, COHORT__CONTROL_FINISHED);
    say(job, 1, COHORT__CONTROL_FINISHED);
    for (uint64_t round = 1; round <= 2; round++)
        for (uint32_t rank = 0; rank < 2; rank++)
            counts(job, rank, round, 1, 1);
}

static struct job job;

#define TEST_LAUNCHER(name) TEST_BETWEEN(name, (void)0, cohort__launcher_destroy(job.launcher))

TEST_LAUNCHER(whole_life)
{
    start(&job, 2);
    CHECK_TEXT(log_of(&job, 1), "WELCOME(1/2 epoch 1, 1/2 on 0/1 127.0.0.1) ");
    CHECK_TEXT(log_of(&job, 0), "WELCOME(0/2 epoch 1, 0/2 on 0/1 127.0.0.1) ");
    hello(&job, 1);
    CHECK_TEXT(log_of(&job, 0), "");
    CHECK(cohort__launcher_has_members(job.launcher));
    hello(&job, 0);
    CHECK_TEXT(log_of(&job, 0), "ADDRESSES(at0..) ");
    CHECK_TEXT(log_of(&job, 1), "ADDRESSES(at0..) ");
    say(&job, 0, COHORT__CONTROL_FINISHED);
    CHECK_TEXT(log_of(&job, 0), "");
    say(&job, 1, COHORT__CONTROL_FINISHED);
    CHECK_TEXT(log_of(&job, 0), "COUNT(1) ");
    counts(&job, 0, 1, 5, 2);
    counts(&job, 1, 1, 2, 4);
    CHECK_TEXT(log_of(&job, 0), "COUNT(2) ");
    counts(&job, 0, 2, 5, 2);
    counts(&job, 1, 2, 2, 5);
    counts(&job, 0, 3, 5, 2);
    CHECK(cohort__launcher_is_member(job.launcher, 0));
    log_of(&job, 1);
    counts(&job, 1, 3, 2, 5);
    CHECK_TEXT(log_of(&job, 1), "EXIT ");
    CHECK(cohort__launcher_is_released(job.launcher, 1));
    say(&job, 1, COHORT__CONTROL_BYE);
    cohort__launcher_ended(job.launcher, 1, false, "locality 1 exited");
    cohort__launcher_ended(job.launcher, 0, true, "locality 0 exited with status 3");
    CHECK_INT(job.num_broken, 0);
}

/* If a drain takes long, its rounds are slowed down. */
TEST_LAUNCHER(pause)
{
    start_pair(&job);
    say(&job, 0, COHORT__CONTROL_FINISHED);
    say(&job, 1, COHORT__CONTROL_FINISHED);
    uint64_t round = 1;
    for (; job.pause == 0; round++) {
        CHECK(round < 20);
        counts(&job, 0, round, 1, 0);
        counts(&job, 1, round, 0, 0);
    }
    log_of(&job, 0);
    cohort__launcher_resume(job.launcher);
    CHECK_CONTAINS(log_of(&job, 0), "COUNT(");
}

TEST_LAUNCHER(death)
{
    start_pair(&job);
    cohort__launcher_ended(job.launcher, 1, false, "locality 1 exited without leaving");
    CHECK_INT(job.num_broken, 1);
    CHECK_INT(job.broken_rank, 1);
    CHECK_TEXT(job.broken_text, "locality 1 exited without leaving");
    CHECK_TEXT(log_of(&job, 0), "DIED(1 order 1 locality 1 exited without leaving) ");
    CHECK_TEXT(log_of(&job, 1), "");
    cohort__launcher_ended(job.launcher, 0, true, "locality 0 too");
    CHECK_INT(job.num_broken, 1);
}

/* A death after FINISHED, with counts on their way, is still a death. The survivor may leave at
 * once. */
TEST_LAUNCHER(death_in_drain)
{
    start_pair(&job);
    say(&job, 0, COHORT__CONTROL_FINISHED);
    say(&job, 1, COHORT__CONTROL_FINISHED);
    counts(&job, 0, 1, 0, 0);
    counts(&job, 1, 1, 0, 0);
    cohort__launcher_ended(job.launcher, 1, true, "locality 1 was killed");
    CHECK_CONTAINS(log_of(&job, 0), "DIED(1 order 1 locality 1 was killed) EXIT ");
    CHECK_TEXT(log_of(&job, 1), "COUNT(1) COUNT(2) ");
    counts(&job, 0, 2, 0, 0);
    counts(&job, 1, 2, 0, 0);
    CHECK_TEXT(log_of(&job, 0), "");
    CHECK_INT(job.num_broken, 1);
}

/* The program of each survivor returns in its own time. Then the survivors may leave together. */
TEST_LAUNCHER(survivors)
{
    start(&job, 3);
    for (uint32_t rank = 0; rank < 3; rank++)
        hello(&job, rank);
    log_of(&job, 0);
    log_of(&job, 2);
    cohort__launcher_ended(job.launcher, 1, true, "locality 1 was killed");
    say(&job, 0, COHORT__CONTROL_FINISHED);
    CHECK_TEXT(log_of(&job, 0), "DIED(1 order 1 locality 1 was killed) ");
    say(&job, 2, COHORT__CONTROL_FINISHED);
    CHECK_TEXT(log_of(&job, 0), "EXIT ");
    CHECK_TEXT(log_of(&job, 2), "DIED(1 order 1 locality 1 was killed) EXIT ");
    say(&job, 0, COHORT__CONTROL_BYE);
    cohort__launcher_ended(job.launcher, 0, true, "locality 0 exited with status 1");
    cohort__launcher_ended(job.launcher, 2, true, "locality 2 exited with status 1");
    CHECK_INT(job.num_broken, 1);
}

TEST_LAUNCHER(never_joined)
{
    start(&job, 3);
    cohort__launcher_ended(job.launcher, 0, false, "locality 0 exited");
    cohort__launcher_ended(job.launcher, 1, false, "locality 1 exited");
    cohort__launcher_ended(job.launcher, 2, false, "locality 2 exited");
    CHECK_INT(job.num_broken, 0);
}

TEST_LAUNCHER(some_joined)
{
    start(&job, 2);
    hello(&job, 0);
    cohort__launcher_ended(job.launcher, 1, false, "locality 1 exited");
    CHECK_INT(job.num_broken, 1);
    CHECK_TEXT(job.broken_text, "locality 1 ended without joining the job");
    cohort__launcher_destroy(job.launcher);

    start(&job, 2); /* in the other order */
    cohort__launcher_ended(job.launcher, 1, false, "locality 1 exited");
    CHECK_INT(job.num_broken, 0);
    hello(&job, 0);
    CHECK_INT(job.num_broken, 1);
    CHECK_TEXT(job.broken_text, "locality 1 ended without joining the job");
}

TEST_LAUNCHER(failed_before_joining)
{
    start(&job, 2);
    cohort__launcher_ended(job.launcher, 1, true, "locality 1 exited with status 1");
    CHECK_INT(job.num_broken, 1);
    CHECK_TEXT(job.broken_text, "locality 1 exited with status 1");
}

static void fail(struct job *job, uint32_t rank)
{
    say_message(job, rank,
                &(struct cohort__control){.kind = COHORT__CONTROL_FAILED, .text = "wrong"});
}

/* Its process may go on, or end with status 0. */
TEST_LAUNCHER(failed_to_join)
{
    start(&job, 2);
    CHECK(!cohort__launcher_is_awaited(job.launcher, 1));
    hello(&job, 0);
    CHECK(cohort__launcher_is_awaited(job.launcher, 0));
    CHECK(cohort__launcher_is_awaited(job.launcher, 1));
    CHECK(!cohort__launcher_is_failing(job.launcher, 1));
    fail(&job, 1);
    CHECK(cohort__launcher_is_failing(job.launcher, 1));
    CHECK(!cohort__launcher_is_failing(job.launcher, 0));
    cohort__launcher_ended(job.launcher, 1, true, "locality 1 has failed: wrong");
    CHECK_TEXT(job.broken_text, "locality 1 has failed: wrong");
    cohort__launcher_destroy(job.launcher);

    start(&job, 1);
    fail(&job, 0);
    CHECK(cohort__launcher_is_awaited(job.launcher, 0));
    cohort__launcher_ended(job.launcher, 0, false, "locality 0 exited with status 0: wrong");
    CHECK_TEXT(job.broken_text, "locality 0 exited with status 0: wrong");
}

/* The failure of a program that has left is not one of the next one. */
TEST_LAUNCHER(failed_before)
{
    start_pair(&job);
    fail(&job, 1);
    CHECK(cohort__launcher_is_failing(job.launcher, 1));
    release_pair(&job);
    CHECK(!cohort__launcher_is_failing(job.launcher, 1));
    say(&job, 1, COHORT__CONTROL_BYE);
    say(&job, 0, COHORT__CONTROL_BYE);
    CHECK(cohort__launcher_failure(job.launcher, 1));
    CHECK(!cohort__launcher_is_failing(job.launcher, 1));
    CHECK(!cohort__launcher_is_awaited(job.launcher, 1));
    hello(&job, 0);
    CHECK(cohort__launcher_is_awaited(job.launcher, 1));
    CHECK(!cohort__launcher_is_failing(job.launcher, 1));
    fail(&job, 1);
    CHECK(cohort__launcher_is_failing(job.launcher, 1));
    hello(&job, 1); /* of a program beside it */
    CHECK(!cohort__launcher_is_failing(job.launcher, 1));
    release_pair(&job);
    CHECK(!cohort__launcher_is_awaited(job.launcher, 1));
}

/* Two programs, one after the other, on the same connections. */
TEST_LAUNCHER(second_epoch)
{
    start_pair(&job);
    release_pair(&job);
    log_of(&job, 0);
    say(&job, 0, COHORT__CONTROL_BYE);
    CHECK_TEXT(log_of(&job, 0), "");
    say(&job, 1, COHORT__CONTROL_BYE);
    CHECK_TEXT(log_of(&job, 0), "WELCOME(0/2 epoch 2, 0/2 on 0/1 127.0.0.1) ");
    hello(&job, 0);
    hello(&job, 1);
    CHECK_TEXT(log_of(&job, 0), "ADDRESSES(at0..) ");
    log_of(&job, 1);
    CHECK(!cohort__launcher_is_released(job.launcher, 0));
    release_pair(&job);
    CHECK_CONTAINS(log_of(&job, 1), "EXIT ");
    cohort__launcher_ended(job.launcher, 0, false, "locality 0 exited");
    cohort__launcher_ended(job.launcher, 1, false, "locality 1 exited");
    CHECK_INT(job.num_broken, 0);
}

TEST_LAUNCHER(second_epoch_incomplete)
{
    start_pair(&job);
    release_pair(&job);
    say(&job, 0, COHORT__CONTROL_BYE);
    /* Ended without BYE: fine. */
    cohort__launcher_ended(job.launcher, 1, false, "locality 1 exited");
    CHECK_INT(job.num_broken, 0);
    hello(&job, 0);
    CHECK_INT(job.num_broken, 1);
    CHECK_TEXT(job.broken_text, "locality 1 ended without joining the job");
}

TEST_LAUNCHER(nonsense)
{
    static const struct {
        enum cohort__control_kind kind;
        const char *why;
    } cases[] = {
        {COHORT__CONTROL_FINISHED, "locality 1: has finished without being in the job"},
        {COHORT__CONTROL_BYE, "locality 1: leaves the job without being allowed to"},
        {COHORT__CONTROL_COUNTS, "locality 1: sends counts that nobody has asked for"},
        {COHORT__CONTROL_EXIT, "locality 1: sent EXIT, which only the launcher may"},
        {COHORT__CONTROL_HELLO, "locality 1: speaks version 0 of the control protocol"},
    };
    for (size_t i = 0; i < NUM_OF(cases); i++) {
        struct job job;
        start(&job, 2);
        say(&job, 1, cases[i].kind);
        CHECK_INT(job.num_broken, 1);
        CHECK_INT(job.broken_rank, 1);
        CHECK_CONTAINS(job.broken_text, cases[i].why);
        cohort__launcher_destroy(job.launcher);
    }
    start_pair(&job);
    hello(&job, 1);
    CHECK_CONTAINS(job.broken_text, "locality 1: joins the job again");
    CHECK_CONTAINS(log_of(&job, 0), "DIED(1 order 1 locality 1: joins");
    cohort__launcher_message(job.launcher, 0, "\xff", 1);
    CHECK_INT(job.num_broken, 1);
}

TEST(hosts)
{
    struct job job = {0};
    const struct cohort__launcher_host hosts[] = {{0, 1, "10.0.0.1"}, {1, 3, "fe80::1"}};
    struct cohort__launcher_options options = {.size = 4, .hosts = hosts, .num_hosts = 2};
    struct cohort__launcher_handlers handlers = {&job, sent, paused, broken, NULL, NULL, NULL};
    CHECK_OK(cohort__launcher_create(&job.launcher, &options, &handlers));
    CHECK_TEXT(log_of(&job, 0), "WELCOME(0/4 epoch 1, 0/1 on 0/2 10.0.0.1) ");
    CHECK_TEXT(log_of(&job, 1), "WELCOME(1/4 epoch 1, 0/3 on 1/2 fe80::1) ");
    CHECK_TEXT(log_of(&job, 3), "WELCOME(3/4 epoch 1, 2/3 on 1/2 fe80::1) ");
    cohort__launcher_destroy(job.launcher);
}

TEST_LAUNCHER(failure_text)
{
    start_pair(&job);
    CHECK(!cohort__launcher_failure(job.launcher, 1));
    say_message(
        &job, 1,
        &(struct cohort__control){.kind = COHORT__CONTROL_FAILED, .text = "two\nlines\x1b"});
    CHECK_TEXT(cohort__launcher_failure(job.launcher, 1), "two lines ");
    release_pair(&job);
    say(&job, 0, COHORT__CONTROL_BYE);
    say(&job, 1, COHORT__CONTROL_BYE);
    hello(&job, 1); /* from another program of this locality */
    CHECK(!cohort__launcher_failure(job.launcher, 1));
}

/* Also before the job has begun; and it is not the launcher's to end what is left. */
TEST_LAUNCHER(abort)
{
    const struct cohort__control abort = {
        .kind = COHORT__CONTROL_ABORT, .code = 7, .text = "two\nlines"};
    start(&job, 2);
    log_of(&job, 0);
    say_message(&job, 1, &abort);
    CHECK_TEXT(job.going_on, "1 aborts with 7: two lines ");
    CHECK_TEXT(log_of(&job, 0), "");
    CHECK_INT(job.num_broken, 0);
}

static void ask_returned(struct job *job, uint32_t rank, const char *want)
{
    char text[300];
    snprintf(text, sizeof(text), "RETURNED(%s) ", want);
    log_of(job, rank);
    say(job, rank, COHORT__CONTROL_ASK_RETURNED);
    CHECK_TEXT(log_of(job, rank), text);
}

TEST_LAUNCHER(returned)
{
    start(&job, 8);
    for (uint32_t rank = 0; rank < 8; rank++)
        hello(&job, rank);
    ask_returned(&job, 1, "");
    say(&job, 0, COHORT__CONTROL_FINISHED);
    ask_returned(&job, 1, "0");
    for (uint32_t rank = 2; rank < 6; rank++)
        say(&job, rank, COHORT__CONTROL_FINISHED);
    ask_returned(&job, 1, "0, 2-5");
    ask_returned(&job, 2, "0, 2-5"); /* which still serves the others, as the home of names */
    say(&job, 7, COHORT__CONTROL_FINISHED);
    ask_returned(&job, 1, "0, 2-5, 7");
    CHECK_INT(job.num_broken, 0);
    cohort__launcher_destroy(job.launcher);
    start(&job, 2);
    say(&job, 1, COHORT__CONTROL_ASK_RETURNED);
    CHECK_INT(job.num_broken, 1);
    CHECK_CONTAINS(job.broken_text, "asks without being in the job");
}

/* Four localities that go on without those who die. */
static void start_going(struct job *job)
{
    start_as(job, &(struct cohort__launcher_options){.size = 4, .key = 99, .keeps_going = true});
    for (uint32_t rank = 0; rank < 4; rank++)
        hello(job, rank);
    for (uint32_t rank = 0; rank < 4; rank++)
        log_of(job, rank);
}

TEST_LAUNCHER(dead_have_not_returned)
{
    start_going(&job);
    cohort__launcher_ended(job.launcher, 2, true, "locality 2 was killed");
    ask_returned(&job, 1, "");
    say(&job, 3, COHORT__CONTROL_FINISHED);
    ask_returned(&job, 1, "3");
}

TEST_LAUNCHER(goes_on)
{
    start_going(&job);
    cohort__launcher_ended(job.launcher, 2, true, "locality 2 was killed");
    CHECK_TEXT(job.going_on, "2 of 3 (locality 2 was killed) ");
    CHECK_INT(job.num_broken, 0);
    CHECK(!cohort__launcher_is_member(job.launcher, 2));
    say(&job, 2, COHORT__CONTROL_FINISHED); /* nobody listens any more */
    say(&job, 0, COHORT__CONTROL_FINISHED);
    say(&job, 3, COHORT__CONTROL_FINISHED);
    CHECK_TEXT(log_of(&job, 3), "DIED(2 order 1 locality 2 was killed) ");
    say(&job, 1, COHORT__CONTROL_FINISHED);
    CHECK_TEXT(log_of(&job, 3), "COUNT(1) ");
    CHECK_TEXT(log_of(&job, 2), "");
    for (uint64_t round = 1; round <= 2; round++)
        for (uint32_t rank = 0; rank < 4; rank++)
            if (rank != 2)
                counts(&job, rank, round, 1, 1);
    CHECK_TEXT(log_of(&job, 3), "COUNT(2) EXIT ");
    log_of(&job, 0);
    for (uint32_t rank = 0; rank < 4; rank++)
        if (rank != 2)
            say(&job, rank, COHORT__CONTROL_BYE);
    CHECK_TEXT(log_of(&job, 0), /* instead of a next epoch */
               "DIED(2 order 1 locality 2 has died before this program has started) ");
    for (uint32_t rank = 0; rank < 4; rank++)
        cohort__launcher_ended(job.launcher, rank, false, "it exited");
    CHECK_INT(job.num_broken, 0);
}

/* What the others have counted before a death may be messages to and from the dead one. */
TEST_LAUNCHER(drain_begins_anew)
{
    start_going(&job);
    for (uint32_t rank = 0; rank < 4; rank++)
        say(&job, rank, COHORT__CONTROL_FINISHED);
    for (uint32_t rank = 0; rank < 4; rank++)
        counts(&job, rank, 1, 1, 1);
    CHECK_TEXT(log_of(&job, 0), "COUNT(1) COUNT(2) ");
    counts(&job, 0, 2, 1, 1);
    cohort__launcher_ended(job.launcher, 3, true, "locality 3 was killed");
    CHECK_TEXT(log_of(&job, 0), "DIED(3 order 1 locality 3 was killed) COUNT(3) ");
    counts(&job, 1, 2, 1, 1); /* these would be enough */
    counts(&job, 2, 2, 1, 1);
    counts(&job, 0, 2, 1, 1);
    CHECK_TEXT(log_of(&job, 0), "");
    for (uint64_t round = 3; round <= 4; round++)
        for (uint32_t rank = 0; rank < 3; rank++)
            counts(&job, rank, round, 4, 4);
    CHECK_TEXT(log_of(&job, 0), "COUNT(4) EXIT ");
}

/* The drain of those who had finished before. */
TEST_LAUNCHER(last_to_finish_dies)
{
    start_going(&job);
    for (uint32_t rank = 0; rank < 3; rank++)
        say(&job, rank, COHORT__CONTROL_FINISHED);
    cohort__launcher_ended(job.launcher, 3, true, "locality 3 was killed");
    CHECK_TEXT(log_of(&job, 0), "DIED(3 order 1 locality 3 was killed) COUNT(1) ");
}

TEST_LAUNCHER(nobody_is_left)
{
    start_going(&job);
    for (uint32_t rank = 0; rank < 4; rank++)
        cohort__launcher_ended(job.launcher, rank, true, "was killed");
    CHECK_TEXT(job.going_on, "0 of 3 (was killed) 1 of 2 (was killed) 2 of 1 (was killed) ");
    CHECK_INT(job.num_broken, 1);
    CHECK_INT(job.broken_rank, 3);
}

static void accuse(struct job *job, uint32_t by, uint32_t rank, bool at_fault)
{
    say_message(job, by,
                &(struct cohort__control){.kind = COHORT__CONTROL_ACCUSE,
                                          .rank = rank,
                                          .at_fault = at_fault,
                                          .text = "can't be reached"});
}

/* Who is accused is not dead yet. */
TEST_LAUNCHER(accused)
{
    start_going(&job);
    accuse(&job, 1, 3, false);
    CHECK_TEXT(job.going_on, "3 by 1: locality 1 says that locality 3 can't be reached ");
    CHECK(cohort__launcher_is_member(job.launcher, 3));
    CHECK_TEXT(log_of(&job, 0), "");
    job.going_on[0] = '\0';
    accuse(&job, 0, 3, true);
    CHECK_CONTAINS(job.going_on, "3 by 0 at fault: locality 0 says that locality 3 ");
    job.going_on[0] = '\0';
    cohort__launcher_ended(job.launcher, 3, true, "locality 3 was killed");
    job.going_on[0] = '\0';
    accuse(&job, 2, 3, false);
    CHECK_TEXT(job.going_on, "");
    cohort__launcher_message(job.launcher, 1, "x", 1);
    CHECK_CONTAINS(job.going_on, "1 by 1 at fault: locality 1: ");
    CHECK_INT(job.num_broken, 0);
    accuse(&job, 1, 4, false);
    CHECK_CONTAINS(job.going_on, "accuses locality 4 of 4");
}

/* Once the job is meant to end, and before all have joined, a death ends it. */
TEST_LAUNCHER(goes_on_no_longer)
{
    start_going(&job);
    cohort__launcher_stop_going(job.launcher);
    cohort__launcher_ended(job.launcher, 3, true, "locality 3 was killed");
    CHECK_INT(job.num_broken, 1);
    cohort__launcher_destroy(job.launcher);
    start_as(&job, &(struct cohort__launcher_options){.size = 2, .key = 99, .keeps_going = true});
    hello(&job, 0);
    cohort__launcher_ended(job.launcher, 0, true, "locality 0 was killed");
    CHECK_INT(job.num_broken, 1);
    CHECK_TEXT(job.going_on, "");
}

/* A script has lost the program that had joined, and goes on. The others go on as after any death.
 * The script's next program reads that it is dead, and what it says is not heard. */
TEST_LAUNCHER(program_ended)
{
    static const char text[] = "locality 2 has lost its program";
    start_going(&job);
    cohort__launcher_program_ended(job.launcher, 2, text);
    CHECK_TEXT(job.going_on, "2 of 3 (locality 2 has lost its program) ");
    for (uint32_t rank = 0; rank < 4; rank++)
        CHECK_TEXT(log_of(&job, rank), "DIED(2 order 1 locality 2 has lost its program) ");
    cohort__launcher_program_ended(job.launcher, 2, text);
    cohort__launcher_ended(job.launcher, 2, true, "locality 2 exited with status 1");
    hello(&job, 2);
    for (uint32_t rank = 0; rank < 4; rank++)
        if (rank != 2)
            say(&job, rank, COHORT__CONTROL_FINISHED);
    CHECK_TEXT(log_of(&job, 1), "COUNT(1) ");
    CHECK_TEXT(log_of(&job, 2), "");
    CHECK_INT(job.num_broken, 0);
    CHECK(!cohort__launcher_is_released(job.launcher, 2));
    cohort__launcher_destroy(job.launcher);

    start_pair(&job); /* a job that ends with the first death */
    say(&job, 0, COHORT__CONTROL_FINISHED);
    cohort__launcher_program_ended(job.launcher, 1, text);
    CHECK_INT(job.num_broken, 1);
    CHECK_INT(job.broken_rank, 1);
    CHECK_TEXT(log_of(&job, 0), "DIED(1 order 1 locality 2 has lost its program) EXIT ");
}

/* It was allowed to leave, and has ended before it said so. The next programs begin. One that has
 * not joined, or has left, may end as it likes. */
TEST_LAUNCHER(program_ended_released)
{
    start_as(&job, &(struct cohort__launcher_options){.size = 2, .key = 99, .keeps_going = true});
    cohort__launcher_program_ended(job.launcher, 1, "it is not in the job");
    hello(&job, 0);
    hello(&job, 1);
    release_pair(&job);
    log_of(&job, 0);
    cohort__launcher_program_ended(job.launcher, 1, "it was allowed to");
    CHECK_TEXT(log_of(&job, 0), "");
    say(&job, 0, COHORT__CONTROL_BYE);
    CHECK_TEXT(log_of(&job, 0), "WELCOME(0/2 epoch 2, 0/2 on 0/1 127.0.0.1) ");
    log_of(&job, 1);
    hello(&job, 0);
    hello(&job, 1);
    CHECK_TEXT(log_of(&job, 1), "ADDRESSES(at0..) ");
    CHECK_INT(job.num_broken, 0);
    cohort__launcher_program_ended(job.launcher, 1, "lost");
    CHECK_TEXT(job.going_on, "1 of 1 (lost) ");
    CHECK(!cohort__launcher_is_released(job.launcher, 1));
}
