/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/remote/private.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cohort/remote.h"
#include "cohort/sync.h"
#include "cohort/task.h"
#include "runtime/base/ledger_read.h"
#include "runtime/task/wait.h"
#include "tests/support/cluster.h"

/* What the ledger says of calls that are under way: each call from its beginning to its end, as far
 * as there is room, and which task works on which, as long as it does. All localities are in this
 * process, so their lines are side by side. */

enum { MANY = 30, MOST = COHORT__LEDGER_PENDING_MOST * COHORT__REMOTE_SERVED_LINES };

static struct cluster *cluster;
static cohort_latch
    *_Atomic let_go; /* atomic for the sanitizer, which does not see shared memory */
static _Atomic uintptr_t working[MANY + 1]; /* the tasks, by number of the call */
static _Atomic uint32_t num_begun;

static struct {
    struct cohort__pending of[4 * MOST];
    uint32_t num;
    uint64_t called; /* a bit for the number of each call */
} found;

static void add_line(void *context, const void *line)
{
    const struct cohort__pending_line *from = line;
    for (uint32_t i = 0; i < from->num && i < COHORT__LEDGER_PENDING_MOST; i++)
        if (from->of[i].kind == COHORT__WAIT_TASK) {
            CHECK(found.num < 4 * MOST);
            memcpy(&found.of[found.num++], &from->of[i], sizeof(from->of[i]));
        } else if (from->of[i].kind == COHORT__WAIT_REMOTE && from->of[i].future) {
            const uint64_t bit = UINT64_C(1) << from->of[i].number;
            CHECK(strcmp(from->text + i * COHORT__LEDGER_PENDING_NAME, "wait") == 0);
            CHECK_INT(from->of[i].site, 1);
            CHECK(!(found.called & bit));
            found.called |= bit;
        }
}

static void read_ledger(void)
{
    struct cohort__ledger_view view;
    uint32_t slot;
    int memory;
    found.num = 0;
    found.called = 0;
    CHECK_OK(cohort__ledger_find(getpid(), &memory, &slot));
    CHECK_OK(cohort__ledger_view_init(&view, memory, slot));
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_PENDING, add_line, NULL));
    close(memory);
}

static cohort_latch *new_latch(void)
{
    cohort_latch *latch;
    CHECK_OK(cohort_latch_create(1, &latch));
    return latch;
}

/* IN is the number of the call. */
static cohort_status wait(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint32_t number;
    CHECK_INT((long long)in->bytes, sizeof(number));
    memcpy(&number, in->data, sizeof(number));
    working[number] = cohort__wait_line_self();
    atomic_fetch_add(&num_begun, 1);
    return cohort_latch_wait(let_go, COHORT_NO_LIMIT);
}

static uint32_t num_working(void)
{
    uint32_t num = 0;
    read_ledger();
    for (uint32_t i = 0; i < found.num; i++)
        if (found.of[i].future) {
            CHECK(found.of[i].number >= 1 && found.of[i].number <= MANY);
            CHECK_INT(found.of[i].future, working[found.of[i].number]);
            CHECK_INT(found.of[i].site, 0);
            num++;
        }
    return num;
}

/* First: lines of a job that is over stay as its last tick has left them. */
TEST(lines)
{
    cohort_future *calls[MANY];
    uint32_t numbers[MANY];
    atomic_store(&num_begun, 0);
    cluster = cluster_create(1, 2, 0);
    let_go = new_latch();
    for (uint32_t i = 0; i < MANY; i++) {
        numbers[i] = i + 1;
        calls[i] = cohort__async_at_from(cluster_process(cluster, 0), 1, "wait",
                                         &(cohort_object){&numbers[i], sizeof(numbers[i])}, NULL);
    }
    while (atomic_load(&num_begun) < MANY || num_working() < MANY)
        CHECK_OK(cohort_await(cohort_sleep(1000000)));
    CHECK_INT(found.num, MANY);
    CHECK_OK(cohort_latch_count_down(let_go, 1));
    for (uint32_t i = 0; i < MANY; i++)
        CHECK_OK(cohort_await(calls[i]));
    cluster_destroy(cluster);
    cohort_latch_unref(let_go);
}

/* A call is said as soon as it is made: no tick has been since, as nothing has been awaited.
 * Another one has its place when it is over. */
TEST(at_once)
{
    enum { CALLS = COHORT__LEDGER_PENDING_MOST };
    cohort_future *calls[2 * CALLS];
    uint32_t numbers[2 * CALLS];
    uint64_t first = 0;
    cluster = cluster_create(1, 2, 0);
    let_go = new_latch();
    for (uint32_t i = 0; i < 2 * CALLS; i++) {
        numbers[i] = i + 1;
        calls[i] = cohort__async_at_from(cluster_process(cluster, 0), 1, "wait",
                                         &(cohort_object){&numbers[i], sizeof(numbers[i])}, NULL);
        first |= i < CALLS ? UINT64_C(1) << (i + 1) : 0;
        if (i + 1 == CALLS || i + 1 == 2 * CALLS) {
            read_ledger();
            CHECK_INT((long long)found.called, (long long)first);
        }
    }
    CHECK_OK(cohort_latch_count_down(let_go, 1));
    for (uint32_t i = 0; i < 2 * CALLS; i++)
        CHECK_OK(cohort_await(calls[i]));
    read_ledger();
    CHECK_INT((long long)found.called, 0);
    cohort_latch_unref(let_go);
    let_go = new_latch();
    calls[0] = cohort__async_at_from(cluster_process(cluster, 0), 1, "wait",
                                     &(cohort_object){numbers, sizeof(numbers[0])}, NULL);
    read_ledger();
    CHECK_INT((long long)found.called, 1LL << (2 * CALLS + 1));
    CHECK_OK(cohort_latch_count_down(let_go, 1));
    CHECK_OK(cohort_await(calls[0]));
    cluster_destroy(cluster);
    cohort_latch_unref(let_go);
}

int main(int argc, char **argv)
{
    CHECK_OK(cohort_remote_register("wait", wait, NULL));
    int result = cluster_test(argc, argv, 1);
    read_ledger(); /* the clusters are gone */
    CHECK_INT(found.num, 0);
    return result;
}
