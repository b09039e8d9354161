/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/fiber.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/sanitizer.h"
#include "runtime/task/valgrind.h"

#if COHORT__TSAN
#include <sanitizer/tsan_interface.h>
#endif

/* Nothing new is started on a stack that has less room left than this, or than a quarter of its
 * size if that is smaller. */
enum { FLOOR_BYTES = 64 * 1024 };

/* The thread sanitizer can follow only 65536 nested calls. */
enum { TSAN_STACK_BYTES = 1024 * 1024 };

/* --- sanitizers --- */

/* The address sanitizer has to know which stack is in use, and keeps data for each stack. It may be
 * only in the program, beside a library without it. */
void __sanitizer_start_switch_fiber(void **save, const void *low, size_t bytes)
    __attribute__((weak));
void __sanitizer_finish_switch_fiber(void *saved, const void **ret_low, size_t *ret_bytes)
    __attribute__((weak));
void __asan_unpoison_memory_region(const volatile void *low, size_t bytes) __attribute__((weak));

static bool asan_is_there(void)
{
    return __sanitizer_start_switch_fiber && __sanitizer_finish_switch_fiber;
}

static void asan_leave(struct cohort__fiber *from, const struct cohort__fiber *to)
{
    if (asan_is_there())
        __sanitizer_start_switch_fiber(&from->asan_fake_stack, to->low, to->bytes);
}

static void asan_arrive(struct cohort__fiber *fiber)
{
    if (asan_is_there())
        __sanitizer_finish_switch_fiber(fiber->asan_fake_stack, NULL, NULL);
}

/* The variables on the stack have left marks in the sanitizer's shadow memory. They are removed,
 * since the memory may be used for other things later. */
static void asan_forget(const struct cohort__fiber *fiber)
{
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(fiber->low, fiber->bytes);
}

static void tsan_create(struct cohort__fiber *fiber)
{
#if COHORT__TSAN
    fiber->tsan_fiber = __tsan_create_fiber(0);
#else
    (void)fiber;
#endif
}

static void tsan_adopt(struct cohort__fiber *fiber)
{
#if COHORT__TSAN
    fiber->tsan_fiber = __tsan_get_current_fiber();
#else
    (void)fiber;
#endif
}

static void tsan_destroy(struct cohort__fiber *fiber)
{
#if COHORT__TSAN
    __tsan_destroy_fiber(fiber->tsan_fiber);
#else
    (void)fiber;
#endif
}

static void tsan_leave(const struct cohort__fiber *to)
{
#if COHORT__TSAN
    __tsan_switch_to_fiber(to->tsan_fiber, 0);
#else
    (void)to;
#endif
}

/* --- exceptions of C++ --- */

/* Its runtime library keeps what is caught, and how many are on their way, for each thread, since
 * it takes a thread for a stack. So who leaves a stack takes that along. Cohort itself has no C++:
 * where no such library is in the process there is nothing to do. */

/* What the C++ ABI (Itanium) calls __cxa_eh_globals. */
struct exceptions {
    void *caught;          /* a list, the latest first */
    unsigned num_uncaught; /* std::uncaught_exceptions() */
#if defined(__ARM_EABI_UNWINDER__)
    void *propagating;
#endif
};

/* Of the C++ ABI. NULL if the program did not have C++ when Cohort was loaded. */
extern struct exceptions *__cxa_get_globals(void) __attribute__((weak));

static struct exceptions *(*find_globals(void))(void)
{
    static const char *const names[] = {"libstdc++.so.6", "libc++abi.so.1"};
    struct exceptions *(*function)(void) = __cxa_get_globals;
    for (size_t i = 0; !function && i < sizeof(names) / sizeof(names[0]); i++) {
        void *library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
        void *address = library ? dlsym(library, "__cxa_get_globals") : NULL;
        memcpy(&function, &address, sizeof(function)); /* the library stays from now on */
    }
    return function;
}

static struct exceptions *(*_Atomic globals)(void);

/* Looks for the library. Returns whether there is one. A program in C may have opened it with a
 * plugin. Any thread. */
static bool exceptions_watch(void)
{
    if (!globals)
        globals = find_globals();
    return globals != NULL;
}

