/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/pmix_client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/control.h"
#include "runtime/launch/grace.h"

static pmix_info_t flag(const char *key)
{
    pmix_info_t info = {.value = {.type = PMIX_BOOL, .data.flag = true}};
    snprintf(info.key, sizeof(info.key), "%s", key);
    return info;
}

cohort_status cohort__pmix_client_check(const struct cohort__pmix_client *client,
                                        pmix_status_t result, const char *what)
{
    if (result == PMIX_SUCCESS || result == PMIX_OPERATION_SUCCEEDED)
        return COHORT_OK;
    if (result == PMIX_ERR_PARTIAL_SUCCESS)
        return cohort_fail(COHORT_ERR_PEER_DIED,
                           "%s: another locality has ended without leaving the job", what);
    return cohort_fail(COHORT_ERR_NETWORK, "%s: PMIx says %s", what,
                       client->library.error_string(result));
}

/* Calls FUNCTION for each open descriptor. */
static void for_each_descriptor(void (*function)(int fd, void *context), void *context)
{
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && fd != dirfd(folder))
            function(fd, context);
    }
    closedir(folder);
}

static void remember(int fd, void *context)
{
    if (fd < FD_SETSIZE)
        FD_SET(fd, (fd_set *)context);
}

static void close_on_exec(int fd, void *context)
{
    if (fd < FD_SETSIZE && !FD_ISSET(fd, (fd_set *)context))
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Starts libpmix, and corrects two things that it does not do. It doesn't set its descriptors to
 * close on exec, so a program that this one starts would keep the connection to the launcher open.
 * And it doesn't block signals in its thread, which would receive signals that are meant for the
 * program's threads. */
static pmix_status_t start(struct cohort__pmix_client *client)
{
    fd_set before;
    sigset_t all, mask;
    FD_ZERO(&before);
    for_each_descriptor(remember, &before);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    pmix_status_t result = client->library.init(&client->me, NULL, 0);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    for_each_descriptor(close_on_exec, &before);
    return result;
}

static cohort_status read_size(struct cohort__pmix_client *client)
{
    pmix_proc_t job = client->me;
    pmix_value_t *value;
    job.rank = PMIX_RANK_WILDCARD;
    cohort_status status = cohort__pmix_client_check(
        client, client->library.get(&job, PMIX_JOB_SIZE, NULL, 0, &value), "the job's size");
    if (status)
        return status;
    client->size = value->type == PMIX_UINT32 ? value->data.uint32 : 0;
    free(value);
    if (client->me.rank < client->size && client->size <= COHORT__CONTROL_MAX_LOCALITIES)
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_PROTOCOL,
                       "the launcher calls this process %u of %u; up to %u "
                       "are supported",
                       (unsigned)client->me.rank, (unsigned)client->size,
                       (unsigned)COHORT__CONTROL_MAX_LOCALITIES);
}

cohort_status cohort__pmix_client_open(struct cohort__pmix_client *client)
{
    *client = (struct cohort__pmix_client){.collect = flag(PMIX_COLLECT_DATA)};
    cohort_status status = cohort__pmix_library_load(&client->library);
    if (!status)
        status = cohort__pmix_client_check(client, start(client), "connection to the launcher");
    return status ? status : read_size(client);
}

void cohort__pmix_client_close(struct cohort__pmix_client *client)
{
    client->library.finalize(NULL, 0);
}

static void end_now(void *context)
{
    const int *code = context;
    _exit(*code);
}

_Noreturn void cohort__pmix_client_abort(const struct cohort__pmix_client *client, int code,
                                         const char *text)
{
    enum { TIMEOUT = 2000000000 }; /* ns; for a launcher that does not answer */
    struct cohort__grace grace;
    cohort__grace_init(&grace, end_now, &code);
    (void)cohort__grace_begin(&grace, TIMEOUT);
    client->library.abort(code, text, NULL, 0);
    _exit(code);
}

cohort_status cohort__pmix_client_put(struct cohort__pmix_client *client, const char *name,
                                      const void *data, size_t bytes)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT,
                          .data.bo = {.bytes = (char *)data, .size = bytes}};
    cohort_status status =
        cohort__pmix_client_check(client, client->library.put(PMIX_GLOBAL, name, &value), name);
    return status ? status : cohort__pmix_client_check(client, client->library.commit(), name);
}

