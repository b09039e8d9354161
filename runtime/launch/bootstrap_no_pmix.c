/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/bootstrap_private.h"

/* Built instead of bootstrap_pmix.c if PMIx's headers are missing. */

cohort_status cohort__bootstrap_open_pmix(struct cohort__bootstrap **ret_bootstrap)
{
    (void)ret_bootstrap;
    return cohort_fail(COHORT_ERR_NOT_SUPPORTED,
                       "PMIX_NAMESPACE says that a launcher that speaks PMIx has started this "
                       "program, but Cohort was built without libpmix-dev");
}

void cohort__bootstrap_refuse_pmix(void)
{
}
