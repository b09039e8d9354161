/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_ELF_SYMBOLS_H
#define COHORT_RUNTIME_BASE_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The functions of a program or a shared object, by their names in the file. */
struct cohort__elf_symbols;

/* Reads PATH. Its symbols are not used if it is not the file with BUILD_ID, of BUILD_ID_BYTES; with
 * 0 bytes nothing is known against it. NULL: no memory. */
struct cohort__elf_symbols *cohort__elf_symbols_read(const char *path, const void *build_id,
                                                     size_t build_id_bytes);
void cohort__elf_symbols_destroy(struct cohort__elf_symbols *symbols);

/* Whether it is the right file. */
bool cohort__elf_symbols_are_right(const struct cohort__elf_symbols *symbols);

/* Writes where OFFSET, an address in the file PATH, is: "exchange_rows+0x91" (without what a
 * compiler adds to the names of its variants, as ".constprop.0"), or without a fitting symbol
 * "heat+0x12a0". SYMBOLS may be NULL. */
void cohort__elf_symbols_name(const struct cohort__elf_symbols *symbols, const char *path,
                              uint64_t offset, char *text, size_t bytes);

#endif
