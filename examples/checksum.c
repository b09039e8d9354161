/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

/* Prints the checksums of files. Reading a file may block a thread for long, and the C library has
 * no other way. So each file's task calls cohort_blocking: the function reads on a thread of its
 * own, the task waits, and its worker runs other tasks. One of these is a heartbeat, which says on
 * standard error how often it had its turn meanwhile. */

static const uint64_t beat_ns = 1000000; /* a millisecond */

struct file {
    const char *name;
    uint64_t sum; /* FNV-1a, 64 bits */
    uint64_t bytes;
};

static void add(struct file *file, const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        file->sum = (file->sum ^ data[i]) * UINT64_C(0x100000001b3);
    file->bytes += bytes;
}

/* On a thread that may be blocked. Its status and message become those of cohort_blocking. */
static cohort_status read_file(void *arg)
{
    struct file *file = arg;
    unsigned char buffer[65536];
    size_t bytes;
    FILE *stream = fopen(file->name, "rb");
    if (!stream)
        return cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", file->name, strerror(errno));
    file->sum = UINT64_C(0xcbf29ce484222325);
    while ((bytes = fread(buffer, 1, sizeof(buffer), stream)) > 0)
        add(file, buffer, bytes);
    cohort_status status = COHORT_OK;
    if (ferror(stream))
        status = cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", file->name, strerror(errno));
    fclose(stream);
    return status;
}

static cohort_status sum_file(void *file)
{
    return cohort_blocking(read_file, file);
}

/* ARG: a future that is complete when there is nothing to wait for any more. */
static cohort_status beat(void *arg)
{
    cohort_future *over = arg;
    enum cohort_wait_end end = COHORT_WAIT_EXPIRED;
    cohort_status status = COHORT_OK;
    unsigned num = 0;
    for (; !status && end == COHORT_WAIT_EXPIRED; num++)
        status = cohort_wait(over, beat_ns, &end);
    fprintf(stderr, "locality %u: %u turns of the heartbeat\n", (unsigned)cohort_locality(), num);
    cohort_future_unref(over);
    return status;
}

/* One error ends what has not begun. What has begun is waited for. */
static cohort_status sum_all(struct file *files, int num)
{
    cohort_scope *scope;
    cohort_status status = cohort_scope_create(NULL, &scope);
    if (status)
        return status;
    for (int i = 0; !status && i < num; i++)
        status = cohort_scope_async(scope, sum_file, &files[i]);
    if (status)
        cohort_scope_fail(scope, status, "%s", cohort_error_message());
    return cohort_scope_await(scope);
}

static cohort_status sum_beside_heartbeat(struct file *files, int num)
{
    cohort_promise *promise;
    cohort_future *over;
    cohort_status status = cohort_promise_create(&promise, &over);
    if (status)
        return status;
    cohort_future *heartbeat = cohort_async(beat, cohort_future_ref(over));
    status = sum_all(files, num);
    char why[512] = "";
    if (status)
        snprintf(why, sizeof(why), "%s", cohort_error_message());
    cohort_promise_fulfil(promise, NULL);
    cohort_status beat_status = cohort_await(heartbeat);
    cohort_future_unref(over);
    return status ? cohort_fail(status, "%s", why) : beat_status;
}

struct arguments {
    int argc;
    char **argv;
};

/* Each locality has its share of the files. */
static cohort_status program(void *arg)
{
    const struct arguments *arguments = arg;
    int num = 0, first = 1 + (int)cohort_locality(), step = (int)cohort_num_localities();
    if (arguments->argc < 2)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "usage: checksum FILE...");
    struct file *files = calloc((size_t)arguments->argc, sizeof(*files));
    if (!files)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %d files", arguments->argc);
    for (int i = first; i < arguments->argc; i += step)
        files[num++].name = arguments->argv[i];
    cohort_status status = sum_beside_heartbeat(files, num);
    for (int i = 0; !status && i < num; i++)
        printf("%016" PRIx64 " %" PRIu64 " %s\n", files[i].sum, files[i].bytes, files[i].name);
    free(files);
    return status;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {argc, argv};
    return cohort_main(argc, argv, program, &arguments);
}
