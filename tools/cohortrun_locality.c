/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun_locality.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/loop/child.h"
#include "runtime/loop/stream.h"
#include "runtime/proc/control.h"
#include "tools/cohortrun_guardian.h"
#include "tools/cohortrun_options.h"
#include "tools/cohortrun_output.h"

enum { NEAR, FAR }; /* cohortrun's end and the locality's */

/* Pipes and socket pairs, by the number that the far end has in the guardian; 0 is not used. */
struct ends {
    int fds[GUARDIAN_NUM_FDS][2];
};

static void close_ends(struct ends *ends, int side)
{
    for (int i = 1; i < GUARDIAN_NUM_FDS; i++)
        if (ends->fds[i][side] >= 0)
            close(ends->fds[i][side]);
}

static int open_ends(struct ends *ends)
{
    int error = 0;
    memset(ends, -1, sizeof(*ends));
    for (int i = 1; i < GUARDIAN_NUM_FDS && !error; i++) {
        bool is_pipe = i <= STDERR_FILENO;
        error = is_pipe ? pipe2(ends->fds[i], O_CLOEXEC)
                        : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->fds[i]);
    }
    if (!error)
        return 0;
    error = errno;
    close_ends(ends, NEAR);
    close_ends(ends, FAR);
    return error;
}

/* Our environment with what each locality is told. One block, to be freed; NULL: no memory. */
static char **make_environment(uint32_t rank, uint32_t size)
{
    enum { NUM_OWN = 3, OWN_BYTES = 64 };
    static const char *const names[NUM_OWN] = {
        "COHORT_CONTROL_FD=", "COHORT_LOCALITY=", "COHORT_LOCALITIES="};
    const unsigned values[NUM_OWN] = {GUARDIAN_FD_CONTROL, rank, size};
    size_t num = 0;
    while (environ[num])
        num++;
    char **environment = malloc((num + NUM_OWN + 1) * sizeof(*environment) + NUM_OWN * OWN_BYTES);
    if (!environment)
        return NULL;
    char *own = (char *)(environment + num + NUM_OWN + 1);
    size_t used = 0;
    for (size_t i = 0; i < num; i++) {
        bool is_own = false;
        for (int k = 0; k < NUM_OWN; k++)
            is_own |= strncmp(environ[i], names[k], strlen(names[k])) == 0;
        if (!is_own)
            environment[used++] = environ[i];
    }
    for (int k = 0; k < NUM_OWN; k++, own += OWN_BYTES) {
        snprintf(own, OWN_BYTES, "%s%u", names[k], values[k]);
        environment[used++] = own;
    }
    environment[used] = NULL;
    return environment;
}

static char **make_arguments(const struct locality_common *common, char *limit)
{
    static char name[] = GUARDIAN_NAME;
    size_t num = 0;
    while (common->options->program[num])
        num++;
    char **arguments = malloc((num + 3) * sizeof(*arguments));
    if (!arguments)
        return NULL;
    arguments[0] = name;
    arguments[1] = limit;
    memcpy(arguments + 2, common->options->program, (num + 1) * sizeof(*arguments));
    return arguments;
}

static void control_message(void *context, const void *message, size_t bytes)
{
    struct locality *locality = context;
    locality->handlers->control_arrived(locality, message, bytes);
}

static void control_ended(void *context, cohort_status status)
{
    (void)status; /* whatever it was: nothing more comes */
    struct locality *locality = context;
    locality->control_ended = true;
    locality->handlers->changed(locality);
}

static void link_message(void *context, const void *message, size_t bytes)
{
    struct locality *locality = context;
    struct report report;
    if (bytes != sizeof(report))
        return;
    memcpy(&report, message, sizeof(report));
    if (report.kind == REPORT_STARTED) {
        locality->pid = report.value;
        return;
    }
    locality->end = report.kind == REPORT_FAILED ? LOCALITY_NOT_STARTED : LOCALITY_ENDED;
    locality->status = report.value;
    locality->handlers->changed(locality);
}

static void link_ended(void *context, cohort_status status)
{
    (void)status;
    struct locality *locality = context;
    cohort__stream_close(locality->link);
    locality->link = NULL;
    if (locality->end == LOCALITY_RUNS)
        locality->end = LOCALITY_LOST;
    locality->handlers->changed(locality);
}

static void guardian_ended(void *context, int status, int signal)
{
    (void)status, (void)signal; /* the link tells more */
    struct locality *locality = context;
    locality->guardian_ended = true;
    locality->handlers->changed(locality);
}

