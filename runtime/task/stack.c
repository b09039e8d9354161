/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/container.h"
#include "runtime/base/list.h"
#include "runtime/task/valgrind.h"

/* Debian 12's headers don't have it. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum {
    /* A slab has twice as many stacks as the one before. It begins with few, since a process may
     * have little address space (ulimit -v, or vm.overcommit_memory=2, where a slab counts in
     * full); it ends where the number of mappings is no matter any more. */
    LEAST_STACKS = 4,
    MOST_STACKS = 1024,
    MOST_SLAB_BYTES = 512 * 1024 * 1024, /* unless a single stack is larger */
    /* Each guard by pages makes two mappings more: half of the default limit is left. */
    MOST_GUARD_PAGES = 16000,
    CANARY_BYTES = 64, /* at the top of each stack, for the one above it */
    /* What compilers take for granted at most, if frames touch all that they step over
     * (-fstack-clash-protection): gcc on aarch64. Without that only a larger frame gets over it. */
    GUARD_BYTES = 64 * 1024,
};

enum { NOT_GUARDED = 255 }; /* a place that was never given away */

static const uint64_t canary_word = UINT64_C(0x6b63617473646e65);

/* A mapping with stacks of one size. Below each stack there is its guard. */
struct cohort__stack_slab {
    struct cohort__list link; /* in the class's list, while a stack of the slab is free */
    struct size_class *class;
    char *memory;
    uint32_t num_stacks;
    uint32_t num_used; /* the stacks below this index were taken at least once; they have guards */
    uint32_t num_free; /* how many of those were given back */
    /* Two arrays in one. The first num_free elements of `free` are the indices of the stacks that
     * were given back, as a last-in-first-out list. `guard` is that of the stack with the same
     * index as the place. */
    struct place {
        uint32_t free;
        unsigned char guard;
    } places[];
};

/* All slabs whose stacks have the same size. */
struct size_class {
    struct size_class *next;
    size_t bytes;         /* of each stack */
    uint32_t next_stacks; /* so many stacks the next slab will have */
    uint32_t num_slabs;
    struct cohort__list slabs; /* those in which a stack is free */
};

static struct {
    pthread_mutex_t lock; /* not held during system calls for a stack: many are begun at a time */
    struct size_class *classes;
    _Atomic uint32_t num_guard_pages;
    _Atomic enum cohort__stack_guard guard;
    atomic_bool are_guards_known; /* the kernel's guards have been seen to work */
} stacks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t guard_bytes(void)
{
    size_t page = page_bytes();
    return page > GUARD_BYTES ? page : GUARD_BYTES;
}

static struct size_class *find_class(size_t bytes)
{
    struct size_class *class = stacks.classes;
    while (class && class->bytes != bytes)
        class = class->next;
    if (class || !(class = calloc(1, sizeof(*class))))
        return class;
    class->bytes = bytes;
    class->next_stacks = LEAST_STACKS;
    cohort__list_init(&class->slabs);
    class->next = stacks.classes;
    stacks.classes = class;
    return class;
}

static char *low_of(const struct cohort__stack_slab *slab, uint32_t index)
{
    size_t guard = guard_bytes();
    return slab->memory + index * (slab->class->bytes + guard) + guard;
}

/* The words that stack INDEX must not overwrite: at the top of the stack below it. */
static uint64_t *canary_of(const struct cohort__stack_slab *slab, uint32_t index)
{
    return (uint64_t *)(void *)(low_of(slab, index) - guard_bytes() - CANARY_BYTES);
}

static void canary_set(const struct cohort__stack_slab *slab, uint32_t index)
{
    uint64_t *words = canary_of(slab, index);
    for (size_t i = 0; i < CANARY_BYTES / sizeof(*words); i++)
        words[i] = canary_word;
}

