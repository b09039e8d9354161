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

/* libdw is loaded when the first file is opened, since each guardian is this program, too, and
 * would take longer to start. It stays loaded. */
static struct {
    bool is_tried, is_there;
    __typeof__(dwfl_begin) *begin;
    __typeof__(dwfl_end) *end;
    __typeof__(dwfl_report_begin) *report_begin;
    __typeof__(dwfl_report_elf) *report_elf;
    __typeof__(dwfl_report_end) *report_end;
    __typeof__(dwfl_offline_section_address) *section_address;
    __typeof__(dwfl_module_getsrc) *find_line;
    __typeof__(dwfl_lineinfo) *line_info;
    __typeof__(dwfl_module_nextcu) *next_unit;
    __typeof__(dwarf_haspc) *has_address;
    __typeof__(dwarf_getsrc_die) *find_line_in;
    __typeof__(dwarf_linesrc) *line_file;
    __typeof__(dwarf_lineno) *line_number;
} dw;

static bool load(void)
{
    void *handle = dw.is_tried ? NULL : dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    dw.is_tried = true;
    if (!handle)
        return dw.is_there;
    dw.begin = dlsym(handle, "dwfl_begin");
    dw.end = dlsym(handle, "dwfl_end");
    dw.report_begin = dlsym(handle, "dwfl_report_begin");
    dw.report_elf = dlsym(handle, "dwfl_report_elf");
    dw.report_end = dlsym(handle, "dwfl_report_end");
    dw.section_address = dlsym(handle, "dwfl_offline_section_address");
    dw.find_line = dlsym(handle, "dwfl_module_getsrc");
    dw.line_info = dlsym(handle, "dwfl_lineinfo");
    dw.next_unit = dlsym(handle, "dwfl_module_nextcu");
    dw.has_address = dlsym(handle, "dwarf_haspc");
    dw.find_line_in = dlsym(handle, "dwarf_getsrc_die");
    dw.line_file = dlsym(handle, "dwarf_linesrc");
    dw.line_number = dlsym(handle, "dwarf_lineno");
    dw.is_there = dw.begin && dw.end && dw.report_begin && dw.report_elf && dw.report_end &&
                  dw.section_address && dw.find_line && dw.line_info && dw.next_unit &&
                  dw.has_address && dw.find_line_in && dw.line_file && dw.line_number;
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
    callbacks.section_address = dw.section_address;
    source->session = dw.begin(&callbacks);
    if (source->session) {
        dw.report_begin(source->session);
        source->module = dw.report_elf(source->session, "", path, -1, 0, true);
        dw.report_end(source->session, NULL, NULL);
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
    for (Dwarf_Die *unit = NULL; (unit = dw.next_unit(source->module, unit, &bias));) {
        Dwarf_Line *found =
            dw.has_address(unit, offset - bias) > 0 ? dw.find_line_in(unit, offset - bias) : NULL;
        if (found && dw.line_number(found, ret_line) == 0)
            return dw.line_file(found, NULL, NULL);
    }
    return NULL;
}

bool source_line(struct source *source, uint64_t offset, char *text, size_t bytes)
{
    int line = 0;
    Dwfl_Line *found = dw.find_line(source->module, offset);
    const char *path = found ? dw.line_info(found, NULL, &line, NULL, NULL, NULL)
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
        dw.end(source->session);
    free(source);
}
