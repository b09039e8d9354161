/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/ending.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/loop/private.h"

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

static void closed(uv_handle_t *handle)
{
    struct cohort__ending *ending = handle->data;
    close(ending->fd);
    free(ending);
}

void cohort__ending_close(struct cohort__ending *ending)
{
    if (ending)
        uv_close((uv_handle_t *)&ending->uv, closed);
}
