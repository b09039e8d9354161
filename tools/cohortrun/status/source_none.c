/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the lines of source files, in a build without libdw: none. */
#include "tools/cohortrun/status/source.h"

struct source *source_open(const char *path)
{
    (void)path;
    return NULL;
}

bool source_line(struct source *source, uint64_t offset, char *text, size_t bytes)
{
    (void)source, (void)offset, (void)text, (void)bytes;
    return false;
}

void source_close(struct source *source)
{
    (void)source;
}
