/* SPDX-License-Identifier: Apache-2.0 */
/* Plans written by hand, with a few messages each, whose times can be computed with a pencil. */
#include "collectives/model/sim.h"

#include <stdlib.h>

#include "tests/support/test.h"

enum { MAX_SITES = 8, MAX_STEPS = 8, NOTHING = -1 };

/* A step as a test writes it: the peer of a SEND or RECV, or how many bytes to REDUCE, and the
 * earlier step of this site that it follows. */
struct line {
    uint32_t site;
    uint8_t kind;
    uint32_t peer;
    uint32_t tag;
    size_t bytes;
    int after;
    unsigned phase;
};

struct script {
    const struct line *lines;
    size_t num_lines;
    uint32_t num_sites;
};

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
        unsigned phase = line->phase > 0 ? line->phase : 1;
        uint32_t block = cohort__plan_tmp(builder, line->bytes);
        if (line->kind == COHORT__STEP_SEND)
            step = cohort__plan_send(builder, phase, line->peer, line->tag, &block, 1);
        else if (line->kind == COHORT__STEP_RECV)
            step = cohort__plan_recv(builder, phase, line->peer, line->tag, &block, 1);
        else if (line->kind == COHORT__STEP_REDUCE)
            step = cohort__plan_reduce(builder, phase, block, block, block);
        else
            step = cohort__plan_join(builder, phase);
        if (line->after != NOTHING)
            cohort__plan_after(builder, step, (uint32_t)line->after);
    }
    return cohort__plan_finish(builder, ret_plan);
}

/* t_s = 10, t_w = 1; reductions take 2 a byte; inside a host 1 and 0.5. */
static const struct cohort__sim_costs costs = {
    .startup = 10, .per_byte = 1, .reduce = 2, .inside_startup = 1, .inside_per_byte = 0.5};

static cohort_status simulate(const char *name, uint32_t num_sites, const struct line *lines,
                              size_t lines_bytes, struct cohort__sim_result *ret_result)
{
    struct script script = {
        .lines = lines, .num_lines = lines_bytes / sizeof(*lines), .num_sites = num_sites};
    struct cohort__network network;
    CHECK_OK(cohort__network_init(&network, name, num_sites));
    return cohort__simulate(&network, &costs, get_plan, &script, ret_result);
}

/* Ends the test if the times differ at all: all numbers here are exact. */
static void check_time(double got, double want)
{
    if (got < want || got > want)
        FAIL("%.17g is not %.17g", got, want);
}

static struct line send(uint32_t site, uint32_t peer, size_t bytes, int after)
{
    return (struct line){site, COHORT__STEP_SEND, peer, 0, bytes, after, 1};
}

static struct line recv(uint32_t site, uint32_t peer, size_t bytes, int after)
{
    return (struct line){site, COHORT__STEP_RECV, peer, 0, bytes, after, 1};
}

static struct cohort__sim_result result;

#define TEST_RESULT(name) TEST_BETWEEN(name, (void)0, cohort__sim_result_fini(&result))

/* The time there and back is the sum of both messages. Bytes are counted for each link. */
TEST_RESULT(ping_pong)
{
    const struct line lines[] = {send(0, 2, 5, NOTHING), recv(0, 2, 7, NOTHING),
                                 recv(2, 0, 5, NOTHING), send(2, 0, 7, 0)};
    char name[COHORT__LINK_NAME_BYTES];
    struct cohort__network network;
    CHECK_OK(simulate("ring", 5, lines, sizeof(lines), &result));
    check_time(result.time, 15 + 17);
    CHECK_INT(result.messages, 2);
    CHECK_INT(result.bytes, 12);
    CHECK_INT(result.delayed, 0);
    CHECK_INT(result.contenders, 1);
    CHECK_INT(result.num_links, 4);
    CHECK_INT(result.busiest.bytes, 7);
    CHECK_OK(cohort__network_init(&network, "ring", 5));
    cohort__link_name(&network, result.busiest.link, name);
    CHECK_TEXT(name, "1->0");
    check_time(result.phases[1].start, 0);
    check_time(result.phases[1].end, 32);
    CHECK_INT(result.phases[1].messages, 2);
    CHECK_INT(result.phases[2].messages, 0);
}

/* A site can send and receive at the same time. But two messages out, or two messages in, go one
 * after the other. */
