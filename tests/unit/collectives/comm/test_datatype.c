/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/datatype.h"

#include <stdint.h>

#include "tests/support/test.h"

TEST(built_in)
{
    static const struct {
        cohort_datatype datatype;
        size_t bytes;
        const char *name;
    } rows[] = {
        {COHORT_BYTE, 1, "byte"},
        {COHORT_INT8, 1, "int8"},
        {COHORT_INT16, 2, "int16"},
        {COHORT_INT32, 4, "int32"},
        {COHORT_INT64, 8, "int64"},
        {COHORT_UINT8, 1, "uint8"},
        {COHORT_UINT16, 2, "uint16"},
        {COHORT_UINT32, 4, "uint32"},
        {COHORT_UINT64, 8, "uint64"},
        {COHORT_FLOAT, 4, "float"},
        {COHORT_DOUBLE, 8, "double"},
        {COHORT_FLOAT_COMPLEX, 8, "float complex"},
        {COHORT_DOUBLE_COMPLEX, 16, "double complex"},
        {COHORT_INT32_INDEXED, 8, "indexed int32"},
        {COHORT_INT64_INDEXED, 16, "indexed int64"},
        {COHORT_FLOAT_INDEXED, 8, "indexed float"},
        {COHORT_DOUBLE_INDEXED, 16, "indexed double"},
    };
    for (size_t i = 0; i < NUM_OF(rows); i++) {
        /* The numbers are sent between processes. */
        CHECK(rows[i].datatype == UINT64_C(0x7479706500000001) + i);
        CHECK_INT(cohort_datatype_size(rows[i].datatype), rows[i].bytes);
        CHECK_TEXT(cohort_datatype_name(rows[i].datatype), rows[i].name);
    }
}

TEST(users)
{
    static const size_t sizes[] = {1, 2, 3, 8, 24, 4096, ((size_t)1 << 48) - 1};
    for (size_t i = 0; i < NUM_OF(sizes); i++) {
        cohort_datatype datatype = cohort_datatype_of_bytes(sizes[i]);
        CHECK(datatype > COHORT_DOUBLE_INDEXED);
        CHECK(cohort_datatype_size(datatype) == sizes[i]);
        CHECK(cohort_datatype_of_bytes(sizes[i]) == datatype);
        CHECK_TEXT(cohort_datatype_name(datatype), "user type");
    }
}

TEST(none)
{
    const cohort_datatype none[] = {
        0,
        1,
        sizeof(double),
        sizeof(double _Complex),
        COHORT_BYTE - 1,
        COHORT_DOUBLE_INDEXED + 1,
        999,
        UINT64_C(1) << 62,
        UINT64_C(1) << 63, /* a user's type, of no bytes */
        UINT64_C(1) << 63 | UINT64_C(1) << 48,
        UINT64_MAX,
        cohort_datatype_of_bytes(0),
        cohort_datatype_of_bytes((size_t)1 << 48),
        cohort_datatype_of_bytes(SIZE_MAX),
    };
    for (size_t i = 0; i < NUM_OF(none); i++) {
        CHECK_INT(cohort_datatype_size(none[i]), 0);
        CHECK_TEXT(cohort_datatype_name(none[i]), "no datatype");
    }
}
