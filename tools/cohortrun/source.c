/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the lines of source files, from what -g has put into programs. */
#include "tools/cohortrun/source.h"

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
    dw.is_there = dw.begin && dw.end && dw.report_begin && dw.report_elf && dw.report_end &&
                  dw.section_address && dw.find_line && dw.line_info;
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

bool source_line(struct source *source, uint64_t offset, char *text, size_t bytes)
{
    int line = 0;
    Dwfl_Line *found = dw.find_line(source->module, offset);
    const char *path = found ? dw.line_info(found, NULL, &line, NULL, NULL, NULL) : NULL;
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
