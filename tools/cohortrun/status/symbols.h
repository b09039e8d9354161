/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the names of functions, from the symbols of programs, and where tasks wait. */
#ifndef COHORT_TOOLS_COHORTRUN_STATUS_SYMBOLS_H
#define COHORT_TOOLS_COHORTRUN_STATUS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cohortrun/status/look.h"

/* The symbols of all files that were asked for. Each file is read once. */
struct symbols;

/* NULL: no memory; then addresses have no names. */
struct symbols *symbols_create(void);
void symbols_destroy(struct symbols *symbols);

/* Where ADDRESS is, which lies in MODULE: "exchange_rows+0x91" (without what a compiler adds to the
 * names of its variants, as ".constprop.0"), or without a fitting symbol
 * "heat+0x12a0", the offset in the file. The file is not used if it is not the one that the program
 * was started from, by its build id. MODULE NULL: "0x7f12". */
void symbols_name(struct symbols *symbols, const struct cohort__module_line *module,
                  uint64_t address, char *text, size_t bytes);

/* Writes "heat.c:91", the line of what returns to ADDRESS; see source.h. False: that is not known,
 * or all lines together have already taken half a second. */
bool symbols_line(struct symbols *symbols, const struct cohort__module_line *module,
                  uint64_t address, char *text, size_t bytes);

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