/* With NUM stacks, or fewer where there is no memory for so many. */
static struct cohort__stack_slab *slab_map(struct size_class *class, uint32_t num)
{
    size_t stride = class->bytes + guard_bytes();
    struct cohort__stack_slab *slab = NULL;
    void *memory = MAP_FAILED;
    if (stride > SIZE_MAX / 2 / num)
        num = 1;
    for (; num > 0 && memory == MAP_FAILED; num /= 2) {
        slab = malloc(sizeof(*slab) + num * sizeof(slab->places[0]));
        if (slab)
            memory = mmap(NULL, num * stride, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (memory != MAP_FAILED) {
            *slab =
                (struct cohort__stack_slab){.class = class, .memory = memory, .num_stacks = num};
            /* A huge page would be memory for eight stacks that use a page each. */
            madvise(memory, num * stride, MADV_NOHUGEPAGE);
            return slab;
        }
        free(slab);
    }
    return NULL;
}

/* How many stacks the next slab of CLASS should have. */
static uint32_t num_stacks_of(const struct size_class *class)
{
    size_t most = MOST_SLAB_BYTES / (class->bytes + guard_bytes());
    return most >= class->next_stacks ? class->next_stacks : most > 0 ? (uint32_t)most : 1;
}

static cohort_status slab_create(struct size_class *class)
{
    struct cohort__stack_slab *slab = slab_map(class, num_stacks_of(class));
    if (!slab)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no stack of %zu bytes: mmap: %s", class->bytes,
                           strerror(errno));
    class->next_stacks =
        slab->num_stacks < MOST_STACKS / 2 ? 2 * slab->num_stacks : (uint32_t)MOST_STACKS;
    class->num_slabs++;
    cohort__list_push_front(&class->slabs, &slab->link);
    return COHORT_OK;
}

static void slab_destroy(struct cohort__stack_slab *slab)
{
    if (--slab->class->num_slabs == 0)
        slab->class->next_stacks = LEAST_STACKS;
    for (uint32_t i = 0; i < slab->num_used; i++)
        stacks.num_guard_pages -= slab->places[i].guard == COHORT__STACK_GUARD_PAGE;
    cohort__list_remove(&slab->link);
    munmap(slab->memory, slab->num_stacks * (slab->class->bytes + guard_bytes()));
    free(slab);
}

/* Whether the kernel refuses to read at ADDRESS. Emulators accept advice that they don't know. */
static bool is_guarded(const char *address)
{
    if (stacks.are_guards_known)
        return true;
    stacks.are_guards_known = access(address, F_OK) != 0 && errno == EFAULT;
    return stacks.are_guards_known;
}

/* Guards a stack that is taken for the first time. False: there is no memory for that. */
static bool guard(struct cohort__stack_slab *slab, uint32_t index)
{
    const size_t bytes = guard_bytes();
    char *below = low_of(slab, index) - bytes;
    enum cohort__stack_guard kind = stacks.guard;
    /* It does not know of the kernel's guards, and reads what it takes for memory. */
    if (kind == COHORT__STACK_GUARD_KERNEL && cohort__valgrind_is_there())
        kind = COHORT__STACK_GUARD_PAGE;
    if (kind == COHORT__STACK_GUARD_KERNEL) {
        bool is_there = madvise(below, bytes, MADV_GUARD_INSTALL) == 0;
        if (!is_there && errno == ENOMEM)
            return false;
        if (!is_there || !is_guarded(below)) /* the kernel has no such guards */
            stacks.guard = kind = COHORT__STACK_GUARD_PAGE;
    }
    /* The lowest stack has none below it whose top could be looked at. */
    bool has_neighbour = index > 0;
    if (kind == COHORT__STACK_GUARD_PAGE && stacks.num_guard_pages >= MOST_GUARD_PAGES &&
        has_neighbour)
        kind = COHORT__STACK_GUARD_CANARY;
    if (kind == COHORT__STACK_GUARD_CANARY && !has_neighbour)
        kind = COHORT__STACK_GUARD_PAGE;
    if (kind == COHORT__STACK_GUARD_PAGE) {
        if (mprotect(below, bytes, PROT_NONE) != 0) {
            if (!has_neighbour)
                return false;
            kind = COHORT__STACK_GUARD_CANARY; /* there are too many mappings */
        } else {
            stacks.num_guard_pages++;
        }
    }
    slab->places[index].guard = (unsigned char)kind;
    return true;
}

/* The index of a stack of SLAB that is free; there is one. */
static uint32_t take_place(struct cohort__stack_slab *slab)
{
    uint32_t index;
    if (slab->num_free > 0) {
        index = slab->places[--slab->num_free].free;
    } else {
        index = slab->num_used++;
        slab->places[index].guard = NOT_GUARDED;
    }
    if (slab->num_free == 0 && slab->num_used == slab->num_stacks)
        cohort__list_remove(&slab->link);
    return index;
}

