/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the lines of source files, from what -g has put into programs. */
#include "tools/cohortrun/status/source.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct source {
    Dwfl *session;
    Dwfl_Module *module;
};

/* clang-format off */
#define FUNCTIONS(F)                                                                               \
    F(dwfl_begin) F(dwfl_end) F(dwfl_report_begin) F(dwfl_report_elf) F(dwfl_report_end)           \
    F(dwfl_offline_section_address) F(dwfl_module_getsrc) F(dwfl_lineinfo) F(dwfl_module_nextcu)   \
    F(dwarf_haspc) F(dwarf_getsrc_die) F(dwarf_linesrc) F(dwarf_lineno)
/* clang-format on */
#define DECLARE(name) __typeof__(name) *name;
#define FIND(name) dw.is_there &= (dw.name = dlsym(handle, #name)) != NULL;

/* libdw is loaded when the first file is opened, since each guardian is this program, too, and
 * would take longer to start. It stays loaded. */
static struct {
    bool is_tried, is_there;
    FUNCTIONS(DECLARE)
} dw;

static bool load(void)
{
    void *handle = dw.is_tried ? NULL : dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    dw.is_tried = true;
    if (!handle)
        return dw.is_there;
    dw.is_there = true;
    FUNCTIONS(FIND)
    return dw.is_there;
}

/* The standard one may ask servers for the file that a program was stripped of. */
static int find_nothing(Dwfl_Module *module, void **context, const char *name, Dwarf_Addr base,
                        const char *file, const char *link, GElf_Word checksum, char **ret_file)
{
    (void)module, (void)context, (void)name, (void)base;
    (void)file, (void)link, (void)checksum, (void)ret_file;
    return -1;
}

struct source *source_open(const char *path)
{
    static Dwfl_Callbacks callbacks = {.find_debuginfo = find_nothing};
    struct source *source = load() ? calloc(1, sizeof(*source)) : NULL;
    if (!source)
        return NULL;
    callbacks.section_address = dw.dwfl_offline_section_address;
    source->session = dw.dwfl_begin(&callbacks);
    if (source->session) {
        dw.dwfl_report_begin(source->session);
        source->module = dw.dwfl_report_elf(source->session, "", path, -1, 0, true);
        dw.dwfl_report_end(source->session, NULL, NULL);
    }
    if (source->module)
        return source;
    source_close(source);
    return NULL;
}

/* clang writes no table of the addresses of each unit, so all units are asked. */
static const char *find_in_units(const struct source *source, uint64_t offset, int *ret_line)
{
    Dwarf_Addr bias = 0;
    for (Dwarf_Die *unit = NULL; (unit = dw.dwfl_module_nextcu(source->module, unit, &bias));) {
        Dwarf_Line *found = dw.dwarf_haspc(unit, offset - bias) > 0
                                ? dw.dwarf_getsrc_die(unit, offset - bias)
                                : NULL;
        if (found && dw.dwarf_lineno(found, ret_line) == 0)
            return dw.dwarf_linesrc(found, NULL, NULL);
    }
    return NULL;
}

bool source_line(struct source *source, uint64_t offset, char *text, size_t bytes)
{
    int line = 0;
    Dwfl_Line *found = dw.dwfl_module_getsrc(source->module, offset);
    const char *path = found ? dw.dwfl_lineinfo(found, NULL, &line, NULL, NULL, NULL)
                             : find_in_units(source, offset, &line);
    if (!path || line <= 0)
        return false;
    const char *base = strrchr(path, '/');
    snprintf(text, bytes, "%s:%d", base ? base + 1 : path, line);
    return true;
}

void source_close(struct source *source)
{
    if (!source)
        return;
    if (source->session)
        dw.dwfl_end(source->session);
    free(source);
}
