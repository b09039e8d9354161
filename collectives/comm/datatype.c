/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/datatype.h"

#include <stdbool.h>

/* A user's type is its size with the top bit set. */
#define USER_BIT (UINT64_C(1) << 63)
#define USER_BYTES_MAX ((UINT64_C(1) << 48) - 1)

static const struct {
    const char *name;
    size_t bytes;
} built_in[COHORT__NUM_DATATYPES] = {
    {"no datatype", 0},
    [COHORT__DATATYPE_NUMBER(COHORT_BYTE)] = {"byte", 1},
    [COHORT__DATATYPE_NUMBER(COHORT_INT8)] = {"int8", 1},
    [COHORT__DATATYPE_NUMBER(COHORT_INT16)] = {"int16", 2},
    [COHORT__DATATYPE_NUMBER(COHORT_INT32)] = {"int32", 4},
    [COHORT__DATATYPE_NUMBER(COHORT_INT64)] = {"int64", 8},
    [COHORT__DATATYPE_NUMBER(COHORT_UINT8)] = {"uint8", 1},
    [COHORT__DATATYPE_NUMBER(COHORT_UINT16)] = {"uint16", 2},
    [COHORT__DATATYPE_NUMBER(COHORT_UINT32)] = {"uint32", 4},
    [COHORT__DATATYPE_NUMBER(COHORT_UINT64)] = {"uint64", 8},
    [COHORT__DATATYPE_NUMBER(COHORT_FLOAT)] = {"float", sizeof(float)},
    [COHORT__DATATYPE_NUMBER(COHORT_DOUBLE)] = {"double", sizeof(double)},
    [COHORT__DATATYPE_NUMBER(COHORT_FLOAT_COMPLEX)] = {"float complex", 2 * sizeof(float)},
    [COHORT__DATATYPE_NUMBER(COHORT_DOUBLE_COMPLEX)] = {"double complex", 2 * sizeof(double)},
    [COHORT__DATATYPE_NUMBER(COHORT_INT32_INDEXED)] = {"indexed int32",
                                                       sizeof(cohort_int32_indexed)},
    [COHORT__DATATYPE_NUMBER(COHORT_INT64_INDEXED)] = {"indexed int64",
                                                       sizeof(cohort_int64_indexed)},
    [COHORT__DATATYPE_NUMBER(COHORT_FLOAT_INDEXED)] = {"indexed float",
                                                       sizeof(cohort_float_indexed)},
    [COHORT__DATATYPE_NUMBER(COHORT_DOUBLE_INDEXED)] = {"indexed double",
                                                        sizeof(cohort_double_indexed)},
};

static bool is_user(cohort_datatype datatype)
{
    uint64_t bytes = datatype & ~USER_BIT;
    return (datatype & USER_BIT) && bytes > 0 && bytes <= USER_BYTES_MAX;
}

cohort_datatype cohort_datatype_of_bytes(size_t bytes)
{
    return bytes > 0 && bytes <= USER_BYTES_MAX ? USER_BIT | bytes : 0;
}

size_t cohort_datatype_size(cohort_datatype datatype)
{
    return is_user(datatype) ? (size_t)(datatype & ~USER_BIT)
                             : built_in[cohort__datatype_number(datatype)].bytes;
}

const char *cohort_datatype_name(cohort_datatype datatype)
{
    return is_user(datatype) ? "user type" : built_in[cohort__datatype_number(datatype)].name;
}
