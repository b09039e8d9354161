/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: binds threads to some of the cores. */
#include "tools/bench/cores.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
    exit(1);
}

cpu_set_t bench_cores(void)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof(cores), &cores))
        die("sched_getaffinity");
    return cores;
}

void bench_cores_bind(const cpu_set_t *cores, unsigned first, unsigned num)
{
    cpu_set_t some;
    unsigned index = 0;
    CPU_ZERO(&some);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, cores))
            continue;
        if (index >= first && index < first + num)
            CPU_SET(i, &some);
        index++;
    }
    if (sched_setaffinity(0, sizeof(some), CPU_COUNT(&some) == (int)num ? &some : cores))
        die("sched_setaffinity");
}
