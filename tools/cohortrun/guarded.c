/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a program under a guardian, seen from the process that has started both. */
#include "tools/cohortrun/guarded.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/descriptors.h"
#include "runtime/loop/child.h"
#include "runtime/loop/stream.h"
#include "runtime/net/hub.h"

static void link_message(void *context, const void *message, size_t bytes)
{
    struct guarded *guarded = context;
    struct report report;
    if (bytes != sizeof(report))
        return;
    memcpy(&report, message, sizeof(report));
    if (report.kind == REPORT_STARTED) {
        guarded->pid = report.value;
        guarded->changed(guarded->context);
        return;
    }
    guarded->end = report.kind == REPORT_FAILED ? GUARDED_NOT_STARTED : GUARDED_ENDED;
    guarded->status = report.value;
    snprintf(guarded->oom, sizeof(guarded->oom), "%s", report.oom);
    guarded->changed(guarded->context);
}

static void program_ended(void *context)
{
    struct guarded *guarded = context;
    guarded->is_gone = true;
    guarded->changed(guarded->context);
}

/* The kernel kills a program with its guardian, but not what a script has started, nor a program
 * that has asked not to be killed (PR_SET_PDEATHSIG). It is a child of this process since then, and
 * not reaped before the end: so the number is still its. False: it is gone. */
static bool end_program(struct guarded *guarded)
{
    siginfo_t info;
    if (guarded->pid == 0 || waitid(P_PID, (id_t)guarded->pid, &info, WEXITED | WNOHANG | WNOWAIT))
        return false; /* not started, or its guardian had reaped it */
    kill(guarded->pid, SIGKILL);
    kill(-guarded->pid, SIGKILL);
    return !cohort__ending_open(&guarded->ending, guarded->loop, guarded->pid, program_ended,
                                guarded);
}

/* The guardian has ended and all that it has reported is known. */
static void conclude(struct guarded *guarded)
{
    if (guarded->link || !guarded->guardian_ended)
        return;
    /* before it had left the terminal */
    const bool was_interrupted = guarded->pid == 0 && guarded->status == SIGINT;
    if (guarded->end == GUARDED_RUNS)
        guarded->end = was_interrupted ? GUARDED_ENDED : GUARDED_LOST;
    guarded->is_gone = guarded->end != GUARDED_LOST || !end_program(guarded);
}

static void link_ended(void *context, cohort_status status)
{
    (void)status;
    struct guarded *guarded = context;
    cohort__stream_close(guarded->link);
    guarded->link = NULL;
    conclude(guarded);
    guarded->changed(guarded->context);
}

static void guardian_ended(void *context, int status, int signal)
{
    (void)status;
    struct guarded *guarded = context;
    guarded->guardian_ended = true;
    if (guarded->end == GUARDED_RUNS)
        guarded->status = signal;
    conclude(guarded);
    guarded->changed(guarded->context);
}

static char **make_arguments(const struct guarded_options *options, char *limit)
{
    static char name[] = GUARDIAN_NAME;
    const size_t num = options->command.num_words;
    char **arguments = malloc((num + 3) * sizeof(*arguments));
    if (!arguments)
        return NULL;
    arguments[0] = name;
    arguments[1] = limit;
    memcpy(arguments + 2, options->command.words, num * sizeof(*arguments));
    arguments[2 + num] = NULL;
    return arguments;
}

/* How many descriptors it gets before the ledger. */
unsigned guarded_ledger_number(const struct cohort__hub *hub)
{
    return GUARDIAN_NUM_FDS + (hub ? 1 + hub->size : 0);
}

/* The descriptors that the guardian gets, by number. The caller frees them. NULL: no memory. */
static int *make_descriptors(const struct guarded_options *options, int link, size_t *ret_num)
{
    const struct cohort__hub *hub = options->hub;
    size_t num = guarded_ledger_number(hub);
    int *fds = malloc((num + 1) * sizeof(*fds));
    if (!fds)
        return NULL;
    for (int i = 0; i < GUARDIAN_FD_LINK; i++)
        fds[i] = options->null;
    fds[GUARDIAN_FD_LINK] = link;
    if (hub) {
        fds[GUARDIAN_NUM_FDS] = hub->memory;
        memcpy(fds + GUARDIAN_NUM_FDS + 1, hub->doorbells, hub->size * sizeof(*fds));
    }
    if (options->ledger >= 0)
        fds[num++] = options->ledger;
    *ret_num = num;
    return fds;
}