/* Moves the calling thread's exceptions to *RET_LEFT, so that it has none. */
static void exceptions_leave(struct exceptions *ret_left)
{
    struct exceptions *(*of_thread)(void) = globals;
    memset(ret_left, 0, sizeof(*ret_left));
    if (!of_thread)
        return;
    struct exceptions *here = of_thread();
    *ret_left = *here;
    memset(here, 0, sizeof(*here));
}

/* Gives LEFT to the calling thread, which has none. It may be another thread than that of leave. */
static void exceptions_return(const struct exceptions *left)
{
    if (left->caught || left->num_uncaught)
        *globals() = *left;
}

/* --- fibers --- */

static void start(struct cohort__fiber *fiber)
{
    asan_arrive(fiber);
    fiber->entry(fiber->arg);
    abort(); /* ENTRY has returned, but there is no caller to return to */
}

static void bounds_set(struct cohort__fiber *fiber, void *low, size_t bytes)
{
    fiber->low = low;
    fiber->bytes = bytes;
    fiber->floor = fiber->low + (bytes / 4 < FLOOR_BYTES ? bytes / 4 : FLOOR_BYTES);
}

static bool take_line(struct cohort__fiber *fiber)
{
    fiber->line = cohort__ledger_take(COHORT__LEDGER_WAITS);
    if (fiber->line)
        atomic_store_explicit(&fiber->line->fiber, (uintptr_t)fiber, memory_order_relaxed);
    else
        cohort_fail(COHORT_ERR_NO_MEMORY, "fiber: no memory for what it waits for");
    return fiber->line != NULL;
}

/* At the top of STACK. */
static struct cohort__fiber *place(const struct cohort__stack *stack)
{
    uintptr_t top = (uintptr_t)(stack->low + stack->bytes);
    uintptr_t at = (top - sizeof(struct cohort__fiber)) & ~(uintptr_t)63;
    struct cohort__fiber *fiber =
        (struct cohort__fiber *)(stack->low + (at - (uintptr_t)stack->low));
    memset(fiber, 0, sizeof(*fiber));
    fiber->stack = *stack;
    bounds_set(fiber, stack->low, (size_t)((char *)fiber - stack->low));
    return fiber;
}

cohort_status cohort__fiber_create(struct cohort__fiber **ret_fiber, size_t stack_bytes,
                                   void (*entry)(void *arg), void *arg)
{
    struct cohort__stack stack;
    cohort_status status = cohort__stack_take(&stack, stack_bytes);
    if (status != COHORT_OK)
        return status;
    struct cohort__fiber *fiber = place(&stack);
    fiber->size = stack_bytes;
    fiber->entry = entry;
    fiber->arg = arg;
    status = take_line(fiber) ? cohort__fiber_swap_init(fiber, start) : COHORT_ERR_NO_MEMORY;
    if (status != COHORT_OK) {
        cohort__ledger_give_back(COHORT__LEDGER_WAITS, fiber->line);
        cohort__stack_give_back(&stack);
        return status;
    }
    tsan_create(fiber);
    fiber->valgrind_stack = cohort__valgrind_register(fiber->low, fiber->low + fiber->bytes - 1);
    *ret_fiber = fiber;
    return COHORT_OK;
}

void cohort__fiber_destroy(struct cohort__fiber *fiber)
{
    if (!fiber)
        return;
    struct cohort__stack stack = fiber->stack;
    cohort__fiber_swap_fini(fiber);
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, fiber->line);
    tsan_destroy(fiber);
    asan_forget(fiber);
    cohort__valgrind_deregister(fiber->valgrind_stack);
    cohort__stack_give_back(&stack);
}

/* Whether others in the process have to do with stacks: C++, or the address sanitizer. */
static atomic_bool has_others;

static void look_for_others(void)
{
    if (exceptions_watch() || asan_is_there())
        atomic_store_explicit(&has_others, true, memory_order_relaxed);
}

