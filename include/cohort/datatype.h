/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_DATATYPE_H
#define COHORT_DATATYPE_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the elements of a buffer are. A handle is a plain number, the same in every process; nothing
 * is created or freed. No handle is a small number, so that a count or a size in place of one is
 * refused: cohort_datatype_of_bytes makes a handle of a size. */
typedef uint64_t cohort_datatype;

/* The built-in ones. They are macros because an enumeration constant is an int. */
#define COHORT_DATATYPE_BUILT_IN(number) ((cohort_datatype)(0x7479706500000000 + (number)))
#define COHORT_BYTE COHORT_DATATYPE_BUILT_IN(1) /* one byte; only bitwise reductions */
#define COHORT_INT8 COHORT_DATATYPE_BUILT_IN(2)
#define COHORT_INT16 COHORT_DATATYPE_BUILT_IN(3)
#define COHORT_INT32 COHORT_DATATYPE_BUILT_IN(4)
#define COHORT_INT64 COHORT_DATATYPE_BUILT_IN(5)
#define COHORT_UINT8 COHORT_DATATYPE_BUILT_IN(6)
#define COHORT_UINT16 COHORT_DATATYPE_BUILT_IN(7)
#define COHORT_UINT32 COHORT_DATATYPE_BUILT_IN(8)
#define COHORT_UINT64 COHORT_DATATYPE_BUILT_IN(9)
#define COHORT_FLOAT COHORT_DATATYPE_BUILT_IN(10)
#define COHORT_DOUBLE COHORT_DATATYPE_BUILT_IN(11)
/* Two floats or doubles, the real part first: C's float _Complex, C++'s std::complex<float>. Only
 * COHORT_SUM and COHORT_PRODUCT. */
#define COHORT_FLOAT_COMPLEX COHORT_DATATYPE_BUILT_IN(12)
#define COHORT_DOUBLE_COMPLEX COHORT_DATATYPE_BUILT_IN(13)

/* A value and the index that belongs to it, a site's number for instance: COHORT_MINLOC and
 * COHORT_MAXLOC find the extreme value and where it is. The index is as wide as the value, so there
 * are no bytes between elements. Only these two operations. */
#define COHORT_INT32_INDEXED COHORT_DATATYPE_BUILT_IN(14)
#define COHORT_INT64_INDEXED COHORT_DATATYPE_BUILT_IN(15)
#define COHORT_FLOAT_INDEXED COHORT_DATATYPE_BUILT_IN(16)
#define COHORT_DOUBLE_INDEXED COHORT_DATATYPE_BUILT_IN(17)

/* An element of COHORT_INT32_INDEXED. */
typedef struct cohort_int32_indexed {
    int32_t value;
    int32_t index;
} cohort_int32_indexed;

/* An element of COHORT_INT64_INDEXED. */
typedef struct cohort_int64_indexed {
    int64_t value;
    int64_t index;
} cohort_int64_indexed;

/* An element of COHORT_FLOAT_INDEXED. */
typedef struct cohort_float_indexed {
    float value;
    int32_t index;
} cohort_float_indexed;

/* An element of COHORT_DOUBLE_INDEXED. */
typedef struct cohort_double_indexed {
    double value;
    int64_t index;
} cohort_double_indexed;

/* A type for the user's own elements, of BYTES bytes each (1 to 2^48 - 1). They are moved as they
 * are, and reduced only by the user's own operations. Other sizes give a handle that every call
 * refuses. Any thread. */
COHORT_API cohort_datatype cohort_datatype_of_bytes(size_t bytes);

/* The size of one element in bytes; 0 for a number that is no datatype. Any thread. */
COHORT_API size_t cohort_datatype_size(cohort_datatype datatype);

/* "double", "int32" and so on, "user type" for the user's own, "no datatype" otherwise. The text is
 * static. Any thread. */
COHORT_API const char *cohort_datatype_name(cohort_datatype datatype);

#ifdef __cplusplus
}
#endif

#endif
