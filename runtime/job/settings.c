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
#include "runtime/base/text.h"
#include "runtime/base/trace.h"
#include "runtime/base/variable.h"
#include "runtime/task/blocking.h"
#include "runtime/task/spin.h"

enum {
    MOST_PLACES = 4096,       /* as many as localities */
    TRACE_MIB = 1024,         /* of a locality, if COHORT_TRACE_MIB is not set */
    MOST_TRACE_MIB = 1 << 30, /* more than any disk has */
    MOST_MEMORY_MIB = 1 << 30,
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

/* Which of NUM WORDS the variable NAME is. The first one if it is not set, or set to nothing; that
 * may be "", which is not among those that it can be. */
static cohort_status read_word(const char *name, const char *const words[], int num, int *ret_word)
{
    const char *text = getenv(name);
    char list[100];
    struct cohort__text possible = {.bytes = list, .capacity = sizeof(list)};
    for (int i = 0; i < num; i++)
        if ((!text || !*text) ? i == 0 : strcmp(text, words[i]) == 0) {
            *ret_word = i;
            return COHORT_OK;
        }
    for (int i = *words[0] ? 0 : 1; i < num; i++)
        cohort__text_append(&possible, "\"%s\"%s", words[i],
                            i + 1 == num   ? ""
                            : i + 2 == num ? " or "
                                           : ", ");
    return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                       "environment variable %s is \"%.40s\"; it can be %s", name, text, list);
}

static cohort_status read_words(struct cohort__settings *settings)
{
    static const char *const transports[] = {[COHORT__TRANSPORT_ANY] = "",
                                             [COHORT__TRANSPORT_SHM] = "shm",
                                             [COHORT__TRANSPORT_OFI] = "ofi"};
    static const char *const guards[] = {[COHORT__STACK_GUARD_KERNEL] = "kernel",
                                         [COHORT__STACK_GUARD_PAGE] = "page",
                                         [COHORT__STACK_GUARD_CANARY] = "canary"};
    static const char *const tasks[] = {"pinned", "movable"};
    static const char *const progress[] = {"workers", "thread"};
    int transport = 0, guard = 0, task = 0, thread = 0;
    cohort_status status = read_word("COHORT_NET", transports, 3, &transport);
    if (!status)
        status = read_word("COHORT_STACK_GUARD", guards, 3, &guard);
    if (!status)
        status = read_word("COHORT_TASKS", tasks, 2, &task);
    if (!status)
        status = read_word("COHORT_PROGRESS", progress, 2, &thread);
    settings->transport = (enum cohort__transport)transport;
    settings->stack_guard = (enum cohort__stack_guard)guard;
    settings->tasks_move = task == 1;
    settings->progress_thread = thread == 1;
    return status;
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

static cohort_status read_numbers(struct cohort__settings *settings)
{
    unsigned long workers, spin, stack, budget, grace, blocking, trace_mib, memory_mib;
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
        status = cohort__variable_number("COHORT_MEMORY_MIB", 1, MOST_MEMORY_MIB, 0, &memory_mib);
    if (status)
        return status;
    settings->workers = (unsigned)workers;
    settings->spin = spin == ULONG_MAX ? -1 : (int64_t)spin * 1000;
    settings->stack = stack;
    settings->eager_budget = budget;
    settings->grace = grace * 1000000000;
    settings->blocking_threads = (unsigned)blocking;
    settings->trace_bytes = (uint64_t)trace_mib << 20;
    settings->memory = (uint64_t)memory_mib << 20;
    return COHORT_OK;
}

/* SETTINGS are all zero. */
static cohort_status read_all(struct cohort__settings *settings)
{
    cohort_status status = read_numbers(settings);
    if (!status)
        status = read_words(settings);
    if (!status)
        status = read_topology(&settings->topology);
    if (!status)
        status = read_levels(settings->levels);
    if (!status)
        status = read_fault(&settings->fault);
    if (!status)
        status = check_log();
    if (!status)
        status = read_trace(settings->trace);
    if (!status)
        status = read_stats(settings->stats);
    return status;
}

cohort_status cohort__settings_read(struct cohort__settings *ret_settings)
{
    struct cohort__settings *settings = calloc(1, sizeof(*settings)); /* large for a stack */
    if (!settings)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the settings");
    cohort_status status = read_all(settings);
    if (!status)
        *ret_settings = *settings;
    free(settings);
    return status;
}
