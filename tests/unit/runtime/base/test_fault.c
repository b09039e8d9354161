/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/fault.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "tests/support/test.h"

static struct cohort__fault_plan plan;

static void read_good(const char *text)
{
    memset(&plan, 0x77, sizeof(plan));
    cohort_status status = cohort__fault_plan_read(text, &plan);
    if (status)
        fprintf(stderr, "%s: %s\n", text, cohort_error_message());
    CHECK_OK(status);
}

static void check_rule(uint32_t index, enum cohort__fault_kind kind, bool is_any, uint32_t locality,
                       uint32_t other, bool is_below, uint64_t number)
{
    const struct cohort__fault_rule *rule = &plan.rules[index];
    CHECK_INT(rule->kind, kind);
    CHECK(rule->is_any == is_any);
    CHECK_INT(rule->locality, locality);
    CHECK_INT(rule->other, other);
    CHECK(rule->is_below == is_below);
    CHECK_INT(rule->number, number);
}

static void test_read(void)
{
    read_good("");
    CHECK(cohort__fault_plan_is_empty(&plan));
    read_good("seed:9");
    CHECK(cohort__fault_plan_is_empty(&plan));
    CHECK_INT(plan.seed, 9);
    read_good("seed:4711,delay:1%:5ms,drop:2-5@1000,kill:any@<5000,alloc:3@200");
    CHECK(!cohort__fault_plan_is_empty(&plan));
    CHECK_INT(plan.seed, 4711);
    CHECK(plan.share == 0.01);
    CHECK_INT(plan.delay_ns, 5000000);
    CHECK_INT(plan.num_rules, 3);
    check_rule(0, COHORT__FAULT_DROP, false, 2, 5, false, 1000);
    check_rule(1, COHORT__FAULT_KILL, true, 0, 0, true, 5000);
    check_rule(2, COHORT__FAULT_ALLOC, false, 3, 0, false, 200);
    read_good("drop:any@1,kill:4095@1000000000000,alloc:any@<2,seed:9223372036854775807");
    CHECK_INT(plan.seed, INT64_MAX);
    check_rule(0, COHORT__FAULT_DROP, true, 0, 0, false, 1);
    check_rule(1, COHORT__FAULT_KILL, false, 4095, 0, false, 1000000000000);
    check_rule(2, COHORT__FAULT_ALLOC, true, 0, 0, true, 2);
    read_good("delay:0.25%:7us");
    CHECK(plan.share > 0.002499 && plan.share < 0.002501);
    CHECK_INT(plan.delay_ns, 7000);
    read_good("delay:100%:5s");
    CHECK(plan.share == 1);
    CHECK_INT(plan.delay_ns, 5000000000);
    read_good("kill:0@1,kill:1@1,kill:2@1,kill:3@1,kill:4@1,kill:5@1,kill:6@1,kill:7@1,"
              "kill:0@1,kill:1@1,kill:2@1,kill:3@1,kill:4@1,kill:5@1,kill:6@1,kill:7@1");
    CHECK_INT(plan.num_rules, COHORT__FAULT_RULES);
}