TEST_RESULT(ports)
{
    const struct line both[] = {send(0, 1, 5, NOTHING), recv(0, 1, 7, NOTHING),
                                send(1, 0, 7, NOTHING), recv(1, 0, 5, NOTHING)};
    const struct line out[] = {send(0, 1, 5, NOTHING), send(0, 2, 7, NOTHING),
                               recv(1, 0, 5, NOTHING), recv(2, 0, 7, NOTHING)};
    const struct line in[] = {recv(0, 1, 5, NOTHING), recv(0, 2, 7, NOTHING),
                              send(1, 0, 5, NOTHING), send(2, 0, 7, NOTHING)};
    CHECK_OK(simulate("full", 3, both, sizeof(both), &result));
    check_time(result.time, 17);
    cohort__sim_result_fini(&result);
    CHECK_OK(simulate("full", 3, out, sizeof(out), &result));
    check_time(result.time, 15 + 17);
    CHECK_INT(result.delayed, 0); /* a wait for a port is no wait for a link */
    cohort__sim_result_fini(&result);
    CHECK_OK(simulate("full", 3, in, sizeof(in), &result));
    check_time(result.time, 15 + 17);
}

/* A message does not start before its RECV is posted. Another message does not wait behind it. */
TEST_RESULT(waits_for_receiver)
{
    const struct line lines[] = {send(0, 1, 5, NOTHING),  send(0, 2, 90, NOTHING),
                                 recv(2, 0, 90, NOTHING), recv(1, 3, 20, NOTHING),
                                 recv(1, 0, 5, 0),        send(3, 1, 20, NOTHING)};
    CHECK_OK(simulate("full", 4, lines, sizeof(lines), &result));
    check_time(result.time, 100 + 15); /* the long message goes first, since its RECV is posted */
}

/* When a port becomes free and the first message in its queue waits for something else, the next
 * message starts. Site 0 is free at 20, site 1 at 60. */
TEST_RESULT(next_in_queue)
{
    const struct line lines[] = {send(0, 3, 10, NOTHING), send(0, 1, 5, NOTHING),
                                 send(0, 2, 7, NOTHING),  recv(3, 0, 10, NOTHING),
                                 recv(1, 0, 5, NOTHING),  recv(2, 0, 7, NOTHING),
                                 send(4, 1, 50, NOTHING), recv(1, 4, 50, NOTHING)};
    CHECK_OK(simulate("full", 5, lines, sizeof(lines), &result));
    check_time(result.time, 60 + 15);
}

/* Two messages use one link. One of them has a longer route, and occupies all links of it for its
 * whole time. */
TEST_RESULT(links)
{
    const struct line lines[] = {send(0, 3, 5, NOTHING), recv(3, 0, 5, NOTHING),
                                 send(1, 2, 7, NOTHING), recv(2, 1, 7, NOTHING),
                                 send(2, 1, 9, NOTHING), recv(1, 2, 9, NOTHING)};
    CHECK_OK(simulate("ring", 8, lines, sizeof(lines), &result));
    check_time(result.time, 15 + 17);
    CHECK_INT(result.delayed, 1);
    CHECK_INT(result.contenders, 2);
    CHECK_INT(result.busiest.bytes, 12);
    CHECK_INT(result.busiest.messages, 2);
    cohort__sim_result_fini(&result);
    CHECK_OK(simulate("full", 8, lines, sizeof(lines), &result));
    check_time(result.time, 19);
    CHECK_INT(result.delayed, 0);
}

/* Three messages want the link between the hosts. Messages inside a host are faster and run at the
 * same time. */
TEST_RESULT(hosts)
{
    const struct line lines[] = {send(0, 4, 10, NOTHING), send(1, 5, 10, NOTHING),
                                 send(2, 6, 10, NOTHING), send(3, 0, 10, NOTHING),
                                 recv(4, 0, 10, NOTHING), recv(5, 1, 10, NOTHING),
                                 recv(6, 2, 10, NOTHING), recv(0, 3, 10, NOTHING)};
    CHECK_OK(simulate("hosts:2", 8, lines, sizeof(lines), &result));
    check_time(result.time, 60);
    CHECK_INT(result.contenders, 3);
    CHECK_INT(result.delayed, 2);
    CHECK_INT(result.num_links, 3);
    CHECK_INT(result.busiest.bytes, 30);
    CHECK_INT(result.links[2].bytes, 10);
    cohort__sim_result_fini(&result);
    CHECK_OK(simulate("hosts:1", 8, lines, sizeof(lines), &result));
    check_time(result.time, 6);
}

