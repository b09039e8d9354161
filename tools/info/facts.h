/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-info: what is known of the build, of the machine and of libfabric. */
#ifndef COHORT_TOOLS_INFO_FACTS_H
#define COHORT_TOOLS_INFO_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/net/ofi_list.h"

/* Where a number can't be told, it is FACTS_UNKNOWN; where there is no limit, FACTS_UNLIMITED. */
#define FACTS_UNKNOWN UINT64_MAX
#define FACTS_UNLIMITED (UINT64_MAX - 1)

struct facts {
    char kernel[200];
    uint64_t processors; /* of the machine, those that are on */
    uint64_t allowed;    /* to this process, by its affinity mask */
    char mask[200];      /* "0-3,8", cut at its end */
    uint64_t quota;      /* of the control groups, in cores */
    uint64_t cores;      /* what follows for a locality that is alone */
    uint64_t max_maps;   /* mappings of a process, vm.max_map_count */
    uint64_t locked;     /* bytes, RLIMIT_MEMLOCK */
    uint64_t shm_bytes;
    uint64_t descriptors, most_descriptors; /* RLIMIT_NOFILE, soft and hard */
    uint64_t processes;                     /* RLIMIT_NPROC */
    uint64_t ptrace_scope;                  /* kernel.yama.ptrace_scope */
    bool has_guards;                        /* the kernel guards stacks by itself */
    bool has_memory_files;                  /* memfd_create, for shared memory */
    struct cohort__ofi_listed ofi;
    char ofi_error[300];  /* why libfabric can't be used; empty: it can */
    char wrong[400];      /* the first wrong value in the environment; empty: there is none */
    bool tune_is_missing; /* COHORT_TUNE names a file that can't be read */
};

/* Loads libfabric, which takes a third of a second. */
void facts_collect(struct facts *ret_facts);

#endif
