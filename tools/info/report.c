/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-info: the facts and the variables as text, and what will not work well. */
#include "tools/info/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/info/facts.h"
#include "tools/info/variables.h"

static void print(const char *name, const char *value)
{
    printf("  %-26s %s\n", name, value);
}

static void print_number(const char *name, uint64_t value, const char *behind)
{
    char text[350]; /* BEHIND has 300 at most */
    if (value == FACTS_UNKNOWN)
        snprintf(text, sizeof(text), "unknown");
    else if (value == FACTS_UNLIMITED)
        snprintf(text, sizeof(text), "no limit");
    else
        snprintf(text, sizeof(text), "%" PRIu64 "%s", value, behind);
    print(name, text);
}

static void print_build(void)
{
    static const struct {
        const char *name, *how;
    } parts[] = {INFO_PARTS};
    printf("Cohort %s\nbuild\n", INFO_VERSION);
    print("options", INFO_OPTIONS);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        print(parts[i].name, parts[i].how);
}

static void print_machine(const struct facts *facts)
{
    char text[300];
    printf("machine\n");
    print("kernel", facts->kernel);
    print_number("processors", facts->processors, "");
    snprintf(text, sizeof(text), " (%s)", facts->mask);
    print_number("affinity mask", facts->allowed, text);
    print_number("quota of control groups", facts->quota, " cores");
    print_number("workers of a locality", facts->cores, ", if it is alone on this host");
    print_number("mappings of a process", facts->max_maps, " (vm.max_map_count)");
    print("guards of stacks", facts->has_guards ? "by the kernel" : "pages without access");
    print_number("locked memory", facts->locked, " bytes (ulimit -l, in KiB)");
    snprintf(text, sizeof(text),
             facts->most_descriptors < FACTS_UNLIMITED ? ", %" PRIu64
                                                         " may be asked for (ulimit -Hn)"
                                                       : " (ulimit -n)",
             facts->most_descriptors);
    print_number("open files", facts->descriptors, text);
    print_number("processes and threads", facts->processes, " (ulimit -u)");
    print_number("/dev/shm", facts->shm_bytes, " bytes; Cohort does not use it, MPIs do");
    print_number("kernel.yama.ptrace_scope", facts->ptrace_scope, "");
}

static void print_transports(const struct facts *facts)
{
    char text[1000];
    printf("transports\n");
    print("shm", facts->has_memory_files ? "yes (memfd_create)" : "no: memfd_create fails");
    if (facts->ofi_error[0]) {
        snprintf(text, sizeof(text), "no: %s", facts->ofi_error);
        print("ofi", text);
        return;
    }
    snprintf(text, sizeof(text), "libfabric %s, provider %s%s", facts->ofi.version,
             facts->ofi.provider, facts->ofi.is_there ? "" : ", which is not there");
    print("ofi", text);
    print("providers", facts->ofi.names);
}

static void print_variables(void)
{
    size_t num;
    const struct variable *all = variables_all(&num);
    printf("environment\n");
    for (size_t i = 0; i < num; i++) {
        const char *value = getenv(all[i].name);
        const char *origin = !value ? "default" : *value ? "environment" : "default, set but empty";
        char text[4200];
        if (!all[i].otherwise && !value)
            continue;
        snprintf(text, sizeof(text), "%s (%s; %s)",
                 value && *value    ? value
                 : all[i].otherwise ? all[i].otherwise
                                    : "",
                 origin, all[i].what);
        print(all[i].name, text);
    }
}

void report_print(const struct facts *facts)
{
    print_build();
    print_machine(facts);
    print_transports(facts);
    print_variables();
}