/* With the lock. */
static cohort_status take(struct cohort__stack *ret_stack, size_t bytes)
{
    struct size_class *class = find_class(bytes);
    if (!class)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no stack of %zu bytes: no memory for their list",
                           bytes);
    cohort_status status = COHORT_OK;
    if (cohort__list_is_empty(&class->slabs))
        status = slab_create(class);
    if (status != COHORT_OK)
        return status;
    struct cohort__stack_slab *slab =
        COHORT_CONTAINER_OF(class->slabs.next, struct cohort__stack_slab, link);
    uint32_t index = take_place(slab);
    *ret_stack = (struct cohort__stack){
        .low = low_of(slab, index), .bytes = bytes - CANARY_BYTES, .slab = slab, .index = index};
    return COHORT_OK;
}

/* Without the lock: STACK is the caller's. */
static cohort_status protect(struct cohort__stack *stack)
{
    struct cohort__stack_slab *slab = stack->slab;
    unsigned char *kind = &slab->places[stack->index].guard;
    if (*kind == NOT_GUARDED && !guard(slab, stack->index)) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "no stack of %zu bytes: no memory for its guard: %s",
                    slab->class->bytes, strerror(errno));
        cohort__stack_give_back(stack);
        return COHORT_ERR_NO_MEMORY;
    }
    stack->guard = (enum cohort__stack_guard) * kind;
    if (stack->guard == COHORT__STACK_GUARD_CANARY)
        canary_set(slab, stack->index);
    return COHORT_OK;
}

cohort_status cohort__stack_take(struct cohort__stack *ret_stack, size_t bytes)
{
    size_t page = page_bytes();
    if (bytes > SIZE_MAX / 2)
        return cohort_fail(COHORT_ERR_NO_MEMORY,
                           "no stack of %zu bytes: that is more than half of all addresses", bytes);
    bytes = (bytes + CANARY_BYTES + page - 1) & ~(page - 1);
    int saved_errno = errno;
    pthread_mutex_lock(&stacks.lock);
    struct cohort__stack stack = {0};
    cohort_status status = take(&stack, bytes);
    pthread_mutex_unlock(&stacks.lock);
    if (status == COHORT_OK)
        status = protect(&stack);
    if (status == COHORT_OK)
        *ret_stack = stack;
    errno = saved_errno;
    return status;
}

/* The canary of the stack above is at the top of this one, and goes with its memory: then it reads
 * as zeros. So does what an unguarded one has written below itself. */
void cohort__stack_give_back(const struct cohort__stack *stack)
{
    struct cohort__stack_slab *slab = stack->slab;
    struct size_class *class = slab->class;
    size_t below = stack->guard == COHORT__STACK_GUARD_CANARY ? guard_bytes() : 0;
    madvise(stack->low - below, class->bytes + below, MADV_DONTNEED);
    pthread_mutex_lock(&stacks.lock);
    if (slab->num_free == 0 && slab->num_used == slab->num_stacks)
        cohort__list_push_front(&class->slabs, &slab->link);
    slab->places[slab->num_free++].free = stack->index;
    if (slab->num_free == slab->num_used)
        slab_destroy(slab);
    pthread_mutex_unlock(&stacks.lock);
}

bool cohort__stack_is_intact(const struct cohort__stack *stack)
{
    if (stack->guard != COHORT__STACK_GUARD_CANARY)
        return true;
    const uint64_t *words = canary_of(stack->slab, stack->index);
    for (size_t i = 0; i < CANARY_BYTES / sizeof(*words); i++)
        if (words[i] != canary_word && words[i] != 0)
            return false;
    return true;
}

bool cohort__stack_guards(const struct cohort__stack *stack, const void *address)
{
    const char *at = address;
    return stack->slab && at < stack->low && at >= stack->low - guard_bytes();
}

void cohort__stack_use_guard(enum cohort__stack_guard guard)
{
    pthread_mutex_lock(&stacks.lock);
    stacks.guard = guard;
    pthread_mutex_unlock(&stacks.lock);
}
