/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/text.h"

/* The collectives in the order of enum cohort__collective; a test compares them. */
static const char *const names[COHORT__NUM_COUNTERS] = {
    [COHORT__COUNTER_TASKS_STARTED] = "tasks_started",
    [COHORT__COUNTER_TASKS_ENDED] = "tasks_ended",
    [COHORT__COUNTER_TASKS_IN_PLACE] = "tasks_in_place",
    [COHORT__COUNTER_TASKS_STOLEN] = "tasks_stolen",
    [COHORT__COUNTER_SUSPENSIONS] = "suspensions",
    [COHORT__COUNTER_YIELDS] = "yields",
    [COHORT__COUNTER_THREAD_SLEEPS] = "thread_sleeps",
    [COHORT__COUNTER_MESSAGES_SENT] = "messages_sent",
    [COHORT__COUNTER_MESSAGES_RECEIVED] = "messages_received",
    [COHORT__COUNTER_MESSAGES_DROPPED] = "messages_dropped",
    [COHORT__COUNTER_BYTES_SENT] = "bytes_sent",
    [COHORT__COUNTER_BYTES_RECEIVED] = "bytes_received",
    [COHORT__COUNTER_FETCHES] = "fetches",
    [COHORT__COUNTER_BYTES_FETCHED] = "bytes_fetched",
    [COHORT__COUNTER_REMOTE_CALLS] = "remote_calls",
    [COHORT__COUNTER_REMOTE_SERVED] = "remote_served",
    [COHORT__COUNTER_LOOP_EVENTS] = "loop_events",
    [COHORT__COUNTER_LOOP_TICKS] = "loop_ticks",
    [COHORT__COUNTER_SLAB_CHUNKS] = "slab_chunks",
    [COHORT__COUNTER_USER_US] = "user_us",
    [COHORT__COUNTER_SYSTEM_US] = "system_us",
    [COHORT__COUNTER_MAX_MEMORY_BYTES] = "max_memory_bytes",
    [COHORT__COUNTER_MINOR_FAULTS] = "minor_faults",
    [COHORT__COUNTER_MAJOR_FAULTS] = "major_faults",
    [COHORT__COUNTER_VOLUNTARY_SWITCHES] = "voluntary_switches",
    [COHORT__COUNTER_INVOLUNTARY_SWITCHES] = "involuntary_switches",
    [COHORT__COUNTER_COLLECTIVES_FAILED] = "collectives_failed",
    [COHORT__COUNTER_CALLED] = "called_gather",
    "called_scatter",
    "called_broadcast",
    "called_reduce",
    "called_all_gather",
    "called_all_reduce",
    "called_all_to_all",
    "called_barrier",
    "called_reduce_scatter",
    "called_scan",
    "called_exclusive_scan",
    "called_shift",
    "called_exchange",
    "called_check",
    [COHORT__COUNTER_ENDED] = "ended_gather",
    "ended_scatter",
    "ended_broadcast",
    "ended_reduce",
    "ended_all_gather",
    "ended_all_reduce",
    "ended_all_to_all",
    "ended_barrier",
    "ended_reduce_scatter",
    "ended_scan",
    "ended_exclusive_scan",
    "ended_shift",
    "ended_exchange",
    "ended_check",
};

const char *cohort__counter_name(unsigned counter)
{
    return names[counter];
}

/* The ledger ---------------------------------------------------------------------------------- */

void cohort__counters_publish(const struct cohort__counters *counters,
                              struct cohort__counters_line *line)
{
    atomic_store_explicit(&line->at, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&line->rank, counters->rank, memory_order_relaxed);
    for (unsigned i = 0; i < COHORT__NUM_COUNTERS; i++)
        atomic_store_explicit(&line->of[i], counters->of[i], memory_order_relaxed);
    atomic_store_explicit(&line->at, counters->at, memory_order_release);
}

