/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/kernels.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

/* Every reduction on every type, in every variant that this machine can run. The reference is a
 * loop that reduces one element after the other in the widest type. Addresses are aligned and
 * unaligned, and the result may replace an operand. */

enum { COUNT_MAX = 67, MARGIN = 16 };

static const struct {
    cohort_datatype datatype;
    size_t bytes;
    bool is_signed;
    bool is_floating;
    bool is_complex; /* two floating-point parts */
    bool is_indexed; /* a value and an index */
} types[] = {
    {COHORT_BYTE, 1, false, false, false, false},
    {COHORT_INT8, 1, true, false, false, false},
    {COHORT_INT16, 2, true, false, false, false},
    {COHORT_INT32, 4, true, false, false, false},
    {COHORT_INT64, 8, true, false, false, false},
    {COHORT_UINT8, 1, false, false, false, false},
    {COHORT_UINT16, 2, false, false, false, false},
    {COHORT_UINT32, 4, false, false, false, false},
    {COHORT_UINT64, 8, false, false, false, false},
    {COHORT_FLOAT, 4, true, true, false, false},
    {COHORT_DOUBLE, 8, true, true, false, false},
    {COHORT_FLOAT_COMPLEX, 8, true, true, true, false},
    {COHORT_DOUBLE_COMPLEX, 16, true, true, true, false},
    {COHORT_INT32_INDEXED, 8, true, false, false, true},
    {COHORT_INT64_INDEXED, 16, true, false, false, true},
    {COHORT_FLOAT_INDEXED, 8, true, true, false, true},
    {COHORT_DOUBLE_INDEXED, 16, true, true, false, true},
};
enum { NUM_TYPES = NUM_OF(types) };

static bool is_bitwise(enum cohort__kernel kernel)
{
    return kernel >= COHORT__KERNEL_BITWISE_AND && kernel <= COHORT__KERNEL_BITWISE_XOR;
}

static bool is_location(enum cohort__kernel kernel)
{
    return kernel == COHORT__KERNEL_MINLOC || kernel == COHORT__KERNEL_MAXLOC;
}

static bool is_allowed(enum cohort__kernel kernel, int type)
{
    if (types[type].is_indexed || is_location(kernel))
        return types[type].is_indexed && is_location(kernel);
    if (types[type].is_complex)
        return kernel == COHORT__KERNEL_SUM || kernel == COHORT__KERNEL_PRODUCT;
    return is_bitwise(kernel) ? !types[type].is_floating : types[type].datatype != COHORT_BYTE;
}

TEST(table)
{
    for (int type = 0; type < NUM_TYPES; type++)
        for (int kernel = COHORT__KERNEL_SUM; kernel < COHORT__KERNEL_END; kernel++)
            CHECK_INT(cohort__kernel_find((enum cohort__kernel)kernel, types[type].datatype) !=
                          NULL,
                      is_allowed((enum cohort__kernel)kernel, type));
    CHECK(!cohort__kernel_find((enum cohort__kernel)0, COHORT_INT32));
    CHECK(!cohort__kernel_find(COHORT__KERNEL_END, COHORT_INT32));
    CHECK(!cohort__kernel_find(COHORT__KERNEL_SUM, 0));
    CHECK(!cohort__kernel_find(COHORT__KERNEL_SUM, COHORT_DOUBLE_INDEXED + 1));
    CHECK(!cohort__kernel_find(COHORT__KERNEL_SUM, cohort_datatype_of_bytes(8)));
    CHECK(!cohort__kernel_find(COHORT__KERNEL_BITWISE_AND, cohort_datatype_of_bytes(1)));
}

static size_t num_parts(int type)
{
    return types[type].is_complex || types[type].is_indexed ? 2 : 1;
}

/* The number itself, or each of the two that an element has. */
static size_t part_bytes(int type)
{
    return types[type].bytes / num_parts(type);
}

