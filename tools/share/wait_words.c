/* SPDX-License-Identifier: Apache-2.0 */
/* tools: the words for what a task waits for. */
#include "tools/share/wait_words.h"

#include <stddef.h>

const struct wait_words wait_words[COHORT__WAIT_KINDS] = {
    [COHORT__WAIT_PLAIN] = {"a future", "future", NULL},
    [COHORT__WAIT_TASK] = {"a task", "task", NULL},
    [COHORT__WAIT_COLLECTIVE] = {"a collective", "collective", NULL},
    [COHORT__WAIT_GET] = {"a block from a channel (cohort_channel_get)", "get", NULL},
    [COHORT__WAIT_SET] = {"the receiver of a block (cohort_channel_set)", "set", NULL},
    [COHORT__WAIT_CREATION] = {"a communicator's other sites to join", "creation", NULL},
    [COHORT__WAIT_SEVERAL] = {"several futures", "several", NULL},
    [COHORT__WAIT_OUTSIDE] = {"a timer, a file, a connection or a blocking call", "outside", NULL},
    [COHORT__WAIT_REMOTE] = {"a task of another locality", "remote", NULL},
    [COHORT__WAIT_YIELD] = {"its next turn", "yield", NULL},
    [COHORT__WAIT_MUTEX] = {"a mutex", "mutex", NULL},
    [COHORT__WAIT_CONDITION] = {"a condition", "sync", "condition"},
    [COHORT__WAIT_SEMAPHORE] = {"a semaphore", "sync", "semaphore"},
    [COHORT__WAIT_LATCH] = {"a latch", "sync", "latch"},
    [COHORT__WAIT_LOCAL_BARRIER] = {"a local barrier", "sync", "local_barrier"},
    [COHORT__WAIT_QUEUE] = {"a queue", "sync", "queue"},
};
