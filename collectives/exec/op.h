/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_OP_H
#define COHORT_COLLECTIVES_EXEC_OP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cohort/op.h"

/* An operation that reduces. All but the count of references is fixed, so any thread may use it. */
struct cohort_op {
    cohort_op_function *function;
    _Atomic uint32_t refs; /* for a user's operation; 0 when it is gone, see base/misuse.h */
    uint32_t number;       /* from 1 for the built-in ones, 0 for a user's */
    void *arg;
    bool commutative;
    uint64_t hash; /* of the name and commutativity */
    char name[64];
};

/* These do nothing for the built-in operations. */
void cohort__op_ref(const cohort_op *op);
void cohort__op_unref(const cohort_op *op);

bool cohort__op_is_builtin(const cohort_op *op);

/* COHORT_ERR_BAD_PARAMETER, with a message, unless OP can reduce elements of DATATYPE. Ends the
 * program if FUNCTION, a public one, was given an OP that is gone. */
cohort_status cohort__op_check(const cohort_op *op, cohort_datatype datatype, const char *function);

/* The name of the built-in operation with NUMBER. */
const char *cohort__op_name(uint32_t number);

/* result[i] = left[i] op right[i], by the user's function or a kernel. */
cohort_status cohort__op_apply(const cohort_op *op, void *result, const void *left,
                               const void *right, size_t count, cohort_datatype datatype);

#endif