/* Loads one number, sign-extended if the type is signed. */
static uint64_t load_integer(const unsigned char *at, int type)
{
    uint64_t value = 0;
    memcpy(&value, at, part_bytes(type)); /* little-endian, as everywhere in this project */
    unsigned unused = 64 - 8 * (unsigned)part_bytes(type);
    value <<= unused;
    return types[type].is_signed ? (uint64_t)((int64_t)value >> unused) : value >> unused;
}

static bool less(uint64_t left, uint64_t right, int type)
{
    return types[type].is_signed ? (int64_t)left < (int64_t)right : left < right;
}

static uint64_t reduce_integer(enum cohort__kernel kernel, uint64_t left, uint64_t right, int type)
{
    switch (kernel) {
    case COHORT__KERNEL_SUM:
        return left + right;
    case COHORT__KERNEL_PRODUCT:
        return left * right;
    case COHORT__KERNEL_MIN:
        return less(right, left, type) ? right : left;
    case COHORT__KERNEL_MAX:
        return less(left, right, type) ? right : left;
    case COHORT__KERNEL_LOGICAL_AND:
        return left && right;
    case COHORT__KERNEL_LOGICAL_OR:
        return left || right;
    case COHORT__KERNEL_LOGICAL_XOR:
        return !left != !right;
    case COHORT__KERNEL_BITWISE_AND:
        return left & right;
    case COHORT__KERNEL_BITWISE_OR:
        return left | right;
    default:
        return left ^ right;
    }
}

static double load_floating(const unsigned char *at, int type)
{
    float narrow;
    double wide;
    memcpy(&narrow, at, sizeof(narrow));
    if (part_bytes(type) == sizeof(float))
        return (double)narrow;
    memcpy(&wide, at, sizeof(wide));
    return wide;
}

/* -0.0 is below 0.0. */
static bool is_below(double left, double right)
{
    return left < right || (left == right && signbit(left) && !signbit(right));
}

static double reduce_floating(enum cohort__kernel kernel, double left, double right)
{
    switch (kernel) {
    case COHORT__KERNEL_SUM:
        return left + right;
    case COHORT__KERNEL_PRODUCT:
        return left * right;
    case COHORT__KERNEL_MIN:
        return isunordered(left, right) ? (double)NAN : is_below(right, left) ? right : left;
    case COHORT__KERNEL_MAX:
        return isunordered(left, right) ? (double)NAN : is_below(left, right) ? right : left;
    case COHORT__KERNEL_LOGICAL_AND:
        return left != 0 && right != 0;
    case COHORT__KERNEL_LOGICAL_OR:
        return left != 0 || right != 0;
    default:
        return (left != 0) != (right != 0);
    }
}

static void store_floating(unsigned char *to, int type, double wide)
{
    float narrow = (float)wide;
    if (part_bytes(type) == sizeof(float))
        memcpy(to, &narrow, sizeof(narrow));
    else
        memcpy(to, &wide, sizeof(wide));
}

static double complex load_complex(const unsigned char *at, int type)
{
    return load_floating(at, type) + load_floating(at + part_bytes(type), type) * I;
}

static int compare(double left, double right)
{
    return is_below(right, left) - is_below(left, right);
}

/* How the value at LEFT stands to that at RIGHT: lower (-1), equal or higher. The values of the
 * test are all doubles. */
static int compare_values(enum cohort__kernel kernel, int type, const unsigned char *left,
                          const unsigned char *right)
{
    bool is_floating = types[type].is_floating;
    double a = is_floating ? load_floating(left, type) : (double)(int64_t)load_integer(left, type);
    double b =
        is_floating ? load_floating(right, type) : (double)(int64_t)load_integer(right, type);
    if (isnan(a) || isnan(b))
        return !isnan(a) - !isnan(b);
    return kernel == COHORT__KERNEL_MINLOC ? compare(a, b) : compare(b, a);
}

