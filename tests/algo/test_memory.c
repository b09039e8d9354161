/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a top representative of the hierarchical all_to_all needs. It is computed from
 * the plans alone, and no such buffer is allocated. The largest group has G = ceil(N / arity)
 * sites, and blocks have m bytes.
 *
 * Ragged: TMP has the other G - 1 rows and the other G - 1 columns of the group, with N blocks
 * each. The representative's own row is in IN, and its own column in OUT. So TMP has 2 (G-1) N m
 * bytes, and all buffers have 2 G N m. Where arity divides N that is (2/arity) N^2 m. It is less
 * than the (2/arity + 1/arity^2) N^2 m of HPX's plan for it (discussion #7200), even with IN and
 * OUT, since sub-matrices are sent from the rows and received into the columns.
 *
 * Padded: TMP also has the G x G blocks for each group, those to send and those to receive: 2 arity
 * G^2 m, which is (2/arity) N^2 m again. So the sum is (4/arity) N^2 m. This is more than HPX's,
 * which counts two of the four buffers (rows, outgoing, incoming, columns) of G N blocks, since the
 * others have been released by then, and 1/arity^2 N^2 = G^2 for one block on its way. A plan's TMP
 * stays allocated from the beginning to the end, so all four buffers count here. */
#include "collectives/algo/algorithm.h"
#include "tests/support/test.h"

enum { ARITY = 4 };
static const size_t mebibyte = 1 << 20;

/* What the site that needs most needs. */
struct need {
    size_t tmp;
    size_t all; /* with IN and OUT */
    uint32_t site;
};

static struct need need_of(const char *row, uint32_t num_sites)
{
    struct need most = {0};
    struct cohort__request request = {.collective = COHORT__ALL_TO_ALL,
                                      .num_sites = num_sites,
                                      .arity = ARITY,
                                      .bytes = mebibyte};
    for (request.this_site = 0; request.this_site < num_sites; request.this_site++) {
        struct cohort__plan *plan = NULL;
        const struct cohort__algorithm *algorithm = cohort__algorithm_find(COHORT__ALL_TO_ALL, row);
        CHECK(algorithm && cohort__algorithm_build(algorithm, &request, &plan) == COHORT_OK);
        size_t all = plan->in_bytes + plan->out_bytes + plan->tmp_bytes;
        if (all > most.all)
            most = (struct need){plan->tmp_bytes, all, request.this_site};
        cohort__plan_unref(plan);
    }
    return most;
}

/* (2/arity + 1/arity^2) N^2 m */
static double bound(uint32_t num_sites)
{
    return (2.0 / ARITY + 1.0 / (ARITY * ARITY)) * num_sites * num_sites * (double)mebibyte;
}

static void check_ragged(uint32_t num_sites)
{
    size_t largest = (num_sites + ARITY - 1) / ARITY;
    struct need need = need_of("hierarchical", num_sites);
    CHECK_INT((long long)(need.tmp / mebibyte), (long long)(2 * (largest - 1) * num_sites));
    CHECK_INT((long long)(need.all / mebibyte), (long long)(2 * largest * num_sites));
    CHECK_INT((long long)((need.tmp | need.all) % mebibyte), 0);
    CHECK_INT(need.site, 0);
    CHECK((double)need.all <= bound(num_sites));
}

static void check_padded(uint32_t num_sites)
{
    size_t largest = (num_sites + ARITY - 1) / ARITY;
    size_t matrices = 2 * ARITY * largest * largest;
    struct need need = need_of("padded", num_sites);
    CHECK_INT((long long)(need.tmp / mebibyte),
              (long long)(2 * (largest - 1) * num_sites + matrices));
    CHECK_INT((long long)(need.all / mebibyte), (long long)(2 * largest * num_sites + matrices));
    CHECK_INT((long long)((need.tmp | need.all) % mebibyte), 0);
    CHECK((double)need.all > bound(num_sites));
    CHECK((double)need.tmp > bound(num_sites));
}

/* In HPX's plan 36 GiB. Here 32 GiB for ragged, 64 GiB for padded. */
TEST(256)
{
    CHECK(bound(256) / (double)mebibyte <= 36864 && bound(256) / (double)mebibyte >= 36864);
    check_ragged(256);
    check_padded(256);
}

/* Groups of 63, 63, 62, 62. */
TEST(250)
{
    check_ragged(250);
    check_padded(250);
}
