/* SPDX-License-Identifier: Apache-2.0 */
#undef _FILE_OFFSET_BITS /* with which the name of fopen would be fopen64 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Preloaded into the processes of jobs under test. libfabric 1.17 reads all names of the kernel,
 * twice, to learn whether a network card may reach into the memory of others. That takes 0.2 s of
 * a core, most of what a process needs that a test starts. Here it finds that there are none, as on
 * a kernel without them. */

__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode)
{
    if (strcmp(path, "/proc/kallsyms") == 0) {
        errno = ENOENT;
        return NULL;
    }
    FILE *(*next)(const char *, const char *);
    *(void **)&next = dlsym(RTLD_NEXT, "fopen");
    return next(path, mode);
}
