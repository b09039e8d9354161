/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_DATATYPE_H
#define COHORT_COLLECTIVES_COMM_DATATYPE_H

#include "cohort/datatype.h"

/* The numbers of the built-in datatypes, for tables and for what is sent. */
#define COHORT__DATATYPE_NUMBER(datatype) ((datatype)-COHORT_DATATYPE_BUILT_IN(0))
enum { COHORT__NUM_DATATYPES = COHORT__DATATYPE_NUMBER(COHORT_DOUBLE_INDEXED) + 1 };

/* That of DATATYPE, from 1 on. 0: it is no built-in one. */
static inline uint32_t cohort__datatype_number(cohort_datatype datatype)
{
    cohort_datatype number = COHORT__DATATYPE_NUMBER(datatype);
    return number < COHORT__NUM_DATATYPES ? (uint32_t)number : 0;
}

#endif
