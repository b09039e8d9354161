/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_REMOTE_H
#define COHORT_REMOTE_H

#include <stdint.h>

#include "cohort/future.h"
#include "cohort/object.h"
#include "cohort/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Remote tasks: a function that runs as a task in a locality that the caller names, with bytes in
 * and bytes out. Values of any structure travel as msgpack: see cohort_object_pack and
 * cohort_object_unpack in cohort/msgpack.h.
 *
 * IN is the caller's object, or a copy of it whose data is aligned to 16 bytes. It is there until
 * the function returns, and only to be read. *ret_out is empty at first. The function may leave it
 * so, or put data from malloc there, which the library frees, or IN's data, with at most as many
 * bytes. It returns COHORT_OK, or an error with a message (cohort_fail); then the library frees
 * what it may have put into *ret_out.
 *
 * It is a task like those of cohort_async: it may suspend, start tasks, and call other remote
 * tasks, also back in the locality of its caller. Calls that a locality has got run in any order,
 * and at the same time where there are several workers. */
typedef cohort_status cohort_remote_function(const cohort_object *in, cohort_object *ret_out,
                                             void *context);

/* Gives FUNCTION a name, by which every locality of the job may call it in this one. CONTEXT is
 * only passed on. To be called before cohort_main or cohort_start, in each locality that is to run
 * the function: a program does so at the beginning of main. NAME is copied; it has 1 to 255 bytes.
 * Names that begin with "cohort_" are the library's. Registered functions stay for as long as the
 * process. COHORT_ERR_BAD_PARAMETER (no name, no function, a name of another length, one of the
 * library's, or one that is taken), COHORT_ERR_STATE (the runtime is up already),
 * COHORT_ERR_NO_MEMORY. Any thread; never suspends. */
COHORT_API cohort_status cohort_remote_register(const char *name, cohort_remote_function *function,
                                                void *context) COHORT_MUST_USE;

/* IN of at most so many bytes is copied before a call of a remote task returns. */
enum { COHORT_REMOTE_COPIED_BYTES = 256 };

/* Runs the function NAME in LOCALITY, at most once. The future completes when it has returned, and
 * its result is here.
 *
 * NAME and the struct *IN are read before the call returns; so is IN's data if it has at most
 * COHORT_REMOTE_COPIED_BYTES. A longer one belongs to the call until the future completes. IN may
 * be NULL: no bytes. *ret_out has to live until then. It is emptied by the call, is empty on
 * failure, and gets on success what the function has given: the caller's own, to be given back with
 * cohort_object_fini. ret_out may be NULL: that is thrown away.
 *
 * The future holds the status that the function has returned, with its message, or
 * COHORT_ERR_BAD_PARAMETER (there is no such locality, or LOCALITY has no function of that name; no
 * name, no data), COHORT_ERR_PEER_DIED (LOCALITY died before its result was here: the function may
 * have run, or not), COHORT_ERR_PROTOCOL (what came back makes no sense), COHORT_ERR_STATE (before
 * the start or after the end of the runtime), COHORT_ERR_CANCELLED (the runtime has ended before
 * the call), COHORT_ERR_NO_MEMORY (here or there), COHORT_ERR_NETWORK. The message names the
 * function and the locality. Whoever drops the future does not stop the call; the job does not end
 * before.
 *
 * Any number of calls may be under way. Those that LOCALITY does not get to yet wait here, and take
 * memory here only. A function that waits keeps no others from beginning there, up to 65,536 that
 * have not returned, or 64 MiB of their INs. From then on others begin when one of these has ended,
 * or if none has for a tenth of a second: then there is room for twice as many. If LOCALITY is this
 * one, nothing is sent: it is a task like any other, whose future an await may run at once, but not
 * before tasks here that could go on.
 *
 * Any thread; never suspends. */
COHORT_API cohort_future *cohort_async_at(uint32_t locality, const char *name,
                                          const cohort_object *in,
                                          cohort_object *ret_out) COHORT_MUST_USE;

/* Starts the function NAME in LOCALITY as a task of SCOPE (cohort/scope.h), as cohort_scope_async
 * starts one here: its error is the scope's. What it gives as its result is thrown away.
 *
 * Everything belongs to the scope that is started from its tasks, by this function,
 * cohort_async_at, cohort_async or in any other way, in whatever locality: the scope's await
 * returns when nothing of it is left anywhere. Cancelling goes everywhere, too: remote tasks that
 * have not started never run, cohort_cancelled is true in others, and what they wait for ends as in
 * a scope of their own locality. So a result of cohort_async_at that is called in a scope comes
 * when all has ended that the function has started. If a locality dies, a call of this function
 * there fails the scope with COHORT_ERR_PEER_DIED, one of cohort_async_at only its own future; what
 * the dead one had started elsewhere is cancelled there, and the await does not wait for it.
 *
 * A function finds its scope by cohort_scope_current. IN as for cohort_async_at; a longer one
 * belongs to the call until the await of SCOPE has returned. Returns what cohort_scope_async does,
 * or COHORT_ERR_BAD_PARAMETER (no scope, no such locality, no name, no data; this locality has no
 * function of that name). If another one has none, the scope fails. Any thread, while SCOPE may be
 * used; never suspends. */
COHORT_API cohort_status cohort_scope_async_at(cohort_scope *scope, uint32_t locality,
                                               const char *name,
                                               const cohort_object *in) COHORT_MUST_USE;

/* Runs the function NAME in all localities of the job, this one too, once in each at most. All get
 * the same IN. The call goes along a tree, and the results come back along it, so that no locality
 * sends or gets more than log2(cohort_num_localities()) messages of it, rounded up, each way.
 *
 * RET_OUT is an array of cohort_num_localities() objects, or NULL: the results are thrown away. The
 * future completes when all localities have returned that could. It holds COHORT_OK, and RET_OUT
 * the result of locality i in RET_OUT[i], if all have succeeded. Otherwise all of RET_OUT is empty,
 * and the error is that of the first that has failed, counted from this one upwards and then from
 * 0; its message names the locality. If a locality dies, those that it was to pass the call to may
 * be left out. In a job that goes on without the dead (cohort/survivors.h), those that have died
 * before the call gets to them are no part of it: their results are empty. All else is as for
 * cohort_async_at. Any thread; never suspends. */
COHORT_API cohort_future *cohort_async_everywhere(const char *name, const cohort_object *in,
                                                  cohort_object *ret_out) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
