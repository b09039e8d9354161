/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_JOB_SETTINGS_H
#define COHORT_RUNTIME_JOB_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/fault.h"
#include "runtime/base/named_levels.h"
#include "runtime/task/stack.h"

/* The transport for messages to localities of this host and of other hosts. */
enum cohort__transport {
    COHORT__TRANSPORT_ANY, /* shared memory to localities that share it, libfabric to the others */
    COHORT__TRANSPORT_SHM,
    COHORT__TRANSPORT_OFI,
};

/* A machine that is played: hosts, domains of each, localities of each domain. All zero: none. */
struct cohort__topology {
    uint32_t hosts;
    uint32_t domains;
    uint32_t localities;
};

enum { COHORT__TRACE_PATH_BYTES = 4096 };

/* What the user sets in the environment; see cohort_main. */
struct cohort__settings {
    unsigned workers; /* 0: not set */
    int64_t spin;     /* ns; -1: not set */
    size_t stack;
    enum cohort__stack_guard stack_guard;
    bool tasks_move;
    bool progress_thread;
    unsigned blocking_threads;
    size_t eager_budget; /* 0: the default */
    uint64_t grace;      /* ns */
    enum cohort__transport transport;
    struct cohort__topology topology;
    char levels[COHORT__NAMED_LEVELS_BYTES + 1]; /* as cohort__named_levels_read takes them */
    struct cohort__fault_plan fault;
    char trace[COHORT__TRACE_PATH_BYTES]; /* absolute; empty: none */
    uint64_t trace_bytes;                 /* the most of a part */
    char stats[COHORT__TRACE_PATH_BYTES]; /* a file, or "1": a table; empty: none */
    uint64_t memory;                      /* bytes of cohort_memory_alloc; 0: not set */
};

/* COHORT_ERR_BAD_PARAMETER, with a message that names the variable and what is wrong with it. */
cohort_status cohort__settings_read(struct cohort__settings *ret_settings);

#endif
