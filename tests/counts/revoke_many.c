/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/proc/registry.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/localities.h"

/* usage: revoke_many NUM: two localities create NUM instances, whose home is the second one. Of
 * each the first one begins to make a child, in vain, and then revokes all of them before the first
 * answer. linear_growth.py counts what that takes in their registries. */

enum { LOCALITIES = 2, HOME = 1, SEED = 1 };

struct site {
    char name[1 + sizeof(uint64_t)]; /* as a child's: it goes on behind a 0 */
    char child_name[1 + sizeof(uint64_t)];
    struct cohort__join join, child;
    struct cohort__revocation revocation;
    struct cohort__membership *membership;
    bool is_revoked, has_no_child;
};

static struct localities job;

static struct cohort__registry *registry_of(uint32_t rank)
{
    return cohort__process_registry(job.processes[rank]);
}

static void on_joined(struct cohort__join *join, cohort_status status,
                      struct cohort__membership *membership)
{
    CHECK_OK(status);
    COHORT_CONTAINER_OF(join, struct site, join)->membership = membership;
}

static void on_no_child(struct cohort__join *join, cohort_status status,
                        struct cohort__membership *membership)
{
    CHECK_INT(status, COHORT_ERR_REVOKED);
    COHORT_CONTAINER_OF(join, struct site, child)->has_no_child = true;
}

static void on_revoked(struct cohort__revocation *revocation, cohort_status status)
{
    CHECK_OK(status);
    COHORT_CONTAINER_OF(revocation, struct site, revocation)->is_revoked = true;
}

static void join(struct site *site, uint64_t number, uint32_t rank)
{
    memcpy(site->name + 1, &number, sizeof(number));
    site->join = (struct cohort__join){.name = site->name,
                                       .name_bytes = sizeof(site->name),
                                       .home = HOME,
                                       .site = rank,
                                       .num_sites = LOCALITIES,
                                       .terms = "",
                                       .done = on_joined};
    cohort__registry_join(registry_of(rank), &site->join);
}

static void join_child(struct site *site, uint64_t number)
{
    memcpy(site->child_name + 1, &number, sizeof(number));
    site->child = (struct cohort__join){.name = site->child_name,
                                        .name_bytes = sizeof(site->child_name),
                                        .home = HOME,
                                        .parent = site->membership,
                                        .num_sites = LOCALITIES,
                                        .terms = "",
                                        .done = on_no_child};
    cohort__registry_join(registry_of(0), &site->child);
}

static void revoke(struct site *site)
{
    site->revocation =
        (struct cohort__revocation){.membership = site->membership, .done = on_revoked};
    cohort__registry_revoke(registry_of(0), &site->revocation);
}

static void leave(struct site *site, uint32_t rank)
{
    cohort__registry_leave(registry_of(rank), site->membership, rank);
    cohort__registry_return(registry_of(rank), site->membership);
    cohort__membership_unref(site->membership);
}

int main(int argc, char **argv)
{
    const uint64_t num = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    struct site *sites = calloc(LOCALITIES * num + 1, sizeof(*sites));
    if (!sites)
        return 1;
    localities_open(&job, SEED, LOCALITIES, 0);
    for (uint64_t i = 0; i < LOCALITIES * num; i++)
        join(&sites[i], i / LOCALITIES, (uint32_t)(i % LOCALITIES));
    localities_settle(&job);
    for (uint64_t i = 0; i < num; i++)
        join_child(&sites[LOCALITIES * i], num + i);
    for (uint64_t i = 0; i < num; i++)
        revoke(&sites[LOCALITIES * i]);
    localities_settle(&job);
    for (uint64_t i = 0; i < num; i++)
        CHECK(sites[LOCALITIES * i].is_revoked && sites[LOCALITIES * i].has_no_child);
    for (uint64_t i = 0; i < LOCALITIES * num; i++)
        leave(&sites[i], (uint32_t)(i % LOCALITIES));
    localities_settle(&job);
    localities_close(&job);
    free(sites);
    return 0;
}
