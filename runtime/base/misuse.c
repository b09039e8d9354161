/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/misuse.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stddef.h>
#include <stdio.h>

#include "runtime/base/last_words.h"
#include "runtime/base/symbol.h"

/* The innermost caller of the library, which is not of it. NULL: that can't be told, in a program
 * that the library is part of. Before the library's frames there is one of a sanitizer, if any. */
static const void *find_caller(void)
{
    enum { MOST_FRAMES = 16 };
    static const char inside = 0;
    void *frames[MOST_FRAMES];
    int num = backtrace(frames, MOST_FRAMES);
    bool is_inside = false;
    Dl_info own, other;
    if (!dladdr(&inside, &own))
        return NULL;
    for (int i = 0; i < num; i++) {
        if (!dladdr(frames[i], &other))
            continue;
        if (is_inside && other.dli_fbase != own.dli_fbase)
            return frames[i];
        is_inside |= other.dli_fbase == own.dli_fbase;
    }
    return NULL;
}

void cohort__misuse_of(const char *noun, const void *object, const char *about, const char *wrong,
                       const char *function, const void *caller)
{
    char where[512] = "somewhere", text[1280];
    const void *place = caller ? caller : find_caller();
    if (place)
        cohort__symbol_name(place, where, sizeof(where));
    snprintf(text, sizeof(text), "%s, called at %s for the %s %p%s: %s", function, where, noun,
             object, about, wrong);
    cohort__last_words_abort(text);
}
