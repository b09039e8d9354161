/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/task/blocking.h"
#include "tests/support/test.h"

static const char *const variables[] = {"COHORT_WORKERS",
                                        "COHORT_STACK",
                                        "COHORT_EAGER_BUDGET",
                                        "COHORT_GRACE",
                                        "COHORT_NET",
                                        "COHORT_LOG",
                                        "COHORT_SPIN",
                                        "COHORT_STACK_GUARD",
                                        "COHORT_TASKS",
                                        "COHORT_TOPOLOGY",
                                        "COHORT_PROGRESS",
                                        "COHORT_LEVELS",
                                        "COHORT_BLOCKING_THREADS",
                                        "COHORT_FAULT",
                                        "COHORT_TRACE",
                                        "COHORT_TRACE_MIB",
                                        "COHORT_STATS",
                                        "COHORT_MEMORY_MIB"};

static struct cohort__settings settings;

/* Only VARIABLE is set. */
static cohort_status read_with(const char *variable, const char *value)
{
    for (size_t i = 0; i < NUM_OF(variables); i++)
        CHECK_INT(unsetenv(variables[i]), 0);
    if (variable)
        CHECK_INT(setenv(variable, value, 1), 0);
    settings = (struct cohort__settings){77,
                                         77,
                                         77,
                                         COHORT__STACK_GUARD_CANARY,
                                         true,
                                         true,
                                         77,
                                         77,
                                         77,
                                         COHORT__TRANSPORT_OFI,
                                         {7, 7, 7},
                                         "seven",
                                         {.num_rules = 7},
                                         "seven",
                                         77,
                                         "seven",
                                         77};
    return cohort__settings_read(&settings);
}

static void check_defaults(void)
{
    CHECK_INT(settings.workers, 0);
    CHECK_INT(settings.spin, -1);
    CHECK_INT(settings.stack, 256 << 10);
    CHECK_INT(settings.stack_guard, COHORT__STACK_GUARD_KERNEL);
    CHECK(!settings.tasks_move);
    CHECK(!settings.progress_thread);
    CHECK_INT(settings.blocking_threads, COHORT__BLOCKING_THREADS);
    CHECK_INT(settings.eager_budget, 0);
    CHECK_INT(settings.grace, 1000000000);
    CHECK_INT(settings.topology.hosts, 0);
    CHECK_TEXT(settings.levels, "");
    CHECK(cohort__fault_plan_is_empty(&settings.fault));
    CHECK_TEXT(settings.trace, "");
    CHECK_INT(settings.trace_bytes, 1024 << 20);
    CHECK_INT(settings.memory, 0);
}

TEST(defaults)
{
    CHECK_OK(read_with(NULL, NULL));
    check_defaults();
    for (size_t i = 0; i < NUM_OF(variables); i++) {
        CHECK_OK(read_with(variables[i], ""));
        check_defaults();
    }
}

#define CHECK_VALUE(variable, value, field, want)                                                  \
    (CHECK_OK(read_with(variable, value)), CHECK_INT(settings.field, want))

