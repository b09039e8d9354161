/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/names/home.h"

/* usage: gather_again NUM: of three sites, each in a locality of its own, the last one leaves, and
 * dies. NUM agreements fail for the first one before the death, and for the second one after it.
 * linear_growth.py counts what that takes at the home of names. */

enum { SITES = 3, GONE = SITES - 1 };

static struct cohort__registry_home home;

static void drop(struct cohort__list *outbox)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(outbox)))
        cohort__registry_letter_destroy(
            COHORT_CONTAINER_OF(link, struct cohort__registry_letter, link));
}

static uint64_t first_instance(void)
{
    return cohort__instance_of(home.rank, 1);
}

static cohort_status create(void)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    struct cohort__registry_request request = {
        .name = "a", .name_bytes = 1, .terms = "", .num_sites = SITES};
    cohort_status status = COHORT_OK;
    for (uint32_t site = 0; !status && site < SITES; site++) {
        request.source = request.site = site;
        status = cohort__registry_home_join(&home, &request, &outbox);
    }
    request.instance = first_instance();
    if (!status) /* the last one */
        status = cohort__registry_home_leave(&home, &request, &outbox);
    drop(&outbox);
    return status;
}

/* SITE joins NUM agreements of those that live. */
static cohort_status agree(uint32_t site, uint64_t num)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; !status && i < num; i++) {
        const uint64_t name[] = {0, i, home.view}; /* what children's names begin with */
        const struct cohort__registry_request request = {.name = (const char *)name,
                                                         .name_bytes = sizeof(name),
                                                         .terms = "",
                                                         .source = site,
                                                         .site = site,
                                                         .num_sites = SITES - home.view,
                                                         .view = home.view,
                                                         .agrees = true,
                                                         .of = first_instance(),
                                                         .of_name = "a",
                                                         .of_name_bytes = 1};
        status = cohort__registry_home_join(&home, &request, &outbox);
        if (!status && cohort__list_is_empty(&outbox))
            status = cohort_fail(COHORT_ERR_FAILED, "an agreement has not failed");
        drop(&outbox);
    }
    return status;
}

int main(int argc, char **argv)
{
    const uint64_t num = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    cohort__registry_home_init(&home, 0, SITES);
    cohort_status status = create();
    if (!status)
        status = agree(0, num);
    if (!status)
        status = cohort__registry_home_died(&home, GONE, &outbox);
    drop(&outbox);
    if (!status)
        status = agree(1, num);
    cohort__registry_home_fini(&home);
    return status != COHORT_OK;
}
