/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/signals.h"

#include <stdlib.h>

#include "runtime/loop/private.h"

struct cohort__signals {
    struct cohort__loop *loop;
    uv_signal_t uv;
    void (*function)(void *context, int signal);
    void *context;
};

static void arrived(uv_signal_t *uv, int signal)
{
    struct cohort__signals *signals = uv->data;
    cohort__loop_note(signals->loop);
    signals->function(signals->context, signal);
}

cohort_status cohort__signals_open(struct cohort__signals **ret_signals, struct cohort__loop *loop,
                                   int signal, void (*function)(void *context, int signal),
                                   void *context)
{
    struct cohort__signals *signals = calloc(1, sizeof(*signals));
    if (!signals)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "signal %d: out of memory", signal);
    signals->loop = loop;
    signals->function = function;
    signals->context = context;
    signals->uv.data = signals;
    int error = uv_signal_init(&loop->uv, &signals->uv);
    if (error) {
        free(signals);
        return cohort__loop_fail(error, "signal");
    }
    error = uv_signal_start(&signals->uv, arrived, signal);
    if (error) {
        cohort__signals_close(signals);
        return cohort__loop_fail(error, "signal");
    }
    uv_unref((uv_handle_t *)&signals->uv);
    *ret_signals = signals;
    return COHORT_OK;
}

static void closed(uv_handle_t *handle)
{
    free(handle->data);
}

void cohort__signals_close(struct cohort__signals *signals)
{
    if (signals)
        uv_close((uv_handle_t *)&signals->uv, closed);
}
