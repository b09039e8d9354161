/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <cohort/cohort.h>

#include "runtime/base/hash.h"
#include "tests/cross/play.h"
#include "tests/support/scarce.h"
#include "tests/support/test.h"

/* What a profiler sees of the program. */

enum { MOST_CALLS = 1 << 16 };

/* A call that has begun. */
static struct seen {
    uint64_t call; /* what the hooks are told of it */
    cohort_status status;
    atomic_bool is_over;
} list[MOST_CALLS];

static _Atomic uint32_t num;
static _Thread_local uint32_t latest;

static uint64_t hash(const cohort_hook_call *call)
{
    const uint64_t numbers[] = {call->site, call->num_sites, call->generation, call->in_bytes,
                                call->out_bytes};
    uint64_t sum = cohort__hash_bytes(numbers, sizeof(numbers));
    sum = cohort__hash_mix(sum, cohort__hash_bytes(call->name, strlen(call->name)));
    return cohort__hash_mix(sum,
                            cohort__hash_bytes(call->communicator, strlen(call->communicator)));
}

static uint64_t begin(const cohort_hook_call *call, void *arg)
{
    CHECK(arg == list);
    CHECK(call->site < call->num_sites);
    uint32_t i = num++;
    CHECK(i < MOST_CALLS);
    list[i].call = hash(call);
    return latest = i + 1;
}

static void end(const cohort_hook_call *call, cohort_status status, uint64_t begun, void *arg)
{
    CHECK(arg == list);
    CHECK(begun > 0 && begun <= num);
    struct seen *seen = &list[begun - 1];
    CHECK(seen->call == hash(call));
    seen->status = status;
    CHECK(!atomic_exchange(&seen->is_over, true));
}

void hooks_set(void)
{
    CHECK_OK(cohort_hooks_set(&(cohort_hooks){.begin = begin, .end = end, .arg = list}));
}

void hooks_forget(void)
{
    latest = 0;
}

uint32_t hooks_begun(void)
{
    return latest;
}

const char *hooks_check(uint32_t begun, cohort_status status)
{
    if (begun == 0)
        return status ? NULL : "without a hook at its begin";
    if (status == COHORT_ERR_CANCELLED || status == COHORT_ERR_TIMEOUT ||
        (status == COHORT_ERR_NO_MEMORY && scarce_has_failed()))
        return NULL; /* it was taken back, and has its end later perhaps */
    const struct seen *seen = &list[begun - 1];
    return !seen->is_over           ? "before the hook at its end"
           : seen->status != status ? "another status than the hook's"
                                    : NULL;
}

void hooks_check_all(void)
{
    for (uint32_t i = 0; i < num; i++)
        CHECK(list[i].is_over);
}
