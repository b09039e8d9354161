/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/exceptions.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Of the C++ ABI. NULL if the program did not have C++ when Cohort was loaded. */
extern struct cohort__exceptions *__cxa_get_globals(void) __attribute__((weak));

static struct cohort__exceptions *(*find_globals(void))(void)
{
    static const char *const names[] = {"libstdc++.so.6", "libc++abi.so.1"};
    struct cohort__exceptions *(*function)(void) = __cxa_get_globals;
    for (size_t i = 0; !function && i < sizeof(names) / sizeof(names[0]); i++) {
        void *library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
        void *address = library ? dlsym(library, "__cxa_get_globals") : NULL;
        memcpy(&function, &address, sizeof(function)); /* the library stays from now on */
    }
    return function;
}

static struct cohort__exceptions *(*_Atomic globals)(void);

bool cohort__exceptions_watch(void)
{
    if (!globals)
        globals = find_globals();
    return globals != NULL;
}

void cohort__exceptions_leave(struct cohort__exceptions *ret_left)
{
    struct cohort__exceptions *(*of_thread)(void) = globals;
    memset(ret_left, 0, sizeof(*ret_left));
    if (!of_thread)
        return;
    struct cohort__exceptions *here = of_thread();
    *ret_left = *here;
    memset(here, 0, sizeof(*here));
}

void cohort__exceptions_return(const struct cohort__exceptions *left)
{
    if (left->caught || left->num_uncaught)
        *globals() = *left;
}
