/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/abort.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cohort/job.h"
#include "runtime/launch/bootstrap.h"
#include "runtime/task/fork.h"

enum { MOST_BYTES = 4000 };

/* Who aborts keeps it locked until the process has ended: a second one waits for that. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cohort__bootstrap *current;

void cohort__abort_through(struct cohort__bootstrap *bootstrap)
{
    pthread_mutex_lock(&lock);
    current = bootstrap;
    pthread_mutex_unlock(&lock);
}

/* A thread that prints just now may never end that. */
static void flush(FILE *file)
{
    if (ftrylockfile(file))
        return;
    fflush(file);
    funlockfile(file);
}

void cohort_abort(int code, const char *reason)
{
    char line[MOST_BYTES + 1];
    int status = code >= 1 && code <= 255 ? code : 1;
    bool is_child = cohort__fork_is_child(); /* its copy of the lock may be taken for ever */
    snprintf(line, sizeof(line), "%s", reason ? reason : "no reason given");
    if (!is_child)
        pthread_mutex_lock(&lock);
    flush(stdout);
    if (is_child || !current || !cohort__bootstrap_abort(current, status, line)) {
        char head[300];
        int bytes =
            snprintf(head, sizeof(head),
                     "%.200s: aborted with status %d: ", program_invocation_short_name, status);
        const struct iovec parts[] = {{head, (size_t)bytes}, {line, strlen(line)}, {"\n", 1}};
        (void)!writev(STDERR_FILENO, parts, 3);
    }
    _exit(status);
}
