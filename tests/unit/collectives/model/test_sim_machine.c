/* SPDX-License-Identifier: Apache-2.0 */
/* Plans written by hand, with a few steps each, whose times on a machine can be computed with a
 * pencil. */
#include "collectives/model/sim_machine.h"

#include "collectives/model/sim.h"
#include "tests/support/test.h"

enum { NOTHING = -1 };

/* A step as a test writes it. Each site's steps follow each other in its list. */
struct line {
    uint32_t site;
    uint8_t kind;
    uint32_t peer;
    size_t bytes;
    int after;
};

struct script {
    const struct line *lines;
    size_t num_lines;
    uint32_t num_sites;
};

static uint32_t meet(struct cohort__plan_builder *builder, const struct line *line, uint32_t num)
{
    const uint32_t members[] = {0, 1, 2, 3};
    uint32_t in = cohort__plan_range(builder, COHORT__SPACE_IN, 0, line->bytes);
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, line->peer ? 0 : line->bytes);
    cohort__plan_set_members(builder, members, num, line->site);
    return cohort__plan_meet(builder, 1, COHORT__REDUCE, 0, line->bytes, out, in);
}

static cohort_status get_plan(void *argument, uint32_t site, struct cohort__plan **ret_plan)
{
    const struct script *script = argument;
    struct cohort__plan_builder *builder = NULL;
    CHECK_OK(cohort__plan_builder_create(&builder, "script", script->num_sites, site));
    for (size_t i = 0; i < script->num_lines; i++) {
        const struct line *line = &script->lines[i];
        uint32_t step = 0;
        if (line->site != site)
            continue;
        uint32_t block = cohort__plan_tmp(builder, line->bytes);
        if (line->kind == COHORT__STEP_SEND)
            step = cohort__plan_send(builder, 1, line->peer, 0, &block, 1);
        else if (line->kind == COHORT__STEP_RECV)
            step = cohort__plan_recv(builder, 1, line->peer, 0, &block, 1);
        else if (line->kind == COHORT__STEP_REDUCE)
            step = cohort__plan_reduce(builder, 1, block, block, block);
        else if (line->kind == COHORT__STEP_MEET)
            step = meet(builder, line, script->num_sites);
        else
            step = cohort__plan_join(builder, 1);
        if (line->after != NOTHING)
            cohort__plan_after(builder, step, (uint32_t)line->after);
    }
    return cohort__plan_finish(builder, ret_plan);
}

static struct cohort__parameters prices;

/* call, startup, byte, reduced, site, message, moved, combined */
static const double terms[COHORT__NUM_DISTANCES][COHORT__NUM_TERMS] = {
    {0, 1, 0, 0, 10, 20, 2, 3},
    {0, 100, 1, 0, 30, 40, 2, 3},
    {5, 1000, 4, 0, 50, 60, 2, 3},
};

/* So many hosts, localities, tasks and cores; a turn takes 7. */
static struct cohort__sim_machine machine_of(uint32_t hosts, uint32_t localities, uint32_t tasks,
                                             uint32_t cores)
{
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++)
        for (unsigned term = 0; term < COHORT__NUM_TERMS; term++)
            prices.terms[distance][term] = terms[distance][term];
    return (struct cohort__sim_machine){.hosts = hosts,
                                        .localities = localities,
                                        .tasks = tasks,
                                        .cores = cores,
                                        .turn = 7,
                                        .parameters = &prices};
}

static cohort_status simulate(const struct cohort__sim_machine *machine, const struct line *lines,
                              size_t lines_bytes, struct cohort__sim_account *ret_account)
{
    struct script script = {.lines = lines,
                            .num_lines = lines_bytes / sizeof(*lines),
                            .num_sites = cohort__sim_machine_sites(machine)};
    return cohort__simulate_machine(machine, get_plan, &script, ret_account);
}

/* Ends the test if the numbers differ at all: all of them are exact. */
static void check_exact(double got, double want)
{
    if (got < want || got > want)
        FAIL("%.17g is not %.17g", got, want);
}

/* The parts of the critical path are the whole time. */
static void check_sum(const struct cohort__sim_account *account)
{
    double sum = account->calls + account->turns;
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++)
        sum += account->reaches[distance].work + account->reaches[distance].wire;
    check_exact(sum, account->time);
}

static const struct line message[] = {{0, COHORT__STEP_SEND, 1, 10, NOTHING},
                                      {1, COHORT__STEP_RECV, 0, 10, NOTHING}};
static const struct line backwards[] = {{1, COHORT__STEP_SEND, 0, 10, NOTHING},
                                        {0, COHORT__STEP_RECV, 1, 10, NOTHING}};

/* One worker does everything: both starts, the send and the receive. */
TEST(tasks)
{
    struct cohort__sim_machine machine = machine_of(1, 1, 2, 1);
    struct cohort__sim_account account;
    CHECK_OK(simulate(&machine, message, sizeof(message), &account));
    check_exact(account.time, 10 + 10 + 20 + 1 + 20);
    check_exact(account.reaches[COHORT__DISTANCE_TASKS].work, 60);
    check_exact(account.reaches[COHORT__DISTANCE_TASKS].wire, 1);
    CHECK_INT(account.reaches[COHORT__DISTANCE_TASKS].messages, 1);
    CHECK_INT(account.reaches[COHORT__DISTANCE_TASKS].bytes, 10);
    check_sum(&account);
}