void cohort__counters_take(struct cohort__counters *ret_counters,
                           const struct cohort__counters_line *line)
{
    ret_counters->at = atomic_load_explicit(&line->at, memory_order_relaxed);
    ret_counters->rank = atomic_load_explicit(&line->rank, memory_order_relaxed);
    for (unsigned i = 0; i < COHORT__NUM_COUNTERS; i++)
        ret_counters->of[i] = atomic_load_explicit(&line->of[i], memory_order_relaxed);
}

/* Lines of JSON ------------------------------------------------------------------------------- */

size_t cohort__counters_json(char text[COHORT__COUNTERS_JSON_BYTES],
                             const struct cohort__counters *counters)
{
    struct cohort__text json = {.bytes = text, .capacity = COHORT__COUNTERS_JSON_BYTES};
    cohort__text_append(&json, "{\"time\":%" PRIu64 ".%03u,\"locality\":%u",
                        counters->at / 1000000000, (unsigned)(counters->at / 1000000 % 1000),
                        (unsigned)counters->rank);
    for (unsigned i = 0; i < COHORT__NUM_COUNTERS; i++)
        cohort__text_append(&json, ",\"%s\":%" PRIu64, names[i], counters->of[i]);
    cohort__text_append(&json, "}\n");
    return json.used;
}

static cohort_status fail_to_open(const char *file, const char *why)
{
    return cohort_fail(COHORT_ERR_SYSTEM,
                       "environment variable COHORT_STATS: %.300s can't be written: %s", file, why);
}

cohort_status cohort__counters_check(const char *setting)
{
    if (!*setting || strcmp(setting, "0") == 0 || strcmp(setting, "1") == 0 ||
        strpbrk(setting, "/."))
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                       "environment variable COHORT_STATS is \"%.40s\"; it can be 0, 1, or a file, "
                       "which has a / or a . in its path: \"./%.40s\"",
                       setting, setting);
}

/* A pipe could block or end this process, which is not what somebody wants who only counts. */
cohort_status cohort__counters_open(const char *file, int *ret_fd)
{
    struct stat stat;
    int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
    if (fd < 0)
        return fail_to_open(file, strerror(errno));
    if (fstat(fd, &stat) != 0 || !(S_ISREG(stat.st_mode) || S_ISCHR(stat.st_mode))) {
        close(fd);
        return fail_to_open(file, "it is no regular file");
    }
    *ret_fd = fd;
    return COHORT_OK;
}

bool cohort__counters_append(int fd, const struct cohort__counters *counters)
{
    char text[COHORT__COUNTERS_JSON_BYTES];
    size_t bytes = cohort__counters_json(text, counters);
    ssize_t written;
    do
        written = write(fd, text, bytes);
    while (written < 0 && errno == EINTR);
    if (written >= 0 && written < (ssize_t)bytes)
        errno = ENOSPC;
    return written == (ssize_t)bytes;
}

/* The table ----------------------------------------------------------------------------------- */

static void print_row(FILE *to, unsigned counter, const struct cohort__counters *counters,
                      uint32_t num)
{
    uint64_t sum = 0;
    const struct cohort__counters *least = counters, *most = counters;
    for (uint32_t i = 0; i < num; i++) {
        sum += counters[i].of[counter];
        if (counters[i].of[counter] < least->of[counter])
            least = &counters[i];
        if (counters[i].of[counter] > most->of[counter])
            most = &counters[i];
    }
    if (sum == 0)
        return;
    fprintf(to, "  %-22s %20" PRIu64, names[counter], sum);
    if (num > 1)
        fprintf(to, " %20" PRIu64 " (%u) %20" PRIu64 " (%u)", least->of[counter],
                (unsigned)least->rank, most->of[counter], (unsigned)most->rank);
    fputc('\n', to);
}

void cohort__counters_print(FILE *to, const struct cohort__counters *counters, uint32_t num)
{
    fprintf(to, "  %-22s %20s", "counter", "sum");
    fprintf(to, num > 1 ? " %20s (at) %20s (at)\n" : "\n", "least", "most");
    for (unsigned i = 0; i < COHORT__NUM_COUNTERS && num > 0; i++)
        print_row(to, i, counters, num);
}
