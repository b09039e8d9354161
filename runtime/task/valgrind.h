/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_VALGRIND_H
#define COHORT_RUNTIME_TASK_VALGRIND_H

#include <stdbool.h>
#include <stdint.h>

/* What valgrind is asked and told, if a program runs under it. Its header is not needed, so no
 * build lacks this: the numbers of the requests, and how they are made, are a part of valgrind's
 * interface that does not change. A request is a sequence of instructions that changes nothing, and
 * that no compiler makes. valgrind recognises it, reads six words, and writes the answer into a
 * register; without valgrind there stays what was in it, here 0. */
enum cohort__valgrind_request {
    COHORT__VALGRIND_IS_THERE = 0x1001,
    COHORT__VALGRIND_STACK_REGISTER = 0x1501,
    COHORT__VALGRIND_STACK_DEREGISTER = 0x1502,
};

static inline uintptr_t cohort__valgrind_ask(enum cohort__valgrind_request request, uintptr_t first,
                                             uintptr_t second)
{
    volatile uintptr_t words[6] = {request, first, second, 0, 0, 0};
#if defined(__x86_64__)
    uintptr_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(words)
                     : "cc", "memory");
    return answer;
#elif defined(__aarch64__)
    register uintptr_t answer __asm__("x3") = 0;
    register volatile uintptr_t *asked __asm__("x4") = words;
    __asm__ volatile("ror x12, x12, #3\n\tror x12, x12, #13\n\t"
                     "ror x12, x12, #51\n\tror x12, x12, #61\n\t"
                     "orr x10, x10, x10"
                     : "+r"(answer)
                     : "r"(asked)
                     : "cc", "memory");
    return answer;
#else
    (void)words;
    return 0; /* Cohort's own fibers are not for this processor either */
#endif
}

static inline bool cohort__valgrind_is_there(void)
{
    return cohort__valgrind_ask(COHORT__VALGRIND_IS_THERE, 0, 0) != 0;
}

/* Without this, valgrind would take a switch of stacks for one large change of the stack pointer,
 * and complain. Returns the number of the stack from LOW to HIGH, its last byte. */
static inline uintptr_t cohort__valgrind_register(const char *low, const char *high)
{
    return cohort__valgrind_ask(COHORT__VALGRIND_STACK_REGISTER, (uintptr_t)low, (uintptr_t)high);
}

static inline void cohort__valgrind_deregister(uintptr_t number)
{
    cohort__valgrind_ask(COHORT__VALGRIND_STACK_DEREGISTER, number, 0);
}

#endif