cohort_status cohort__fiber_adopt(struct cohort__fiber *fiber)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    int error = pthread_getattr_np(pthread_self(), &attributes);
    if (error == 0) {
        error = pthread_attr_getstack(&attributes, &low, &bytes);
        pthread_attr_destroy(&attributes);
    }
    if (error != 0)
        return cohort_fail(COHORT_ERR_SYSTEM, "fiber: bounds of the thread's stack: %s",
                           strerror(error));
    memset(fiber, 0, sizeof(*fiber));
    look_for_others();
    bounds_set(fiber, low, bytes);
    if (COHORT__TSAN && cohort__fiber_room(fiber) > TSAN_STACK_BYTES)
        fiber->floor = (char *)__builtin_frame_address(0) - TSAN_STACK_BYTES;
    if (!take_line(fiber))
        return COHORT_ERR_NO_MEMORY;
    tsan_adopt(fiber);
    cohort_status status = cohort__fiber_swap_adopt(fiber);
    if (status != COHORT_OK) {
        cohort__ledger_give_back(COHORT__LEDGER_WAITS, fiber->line);
        return status;
    }
    /* valgrind 3.27 does not know the stacks of threads either. */
    fiber->valgrind_stack = cohort__valgrind_register(fiber->low, fiber->low + fiber->bytes - 1);
    return COHORT_OK;
}

void cohort__fiber_unadopt(struct cohort__fiber *fiber)
{
    if (!fiber)
        return;
    cohort__fiber_swap_fini(fiber);
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, fiber->line);
    cohort__valgrind_deregister(fiber->valgrind_stack);
}

/* That of the thread that runs now. To the compiler it would be the same before and after a switch,
 * if it knew which function is called. */
static int *place_of_errno(void)
{
    int *(*function)(void) = __errno_location;
    __asm__ volatile("" : "+r"(function));
    return function();
}

__attribute__((noinline)) static void switch_with_others(struct cohort__fiber *from,
                                                         struct cohort__fiber *to)
{
    struct exceptions exceptions;
    exceptions_leave(&exceptions);
    asan_leave(from, to);
    tsan_leave(to);
    cohort__fiber_swap(from, to);
    asan_arrive(from);
    exceptions_return(&exceptions);
}

void cohort__fiber_switch(struct cohort__fiber *from, struct cohort__fiber *to)
{
    int saved_errno = errno;
    if (__builtin_expect(atomic_load_explicit(&has_others, memory_order_relaxed), 0)) {
        switch_with_others(from, to);
    } else {
        tsan_leave(to);
        cohort__fiber_swap(from, to);
    }
    *place_of_errno() = saved_errno;
}

size_t cohort__fiber_room(const struct cohort__fiber *fiber)
{
    char *here = __builtin_frame_address(0);
    return here > fiber->low ? (size_t)(here - fiber->low) : 0;
}

/* --- pool --- */

/* To give a stack back takes about 2 us, and to take it again two, so that a program that needs
 * many every now and then loses little. */
enum { UNUSED_NANOSECONDS = 1000000000 };

/* Finds out how many stacks were here all the time since the last look. */
static void look(struct cohort__fiber_pool *pool)
{
    uint64_t now = cohort__clock_cycles();
    if (now < pool->look_at)
        return;
    if (pool->look_at > 0)
        pool->num_surplus = pool->least > pool->num_kept ? pool->least - pool->num_kept : 0;
    pool->least = pool->num;
    pool->look_at = now + cohort__clock_cycles_of(UNUSED_NANOSECONDS);
}

bool cohort__fiber_pool_has_surplus(const struct cohort__fiber_pool *pool)
{
    return pool->num > pool->num_kept;
}

bool cohort__fiber_pool_must_trim(const struct cohort__fiber_pool *pool)
{
    return cohort__fiber_pool_has_surplus(pool) &&
           (pool->num_surplus > 0 || cohort__clock_cycles() >= pool->look_at);
}

void cohort__fiber_pool_trim(struct cohort__fiber_pool *pool, size_t most)
{
    look(pool);
    for (; most > 0 && pool->num_surplus > 0 && cohort__fiber_pool_has_surplus(pool); most--) {
        cohort__fiber_destroy(cohort__fiber_pool_take(pool));
        pool->num_surplus--;
    }
}

void cohort__fiber_pool_fini(struct cohort__fiber_pool *pool)
{
    while (pool->first)
        cohort__fiber_destroy(cohort__fiber_pool_take(pool));
}
