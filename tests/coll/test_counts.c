/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <stdlib.h>

#include "tests/support/program.h"
#include "tests/support/sites.h"
#include "tests/support/test.h"

/* Counts above 2^31: two sites, elements of one byte, about 4.5 GiB. */

static const size_t count = ((size_t)1 << 31) + 17;

enum { STRIDE = 4093 };

static unsigned char expected(size_t place)
{
    return (unsigned char)(place * 31 + place / 256 * 7 + place / 65536 + place / (1 << 24) + 1);
}

static unsigned char *allocate(void)
{
    unsigned char *bytes = test_calloc(count, 1);
    return bytes;
}

/* Goes through one place in each page, and the last places. */
static size_t step(size_t place)
{
    return place + 64 < count && place + STRIDE < count ? STRIDE : 1;
}

static unsigned char *filled(void)
{
    unsigned char *bytes = allocate();
    for (size_t place = 0; place < count; place += step(place))
        bytes[place] = expected(place);
    return bytes;
}

static void check(const unsigned char *bytes)
{
    for (size_t place = 0; place < count; place += step(place))
        if (bytes[place] != expected(place))
            FAIL("byte %zu is wrong", place);
}

static void run(const char *name, cohort_status (*site)(cohort_comm *comm, void *arg))
{
    cohort_status status =
        sites_run(&(struct sites){.name = name, .options = {.num_sites = 2}, .run = site});
    if (status)
        FAIL("%s: %s", name, cohort_error_message());
}

TEST_SITE(broadcast, run("broadcast", site))
{
    bool is_root = cohort_comm_this_site(comm) == 0;
    unsigned char *bytes = is_root ? filled() : allocate();
    cohort_status status =
        cohort_await(is_root ? cohort_broadcast_to(comm, bytes, count, COHORT_BYTE, 1)
                             : cohort_broadcast_from(comm, bytes, count, COHORT_BYTE, 1));
    if (!status)
        check(bytes);
    free(bytes);
    CHECK_OK(status);
}

/* Site 1 sends all but one byte, and they are stored behind a gap. */
TEST_SITE(gatherv, run("gatherv", site))
{
    bool is_root = cohort_comm_this_site(comm) == 0;
    const size_t counts[2] = {1, count - 3}, displacements[2] = {count - 1, 0};
    unsigned char *bytes = is_root ? allocate() : filled();
    unsigned char last = expected(count - 1);
    cohort_status status = cohort_await(
        is_root ? cohort_gatherv_here(comm, &last, 1, bytes, counts, displacements, COHORT_BYTE, 1)
                : cohort_gatherv_there(comm, bytes, count - 3, COHORT_BYTE, 1));
    if (!status && is_root) {
        CHECK(bytes[count - 2] == 0 && bytes[count - 3] == 0);
        bytes[count - 2] = expected(count - 2);
        bytes[count - 3] = expected(count - 3);
    }
    if (!status)
        check(bytes);
    free(bytes);
    CHECK_OK(status);
}

int main(int argc, char **argv)
{
    return program_main(argc, argv);
}
