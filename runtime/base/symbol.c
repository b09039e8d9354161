/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/text.h"

/* dladdr knows neither static functions nor what is in the handler of a signal: it takes a lock of
 * the loader. So the kernel is asked what is mapped, and the file what is in it. Few bytes are on
 * the stack, which may be that of a handler. */
enum { BLOCK_BYTES = 4096, PATH_BYTES = 512, NAME_BYTES = 256 };

struct place {
    uint64_t at;           /* in the file */
    uint64_t address;      /* as its symbols have it; 0: not known */
    char path[PATH_BYTES]; /* of the file */
};

struct symbol {
    uint64_t begin;
    char name[NAME_BYTES];
};

/* What is mapped ----------------------------------------------------------------------------- */

static const char *read_hex(const char *text, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (;; text++)
        if (*text >= '0' && *text <= '9')
            number = number * 16 + (uint64_t)(*text - '0');
        else if (*text >= 'a' && *text <= 'f')
            number = number * 16 + (uint64_t)(*text - 'a') + 10;
        else
            break;
    *ret_number = number;
    return text;
}

/* LINE is "BEGIN-END PERMISSIONS OFFSET DEVICE INODE PATH". */
static bool is_in(struct place *place, const char *line, uint64_t address)
{
    uint64_t begin, end, offset;
    line = read_hex(line, &begin);
    line = read_hex(line + (*line == '-'), &end);
    const char *path = strchr(line, '/');
    if (address < begin || address >= end || *line != ' ' || !path)
        return false;
    line = strchr(line + 1, ' ');
    if (!line)
        return false;
    read_hex(line + 1, &offset);
    place->at = address - begin + offset;
    struct cohort__safe_text text = cohort__safe_text_begin(place->path, sizeof(place->path));
    cohort__safe_text_add(&text, path);
    return true;
}

/* False: it is in no file. */
static bool find_file(struct place *place, uint64_t address)
{
    char block[BLOCK_BYTES], line[PATH_BYTES + 128];
    size_t used = 0;
    ssize_t got;
    bool is_found = false;
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (maps >= 0 && !is_found && (got = read(maps, block, sizeof(block))) > 0)
        for (ssize_t i = 0; i < got && !is_found; i++)
            if (block[i] == '\n') {
                line[used] = '\0';
                is_found = is_in(place, line, address);
                used = 0;
            } else if (used + 1 < sizeof(line)) {
                line[used++] = block[i];
            }
    if (maps >= 0)
        close(maps);
    return is_found;
}

/* What is in the file ------------------------------------------------------------------------ */

