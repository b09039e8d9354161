/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/op.h"

#include <stdio.h>
#include <string.h>

#include "collectives/exec/kernels.h"
#include "tests/support/test.h"

TEST(built_in)
{
    const struct {
        const cohort_op *op;
        const char *name;
        int64_t result; /* of 6 and 3, or of 6 at 0 and 3 at 1 */
    } rows[] = {
        {COHORT_SUM, "sum", 9},
        {COHORT_PRODUCT, "product", 18},
        {COHORT_MIN, "min", 3},
        {COHORT_MAX, "max", 6},
        {COHORT_LOGICAL_AND, "logical and", 1},
        {COHORT_LOGICAL_OR, "logical or", 1},
        {COHORT_LOGICAL_XOR, "logical xor", 0},
        {COHORT_BITWISE_AND, "bitwise and", 2},
        {COHORT_BITWISE_OR, "bitwise or", 7},
        {COHORT_BITWISE_XOR, "bitwise xor", 5},
        {COHORT_MINLOC, "minloc", 3},
        {COHORT_MAXLOC, "maxloc", 6},
    };
    CHECK_INT(NUM_OF(rows), COHORT__KERNEL_END - 1);
    for (uint32_t i = 0; i < NUM_OF(rows); i++) {
        const cohort_op *op = rows[i].op;
        CHECK_INT(op->number, i + 1);
        CHECK(cohort__op_is_builtin(op) && op->commutative);
        CHECK_TEXT(op->name, rows[i].name);
        CHECK_TEXT(cohort__op_name(i + 1), rows[i].name);
        cohort_int64_indexed left = {6, 0}, right = {3, 1}, result = {-1, -1};
        bool is_location = op == COHORT_MINLOC || op == COHORT_MAXLOC;
        CHECK_OK(cohort__op_apply(op, &result, &left, &right, 1,
                                  is_location ? COHORT_INT64_INDEXED : COHORT_INT64));
        CHECK_INT(result.value, rows[i].result);
        cohort__op_ref(op); /* the operations are constants: nothing happens */
        cohort__op_unref(op);
        cohort__op_unref(op);
        cohort_op_unref((cohort_op *)op);
    }
    CHECK_TEXT(cohort__op_name(0), "no operation");
    CHECK_TEXT(cohort__op_name(COHORT__KERNEL_END), "no operation");
    CHECK_TEXT(cohort__op_name(UINT32_MAX), "no operation");
}

