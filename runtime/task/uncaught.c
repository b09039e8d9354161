/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/uncaught.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/task/worker.h"

static void say(void)
{
    const struct cohort__worker *worker = cohort__worker_self;
    char name[480] = "a function that is called outside of tasks", text[640];
    if (worker && worker->context) {
        memcpy(name, "the task ", sizeof("the task "));
        cohort__task_name(worker->context->shown, name + strlen(name), sizeof(name) - strlen(name));
    }
    int bytes = snprintf(text, sizeof(text), "cohort: an exception has left %s\n", name);
    (void)!write(STDERR_FILENO, text, (size_t)bytes);
}

/* The end of a thread (pthread_exit, pthread_cancel) passes. */
_Unwind_Reason_Code cohort__uncaught_stop(int version, _Unwind_Action actions,
                                          _Unwind_Exception_Class exception_class,
                                          struct _Unwind_Exception *exception,
                                          struct _Unwind_Context *context)
{
    (void)version;
    (void)exception_class;
    (void)exception;
    (void)context;
    if (actions & _UA_FORCE_UNWIND)
        return _URC_CONTINUE_UNWIND;
    say();
    return _URC_FATAL_PHASE1_ERROR;
}