static void test_mistakes(void)
{
    static const char kinds[] = "seed:, kill:, drop:, delay: or alloc: is expected";
    static const struct {
        const char *text, *where, *why;
    } mistakes[] = {
        {"crash:1@2", "at byte 1 (\"crash:1@2\")", kinds},
        {"seed:1,", "at its end", kinds},
        {",seed:1", "at byte 1 (", kinds},
        {"seed:1, kill:1@1", "at byte 8 (\" kill:1@1\")", kinds},
        {"kill", "at byte 1 (", kinds},
        {"Kill:1@1", "at byte 1 (", kinds},
        {"seed:1;kill:1@1", "at byte 7 (\";kill:1@1\")", "a comma or the end is expected"},
        {"kill:1@1x", "at byte 9 (\"x\")", "a comma or the end"},
        {"seed:", "at its end", "a number from 0 to 9223372036854775807 is expected"},
        {"seed:-1", "at byte 6 (\"-1\")", "a number from 0"},
        {"seed:9223372036854775808", "at byte 6 (", "a number from 0"},
        {"seed:99999999999999999999999", "at byte 6 (", "a number from 0"},
        {"kill:@3", "at byte 6 (\"@3\")", "a number from 0 to 4095 is expected"},
        {"kill:4096@3", "at byte 6 (", "a number from 0 to 4095"},
        {"kill:1", "at its end", "@ and a number are expected"},
        {"kill:1-2@3", "at byte 7 (\"-2@3\")", "@ and a number"},
        {"kill:1@", "at its end", "a number from 1 to 1000000000000"},
        {"kill:1@0", "at byte 8 (\"0\")", "a number from 1 to 1000000000000"},
        {"kill:1@1000000000001", "at byte 8 (", "a number from 1"},
        {"kill:1@<1", "at byte 9 (\"1\")", "a number from 2"},
        {"kill:1@>5", "at byte 8 (", "a number from 1"},
        {"drop:2@3", "at byte 7 (\"@3\")", "- and another locality are expected"},
        {"drop:2-@3", "at byte 8 (\"@3\")", "a number from 0 to 4095"},
        {"drop:2-2@3", "at byte 6 (\"2-2@3\")", "two different localities are expected"},
        {"drop:any-2@3", "at byte 9 (\"-2@3\")", "@ and a number"},
        {"alloc:", "at its end", "a number from 0 to 4095"},
        {"delay:", "at its end", "a share above 0% and up to 100% is expected"},
        {"delay:1:5ms", "at byte 7 (", "a share"},
        {"delay:0%:5ms", "at byte 7 (", "a share"},
        {"delay:100.1%:5ms", "at byte 7 (", "a share"},
        {"delay:101%:5ms", "at byte 7 (", "a share"},
        {"delay:1%", "at its end", ": and a time are expected"},
        {"delay:1%:5", "at byte 10 (\"5\")", "a time up to 5s is expected"},
        {"delay:1%:0ms", "at byte 10 (", "a time"},
        {"delay:1%:6s", "at byte 10 (", "a time"},
        {"delay:1%:5001ms", "at byte 10 (", "a time"},
        {"delay:1%:0.5ms", "at byte 10 (", "a time"},
        {"delay:1%:5m", "at byte 10 (", "a time"},
        {"delay:1%:5ms,delay:1%:5ms", "at byte 20 (", "there may be only one delay"},
        {"kill:0@1,kill:1@1,kill:2@1,kill:3@1,kill:4@1,kill:5@1,kill:6@1,kill:7@1,kill:0@1,"
         "kill:1@1,kill:2@1,kill:3@1,kill:4@1,kill:5@1,kill:6@1,kill:7@1,kill:8@1",
         "at byte 150 (\"8@1\")", "there may be at most 16 faults"},
    };
    for (size_t i = 0; i < NUM_OF(mistakes); i++) {
        plan.seed = 77;
        CHECK_FAILS(cohort__fault_plan_read(mistakes[i].text, &plan), COHORT_ERR_BAD_PARAMETER,
                    mistakes[i].where);
        CHECK_CONTAINS(cohort_error_message(), mistakes[i].why);
        CHECK_INT(plan.seed, 77);
    }
}

/* The same text draws the same, another seed something else, and all that may come does come. */
static void test_draw(void)
{
    enum { SIZE = 4, SEEDS = 200 };
    unsigned victims[SIZE] = {0}, links[SIZE][SIZE] = {{0}}, numbers[4] = {0};
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        char text[100];
        snprintf(text, sizeof(text), "kill:any@<4,drop:any@7,alloc:3@9,seed:%u", seed);
        read_good(text);
        CHECK_OK(cohort__fault_plan_draw(&plan, SIZE));
        struct cohort__fault_plan first = plan;
        read_good(text);
        CHECK_OK(cohort__fault_plan_draw(&plan, SIZE));
        for (uint32_t i = 0; i < 3; i++) {
            const struct cohort__fault_rule *rule = &first.rules[i];
            CHECK(rule->locality < SIZE && rule->other < SIZE);
            check_rule(i, rule->kind, false, rule->locality, rule->other, false, rule->number);
        }
        CHECK(plan.rules[0].number >= 1 && plan.rules[0].number < 4);
        CHECK(plan.rules[1].locality != plan.rules[1].other);
        check_rule(2, COHORT__FAULT_ALLOC, false, 3, 0, false, 9);
        victims[plan.rules[0].locality]++;
        numbers[plan.rules[0].number]++;
        links[plan.rules[1].locality][plan.rules[1].other]++;
    }
    for (unsigned i = 0; i < SIZE; i++) {
        CHECK(victims[i] > SEEDS / SIZE / 2);
        CHECK(i == 0 || numbers[i] > SEEDS / 6);
        for (unsigned j = 0; j < SIZE; j++)
            CHECK(i == j || links[i][j] > 0);
    }
}

