/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/bootstrap.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/business_card.h"
#include "runtime/launch/pmix_library.h"
#include "runtime/loop/loop.h"
#include "runtime/wire/pack.h"
#include "tests/support/test.h"

/* How a locality joins and leaves a job of PMIx (tests/model/leave.pml), with a libpmix that is
 * played: the other locality of the job is on another host, and shows what this one shows. Waiting
 * for an answer takes no time: what would come by then comes at once. */

enum { CARDS = 1, ADDRESSES, RETURNED, FIRST_COUNTS, LAST_COUNTS, AGREED }; /* the fences */
enum { ABORTED = 40, ABORTED_IN_CALLBACK = 99 }; /* statuses of a child */
enum { TIMEOUT = 60 };                           /* s */
static const uint64_t soon = 1000000, never = 3600ull * 1000000000;

static struct play {
    unsigned num_fences;
    unsigned held; /* this fence is not over until the test says so */
    pmix_op_cbfunc_t fence_done;
    void *fence_context;
    pmix_notification_fn_t notified;
    void *notified_object;
    struct {
        char name[64];
        unsigned char data[512];
        size_t bytes;
    } shown[8];
    unsigned num_shown;
    bool has_no_threads;
    bool is_over_at_once; /* each call says that what it should begin is over, and calls nobody */

    /* All of these in s. What is 0 comes at once. */
    unsigned now;
    unsigned fence_takes; /* to join */
    unsigned fence_comes;
    bool fences_bring_nothing; /* so that the other host is asked: PRRTE 3 */
    unsigned answer_takes;     /* of the other host */
    pmix_status_t answer;
    struct {
        pmix_value_cbfunc_t done; /* NULL: there is none */
        void *context;
        const char *name;
        unsigned comes;
    } question;
} fake;

static _Thread_local bool in_callback;

static pmix_status_t fake_init(pmix_proc_t *proc, pmix_info_t *info, size_t num)
{
    *proc = (pmix_proc_t){.nspace = "job", .rank = 0};
    return PMIX_SUCCESS;
}

static pmix_status_t fake_finalize(const pmix_info_t *info, size_t num)
{
    return PMIX_SUCCESS;
}

static pmix_status_t fake_abort(int status, const char *text, pmix_proc_t *procs, size_t num)
{
    _exit(in_callback ? ABORTED_IN_CALLBACK : ABORTED + status);
}

static pmix_status_t fake_put(pmix_scope_t scope, const char *key, pmix_value_t *value)
{
    CHECK(fake.num_shown < NUM_OF(fake.shown));
    CHECK(value->data.bo.size <= sizeof(fake.shown[0].data));
    snprintf(fake.shown[fake.num_shown].name, sizeof(fake.shown[0].name), "%s", key);
    memcpy(fake.shown[fake.num_shown].data, value->data.bo.bytes, value->data.bo.size);
    fake.shown[fake.num_shown++].bytes = value->data.bo.size;
    return PMIX_SUCCESS;
}

static pmix_status_t fake_commit(void)
{
    return PMIX_SUCCESS;
}

static pmix_status_t fake_fence_nb(const pmix_proc_t *procs, size_t num_procs,
                                   const pmix_info_t *info, size_t num, pmix_op_cbfunc_t done,
                                   void *context)
{
    fake.fence_done = done;
    fake.fence_context = context;
    fake.num_fences++;
    if (fake.is_over_at_once)
        return PMIX_OPERATION_SUCCEEDED;
    if (fake.num_fences == CARDS && fake.fence_takes > 0)
        fake.fence_comes = fake.now + fake.fence_takes;
    else if (fake.num_fences != fake.held)
        done(PMIX_SUCCESS, context);
    return PMIX_SUCCESS;
}

static void copy_bytes(pmix_value_t *value, const void *data, size_t bytes)
{
    value->type = PMIX_BYTE_OBJECT;
    value->data.bo.bytes = malloc(bytes + 1);
    value->data.bo.size = bytes;
    memcpy(value->data.bo.bytes, data, bytes);
}

static void copy_other_card(pmix_value_t *value)
{
    struct cohort__packer packer = {0};
    cohort__schema_pack(&packer, &cohort__business_card_schema,
                        &(struct cohort__business_card){.host = "other", .name = "127.0.0.1"});
    copy_bytes(value, packer.data, packer.bytes);
    cohort__packer_fini(&packer);
}

