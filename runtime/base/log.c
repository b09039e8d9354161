/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 1024, LEVEL_UNKNOWN = -1 };

static const char *const level_names[] = {"off", "error", "warn", "info", "debug"};

static atomic_int current_level = LEVEL_UNKNOWN;
static cohort__log_sink *current_sink;
static void *current_sink_context;

bool cohort__log_level_named(const char *text, enum cohort__log_level *ret_level)
{
    for (int level = COHORT__LOG_OFF; level <= COHORT__LOG_DEBUG; level++) {
        if (strcmp(text, level_names[level]) != 0)
            continue;
        *ret_level = (enum cohort__log_level)level;
        return true;
    }
    return false;
}

static int level_from_environment(void)
{
    const char *name = getenv("COHORT_LOG");
    enum cohort__log_level level;
    return name && cohort__log_level_named(name, &level) ? (int)level : COHORT__LOG_OFF;
}

static int level_get(void)
{
    int level = atomic_load_explicit(&current_level, memory_order_relaxed);
    if (level != LEVEL_UNKNOWN)
        return level;
    int expected = LEVEL_UNKNOWN;
    level = level_from_environment();
    if (!atomic_compare_exchange_strong(&current_level, &expected, level))
        level = expected; /* another thread has just set it */
    return level;
}

static void write_line(enum cohort__log_level level, const char *line, size_t bytes)
{
    if (current_sink) {
        current_sink(current_sink_context, level, line, bytes);
        return;
    }
    while (write(STDERR_FILENO, line, bytes) < 0 && errno == EINTR)
        ;
}

bool cohort__log_enabled(enum cohort__log_level level)
{
    return (int)level <= level_get() && level != COHORT__LOG_OFF;
}

void cohort__log_level_set(enum cohort__log_level level)
{
    atomic_store(&current_level, (int)level);
}

void cohort__log_sink_set(cohort__log_sink *sink, void *context)
{
    current_sink = sink;
    current_sink_context = context;
}

void cohort__log(enum cohort__log_level level, const char *format, ...)
{
    if (!cohort__log_enabled(level))
        return;
    int saved_errno = errno;
    char line[LINE_BYTES];
    int prefix = snprintf(line, sizeof(line), "cohort[%d] %s: ", (int)getpid(), level_names[level]);
    va_list args;
    va_start(args, format);
    int text = vsnprintf(line + prefix, sizeof(line) - (size_t)prefix - 1, format, args);
    va_end(args);
    size_t bytes = (size_t)prefix + (text < 0 ? 0 : strlen(line + prefix));
    line[bytes++] = '\n';
    write_line(level, line, bytes);
    errno = saved_errno;
}
