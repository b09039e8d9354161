/* SPDX-License-Identifier: Apache-2.0 */
/* tools: the functions of a program or a shared object, by their names in the file. */
#ifndef COHORT_TOOLS_SHARE_ELF_SYMBOLS_H
#define COHORT_TOOLS_SHARE_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbols;

/* Reads PATH. Its symbols are not used if it is not the file with BUILD_ID, of BUILD_ID_BYTES; with
 * 0 bytes nothing is known against it. NULL: no memory. */
struct elf_symbols *elf_symbols_read(const char *path, const void *build_id, size_t build_id_bytes);
void elf_symbols_destroy(struct elf_symbols *symbols);

/* Whether it is the right file. */
bool elf_symbols_are_right(const struct elf_symbols *symbols);

/* Writes where OFFSET, an address in the file PATH, is: "exchange_rows+0x91" (without what a
 * compiler adds to the names of its variants, as ".constprop.0"), or without a fitting symbol
 * "heat+0x12a0". SYMBOLS may be NULL. */
void elf_symbols_name(const struct elf_symbols *symbols, const char *path, uint64_t offset,
                      char *text, size_t bytes);

#endif