/* The first one of two indexed values. */
static const unsigned char *first_of(enum cohort__kernel kernel, int type,
                                     const unsigned char *left, const unsigned char *right)
{
    int order = compare_values(kernel, type, left, right);
    int64_t index = (int64_t)load_integer(left + part_bytes(type), type);
    int64_t other = (int64_t)load_integer(right + part_bytes(type), type);
    if (order == 0)
        order = (index > other) - (index < other);
    for (size_t i = part_bytes(type); order == 0 && i-- > 0;) /* the highest byte is the last one */
        order = left[i] - right[i];
    return order <= 0 ? left : right;
}

/* Computes one element of the result. */
static void reduce_one(enum cohort__kernel kernel, int type, unsigned char *to,
                       const unsigned char *left, const unsigned char *right)
{
    if (types[type].is_indexed) {
        memmove(to, first_of(kernel, type, left, right), types[type].bytes);
        return;
    }
    if (types[type].is_complex) {
        double complex a = load_complex(left, type), b = load_complex(right, type);
        double complex result = kernel == COHORT__KERNEL_SUM ? a + b : a * b;
        store_floating(to, type, creal(result));
        store_floating(to + part_bytes(type), type, cimag(result));
    } else if (types[type].is_floating) {
        store_floating(
            to, type,
            reduce_floating(kernel, load_floating(left, type), load_floating(right, type)));
    } else {
        uint64_t result =
            reduce_integer(kernel, load_integer(left, type), load_integer(right, type), type);
        memcpy(to, &result, types[type].bytes);
    }
}

static bool is_extreme(enum cohort__kernel kernel)
{
    return kernel == COHORT__KERNEL_MIN || kernel == COHORT__KERNEL_MAX;
}

/* Few values, so that many are equal: numbers, zeros of both signs, two NaNs. Few indices. */
static void fill_indexed(unsigned char *at, size_t count, int type, struct cohort__random *random)
{
    static const double values[] = {-3, 2, 0.0, -0.0, (double)NAN, -(double)NAN};
    for (size_t i = 0; i < count; i++, at += types[type].bytes) {
        uint64_t which = cohort__random_below(random, 6);
        int64_t integer = (int64_t)which - 3, index = (int64_t)cohort__random_below(random, 4) - 2;
        if (types[type].is_floating)
            store_floating(at, type, values[which]);
        else
            memcpy(at, &integer, part_bytes(type));
        memcpy(at + part_bytes(type), &index, part_bytes(type));
    }
}

/* Integers get any bits, among them zeros and both ends of the range. Floating-point numbers are
 * small multiples of a quarter, so that double and float both compute exactly. For KERNELs that
 * compare, half of them are special. */
static void fill(enum cohort__kernel kernel, unsigned char *at, size_t count, int type,
                 struct cohort__random *random)
{
    size_t bytes = part_bytes(type);
    if (types[type].is_indexed) {
        fill_indexed(at, count, type, random);
        return;
    }
    for (size_t i = 0; i < count * num_parts(type); i++, at += bytes) {
        uint64_t bits = cohort__random_next(random);
        double wide = (double)cohort__random_below(random, 64) / 4 - 8;
        static const double special[] = {
            0.0, -0.0, (double)NAN, -(double)NAN, (double)INFINITY, -(double)INFINITY};
        if (is_extreme(kernel) && cohort__random_below(random, 2) == 0)
            wide = special[cohort__random_below(random, 6)];
        float narrow = (float)wide;
        uint64_t chance = cohort__random_below(random, 8);
        if (chance == 0)
            bits = 0;
        else if (chance == 1)
            bits = UINT64_MAX;
        else if (chance == 2)
            bits = UINT64_C(1) << (8 * bytes - 1); /* the lowest number */
        else if (chance == 3)
            bits = (UINT64_C(1) << (8 * bytes - 1)) - 1;
        memcpy(at,
               !types[type].is_floating  ? (const void *)&bits
               : bytes == sizeof(double) ? (const void *)&wide
                                         : (const void *)&narrow,
               bytes);
    }
}

