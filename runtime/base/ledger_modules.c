/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/ledger.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The lines of the modules, anew whenever the loader has loaded or unloaded one. */
enum { MOST_MODULES = 4096 };

static struct {
    pthread_mutex_t lock;
    unsigned long long num_changes; /* of the loader's, when they were written */
    struct cohort__module_line *lines[MOST_MODULES];
    unsigned num;
} modules = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note_build_id(struct cohort__module_line *line, const char *notes, size_t bytes)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes, sizeof(note));
        size_t name = sizeof(note), description = name + ((note.n_namesz + 3) & ~3U);
        size_t end = description + ((note.n_descsz + 3) & ~3U);
        if (end > bytes)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + name, "GNU", 4) == 0 && note.n_descsz <= sizeof(line->build_id)) {
            memcpy(line->build_id, notes + description, note.n_descsz);
            line->build_id_bytes = note.n_descsz;
            return;
        }
        notes += end;
        bytes -= end;
    }
}

/* The program's own name is empty. Others may be relative to the folder of now. */
static void note_path(struct cohort__module_line *line, const char *name)
{
    char path[PATH_MAX];
    ssize_t bytes = -1;
    if (*name == '\0' && (bytes = readlink("/proc/self/exe", path, sizeof(path) - 1)) > 0)
        path[bytes] = '\0';
    if (bytes > 0 || (*name != '\0' && *name != '/' && realpath(name, path)))
        name = path;
    memcpy(line->path, name, strnlen(name, sizeof(line->path) - 1)); /* it was all zero */
}

static int add(struct dl_phdr_info *info, size_t info_bytes, void *context)
{
    uint64_t begin = UINT64_MAX, end = 0;
    (void)info_bytes;
    (void)context;
    struct cohort__module_line *line =
        modules.num < MOST_MODULES ? cohort__ledger_take(COHORT__LEDGER_MODULES) : NULL;
    if (!line)
        return 1;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t at = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && at < begin)
            begin = at;
        if (header->p_type == PT_LOAD && at + header->p_memsz > end)
            end = at + header->p_memsz;
        if (header->p_type == PT_NOTE && line->build_id_bytes == 0)
            note_build_id(line, (const char *)info->dlpi_addr + header->p_vaddr, header->p_memsz);
    }
    note_path(line, info->dlpi_name);
    line->bias = info->dlpi_addr;
    atomic_store_explicit(&line->end, end, memory_order_relaxed);
    atomic_store_explicit(&line->begin, begin, memory_order_release);
    modules.lines[modules.num++] = line;
    return 0;
}

static int count_changes(struct dl_phdr_info *info, size_t info_bytes, void *context)
{
    unsigned long long *ret_num = context;
    (void)info_bytes;
    *ret_num = info->dlpi_adds + info->dlpi_subs;
    return 1; /* it is the same in all */
}

/* With the lock. */
static void give_back(void)
{
    while (modules.num > 0)
        cohort__ledger_give_back(COHORT__LEDGER_MODULES, modules.lines[--modules.num]);
    modules.num_changes = 0;
}

void cohort__ledger_note_modules(void)
{
    unsigned long long num_changes = 0;
    dl_iterate_phdr(count_changes, &num_changes);
    pthread_mutex_lock(&modules.lock);
    if (num_changes != modules.num_changes) {
        give_back();
        dl_iterate_phdr(add, NULL);
        modules.num_changes = num_changes;
    }
    pthread_mutex_unlock(&modules.lock);
}

void cohort__ledger_forget_modules(void)
{
    pthread_mutex_lock(&modules.lock);
    give_back();
    pthread_mutex_unlock(&modules.lock);
}
