/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/predict.h"

#include <math.h>

#include "collectives/algo/algorithm.h"
#include "tests/support/test.h"

static void check_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * (1 + fabs(want))))
        FAIL("got %.17g, not %.17g", got, want);
}

static struct cohort__reach reach_of(enum cohort__collective collective, const char *name,
                                     const struct cohort__cost *cost, double num_places,
                                     bool is_contiguous)
{
    const struct cohort__request request = {
        .collective = collective, .num_sites = 16, .arity = 2, .bytes = 100};
    return cohort__reach_of(name ? cohort__algorithm_find(collective, name) : NULL, &request, cost,
                            num_places, is_contiguous);
}

/* In one place nothing leaves it; alone in their places, all. */
TEST(ends)
{
    const struct cohort__cost cost = {.bytes = 1500, .moved = 3200};
    for (unsigned contiguous = 0; contiguous < 2; contiguous++) {
        struct cohort__reach none = reach_of(COHORT__GATHER, "hierarchical", &cost, 1, contiguous);
        CHECK(none.startups == 0 && none.bytes == 0 && none.messages == 0 && none.moved == 0);
        struct cohort__reach all = reach_of(COHORT__GATHER, "hierarchical", &cost, 16, contiguous);
        check_near(all.startups, 1);
        check_near(all.bytes, 1);
        check_near(all.messages, 1);
    }
}

/* 16 sites in 4 places: 12 of 15 partners are elsewhere. */
TEST(anywhere)
{
    const struct cohort__cost cost = {.bytes = 1500, .moved = 3200};
    const struct {
        const char *name;
        bool is_contiguous;
    } rows[] = {{NULL, true}, {"linear", true}, {"hierarchical", false}};
    for (unsigned i = 0; i < NUM_OF(rows); i++) {
        struct cohort__reach reach =
            reach_of(COHORT__GATHER, rows[i].name, &cost, 4, rows[i].is_contiguous);
        check_near(reach.startups, 12. / 15);
        check_near(reach.bytes, 12. / 15);
        check_near(reach.messages, 12. / 15);
        check_near(reach.moved, 12. / 15);
    }
}

/* Two of a tree's four levels are between four places, and three of its edges; and what is needed
 * elsewhere has to go there. */
TEST(tree)
{
    static const struct {
        enum cohort__collective collective;
        double bytes, moved; /* that the places need: of the busiest, of all */
    } rows[] = {{COHORT__BROADCAST, 100, 300},        {COHORT__REDUCE, 100, 300},
                {COHORT__ALL_REDUCE, 100, 300},       {COHORT__GATHER, 1200, 1200},
                {COHORT__SCATTER, 1200, 1200},        {COHORT__ALL_GATHER, 1200, 4800},
                {COHORT__REDUCE_SCATTER, 1200, 4800}, {COHORT__ALL_TO_ALL, 4800, 19200}};
    for (unsigned i = 0; i < NUM_OF(rows); i++) {
        struct cohort__cost much = {.bytes = rows[i].bytes / 0.75, .moved = rows[i].moved / 0.25};
        struct cohort__cost huge = {.bytes = 1e6, .moved = 1e6};
        struct cohort__cost less = {.bytes = rows[i].bytes / 2, .moved = rows[i].moved / 2};
        struct cohort__reach reach = reach_of(rows[i].collective, "hierarchical", &much, 4, true);
        check_near(reach.startups, 0.5);
        check_near(reach.messages, 3. / 15);
        check_near(reach.bytes, 0.75);
        check_near(reach.moved, 0.25);
        reach = reach_of(rows[i].collective, "hierarchical", &huge, 4, true);
        check_near(reach.bytes, 0.5);
        check_near(reach.moved, 3. / 15);
        reach = reach_of(rows[i].collective, "hierarchical", &less, 4, true);
        check_near(reach.bytes, 1);
        check_near(reach.moved, 1);
    }
}

/* Within two groups of 8, which are in two places each, half of what goes directly leaves one. */
TEST(direct)
{
    const struct cohort__cost cost = {.bytes = 1e6, .moved = 1e6};
    struct cohort__reach reach = reach_of(COHORT__ALL_TO_ALL, "leaders", &cost, 4, true);
    check_near(reach.messages, 4. / 7);
    check_near(reach.moved, 4. / 7);
    check_near(reach_of(COHORT__ALL_TO_ALL, "leaders", &cost, 2, true).messages, 1. / 15);
}