enum place { APART, ON_LEFT, ON_RIGHT, ON_BOTH, NUM_PLACES };

/* What is tested: a kernel of a variant, called directly or streamed. */
struct subject {
    struct cohort__kernel_variant variant;
    enum cohort__kernel kernel;
    int type;
    bool is_streamed;
};

static void apply(const struct subject *subject, void *to, const void *left, const void *right,
                  size_t count)
{
    const struct cohort__kernel_functions *functions =
        cohort__kernel_find_in(&subject->variant, subject->kernel, types[subject->type].datatype);
    (subject->is_streamed ? functions->streamed : functions->plain)(to, left, right, count);
}

/* Calls TEST for each existing kernel. */
static void for_each_kernel(void (*test)(struct subject *subject, struct cohort__random *random),
                            bool is_streamed)
{
    struct cohort__kernel_variant variants[COHORT__MAX_KERNEL_VARIANTS];
    size_t num_variants = cohort__kernel_variants(variants);
    struct cohort__random random = cohort__random_seeded(1);
    for (size_t i = 0; i < num_variants; i++)
        for (int kernel = COHORT__KERNEL_SUM; kernel < COHORT__KERNEL_END; kernel++)
            for (int type = 0; type < NUM_TYPES; type++)
                if (is_allowed((enum cohort__kernel)kernel, type))
                    test(&(struct subject){variants[i], (enum cohort__kernel)kernel, type,
                                           is_streamed},
                         &random);
}

static void check(const struct subject *subject, size_t count, size_t misaligned, enum place place,
                  struct cohort__random *random)
{
    enum { ROOM = COUNT_MAX * 16 + 2 * MARGIN };
    _Alignas(64) static unsigned char memory[3][ROOM];
    static unsigned char want[ROOM];
    int type = subject->type;
    size_t bytes = count * types[type].bytes;
    unsigned char *left = memory[0] + MARGIN + misaligned;
    unsigned char *right = place == ON_BOTH ? left : memory[1] + MARGIN + 3 * misaligned % 8;
    unsigned char *to = place == APART      ? memory[2] + MARGIN + 5 * misaligned % 8
                        : place == ON_RIGHT ? right
                                            : left;
    memset(memory, 0xa5, sizeof(memory));
    fill(subject->kernel, left, count, type, random);
    if (place != ON_BOTH)
        fill(subject->kernel, right, count, type, random);
    memcpy(want, to - MARGIN, bytes + 2 * MARGIN - 8); /* with the bytes around it */
    for (size_t i = 0; i < count; i++)
        reduce_one(subject->kernel, type, want + MARGIN + i * types[type].bytes,
                   left + i * types[type].bytes, right + i * types[type].bytes);
    apply(subject, to, left, right, count);
    if (memcmp(want, to - MARGIN, bytes + 2 * MARGIN - 8) != 0)
        FAIL("kernel %d of %s, %s, count %zu, misaligned by %zu, place %d", (int)subject->kernel,
             subject->variant.name, cohort_datatype_name(types[type].datatype), count, misaligned,
             (int)place);
}

static void check_against_naive(struct subject *subject, struct cohort__random *random)
{
    for (size_t count = 0; count <= COUNT_MAX; count++)
        for (size_t misaligned = 0; misaligned < 8; misaligned += misaligned < 2 ? 1 : 2)
            for (int place = APART; place < NUM_PLACES; place++)
                check(subject, count, misaligned, (enum place)place, random);
}

TEST_CALL(against_naive, for_each_kernel(check_against_naive, false))

