/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/sites.h"

#include <stdlib.h>

struct site {
    const struct sites *sites;
    uint32_t index;
};

static cohort_future *create(const struct site *site, cohort_comm **ret_comm)
{
    const struct sites *sites = site->sites;
    cohort_comm_options options = sites->options;
    options.this_site = site->index;
    return sites->create ? sites->create(sites->context, ret_comm, sites->name, &options)
                         : cohort_comm_create(ret_comm, sites->name, &options);
}

static cohort_status run_site(void *arg)
{
    const struct site *site = arg;
    cohort_comm *comm = NULL;
    cohort_status status = cohort_await(create(site, &comm));
    if (!status)
        status = site->sites->run(comm, site->sites->arg);
    cohort_comm_unref(comm);
    return status;
}

cohort_status sites_run(const struct sites *sites)
{
    uint32_t num_sites = sites->options.num_sites;
    struct site *all = calloc(num_sites, sizeof(*all));
    cohort_future **done = calloc(num_sites, sizeof(cohort_future *));
    cohort_status status = COHORT_ERR_NO_MEMORY;
    uint32_t num = 0;
    if (all && done) {
        for (uint32_t site = 0; site < num_sites; site++) {
            if (sites->is_here && !sites->is_here(sites->context, site))
                continue;
            all[num] = (struct site){sites, site};
            done[num] = cohort_async(run_site, &all[num]);
            num++;
        }
        status = cohort_await(cohort_when_all(done, num));
    }
    free(done);
    free(all);
    return status;
}
