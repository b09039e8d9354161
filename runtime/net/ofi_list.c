/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/ofi_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/net/ofi_library.h"

static bool has_name(const char *names, const char *name)
{
    const size_t bytes = strlen(name);
    for (const char *at = names; at; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        if (strcspn(at, ",") == bytes && strncmp(at, name, bytes) == 0)
            return true;
    }
    return false;
}

static void add_name(char *names, size_t bytes, const char *name)
{
    size_t used = strlen(names);
    if (!has_name(names, name))
        snprintf(names + used, bytes - used, "%s%s", used ? ", " : "", name);
}

static void choose(struct cohort__ofi_listed *listed, const struct cohort__ofi_library *library)
{
    const char *wanted = getenv("COHORT_OFI_PROVIDER");
    const char *name = wanted && *wanted
                           ? wanted
                           : cohort__ofi_library_provider(library->version, library->revision);
    if (!(wanted && *wanted) && !has_name(listed->names, name))
        name = COHORT__OFI_OLD_PROVIDER; /* as a job does */
    snprintf(listed->provider, sizeof(listed->provider), "%s", name);
    listed->is_there = has_name(listed->names, name);
}

cohort_status cohort__ofi_list(struct cohort__ofi_listed *ret_listed)
{
    const struct cohort__ofi_library *library;
    struct cohort__ofi_listed listed = {0};
    struct fi_info *infos = NULL;
    cohort_status status = cohort__ofi_library_load(&library);
    if (status)
        return status;
    int error = library->getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL, 0,
                                 NULL, &infos);
    if (error)
        return cohort_fail(COHORT_ERR_NETWORK, "libfabric has no providers: %s",
                           library->strerror(-error));
    for (struct fi_info *info = infos; info; info = info->next)
        if (info->ep_attr->type == FI_EP_RDM)
            add_name(listed.names, sizeof(listed.names), info->fabric_attr->prov_name);
    library->freeinfo(infos);
    snprintf(listed.version, sizeof(listed.version), "%u.%u.%u", FI_MAJOR(library->version),
             FI_MINOR(library->version), library->revision);
    choose(&listed, library);
    *ret_listed = listed;
    return COHORT_OK;
}
