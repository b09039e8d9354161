/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <stddef.h>
#include <string.h>

#include "tests/support/program.h"
#include "tests/support/test.h"

/* Programs that were compiled with an older or a newer version of a header pass options of another
 * size. */

enum { LATER = 16 }; /* bytes of fields that a later version adds */

/* The library must not read what is behind a shorter struct. */
#define POISON 0xff

static struct {
    cohort_comm_options options;
    unsigned char later[LATER];
} comm_given;

static cohort_status create(size_t bytes, cohort_comm **ret_comm)
{
    cohort_status status =
        cohort_await(cohort_comm_create_sized(ret_comm, "sized", &comm_given.options, bytes));
    return status;
}

static void check_create(size_t bytes, cohort_status want)
{
    cohort_comm *comm = NULL;
    CHECK_INT(create(bytes, &comm), want);
    CHECK(!comm == !!want);
    if (comm)
        CHECK(cohort_comm_arity(comm) == 3 && cohort_comm_num_sites(comm) == 1);
    cohort_comm_unref(comm);
}

TEST(comm)
{
    memset(&comm_given, 0, sizeof(comm_given));
    comm_given.options = (cohort_comm_options){.num_sites = 1, .arity = 3};
    check_create(sizeof(comm_given.options), COHORT_OK);
    check_create(sizeof(comm_given.options) + LATER, COHORT_OK);
    comm_given.later[LATER - 1] = 1;
    check_create(sizeof(comm_given.options) + LATER - 1, COHORT_OK);
    check_create(sizeof(comm_given.options) + LATER, COHORT_ERR_BAD_PARAMETER);
    CHECK_CONTAINS(cohort_error_message(), "cohort_comm_create: cohort_comm_options: its byte ");
    /* The size up to arity. If the poisoned algorithms were read, the pointer would be invalid, and
     * so on. */
    size_t old = offsetof(cohort_comm_options, flat_fallback_threshold);
    memset((unsigned char *)&comm_given + old, POISON, sizeof(comm_given) - old);
    check_create(old, COHORT_OK);
    check_create(0, COHORT_ERR_BAD_PARAMETER);
    CHECK_CONTAINS(cohort_error_message(), "num_sites 0");
}

static cohort_status add(void *result, const void *left, const void *right, size_t count,
                         cohort_datatype datatype, void *arg)
{
    return COHORT_OK;
}

TEST(op)
{
    struct {
        struct cohort_op_options options;
        unsigned char later[LATER];
    } given = {.options = {.name = "add", .function = add}};
    cohort_op *op = NULL;
    CHECK_OK(cohort_op_create_sized(&op, &given.options, sizeof(given)));
    cohort_op_unref(op);
    op = NULL;
    given.later[0] = 1;
    CHECK_FAILS(cohort_op_create_sized(&op, &given.options, sizeof(given)),
                COHORT_ERR_BAD_PARAMETER, "cohort_op_create: cohort_op_options: its byte ");
    CHECK(!op);
    CHECK_OK(cohort_op_create_sized(&op, &given.options, offsetof(struct cohort_op_options, arg)));
    cohort_op_unref(op);
}

static cohort_comm *comm_create(void)
{
    cohort_comm *comm = NULL;
    CHECK_OK(
        cohort_await(cohort_comm_create(&comm, "sized", &(cohort_comm_options){.num_sites = 1})));
    return comm;
}

TEST(call)
{
    cohort_comm *comm = comm_create();
    struct {
        cohort_call_options options;
        unsigned char later[LATER];
    } given = {.options = {.algorithm = "linear"}};
    CHECK_OK(cohort_comm_next_call_sized(comm, &given.options, sizeof(given)));
    given.later[0] = 1;
    CHECK_FAILS(cohort_comm_next_call_sized(comm, &given.options, sizeof(given)),
                COHORT_ERR_BAD_PARAMETER, "cohort_comm_next_call: cohort_call_options: its byte");
    /* Only the algorithm. If the poisoned root were read, the pointer would be invalid. */
    size_t old = offsetof(cohort_call_options, root_site);
    memset((unsigned char *)&given + old, POISON, sizeof(given) - old);
    CHECK_OK(cohort_comm_next_call_sized(comm, &given.options, old));
    CHECK_OK(cohort_await(cohort_barrier(comm, 1)));
    CHECK_OK(cohort_comm_next_call_sized(comm, NULL, 0));
    CHECK_OK(cohort_await(cohort_barrier(comm, 2)));
    cohort_comm_unref(comm);
}

TEST(question)
{
    cohort_comm *comm = comm_create();
    struct {
        cohort_call_question question;
        unsigned char later[LATER];
    } given = {.question = {.collective = "all_reduce", .count = 1, .datatype = COHORT_DOUBLE}};
    CHECK_OK(cohort_call_check_sized(comm, &given.question, sizeof(given)));
    given.later[0] = 1;
    CHECK_FAILS(cohort_call_check_sized(comm, &given.question, sizeof(given)),
                COHORT_ERR_BAD_PARAMETER, "cohort_call_check: cohort_call_question: its byte ");
    size_t old = offsetof(cohort_call_question, op);
    memset((unsigned char *)&given + old, POISON, sizeof(given) - old);
    CHECK_OK(cohort_call_check_sized(comm, &given.question, old));
    cohort_comm_unref(comm);
}

int main(int argc, char **argv)
{
    return program_main(argc, argv);
}
