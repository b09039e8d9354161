/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the lines of source files, from what -g has put into programs. */
#include "tools/cohortrun/source.h"

#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct source {
    Dwfl *session;
    Dwfl_Module *module;
};

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
    static const Dwfl_Callbacks callbacks = {.find_debuginfo = find_nothing,
                                             .section_address = dwfl_offline_section_address};
    struct source *source = calloc(1, sizeof(*source));
    if (!source)
        return NULL;
    source->session = dwfl_begin(&callbacks);
    if (source->session) {
        dwfl_report_begin(source->session);
        source->module = dwfl_report_elf(source->session, "", path, -1, 0, true);
        dwfl_report_end(source->session, NULL, NULL);
    }
    if (source->module)
        return source;
    source_close(source);
    return NULL;
}

bool source_line(struct source *source, uint64_t offset, char *text, size_t bytes)
{
    int line = 0;
    Dwfl_Line *found = dwfl_module_getsrc(source->module, offset);
    const char *path = found ? dwfl_lineinfo(found, NULL, &line, NULL, NULL, NULL) : NULL;
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
        dwfl_end(source->session);
    free(source);
}
