/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what the ledger of one locality says at this moment. */
#ifndef COHORT_TOOLS_COHORTRUN_STATUS_LOOK_H
#define COHORT_TOOLS_COHORTRUN_STATUS_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/ledger_format.h"

/* A copy of a locality's ledger, made without the locality, which may be stopped, compute, or be
 * dead. Times are ages, in nanoseconds. Addresses are those of its process. Nothing that it says is
 * trusted: texts end, numbers may be any. */

/* A worker turns its loop every 100 us, so one that has not for so long is busy with one task. */
#define LOOK_BUSY_NS UINT64_C(500000000)

enum { LOOK_WORDS_BYTES = 1016 };

struct look_join {
    uint64_t age;
    uint64_t future;
    uint32_t site;
    uint32_t num_sites;
    enum cohort__join_kind kind;
    uint64_t parent;  /* of a shrink or an agreement: the instance of the communicator; else 0 */
    uint32_t of_site; /* the same: which of its sites this is */
    char name[256];
};

struct look_wait {
    uint64_t age;
    uint64_t caller;
    uint64_t what; /* without the kind */
    enum cohort__wait_kind kind;
    uint64_t function;  /* 0: a thread outside of tasks */
    uint64_t task;      /* 0: the same */
    uint64_t outer;     /* the task that awaits this one, and runs it itself; 0: none */
    uint64_t outermost; /* the one that awaits that, and so on; 0: none */
    uint64_t scope;     /* that it counts in; 0: none, or not known */
    uint64_t range;     /* of which it runs a chunk; 0: none */
    uint64_t seen;      /* of a future that is listed: since it was last seen pending; else 0 */
};

/* What waits for futures and has no stack: a combinator, the end of a scope or a range, or a task
 * that has yet to begin, which is among the waits, too: for itself, as for a combinator. */
struct look_inputs {
    uint64_t age;      /* since it was noted */
    uint64_t seen;     /* since it was last seen pending: a wait that is younger is not for it */
    uint64_t of;       /* as `what` of a wait */
    uint64_t scope;    /* or the range, whose end it is; 0: it is none */
    bool is_cancelled; /* the scope */
    bool is_range;
    uint64_t num;    /* inputs that are pending, tasks in the scope, or chunks of the range */
    uint64_t wanted; /* so many of them are still to be complete */
    uint32_t first;  /* of those that are listed, in `listed` of the look */
    uint32_t num_listed;
};

/* What an endpoint had in flight when it was last asked. */
struct look_pending {
    uint64_t age; /* since then */
    uint64_t instance;
    uint64_t future; /* as `what` of a wait, if that is older */
    uint64_t number; /* the generation of a call, the tag of a get or a set */
    uint32_t site;   /* the endpoint's */
    uint32_t peer;   /* of a get: whose message it waits for; UINT32_MAX: anybody's; of a set: who
                      * is to get it; of a remote task: its locality */
    enum cohort__wait_kind kind; /* COHORT__WAIT_COLLECTIVE, _GET, _SET or _REMOTE */
    bool needs_all; /* it does not end before all sites have called it, or that one gets it */
    bool has_come;  /* the message of a get, which is read */
    bool has_more;  /* in flight than is listed: the endpoint */
    char name[64];  /* of a remote task; "": not known */
};

/* A task that works on a remote call, as of the last tick. */
struct look_serve {
    uint64_t age;    /* since then */
    uint64_t task;   /* without a stamp; 0: it has yet to begin, or its function has returned */
    uint64_t number; /* as that of what is in flight at the caller */
    uint32_t from;   /* the locality that has called */
};

/* What a call that has waited for long says of whom it waits for. */
struct look_account {
    uint64_t instance;
    uint64_t generation;
    uint32_t site;
    char text[824];
};

struct look_worker {
    uint64_t thread;
    uint64_t age;             /* since it last turned the loop */
    uint32_t index;           /* UINT32_MAX: the progress thread */
    char state;               /* as in /proc: R runs, S sleeps, T is stopped; '?': not known */
    uint64_t function;        /* of the task that it runs; 0: it runs none */
    bool is_idle;             /* it sleeps, since it has nothing to do */
    char kernel_function[40]; /* in which it sleeps, as in /proc; "": not known */
};

