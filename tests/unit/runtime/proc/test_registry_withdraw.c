/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cohort/scope.h"
#include "runtime/base/random.h"
#include "runtime/proc/registry.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/scope.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/guest.h"
#include "tests/unit/runtime/proc/localities.h"

/* Joins that wait no longer, since their deadline is over or their scope is cancelled. */

enum { NUM_LOCALITIES = 3, SECOND = 1000000000, MAX_TIMERS = 64, MAX_GUESTS = 8 };

static struct localities job;
static struct guest guests[MAX_GUESTS];
static struct cohort__timer *timers[MAX_TIMERS];
static uint32_t num_timers;
static bool is_up = true, expires_at_once;

static void expire_all(void)
{
    while (num_timers > 0) {
        struct cohort__timer *timer = timers[--num_timers];
        timer->expired(timer);
    }
}

/* Called instead of the real functions (--wrap): the test says when they expire. */
bool __wrap_cohort__scheduler_timer(struct cohort__timer *timer, uint64_t deadline)
{
    CHECK(num_timers < MAX_TIMERS);
    timers[num_timers++] = timer;
    if (expires_at_once)
        expire_all();
    return true;
}
void __wrap_cohort__scheduler_timer_cancel(struct cohort__timer *timer)
{
}

/* There is no runtime here, but what would ask it is right to go on. */
bool __wrap_cohort__foreign_enter(void)
{
    return is_up;
}
void __wrap_cohort__foreign_leave(void)
{
}

static struct cohort__registry *registry_of(uint32_t rank)
{
    return cohort__process_registry(job.processes[rank]);
}

static void enter(struct guest *guest, uint32_t rank, const char *name, uint32_t site,
                  uint32_t num_sites, uint64_t deadline, cohort_scope *scope)
{
    guest_enter(guest, job.processes[rank],
                (struct cohort__join){.name = name,
                                      .site = site,
                                      .num_sites = num_sites,
                                      .terms = "terms",
                                      .deadline = deadline,
                                      .scope = scope});
}

static cohort_scope *scope_create(void)
{
    cohort_scope *scope;
    CHECK_OK(cohort__scope_create_alone(&scope));
    return scope;
}

static void scope_end(cohort_scope *scope)
{
    cohort__scope_close(scope);
    (void)!cohort__scope_finish(scope);
}

static void close_job(void)
{
    localities_settle(&job);
    expire_all();
    localities_check_quiet(&job);
    localities_close(&job);
}

static bool knows;
static unsigned num_asked;

static bool ask(void *context)
{
    CHECK(context == &job);
    num_asked++;
    return knows;
}

static void open_single(void)
{
    struct cohort__process_options options = {.rank = 0, .size = 1};
    job = (struct localities){.num = 1};
    CHECK_OK(cohort__process_create(&job.processes[0], &options));
    num_asked = 0;
}

static void close_single(void)
{
    cohort__process_stop(job.processes[0]);
    cohort__process_destroy(job.processes[0]);
}

/* --- who gives up, and who is told --- */

static void check_given_up(uint32_t site, cohort_status status, const char *why)
{
    char text[120];
    snprintf(text, sizeof(text),
             "communicator \"row\": 2 of 3 sites have joined, missing 2; site %u of locality %u ",
             site, site);
    guest_check(&guests[0], status, text);
    guest_check(&guests[1], status, why);
}

/* Site 2 comes too late, is told so once, and then all may join again. */
static void come_late(cohort_status status, const char *why)
{
    enter(&guests[2], 2, "row", 2, 3, 0, NULL);
    localities_settle(&job);
    guest_check(&guests[2], status, why);
    for (uint32_t site = 0; site < 3; site++)
        enter(&guests[site], site, "row", site, 3, SECOND, NULL);
    localities_settle(&job);
    for (uint32_t site = 0; site < 3; site++)
        guest_leave(&guests[site]);
    close_job();
}

