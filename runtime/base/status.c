/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/status.h"

#include <stddef.h>

struct description {
    const char *name;
    const char *text;
};

static const struct description descriptions[] = {
    [-COHORT_OK] = {"COHORT_OK", "success"},
    [-COHORT_ERR_BAD_PARAMETER] = {"COHORT_ERR_BAD_PARAMETER", "an argument can't be right"},
    [-COHORT_ERR_NO_MEMORY] = {"COHORT_ERR_NO_MEMORY", "memory or another resource ran out"},
    [-COHORT_ERR_NOT_SUPPORTED] = {"COHORT_ERR_NOT_SUPPORTED", "not supported here"},
    [-COHORT_ERR_GENERATION] = {"COHORT_ERR_GENERATION",
                                "the generation is not above the last one"},
    [-COHORT_ERR_MISMATCH] = {"COHORT_ERR_MISMATCH", "sites disagree"},
    [-COHORT_ERR_DUPLICATE_SITE] = {"COHORT_ERR_DUPLICATE_SITE", "a site joined twice"},
    [-COHORT_ERR_WRONG_ROLE] = {"COHORT_ERR_WRONG_ROLE", "the call is not for this site's role"},
    [-COHORT_ERR_MOVED_PAST] = {"COHORT_ERR_MOVED_PAST", "a peer skipped this generation"},
    [-COHORT_ERR_GONE] = {"COHORT_ERR_GONE", "a peer has left"},
    [-COHORT_ERR_CANCELLED] = {"COHORT_ERR_CANCELLED", "ended before it was complete"},
    [-COHORT_ERR_PEER_DIED] = {"COHORT_ERR_PEER_DIED", "a locality died"},
    [-COHORT_ERR_NETWORK] = {"COHORT_ERR_NETWORK", "the transport failed"},
    [-COHORT_ERR_PROTOCOL] = {"COHORT_ERR_PROTOCOL", "received bytes make no sense"},
    [-COHORT_ERR_SYSTEM] = {"COHORT_ERR_SYSTEM", "a system call failed"},
    [-COHORT_ERR_TIMEOUT] = {"COHORT_ERR_TIMEOUT", "the deadline passed"},
    [-COHORT_ERR_STATE] = {"COHORT_ERR_STATE", "not possible at this time"},
    [-COHORT_ERR_FAILED] = {"COHORT_ERR_FAILED", "failed"},
    [-COHORT_ERR_REVOKED] = {"COHORT_ERR_REVOKED", "the communicator was revoked"},
};

static const struct description *describe(cohort_status status)
{
    static const struct description unknown = {"unknown status", "unknown status"};
    /* Goes through long long, since the enum may be unsigned, and the most negative int can't be
     * negated. */
    long long index = -(long long)(int)status;
    if (index < 0 || index >= (long long)(sizeof(descriptions) / sizeof(descriptions[0])))
        return &unknown;
    return &descriptions[index];
}

const char *cohort_status_name(cohort_status status)
{
    return describe(status)->name;
}

const char *cohort_status_text(cohort_status status)
{
    return describe(status)->text;
}
