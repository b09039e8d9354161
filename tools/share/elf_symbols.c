/* SPDX-License-Identifier: Apache-2.0 */
/* tools: the functions of a program or a shared object, by their names in the file. */
#include "tools/share/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/descriptors.h"

/* What is larger is no table of symbols that a program should wait for. */
enum { MAX_TABLE_BYTES = 512 << 20, MAX_NOTE_BYTES = 4096 };

struct symbol {
    uint64_t begin, bytes;
    uint32_t name; /* offset in the texts */
};

struct elf_symbols {
    struct symbol *list; /* functions, by where they begin */
    size_t num;
    char *texts; /* end with 0 */
    size_t texts_bytes;
    bool is_right; /* it is the file that was asked for */
};

struct build_id {
    const void *data;
    size_t bytes;
};

/* A copy of what SECTION holds, and a 0 behind it. NULL: there is none. */
static void *read_section(int fd, const ElfW(Shdr) * section)
{
    if (section->sh_size > MAX_TABLE_BYTES || section->sh_type == SHT_NOBITS)
        return NULL;
    char *data = malloc(section->sh_size + 1);
    if (data && !cohort__descriptor_read(fd, data, section->sh_size, section->sh_offset)) {
        free(data);
        return NULL;
    }
    if (data)
        data[section->sh_size] = '\0';
    return data;
}

/* The file's sections; NULL: it is none of this machine's. */
static ElfW(Shdr) * read_sections(int fd, size_t *ret_num)
{
    ElfW(Ehdr) head;
    const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (!cohort__descriptor_read(fd, &head, sizeof(head), 0) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != class ||
        head.e_shentsize != sizeof(ElfW(Shdr)))
        return NULL;
    ElfW(Shdr) *sections = calloc(head.e_shnum + 1U, sizeof(*sections));
    if (sections &&
        !cohort__descriptor_read(fd, sections, head.e_shnum * sizeof(*sections), head.e_shoff)) {
        free(sections);
        return NULL;
    }
    *ret_num = head.e_shnum;
    return sections;
}

static bool has_build_id(int fd, const ElfW(Shdr) * section, const struct build_id *id)
{
    char *notes = section->sh_type == SHT_NOTE && section->sh_size <= MAX_NOTE_BYTES
                      ? read_section(fd, section)
                      : NULL;
    bool is_it = false;
    for (size_t at = 0; notes && at + sizeof(ElfW(Nhdr)) <= section->sh_size && !is_it;) {
        ElfW(Nhdr) note;
        memcpy(&note, notes + at, sizeof(note));
        size_t description = at + sizeof(note) + (((size_t)note.n_namesz + 3) & ~(size_t)3);
        size_t end = description + (((size_t)note.n_descsz + 3) & ~(size_t)3);
        if (end > section->sh_size)
            break;
        is_it = note.n_type == NT_GNU_BUILD_ID && note.n_descsz == id->bytes &&
                memcmp(notes + description, id->data, note.n_descsz) == 0;
        at = end;
    }
    free(notes);
    return is_it;
}

static bool is_same_file(int fd, const ElfW(Shdr) * sections, size_t num, const struct build_id *id)
{
    bool is_it = id->bytes == 0; /* then nothing is known against it */
    for (size_t i = 0; i < num && !is_it; i++)
        is_it = has_build_id(fd, &sections[i], id);
    return is_it;
}

static int compare(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static void take_symbols(struct elf_symbols *symbols, const ElfW(Sym) * from, size_t num)
{
    symbols->list = calloc(num + 1, sizeof(*symbols->list));
    for (size_t i = 0; symbols->list && i < num; i++)
        if (ELF64_ST_TYPE(from[i].st_info) == STT_FUNC && from[i].st_shndx != SHN_UNDEF &&
            from[i].st_name < symbols->texts_bytes)
            symbols->list[symbols->num++] =
                (struct symbol){from[i].st_value, from[i].st_size, from[i].st_name};
    if (symbols->num > 0)
        qsort(symbols->list, symbols->num, sizeof(*symbols->list), compare);
}

/* .symtab has all; a stripped file has only .dynsym. */
static const ElfW(Shdr) * find_table(const ElfW(Shdr) * sections, size_t num)
{
    const ElfW(Shdr) *table = NULL;
    for (size_t i = 0; i < num; i++)
        if ((sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !table)) &&
            sections[i].sh_entsize == sizeof(ElfW(Sym)) && sections[i].sh_link < num)
            table = &sections[i];
    return table;
}

static void read_symbols(struct elf_symbols *symbols, int fd, const struct build_id *id)
{
    size_t num = 0;
    ElfW(Shdr) *sections = read_sections(fd, &num);
    const ElfW(Shdr) *table = sections ? find_table(sections, num) : NULL;
    symbols->is_right = sections && is_same_file(fd, sections, num, id);
    if (table && symbols->is_right) {
        ElfW(Sym) *entries = read_section(fd, table);
        symbols->texts = read_section(fd, &sections[table->sh_link]);
        symbols->texts_bytes = symbols->texts ? sections[table->sh_link].sh_size : 0;
        if (entries && symbols->texts)
            take_symbols(symbols, entries, table->sh_size / sizeof(*entries));
        free(entries);
    }
    free(sections);
}

/* Names -------------------------------------------------------------------------------------- */

struct elf_symbols *elf_symbols_read(const char *path, const void *build_id, size_t build_id_bytes)
{
    struct elf_symbols *symbols = calloc(1, sizeof(*symbols));
    struct build_id id = {build_id, build_id_bytes};
    int fd = symbols ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd >= 0) {
        read_symbols(symbols, fd, &id);
        close(fd);
    }
    return symbols;
}

void elf_symbols_destroy(struct elf_symbols *symbols)
{
    if (!symbols)
        return;
    free(symbols->list);
    free(symbols->texts);
    free(symbols);
}

bool elf_symbols_are_right(const struct elf_symbols *symbols)
{
    return symbols->is_right;
}

/* The function that OFFSET, which may be the end of one that does not return, is in. NULL: there is
 * none. */
static const struct symbol *find_symbol(const struct elf_symbols *symbols, uint64_t offset)
{
    size_t low = 0, high = symbols->num;
    while (low < high) { /* the first that begins behind it */
        size_t middle = low + (high - low) / 2;
        if (symbols->list[middle].begin <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    const struct symbol *symbol = low > 0 ? &symbols->list[low - 1] : NULL;
    return symbol && offset - symbol->begin <= symbol->bytes ? symbol : NULL;
}

void elf_symbols_name(const struct elf_symbols *symbols, const char *path, uint64_t offset,
                      char *text, size_t bytes)
{
    const struct symbol *symbol = symbols ? find_symbol(symbols, offset) : NULL;
    const char *name = symbol ? symbols->texts + symbol->name : NULL;
    const char *base = strrchr(path, '/');
    const size_t dot = name && *name == '.'; /* a name may begin with one */
    const int length = name ? (int)(strcspn(name + dot, ".") + dot) : 0;
    base = base ? base + 1 : path;
    if (name && symbol->begin == offset)
        snprintf(text, bytes, "%.*s", length, name);
    else if (name)
        snprintf(text, bytes, "%.*s+0x%llx", length, name,
                 (unsigned long long)(offset - symbol->begin));
    else
        snprintf(text, bytes, "%s+0x%llx", base, (unsigned long long)offset);
}
