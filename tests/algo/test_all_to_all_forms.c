/* SPDX-License-Identifier: Apache-2.0 */
/* What the names of the all-to-alls promise: number of rounds, sizes of messages, which sites send
 * to which, memory. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh.h"
#include "tests/support/test.h"

enum { LAST_SITES = 70, BYTES = 8 };

static struct cohort__plan *build_at(const char *name, uint32_t num_sites, uint32_t arity,
                                     uint32_t site)
{
    struct cohort__request request = {.collective = COHORT__ALL_TO_ALL,
                                      .num_sites = num_sites,
                                      .this_site = site,
                                      .arity = arity,
                                      .bytes = BYTES};
    const struct cohort__algorithm *row = cohort__algorithm_find(COHORT__ALL_TO_ALL, name);
    struct cohort__plan *plan = NULL;
    CHECK(row);
    CHECK_OK(cohort__algorithm_build(row, &request, &plan));
    return plan;
}

/* The sends of a plan in their order. */
static uint32_t sends_of(const struct cohort__plan *plan, const struct cohort__step **ret_sends)
{
    uint32_t num_sends = 0;
    for (uint32_t i = 0; i < plan->num_steps; i++)
        if (plan->steps[i].kind == COHORT__STEP_SEND)
            ret_sends[num_sends++] = &plan->steps[i];
    return num_sends;
}

/* In round k a message has as many blocks as there are numbers below N with bit k set. */
TEST(bruck)
{
    for (uint32_t num_sites = 1; num_sites <= LAST_SITES; num_sites++) {
        const struct cohort__step *sends[LAST_SITES];
        uint32_t site = num_sites / 3, rounds = 0;
        struct cohort__plan *plan = build_at("bruck", num_sites, 2, site);
        uint32_t num_sends = sends_of(plan, sends);
        for (uint32_t bit = 1; bit < num_sites; bit *= 2, rounds++) {
            uint32_t num_blocks = 0;
            for (uint32_t number = 0; number < num_sites; number++)
                num_blocks += (number & bit) != 0;
            CHECK(rounds < num_sends);
            CHECK_INT(sends[rounds]->peer, (site + bit) % num_sites);
            CHECK_INT(sends[rounds]->bytes, num_blocks * BYTES);
        }
        CHECK_INT(num_sends, rounds); /* ceil(log2 N) */
        cohort__plan_unref(plan);
    }
}

/* Messages go only to neighbours. The message of round r has one block less than that of the round
 * before. */
TEST(ring)
{
    for (uint32_t num_sites = 2; num_sites <= LAST_SITES; num_sites++) {
        const struct cohort__step *sends[LAST_SITES];
        uint32_t site = num_sites / 3;
        struct cohort__plan *plan = build_at("ring", num_sites, 2, site);
        CHECK_INT(sends_of(plan, sends), num_sites - 1);
        for (uint32_t round = 0; round + 1 < num_sites; round++) {
            CHECK_INT(sends[round]->peer, (site + 1) % num_sites);
            CHECK_INT(sends[round]->bytes, (num_sites - 1 - round) * BYTES);
        }
        cohort__plan_unref(plan);
        plan = build_at("bidirectional_ring", num_sites, 2, site);
        CHECK_INT(sends_of(plan, sends), num_sites - 1);
        for (uint32_t i = 0; i + 1 < num_sites; i++)
            CHECK(sends[i]->peer == (site + 1) % num_sites ||
                  sends[i]->peer == (site + num_sites - 1) % num_sites);
        cohort__plan_unref(plan);
    }
}

/* In a mesh a message changes one coordinate, by one. */
static void check_mesh(const char *name, const struct cohort__mesh *mesh, uint32_t num_sites)
{
    for (uint32_t site = 0; site < num_sites; site++) {
        const struct cohort__step *sends[LAST_SITES];
        struct cohort__plan *plan = build_at(name, num_sites, 2, site);
        uint32_t num_sends = sends_of(plan, sends);
        for (uint32_t i = 0; i < num_sends; i++) {
            uint32_t num_changes = 0;
            for (uint32_t d = 0; d < mesh->num_dimensions; d++) {
                uint32_t from = cohort__mesh_coordinate(mesh, site, d);
                uint32_t to = cohort__mesh_coordinate(mesh, sends[i]->peer, d);
                num_changes += from != to;
                CHECK(from == to || to == (from + 1) % mesh->extents[d]);
            }
            CHECK_INT(num_changes, 1);
        }
        cohort__plan_unref(plan);
    }
}

TEST(meshes)
{
    for (uint32_t num_sites = 2; num_sites <= LAST_SITES; num_sites++) {
        struct cohort__mesh square = cohort__mesh_square(num_sites);
        struct cohort__mesh factors = cohort__mesh_of_factors(num_sites);
        check_mesh("mesh", &square, num_sites);
        check_mesh("mesh_nd", &factors, num_sites);
        if ((num_sites & (num_sites - 1)) == 0)
            check_mesh("hypercube", &factors, num_sites);
    }
}

/* The largest TMP of any site. */
static size_t memory_of(const char *name, uint32_t num_sites, uint32_t arity)
{
    size_t most = 0;
    for (uint32_t site = 0; site < num_sites; site++) {
        struct cohort__plan *plan = build_at(name, num_sites, arity, site);
        most = plan->tmp_bytes > most ? plan->tmp_bytes : most;
        cohort__plan_unref(plan);
    }
    return most;
}

/* A leader needs its share of a representative's memory: 1/L of it where the shares are equal. */
TEST(leaders)
{
    for (uint32_t arity = 2; arity <= 8; arity++)
        for (uint32_t size = 1; size * arity <= LAST_SITES; size++) {
            uint32_t most = size < arity ? size : arity;
            uint32_t largest_share = (arity + most - 1) / most;
            size_t alone = memory_of("hierarchical", size * arity, arity);
            size_t shared = memory_of("leaders", size * arity, arity);
            CHECK(shared <= alone * largest_share / arity + 128);
        }
}
