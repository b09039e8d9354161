/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the names of functions, from the symbols of programs and shared objects. */
#include "tools/cohortrun/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "tools/cohortrun/source.h"

static const uint64_t patience_ns = 500000000; /* for the lines of all files */

/* What is larger is no table of symbols that a program should wait for. */
enum { MAX_TABLE_BYTES = 512 << 20, MAX_NOTE_BYTES = 4096 };

struct symbol {
    uint64_t begin, bytes;
    uint32_t name; /* offset in the texts */
};

struct object {
    struct object *next;
    char path[464];
    uint8_t build_id[20]; /* that is wanted: other hosts may have other files at the same path */
    uint32_t build_id_bytes;
    struct symbol *symbols; /* functions, by where they begin */
    size_t num;
    char *texts; /* end with 0 */
    size_t texts_bytes;
    bool is_right;         /* it is the file that the program was started from */
    struct source *source; /* NULL: not opened yet, or it can't be */
    bool has_no_source;
};

struct symbols {
    struct object *objects;
    uint64_t spent; /* on lines */
};

/* Reading a file ----------------------------------------------------------------------------- */

static bool read_at(int fd, uint64_t at, void *buffer, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(fd, (char *)buffer + done, bytes - done, (off_t)(at + done));
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* A copy of what SECTION holds, and a 0 behind it. NULL: there is none. */
static void *read_section(int fd, const ElfW(Shdr) * section)
{
    if (section->sh_size > MAX_TABLE_BYTES || section->sh_type == SHT_NOBITS)
        return NULL;
    char *data = malloc(section->sh_size + 1);
    if (data && !read_at(fd, section->sh_offset, data, section->sh_size)) {
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
    if (!read_at(fd, 0, &head, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != class || head.e_shentsize != sizeof(ElfW(Shdr)))
        return NULL;
    ElfW(Shdr) *sections = calloc(head.e_shnum + 1U, sizeof(*sections));
    if (sections && !read_at(fd, head.e_shoff, sections, head.e_shnum * sizeof(*sections))) {
        free(sections);
        return NULL;
    }
    *ret_num = head.e_shnum;
    return sections;
}

static bool has_build_id(int fd, const ElfW(Shdr) * section, const struct look_module *module)
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
        is_it = note.n_type == NT_GNU_BUILD_ID && note.n_descsz == module->build_id_bytes &&
                memcmp(notes + description, module->build_id, note.n_descsz) == 0;
        at = end;
    }
    free(notes);
    return is_it;
}

static bool is_same_file(int fd, const ElfW(Shdr) * sections, size_t num,
                         const struct look_module *module)
{
    bool is_it = module->build_id_bytes == 0; /* then nothing is known against it */
    for (size_t i = 0; i < num && !is_it; i++)
        is_it = has_build_id(fd, &sections[i], module);
    return is_it;
}

static int compare(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static void take_symbols(struct object *object, const ElfW(Sym) * from, size_t num)
{
    object->symbols = calloc(num + 1, sizeof(*object->symbols));
    for (size_t i = 0; object->symbols && i < num; i++)
        if (ELF64_ST_TYPE(from[i].st_info) == STT_FUNC && from[i].st_shndx != SHN_UNDEF &&
            from[i].st_name < object->texts_bytes)
            object->symbols[object->num++] =
                (struct symbol){from[i].st_value, from[i].st_size, from[i].st_name};
    if (object->num > 0)
        qsort(object->symbols, object->num, sizeof(*object->symbols), compare);
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

static void read_symbols(struct object *object, int fd, const struct look_module *module)
{
    size_t num = 0;
    ElfW(Shdr) *sections = read_sections(fd, &num);
    const ElfW(Shdr) *table = sections ? find_table(sections, num) : NULL;
    object->is_right = sections && is_same_file(fd, sections, num, module);
    if (table && object->is_right) {
        ElfW(Sym) *symbols = read_section(fd, table);
        object->texts = read_section(fd, &sections[table->sh_link]);
        object->texts_bytes = object->texts ? sections[table->sh_link].sh_size : 0;
        if (symbols && object->texts)
            take_symbols(object, symbols, table->sh_size / sizeof(*symbols));
        free(symbols);
    }
    free(sections);
}

/* Names -------------------------------------------------------------------------------------- */

struct symbols *symbols_create(void)
{
    return calloc(1, sizeof(struct symbols));
}

void symbols_destroy(struct symbols *symbols)
{
    while (symbols && symbols->objects) {
        struct object *object = symbols->objects;
        symbols->objects = object->next;
        source_close(object->source);
        free(object->symbols);
        free(object->texts);
        free(object);
    }
    free(symbols);
}

static bool is_for(const struct object *object, const struct look_module *module)
{
    return strcmp(object->path, module->path) == 0 &&
           object->build_id_bytes == module->build_id_bytes &&
           memcmp(object->build_id, module->build_id, sizeof(object->build_id)) == 0;
}

/* NULL: no memory. */
static struct object *find_object(struct symbols *symbols, const struct look_module *module)
{
    struct object *object = symbols->objects;
    while (object && !is_for(object, module))
        object = object->next;
    if (object || !(object = calloc(1, sizeof(*object))))
        return object;
    snprintf(object->path, sizeof(object->path), "%s", module->path);
    memcpy(object->build_id, module->build_id, sizeof(object->build_id));
    object->build_id_bytes = module->build_id_bytes;
    object->next = symbols->objects;
    symbols->objects = object;
    int fd = open(object->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        read_symbols(object, fd, module);
        close(fd);
    }
    return object;
}

/* The function that OFFSET, which may be the end of one that does not return, is in. NULL: there is
 * none. */
static const struct symbol *find_symbol(const struct object *object, uint64_t offset)
{
    size_t low = 0, high = object->num;
    while (low < high) { /* the first that begins behind it */
        size_t middle = low + (high - low) / 2;
        if (object->symbols[middle].begin <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    const struct symbol *symbol = low > 0 ? &object->symbols[low - 1] : NULL;
    return symbol && offset - symbol->begin <= symbol->bytes ? symbol : NULL;
}

void symbols_name(struct symbols *symbols, const struct look_module *module, uint64_t address,
                  char *text, size_t bytes)
{
    if (!module) {
        snprintf(text, bytes, "0x%llx", (unsigned long long)address);
        return;
    }
    const uint64_t offset = address - module->bias;
    const struct object *object = symbols ? find_object(symbols, module) : NULL;
    const struct symbol *symbol = object ? find_symbol(object, offset) : NULL;
    const char *base = strrchr(module->path, '/');
    const char *name = symbol ? object->texts + symbol->name : "";
    const int length = (int)(strcspn(name + (*name == '.'), ".") + (*name == '.'));
    base = base ? base + 1 : module->path;
    if (symbol && symbol->begin == offset)
        snprintf(text, bytes, "%.*s", length, name);
    else if (symbol)
        snprintf(text, bytes, "%.*s+0x%llx", length, name,
                 (unsigned long long)(offset - symbol->begin));
    else
        snprintf(text, bytes, "%s+0x%llx", base, (unsigned long long)offset);
}

bool symbols_line(struct symbols *symbols, const struct look_module *module, uint64_t address,
                  char *text, size_t bytes)
{
    struct object *object = symbols && module ? find_object(symbols, module) : NULL;
    if (!object || !object->is_right || object->has_no_source || symbols->spent > patience_ns)
        return false;
    uint64_t start = cohort__clock_now();
    if (!object->source)
        object->source = source_open(object->path);
    object->has_no_source = !object->source;
    bool is_known =
        object->source && source_line(object->source, address - module->bias - 1, text, bytes);
    symbols->spent += cohort__clock_now() - start;
    return is_known;
}