TEST(values)
{
    CHECK_VALUE("COHORT_WORKERS", "1", workers, 1);
    CHECK_VALUE("COHORT_WORKERS", "4096", workers, 4096);
    CHECK_VALUE("COHORT_BLOCKING_THREADS", "3", blocking_threads, 3);
    CHECK_VALUE("COHORT_SPIN", "0", spin, 0);
    CHECK_VALUE("COHORT_SPIN", "1000000", spin, 1000000000);
    CHECK_VALUE("COHORT_STACK", "32768", stack, 32768);
    CHECK_VALUE("COHORT_STACK", "1073741824", stack, 1 << 30);
    CHECK_VALUE("COHORT_STACK_GUARD", "page", stack_guard, COHORT__STACK_GUARD_PAGE);
    CHECK_VALUE("COHORT_STACK_GUARD", "canary", stack_guard, COHORT__STACK_GUARD_CANARY);
    CHECK_VALUE("COHORT_STACK_GUARD", "kernel", stack_guard, COHORT__STACK_GUARD_KERNEL);
    CHECK_OK(read_with("COHORT_TASKS", "movable"));
    CHECK(settings.tasks_move);
    CHECK_OK(read_with("COHORT_TASKS", "pinned"));
    CHECK(!settings.tasks_move);
    CHECK_OK(read_with("COHORT_PROGRESS", "thread"));
    CHECK(settings.progress_thread);
    CHECK_OK(read_with("COHORT_PROGRESS", "workers"));
    CHECK(!settings.progress_thread);
    CHECK_VALUE("COHORT_EAGER_BUDGET", "010", eager_budget, 10); /* not octal */
    CHECK_INT(settings.workers, 0);
    CHECK_OK(read_with("COHORT_TRACE", "/tmp/run.pb"));
    CHECK_TEXT(settings.trace, "/tmp/run.pb");
    CHECK_INT(chdir("/"), 0);
    CHECK_OK(read_with("COHORT_TRACE", "run.pb"));
    CHECK_CONTAINS(settings.trace, "/run.pb");
    CHECK_VALUE("COHORT_MEMORY_MIB", "5", memory, 5 << 20);
    CHECK_VALUE("COHORT_TRACE_MIB", "3", trace_bytes, 3 << 20);
    CHECK_TEXT(settings.stats, "");
    CHECK_OK(read_with("COHORT_STATS", "1"));
    CHECK_TEXT(settings.stats, "1");
    CHECK_OK(read_with("COHORT_STATS", "run.json"));
    CHECK_TEXT(settings.stats, "run.json");
    CHECK_OK(read_with("COHORT_STATS", "0"));
    CHECK_TEXT(settings.stats, "");
    static char long_path[COHORT__TRACE_PATH_BYTES + 1];
    memset(long_path, 'a', COHORT__TRACE_PATH_BYTES);
    CHECK_INT(read_with("COHORT_STATS", long_path), COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), "environment variable COHORT_STATS is a path of 4096 bytes; "
                                       "4095 are possible");
    CHECK_VALUE("COHORT_GRACE", "86400", grace, 86400 * 1000000000ll);
    CHECK_OK(read_with("COHORT_NET", "ofi"));
    CHECK_OK(read_with("COHORT_NET", "shm"));
    CHECK_OK(read_with("COHORT_LOG", "warn"));
    CHECK_OK(read_with("COHORT_LOG", "off"));
    check_defaults();
    CHECK_OK(read_with("COHORT_TOPOLOGY", "1x4096x012"));
    CHECK_INT(settings.topology.hosts, 1);
    CHECK_INT(settings.topology.domains, 4096);
    CHECK_INT(settings.topology.localities, 12);
    CHECK_OK(read_with("COHORT_LEVELS", "switch=s1,rack=r7"));
    CHECK_TEXT(settings.levels, "switch=s1,rack=r7");
    CHECK_OK(read_with("COHORT_FAULT", "kill:1@7"));
    CHECK_INT(settings.fault.num_rules, 1);
    CHECK_INT(settings.fault.rules[0].number, 7);
}

/* Nothing is touched. */
static void check_mistake(const char *variable, const char *value)
{
    CHECK_FAILS(read_with(variable, value), COHORT_ERR_BAD_PARAMETER, variable);
    CHECK_CONTAINS(cohort_error_message(), value);
    CHECK_INT(settings.workers, 77);
    CHECK_INT(settings.spin, 77);
    CHECK_INT(settings.stack, 77);
    CHECK_INT(settings.stack_guard, COHORT__STACK_GUARD_CANARY);
    CHECK(settings.tasks_move);
    CHECK(settings.progress_thread);
    CHECK_INT(settings.topology.domains, 7);
}

TEST(mistakes)
{
    static const struct {
        const char *variable, *values[11];
    } mistakes[] = {
        {"COHORT_WORKERS",
         {"0", "4097", "-1", "+1", " 1", "1 ", "two", "0x2", "1e2", "18446744073709551617"}},
        {"COHORT_STACK", {"32767", "1073741825", "64k"}},
        {"COHORT_EAGER_BUDGET", {"0", "1073741825", "-10", "18446744073709551606"}},
        {"COHORT_NET", {"sham", "OFI", "ofi "}},
        {"COHORT_GRACE", {"0.5", "86401"}},
        {"COHORT_TRACE_MIB", {"0"}},
        {"COHORT_MEMORY_MIB", {"0", "1073741825"}},
        {"COHORT_SPIN", {"-1", "1000001", "1.5"}},
        {"COHORT_LOG", {"verbose", "Warn"}},
        {"COHORT_STACK_GUARD", {"pages"}},
        {"COHORT_TASKS", {"moveable"}},
        {"COHORT_TOPOLOGY",
         {"2x2", "2x2x2x2", "0x1x1", "1x4097x1", "1x1x99999999999", "2X2x2", "1x x1", "1x-1x1",
          "2x2x2 "}},
        {"COHORT_PROGRESS", {"threads", "1"}},
        {"COHORT_BLOCKING_THREADS", {"0", "1025"}},
        {"COHORT_FAULT", {"kill"}},
        {"COHORT_LEVELS", {"switch", "switch=1 rack=2", "host=h1", "switch=s1,"}},
    };
    for (size_t i = 0; i < NUM_OF(mistakes); i++)
        for (const char *const *value = mistakes[i].values; *value; value++)
            check_mistake(mistakes[i].variable, *value);
    CHECK_FAILS(
        read_with("COHORT_WORKERS", "4096 of them or more if the machine has as many as that"),
        COHORT_ERR_BAD_PARAMETER, "not a number from 1 to 4096");
    CHECK_INT(read_with("COHORT_PROGRESS", "always"), COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), "environment variable COHORT_PROGRESS is \"always\"; it "
                                       "can be \"workers\" or \"thread\"");
}
