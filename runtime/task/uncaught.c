/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/uncaught.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/base/symbol.h"
#include "runtime/task/worker.h"

/* The way from who throws to the frame that stops: what is the outermost function on it that is
 * neither of this library nor of libuv, which calls functions of the program for it? In a program
 * that these are parts of it is whatever that frame has called. */
struct way {
    _Unwind_Word end;
    const void *own, *uv; /* where the two are in memory; NULL: in the program */
    const void *found;
};

static const void *base_of(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
    struct way *way = arg;
    if (_Unwind_GetCFA(context) == way->end)
        return _URC_END_OF_STACK;
    const void *function = (const void *)_Unwind_GetRegionStart(context);
    const void *base = base_of(function);
    if (base && base != way->own && base != way->uv)
        way->found = function;
    return _URC_NO_REASON;
}

static const void *find_function(struct _Unwind_Context *end)
{
    const void *program = base_of(dlsym(RTLD_DEFAULT, "main"));
    struct way way = {.end = _Unwind_GetCFA(end),
                      .own = base_of((const void *)cohort__uncaught_stop),
                      .uv = base_of(dlsym(RTLD_DEFAULT, "uv_run"))};
    if (way.own == program)
        way.own = NULL;
    if (way.uv == program)
        way.uv = NULL;
    _Unwind_Backtrace(step, &way);
    return way.found;
}

static void say(struct _Unwind_Context *context)
{
    const struct cohort__worker *worker = cohort__worker_self;
    char name[480] = "a function", text[640];
    bool is_task = worker && worker->context;
    const void *function = is_task ? NULL : find_function(context);
    if (is_task)
        cohort__task_name(worker->context->shown, name, sizeof(name));
    else if (function)
        cohort__symbol_name(function, name, sizeof(name));
    int bytes = snprintf(text, sizeof(text), "cohort: an exception has left %s%s%s\n",
                         is_task ? "the task " : "", name,
                         is_task ? "" : ", which is called outside of tasks");
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
    if (actions & _UA_FORCE_UNWIND)
        return _URC_CONTINUE_UNWIND;
    say(context);
    return _URC_FATAL_PHASE1_ERROR;
}
