/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: what a process uses of the machine: time of a core, memory. */
#include "tools/bench/burden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t core_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bench_burden_compute(uint64_t ns)
{
    uint64_t end = core_time() + ns;
    while (core_time() < end)
        ;
}

static double read_kib(const char *path, const char *field)
{
    char line[256];
    double kib = 0;
    size_t length = strlen(field);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    while (fgets(line, sizeof(line), file))
        if (strncmp(line, field, length) == 0 && line[length] == ':')
            kib = strtod(line + length + 1, NULL);
    fclose(file);
    return kib;
}

double bench_burden_memory(const char *field)
{
    return read_kib("/proc/self/smaps_rollup", field) / 1024;
}

double bench_burden_counted(const char *field)
{
    return read_kib("/proc/self/status", field);
}
