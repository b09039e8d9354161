/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/kernels.h"

#include <stdbool.h>
#include <stdint.h>

static const struct cohort__kernel_variant baseline = {"baseline", cohort__kernels_baseline};

/* The fastest one that this machine can run. Each small call asks this. */
static inline struct cohort__kernel_variant fastest(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return (struct cohort__kernel_variant){"avx2", cohort__kernels_avx2};
#endif
    return baseline;
}

size_t
cohort__kernel_variants(struct cohort__kernel_variant ret_variants[COHORT__MAX_KERNEL_VARIANTS])
{
    size_t num = 0;
    ret_variants[num++] = baseline;
    if (fastest().rows != baseline.rows)
        ret_variants[num++] = fastest();
    return num;
}

const struct cohort__kernel_functions *
cohort__kernel_find_in(const struct cohort__kernel_variant *variant, enum cohort__kernel kernel,
                       cohort_datatype datatype)
{
    if (kernel >= COHORT__KERNEL_END)
        return NULL;
    const struct cohort__kernel_functions *functions =
        &variant->rows[cohort__datatype_number(datatype)][kernel];
    return functions->plain ? functions : NULL;
}

const struct cohort__kernel_functions *cohort__kernel_find(enum cohort__kernel kernel,
                                                           cohort_datatype datatype)
{
    const struct cohort__kernel_variant variant = fastest();
    return cohort__kernel_find_in(&variant, kernel, datatype);
}

/* A result of this size, with its two operands, is larger than most caches, so it would not be
 * there when it is read. The size of the cache from sysconf is of no use: on virtual machines it
 * may be ten times too large. What it brings: docs/measurements.md, "Reductions". */
enum { LARGE_BYTES = 16 * 1024 * 1024 };

void cohort__kernel_apply(enum cohort__kernel kernel, cohort_datatype datatype, void *result,
                          const void *left, const void *right, size_t count)
{
    const struct cohort__kernel_functions *functions = cohort__kernel_find(kernel, datatype);
    bool is_large = count >= LARGE_BYTES / sizeof(uint64_t) && result != left && result != right &&
                    count >= LARGE_BYTES / cohort_datatype_size(datatype);
    (is_large ? functions->streamed : functions->plain)(result, left, right, count);
}