static void copy_shown(pmix_value_t *value, const char *key, bool of_other)
{
    unsigned i = 0;
    while (i < fake.num_shown && strcmp(fake.shown[i].name, key) != 0)
        i++;
    CHECK(i < fake.num_shown);
    if (strcmp(key, "cohort.card") == 0 && of_other)
        copy_other_card(value);
    else
        copy_bytes(value, fake.shown[i].data, fake.shown[i].bytes);
}

static pmix_status_t fake_get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                              size_t num, pmix_value_t **ret_value)
{
    *ret_value = calloc(1, sizeof(**ret_value));
    if (strcmp(key, PMIX_JOB_SIZE) == 0) {
        (*ret_value)->type = PMIX_UINT32;
        (*ret_value)->data.uint32 = 2;
    } else {
        CHECK(fake.is_over_at_once);
        copy_shown(*ret_value, key, proc->rank == 1);
    }
    return PMIX_SUCCESS;
}

/* The value is PMIx's, and gone after the call. */
static void give(pmix_value_cbfunc_t done, void *context, const char *key, bool of_other)
{
    pmix_value_t value = {0};
    copy_shown(&value, key, of_other);
    done(PMIX_SUCCESS, &value, context);
    memset(value.data.bo.bytes, 0, value.data.bo.size);
    free(value.data.bo.bytes);
}

static pmix_status_t fake_get_nb(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                                 size_t num, pmix_value_cbfunc_t done, void *context)
{
    bool immediate = num == 1 && strcmp(info->key, PMIX_IMMEDIATE) == 0;
    if (fake.is_over_at_once)
        return PMIX_OPERATION_SUCCEEDED;
    if (proc->rank == 0 || !(fake.fences_bring_nothing || fake.fence_comes > fake.now)) {
        give(done, context, key, proc->rank == 1);
        return PMIX_SUCCESS;
    }
    if (immediate) {
        done(PMIX_ERR_NOT_FOUND, NULL, context);
        return PMIX_SUCCESS;
    }
    CHECK(!fake.question.done);
    fake.question.done = done;
    fake.question.context = context;
    fake.question.name = key;
    fake.question.comes = fake.now + fake.answer_takes;
    return PMIX_SUCCESS;
}

static void answer_question(void)
{
    pmix_value_cbfunc_t done = fake.question.done;
    fake.question.done = NULL;
    if (fake.answer == PMIX_SUCCESS)
        give(done, fake.question.context, fake.question.name, true);
    else
        done(fake.answer, NULL, fake.question.context);
}

int __wrap_sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *end)
{
    struct timespec now;
    if (sem_trywait(sem) == 0)
        return 0;
    clock_gettime(clock, &now);
    time_t seconds = end->tv_sec - now.tv_sec + (end->tv_nsec - now.tv_nsec > 500000000);
    fake.now += seconds > 0 ? (unsigned)seconds : 0;
    if (fake.fence_comes > 0 && fake.fence_comes <= fake.now) {
        fake.fence_comes = 0;
        fake.fence_done(PMIX_SUCCESS, fake.fence_context);
    }
    if (fake.question.done && fake.question.comes <= fake.now)
        answer_question();
    if (sem_trywait(sem) == 0)
        return 0;
    errno = ETIMEDOUT;
    return -1;
}

static pmix_status_t fake_register(pmix_status_t *codes, size_t num_codes, pmix_info_t *info,
                                   size_t num, pmix_notification_fn_t notified,
                                   pmix_hdlr_reg_cbfunc_t done, void *context)
{
    fake.notified = notified;
    fake.notified_object = info[0].value.data.ptr;
    return fake.is_over_at_once ? PMIX_OPERATION_SUCCEEDED : PMIX_SUCCESS;
}

static const char *fake_error_string(pmix_status_t status)
{
    return "this";
}

