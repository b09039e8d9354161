/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

/* Counts the words of files. Each locality reads its share of the files: one task reads lines, and
 * others take them from a queue and count. They are in one scope: what goes wrong in one of them,
 * as a file that is not there, or a limit for the whole, ends all of them and is the program's
 * error. The localities add up at the end. */

enum { NUM_COUNTERS = 4, MOST_WAITING = 64 };

struct work {
    char **files; /* of all localities */
    int num_files;
    cohort_queue *lines; /* allocated; whoever takes one frees it */
    cohort_mutex *mutex; /* guards the counts */
    uint64_t num_lines, num_words;
};

static uint64_t words_of(const char *line)
{
    uint64_t num = 0;
    for (bool is_inside = false; *line; line++) {
        bool is_word = !isspace((unsigned char)*line);
        num += is_word && !is_inside;
        is_inside = is_word;
    }
    return num;
}

/* Takes lines until the queue is closed and empty. */
static cohort_status count_lines(void *arg)
{
    struct work *work = arg;
    uint64_t num_lines = 0, num_words = 0;
    cohort_status status;
    void *line;
    while (!(status = cohort_queue_get(work->lines, &line, COHORT_NO_LIMIT))) {
        num_lines++;
        num_words += words_of(line);
        free(line);
    }
    if (status != COHORT_ERR_GONE)
        return status; /* cancelled */
    status = cohort_mutex_lock(work->mutex, COHORT_NO_LIMIT);
    if (status)
        return status;
    work->num_lines += num_lines;
    work->num_words += num_words;
    return cohort_mutex_unlock(work->mutex);
}

/* Reading blocks the thread for a moment, as long as the file is in the system's cache. */
static cohort_status read_file(struct work *work, const char *name)
{
    char *line = NULL;
    size_t capacity = 0;
    cohort_status status = COHORT_OK;
    FILE *file = fopen(name, "r");
    if (!file)
        return cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", name, strerror(errno));
    while (!status && getline(&line, &capacity, file) >= 0) {
        char *copy = strdup(line);
        status = copy ? cohort_queue_put(work->lines, copy, COHORT_NO_LIMIT)
                      : cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for a line", name);
        if (status)
            free(copy);
    }
    if (!status && ferror(file))
        status = cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", name, strerror(errno));
    free(line);
    fclose(file);
    return status;
}

static cohort_status read_share(void *arg)
{
    struct work *work = arg;
    cohort_status status = COHORT_OK;
    for (int i = (int)cohort_locality(); !status && i < work->num_files;
         i += (int)cohort_num_localities())
        status = read_file(work, work->files[i]);
    cohort_queue_close(work->lines);
    return status;
}

static cohort_status count_in_scope(struct work *work, uint64_t limit)
{
    cohort_scope *scope;
    cohort_status status =
        cohort_scope_create(&(cohort_scope_options){.limit_nanoseconds = limit}, &scope);
    if (status)
        return status;
    status = cohort_scope_async(scope, read_share, work);
    for (int i = 0; i < NUM_COUNTERS && !status; i++)
        status = cohort_scope_async(scope, count_lines, work);
    if (status)
        cohort_scope_fail(scope, status, "%s", cohort_error_message());
    return cohort_scope_await(scope);
}

/* What this locality has counted. */
static cohort_status count_share(struct work *work, uint64_t limit)
{
    void *line;
    char why[512]; /* what is freed after a failure sets messages of its own */
    cohort_status status = cohort_queue_create(MOST_WAITING, &work->lines);
    if (!status)
        status = cohort_mutex_create(&work->mutex);
    if (!status)
        status = count_in_scope(work, limit);
    snprintf(why, sizeof(why), "%s", cohort_error_message());
    /* After an error there may be lines that nobody has taken. */
    while (work->lines && !cohort_queue_get(work->lines, &line, 0))
        free(line);
    cohort_mutex_unref(work->mutex);
    cohort_queue_unref(work->lines);
    return status ? cohort_fail(status, "%s", why) : COHORT_OK;
}

/* All localities come to this, also one that has failed with STATUS, so that nobody waits for it.
 */
static cohort_status add_up(const struct work *work, cohort_status status, uint64_t ret_sums[3])
{
    const uint64_t counts[3] = {work->num_lines, work->num_words, status != COHORT_OK};
    cohort_comm *comm = NULL;
    cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                   .this_site = cohort_locality()};
    cohort_status end = cohort_await(cohort_comm_create(&comm, "word_count", &options));
    if (!end)
        end = cohort_await(
            cohort_all_reduce(comm, counts, ret_sums, 3, COHORT_UINT64, COHORT_SUM, 1));
    cohort_comm_unref(comm);
    return end;
}

struct arguments {
    int argc;
    char **argv;
};

static cohort_status program(void *arg)
{
    const struct arguments *arguments = arg;
    struct work work = {.files = arguments->argv + 2, .num_files = arguments->argc - 2};
    char *end = NULL;
    uint64_t sums[3], seconds = 0;
    if (arguments->argc > 2)
        seconds = strtoull(arguments->argv[1], &end, 10);
    if (!end || end == arguments->argv[1] || *end || seconds > 86400)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "usage: word_count SECONDS FILE...   (at most 86400; 0: no limit)");
    cohort_status status = count_share(&work, seconds * 1000000000);
    cohort_status sum_status = add_up(&work, status, sums);
    if (sum_status || status)
        return status ? status : sum_status;
    if (sums[2] > 0)
        return cohort_fail(COHORT_ERR_FAILED, "%" PRIu64 " localities have failed", sums[2]);
    if (cohort_locality() == 0)
        printf("%" PRIu64 " lines, %" PRIu64 " words\n", sums[0], sums[1]);
    return COHORT_OK;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {argc, argv};
    return cohort_main(argc, argv, program, &arguments);
}