/* A site has one processor. Each phase has its own time. */
TEST_RESULT(reductions)
{
    const struct line lines[] = {
        send(0, 1, 5, NOTHING),
        recv(1, 0, 5, NOTHING),
        {1, COHORT__STEP_REDUCE, 0, 0, 4, 0, 2},
        {1, COHORT__STEP_REDUCE, 0, 0, 4, 0, 2},
        {0, COHORT__STEP_REDUCE, 0, 0, 4, NOTHING, 2},
        {1, COHORT__STEP_JOIN, 0, 0, 0, 2, 3},
        {1, COHORT__STEP_SEND, 0, 1, 10, 3, 3},
        {0, COHORT__STEP_RECV, 1, 1, 10, NOTHING, 3},
    };
    CHECK_OK(simulate("full", 2, lines, sizeof(lines), &result));
    check_time(result.time, 15 + 8 + 8 + 20);
    check_time(result.phases[2].start, 0);
    check_time(result.phases[2].end, 31);
    CHECK_INT(result.phases[2].messages, 0);
    check_time(result.phases[3].start, 31);
    check_time(result.phases[3].end, 51);
    CHECK_INT(result.phases[3].bytes, 10);
}

/* Blocks of TMP begin at multiples of 64. */
TEST_RESULT(memory)
{
    const struct line lines[] = {send(0, 1, 5, NOTHING), recv(1, 0, 5, NOTHING),
                                 send(1, 2, 100, NOTHING), recv(2, 1, 100, NOTHING)};
    CHECK_OK(simulate("full", 3, lines, sizeof(lines), &result));
    CHECK_INT(result.memory, 164);
    CHECK_INT(result.memory_site, 1);
    CHECK_INT(result.tmp_bytes, 164);
    CHECK_INT(result.tmp_site, 1);
}

TEST_RESULT(nothing)
{
    CHECK_OK(simulate("ring", 1, NULL, 0, &result));
    check_time(result.time, 0);
    CHECK_INT(result.messages, 0);
    CHECK_INT(result.contenders, 0);
    CHECK_INT(result.num_links, 0);
}

TEST(misfits)
{
    const struct line alone[] = {send(0, 1, 5, NOTHING)};
    const struct line nobody[] = {recv(1, 0, 5, NOTHING)};
    const struct line sizes[] = {send(0, 1, 5, NOTHING), recv(1, 0, 6, NOTHING)};
    const struct line twice[] = {send(0, 1, 5, NOTHING), send(0, 1, 5, NOTHING),
                                 recv(1, 0, 5, NOTHING)};
    const struct line crossed[] = {recv(0, 1, 5, NOTHING), send(0, 1, 5, 0), recv(1, 0, 5, NOTHING),
                                   send(1, 0, 5, 0)};
    const struct {
        const struct line *lines;
        size_t bytes;
        const char *why;
    } cases[] = {
        {alone, sizeof(alone),
         "plan script, site 0, step 0 (SEND to 1, phase 1): nobody receives it"},
        {nobody, sizeof(nobody), "site 1, step 0 (RECV from 0, phase 1): nobody sends it"},
        {sizes, sizeof(sizes), "the receiver expects another size"},
        {twice, sizeof(twice), "site 0, step 1 (SEND to 1, phase 1): nobody receives it"},
        {crossed, sizeof(crossed), "site 0, step 1 (SEND to 1, phase 1): never starts: deadlock"},
    };
    for (size_t i = 0; i < NUM_OF(cases); i++) {
        struct cohort__sim_result result = {.time = 77};
        CHECK_FAILS(simulate("full", 2, cases[i].lines, cases[i].bytes, &result),
                    COHORT_ERR_BAD_PARAMETER, cases[i].why);
        check_time(result.time, 77);
    }
}

/* Rows of the table: the linear ones, whose messages go one after the other. */
TEST(rows)
{
    struct cohort__network network;
    struct cohort__sim_result result;
    struct cohort__request request = {
        .collective = COHORT__BROADCAST, .num_sites = 9, .root = 4, .arity = 2, .bytes = 30};
    CHECK_OK(cohort__network_init(&network, "full", 9));
    CHECK_OK(cohort__simulate_algorithm(
        &network, &costs, cohort__algorithm_find(COHORT__BROADCAST, "linear"), &request, &result));
    check_time(result.time, 8 * 40);
    CHECK_INT(result.num_links, 8);
    cohort__sim_result_fini(&result);
    request.num_sites = 8;
    CHECK_FAILS(cohort__simulate_algorithm(&network, &costs,
                                           cohort__algorithm_find(COHORT__BROADCAST, "linear"),
                                           &request, &result),
                COHORT_ERR_BAD_PARAMETER, "a network of 9 sites for a call of 8");
    request.num_sites = 9;
    request.root = 9;
    CHECK_FAILS(cohort__simulate_algorithm(&network, &costs,
                                           cohort__algorithm_find(COHORT__BROADCAST, "linear"),
                                           &request, &result),
                COHORT_ERR_BAD_PARAMETER, "no such root");
}
