/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/pmix_library.h"

#include <dlfcn.h>

cohort_status cohort__pmix_library_load(struct cohort__pmix_library *ret_library)
{
    void *handle = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        return cohort_fail(COHORT_ERR_NOT_SUPPORTED,
                           "PMIX_NAMESPACE says that a launcher that speaks PMIx has started this "
                           "program, but libpmix can't be loaded: %s",
                           dlerror());
    struct cohort__pmix_library library = {
        .init = dlsym(handle, "PMIx_Init"),
        .finalize = dlsym(handle, "PMIx_Finalize"),
        .abort = dlsym(handle, "PMIx_Abort"),
        .put = dlsym(handle, "PMIx_Put"),
        .commit = dlsym(handle, "PMIx_Commit"),
        .fence_nb = dlsym(handle, "PMIx_Fence_nb"),
        .get = dlsym(handle, "PMIx_Get"),
        .get_nb = dlsym(handle, "PMIx_Get_nb"),
        .register_event_handler = dlsym(handle, "PMIx_Register_event_handler"),
        .error_string = dlsym(handle, "PMIx_Error_string"),
    };
    if (!library.init || !library.finalize || !library.abort || !library.put || !library.commit ||
        !library.fence_nb || !library.get || !library.get_nb || !library.register_event_handler ||
        !library.error_string)
        return cohort_fail(COHORT_ERR_NOT_SUPPORTED, "libpmix.so.2 lacks a function: %s",
                           dlerror());
    *ret_library = library;
    return COHORT_OK;
}
