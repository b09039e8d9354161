/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "collectives/comm/endpoint.h"
#include "tests/support/cluster.h"

/* Settings that differ between the sites. All sites use the settings of site 0, wherever it is and
 * whenever it joins. */

enum { MAX_SITES = 17 };

static void set(const char *value)
{
    setenv("COHORT_CHECK_ASYMMETRIC", value, 1);
}

/* The sites join one after the other, beginning with FIRST. The setting is on at site 0 and off at
 * the others. */
static void run(struct cluster *cluster, const char *name, uint32_t num_sites, uint32_t first,
                bool on)
{
    cohort_comm *comms[MAX_SITES] = {NULL};
    cohort_future *futures[MAX_SITES];
    for (uint32_t i = 0; i < num_sites; i++) {
        uint32_t site = (first + i) % num_sites;
        set((site == 0) == on ? "1" : "0");
        futures[site] =
            cluster_create_comm(cluster, &comms[site], name,
                                &(cohort_comm_options){.num_sites = num_sites, .this_site = site});
    }
    for (uint32_t site = 0; site < num_sites; site++) {
        CHECK_OK(cohort_await(futures[site]));
        CHECK_INT(comms[site]->settings.check_asymmetric, on);
    }
    for (uint32_t site = 0; site < num_sites; site++)
        cohort_comm_unref(comms[site]);
}

TEST(site_0_decides)
{
    for (uint32_t num_sites = 1; num_sites <= MAX_SITES; num_sites++) {
        struct cluster *cluster = cluster_create(num_sites, 1 + num_sites % 4, 0);
        for (uint32_t first = 0; first < num_sites; first++) {
            char name[32]; /* names with homes in all localities */
            snprintf(name, sizeof(name), "settings %u", first);
            run(cluster, name, num_sites, first, first % 2);
        }
        cluster_destroy(cluster);
    }
    set("");
}

/* One site has a wrong value. The sites that have joined before it, and those that join afterwards,
 * are told as well. */
TEST(wrong_value)
{
    enum { NUM_SITES = 3, WRONG = 1 };
    cohort_comm *comms[NUM_SITES] = {NULL};
    cohort_future *futures[NUM_SITES];
    struct cluster *cluster = cluster_create(NUM_SITES, 2, 0);
    for (uint32_t site = 0; site < NUM_SITES; site++) {
        set(site == WRONG ? "perhaps" : "");
        futures[site] =
            cluster_create_comm(cluster, &comms[site], "wrong",
                                &(cohort_comm_options){.num_sites = NUM_SITES, .this_site = site});
    }
    for (uint32_t site = 0; site < NUM_SITES; site++) {
        CHECK_FAILS(cohort_await(futures[site]), COHORT_ERR_BAD_PARAMETER,
                    "communicator \"wrong\": site 1 of locality ");
        CHECK_CONTAINS(cohort_error_message(), " can't join: environment variable "
                                               "COHORT_CHECK_ASYMMETRIC is \"perhaps\"");
        CHECK(!comms[site]);
    }
    cluster_destroy(cluster);
}
