/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the machine, the system and its load, which a figure depends on. */
#include "tools/bench/report.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static void read_cpu(char *ret, size_t bytes)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(ret, bytes, "unknown CPU");
    if (!file)
        return;
    while (fgets(line, sizeof(line), file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(ret, bytes, "%s", value + 1 + strspn(value + 1, " "));
        break;
    }
    fclose(file);
}

struct bench_machine bench_machine(void)
{
    struct bench_machine machine = {0};
    struct utsname name;
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof(cores), &cores) == 0)
        machine.cores = (unsigned)CPU_COUNT(&cores);
    read_cpu(machine.cpu, sizeof(machine.cpu));
    if (uname(&name) == 0)
        snprintf(machine.system, sizeof(machine.system), "%.20s %.40s", name.sysname, name.release);
    getloadavg(&machine.load, 1);
    return machine;
}
