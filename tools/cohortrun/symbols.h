/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the names of functions, from the symbols of programs and shared objects. */
#ifndef COHORT_TOOLS_COHORTRUN_SYMBOLS_H
#define COHORT_TOOLS_COHORTRUN_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cohortrun/look.h"

/* The symbols of all files that were asked for. Each file is read once. */
struct symbols;

/* NULL: no memory; then addresses have no names. */
struct symbols *symbols_create(void);
void symbols_destroy(struct symbols *symbols);

/* Where ADDRESS is, which lies in MODULE: "exchange_rows+0x91" (without what a compiler adds to the
 * names of its variants, as ".constprop.0"), or without a fitting symbol
 * "heat+0x12a0", the offset in the file. The file is not used if it is not the one that the program
 * was started from, by its build id. MODULE NULL: "0x7f12". */
void symbols_name(struct symbols *symbols, const struct look_module *module, uint64_t address,
                  char *text, size_t bytes);

/* Writes "heat.c:91", the line of what returns to ADDRESS; see source.h. False: that is not known,
 * or all lines together have already taken half a second. */
bool symbols_line(struct symbols *symbols, const struct look_module *module, uint64_t address,
                  char *text, size_t bytes);

#endif