TEST(check)
{
    CHECK_OK(cohort__op_check(COHORT_SUM, COHORT_DOUBLE, "cohort_reduce"));
    CHECK_OK(cohort__op_check(COHORT_BITWISE_XOR, COHORT_BYTE, "cohort_reduce"));
    CHECK_FAILS(cohort__op_check(NULL, COHORT_DOUBLE, "cohort_reduce"), COHORT_ERR_BAD_PARAMETER,
                "no operation");
    CHECK_FAILS(cohort__op_check(COHORT_BITWISE_OR, COHORT_FLOAT, "cohort_reduce"),
                COHORT_ERR_BAD_PARAMETER, "bitwise or can't reduce elements of type float");
    CHECK_OK(cohort__op_check(COHORT_PRODUCT, COHORT_DOUBLE_COMPLEX, "cohort_reduce"));
    CHECK_FAILS(cohort__op_check(COHORT_MIN, COHORT_DOUBLE_COMPLEX, "cohort_reduce"),
                COHORT_ERR_BAD_PARAMETER, "min can't reduce elements of type double complex");
    CHECK_FAILS(cohort__op_check(COHORT_MINLOC, COHORT_DOUBLE, "cohort_reduce"),
                COHORT_ERR_BAD_PARAMETER, "minloc can't reduce elements of type double");
    CHECK_FAILS(cohort__op_check(COHORT_SUM, COHORT_DOUBLE_INDEXED, "cohort_reduce"),
                COHORT_ERR_BAD_PARAMETER, "sum can't reduce elements of type indexed double");
    CHECK_INT(cohort__op_check(COHORT_SUM, COHORT_BYTE, "cohort_reduce"), COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(cohort__op_check(COHORT_SUM, cohort_datatype_of_bytes(8), "cohort_reduce"),
                COHORT_ERR_BAD_PARAMETER, "sum can't reduce elements of type user type");
}

/* The arguments of the last call of the user's function. */
struct seen {
    void *result;
    const void *left, *right;
    size_t count;
    cohort_datatype datatype;
    int num;
};

static cohort_status look(void *result, const void *left, const void *right, size_t count,
                          cohort_datatype datatype, void *arg)
{
    struct seen *seen = arg;
    *seen = (struct seen){result, left, right, count, datatype, seen->num + 1};
    return count == 13 ? cohort_fail(COHORT_ERR_FAILED, "not 13") : COHORT_OK;
}

TEST(users)
{
    struct seen seen = {0};
    cohort_op *op = NULL;
    char name[16] = "look";
    const struct cohort_op_options options = {
        .name = name, .function = look, .arg = &seen, .commutative = false};
    CHECK_OK(cohort_op_create(&op, &options));
    strcpy(name, "gone"); /* the operation has its own copy of the name */
    CHECK_TEXT(op->name, "look");
    CHECK(!cohort__op_is_builtin(op) && !op->commutative);
    CHECK_INT(op->number, 0);
    cohort_datatype type = cohort_datatype_of_bytes(24);
    CHECK_OK(cohort__op_check(op, type, "cohort_reduce"));
    CHECK_OK(cohort__op_check(op, COHORT_FLOAT, "cohort_reduce"));
    char a[1], b[1], c[1];
    CHECK_OK(cohort__op_apply(op, a, b, c, 5, type));
    CHECK(seen.result == a && seen.left == b && seen.right == c);
    CHECK(seen.count == 5 && seen.datatype == type && seen.num == 1);
    CHECK_INT(cohort__op_apply(op, a, b, c, 13, type), COHORT_ERR_FAILED);
    CHECK_TEXT(cohort_error_message(), "not 13");
    cohort__op_ref(op);
    cohort_op_unref(op); /* the other reference keeps the operation */
    CHECK_TEXT(op->name, "look");
    cohort__op_unref(op);
    cohort_op_unref(NULL);
    cohort__op_ref(NULL);
    cohort__op_unref(NULL);
}

static uint64_t hash_of(const char *name, bool commutative)
{
    cohort_op *op = NULL;
    CHECK_OK(cohort_op_create(
        &op,
        &(struct cohort_op_options){.name = name, .function = look, .commutative = commutative}));
    uint64_t hash = op->hash;
    cohort_op_unref(op);
    return hash;
}

/* The hash, by which sites compare their operations, depends only on name and commutativity. */
TEST(hash)
{
    CHECK(hash_of("one", true) == hash_of("one", true));
    CHECK(hash_of("one", true) != hash_of("two", true));
    CHECK(hash_of("one", true) != hash_of("one", false));
}

static void check_refused(const struct cohort_op_options *options, const char *why)
{
    cohort_op *op = NULL;
    CHECK_FAILS(cohort_op_create(&op, options), COHORT_ERR_BAD_PARAMETER, why);
    CHECK(op == NULL);
}

TEST(create)
{
    char name[65];
    memset(name, 'n', 64);
    name[64] = 0;
    CHECK_INT(cohort_op_create(NULL, &(struct cohort_op_options){.name = "x", .function = look}),
              COHORT_ERR_BAD_PARAMETER);
    check_refused(NULL, "no options");
    check_refused(&(struct cohort_op_options){.name = "x"}, "no function");
    check_refused(&(struct cohort_op_options){.function = look}, "no name");
    check_refused(&(struct cohort_op_options){.name = "", .function = look}, "no name");
    check_refused(&(struct cohort_op_options){.name = name, .function = look}, "longer than 63");
    name[63] = 0;
    cohort_op *op = NULL;
    CHECK_OK(cohort_op_create(&op, &(struct cohort_op_options){.name = name, .function = look}));
    CHECK_TEXT(op->name, name);
    cohort_op_unref(op);
}