/* Each has a core: the two starts take place at once. With one core for both, the receiver starts
 * when the sender has nothing to do any more, and the core comes to it, or back, for a turn. */
TEST(localities)
{
    struct cohort__sim_machine machine = machine_of(1, 2, 1, 2);
    struct cohort__sim_account account;
    CHECK_OK(simulate(&machine, message, sizeof(message), &account));
    check_exact(account.time, 30 + 30 + 110 + 30);
    check_exact(account.turns, 0);
    check_sum(&account);
    machine.cores = 1;
    CHECK_OK(simulate(&machine, backwards, sizeof(backwards), &account));
    check_exact(account.time, 30 + (7 + 30) + 30 + 110 + (7 + 30));
    check_exact(account.turns, 14);
    check_exact(account.reaches[COHORT__DISTANCE_LOCALITIES].wire, 110);
    check_sum(&account);
}

/* Hosts that share cores are like localities that do; the prices are those of hosts, but what would
 * be the wire's is work. */
TEST(shared_cores)
{
    struct cohort__sim_machine machine = machine_of(2, 1, 1, 1);
    struct cohort__sim_account account;
    CHECK_OK(simulate(&machine, backwards, sizeof(backwards), &account));
    check_exact(account.time, 5 + 50 + 40 + 1040 + 40);
    machine.is_shared = true;
    CHECK_OK(simulate(&machine, backwards, sizeof(backwards), &account));
    check_exact(account.time, 5 + 50 + (7 + 50) + 560 + (7 + 560));
    check_exact(account.reaches[COHORT__DISTANCE_HOSTS].wire, 0);
    check_exact(account.calls, 5);
    check_sum(&account);
}

/* Two messages from one host to another take the links one after the other. */
TEST(links)
{
    const struct line lines[] = {{0, COHORT__STEP_SEND, 2, 10, NOTHING},
                                 {1, COHORT__STEP_SEND, 3, 10, NOTHING},
                                 {2, COHORT__STEP_RECV, 0, 10, NOTHING},
                                 {3, COHORT__STEP_RECV, 1, 10, NOTHING}};
    struct cohort__sim_machine machine = machine_of(2, 2, 1, 2);
    struct cohort__sim_account account;
    CHECK_OK(simulate(&machine, lines, sizeof(lines), &account));
    check_exact(account.time, 5 + 50 + 40 + (40 + 40 + 1000) + 40);
    CHECK_INT(account.reaches[COHORT__DISTANCE_HOSTS].messages, 2);
    check_sum(&account);
}

/* A message that comes while its receiver reduces is received after that. */
TEST(reduce)
{
    const struct line lines[] = {{0, COHORT__STEP_SEND, 1, 10, NOTHING},
                                 {1, COHORT__STEP_REDUCE, 0, 100, NOTHING},
                                 {1, COHORT__STEP_RECV, 0, 10, 0}};
    struct cohort__sim_machine machine = machine_of(1, 2, 1, 2);
    struct cohort__sim_account account;
    CHECK_OK(simulate(&machine, lines, sizeof(lines), &account));
    check_exact(account.time, 30 + 300 + 30);
    check_sum(&account);
}

/* Three come one after the other; the last one reduces two contributions to the root's. */
TEST(meet)
{
    const struct line lines[] = {{0, COHORT__STEP_MEET, 0, 8, NOTHING},
                                 {1, COHORT__STEP_MEET, 1, 8, NOTHING},
                                 {2, COHORT__STEP_MEET, 1, 8, NOTHING}};
    struct cohort__sim_machine machine = machine_of(1, 1, 3, 1);
    struct cohort__sim_account account;
    CHECK_OK(simulate(&machine, lines, sizeof(lines), &account));
    check_exact(account.time, 3 * 10 + 3 * 20 + 1 + 3 * 16);
    check_sum(&account);
    CHECK_FAILS(simulate(&machine, lines, 2 * sizeof(lines[0]), &account), COHORT_ERR_BAD_PARAMETER,
                "not all of the locality meet");
}

/* A network has no localities. */
TEST(meet_on_network)
{
    const struct line lines[] = {{0, COHORT__STEP_MEET, 0, 8, NOTHING},
                                 {1, COHORT__STEP_MEET, 1, 8, NOTHING}};
    struct script script = {.lines = lines, .num_lines = 2, .num_sites = 2};
    const struct cohort__sim_costs costs = {.startup = 1};
    struct cohort__sim_result result;
    struct cohort__network network;
    CHECK_OK(cohort__network_init(&network, "full", 2));
    CHECK_FAILS(cohort__simulate(&network, &costs, get_plan, &script, &result),
                COHORT_ERR_BAD_PARAMETER, "on a network nobody meets");
}

TEST(deadlock)
{
    const struct line lines[] = {{0, COHORT__STEP_RECV, 1, 8, NOTHING},
                                 {0, COHORT__STEP_SEND, 1, 8, 0},
                                 {1, COHORT__STEP_RECV, 0, 8, NOTHING},
                                 {1, COHORT__STEP_SEND, 0, 8, 0}};
    struct cohort__sim_machine machine = machine_of(1, 2, 1, 2);
    struct cohort__sim_account account;
    CHECK_FAILS(simulate(&machine, lines, sizeof(lines), &account), COHORT_ERR_BAD_PARAMETER,
                "deadlock");
}
