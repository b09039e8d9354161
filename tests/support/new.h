/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_NEW_H
#define COHORT_TESTS_SUPPORT_NEW_H

#include "cohort/future.h"
#include "cohort/scope.h"
#include "tests/support/test.h"

/* What a test makes on the way, when its making is not what it tests. */

/* Without a parent. */
static inline cohort_scope *new_scope(void)
{
    cohort_scope *scope;
    CHECK_OK(cohort_scope_create(NULL, &scope));
    return scope;
}

static inline cohort_promise *new_promise(cohort_future **ret_future)
{
    cohort_promise *promise;
    CHECK_OK(cohort_promise_create(&promise, ret_future));
    return promise;
}

#endif
