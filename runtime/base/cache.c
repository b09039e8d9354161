/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/cache.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COMMON_BYTES = 32 * 1024 * 1024, MAX_CACHES = 8 };

size_t cohort__cache_read_size(const char *text)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    size_t unit = *end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : *end == 'G' ? 1 << 30 : 0;
    if (*text < '0' || *text > '9' || unit == 0 || number > SIZE_MAX / unit)
        return 0;
    return number * unit;
}

/* Reads the kernel's files, since on some virtual machines the C library's sysconf() returns the
 * size times the number of processors. */
static size_t ask_kernel(void)
{
    size_t most = 0;
    for (int i = 0; i < MAX_CACHES; i++) {
        char path[80], text[32];
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        FILE *file = fopen(path, "re");
        if (!file)
            break;
        size_t bytes = fgets(text, sizeof(text), file) ? cohort__cache_read_size(text) : 0;
        fclose(file);
        if (bytes > most)
            most = bytes;
    }
    return most > 0 ? most : COMMON_BYTES;
}

size_t cohort__cache_bytes(void)
{
    static _Atomic size_t known;
    size_t bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (bytes == 0) {
        bytes = ask_kernel();
        atomic_store_explicit(&known, bytes, memory_order_relaxed);
    }
    return bytes;
}