void cohort__pmix_client_fence_begin(struct cohort__pmix_client *client, bool collect,
                                     void (*done)(pmix_status_t result, void *context),
                                     void *context)
{
    pmix_status_t result = client->library.fence_nb(NULL, 0, collect ? &client->collect : NULL,
                                                    collect ? 1 : 0, done, context);
    if (result != PMIX_SUCCESS) /* over at once, well or not: then PMIx never calls it */
        done(result, context);
}

/* An answer of PMIx, which may come when nobody waits for it any more. */
struct answer {
    atomic_int users; /* who waits, and PMIx */
    sem_t came;
    pmix_status_t result;
    void *data; /* of a question; for who waits */
    size_t bytes;
    pmix_info_t immediate; /* PMIx reads the question until it has answered */
    char name[PMIX_MAX_KEYLEN + 1];
};

enum { NO_ANSWER = PMIX_EXTERNAL_ERR_BASE - 1 }; /* a result of our own */

static struct answer *answer_new(void)
{
    struct answer *answer = calloc(1, sizeof(*answer));
    if (!answer)
        return NULL;
    atomic_init(&answer->users, 2);
    sem_init(&answer->came, 0, 0);
    return answer;
}

static void answer_drop(struct answer *answer)
{
    if (atomic_fetch_sub(&answer->users, 1) > 1)
        return;
    sem_destroy(&answer->came);
    free(answer->data);
    free(answer);
}

static void answer_give(pmix_status_t result, void *context)
{
    struct answer *answer = context;
    answer->result = result;
    sem_post(&answer->came);
    answer_drop(answer);
}

/* The value is PMIx's again after this. */
static void answer_give_value(pmix_status_t result, pmix_value_t *value, void *context)
{
    struct answer *answer = context;
    if (result == PMIX_SUCCESS && value->type != PMIX_BYTE_OBJECT)
        result = PMIX_ERR_TYPE_MISMATCH;
    if (result == PMIX_SUCCESS && value->data.bo.size > 0) {
        answer->bytes = value->data.bo.size;
        answer->data = malloc(answer->bytes);
        if (answer->data)
            memcpy(answer->data, value->data.bo.bytes, answer->bytes);
        else
            result = PMIX_ERR_NOMEM;
    }
    answer_give(result, answer);
}

/* PMIx has had the answer at once, so it calls nobody. This does not wait, then. */
static void answer_fetch(struct cohort__pmix_client *client, const pmix_proc_t *proc,
                         const pmix_info_t *info, size_t num, struct answer *answer)
{
    pmix_value_t *value = NULL;
    pmix_status_t result = client->library.get(proc, answer->name, info, num, &value);
    answer_give_value(result, value, answer);
    if (result == PMIX_SUCCESS && value->type == PMIX_BYTE_OBJECT)
        free(value->data.bo.bytes);
    free(value);
}

/* The result, or NO_ANSWER if it has not come within so many SECONDS. */
static pmix_status_t answer_await(struct answer *answer, unsigned long seconds)
{
    struct timespec end;
    int failed;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)seconds;
    do
        failed = sem_clockwait(&answer->came, CLOCK_MONOTONIC, &end);
    while (failed && errno == EINTR);
    return failed ? NO_ANSWER : answer->result;
}

/* Asks for what RANK has put as NAME, and waits for the answer for so many SECONDS. If
 * IMMEDIATE, its host is not asked. Slurm and PRRTE never answer for a process that has ended. To
 * ask once more would not help: PMIx sends no question while one about the same process has no
 * answer. */
static pmix_status_t ask(struct cohort__pmix_client *client, uint32_t rank, const char *name,
                         bool immediate, unsigned long seconds, void **ret_data, size_t *ret_bytes)
{
    pmix_proc_t proc = client->me;
    struct answer *answer = answer_new();
    if (!answer)
        return PMIX_ERR_NOMEM;
    proc.rank = rank;
    answer->immediate = flag(PMIX_IMMEDIATE);
    snprintf(answer->name, sizeof(answer->name), "%s", name);
    const pmix_info_t *info = immediate ? &answer->immediate : NULL;
    pmix_status_t result = client->library.get_nb(&proc, answer->name, info, immediate ? 1 : 0,
                                                  answer_give_value, answer);
    if (result == PMIX_OPERATION_SUCCEEDED)
        answer_fetch(client, &proc, info, immediate ? 1 : 0, answer);
    else if (result != PMIX_SUCCESS)
        answer_give(result, answer);
    result = answer_await(answer, seconds);
    if (result == PMIX_SUCCESS) {
        *ret_data = answer->data;
        *ret_bytes = answer->bytes;
        answer->data = NULL;
    }
    answer_drop(answer);
    return result;
}

