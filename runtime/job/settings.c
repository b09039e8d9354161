/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/settings.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/bounds.h"
#include "runtime/base/counters.h"
#include "runtime/base/log.h"
#include "runtime/base/trace.h"
#include "runtime/base/variable.h"
#include "runtime/task/blocking.h"
#include "runtime/task/spin.h"

enum {
    MOST_PLACES = 4096,       /* as many as localities */
    TRACE_MIB = 1024,         /* of a locality, if COHORT_TRACE_MIB is not set */
    MOST_TRACE_MIB = 1 << 30, /* more than any disk has */
};

/* Reads a number at *TEXT, and moves *TEXT behind it. 0: there is none from 1 to 4096. */
static uint32_t take_number(const char **text)
{
    uint32_t number = 0;
    while (isdigit((unsigned char)**text) && number <= MOST_PLACES)
        number = 10 * number + (uint32_t)(*(*text)++ - '0');
    return number <= MOST_PLACES ? number : 0;
}

static cohort_status read_topology(struct cohort__topology *ret_topology)
{
    const char *text = getenv("COHORT_TOPOLOGY");
    if (!text || !*text)
        return COHORT_OK;
    const char *at = text;
    uint32_t numbers[3] = {0};
    bool is_good = true;
    for (int i = 0; is_good && i < 3; i++) {
        numbers[i] = take_number(&at);
        is_good = numbers[i] > 0 && *at++ == (i < 2 ? 'x' : '\0');
    }
    if (!is_good)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "environment variable COHORT_TOPOLOGY is \"%.40s\", not "
                           "HOSTSxDOMAINSxLOCALITIES, each from 1 to %d",
                           text, MOST_PLACES);
    *ret_topology = (struct cohort__topology){numbers[0], numbers[1], numbers[2]};
    return COHORT_OK;
}

/* RET_LEVELS was empty. */
static cohort_status read_levels(char ret_levels[COHORT__NAMED_LEVELS_BYTES + 1])
{
    const char *text = getenv("COHORT_LEVELS");
    struct cohort__named_levels levels;
    size_t bytes = text ? strlen(text) : 0;
    if (bytes == 0)
        return COHORT_OK;
    if (cohort__named_levels_read(text, bytes, &levels))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "environment variable COHORT_LEVELS is \"%.200s\", %s", text,
                           cohort_error_message());
    memcpy(ret_levels, text, bytes + 1);
    return COHORT_OK;
}

static cohort_status read_fault(struct cohort__fault_plan *ret_plan)
{
    const char *text = getenv("COHORT_FAULT");
    if (!text || !cohort__fault_plan_read(text, ret_plan))
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                       "environment variable COHORT_FAULT is \"%.200s\", %s", text,
                       cohort_error_message());
}

static cohort_status read_transport(enum cohort__transport *ret_transport)
{
    const char *net = getenv("COHORT_NET");
    if (!net || !*net)
        *ret_transport = COHORT__TRANSPORT_ANY;
    else if (strcmp(net, "shm") == 0)
        *ret_transport = COHORT__TRANSPORT_SHM;
    else if (strcmp(net, "ofi") == 0)
        *ret_transport = COHORT__TRANSPORT_OFI;
    else
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "environment variable COHORT_NET is \"%.40s\"; it can be \"shm\" or "
                           "\"ofi\"",
                           net);
    return COHORT_OK;
}

static cohort_status read_stack_guard(enum cohort__stack_guard *ret_guard)
{
    const char *guard = getenv("COHORT_STACK_GUARD");
    if (!guard || !*guard || strcmp(guard, "kernel") == 0)
        *ret_guard = COHORT__STACK_GUARD_KERNEL;
    else if (strcmp(guard, "page") == 0)
        *ret_guard = COHORT__STACK_GUARD_PAGE;
    else if (strcmp(guard, "canary") == 0)
        *ret_guard = COHORT__STACK_GUARD_CANARY;
    else
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "environment variable COHORT_STACK_GUARD is \"%.40s\"; it can be "
                           "\"kernel\", \"page\" or \"canary\"",
                           guard);
    return COHORT_OK;
}

static cohort_status read_tasks(bool *ret_move)
{
    const char *tasks = getenv("COHORT_TASKS");
    if (!tasks || !*tasks || strcmp(tasks, "pinned") == 0)
        *ret_move = false;
    else if (strcmp(tasks, "movable") == 0)
        *ret_move = true;
    else
        return cohort_fail(
            COHORT_ERR_BAD_PARAMETER,
            "environment variable COHORT_TASKS is \"%.40s\"; it can be \"pinned\" or "
            "\"movable\"",
            tasks);
    return COHORT_OK;
}

static cohort_status read_progress(bool *ret_thread)
{
    const char *progress = getenv("COHORT_PROGRESS");
    if (!progress || !*progress || strcmp(progress, "workers") == 0)
        *ret_thread = false;
    else if (strcmp(progress, "thread") == 0)
        *ret_thread = true;
    else
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "environment variable COHORT_PROGRESS is \"%.40s\"; it can be "
                           "\"workers\" or \"thread\"",
                           progress);
    return COHORT_OK;
}

