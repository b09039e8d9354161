/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_MISUSE_H
#define COHORT_RUNTIME_BASE_MISUSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What a program has given back, and uses nevertheless. */

/* Ends the program by SIGABRT, after one line on standard error: that public FUNCTION was called
 * for OBJECT, by CALLER (a return address; NULL: whoever has called the library), that OBJECT is a
 * NOUN, ABOUT which there may be more to say (or ""), and that is WRONG. */
_Noreturn void cohort__misuse_of(const char *noun, const void *object, const char *about,
                                 const char *wrong, const char *function, const void *caller)
    __attribute__((cold, noinline));

#define COHORT__MISUSE_UNREF "its last reference was given back before"

/* Whether *REFS, what the program has of an object, is 0. REFS is in the memory of the object,
 * which the slab may have back: the first word is another one then, and all else is as it was until
 * the memory is used again. So who gives the last reference back leaves a 0 there. */
__attribute__((always_inline)) static inline bool cohort__is_gone(const _Atomic uint32_t *refs)
{
    return __builtin_expect(atomic_load_explicit(refs, memory_order_relaxed) == 0, 0);
}

/* For a public FUNCTION, of which this becomes a part, and that is given OBJECT: if it is gone,
 * that is WRONG, and ends the program. */
__attribute__((always_inline)) static inline void
cohort__misuse_check(const _Atomic uint32_t *refs, const char *noun, const void *object,
                     const char *wrong, const char *function)
{
    if (cohort__is_gone(refs))
        cohort__misuse_of(noun, object, "", wrong, function, __builtin_return_address(0));
}

#endif
