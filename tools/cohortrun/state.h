/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the message that says what has become of a locality. */
#ifndef COHORT_TOOLS_COHORTRUN_STATE_H
#define COHORT_TOOLS_COHORTRUN_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/wire/schema.h"
#include "tools/cohortrun/locality.h"
#include "tools/cohortrun/status/look.h"

/* What a node daemon reports of a locality in NODE_LINK_STATE: members of struct locality. */
struct state {
    int pid;
    int status;
    enum guarded_end end;
    bool is_gone;
    bool control_ended;
    int lost;
    const char *oom;
    const char *words; /* "": none */
};

extern const struct cohort__schema state_schema;

/* Its texts are the locality's. */
struct state state_of(const struct locality *locality);

/* False: MESSAGE makes no sense. */
bool state_read(struct locality *locality, const unsigned char *message, size_t bytes);

#endif
