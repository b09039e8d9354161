/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/bell.h"

#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int cohort__bell_create(void)
{
    return eventfd(0, EFD_CLOEXEC);
}

bool cohort__bell_ring(int bell)
{
    const uint64_t one = 1; /* a write would block after 2^64 of them that nobody has read */
    return write(bell, &one, sizeof(one)) == sizeof(one);
}

void cohort__bell_silence(int bell)
{
    struct pollfd pollfd = {.fd = bell, .events = POLLIN};
    uint64_t count;
    if (poll(&pollfd, 1, 0) > 0)
        (void)!read(bell, &count, sizeof(count)); /* sets the counter to 0 */
}
