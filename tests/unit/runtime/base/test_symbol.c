/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/symbol.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "tests/support/test.h"

static int own_function(void)
{
    return 1;
}

static const void *address_of(int (*function)(void))
{
    const void *address;
    memcpy(&address, &function, sizeof(address));
    return address;
}

TEST(names)
{
    char text[256];
    cohort__symbol_name(address_of(own_function), text, sizeof(text));
    CHECK_CONTAINS(text, "own_function (/");
    CHECK_CONTAINS(text, "/test_base_symbol)");
    cohort__symbol_name((const char *)address_of(own_function) + 1, text, sizeof(text));
    CHECK_CONTAINS(text, "own_function+0x1 (/");
    CHECK_CONTAINS(text, "/test_base_symbol+0x");
    /* one that no sanitizer puts a function of its own before */
    const char *exported = dlsym(RTLD_DEFAULT, "lldiv");
    CHECK(exported != NULL);
    cohort__symbol_name(exported, text, sizeof(text));
    CHECK_CONTAINS(text, " (");
    CHECK_CONTAINS(text, "libc");
    cohort__symbol_name(exported + 1, text, sizeof(text));
    CHECK_CONTAINS(text, "+0x");
    cohort__symbol_name((const void *)(uintptr_t)64, text, sizeof(text));
    CHECK_TEXT(text, "0x40");
}

TEST(is_cut)
{
    char text[8];
    cohort__symbol_name(address_of(own_function), text, sizeof(text));
    CHECK_INT((long long)strlen(text), 7);
}
