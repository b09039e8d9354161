/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/op.h"

#include <string.h>

#include "collectives/exec/kernels.h"
#include "runtime/base/hash.h"
#include "runtime/base/misuse.h"
#include "runtime/base/options.h"
#include "runtime/base/slab.h"
#include "runtime/task/fork.h"

#define BUILT_IN(NAME, name_)                                                                      \
    [COHORT__KERNEL_##NAME] = {.number = COHORT__KERNEL_##NAME, .commutative = true, .name = name_}

static const cohort_op built_in[COHORT__KERNEL_END] = {
    BUILT_IN(SUM, "sum"),
    BUILT_IN(PRODUCT, "product"),
    BUILT_IN(MIN, "min"),
    BUILT_IN(MAX, "max"),
    BUILT_IN(LOGICAL_AND, "logical and"),
    BUILT_IN(LOGICAL_OR, "logical or"),
    BUILT_IN(LOGICAL_XOR, "logical xor"),
    BUILT_IN(BITWISE_AND, "bitwise and"),
    BUILT_IN(BITWISE_OR, "bitwise or"),
    BUILT_IN(BITWISE_XOR, "bitwise xor"),
    BUILT_IN(MINLOC, "minloc"),
    BUILT_IN(MAXLOC, "maxloc"),
};

const cohort_op *const COHORT_SUM = &built_in[COHORT__KERNEL_SUM];
const cohort_op *const COHORT_PRODUCT = &built_in[COHORT__KERNEL_PRODUCT];
const cohort_op *const COHORT_MIN = &built_in[COHORT__KERNEL_MIN];
const cohort_op *const COHORT_MAX = &built_in[COHORT__KERNEL_MAX];
const cohort_op *const COHORT_LOGICAL_AND = &built_in[COHORT__KERNEL_LOGICAL_AND];
const cohort_op *const COHORT_LOGICAL_OR = &built_in[COHORT__KERNEL_LOGICAL_OR];
const cohort_op *const COHORT_LOGICAL_XOR = &built_in[COHORT__KERNEL_LOGICAL_XOR];
const cohort_op *const COHORT_BITWISE_AND = &built_in[COHORT__KERNEL_BITWISE_AND];
const cohort_op *const COHORT_BITWISE_OR = &built_in[COHORT__KERNEL_BITWISE_OR];
const cohort_op *const COHORT_BITWISE_XOR = &built_in[COHORT__KERNEL_BITWISE_XOR];
const cohort_op *const COHORT_MINLOC = &built_in[COHORT__KERNEL_MINLOC];
const cohort_op *const COHORT_MAXLOC = &built_in[COHORT__KERNEL_MAXLOC];

bool cohort__op_is_builtin(const cohort_op *op)
{
    return op->number != 0;
}

const char *cohort__op_name(uint32_t number)
{
    return number > 0 && number < COHORT__KERNEL_END ? built_in[number].name : "no operation";
}

static cohort_status create(cohort_op **ret_op, const struct cohort_op_options *options)
{
    if (!ret_op || !options->function || !options->name || !options->name[0])
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_op_create: no %s",
                           !ret_op              ? "place for the result"
                           : !options->function ? "function"
                                                : "name");
    if (strlen(options->name) >= sizeof((*ret_op)->name))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "cohort_op_create: the name \"%.32s...\" is longer than %zu bytes",
                           options->name, sizeof((*ret_op)->name) - 1);
    cohort_op *op = cohort__slab_alloc_zero(sizeof(*op));
    if (!op)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_op_create: no memory for \"%s\"",
                           options->name);
    atomic_init(&op->refs, 1);
    op->function = options->function;
    op->arg = options->arg;
    op->commutative = options->commutative;
    op->hash = cohort__hash_mix(cohort__hash_bytes(options->name, strlen(options->name)),
                                options->commutative);
    memcpy(op->name, options->name, strlen(options->name) + 1);
    *ret_op = op;
    return COHORT_OK;
}

cohort_status cohort_op_create_sized(cohort_op **ret_op, const struct cohort_op_options *options,
                                     size_t options_bytes)
{
    struct cohort_op_options read;
    cohort_status status = cohort__options_read(&read, sizeof(read), options, options_bytes,
                                                "cohort_op_create: cohort_op_options");
    return status ? status : create(ret_op, &read);
}

void cohort__op_ref(const cohort_op *op)
{
    if (op && !cohort__op_is_builtin(op))
        atomic_fetch_add_explicit(&((cohort_op *)op)->refs, 1, memory_order_relaxed);
}

void cohort__op_unref(const cohort_op *op)
{
    cohort_op *own = (cohort_op *)op;
    if (op && !cohort__op_is_builtin(op) &&
        atomic_fetch_sub_explicit(&own->refs, 1, memory_order_acq_rel) == 1)
        cohort__slab_free(own);
}

void cohort_op_unref(cohort_op *op)
{
    if (op && !cohort__op_is_builtin(op))
        cohort__misuse_check(&op->refs, "operation", op, COHORT__MISUSE_UNREF, "cohort_op_unref");
    cohort__op_unref(op);
}

cohort_status cohort__op_check(const cohort_op *op, cohort_datatype datatype, const char *function)
{
    if (!op)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "no operation");
    if (!cohort__op_is_builtin(op) && cohort__is_gone(&op->refs))
        cohort__misuse_of("operation", op, "", COHORT__MISUSE_UNREF, function, NULL);
    if (cohort__op_is_builtin(op) &&
        !cohort__kernel_find((enum cohort__kernel)op->number, datatype))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s can't reduce elements of type %s",
                           op->name, cohort_datatype_name(datatype));
    return COHORT_OK;
}

/* A child that it forks does not go on as the worker that it looks like. */
static cohort_status apply_users(const cohort_op *op, void *result, const void *left,
                                 const void *right, size_t count, cohort_datatype datatype)
{
    cohort_status status = op->function(result, left, right, count, datatype, op->arg);
    if (cohort__fork_is_child())
        cohort__fork_end(status);
    return status;
}

cohort_status cohort__op_apply(const cohort_op *op, void *result, const void *left,
                               const void *right, size_t count, cohort_datatype datatype)
{
    if (!cohort__op_is_builtin(op))
        return apply_users(op, result, left, right, count, datatype);
    cohort__kernel_apply((enum cohort__kernel)op->number, datatype, result, left, right, count);
    return COHORT_OK;
}
