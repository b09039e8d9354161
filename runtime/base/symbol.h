/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_SYMBOL_H
#define COHORT_RUNTIME_BASE_SYMBOL_H

#include <stddef.h>

/* Writes what a reader makes out an address of code by, and addr2line: "site (/x/heat)" where a
 * function begins, "site+0x91 (/x/heat+0x12a0)" within it, "/x/heat+0x12a0" if the file has no
 * symbol for it, or the bare address if it is in no file. A function that is static has a name
 * unless the file is stripped. Any thread, and a signal handler: the file is read, with no function
 * of the C library but those that make a call of the system. */
void cohort__symbol_name(const void *address, char *text, size_t bytes);

#endif
