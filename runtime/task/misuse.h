/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_MISUSE_H
#define COHORT_RUNTIME_TASK_MISUSE_H

#include <stdatomic.h>
#include <stdint.h>

#include "cohort/future.h"

/* What a program has done wrong with a future or a promise. */
enum cohort__misuse_kind {
    COHORT__MISUSE_GONE,     /* used after the last reference was given back */
    COHORT__MISUSE_SHARED,   /* given away, or awaited, twice at a time with one reference */
    COHORT__MISUSE_COMPLETE, /* a promise was fulfilled, or failed, before */
};

/* Ends the program by SIGABRT, after one line on standard error: that public FUNCTION was called
 * for FUTURE, by CALLER (a return address), and what of it is wrong; and what FUTURE is or was, as
 * far as its memory still tells. */
_Noreturn void cohort__misuse(enum cohort__misuse_kind kind, const cohort_future *future,
                              const char *function, const void *caller)
    __attribute__((cold, noinline));

/* The same for any other OBJECT: a NOUN, ABOUT which there may be more to say (or ""), and that is
 * WRONG. CALLER may be NULL. */
_Noreturn void cohort__misuse_of(const char *noun, const void *object, const char *about,
                                 const char *wrong, const char *function, const void *caller)
    __attribute__((cold, noinline));

#define COHORT__MISUSE_UNREF "its last reference was given back before"

/* For a public FUNCTION, of which this becomes a part, and that is given OBJECT: if *REFS, what the
 * program has of it, is 0, that is WRONG, and ends the program. REFS is in the memory of OBJECT,
 * which the slab may have back: the first word is another one then, and all else is as it was until
 * the memory is used again. So who gives the last reference back leaves a 0 there. */
__attribute__((always_inline)) static inline void
cohort__misuse_check(const _Atomic uint32_t *refs, const char *noun, const void *object,
                     const char *wrong, const char *function)
{
    if (__builtin_expect(atomic_load_explicit(refs, memory_order_relaxed) == 0, 0))
        cohort__misuse_of(noun, object, "", wrong, function, __builtin_return_address(0));
}

#endif