static void test_draw_mistakes(void)
{
    static const struct {
        const char *text, *why;
        uint32_t size;
    } mistakes[] = {
        {"kill:any@<9,kill:4@1", "there is no locality 4 in a job of 4", 4},
        {"drop:0-4@1", "there is no locality 4 in a job of 4", 4},
        {"drop:any@1", "one locality has no connection to drop", 1},
    };
    for (size_t i = 0; i < NUM_OF(mistakes); i++) {
        read_good(mistakes[i].text);
        bool was_any = plan.rules[0].is_any;
        CHECK_INT(cohort__fault_plan_draw(&plan, mistakes[i].size), COHORT_ERR_BAD_PARAMETER);
        CHECK_TEXT(cohort_error_message(), mistakes[i].why);
        CHECK(plan.rules[0].is_any == was_any);
    }
    read_good("kill:any@1");
    CHECK_OK(cohort__fault_plan_draw(&plan, 1));
}

/* Whether this message, number OF_ALL and number OF_LINK to OTHER, kills locality RANK. */
static bool dies(uint32_t rank, uint32_t other, uint64_t of_all, uint64_t of_link)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct cohort__fault fault = {.rank = rank, .plan = plan};
        cohort__fault_lets_send(&fault, other, of_all, of_link);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void test_kill(void)
{
    read_good("kill:2@10,alloc:1@1,drop:1-2@1");
    CHECK(!dies(2, 1, 9, 10));
    CHECK(dies(2, 1, 10, 1));
    CHECK(dies(2, 3, 11, 1));
    CHECK(!dies(1, 2, 10, 10));
}

static void test_drop(void)
{
    read_good("drop:2-5@10,alloc:2@1,kill:5@1,drop:2-6@3");
    struct cohort__fault two = {.rank = 2, .plan = plan}, six = {.rank = 6, .plan = plan};
    CHECK(cohort__fault_lets_send(&two, 5, 1000, 9));
    CHECK(!cohort__fault_lets_send(&two, 5, 10, 10));
    CHECK(!cohort__fault_lets_send(&two, 5, 11, 11));
    CHECK(cohort__fault_lets_send(&two, 4, 1000, 1000));
    CHECK(!cohort__fault_lets_send(&two, 6, 3, 3));
    CHECK(cohort__fault_lets_send(&six, 2, 1000, 1000));
}

static void test_delay(void)
{
    enum { MESSAGES = 100000 };
    read_good("seed:5,delay:2%:1ms");
    struct cohort__fault fault = {.rank = 2, .plan = plan}, other = fault;
    unsigned num = 0, num_same = 0, num_at_other = 0;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        bool is_delayed = cohort__fault_delays(&fault, 1, i);
        CHECK(cohort__fault_delays(&fault, 1, i) == is_delayed);
        other.plan.seed = 6;
        num += is_delayed;
        num_same += is_delayed && cohort__fault_delays(&other, 1, i);
        num_at_other += is_delayed && cohort__fault_delays(&fault, 0, i);
    }
    CHECK(num > 1800 && num < 2200);
    CHECK(num_same < 80 && num_at_other < 80);
    read_good("delay:100%:1ms");
    fault.plan = plan;
    for (uint32_t i = 0; i < MESSAGES; i++)
        CHECK(cohort__fault_delays(&fault, 1, i));
}

int main(void)
{
    test_read();
    test_mistakes();
    test_draw();
    test_draw_mistakes();
    test_kill();
    test_drop();
    test_delay();
    return 0;
}
