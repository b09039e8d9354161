/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/bell.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "tests/support/test.h"

static bool is_readable(int bell)
{
    struct pollfd pollfd = {.fd = bell, .events = POLLIN};
    return poll(&pollfd, 1, 0) == 1;
}

TEST(ring)
{
    int bell = cohort__bell_create();
    CHECK(fcntl(bell, F_GETFD) & FD_CLOEXEC);
    CHECK(!is_readable(bell));
    for (int i = 0; i < 3; i++)
        CHECK(cohort__bell_ring(bell));
    CHECK(is_readable(bell));
    cohort__bell_silence(bell);
    CHECK(!is_readable(bell));
    close(bell);
    CHECK(!cohort__bell_ring(bell));
}

/* Whoever has inherited it can set and clear the flag, for all. */
TEST(any_flag)
{
    static const int flags[] = {0, O_NONBLOCK};
    for (int i = 0; i < 2; i++) {
        int bell = cohort__bell_create();
        CHECK_INT(fcntl(bell, F_SETFL, flags[i]), 0);
        cohort__bell_silence(bell);
        CHECK(cohort__bell_ring(bell));
        cohort__bell_silence(bell);
        CHECK(!is_readable(bell));
        cohort__bell_silence(bell);
        close(bell);
    }
}
