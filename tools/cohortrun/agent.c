/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the program that starts the daemon of a host: ssh, or that of --agent. */
#include "tools/cohortrun/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/loop/lines.h"
#include "tools/cohortrun/greeting.h"

static const char ssh[] = "ssh -o BatchMode=yes {host}";
static const uint64_t settle_ns = 100000000;

/* A copy of TEXT with NEW for each OLD. NULL: no memory. */
static char *replace(const char *text, const char *old, const char *new)
{
    size_t bytes = strlen(text) + 1;
    for (const char *at = text; (at = strstr(at, old)); at += strlen(old))
        bytes += strlen(new);
    char *result = malloc(bytes);
    char *next = result;
    while (result && *text) {
        bool is_old = strncmp(text, old, strlen(old)) == 0;
        if (is_old)
            next = stpcpy(next, new);
        else
            *next++ = *text;
        text += is_old ? strlen(old) : 1;
    }
    if (result)
        *next = '\0';
    return result;
}

/* Quotes TEXT for a shell. */
static char *quote(const char *text)
{
    char *escaped = replace(text, "'", "'\\''");
    char *quoted = NULL;
    if (escaped && asprintf(&quoted, "'%s'", escaped) < 0)
        quoted = NULL;
    free(escaped);
    return quoted;
}

/* The daemon is this same program, at the same path on the other host. */
static char *daemon_command(bool through_two_shells)
{
    char path[PATH_MAX];
    ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (bytes < 0)
        return NULL;
    path[bytes] = '\0';
    char *quoted = quote(path);
    if (through_two_shells && quoted) {
        char *once = quoted;
        quoted = quote(once);
        free(once);
    }
    return quoted;
}

static void output_arrived(void *context, const char *text, size_t bytes)
{
    struct agent *agent = context;
    char line[1024];
    while (bytes > 0 && (text[bytes - 1] == '\n' || text[bytes - 1] == '\r'))
        bytes--;
    snprintf(line, sizeof(line), "%.*s", (int)(bytes < sizeof(line) ? bytes : sizeof(line) - 1),
             text);
    agent->options->said(agent->context, line);
}

static void tell_end(void *context)
{
    struct agent *agent = context;
    agent->told = true;
    agent->options->ended(agent->context);
}

/* The agent's end is told after all of its output. But another process may still hold the output
 * open, so the end is told after settle_ns at the latest. If the guardian is not gone at that time,
 * the end is told again when it is gone. */
static void changed(void *context)
{
    struct agent *agent = context;
    if (agent->guarded.end == GUARDED_RUNS)
        return;
    if (agent->guarded.is_gone && (agent->told || !agent->output)) {
        timer_clear(&agent->settle);
        tell_end(agent);
    } else if (!agent->told && !timer_is_set(&agent->settle)) {
        timer_set(&agent->settle, settle_ns);
    }
}

static void output_ended(void *context)
{
    struct agent *agent = context;
    cohort__lines_close(agent->output);
    agent->output = NULL;
    changed(agent);
}

static cohort_status make_command(struct agent *agent, const char *host, char **ret_command)
{
    const char *command = agent->options->command;
    char *daemon = daemon_command(!command);
    agent->command = replace(command ? command : ssh, "{host}", host);
    int bytes = -1;
    if (daemon && agent->command)
        bytes = asprintf(ret_command, "%s %s " NODE_OPTION, agent->command, daemon);
    free(daemon);
    return bytes < 0 ? cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory") : COHORT_OK;
}

static cohort_status start_ward(struct agent *agent, char *command, const int input[2],
                                const int output[2])
{
    static char shell[] = "sh", option[] = "-c";
    char *program[] = {shell, option, command, NULL};
    struct cohort__lines_handlers handlers = {agent, output_arrived, output_ended};
    struct guarded_options options = {.loop = agent->options->loop,
                                      .name = "an agent",
                                      .command = {program, 3},
                                      .descriptors = agent->options->descriptors,
                                      .null = agent->options->null};
    int fds[GUARDIAN_FD_LINK] = {input[0], output[1], output[1], agent->options->null};
    agent->guarded = (struct guarded){.context = agent, .changed = changed};
    cohort_status status = guarded_start(&agent->guarded, &options);
    if (!status)
        status = guarded_start_program(&agent->guarded, &options, fds);
    if (status)
        close(output[0]);
    else
        status = cohort__lines_open(&agent->output, agent->options->loop, output[0], &handlers);
    return status;
}

cohort_status agent_start(struct agent *agent, const struct agent_options *options,
                          const char *host, const char *greeting, void *context)
{
    int input[2], output[2];
    char *command = NULL;
    *agent = (struct agent){.options = options, .context = context, .input = -1};
    timer_init(&agent->settle, options->loop, tell_end, agent);
    cohort_status status = make_command(agent, host, &command);
    if (status)
        goto fail;
    if (pipe2(input, O_CLOEXEC)) {
        status = cohort_fail(COHORT_ERR_SYSTEM, "%s", strerror(errno));
        goto fail;
    }
    agent->input = input[1];
    if (pipe2(output, O_CLOEXEC)) {
        status = cohort_fail(COHORT_ERR_SYSTEM, "%s", strerror(errno));
        close(input[0]);
        goto fail;
    }
    /* The pipe has room for it, and its reader is still there. */
    if (write(input[1], greeting, strlen(greeting)) < 0)
        status = cohort_fail(COHORT_ERR_SYSTEM, "%s", strerror(errno));
    else
        status = start_ward(agent, command, input, output);
    close(input[0]);
    close(output[1]);
fail:
    free(command);
    if (status)
        agent->told = true;
    return status;
}

void agent_describe(const struct agent *agent, char *text, size_t bytes)
{
    int used = snprintf(text, bytes, "agent '%.200s'", agent->command ? agent->command : "");
    if (agent->guarded.end == GUARDED_NOT_STARTED)
        snprintf(text + used, bytes - (size_t)used, ": %s", strerror(agent->guarded.status));
    else
        guarded_describe_end(&agent->guarded, text + used, bytes - (size_t)used);
}

void agent_kill(struct agent *agent, bool hard)
{
    if (hard)
        guarded_kill_guardian(&agent->guarded);
    else
        guarded_signal(&agent->guarded, SIGKILL);
}

bool agent_is_gone(const struct agent *agent)
{
    return agent->told && (!agent->guarded.guardian || agent->guarded.is_gone);
}

void agent_close(struct agent *agent)
{
    cohort__lines_close(agent->output);
    agent->output = NULL;
    guarded_close(&agent->guarded);
    if (agent->input >= 0)
        close(agent->input);
    agent->input = -1;
    timer_clear(&agent->settle);
}

void agent_fini(struct agent *agent)
{
    free(agent->command);
    agent->command = NULL;
}
