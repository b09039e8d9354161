/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `kernels`: the library's reductions beside memcpy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/exec/kernels.h"
#include "tools/bench/bench.h"

/* The reductions as the library applies them to one piece of memory, side by side with memcpy. No
 * public function does only that, so this program has the library's kernels itself. */

enum { PAGE_BYTES = 4096, NUM_KERNELS = 4, NUM_SUBJECTS = 1 + 2 * NUM_KERNELS };
static const size_t sizes[] = {4096, 256 * 1024, 64 * 1024 * 1024};

/* Elements: of the left, of the right, of the result. */
static const double doubles[] = {3, 4, 7};
static const float floats[] = {3, 4, 7};
static const int32_t integers[] = {3, 4, 4};
static const double complexes[] = {3, 1, 4, 2, 10, 10};

static const struct kernel {
    const char *name;
    enum cohort__kernel kernel;
    cohort_datatype datatype;
    const unsigned char *elements;
} kernels[NUM_KERNELS] = {
    {"double_sum", COHORT__KERNEL_SUM, COHORT_DOUBLE, (const unsigned char *)doubles},
    {"float_sum", COHORT__KERNEL_SUM, COHORT_FLOAT, (const unsigned char *)floats},
    {"int32_max", COHORT__KERNEL_MAX, COHORT_INT32, (const unsigned char *)integers},
    {"complex_product", COHORT__KERNEL_PRODUCT, COHORT_DOUBLE_COMPLEX,
     (const unsigned char *)complexes},
};

/* Blocks of so many bytes. */
struct buffers {
    unsigned char *left, *right, *result;
    size_t bytes;
};

/* What is measured in turns. */
struct subject {
    const struct kernel *kernel; /* NULL: memcpy */
    bool is_in_place;            /* the result is the left operand */
    struct bench_series series;
};

static void apply(const struct subject *subject, const struct buffers *buffers)
{
    const struct kernel *kernel = subject->kernel;
    if (kernel)
        cohort__kernel_apply(kernel->kernel, kernel->datatype,
                             subject->is_in_place ? buffers->left : buffers->result, buffers->left,
                             buffers->right,
                             buffers->bytes / cohort_datatype_size(kernel->datatype));
    else
        memcpy(buffers->result, buffers->left, buffers->bytes);
}

static void name_subject(const struct subject *subject, char name[static 32])
{
    snprintf(name, 32, "%s%s", subject->kernel ? subject->kernel->name : "memcpy",
             subject->is_in_place ? "_in_place" : "");
}

static void fill(unsigned char *to, size_t bytes, const unsigned char *value, size_t element)
{
    for (size_t i = 0; i < bytes; i += element)
        memcpy(to + i, value, element);
}

/* Applies SUBJECT to known elements once, and checks every element of the result. */
static cohort_status check(const struct subject *subject, const struct buffers *buffers)
{
    const struct kernel *kernel = subject->kernel ? subject->kernel : &kernels[0];
    size_t element = cohort_datatype_size(kernel->datatype);
    const unsigned char *result = subject->is_in_place ? buffers->left : buffers->result;
    const unsigned char *want = kernel->elements + (subject->kernel ? 2 * element : 0);
    fill(buffers->left, buffers->bytes, kernel->elements, element);
    fill(buffers->right, buffers->bytes, kernel->elements + element, element);
    apply(subject, buffers);
    for (size_t i = 0; i < buffers->bytes; i += element)
        if (memcmp(result + i, want, element) != 0) {
            char name[32];
            name_subject(subject, name);
            return cohort_fail(COHORT_ERR_MISMATCH, "%s of %zu bytes: element %zu is wrong", name,
                               buffers->bytes, i / element);
        }
    return COHORT_OK;
}

/* Makes one run of each. False: all have had their rounds. */
static bool measure_in_turns(struct subject *subjects, const struct buffers *buffers)
{
    bool is_over = true;
    for (int i = 0; i < NUM_SUBJECTS; i++) {
        uint64_t calls = bench_series_next(&subjects[i].series);
        if (calls == 0)
            continue;
        is_over = false;
        uint64_t start = bench_now();
        for (uint64_t call = 0; call < calls; call++) {
            apply(&subjects[i], buffers);
            __asm__ volatile("" ::: "memory"); /* no call is left out */
        }
        bench_series_add(&subjects[i].series, bench_now() - start);
    }
    return !is_over;
}

/* Bytes of the result per second, relative to memcpy, round by round. */
static struct bench_spread ratio_to(const struct bench_series *memcpy_series,
                                    const struct bench_series *series)
{
    struct bench_series ratios = *series;
    for (unsigned i = 0; i < ratios.num_rounds; i++)
        ratios.ns_per_call[i] = memcpy_series->ns_per_call[i] / series->ns_per_call[i];
    return bench_series_spread(&ratios);
}

static cohort_status add(const struct bench *bench, struct subject *subject,
                         const struct bench_series *memcpy_series, size_t bytes)
{
    struct bench_result result = {.bytes = bytes};
    struct bench_spread ratio = ratio_to(memcpy_series, &subject->series);
    unsigned rounds = subject->series.num_rounds;
    struct bench_series sorted = subject->series;
    name_subject(subject, result.name);
    bench_result_set(&result, bench_series_spread(&sorted), "us", rounds);
    cohort_status status = bench_report_add(bench->report, &result);
    if (status || !subject->kernel)
        return status;
    bench_result_set(&result, ratio, "x", rounds);
    return bench_report_add(bench->report, &result);
}

static cohort_status measure(const struct bench *bench, const struct buffers *buffers)
{
    struct subject subjects[NUM_SUBJECTS] = {0};
    cohort_status status = COHORT_OK;
    for (int i = 0; i < NUM_SUBJECTS && !status; i++) {
        if (i > 0)
            subjects[i].kernel = &kernels[(i - 1) / 2];
        subjects[i].is_in_place = i > 0 && i % 2 == 0;
        bench_series_init(&subjects[i].series, bench->options);
        status = check(&subjects[i], buffers);
    }
    while (!status && measure_in_turns(subjects, buffers))
        continue;
    for (int i = 0; i < NUM_SUBJECTS && !status; i++)
        status = add(bench, &subjects[i], &subjects[0].series, buffers->bytes);
    return status;
}

cohort_status bench_kernels(const struct bench *bench)
{
    /* A page apart, so that the three are at different places in the caches. */
    size_t largest = sizes[sizeof(sizes) / sizeof(sizes[0]) - 1] + PAGE_BYTES;
    unsigned char *memory = aligned_alloc(PAGE_BYTES, 3 * largest);
    if (!memory)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for three blocks of %zu bytes",
                           largest);
    cohort_status status = COHORT_OK;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !status; i++) {
        size_t stride = sizes[i] + PAGE_BYTES;
        status = measure(bench,
                         &(struct buffers){memory, memory + stride, memory + 2 * stride, sizes[i]});
    }
    free(memory);
    return status;
}
