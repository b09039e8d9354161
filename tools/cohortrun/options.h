/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the command line, and the hosts that a batch system has given to this job. */
#ifndef COHORT_TOOLS_COHORTRUN_OPTIONS_H
#define COHORT_TOOLS_COHORTRUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/cohortrun/binding.h"
#include "tools/share/host_list.h"

struct options {
    uint32_t size;
    uint32_t workers; /* 0: as each locality likes */
    enum binding_mode bind;
    bool report_bindings;
    bool tag;
    bool keeps_going;       /* without the localities that die */
    uint64_t timeout_ns;    /* 0: none */
    uint64_t stall_ns;      /* say so if nothing has moved for so long; 0: never */
    uint64_t grace_ns;      /* after a death, for the others to end by themselves */
    struct host_list hosts; /* none: this one */
    const char *agent;      /* NULL: ssh */
    const char *listen; /* an address of this host; NULL: that from which each host is reached */
    uint64_t connect_timeout_ns;
    uint64_t heartbeat_ns;
    uint64_t heartbeat_timeout_ns;
    char **program; /* or several, see command.h; NULL-terminated */
};

/* Reads the command line. Puts the variables of -x, and this host's COHORT_LEVELS from the
 * hostfile, into this process's environment. Returns -1 to
 * go on. Else it has printed why, and returns the status to exit with. */
int options_read(int argc, char **argv, struct options *ret_options);

/* What they say of binding. */
struct binding_wish options_binding(const struct options *options);

void options_fini(struct options *options);

#endif
