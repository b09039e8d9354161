/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/symbol.h"

#include <dlfcn.h>
#include <stdio.h>

void cohort__symbol_name(const void *address, char *text, size_t bytes)
{
    Dl_info info = {0};
    if (!dladdr(address, &info) || !info.dli_fname)
        snprintf(text, bytes, "%p", address);
    else if (info.dli_sname && info.dli_saddr == address)
        snprintf(text, bytes, "%s (%s)", info.dli_sname, info.dli_fname);
    else
        snprintf(text, bytes, "%s+0x%zx", info.dli_fname,
                 (size_t)((const char *)address - (const char *)info.dli_fbase));
}