/* Lengths around the streamed lines, at every place in a line. */
static void check_streamed(struct subject *subject, struct cohort__random *random)
{
    enum { BYTES = 512, ROOM = BYTES + 256 };
    _Alignas(64) static unsigned char memory[4][ROOM];
    size_t element = types[subject->type].bytes;
    fill(subject->kernel, memory[0], BYTES / element, subject->type, random);
    fill(subject->kernel, memory[1], BYTES / element, subject->type, random);
    for (size_t place = 0; place < 64; place++) {
        size_t bytes = cohort__random_below(random, BYTES + 1), count = bytes / element;
        memset(memory[2], 0xa5, sizeof(memory[2]));
        memset(memory[3], 0xa5, sizeof(memory[3]));
        apply(subject, memory[2] + 64 + place, memory[0], memory[1], count);
        struct subject plain = *subject;
        plain.is_streamed = false;
        apply(&plain, memory[3] + 64 + place, memory[0], memory[1], count);
        if (memcmp(memory[2], memory[3], ROOM) != 0)
            FAIL("kernel %d of %s, %s, count %zu, at %zu of a line", (int)subject->kernel,
                 subject->variant.name, cohort_datatype_name(types[subject->type].datatype), count,
                 place);
    }
}

TEST_CALL(streamed, for_each_kernel(check_streamed, true))

/* Any number, infinity, zeros of both signs, the smallest numbers, and one NaN. */
static double any_number(struct cohort__random *random)
{
    static const double rare[] = {INFINITY, -INFINITY, 0.0, -0.0, 5e-324, -1e-310, 1e308, 3e38};
    uint64_t chance = cohort__random_below(random, 32);
    if (chance < NUM_OF(rare))
        return rare[chance];
    return ldexp((double)cohort__random_next(random) - 0x1p63,
                 (int)cohort__random_below(random, 128) - 127);
}

/* The baseline and the variant in use give the same bits, for numbers that have to be rounded. */
static void check_bits(struct subject *subject, struct cohort__random *random)
{
    enum { COUNT = 1000 };
    static double wide[4][COUNT];
    static float narrow[4][COUNT];
    bool is_wide = part_bytes(subject->type) == sizeof(double);
    size_t parts = num_parts(subject->type);
    if (!types[subject->type].is_floating)
        return;
    for (int i = 0; i < COUNT; i++)
        for (int side = 0; side < 2; side++) {
            wide[side][i] = i == 500 + side ? (double)NAN : any_number(random);
            narrow[side][i] = (float)wide[side][i];
        }
    struct subject baseline = *subject;
    baseline.variant = (struct cohort__kernel_variant){"baseline", cohort__kernels_baseline};
    if (is_wide) {
        apply(subject, wide[2], wide[0], wide[1], COUNT / parts);
        for (size_t i = 0; i < COUNT; i += parts) /* one by one, so that nothing is vectorised */
            apply(&baseline, &wide[3][i], &wide[0][i], &wide[1][i], 1);
    } else {
        apply(subject, narrow[2], narrow[0], narrow[1], COUNT / parts);
        for (size_t i = 0; i < COUNT; i += parts)
            apply(&baseline, &narrow[3][i], &narrow[0][i], &narrow[1][i], 1);
    }
    if (memcmp(wide[2], wide[3], sizeof(wide[2])) ||
        memcmp(narrow[2], narrow[3], sizeof(narrow[2])))
        FAIL("kernel %d of %s, %s: not the baseline's bits", (int)subject->kernel,
             subject->variant.name, cohort_datatype_name(types[subject->type].datatype));
}

TEST_CALL(bits, for_each_kernel(check_bits, false))

