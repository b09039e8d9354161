/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_PMIX_LIBRARY_H
#define COHORT_RUNTIME_LAUNCH_PMIX_LIBRARY_H

#include <pmix.h>

#include "cohort/status.h"

/* The functions of libpmix that a locality needs. The library is loaded only if a launcher with
 * PMIx has started the program, so no program depends on it. Only functions that are the same since
 * PMIx 3 are used, because the version of the library depends on the launcher. */
struct cohort__pmix_library {
    pmix_status_t (*init)(pmix_proc_t *proc, pmix_info_t *info, size_t num);
    pmix_status_t (*finalize)(const pmix_info_t *info, size_t num);
    pmix_status_t (*abort)(int status, const char *message, pmix_proc_t *procs, size_t num_procs);
    pmix_status_t (*put)(pmix_scope_t scope, const char *key, pmix_value_t *value);
    pmix_status_t (*commit)(void);
    pmix_status_t (*fence_nb)(const pmix_proc_t *procs, size_t num_procs, const pmix_info_t *info,
                              size_t num, pmix_op_cbfunc_t done, void *context);
    pmix_status_t (*get)(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                         size_t num, pmix_value_t **ret_value);
    pmix_status_t (*get_nb)(const pmix_proc_t *proc, const char *key, const pmix_info_t info[],
                            size_t num, pmix_value_cbfunc_t done, void *context);
    pmix_status_t (*register_event_handler)(pmix_status_t *codes, size_t num_codes,
                                            pmix_info_t *info, size_t num,
                                            pmix_notification_fn_t handler,
                                            pmix_hdlr_reg_cbfunc_t done, void *context);
    const char *(*error_string)(pmix_status_t status);
};

/* COHORT_ERR_NOT_SUPPORTED if the library or one of its functions is missing. */
cohort_status cohort__pmix_library_load(struct cohort__pmix_library *ret_library);

#endif
