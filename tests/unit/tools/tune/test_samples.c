/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tune/samples.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

enum { NUM = 3000 };

static double draw(struct cohort__random *random)
{
    return (double)cohort__random_below(random, 1u << 30) / 7;
}

static struct tune_sample draw_sample(struct cohort__random *random)
{
    struct tune_sample sample = {
        .distance = (enum cohort__distance)cohort__random_below(random, COHORT__NUM_DISTANCES),
        .row = (uint32_t)cohort__random_below(random, cohort__num_algorithms),
        .num_sites = 2u << cohort__random_below(random, 5),
        .bytes = (size_t)8 << cohort__random_below(random, 40),
        .ns = 1e-3 + draw(random),
        .cost = {draw(random), draw(random), draw(random), draw(random), draw(random), draw(random),
                 draw(random)},
    };
    sample.placement = tune_samples_placement(sample.distance, sample.num_sites,
                                              1 + (uint32_t)cohort__random_below(random, 4));
    return sample;
}

static bool is_same(const struct tune_sample *a, const struct tune_sample *b)
{
    const struct cohort__placement *at = &a->placement, *bt = &b->placement;
    return a->distance == b->distance && a->row == b->row && a->num_sites == b->num_sites &&
           a->bytes == b->bytes && memcmp(&a->ns, &b->ns, sizeof(a->ns)) == 0 &&
           memcmp(&a->cost, &b->cost, sizeof(a->cost)) == 0 && at->num_sites == bt->num_sites &&
           at->num_localities == bt->num_localities && at->largest == bt->largest &&
           at->is_contiguous == bt->is_contiguous;
}

/* What is printed is read back bit for bit. */
TEST(round_trip)
{
    struct tune_samples made = {.num = 0}, found = {.num = 0};
    struct cohort__random random = cohort__random_seeded(11);
    for (unsigned i = 0; i < NUM; i++) {
        struct tune_sample sample = draw_sample(&random);
        CHECK_OK(tune_samples_add(&made, &sample));
    }
    char *text = NULL, *line = NULL;
    size_t size = 0, capacity = 0;
    FILE *file = open_memstream(&text, &size);
    CHECK_OK(tune_samples_print(&made, file));
    fclose(file);
    file = fmemopen(text, size, "r");
    while (getline(&line, &capacity, file) > 0)
        CHECK_OK(tune_samples_read(&found, line));
    fclose(file);
    CHECK_INT(found.num, NUM);
    for (unsigned i = 0; i < found.num && i < NUM; i++)
        CHECK(is_same(&made.all[i], &found.all[i]));
    free(text);
    free(line);
    tune_samples_fini(&made);
    tune_samples_fini(&found);
}

TEST(placement)
{
    struct cohort__placement tasks = tune_samples_placement(COHORT__DISTANCE_TASKS, 8, 3),
                             spread = tune_samples_placement(COHORT__DISTANCE_LOCALITIES, 8, 3),
                             hosts = tune_samples_placement(COHORT__DISTANCE_HOSTS, 8, 3);
    CHECK_INT(tasks.num_localities, 1);
    CHECK_INT(tasks.largest, 8);
    CHECK_INT(spread.num_localities, 8);
    CHECK_INT(spread.largest, 1);
    CHECK_INT(spread.num_hosts, 1);
    CHECK_INT(spread.sharing, 0);
    CHECK_INT(hosts.num_localities, 8);
    CHECK_INT(hosts.num_hosts, 8);
    CHECK_INT(hosts.sharing, 3);
}

TEST(wrong_lines)
{
    static const char good[] = "tasks barrier linear 2 0 10.5 1 2 3 4 5 6 7 0\n";
    static const char *const wrong[] = {
        "",
        "\n",
        "nonsense\n",
        "tasks barrier linear 2 0 10.5 1 2 3 4 5 6 7\n",
        "tasks barrier linear 2 0 10.5 1 2 3 4 5 6 7 0",
        "tasks barrier linear 2 0 10.5 1 2 3 4 5 6 7 0 8\n",
        "places barrier linear 2 0 10.5 1 2 3 4 5 6 7 0\n",
        "tasks barrier none 2 0 10.5 1 2 3 4 5 6 7 0\n",
        "tasks none linear 2 0 10.5 1 2 3 4 5 6 7 0\n",
        "tasks barrier linear 1 0 10.5 1 2 3 4 5 6 7 0\n",
        "tasks barrier linear 2 0 0 1 2 3 4 5 6 7 0\n",
        "tasks barrier linear 2 0 nan 1 2 3 4 5 6 7 0\n",
        "tasks barrier linear 2 0 inf 1 2 3 4 5 6 7 0\n",
    };
    struct tune_samples samples = {.num = 0};
    for (size_t i = 0; i < NUM_OF(wrong); i++) {
        CHECK_FAILS(tune_samples_read(&samples, wrong[i]), COHORT_ERR_BAD_PARAMETER,
                    "is no sample");
    }
    CHECK_INT(samples.num, 0);
    CHECK_OK(tune_samples_read(&samples, good));
    CHECK_INT(samples.num, 1);
    tune_samples_fini(&samples);
}