/* The variant in use is the last one. */
TEST(variants)
{
    struct cohort__kernel_variant variants[COHORT__MAX_KERNEL_VARIANTS];
    size_t num = cohort__kernel_variants(variants);
    CHECK(num >= 1 && num <= COHORT__MAX_KERNEL_VARIANTS);
    CHECK_TEXT(variants[0].name, "baseline");
    for (size_t i = 0; i < num; i++)
        printf("variant %s\n", variants[i].name);
    for (int kernel = 0; kernel <= COHORT__KERNEL_END; kernel++)
        for (cohort_datatype datatype = COHORT_BYTE - 1; datatype <= COHORT_DOUBLE_INDEXED + 1;
             datatype++)
            CHECK(
                cohort__kernel_find((enum cohort__kernel)kernel, datatype) ==
                cohort__kernel_find_in(&variants[num - 1], (enum cohort__kernel)kernel, datatype));
}

/* A result that is larger than the caches, in a buffer of its own and in place. Only a few elements
 * are checked. */
TEST(large)
{
    enum { COUNT = 2 * 1024 * 1024 + 3 };
    double *memory = test_malloc((size_t)2 * COUNT * sizeof(*memory));
    double *left = memory, *result = memory + COUNT;
    for (size_t i = 0; i < COUNT; i++)
        left[i] = (double)i;
    cohort__kernel_apply(COHORT__KERNEL_SUM, COHORT_DOUBLE, result, left, left, COUNT);
    for (size_t i = 0; i < COUNT; i += i < 100 || i > COUNT - 100 ? 1 : 97)
        CHECK(result[i] == 2 * (double)i);
    cohort__kernel_apply(COHORT__KERNEL_SUM, COHORT_DOUBLE, result, left, result, COUNT);
    for (size_t i = 0; i < COUNT; i += i < 100 || i > COUNT - 100 ? 1 : 97)
        CHECK(result[i] == 3 * (double)i);
    free(memory);
}

/* Integers wrap around without undefined behaviour, which the sanitizer checks. */
TEST(wraps)
{
    int32_t big = INT32_MAX, one = 1, low = INT32_MIN, result;
    cohort__kernel_find(COHORT__KERNEL_SUM, COHORT_INT32)->plain(&result, &big, &one, 1);
    CHECK_INT(result, INT32_MIN);
    cohort__kernel_find(COHORT__KERNEL_PRODUCT, COHORT_INT32)->plain(&result, &low, &low, 1);
    CHECK_INT(result, 0);
    int64_t wide = INT64_MIN, minus = -1, wide_result;
    cohort__kernel_find(COHORT__KERNEL_PRODUCT, COHORT_INT64)
        ->plain(&wide_result, &wide, &minus, 1);
    CHECK(wide_result == INT64_MIN);
    /* C would compute uint16 * uint16 as int, which may overflow. */
    uint16_t most = UINT16_MAX, short_result;
    cohort__kernel_find(COHORT__KERNEL_PRODUCT, COHORT_UINT16)
        ->plain(&short_result, &most, &most, 1);
    CHECK_INT(short_result, 1);
    int8_t small = 127, small_result;
    cohort__kernel_find(COHORT__KERNEL_SUM, COHORT_INT8)->plain(&small_result, &small, &small, 1);
    CHECK_INT(small_result, -2);
}

/* (1 + 2i)(3 + 4i) = -5 + 10i; infinite parts as in the two formulas, without C's exceptions. */
TEST(complex)
{
    const float floats[] = {1, 2}, other_floats[] = {3, 4};
    const double doubles[] = {1, 2}, endless[] = {(double)INFINITY, 0};
    float narrow[2];
    double wide[2];
    cohort__kernel_find(COHORT__KERNEL_PRODUCT, COHORT_FLOAT_COMPLEX)
        ->plain(narrow, floats, other_floats, 1);
    CHECK(narrow[0] == -5 && narrow[1] == 10);
    cohort__kernel_find(COHORT__KERNEL_PRODUCT, COHORT_DOUBLE_COMPLEX)
        ->plain(wide, endless, doubles, 1);
    CHECK(wide[0] == (double)INFINITY && wide[1] == (double)INFINITY);
    cohort__kernel_find(COHORT__KERNEL_PRODUCT, COHORT_DOUBLE_COMPLEX)
        ->plain(wide, endless, endless, 1);
    CHECK(wide[0] == (double)INFINITY && isnan(wide[1]));
    CHECK_INT(sizeof(float complex), cohort_datatype_size(COHORT_FLOAT_COMPLEX));
    CHECK_INT(sizeof(double complex), cohort_datatype_size(COHORT_DOUBLE_COMPLEX));
}