TEST(late)
{
    const char *why = "site 0 of locality 0 waits no longer: 1 s are over";
    localities_open(&job, 1, NUM_LOCALITIES, 0);
    enter(&guests[0], 0, "row", 0, 3, SECOND, NULL);
    enter(&guests[1], 1, "row", 1, 3, 0, NULL);
    localities_settle(&job);
    CHECK_INT(guests[0].num_done + guests[1].num_done, 0);
    expire_all();
    localities_settle(&job);
    check_given_up(0, COHORT_ERR_TIMEOUT, why);
    come_late(COHORT_ERR_TIMEOUT, why);
}

TEST(cancelled)
{
    const char *why = "site 1 of locality 1 waits no longer: its scope was cancelled: no paper";
    cohort_scope *scope = scope_create(), *other = scope_create();
    localities_open(&job, 2, NUM_LOCALITIES, 0);
    enter(&guests[0], 0, "row", 0, 3, 0, other);
    enter(&guests[1], 1, "row", 1, 3, SECOND, scope);
    localities_settle(&job);
    CHECK_INT(cohort_scope_fail(scope, COHORT_ERR_SYSTEM, "no paper"), COHORT_ERR_SYSTEM);
    localities_settle(&job);
    check_given_up(1, COHORT_ERR_CANCELLED, why);
    come_late(COHORT_ERR_CANCELLED, why);
    cohort_scope_cancel(other); /* nobody waits in it any more */
    scope_end(scope);
    scope_end(other);
}

/* The site joins as one that can't take part: the others are told, and it does not make them begin,
 * not even as the last one, or where it is asked whose programs have returned. */
TEST(cancelled_before)
{
    const char *why = "site 1 of locality 1 can't join: its scope was cancelled: cohort_scope_c";
    cohort_scope *scope = scope_create();
    cohort_scope_cancel(scope);
    open_single();
    enter(&guests[0], 0, "row", 0, 1, 0, scope);
    guest_check(&guests[0], COHORT_ERR_CANCELLED, "its scope was cancelled: ");
    cohort__registry_set_ask_returned(registry_of(0), ask, &job);
    enter(&guests[0], 0, "row", 0, 2, 0, scope);
    enter(&guests[1], 0, "row", 1, 2, 0, scope);
    for (int i = 0; i < 2; i++)
        guest_check(&guests[i], COHORT_ERR_CANCELLED, "its scope was cancelled: ");
    CHECK_INT(num_asked, 0);
    close_single();
    for (uint64_t seed = 0; seed < NUM_SEEDS; seed++) {
        localities_open(&job, seed, NUM_LOCALITIES, 0);
        enter(&guests[0], 0, "row", 0, 3, 0, NULL);
        enter(&guests[1], 1, "row", 1, 3, 0, scope);
        localities_settle(&job);
        guest_check(&guests[0], COHORT_ERR_CANCELLED, why);
        guest_check(&guests[1], COHORT_ERR_CANCELLED, why);
        enter(&guests[2], 2, "row", 2, 3, 0, NULL);
        localities_settle(&job);
        guest_check(&guests[2], COHORT_ERR_CANCELLED, why);
        close_job();
    }
    scope_end(scope);
}

/* Both come while the last one joins: all have the same result, and nothing else is told. */
TEST(race)
{
    uint32_t num_ok = 0;
    for (uint64_t seed = 0; seed < NUM_SEEDS; seed++) {
        cohort_scope *scope = scope_create();
        struct cohort__random random = cohort__random_seeded(seed);
        localities_open(&job, seed, NUM_LOCALITIES, 0);
        enter(&guests[0], 0, "row", 0, 3, SECOND, NULL);
        enter(&guests[1], 1, "row", 1, 3, 0, scope);
        enter(&guests[2], 2, "row", 2, 3, SECOND, scope);
        for (uint64_t turns = cohort__random_below(&random, 6); turns > 0; turns--)
            localities_turn(&job);
        if (seed % 2)
            expire_all();
        cohort_scope_cancel(scope);
        localities_settle(&job);
        for (uint32_t site = 0; site < 3; site++) {
            CHECK_INT(guests[site].num_done, 1);
            CHECK_INT(guests[site].status, guests[0].status);
            cohort__membership_unref(guests[site].membership);
        }
        num_ok += !guests[0].status;
        close_job();
        scope_end(scope);
    }
    CHECK(num_ok > 0 && num_ok < NUM_SEEDS);
}

