/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_REMOTE_SERVED_H
#define COHORT_RUNTIME_REMOTE_SERVED_H

#include <stdalign.h>

#include "cohort/task.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/send.h"
#include "runtime/remote/private.h"
#include "runtime/task/task.h"

/* One of the calls of others in this locality. Between serve.c (calls come, and are admitted),
 * served.c (a call is made, and ends), served_task.c, served_scope.c and served_lines.c. */

struct served {
    struct cohort__list link;     /* in `waiting` */
    struct cohort__list admitted; /* in `admitted`, once it is; also under the lock of all */
    _Atomic uintptr_t task;       /* that is in the function, as in the ledger; 0: none */
    struct cohort__map_node node; /* of a scoped one: in `scoped` */
    cohort_scope *scope;          /* of a scoped one that has begun; under the lock of all */
    bool is_scoped;
    bool fails_scope;           /* the function's error is the scope's */
    struct cohort__error error; /* else it is here until the scope has ended */
    bool is_cancelled;          /* under the lock of all */
    bool has_left;              /* it is not admitted any more: its function has returned, or will
                                 * not be called */
    struct cohort__remote_tasks *tasks;
    struct cohort__remote_peer *peer; /* the caller */
    uint64_t number;
    uint64_t hash;
    uint32_t span;
    bool says_where;                 /* of an error: its text names the locality */
    size_t bytes;                    /* of IN */
    struct cohort__arrival *arrival; /* a longer IN, as it has come; else NULL */
    void *memory;                    /* from malloc, for that */
    cohort_object in, out;
    union {
        struct cohort__fetch fetch;
        struct cohort__send send;
    };
    alignas(16) unsigned char copied[]; /* a short IN */
};

/* serve.c. SERVED, which was admitted, makes room for others. */
void cohort__served_leave(struct served *served);

/* served.c. The call of ARRIVAL. It has what is needed of ARRIVAL, which is kept for the rest.
 * NULL: there is no memory; ARRIVAL is still the caller's. */
struct served *cohort__served_create(struct cohort__remote_tasks *tasks,
                                     struct cohort__remote_peer *peer,
                                     struct cohort__arrival *arrival);
void cohort__served_free(struct served *served);

/* What it calls. */
struct cohort__remote_name cohort__served_name(const struct served *served);

/* What its tasks are called, see task.h. The function is registered here. */
cohort__any_function *cohort__served_shown(const struct served *served);

/* How many of the caller's calls were admitted that it has not been told of. It is told now. */
uint32_t cohort__served_take_untold(struct cohort__remote_peer *peer);

/* Sends ERROR in place of the result of call NUMBER. */
void cohort__served_send_error(struct cohort__remote_tasks *tasks, struct cohort__remote_peer *peer,
                               uint64_t number, const struct cohort__error *error,
                               bool is_of_scope);

/* These end SERVED: with its result, or with STATUS in place of it. IS_OF_SCOPE: it is the error of
 * the caller's scope. */
void cohort__served_send_result(struct served *served);
void cohort__served_fail(struct served *served, cohort_status status, const char *why);
void cohort__served_fail_with(struct served *served, cohort_status status, const char *why,
                              bool is_of_scope);

/* served_task.c. Starts the task of SERVED, whose IN is here. */
void cohort__served_start(struct served *served);

/* In a task: calls the function. */
cohort_status cohort__served_call(struct served *served);

/* served_scope.c. A scoped call can be cancelled from when it is remembered until it is forgotten.
 * Forgetting returns its scope, which nobody cancels any more; NULL: it has not begun. */
void cohort__served_remember_scoped(struct served *served);
cohort_scope *cohort__served_forget_scoped(struct served *served);
void cohort__served_start_scoped(struct served *served);

/* Cancels all scoped calls of RANK that have begun; the others when they begin. */
void cohort__served_cancel_scoped(struct cohort__remote_served *all, uint32_t rank);

/* served_lines.c. At a tick: says to those who look on what is worked on. */
void cohort__served_look_on(struct cohort__remote_tasks *tasks);

#endif