cohort_status cohort__pmix_client_get(struct cohort__pmix_client *client, uint32_t rank,
                                      const char *name, unsigned long seconds, void **ret_data,
                                      size_t *ret_bytes)
{
    char what[PMIX_MAX_KEYLEN + 32];
    snprintf(what, sizeof(what), "%s of process %u", name, (unsigned)rank);
    pmix_status_t result = ask(client, rank, name, true, seconds, ret_data, ret_bytes);
    /* PRRTE 3 brings nothing from other hosts with a fence. */
    if (result == PMIX_ERR_NOT_FOUND)
        result = ask(client, rank, name, false, seconds, ret_data, ret_bytes);
    if (result == PMIX_ERR_NOT_FOUND)
        return cohort_fail(COHORT_ERR_PEER_DIED, "%s is missing: that process has ended", what);
    if (result == NO_ANSWER)
        return cohort_fail(COHORT_ERR_TIMEOUT, "%s: no answer within %lu s%s", what, seconds,
                           seconds == client->timeout ? " (COHORT_JOIN_TIMEOUT)" : "");
    if (result == PMIX_ERR_TYPE_MISMATCH)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: no bytes", what);
    return cohort__pmix_client_check(client, result, what);
}

/* Looks why the fence that followed NAME is not over within the timeout. Where a process is
 * missing, the one before it tells. No launcher says so of each: Slurm does not. */
static cohort_status look_for_next(struct cohort__pmix_client *client, const char *name)
{
    uint32_t next = (client->me.rank + 1) % client->size;
    void *data;
    size_t bytes;
    pmix_status_t result = ask(client, next, name, false, client->timeout, &data, &bytes);
    if (result == PMIX_SUCCESS)
        free(data);
    if (result != NO_ANSWER && result != PMIX_ERR_NOT_FOUND && result != PMIX_ERR_TIMEOUT)
        return cohort__pmix_client_check(client, result, "question about the next locality");
    return cohort_fail(COHORT_ERR_TIMEOUT,
                       "process %u of %u has not joined the job within %lu s "
                       "(COHORT_JOIN_TIMEOUT)%s; it may have ended",
                       (unsigned)next, (unsigned)client->size, client->timeout,
                       result == NO_ANSWER ? ", or does not answer" : "");
}

/* Waits until all have put data as NAME. */
static cohort_status meet(struct cohort__pmix_client *client, const char *name)
{
    struct answer *fence = answer_new();
    if (!fence)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: out of memory", name);
    cohort__pmix_client_fence_begin(client, true, answer_give, fence);
    cohort_status status;
    pmix_status_t result;
    do
        result = answer_await(fence, client->timeout);
    while (result == NO_ANSWER && !(status = look_for_next(client, name)));
    if (result == NO_ANSWER)
        result = answer_await(fence, 0); /* it may be over by now */
    if (result != NO_ANSWER)
        status = cohort__pmix_client_check(client, result, "waiting for the other localities");
    answer_drop(fence);
    return status;
}

cohort_status cohort__pmix_client_exchange(struct cohort__pmix_client *client, const char *name,
                                           const void *data, size_t bytes,
                                           cohort_status (*take)(void *context, uint32_t rank,
                                                                 const void *data, size_t bytes),
                                           void *context)
{
    cohort_status status = cohort__pmix_client_put(client, name, data, bytes);
    if (!status)
        status = meet(client, name);
    for (uint32_t rank = 0; !status && rank < client->size; rank++) {
        void *theirs;
        size_t their_bytes;
        status =
            cohort__pmix_client_get(client, rank, name, client->timeout, &theirs, &their_bytes);
        if (status)
            break;
        status = take(context, rank, theirs, their_bytes);
        free(theirs);
    }
    return status;
}
