/* SPDX-License-Identifier: Apache-2.0 */
/* In C: an exception is thrown by the unwinder's own function. tests/multi/exceptions_test.py has
 * real ones. */
#include "runtime/task/uncaught.h"

#include <unistd.h>

#include "cohort/future.h"
#include "cohort/task.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/task/run_tasks.h"

/* On x86_64 and aarch64 each function has unwind tables. */
static cohort_status throws(void *arg)
{
    static struct _Unwind_Exception exception;
    *(_Unwind_Reason_Code *)arg = _Unwind_RaiseException(&exception);
    return COHORT_OK;
}

static cohort_status throws_later(void *arg)
{
    cohort_yield();
    return throws(arg);
}

static bool looks_beyond;

/* Of the frame of a task that awaits another one: the unwinder is not to come so far. */
static _Unwind_Reason_Code look_beyond(int version, _Unwind_Action actions,
                                       _Unwind_Exception_Class exception_class,
                                       struct _Unwind_Exception *exception,
                                       struct _Unwind_Context *context)
{
    looks_beyond = true;
    return _URC_CONTINUE_UNWIND;
}

static cohort_status in_place(void *arg)
{
#if defined(COHORT__PLACE_OF_FUNCTION)
    __asm__ volatile(".cfi_personality 0x1b, %c0" : : COHORT__PLACE_OF_FUNCTION(look_beyond));
#endif
    cohort_status status = await_here(cohort_async(throws, arg));
    __asm__ volatile("" : "+r"(status)); /* so that the frame is there during the call */
    return status;
}

static cohort_status on_its_stack(void *arg)
{
    cohort_future *future = cohort_async(throws_later, arg);
    cohort_yield();
    return cohort_await(future);
}

/* What FUNCTION says on standard error. */
static void check_stops(cohort_task_function *function)
{
    char text[1024];
    int ends[2], before = dup(STDERR_FILENO);
    _Unwind_Reason_Code why = _URC_NO_REASON;
    CHECK(before >= 0 && pipe(ends) == 0);
    CHECK_INT(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    cohort_status status = run_tasks(1, function, &why);
    CHECK_INT(dup2(before, STDERR_FILENO), STDERR_FILENO);
    close(ends[1]);
    ssize_t bytes = read(ends[0], text, sizeof(text) - 1);
    text[bytes < 0 ? 0 : bytes] = 0;
    close(ends[0]);
    close(before);
    CHECK_OK(status);
    CHECK(!looks_beyond);
    CHECK_INT(why, _URC_FATAL_PHASE1_ERROR);
    CHECK_CONTAINS(text, "cohort: an exception has left the task ");
    CHECK_CONTAINS(text, "test_task_uncaught");
}

TEST(stopped)
{
    check_stops(throws);
    check_stops(in_place);
    check_stops(on_its_stack);
}