/* Whatever the order and the grouping, the result has the same bits. */
static void check_any_order(struct subject *subject, struct cohort__random *random)
{
    enum { NUM = 6 };
    unsigned char elements[NUM * 16], forward[16], backward[16], halves[2][16];
    size_t bytes = types[subject->type].bytes;
    bool has_to = is_location(subject->kernel) || is_extreme(subject->kernel);
    for (int round = 0; round < 200 && has_to; round++) {
        fill(subject->kernel, elements, NUM, subject->type, random);
        memcpy(forward, elements, bytes);
        memcpy(backward, elements + (NUM - 1) * bytes, bytes);
        for (size_t i = 1; i < NUM; i++) {
            apply(subject, forward, forward, elements + i * bytes, 1);
            apply(subject, backward, backward, elements + (NUM - 1 - i) * bytes, 1);
        }
        for (size_t half = 0; half < 2; half++) {
            memcpy(halves[half], elements + half * bytes, bytes);
            for (size_t i = half + 2; i < NUM; i += 2)
                apply(subject, halves[half], halves[half], elements + i * bytes, 1);
        }
        apply(subject, halves[0], halves[1], halves[0], 1);
        CHECK(memcmp(forward, backward, bytes) == 0 && memcmp(forward, halves[0], bytes) == 0);
    }
}

TEST_CALL(any_order, for_each_kernel(check_any_order, false))

/* The layouts that datatype.h promises, and the rules of op.h by examples. */
TEST(locations)
{
    const cohort_double_indexed left[] = {{2, 7}, {5, 4}, {0.0, 9}, {(double)NAN, 6}, {1, 1}};
    const cohort_double_indexed right[] = {{3, 1}, {5, 3}, {-0.0, 8}, {-9, 0}, {(double)NAN, 2}};
    cohort_double_indexed low[5], high[5];
    cohort__kernel_find(COHORT__KERNEL_MINLOC, COHORT_DOUBLE_INDEXED)->plain(low, left, right, 5);
    cohort__kernel_find(COHORT__KERNEL_MAXLOC, COHORT_DOUBLE_INDEXED)->plain(high, left, right, 5);
    CHECK(low[0].value == 2 && low[0].index == 7 && high[0].value == 3 && high[0].index == 1);
    CHECK(low[1].index == 3 && high[1].index == 3);
    CHECK(low[2].index == 8 && signbit(low[2].value) && high[2].index == 9);
    CHECK(isnan(low[3].value) && low[3].index == 6 && isnan(high[3].value) && high[3].index == 6);
    CHECK(low[4].index == 2 && high[4].index == 2);
    CHECK_INT(sizeof(cohort_int32_indexed), 2 * sizeof(int32_t));
    CHECK_INT(sizeof(cohort_int64_indexed), 2 * sizeof(int64_t));
    CHECK_INT(sizeof(cohort_float_indexed), 2 * sizeof(float));
    CHECK_INT(sizeof(cohort_double_indexed), 2 * sizeof(double));
}

/* With count 0 no address is accessed. */
TEST(nothing)
{
    for (int kernel = COHORT__KERNEL_SUM; kernel < COHORT__KERNEL_END; kernel++)
        for (int type = 0; type < NUM_TYPES; type++)
            if (is_allowed((enum cohort__kernel)kernel, type))
                cohort__kernel_find((enum cohort__kernel)kernel, types[type].datatype)
                    ->plain(NULL, NULL, NULL, 0);
}
