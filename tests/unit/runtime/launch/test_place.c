/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/place.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

TEST(one_host_after_the_other)
{
    const char *hosts[] = {"a", "a", "a", "b", "b"};
    struct cohort__place place;
    uint32_t processes[5];
    CHECK_OK(cohort__place_find(hosts, 5, 4, &place, processes));
    CHECK_INT(place.rank, 4);
    CHECK_INT(place.num_hosts, 2);
    CHECK_INT(place.host, 1);
    CHECK_INT(place.slot, 1);
    CHECK_INT(place.sharing, 2);
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT(processes[i], i);
}

/* As a launcher that deals ranks out to hosts in turn: the ranks of a host still follow each other.
 */
TEST(in_turn)
{
    const char *hosts[] = {"b", "a", "b", "a", "b"};
    const uint32_t wanted[] = {0, 2, 4, 1, 3};
    struct cohort__place place;
    uint32_t processes[5];
    CHECK_OK(cohort__place_find(hosts, 5, 3, &place, processes));
    CHECK(memcmp(processes, wanted, sizeof(wanted)) == 0);
    CHECK_INT(place.rank, 4);
    CHECK_INT(place.host, 1);
    CHECK_INT(place.slot, 1);
    CHECK_INT(place.sharing, 2);
}

/* All processes compute the same numbers, and these are consistent. */
TEST(random_jobs)
{
    enum { MAX = 40 };
    static const char *const names[] = {"n0", "n1", "n2", "n3", "n4"};
    const char *hosts[MAX];
    struct cohort__place place;
    uint32_t processes[MAX];
    struct cohort__random random = cohort__random_seeded(7);
    for (unsigned round = 0; round < 200; round++) {
        uint32_t size = 1 + (uint32_t)cohort__random_below(&random, MAX);
        uint64_t num = 1 + cohort__random_below(&random, 5);
        for (uint32_t i = 0; i < size; i++)
            hosts[i] = names[cohort__random_below(&random, num)];
        for (uint32_t me = 0; me < size; me++) {
            CHECK_OK(cohort__place_find(hosts, size, me, &place, processes));
            CHECK_INT(processes[place.rank], me);
            CHECK(place.slot < place.sharing && place.host < place.num_hosts);
            uint32_t first = place.rank - place.slot;
            for (uint32_t rank = 0; rank < size; rank++) {
                bool here = rank >= first && rank < first + place.sharing;
                CHECK_INT(strcmp(hosts[processes[rank]], hosts[me]) == 0, here);
            }
        }
    }
}

TEST(this_host)
{
    char one[COHORT__PLACE_HOST_BYTES], two[COHORT__PLACE_HOST_BYTES];
    CHECK_OK(cohort__place_identify(one));
    CHECK_OK(cohort__place_identify(two));
    CHECK_TEXT(one, two);
    CHECK(strlen(one) > 36); /* the kernel's number, and the network's */
}
