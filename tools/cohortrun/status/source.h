/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the lines of source files, from what -g has put into programs. */
#ifndef COHORT_TOOLS_COHORTRUN_STATUS_SOURCE_H
#define COHORT_TOOLS_COHORTRUN_STATUS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A program or shared object, read by libdw where cohortrun was built with it and it is there
 * (source.c); else there are no lines (source_none.c). Nobody is asked over the network. */
struct source;

/* Reads the file at PATH. NULL: it can't be read, or there are no lines. */
struct source *source_open(const char *path);

/* Writes "heat.c:91", where OFFSET is, an address as in the file. False: that is not known. */
bool source_line(struct source *source, uint64_t offset, char *text, size_t bytes);

/* NULL is fine. */
void source_close(struct source *source);

#endif
