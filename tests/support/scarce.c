/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/scarce.h"

#include <errno.h>
#include <stddef.h>

#include "runtime/base/slab.h"
#include "tests/support/inproc_end.h"

enum { NONE_FAILS = -1 };

static _Thread_local long left = NONE_FAILS;
static _Thread_local const uint32_t *gaps; /* the next ones */
static _Thread_local uint32_t num_gaps;
static _Thread_local bool has_failed;
static _Thread_local int num_pauses;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t num, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t num, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

static bool fails(void)
{
    if (left == NONE_FAILS || num_pauses > 0 || left-- > 0)
        return false;
    has_failed = true;
    if (num_gaps > 0) {
        left = *gaps++;
        num_gaps--;
    }
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t num, size_t bytes)
{
    return fails() ? NULL : __real_calloc(num, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return fails() ? NULL : __real_realloc(memory, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, bytes);
}

void scarce_init(void)
{
    cohort__slab_use_malloc();
}

void scarce_begin(long num_left)
{
    left = num_left;
    num_gaps = 0;
    has_failed = false;
}

void scarce_begin_gaps(const uint32_t *lengths, uint32_t num)
{
    scarce_begin(num > 0 ? (long)lengths[0] : NONE_FAILS);
    if (num > 0) {
        gaps = lengths + 1;
        num_gaps = num - 1;
    }
}

bool scarce_has_failed(void)
{
    return has_failed;
}

bool scarce_end(void)
{
    left = NONE_FAILS;
    return has_failed;
}

void scarce_pause(void)
{
    num_pauses++;
}

void scarce_go_on(void)
{
    num_pauses--;
}

struct cohort__inproc_event *__real_cohort__inproc_event_create(enum cohort__inproc_kind kind,
                                                                uint32_t peer, size_t bytes);
struct cohort__inproc_event *__wrap_cohort__inproc_event_create(enum cohort__inproc_kind kind,
                                                                uint32_t peer, size_t bytes);

/* The transport of the tests is no part of the library. */
struct cohort__inproc_event *__wrap_cohort__inproc_event_create(enum cohort__inproc_kind kind,
                                                                uint32_t peer, size_t bytes)
{
    scarce_pause();
    struct cohort__inproc_event *event = __real_cohort__inproc_event_create(kind, peer, bytes);
    scarce_go_on();
    return event;
}
