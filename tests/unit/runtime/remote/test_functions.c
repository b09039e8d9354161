/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/remote/functions.h"

#include <string.h>

#include "tests/support/test.h"

static cohort_status nothing(const cohort_object *in, cohort_object *ret_out, void *context)
{
    return COHORT_OK;
}

TEST_CALL(empty, CHECK(!cohort__remote_function_find(cohort__remote_hash("one"))))

TEST(register)
{
    static int context;
    char name[] = "one";
    CHECK_OK(cohort_remote_register(name, nothing, &context));
    name[0] = 'x'; /* it is copied */
    const struct cohort__remote_function *function =
        cohort__remote_function_find(cohort__remote_hash("one"));
    CHECK(function && function->function == nothing && function->context == &context);
    CHECK_TEXT(function->name, "one");
    CHECK(!cohort__remote_function_find(cohort__remote_hash("two")));
}

TEST(many)
{
    char name[8] = "f000";
    for (int i = 0; i < 1000; i++) {
        name[1] = (char)('0' + i / 100);
        name[2] = (char)('0' + i / 10 % 10);
        name[3] = (char)('0' + i % 10);
        CHECK_OK(cohort_remote_register(name, nothing, name + i % 4));
    }
    const struct cohort__remote_function *function =
        cohort__remote_function_find(cohort__remote_hash("f639"));
    CHECK(function && function->context == name + 3);
    CHECK_TEXT(function->name, "f639");
}

TEST(wrong)
{
    char longest[256 + 1];
    memset(longest, 'x', sizeof(longest));
    longest[256] = 0;
    CHECK_FAILS(cohort_remote_register(NULL, nothing, NULL), COHORT_ERR_BAD_PARAMETER,
                "cohort_remote_register: no name");
    CHECK_FAILS(cohort_remote_register("two", NULL, NULL), COHORT_ERR_BAD_PARAMETER, "no function");
    CHECK_FAILS(cohort_remote_register("", nothing, NULL), COHORT_ERR_BAD_PARAMETER, "0 bytes");
    CHECK_FAILS(cohort_remote_register(longest, nothing, NULL), COHORT_ERR_BAD_PARAMETER,
                "256 bytes");
    longest[255] = 0;
    CHECK_OK(cohort_remote_register(longest, nothing, NULL));
    CHECK_FAILS(cohort_remote_register("one", nothing, NULL), COHORT_ERR_BAD_PARAMETER,
                "\"one\" is registered already");
    CHECK(!cohort__remote_function_find(cohort__remote_hash("two")));
}

/* Those of the library may be registered late, and again, and know the process that they run in. */
static cohort_status tell_context(const cohort_object *in, cohort_object *ret_out, void *context)
{
    CHECK(context == in->data);
    return COHORT_OK;
}

TEST(own)
{
    struct cohort__process *process = (struct cohort__process *)&process;
    const cohort_object in = {process, 0};
    cohort_object out;
    CHECK_FAILS(cohort_remote_register("cohort_own", nothing, NULL), COHORT_ERR_BAD_PARAMETER,
                "\"cohort_own\": names that begin with");
    for (int i = 0; i < 2; i++)
        CHECK_OK(cohort__remote_register_own("cohort_own", tell_context));
    CHECK_OK(cohort__remote_function_call(
        cohort__remote_function_find(cohort__remote_hash("cohort_own")), process, &in, &out));
    CHECK_OK(cohort_remote_register("theirs", tell_context, process));
    CHECK_OK(cohort__remote_function_call(
        cohort__remote_function_find(cohort__remote_hash("theirs")), NULL, &in, &out));
}

TEST(sealed)
{
    cohort__remote_functions_seal();
    CHECK_FAILS(cohort_remote_register("late", nothing, NULL), COHORT_ERR_STATE,
                "\"late\": the runtime is up already");
    CHECK(!cohort__remote_function_find(cohort__remote_hash("late")));
    CHECK(cohort__remote_function_find(cohort__remote_hash("one")));
    CHECK_OK(cohort__remote_register_own("cohort_late", nothing));
}
