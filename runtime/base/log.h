/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_LOG_H
#define COHORT_RUNTIME_BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Off, unless the environment has COHORT_LOG=error|warn|info|debug. Then messages of that level and
 * of all more severe levels go to stderr, each line by one write(2). Any thread. */
enum cohort__log_level {
    COHORT__LOG_OFF,
    COHORT__LOG_ERROR,
    COHORT__LOG_WARN,
    COHORT__LOG_INFO,
    COHORT__LOG_DEBUG,
};

/* When the level is off, it costs little more than the evaluation of its arguments. Lines are cut
 * at 1023 bytes. A newline is added. */
void cohort__log(enum cohort__log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether TEXT, a value of COHORT_LOG, is the name of a level. If so, the level is in
 * *ret_level. */
bool cohort__log_level_named(const char *text, enum cohort__log_level *ret_level);

bool cohort__log_enabled(enum cohort__log_level level);

/* Overrides the environment. */
void cohort__log_level_set(enum cohort__log_level level);

/* Called with whole lines, newline included, from any thread, and by several threads at a time.
 * NULL means stderr. The sink must stay valid while it is in use. Set it while no thread logs. */
typedef void cohort__log_sink(void *context, enum cohort__log_level level, const char *line,
                              size_t bytes);
void cohort__log_sink_set(cohort__log_sink *sink, void *context);

#endif