static cohort_status start_guardian(struct locality *locality, const struct locality_common *common,
                                    const struct ends *ends)
{
    char limit[32];
    int fds[GUARDIAN_NUM_FDS] = {locality->rank == 0 ? STDIN_FILENO : common->null};
    for (int i = 1; i < GUARDIAN_NUM_FDS; i++)
        fds[i] = ends->fds[i][FAR];
    snprintf(limit, sizeof(limit), "%llu", (unsigned long long)common->descriptors);
    char **environment = make_environment(locality->rank, common->options->size);
    char **arguments = make_arguments(common, limit);
    cohort_status status = COHORT_ERR_NO_MEMORY;
    if (environment && arguments)
        status = cohort__child_start(&locality->guardian, common->loop,
                                     &(struct cohort__child_options){
                                         .file = "/proc/self/exe",
                                         .args = arguments,
                                         .environment = environment,
                                         .fds = fds,
                                         .num_fds = GUARDIAN_NUM_FDS,
                                         .context = locality,
                                         .ended = guardian_ended,
                                     });
    else
        (void)cohort_fail(status, "out of memory");
    free(environment);
    free(arguments);
    return status;
}

static cohort_status open_connections(struct locality *locality,
                                      const struct locality_common *common, struct ends *ends)
{
    char name[32];
    struct cohort__stream_handlers link = {locality, link_message, link_ended};
    struct cohort__stream_handlers control = {locality, control_message, control_ended};
    snprintf(name, sizeof(name), "locality %u", (unsigned)locality->rank);
    cohort_status statuses[4] = {
        cohort__stream_open(&locality->link, common->loop, ends->fds[GUARDIAN_FD_LINK][NEAR], name,
                            sizeof(struct report), &link),
        cohort__stream_open(&locality->control, common->loop, ends->fds[GUARDIAN_FD_CONTROL][NEAR],
                            name, COHORT__CONTROL_MAX_MESSAGE, &control),
        output_add(common->output, locality->rank, OUTPUT_OUT, ends->fds[STDOUT_FILENO][NEAR]),
        output_add(common->output, locality->rank, OUTPUT_ERR, ends->fds[STDERR_FILENO][NEAR]),
    };
    locality->num_outputs = !statuses[2] + !statuses[3];
    for (int i = 0; i < 4; i++)
        if (statuses[i])
            return statuses[i];
    return COHORT_OK;
}

cohort_status locality_start(struct locality *locality, const struct locality_common *common,
                             const struct locality_handlers *handlers)
{
    struct ends ends;
    locality->handlers = handlers;
    int error = open_ends(&ends);
    cohort_status status = error ? cohort_fail(COHORT_ERR_NO_MEMORY, "%s", strerror(error))
                                 : start_guardian(locality, common, &ends);
    if (!error)
        close_ends(&ends, FAR);
    if (!error && status)
        close_ends(&ends, NEAR);
    if (!status) {
        status = open_connections(locality, common, &ends);
        if (!status)
            return COHORT_OK;
    }
    locality_close(locality); /* without its link a guardian ends by itself */
    output_close_source(common->output, locality->rank, OUTPUT_OUT);
    output_close_source(common->output, locality->rank, OUTPUT_ERR);
    locality->end = LOCALITY_NOT_STARTED;
    locality->guardian_ended = locality->control_ended = true;
    return status;
}

void locality_signal(struct locality *locality, int signal)
{
    unsigned char byte = (unsigned char)signal;
    if (locality->link && locality->end == LOCALITY_RUNS &&
        cohort__stream_send(locality->link, &byte, sizeof(byte)))
        cohort__child_kill(locality->guardian, SIGKILL); /* which the kernel tells the program */
}

void locality_send_control(struct locality *locality, const void *message, size_t bytes)
{
    /* What a locality that is about to end doesn't get, it doesn't need. */
    if (locality->control && !locality->control_ended)
        (void)!cohort__stream_send(locality->control, message, bytes);
}

bool locality_is_settled(const struct locality *locality)
{
    return locality->end != LOCALITY_RUNS && locality->control_ended && locality->num_outputs == 0;
}

bool locality_is_gone(const struct locality *locality)
{
    return locality_is_settled(locality) && locality->guardian_ended && !locality->link;
}

void locality_describe(const struct locality *locality, char *text, size_t bytes)
{
    int used = snprintf(text, bytes, locality->pid ? "locality %u (pid %d)" : "locality %u",
                        (unsigned)locality->rank, locality->pid);
    text += used;
    bytes -= (size_t)used;
    if (locality->end == LOCALITY_ENDED && WIFSIGNALED(locality->status))
        snprintf(text, bytes, " was killed by signal %d (%s)", WTERMSIG(locality->status),
                 strsignal(WTERMSIG(locality->status)));
    else if (locality->end == LOCALITY_ENDED)
        snprintf(text, bytes, " exited with status %d", WEXITSTATUS(locality->status));
    else
        snprintf(text, bytes, " is lost: its guardian was killed");
}

int locality_exit_status(const struct locality *locality)
{
    if (locality->end == LOCALITY_NOT_STARTED)
        return locality->status == ENOENT ? 127 : 126;
    if (locality->end == LOCALITY_LOST)
        return 128 + SIGKILL;
    return WIFSIGNALED(locality->status) ? 128 + WTERMSIG(locality->status)
                                         : WEXITSTATUS(locality->status);
}

void locality_close(struct locality *locality)
{
    cohort__stream_close(locality->link);
    cohort__stream_close(locality->control);
    cohort__child_close(locality->guardian);
    locality->link = locality->control = NULL;
    locality->guardian = NULL;
}
