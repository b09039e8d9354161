/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_SYMBOL_H
#define COHORT_RUNTIME_BASE_SYMBOL_H

#include <stddef.h>

/* Writes what a reader, or addr2line, makes out an address of code by: "site (./heat)" if it is
 * where a function with an exported name begins, else "./heat+0x12a0", or the bare address if it is
 * in no file. Any thread; allocates nothing. */
void cohort__symbol_name(const void *address, char *text, size_t bytes);

#endif
