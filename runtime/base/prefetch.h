/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_PREFETCH_H
#define COHORT_RUNTIME_BASE_PREFETCH_H

/* A hint that the line at ADDRESS will be written soon: the core gets it for itself, and nobody
 * waits for that, as a fence waits for a store. ADDRESS need not be mapped. Compilers make no such
 * instruction for x86-64 unless they are told that the processor has it. Those that don't have it
 * do nothing. */
static inline void cohort__prefetch_to_write(const void *address)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" ::"m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1);
#endif
}

#endif
