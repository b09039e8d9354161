/* SPDX-License-Identifier: Apache-2.0 */
/* Localities take turns on cores in the order in which they ask. */
#include "collectives/model/sim_cores.h"

#include "tests/support/test.h"

static void check_go(const struct cohort__sim_go *go, uint32_t locality, uint32_t work,
                     bool is_turn)
{
    CHECK_INT(go->locality, locality);
    CHECK_INT(go->work, work);
    CHECK_INT(go->is_turn, is_turn);
}

/* One core for three: each keeps it until its queue is empty, and then the next one has it. */
TEST(turns)
{
    struct cohort__sim_cores cores;
    struct cohort__sim_go go;
    CHECK(cohort__sim_cores_init(&cores, 3, 3, 1, 10));
    CHECK(cohort__sim_cores_add(&cores, 1, 4, &go));
    check_go(&go, 1, 4, false);
    CHECK(!cohort__sim_cores_add(&cores, 2, 5, &go));
    CHECK(!cohort__sim_cores_add(&cores, 0, 6, &go));
    CHECK(!cohort__sim_cores_add(&cores, 1, 7, &go));
    CHECK(!cohort__sim_cores_add(&cores, 2, 8, &go));
    CHECK(cohort__sim_cores_over(&cores, 1, &go));
    check_go(&go, 1, 7, false);
    CHECK(cohort__sim_cores_over(&cores, 1, &go));
    check_go(&go, 2, 5, true);
    CHECK(cohort__sim_cores_over(&cores, 2, &go));
    check_go(&go, 2, 8, false);
    CHECK(cohort__sim_cores_over(&cores, 2, &go));
    check_go(&go, 0, 6, true);
    CHECK(!cohort__sim_cores_over(&cores, 0, &go));
    CHECK(cohort__sim_cores_add(&cores, 0, 9, &go)); /* nobody was there meanwhile */
    check_go(&go, 0, 9, false);
    cohort__sim_cores_fini(&cores);
}

/* A locality comes back to the core that it had, if that is free. */
TEST(own_core)
{
    struct cohort__sim_cores cores;
    struct cohort__sim_go go;
    CHECK(cohort__sim_cores_init(&cores, 3, 3, 2, 10));
    CHECK(cohort__sim_cores_add(&cores, 0, 0, &go));
    CHECK(cohort__sim_cores_add(&cores, 1, 1, &go));
    CHECK(!cohort__sim_cores_over(&cores, 0, &go));
    CHECK(!cohort__sim_cores_over(&cores, 1, &go));
    CHECK(cohort__sim_cores_add(&cores, 1, 2, &go));
    check_go(&go, 1, 2, false);
    CHECK(cohort__sim_cores_add(&cores, 2, 3, &go)); /* on the one that 0 had */
    check_go(&go, 2, 3, true);
    cohort__sim_cores_fini(&cores);
}

/* Pools do not help each other, and with enough cores there are no turns. */
TEST(pools)
{
    struct cohort__sim_cores cores;
    struct cohort__sim_go go;
    CHECK(cohort__sim_cores_init(&cores, 4, 2, 1, 10));
    CHECK(cohort__sim_cores_add(&cores, 0, 0, &go));
    CHECK(!cohort__sim_cores_add(&cores, 1, 1, &go));
    CHECK(cohort__sim_cores_add(&cores, 3, 2, &go));
    check_go(&go, 3, 2, false);
    CHECK(!cohort__sim_cores_over(&cores, 3, &go));
    CHECK(cohort__sim_cores_over(&cores, 0, &go));
    check_go(&go, 1, 1, true);
    cohort__sim_cores_fini(&cores);
    CHECK(cohort__sim_cores_init(&cores, 4, 2, 5, 10));
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(cohort__sim_cores_add(&cores, i, i, &go));
        check_go(&go, i, i, false);
    }
    cohort__sim_cores_fini(&cores);
}
