/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/program.h"
#include "tests/support/sites.h"
#include "tests/support/test.h"

/* Sections 12.1 and 12.2 of the reference design: after an all_to_all of an injective encoding of
 * (source, destination), each site holds the transpose. Sites are tasks of this locality. */

enum { GENERATIONS = 50, COUNT = 3 };

static int64_t encode(uint32_t from, uint32_t to, uint64_t generation, size_t item)
{
    return (int64_t)(((generation * 1000 + from) * 1000 + to) * 10 + item);
}

static cohort_status transpose(cohort_comm *comm, void *arg)
{
    uint32_t num_sites = cohort_comm_num_sites(comm), me = cohort_comm_this_site(comm);
    uint32_t expected_levels = *(const uint32_t *)arg;
    CHECK(cohort_comm_levels(comm) >= expected_levels);
    int64_t *in = test_calloc(num_sites * COUNT, sizeof(*in));
    int64_t *out = test_calloc(num_sites * COUNT, sizeof(*out));
    cohort_status status = COHORT_OK;
    for (uint64_t generation = 1; !status && generation <= GENERATIONS; generation++) {
        for (uint32_t to = 0; to < num_sites; to++)
            for (size_t item = 0; item < COUNT; item++)
                in[to * COUNT + item] = encode(me, to, generation, item);
        status = cohort_await(cohort_all_to_all(comm, in, out, COUNT, COHORT_INT64, generation));
        for (uint32_t from = 0; !status && from < num_sites; from++)
            for (size_t item = 0; item < COUNT; item++)
                CHECK_INT(out[from * COUNT + item], encode(from, me, generation, item));
    }
    free(in);
    free(out);
    return status;
}

static void check(uint32_t num_sites, uint32_t arity, uint32_t threshold, const char *algorithm)
{
    char name[64];
    snprintf(name, sizeof(name), "transpose-%u-%u-%u-%s", num_sites, arity, threshold,
             algorithm ? algorithm : "default");
    uint32_t levels = threshold == COHORT_FORCE_TREE && num_sites > arity ? 2 : 1;
    cohort_status status = sites_run(&(struct sites){
        .name = name,
        .options = {.num_sites = num_sites,
                    .arity = arity,
                    .flat_fallback_threshold = threshold,
                    .algorithms = algorithm},
        .run = transpose,
        .arg = &levels,
    });
    if (status)
        FAIL("%s: %s", name, cohort_error_message());
}

static void check_all(uint32_t arity, const uint32_t *num_sites, size_t num)
{
    for (size_t i = 0; i < num; i++) {
        check(num_sites[i], arity, COHORT_FORCE_TREE, NULL);
        check(num_sites[i], arity, COHORT_FORCE_TREE, "all_to_all=padded");
        check(num_sites[i], arity, 1024, NULL);
    }
}

TEST(arity_2)
{
    static const uint32_t num_sites[] = {2, 3, 4, 5, 6, 7, 8, 9, 11, 15, 16, 32, 64};
    check_all(2, num_sites, NUM_OF(num_sites));
}

TEST(arity_3)
{
    static const uint32_t num_sites[] = {3, 5, 7, 11};
    check_all(3, num_sites, NUM_OF(num_sites));
}

TEST(arity_4)
{
    static const uint32_t num_sites[] = {5, 6, 7, 9, 10, 11, 13, 15, 16, 64};
    check_all(4, num_sites, NUM_OF(num_sites));
}

int main(int argc, char **argv)
{
    return program_main(argc, argv);
}