cohort_status __wrap_cohort__pmix_library_load(struct cohort__pmix_library *ret_library)
{
    *ret_library = (struct cohort__pmix_library){
        .init = fake_init,
        .finalize = fake_finalize,
        .abort = fake_abort,
        .put = fake_put,
        .commit = fake_commit,
        .fence_nb = fake_fence_nb,
        .get = fake_get,
        .get_nb = fake_get_nb,
        .register_event_handler = fake_register,
        .error_string = fake_error_string,
    };
    return COHORT_OK;
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *context)
{
    return fake.has_no_threads ? EAGAIN : __real_pthread_create(thread, attributes, run, context);
}

struct locality {
    struct cohort__loop *loop;
    struct cohort__bootstrap *bootstrap;
    bool may_exit;
};

static void count_asked(void *context, uint64_t round)
{
    struct locality *locality = context;
    cohort__bootstrap_report_counts(locality->bootstrap, round, 0, 0, false);
}

static void exit_allowed(void *context)
{
    ((struct locality *)context)->may_exit = true;
}

static void died(void *context, uint32_t rank, uint32_t order, const char *text)
{
}

static void launcher_lost(void *context, const char *text)
{
    FAIL("the launcher is lost: %s", text);
}

static cohort_status create(struct locality *locality)
{
    setenv("PMIX_NAMESPACE", "job", 1);
    setenv("PMIX_RANK", "0", 1);
    *locality = (struct locality){0};
    CHECK_OK(cohort__loop_create(&locality->loop));
    return cohort__bootstrap_create(
        &locality->bootstrap, locality->loop,
        &(struct cohort__bootstrap_handlers){.context = locality,
                                             .count_asked = count_asked,
                                             .exit_allowed = exit_allowed,
                                             .died = died,
                                             .launcher_lost = launcher_lost});
}

static void enter(struct locality *locality, uint64_t grace)
{
    CHECK_OK(create(locality));
    cohort__bootstrap_set_grace(locality->bootstrap, grace);
    CHECK_OK(cohort__bootstrap_exchange(locality->bootstrap, "here", 5));
    CHECK_INT(fake.num_fences, ADDRESSES);
}

/* Joins a job whose fence HELD is not over by itself. */
static void join(struct locality *locality, unsigned held, uint64_t grace)
{
    fake = (struct play){.held = held};
    enter(locality, grace);
}

/* The program returns. */
static void come_to(struct locality *locality, unsigned fence)
{
    cohort__bootstrap_finished(locality->bootstrap);
    while (fake.num_fences < fence)
        cohort__loop_park(locality->loop);
}

static void await_exit(struct locality *locality)
{
    while (!locality->may_exit)
        cohort__loop_park(locality->loop);
}

static void leave(struct locality *locality)
{
    cohort__bootstrap_destroy(locality->bootstrap);
    cohort__loop_destroy(locality->loop);
}

/* Joins and leaves. */
static void run_job(void)
{
    struct locality locality;
    enter(&locality, never);
    come_to(&locality, AGREED);
    await_exit(&locality);
    leave(&locality);
}

static void refused(cohort_status status, const char *text)
{
    struct locality locality;
    CHECK_INT(create(&locality), status);
    CHECK_TEXT(cohort_error_message(), text);
    if (fake.fence_comes > 0)
        fake.fence_done(PMIX_SUCCESS, fake.fence_context);
    cohort__loop_destroy(locality.loop);
}

/* PRRTE 3: the other host is asked for each card, address and count. */
TEST(answers_late)
{
    enum { COUNTS_SECONDS = 30 }; /* so long the drain waits */
    fake = (struct play){.fences_bring_nothing = true, .answer_takes = COUNTS_SECONDS};
    run_job();
    CHECK_INT(fake.now,
              2 * TIMEOUT + 2 * COUNTS_SECONDS); /* this clock waits for as long as it may */
}

/* As the standard allows it for each call that does not wait. */
TEST(over_at_once)
{
    fake = (struct play){.is_over_at_once = true};
    run_job();
    CHECK_INT(fake.num_fences, AGREED);
}

TEST(no_answer)
{
    fake = (struct play){.fences_bring_nothing = true, .answer_takes = TIMEOUT + 1};
    refused(COHORT_ERR_TIMEOUT,
            "cohort.card of process 1: no answer within 60 s (COHORT_JOIN_TIMEOUT)");
    CHECK_TEXT(fake.question.name, "cohort.card"); /* PMIx still reads it */
    answer_question();
}

