/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: where a task waits, in names. */
#ifndef COHORT_TOOLS_COHORTRUN_STATUS_PLACE_H
#define COHORT_TOOLS_COHORTRUN_STATUS_PLACE_H

#include <stdbool.h>

#include "tools/cohortrun/look.h"

struct symbols;

enum { STATUS_NAME_BYTES = 320 };

struct status_place {
    char caller[STATUS_NAME_BYTES]; /* "exchange_rows"; "exchange_rows+0x91": the line is not known;
                                     * "": the task has yet to begin */
    char line[STATUS_NAME_BYTES];   /* "heat.c:91"; "": not known */
    char function[STATUS_NAME_BYTES]; /* of the task; "": a thread outside of tasks */
    /* The task's function has ended with an await, and is no longer on the stack: then the caller
     * is one of the library's, and says nothing. */
    bool is_at_end;
    bool is_in_function; /* the caller is the task's function itself */
};

/* The name of FUNCTION, of a task of LOOK. */
void status_place_function(char ret_name[STATUS_NAME_BYTES], struct symbols *symbols,
                           const struct look *look, uint64_t function);

/* Where WAIT is, which is one of LOOK. */
void status_place_find(struct status_place *ret_place, struct symbols *symbols,
                       const struct look *look, const struct look_wait *wait);

#endif
