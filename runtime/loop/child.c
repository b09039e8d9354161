/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/child.h"

#include <stdlib.h>

#include "runtime/loop/private.h"

struct cohort__child {
    struct cohort__loop *loop;
    uv_process_t process;
    void *context;
    void (*ended)(void *context, int status, int signal);
    int pid;
    bool has_ended;
    bool closing;
};

static void exited(uv_process_t *process, int64_t status, int signal)
{
    struct cohort__child *child = process->data;
    cohort__loop_note(child->loop);
    child->has_ended = true;
    if (!child->closing)
        child->ended(child->context, (int)status, signal);
}

cohort_status cohort__child_start(struct cohort__child **ret_child, struct cohort__loop *loop,
                                  const struct cohort__child_options *options)
{
    struct cohort__child *child = calloc(1, sizeof(*child));
    uv_stdio_container_t *stdio = calloc(options->num_fds + 1, sizeof(*stdio));
    if (!child || !stdio) {
        free(child);
        free(stdio);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    }
    child->loop = loop;
    child->context = options->context;
    child->ended = options->ended;
    child->process.data = child;
    for (size_t i = 0; i < options->num_fds; i++) {
        stdio[i].flags = UV_INHERIT_FD;
        stdio[i].data.fd = options->fds[i];
    }
    uv_process_options_t uv_options = {
        .exit_cb = exited,
        .file = options->file,
        .args = (char **)options->args,
        .env = (char **)options->environment,
        .stdio_count = (int)options->num_fds,
        .stdio = stdio,
    };
    int error = uv_spawn(&loop->uv, &child->process, &uv_options);
    free(stdio);
    if (error) {
        cohort__child_close(child); /* even on failure, libuv has initialised the handle */
        return cohort_fail(error == UV_ENOMEM || error == UV_EAGAIN || error == UV_EMFILE
                               ? COHORT_ERR_NO_MEMORY
                               : COHORT_ERR_SYSTEM,
                           "%s", uv_strerror(error));
    }
    child->pid = child->process.pid;
    *ret_child = child;
    return COHORT_OK;
}

const char *cohort__child_error_text(int error)
{
    return uv_strerror(-error);
}

void cohort__child_kill(struct cohort__child *child, int signal)
{
    if (!child->has_ended)
        uv_process_kill(&child->process, signal);
}

static void closed(uv_handle_t *handle)
{
    free(handle->data);
}

void cohort__child_close(struct cohort__child *child)
{
    if (!child || child->closing)
        return;
    child->closing = true;
    uv_close((uv_handle_t *)&child->process, closed);
}
