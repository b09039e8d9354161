/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include "tests/cross/play.h"
#include "tests/support/scarce.h"
#include "tests/support/test.h"

/* Futures that are waited for together, in each way that there is. What comes of that follows from
 * what comes of each. */

enum { MOST = 2 * MAX_STEPS };

struct together {
    cohort_future *const *futures; /* the caller's */
    size_t num;
    cohort_future *refs[MOST]; /* for a call that takes them */
};

static cohort_future **take(struct together *together)
{
    for (size_t i = 0; i < together->num; i++)
        together->refs[i] = cohort_future_ref(together->futures[i]);
    return together->refs;
}

static cohort_status status_of(const struct together *together, size_t index)
{
    CHECK(index < together->num);
    CHECK(cohort_future_ready(together->futures[index]));
    return cohort_await(cohort_future_ref(together->futures[index]));
}

static bool is_shortage(cohort_status status)
{
    return status == COHORT_ERR_NO_MEMORY && scarce_has_failed();
}

/* Of the first one that has failed, when all are complete. */
static cohort_status first_failure(const struct together *together)
{
    cohort_status status = COHORT_OK;
    for (size_t i = 0; i < together->num && !status; i++)
        status = status_of(together, i);
    return status;
}

static void await_all(struct together *together)
{
    cohort_status status = cohort_await(cohort_when_all(take(together), together->num));
    CHECK(is_shortage(status) || status == first_failure(together));
}

static void await_any(struct together *together)
{
    size_t index = MOST;
    cohort_status status = cohort_await(cohort_when_any(take(together), together->num, &index));
    CHECK(is_shortage(status) || status == status_of(together, index));
}

/* Each of NUM indices is there once, and so is the future. */
static void check_indices(const struct together *together, const size_t *indices, size_t num)
{
    bool is_there[MOST] = {false};
    for (size_t i = 0; i < num; i++) {
        (void)!status_of(together, indices[i]);
        CHECK(!is_there[indices[i]]);
        is_there[indices[i]] = true;
    }
}

static void await_some(struct together *together, size_t wanted)
{
    size_t indices[MOST];
    cohort_status status =
        cohort_await(cohort_when_some(take(together), together->num, wanted, indices));
    CHECK(is_shortage(status) || status == COHORT_OK);
    if (!status)
        check_indices(together, indices, wanted);
}

/* One after the other, as they come. */
static void await_each(struct together *together)
{
    cohort_future *each[MOST];
    size_t indices[MOST], num = together->num;
    cohort_status status = cohort_when_each(take(together), num, each, indices);
    CHECK(is_shortage(status) || status == COHORT_OK);
    for (size_t i = 0; !status && i < num; i++) {
        cohort_status its = cohort_await(each[i]);
        CHECK(is_shortage(its) || its == status_of(together, indices[i]));
    }
    if (!status)
        check_indices(together, indices, num);
}

struct following {
    cohort_status status;
    bool was_called;
};

static cohort_status follow(cohort_future *future, void *arg)
{
    struct following *following = arg;
    CHECK(cohort_future_ready(future));
    following->was_called = true;
    return following->status = cohort_await(future);
}

/* After the first one. */
static void await_then(struct together *together)
{
    struct following following = {.status = COHORT_OK};
    cohort_future *first = cohort_future_ref(together->futures[0]);
    cohort_status status = cohort_await(cohort_then(first, follow, &following));
    if (following.was_called)
        CHECK(status == following.status && status == status_of(together, 0));
    else
        CHECK(is_shortage(status));
}

static cohort_status flow(void *const *values, size_t count, void **ret_value, void *arg)
{
    struct together *together = arg;
    CHECK_INT(count, together->num);
    for (size_t i = 0; i < count; i++)
        CHECK(!values[i]);
    *ret_value = arg;
    return COHORT_OK;
}

static void await_dataflow(struct together *together)
{
    void *value = NULL;
    cohort_status status =
        cohort_await_value(cohort_dataflow(take(together), together->num, flow, together), &value);
    CHECK(is_shortage(status) || status == first_failure(together));
    CHECK(status || value == together);
}

void combine_await(cohort_future *const *futures, size_t num, enum combine how, uint32_t drawn)
{
    struct together together = {futures, num, {NULL}};
    switch (how) {
    case COMBINE_ALL:
        await_all(&together);
        break;
    case COMBINE_ANY:
        await_any(&together);
        break;
    case COMBINE_SOME:
        await_some(&together, drawn % (num + 1));
        break;
    case COMBINE_EACH:
        await_each(&together);
        break;
    case COMBINE_THEN:
        await_then(&together);
        break;
    default:
        await_dataflow(&together);
        break;
    }
}