/* The program may go to another folder before the trace ends. RET_FILE was empty. */
static cohort_status read_trace(char ret_file[COHORT__TRACE_PATH_BYTES])
{
    const char *file = getenv("COHORT_TRACE");
    char folder[COHORT__TRACE_PATH_BYTES] = "";
    if (!file || !*file)
        return COHORT_OK;
    if (*file != '/' && !getcwd(folder, sizeof(folder)))
        return cohort_fail(COHORT_ERR_SYSTEM,
                           "environment variable COHORT_TRACE: the current folder: %s",
                           strerror(errno));
    int bytes = snprintf(ret_file, COHORT__TRACE_PATH_BYTES, "%s%s%s", folder,
                         *file == '/' ? "" : "/", file);
    if (bytes < COHORT__TRACE_PATH_BYTES)
        return cohort__trace_check_file(ret_file);
    return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                       "environment variable COHORT_TRACE is a path of %d bytes, with the current "
                       "folder; %d are possible",
                       bytes, COHORT__TRACE_PATH_BYTES - 1);
}

/* RET_STATS was empty. */
static cohort_status read_stats(char ret_stats[COHORT__TRACE_PATH_BYTES])
{
    const char *stats = getenv("COHORT_STATS");
    size_t bytes = stats ? strlen(stats) : 0;
    if (bytes == 0 || strcmp(stats, "0") == 0)
        return COHORT_OK;
    if (bytes >= COHORT__TRACE_PATH_BYTES)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "environment variable COHORT_STATS is a path of %zu bytes; %d are "
                           "possible",
                           bytes, COHORT__TRACE_PATH_BYTES - 1);
    memcpy(ret_stats, stats, bytes + 1);
    return cohort__counters_check(stats);
}

/* Checks COHORT_LOG. The log reads this variable itself, in the first thread that logs, where it
 * can't report an error. */
static cohort_status check_log(void)
{
    enum cohort__log_level level;
    const char *name = getenv("COHORT_LOG");
    if (!name || !*name || cohort__log_level_named(name, &level))
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                       "environment variable COHORT_LOG is \"%.40s\"; it can be \"error\", "
                       "\"warn\", \"info\", \"debug\" or \"off\"",
                       name);
}

struct paths {
    char trace[COHORT__TRACE_PATH_BYTES];
    char stats[COHORT__TRACE_PATH_BYTES];
};

cohort_status cohort__settings_read(struct cohort__settings *ret_settings)
{
    unsigned long workers = 0, spin = 0, stack = 0, budget = 0, grace = 0, blocking = 0;
    unsigned long trace_mib = 0;
    enum cohort__transport transport = COHORT__TRANSPORT_ANY;
    enum cohort__stack_guard stack_guard = COHORT__STACK_GUARD_KERNEL;
    bool tasks_move = false, progress_thread = false;
    struct cohort__topology topology = {0};
    char levels[COHORT__NAMED_LEVELS_BYTES + 1] = "";
    struct cohort__fault_plan fault = {0};
    cohort_status status =
        cohort__variable_number("COHORT_WORKERS", 1, COHORT__MAX_WORKERS, 0, &workers);
    if (!status)
        status =
            cohort__variable_number("COHORT_SPIN", 0, COHORT__SPIN_MAX_NS / 1000, ULONG_MAX, &spin);
    if (!status)
        status = cohort__variable_number("COHORT_STACK", COHORT__MIN_STACK_BYTES,
                                         COHORT__MAX_STACK_BYTES, 256 << 10, &stack);
    if (!status)
        status = cohort__variable_number("COHORT_EAGER_BUDGET", 1, 1 << 30, 0, &budget);
    if (!status)
        status = cohort__variable_number("COHORT_GRACE", 1, 24 * 3600, 1, &grace);
    if (!status)
        status = cohort__variable_number("COHORT_BLOCKING_THREADS", 1, COHORT__MAX_BLOCKING_THREADS,
                                         COHORT__BLOCKING_THREADS, &blocking);
    if (!status)
        status =
            cohort__variable_number("COHORT_TRACE_MIB", 1, MOST_TRACE_MIB, TRACE_MIB, &trace_mib);
    if (!status)
        status = read_transport(&transport);
    if (!status)
        status = read_stack_guard(&stack_guard);
    if (!status)
        status = read_tasks(&tasks_move);
    if (!status)
        status = read_progress(&progress_thread);
    if (!status)
        status = read_topology(&topology);
    if (!status)
        status = read_levels(levels);
    if (!status)
        status = read_fault(&fault);
    if (!status)
        status = check_log();
    struct paths *paths = calloc(1, sizeof(*paths)); /* too large for a stack that is not ours */
    if (!status && !paths)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the settings");
    if (!status)
        status = read_trace(paths->trace);
    if (!status)
        status = read_stats(paths->stats);
    if (status) {
        free(paths);
        return status;
    }
    *ret_settings = (struct cohort__settings){
        .workers = (unsigned)workers,
        .spin = spin == ULONG_MAX ? -1 : (int64_t)spin * 1000,
        .stack = stack,
        .stack_guard = stack_guard,
        .tasks_move = tasks_move,
        .progress_thread = progress_thread,
        .blocking_threads = (unsigned)blocking,
        .eager_budget = budget,
        .grace = grace * 1000000000,
        .transport = transport,
        .topology = topology,
        .fault = fault,
        .trace_bytes = (uint64_t)trace_mib << 20,
    };
    memcpy(ret_settings->trace, paths->trace, sizeof(paths->trace));
    memcpy(ret_settings->stats, paths->stats, sizeof(paths->stats));
    memcpy(ret_settings->levels, levels, sizeof(levels));
    free(paths);
    return COHORT_OK;
}