static cohort_status start_guardian(struct guarded *guarded, const struct guarded_options *options,
                                    int link)
{
    char limit[32];
    size_t num_fds = 0;
    int *fds = make_descriptors(options, link, &num_fds);
    snprintf(limit, sizeof(limit), "%llu", (unsigned long long)options->descriptors);
    char **arguments = make_arguments(options, limit);
    if (!fds || !arguments) {
        free(fds);
        free(arguments);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    }
    cohort_status status = cohort__child_start(&guarded->guardian, options->loop,
                                               &(struct cohort__child_options){
                                                   .file = "/proc/self/exe",
                                                   .args = arguments,
                                                   .environment = options->environment,
                                                   .fds = fds,
                                                   .num_fds = num_fds,
                                                   .context = guarded,
                                                   .ended = guardian_ended,
                                               });
    free(fds);
    free(arguments);
    return status;
}

cohort_status guarded_start(struct guarded *guarded, const struct guarded_options *options)
{
    int link[2];
    cohort_status status;
    guarded->loop = options->loop;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link)) {
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "%s", strerror(errno));
    } else {
        guarded->link_fd = link[0];
        status = start_guardian(guarded, options, link[1]);
        close(link[1]);
    }
    if (!status)
        return COHORT_OK;
    guarded_abandon(guarded);
    guarded->is_gone = true;
    return status;
}

/* The kernel limits how many descriptors all processes of a user together may have in flight. At
 * the limit this waits, until guardians have received theirs. If this guardian has ended, its end
 * is reported like any other. */
static cohort_status hand_over(int link, const int fds[GUARDIAN_FD_LINK])
{
    enum { TIMEOUT_MS = 30000 };
    const char byte = 0;
    for (int ms = 0; cohort__descriptors_send(link, &byte, 1, fds, GUARDIAN_FD_LINK, 0) < 0; ms++) {
        if (errno == EPIPE || errno == ECONNRESET)
            return COHORT_OK;
        if (errno != ETOOMANYREFS || ms == TIMEOUT_MS)
            return cohort_fail(COHORT_ERR_NO_MEMORY, "handing its descriptors over: %s",
                               strerror(errno));
        poll(NULL, 0, 1);
    }
    return COHORT_OK;
}

cohort_status guarded_start_program(struct guarded *guarded, const struct guarded_options *options,
                                    const int fds[GUARDIAN_FD_LINK])
{
    struct cohort__stream_handlers handlers = {guarded, link_message, link_ended};
    cohort_status status = hand_over(guarded->link_fd, fds);
    if (!status) {
        status = cohort__stream_open(&guarded->link, options->loop, guarded->link_fd, options->name,
                                     sizeof(struct report), &handlers);
        guarded->link_fd = 0;
    }
    if (status)
        guarded_abandon(guarded);
    return status;
}

static void close_link(struct guarded *guarded)
{
    cohort__stream_close(guarded->link);
    guarded->link = NULL;
    if (guarded->link_fd > 0)
        close(guarded->link_fd);
    guarded->link_fd = 0;
}

void guarded_abandon(struct guarded *guarded)
{
    close_link(guarded);
    guarded->end = GUARDED_NOT_STARTED;
}

void guarded_signal(struct guarded *guarded, int signal)
{
    unsigned char byte = (unsigned char)signal;
    if (guarded->link && guarded->end == GUARDED_RUNS &&
        cohort__stream_send(guarded->link, &byte, sizeof(byte)))
        guarded_kill_guardian(guarded); /* then the kernel kills the program */
}

void guarded_kill_guardian(struct guarded *guarded)
{
    if (guarded->guardian && guarded->end == GUARDED_RUNS)
        cohort__child_kill(guarded->guardian, SIGKILL);
}

void guarded_describe_end(const struct guarded *guarded, char *text, size_t bytes)
{
    if (guarded->end == GUARDED_ENDED && WIFSIGNALED(guarded->status))
        snprintf(text, bytes, " was killed by signal %d (%s)", WTERMSIG(guarded->status),
                 strsignal(WTERMSIG(guarded->status)));
    else if (guarded->end == GUARDED_ENDED)
        snprintf(text, bytes, " exited with status %d", WEXITSTATUS(guarded->status));
    else if (guarded->end == GUARDED_NOT_STARTED)
        snprintf(text, bytes, " was not started");
    else
        snprintf(text, bytes, " is lost: its guardian was killed");
    size_t used = strlen(text);
    if (guarded->oom[0])
        snprintf(text + used, bytes - used, ": %s", guarded->oom);
}

int guarded_exit_status(const struct guarded *guarded)
{
    if (guarded->end == GUARDED_NOT_STARTED)
        return guarded->status == ENOENT ? 127 : 126;
    if (guarded->end == GUARDED_LOST)
        return 128 + SIGKILL;
    return WIFSIGNALED(guarded->status) ? 128 + WTERMSIG(guarded->status)
                                        : WEXITSTATUS(guarded->status);
}

void guarded_close(struct guarded *guarded)
{
    close_link(guarded);
    cohort__child_close(guarded->guardian);
    cohort__ending_close(guarded->ending);
    guarded->guardian = NULL;
    guarded->ending = NULL;
}

uint64_t guarded_raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return 1024;
    uint64_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return before;
}