static bool read_at(int fd, uint64_t at, void *buffer, size_t bytes)
{
    return pread(fd, buffer, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool read_head(int fd, ElfW(Ehdr) * head)
{
    const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    return read_at(fd, 0, head, sizeof(*head)) && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           head->e_ident[EI_CLASS] == class && head->e_phentsize == sizeof(ElfW(Phdr)) &&
           head->e_shentsize == sizeof(ElfW(Shdr));
}

/* The address that the symbols have for what is at AT. 0: it is none that is loaded. */
static uint64_t find_address(int fd, const ElfW(Ehdr) * head, uint64_t at)
{
    ElfW(Phdr) segment;
    for (uint64_t i = 0; i < head->e_phnum; i++)
        if (read_at(fd, head->e_phoff + i * sizeof(segment), &segment, sizeof(segment)) &&
            segment.p_type == PT_LOAD && at >= segment.p_offset &&
            at < segment.p_offset + segment.p_filesz)
            return at - segment.p_offset + segment.p_vaddr;
    return 0;
}

/* .symtab has all; a stripped file has only .dynsym. */
static bool find_table(int fd, const ElfW(Ehdr) * head, ElfW(Shdr) * ret_table)
{
    ElfW(Shdr) section;
    bool is_found = false;
    for (uint64_t i = 0; i < head->e_shnum; i++) {
        if (!read_at(fd, head->e_shoff + i * sizeof(section), &section, sizeof(section)) ||
            section.sh_entsize != sizeof(ElfW(Sym)) || section.sh_link >= head->e_shnum)
            continue;
        if (section.sh_type == SHT_SYMTAB || (section.sh_type == SHT_DYNSYM && !is_found)) {
            *ret_table = section;
            is_found = true;
        }
    }
    return is_found;
}

/* The function that ADDRESS, which may be the end of one that does not return, is in. */
static bool find_function(int fd, const ElfW(Shdr) * table, uint64_t address,
                          ElfW(Sym) * ret_symbol)
{
    ElfW(Sym) block[BLOCK_BYTES / sizeof(ElfW(Sym))];
    bool is_found = false;
    ssize_t got;
    for (uint64_t at = 0; at < table->sh_size; at += (uint64_t)got) {
        const uint64_t left = table->sh_size - at;
        got = pread(fd, block, left < sizeof(block) ? left : sizeof(block),
                    (off_t)(table->sh_offset + at));
        if (got < (ssize_t)sizeof(*block))
            break;
        got -= got % (ssize_t)sizeof(*block);
        for (size_t i = 0; i < (size_t)got / sizeof(*block); i++)
            if (ELF64_ST_TYPE(block[i].st_info) == STT_FUNC && block[i].st_shndx != SHN_UNDEF &&
                address >= block[i].st_value && address - block[i].st_value <= block[i].st_size &&
                (!is_found || block[i].st_value > ret_symbol->st_value)) {
                *ret_symbol = block[i];
                is_found = true;
            }
    }
    return is_found;
}

/* False: the file has no name for it. */
static bool read_name(struct symbol *symbol, int fd, const ElfW(Ehdr) * head, uint64_t address)
{
    ElfW(Shdr) table = {0}, texts;
    ElfW(Sym) function = {0};
    if (!find_table(fd, head, &table) ||
        !read_at(fd, head->e_shoff + table.sh_link * sizeof(texts), &texts, sizeof(texts)) ||
        !find_function(fd, &table, address, &function) || function.st_name >= texts.sh_size)
        return false;
    const ssize_t got = pread(fd, symbol->name, sizeof(symbol->name) - 1,
                              (off_t)(texts.sh_offset + function.st_name));
    symbol->name[got > 0 ? got : 0] = '\0';
    symbol->begin = function.st_value;
    return symbol->name[0] != '\0';
}

/* False: likewise. Finds out the place's address, if the file can be read. */
static bool find_symbol(struct symbol *symbol, struct place *place)
{
    ElfW(Ehdr) head;
    int fd = open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_found = false;
    if (fd < 0)
        return false;
    if (read_head(fd, &head)) {
        place->address = find_address(fd, &head, place->at);
        is_found = place->address && read_name(symbol, fd, &head, place->address);
    }
    close(fd);
    return is_found;
}

/* -------------------------------------------------------------------------------------------- */

/* addr2line takes an address as the symbols have it. */
static void add_place(struct cohort__safe_text *text, const struct place *place)
{
    cohort__safe_text_add(text, place->path);
    cohort__safe_text_add(text, "+");
    cohort__safe_text_add_address(text, place->address ? place->address : place->at);
}

void cohort__symbol_name(const void *address, char *text, size_t bytes)
{
    struct place place = {0};
    struct symbol symbol = {0};
    struct cohort__safe_text name = cohort__safe_text_begin(text, bytes);
    if (!find_file(&place, (uintptr_t)address)) {
        cohort__safe_text_add_address(&name, (uintptr_t)address);
        return;
    }
    if (!find_symbol(&symbol, &place)) {
        add_place(&name, &place);
        return;
    }
    cohort__safe_text_add(&name, symbol.name);
    if (symbol.begin != place.address) {
        cohort__safe_text_add(&name, "+");
        cohort__safe_text_add_address(&name, place.address - symbol.begin);
    }
    cohort__safe_text_add(&name, " (");
    if (symbol.begin != place.address)
        add_place(&name, &place);
    else
        cohort__safe_text_add(&name, place.path);
    cohort__safe_text_add(&name, ")");
}
