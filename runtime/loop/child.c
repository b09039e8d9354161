/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/child.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/loop/private.h"

struct cohort__child {
    struct cohort__loop *loop;
    uv_process_t process;
    void *context;
    void (*ended)(void *context, int status, int signal);
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

/* --- the end of any process --- */

struct cohort__ending {
    struct cohort__loop *loop;
    uv_poll_t uv;
    int fd; /* of the process, whatever becomes of its number */
    void (*ended)(void *context);
    void *context;
};

static void readable(uv_poll_t *uv, int error, int events)
{
    struct cohort__ending *ending = uv->data;
    (void)events;
    if (error)
        return;
    cohort__loop_note(ending->loop);
    uv_poll_stop(&ending->uv);
    ending->ended(ending->context);
}

cohort_status cohort__ending_open(struct cohort__ending **ret_ending, struct cohort__loop *loop,
                                  int pid, void (*ended)(void *context), void *context)
{
    struct cohort__ending *ending = calloc(1, sizeof(*ending));
    if (!ending)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "process %d: out of memory", pid);
    ending->loop = loop;
    ending->ended = ended;
    ending->context = context;
    ending->uv.data = ending;
    ending->fd = (int)syscall(SYS_pidfd_open, pid, 0);
    int error = ending->fd < 0 ? -errno : uv_poll_init(&loop->uv, &ending->uv, ending->fd);
    if (error) {
        if (ending->fd >= 0)
            close(ending->fd);
        free(ending);
        return cohort__loop_fail(error, "cannot watch process %d", pid);
    }
    error = uv_poll_start(&ending->uv, UV_READABLE, readable);
    if (error) {
        cohort__ending_close(ending);
        return cohort__loop_fail(error, "cannot watch process %d", pid);
    }
    uv_unref((uv_handle_t *)&ending->uv);
    *ret_ending = ending;
    return COHORT_OK;
}

static void ending_closed(uv_handle_t *handle)
{
    struct cohort__ending *ending = handle->data;
    close(ending->fd);
    free(ending);
}

void cohort__ending_close(struct cohort__ending *ending)
{
    if (ending)
        uv_close((uv_handle_t *)&ending->uv, ending_closed);
}