/* A fence may be over without who has ended. */
TEST(is_missing)
{
    fake = (struct play){.fences_bring_nothing = true, .answer = PMIX_ERR_NOT_FOUND};
    refused(COHORT_ERR_PEER_DIED, "cohort.card of process 1 is missing: that process has ended");
}

/* The next process has joined, so another one tells who has not. */
TEST(joins_late)
{
    fake = (struct play){.fence_takes = 5 * TIMEOUT, .answer_takes = TIMEOUT / 2};
    run_job();
}

/* The fence is over before there is an answer. */
TEST(joins_last)
{
    fake = (struct play){
        .fence_takes = 2 * TIMEOUT, .answer_takes = 3 * TIMEOUT, .answer = PMIX_ERR_NOT_FOUND};
    struct locality locality;
    enter(&locality, never);
    answer_question();
    come_to(&locality, AGREED);
    await_exit(&locality);
    leave(&locality);
}

TEST(never_joins)
{
    fake = (struct play){.fence_takes = 5 * TIMEOUT, .answer = PMIX_ERR_NOT_FOUND};
    refused(COHORT_ERR_TIMEOUT, "process 1 of 2 has not joined the job within 60 s "
                                "(COHORT_JOIN_TIMEOUT); it may have ended");
}

/* Slurm and PRRTE, if no process of the other host is left. */
TEST(never_answers)
{
    fake = (struct play){.fence_takes = 5 * TIMEOUT, .answer_takes = 5 * TIMEOUT};
    refused(COHORT_ERR_TIMEOUT,
            "process 1 of 2 has not joined the job within 60 s (COHORT_JOIN_TIMEOUT), "
            "or does not answer; it may have ended");
    answer_question();
}

/* Who knows that the end is agreed on waits until all do, and takes nobody for dead. */
TEST(leaves_after_all_have_agreed)
{
    struct locality locality;
    join(&locality, AGREED, never);
    come_to(&locality, AGREED);
    CHECK(!locality.may_exit);
    cohort__bootstrap_broken(locality.bootstrap, "locality 1 can't be reached");
    CHECK(!locality.may_exit);
    fake.fence_done(PMIX_SUCCESS, fake.fence_context);
    await_exit(&locality);
    CHECK_INT(fake.num_fences, AGREED);
    leave(&locality);
}

/* The other one has died after that, so that the last fence never ends. */
TEST(leaves_without_last_fence)
{
    struct locality locality;
    join(&locality, AGREED, soon);
    come_to(&locality, AGREED);
    cohort__bootstrap_broken(locality.bootstrap, "locality 1 can't be reached");
    await_exit(&locality);
    leave(&locality);
}

static void find_loss_in_drain(void)
{
    struct locality locality;
    join(&locality, LAST_COUNTS, soon);
    come_to(&locality, LAST_COUNTS);
    cohort__bootstrap_broken(locality.bootstrap, "locality 1 can't be reached");
    await_exit(&locality);
    leave(&locality);
}

static void *tell_of_death(void *context)
{
    pmix_proc_t other = {.nspace = "job", .rank = 1};
    pmix_info_t info = {.key = PMIX_EVENT_RETURN_OBJECT,
                        .value = {.type = PMIX_POINTER, .data.ptr = fake.notified_object}};
    in_callback = true;
    fake.notified(0, PMIX_ERR_PROC_ABORTED_BY_SIG, &other, &info, 1, NULL, 0, NULL, NULL);
    return NULL;
}

/* The system gives no thread for the grace. */
static void hear_of_death_without_threads(void)
{
    struct locality locality;
    pthread_t thread;
    join(&locality, 0, never);
    fake.has_no_threads = true;
    CHECK_INT(__real_pthread_create(&thread, NULL, tell_of_death, NULL), 0);
    pthread_join(thread, NULL);
    for (;;)
        cohort__loop_park(locality.loop);
}

static int status_of(void (*run)(void))
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        run();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Without an agreement the launcher has to end the job. */
TEST_CALL(loss_in_drain, CHECK_INT(status_of(find_loss_in_drain), ABORTED + 1))

/* PMIx's thread would wait for itself. */
TEST_CALL(no_abort_in_callback, CHECK_INT(status_of(hear_of_death_without_threads), ABORTED + 1))