struct look {
    uint32_t rank;
    uint32_t size; /* localities of its job */
    int pid;       /* as it sees it itself */
    enum cohort__ledger_stage stage;
    uint64_t stage_age;
    int32_t status;               /* that its program has returned */
    char words[LOOK_WORDS_BYTES]; /* why it fails, or has died; "": it has not said so */
    uint64_t num_tasks;           /* that it had at its last tick, whether they wait or not */
    bool acts_outside;            /* callbacks of the program may begin something, too */
    uint64_t tick_age;            /* of a process that is dead: since its last tick; else 0 */
    bool is_cut; /* not all is there: there was no memory for it, or the ledger is damaged */
    bool is_stopped;
    struct cohort__site_line *sites; /* these, groups and modules are lines of the ledger */
    struct cohort__group_line *groups;
    struct look_join *joins;
    struct look_wait *waits;       /* by task */
    struct look_inputs *inputs;    /* by what they are of */
    struct look_wait *listed;      /* inputs, as what each waits for; of no task */
    struct look_pending *pendings; /* by future */
    struct look_serve *serves;
    struct look_account *accounts;
    struct look_worker *workers;
    struct cohort__module_line *modules;
    uint32_t num_sites, num_groups, num_joins, num_waits, num_workers, num_modules;
    uint32_t num_pendings, num_serves, num_accounts, num_inputs, num_listed;
    uint32_t num_nested; /* of the waits, those with an outer task */
};

/* Copies what is said in region SLOT of MEMORY, which the process PID of this host writes (0:
 * nobody any more), and of that in /proc: for look_make, in any process of the same cohortrun on a
 * machine of the same kind. The caller frees RET_COPY. Errors as for cohort__ledger_view_init and
 * cohort__ledger_each. */
cohort_status look_copy(char **ret_copy, size_t *ret_bytes, int memory, uint32_t slot, int pid);

/* COHORT_ERR_PROTOCOL: COPY makes no sense, or is of another version; COHORT_ERR_NO_MEMORY. */
cohort_status look_make(struct look **ret_look, const void *copy, size_t bytes);

/* Both in turn. */
cohort_status look_read(struct look **ret_look, int memory, uint32_t slot, int pid);

/* The same of a process that is dead, as of the moment NOW, in nanoseconds of CLOCK_REALTIME. */
cohort_status look_read_dead(struct look **ret_look, int memory, uint32_t slot, uint64_t now);

/* Only the last words of the process, why it fails, or has died. False: it has not said so. */
bool look_read_words(int memory, uint32_t slot, char *ret_text, size_t bytes);

/* NULL is fine. */
void look_destroy(struct look *look);

/* The wait of TASK, or that of a task that it runs itself. Without a stamp (see ledger_format.h) it
 * is the one that has this address now. NULL: it does not wait, or is none, or has ended. */
const struct look_wait *look_find_wait(const struct look *look, uint64_t task);

/* For what WAIT, for a combinator or the end of a scope, waits in turn. NULL: that is not known. */
const struct look_inputs *look_find_inputs(const struct look *look, const struct look_wait *wait);

/* Whether WAIT is an input that is listed, and not that of a task. */
bool look_is_listed(const struct look *look, const struct look_wait *wait);

/* A number below look_num_nodes for each of the waits and of the inputs that are listed. _node: the
 * one with that number. */
uint32_t look_num_nodes(const struct look *look);
uint32_t look_number(const struct look *look, const struct look_wait *wait);
const struct look_wait *look_node(const struct look *look, uint32_t number);

/* Whether the task of WAIT has yet to begin. */
bool look_has_to_begin(const struct look_wait *wait);

/* What WAIT, for a call, a get or a set, was seen to wait for. NULL: that is not known. */
const struct look_pending *look_find_pending(const struct look *look, const struct look_wait *wait);

/* The wait of the task that works on call NUMBER of locality FROM. NULL: that is not known, or it
 * does not wait. */
const struct look_wait *look_find_serving(const struct look *look, uint32_t from, uint64_t number);

/* Whether nothing there can begin or go on by itself: each task is among the waits. */
bool look_is_quiet(const struct look *look);

/* Whether WORKER has been in a call of the system for a while, though it has something to do: a
 * task has made it. */
bool look_is_blocked(const struct look_worker *worker);

/* Whether WORKER has computed for a while in one task, or outside of tasks, without a pause. If its
 * process is stopped: whether it was in a task then. */
bool look_is_busy(const struct look_worker *worker);

/* The module that ADDRESS is in; NULL: none. */
const struct cohort__module_line *look_find_module(const struct look *look, uint64_t address);

/* Puts the waits, the inputs and what is in flight in order, for look_find_wait and the like. */
void look_sort(struct look *look);

#endif