TEST(scope_ends)
{
    cohort_scope *scope = scope_create();
    localities_open(&job, 3, 1, 0);
    enter(&guests[0], 0, "row", 0, 2, 0, scope);
    scope_end(scope);
    CHECK_INT(guests[0].num_done, 0); /* it has only ended */
    enter(&guests[1], 0, "row", 1, 2, 0, NULL);
    guest_leave(&guests[0]);
    guest_leave(&guests[1]);
    close_job();
}

/* --- programs that have returned --- */

/* The deadline is over before the home has been told of the join, which it then follows. */
TEST(late_before)
{
    open_single();
    expires_at_once = true;
    enter(&guests[0], 0, "row", 0, 2, SECOND, NULL);
    expires_at_once = false;
    guest_check(&guests[0], COHORT_ERR_TIMEOUT, "waits no longer: 1 s are over");
    close_single();
}

/* The runtime has ended, or this is a forked child, which must not act for the locality. */
TEST(not_up)
{
    cohort_scope *scope = scope_create();
    open_single();
    enter(&guests[0], 0, "row", 0, 2, 0, scope);
    is_up = false;
    cohort_scope_cancel(scope);
    is_up = true;
    CHECK_INT(guests[0].num_done, 0);
    close_single();
    guest_check(&guests[0], COHORT_ERR_CANCELLED, "the job is over");
    scope_end(scope);
}

/* A site of NAME waits no longer. */
static void give_up(struct guest *guest, const char *name)
{
    enter(guest, 0, name, 0, 2, SECOND, NULL);
    expire_all();
}

/* Before a creation fails it is asked whose programs have returned. Nobody waits for an answer that
 * does not come. */
TEST(returned)
{
    open_single();
    struct cohort__registry *registry = registry_of(0);
    give_up(&guests[0], "nobody is asked");
    guest_check(&guests[0], COHORT_ERR_TIMEOUT, "missing 1; site 0 of locality 0 ");
    cohort__registry_set_ask_returned(registry, ask, &job);
    give_up(&guests[0], "nobody knows");
    guest_check(&guests[0], COHORT_ERR_TIMEOUT, "missing 1; site 0 of locality 0 ");
    CHECK(num_asked == 1 && !strstr(guests[0].text, "returned"));
    knows = true;
    give_up(&guests[0], "one");
    give_up(&guests[1], "two");
    CHECK(num_asked == 2 && guests[0].num_done == 0 && guests[1].num_done == 0);
    cohort__registry_returned(registry, "3");
    for (int i = 0; i < 2; i++)
        guest_check(&guests[i], COHORT_ERR_TIMEOUT,
                    "missing 1; programs that have returned: locality 3; site 0 of locality 0 ");
    give_up(&guests[2], "three");
    for (int i = 0; i < 9; i++)
        cohort__registry_tick(registry);
    CHECK(num_asked == 3 && guests[2].num_done == 0);
    cohort__registry_tick(registry);
    guest_check(&guests[2], COHORT_ERR_TIMEOUT, "missing 1");
    cohort__registry_returned(registry, "3"); /* too late */
    give_up(&guests[3], "four");              /* is never answered */
    cohort__process_stop(job.processes[0]);
    guest_check(&guests[3], COHORT_ERR_CANCELLED, "the job is over");
    cohort__process_destroy(job.processes[0]);
}

/* The answer comes when all have joined after all, have left, and join anew under the same name. */
TEST(returned_late)
{
    open_single();
    knows = true;
    cohort__registry_set_ask_returned(registry_of(0), ask, &job);
    give_up(&guests[0], "again");
    enter(&guests[1], 0, "again", 1, 2, 0, NULL);
    guest_leave(&guests[0]);
    guest_leave(&guests[1]);
    enter(&guests[0], 0, "again", 0, 2, 0, NULL);
    cohort__registry_returned(registry_of(0), "3");
    CHECK_INT(guests[0].num_done, 0);
    enter(&guests[1], 0, "again", 1, 2, 0, NULL);
    guest_leave(&guests[0]);
    guest_leave(&guests[1]);
    close_single();
}
