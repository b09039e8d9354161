/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_REMOTE_FUNCTIONS_H
#define COHORT_RUNTIME_REMOTE_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/remote.h"
#include "runtime/base/map.h"

struct cohort__process;

/* The functions that were registered in this process. They stay until it ends. */
struct cohort__remote_function {
    struct cohort__map_node node; /* by the hash of the name */
    cohort_remote_function *function;
    void *context;
    bool is_own; /* of the library: its context is the process that it runs in */
    char name[];
};

/* A name as it travels. Localities tell names apart by this hash alone: with 64 bits, two names of
 * a program do not have the same one. */
uint64_t cohort__remote_hash(const char *name);

/* NULL: there is none. Any thread, once there are no more registrations. */
const struct cohort__remote_function *cohort__remote_function_find(uint64_t hash);

/* Calls it in PROCESS, in a task. *RET_OUT is its result: data from malloc, or IN's data. On
 * failure cohort_error_message() says why. */
cohort_status cohort__remote_function_call(const struct cohort__remote_function *function,
                                           struct cohort__process *process, const cohort_object *in,
                                           cohort_object *ret_out);

/* As cohort_remote_register, for a function of the library; also when that is sealed. Repeated
 * calls are harmless. */
cohort_status cohort__remote_register_own(const char *name, cohort_remote_function *function);

/* From now on registering fails: the functions are looked for without a lock. */
void cohort__remote_functions_seal(void);

/* Ends that, when nobody looks for them any more. */
void cohort__remote_functions_unseal(void);

#endif
