/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/error.h"

#include <errno.h>
#include <string.h>

#include "tests/support/test.h"
#include "tests/support/thread.h"

TEST(fail_sets_status_and_message)
{
    CHECK_TEXT(cohort_error_message(), "");
    CHECK_INT(cohort_fail(COHORT_ERR_MISMATCH, "row %d of %s", 3, "x"), COHORT_ERR_MISMATCH);
    CHECK_TEXT(cohort_error_message(), "row 3 of x");
    CHECK_INT(cohort__error_slot()->status, COHORT_ERR_MISMATCH);
}

TEST(message_may_quote_the_last_one)
{
    cohort_fail(COHORT_ERR_FAILED, "inner");
    cohort_fail(COHORT_ERR_FAILED, "outer: %s", cohort_error_message());
    CHECK_TEXT(cohort_error_message(), "outer: inner");
}

/* Who says it and the cause stay. */
TEST(long_messages_are_cut)
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

TEST(keeps_errno)
{
    errno = 17;
    cohort_fail(COHORT_ERR_FAILED, "%s", "text");
    CHECK_INT(errno, 17);
}

TEST(slots)
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

TEST(copies_share_and_outlive)
{
    struct cohort__error first = {0}, second = {0};
    cohort__error_set(&first, COHORT_ERR_GONE, "%s", "text");
    cohort__error_copy(&second, &first);
    cohort__error_copy(&second, &second);
    CHECK(cohort__error_message(&first) == cohort__error_message(&second));
    cohort__error_fini(&first);
    CHECK_OK(first.status);
    CHECK_INT(second.status, COHORT_ERR_GONE);
    CHECK_TEXT(cohort__error_message(&second), "text");
    cohort__error_fini(&second);
}

TEST(without_text_the_status_speaks)
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

TEST(each_thread_has_its_own)
{
    cohort_fail(COHORT_ERR_FAILED, "mine");
    pthread_t thread = new_thread(fail_in_a_thread, NULL);
    end_thread(thread);
    CHECK_TEXT(cohort_error_message(), "mine");
}
