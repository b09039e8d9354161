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

#include "runtime/loop/child.h"
#include "runtime/loop/stream.h"
#include "runtime/net/hub.h"

static void link_message(void *context, const void *message, size_t bytes)
{
    struct ward *ward = context;
    struct report report;
    if (bytes != sizeof(report))
        return;
    memcpy(&report, message, sizeof(report));
    if (report.kind == REPORT_STARTED) {
        ward->pid = report.value;
        ward->changed(ward->context);
        return;
    }
    ward->end = report.kind == REPORT_FAILED ? WARD_NOT_STARTED : WARD_ENDED;
    ward->status = report.value;
    ward->changed(ward->context);
}

/* The guardian has ended and all that it has reported is known. */
static void conclude(struct ward *ward)
{
    if (ward->link || !ward->guardian_ended || ward->end != WARD_RUNS)
        return;
    bool was_interrupted = ward->pid == 0 && ward->status == SIGINT;
    ward->end = was_interrupted ? WARD_ENDED : WARD_LOST; /* before it had left the terminal */
}

static void link_ended(void *context, cohort_status status)
{
    (void)status;
    struct ward *ward = context;
    cohort__stream_close(ward->link);
    ward->link = NULL;
    conclude(ward);
    ward->changed(ward->context);
}

static void guardian_ended(void *context, int status, int signal)
{
    (void)status;
    struct ward *ward = context;
    ward->guardian_ended = true;
    if (ward->end == WARD_RUNS)
        ward->status = signal;
    conclude(ward);
    ward->changed(ward->context);
}

static char **make_arguments(const struct ward_options *options, char *limit)
{
    static char name[] = GUARDIAN_NAME;
    size_t num = 0;
    while (options->program[num])
        num++;
    char **arguments = malloc((num + 3) * sizeof(*arguments));
    if (!arguments)
        return NULL;
    arguments[0] = name;
    arguments[1] = limit;
    memcpy(arguments + 2, options->program, (num + 1) * sizeof(*arguments));
    return arguments;
}

/* What the guardian is to have, by number. To be freed; NULL: no memory. */
static int *make_descriptors(const struct ward_options *options, int link, size_t *ret_num)
{
    const struct cohort__hub *hub = options->hub;
    size_t num = GUARDIAN_NUM_FDS + (hub ? 1 + hub->size : 0);
    int *fds = malloc(num * sizeof(*fds));
    if (!fds)
        return NULL;
    for (int i = 0; i < GUARDIAN_FD_LINK; i++)
        fds[i] = options->null;
    fds[GUARDIAN_FD_LINK] = link;
    if (hub) {
        fds[GUARDIAN_NUM_FDS] = hub->memory;
        memcpy(fds + GUARDIAN_NUM_FDS + 1, hub->doorbells, hub->size * sizeof(*fds));
    }
    *ret_num = num;
    return fds;
}

static cohort_status start_guardian(struct ward *ward, const struct ward_options *options, int link)
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
    cohort_status status = cohort__child_start(&ward->guardian, options->loop,
                                               &(struct cohort__child_options){
                                                   .file = "/proc/self/exe",
                                                   .args = arguments,
                                                   .environment = options->environment,
                                                   .fds = fds,
                                                   .num_fds = num_fds,
                                                   .context = ward,
                                                   .ended = guardian_ended,
                                               });
    free(fds);
    free(arguments);
    return status;
}

cohort_status ward_start(struct ward *ward, const struct ward_options *options)
{
    int link[2];
    cohort_status status;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link)) {
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "%s", strerror(errno));
    } else {
        ward->link_fd = link[0];
        status = start_guardian(ward, options, link[1]);
        close(link[1]);
    }
    if (!status)
        return COHORT_OK;
    ward_abandon(ward);
    ward->guardian_ended = true;
    return status;
}

/* The kernel limits how many descriptors may be under way, for all processes of a user together:
 * then it's for the guardians to take theirs. An end of this one's is told as any. */
static cohort_status hand_over(int link, const int fds[GUARDIAN_FD_LINK])
{
    enum { PATIENCE_MS = 30000 };
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(GUARDIAN_FD_LINK * sizeof(int))];
    } control = {0};
    char byte = 0;
    struct iovec iovec = {.iov_base = &byte, .iov_len = sizeof(byte)};
    struct msghdr message = {.msg_iov = &iovec,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(GUARDIAN_FD_LINK * sizeof(int));
    memcpy(CMSG_DATA(&control.head), fds, GUARDIAN_FD_LINK * sizeof(int));
    for (int ms = 0; sendmsg(link, &message, MSG_NOSIGNAL) < 0; ms++) {
        if (errno == EPIPE || errno == ECONNRESET)
            return COHORT_OK;
        if (errno != ETOOMANYREFS || ms == PATIENCE_MS)
            return cohort_fail(COHORT_ERR_NO_MEMORY, "handing its descriptors over: %s",
                               strerror(errno));
        poll(NULL, 0, 1);
    }
    return COHORT_OK;
}

cohort_status ward_start_program(struct ward *ward, const struct ward_options *options,
                                 const int fds[GUARDIAN_FD_LINK])
{
    struct cohort__stream_handlers handlers = {ward, link_message, link_ended};
    cohort_status status = hand_over(ward->link_fd, fds);
    if (!status) {
        status = cohort__stream_open(&ward->link, options->loop, ward->link_fd, options->name,
                                     sizeof(struct report), &handlers);
        ward->link_fd = 0;
    }
    if (status)
        ward_abandon(ward);
    return status;
}

static void close_link(struct ward *ward)
{
    cohort__stream_close(ward->link);
    ward->link = NULL;
    if (ward->link_fd > 0)
        close(ward->link_fd);
    ward->link_fd = 0;
}

void ward_abandon(struct ward *ward)
{
    close_link(ward);
    ward->end = WARD_NOT_STARTED;
}

void ward_signal(struct ward *ward, int signal)
{
    unsigned char byte = (unsigned char)signal;
    if (ward->link && ward->end == WARD_RUNS &&
        cohort__stream_send(ward->link, &byte, sizeof(byte)))
        ward_kill_guardian(ward); /* which the kernel tells the program */
}

void ward_kill_guardian(struct ward *ward)
{
    if (ward->guardian && ward->end == WARD_RUNS)
        cohort__child_kill(ward->guardian, SIGKILL);
}

bool ward_is_gone(const struct ward *ward)
{
    return ward->end != WARD_RUNS && ward->guardian_ended && !ward->link;
}

void ward_describe_end(const struct ward *ward, char *text, size_t bytes)
{
    if (ward->end == WARD_ENDED && WIFSIGNALED(ward->status))
        snprintf(text, bytes, " was killed by signal %d (%s)", WTERMSIG(ward->status),
                 strsignal(WTERMSIG(ward->status)));
    else if (ward->end == WARD_ENDED)
        snprintf(text, bytes, " exited with status %d", WEXITSTATUS(ward->status));
    else
        snprintf(text, bytes, " is lost: its guardian was killed");
}

int ward_exit_status(const struct ward *ward)
{
    if (ward->end == WARD_NOT_STARTED)
        return ward->status == ENOENT ? 127 : 126;
    if (ward->end == WARD_LOST)
        return 128 + SIGKILL;
    return WIFSIGNALED(ward->status) ? 128 + WTERMSIG(ward->status) : WEXITSTATUS(ward->status);
}

void ward_close(struct ward *ward)
{
    close_link(ward);
    cohort__child_close(ward->guardian);
    ward->guardian = NULL;
}

uint64_t ward_raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return 1024;
    uint64_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return before;
}
