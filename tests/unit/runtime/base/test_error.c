/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/error.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "tests/support/test.h"

static void test_fail_sets_status_and_message(void)
{
    CHECK_TEXT(cohort_error_message(), "");
    CHECK_INT(cohort_fail(COHORT_ERR_MISMATCH, "row %d of %s", 3, "x"), COHORT_ERR_MISMATCH);
    CHECK_TEXT(cohort_error_message(), "row 3 of x");
    CHECK_INT(cohort__error_slot()->status, COHORT_ERR_MISMATCH);
}

static void test_message_may_quote_the_last_one(void)
{
    cohort_fail(COHORT_ERR_FAILED, "inner");
    cohort_fail(COHORT_ERR_FAILED, "outer: %s", cohort_error_message());
    CHECK_TEXT(cohort_error_message(), "outer: inner");
}

/* Who says it and the cause stay. */
static void test_long_messages_are_cut(void)
{
    char text[2000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    cohort_fail(COHORT_ERR_FAILED, "site 1: %s: killed", text);
    CHECK_INT(strlen(cohort_error_message()), 511);
    CHECK(strncmp(cohort_error_message(), "site 1: x", 9) == 0);
    CHECK_CONTAINS(cohort_error_message(), "x ... x");
    CHECK_TEXT(strrchr(cohort_error_message(), 'x'), "x: killed");
}

static void test_keeps_errno(void)
{
    errno = 17;
    cohort_fail(COHORT_ERR_FAILED, "%s", "text");
    CHECK_INT(errno, 17);
}

static void test_slots(void)
{
    struct cohort__error slot = {0};
    cohort_fail(COHORT_ERR_FAILED, "the thread's");
    struct cohort__error *previous = cohort__error_slot_set(&slot);
    CHECK_TEXT(cohort_error_message(), "");
    cohort_fail(COHORT_ERR_GONE, "the slot's");
    CHECK(cohort__error_slot_set(previous) == &slot);
    CHECK_TEXT(cohort_error_message(), "the thread's");
    cohort__error_slot_set(&slot);
    CHECK_TEXT(cohort_error_message(), "the slot's");
    cohort__error_slot_set(NULL);
    CHECK_TEXT(cohort_error_message(), "the thread's");
    cohort__error_fini(&slot);
    cohort__error_fini(NULL);
}

static void test_copies_share_and_outlive(void)
{
    struct cohort__error first = {0}, second = {0};
    cohort__error_set(&first, COHORT_ERR_GONE, "%s", "text");
    cohort__error_copy(&second, &first);
    cohort__error_copy(&second, &second);
    CHECK(cohort__error_message(&first) == cohort__error_message(&second));
    cohort__error_fini(&first);
    CHECK_INT(first.status, COHORT_OK);
    CHECK_INT(second.status, COHORT_ERR_GONE);
    CHECK_TEXT(cohort__error_message(&second), "text");
    cohort__error_fini(&second);
}

static void test_without_text_the_status_speaks(void)
{
    struct cohort__error error = {.status = COHORT_ERR_GONE};
    CHECK_TEXT(cohort__error_message(&error), cohort_status_text(COHORT_ERR_GONE));
}

static void *fail_in_a_thread(void *arg)
{
    CHECK_TEXT(cohort_error_message(), "");
    cohort_fail(COHORT_ERR_FAILED, "in a thread");
    CHECK_TEXT(cohort_error_message(), "in a thread");
    return arg;
}

static void test_each_thread_has_its_own(void)
{
    cohort_fail(COHORT_ERR_FAILED, "mine");
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, fail_in_a_thread, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_TEXT(cohort_error_message(), "mine");
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"fail sets status and message", test_fail_sets_status_and_message},
        {"message may quote the last one", test_message_may_quote_the_last_one},
        {"long messages are cut", test_long_messages_are_cut},
        {"keeps errno", test_keeps_errno},
        {"slots", test_slots},
        {"copies share and outlive", test_copies_share_and_outlive},
        {"without text the status speaks", test_without_text_the_status_speaks},
        {"each thread has its own", test_each_thread_has_its_own},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
