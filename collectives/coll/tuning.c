/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/tuning.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/coll/tuning_source.h"
#include "collectives/comm/endpoint.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char local[COHORT__PARAMETERS_MAX_BYTES];
static size_t local_bytes; /* 0: not read yet */

static cohort_status read_local(void)
{
    struct cohort__parameters *parameters = malloc(sizeof(*parameters));
    if (!parameters)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the parameters of the model");
    cohort_status status = cohort__tuning_source_read(parameters);
    if (!status)
        local_bytes = cohort__parameters_encode(parameters, local);
    free(parameters);
    return status;
}

cohort_status cohort__tuning_local(const void **ret_data, size_t *ret_bytes)
{
    pthread_mutex_lock(&lock);
    cohort_status status = local_bytes > 0 ? COHORT_OK : read_local();
    pthread_mutex_unlock(&lock);
    if (status)
        return status;
    *ret_data = local;
    *ret_bytes = local_bytes;
    return COHORT_OK;
}

static cohort_status make(const cohort_comm *comm, struct cohort__tuning *tuning)
{
    const struct cohort__comm_settings *settings = &comm->settings;
    tuning->placement = cohort__placement_of(comm->group->machine);
    cohort_status status = cohort__group_hosts_sharing(comm->group, &tuning->placement.sharing);
    if (status)
        return status;
    if (settings->tuning_bytes > 0)
        return cohort__parameters_decode(&tuning->parameters, settings->tuning,
                                         settings->tuning_bytes);
    cohort__parameters_default(&tuning->parameters);
    return COHORT_OK;
}

cohort_status cohort__tuning_get(cohort_comm *comm, const struct cohort__tuning **ret_tuning)
{
    void *known = atomic_load(&comm->group->tuning);
    if (!known) {
        struct cohort__tuning *tuning = malloc(sizeof(*tuning));
        if (!tuning)
            return cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%s\": no memory for its model",
                               comm->group->name);
        cohort_status status = make(comm, tuning);
        if (status || !atomic_compare_exchange_strong(&comm->group->tuning, &known, tuning)) {
            free(tuning);
            if (status)
                return status;
        } else {
            known = tuning;
        }
    }
    *ret_tuning = known;
    return COHORT_OK;
}
