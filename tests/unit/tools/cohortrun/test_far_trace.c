/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/far_trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/random.h"
#include "runtime/base/trace_format.h"
#include "runtime/loop/loop.h"
#include "tests/support/test.h"
#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/far_fetch.h"
#include "tools/cohortrun/host.h"
#include "tools/cohortrun/node_link.h"

/* cohortrun's half and the daemon's, with a connection in between that is a queue. */

enum { KEY = 77, FIRST = 4, NUM = 2, MOST_BYTES = COHORT__TRACE_HEAD_BYTES + (5 << 18) };

static char folder[] = "/tmp/cohort-test-XXXXXX";
static char file[64], far_file[64];
static unsigned char content[NUM][MOST_BYTES];
static size_t part_bytes = MOST_BYTES; /* more than one piece */
static struct host host;
static const struct host_name host_name = {.name = "b", .first = FIRST, .num = NUM};
static struct locality localities[NUM];
static struct node_fetch node;
static struct cohort__loop *loop;
static struct far_trace *trace;
static uint32_t num_over, num_said, num_here, num_pings;
static uint32_t num_answers; /* with pieces of parts */

/* At most one message is under way. */
static struct {
    bool is_there;
    enum node_link_kind kind;
    uint32_t rank;
    size_t bytes;
    unsigned char data[NODE_FETCH_ANSWER_BYTES + NODE_FETCH_PIECE_BYTES];
} answer;

void node_link_send(struct node_link *node_link, enum node_link_kind kind, uint32_t rank,
                    const void *data, size_t bytes)
{
    CHECK(!answer.is_there && bytes <= sizeof(answer.data));
    answer.is_there = true;
    answer.kind = kind;
    answer.rank = rank;
    answer.bytes = bytes;
    memcpy(answer.data, data, bytes);
    num_answers += kind == NODE_LINK_FETCHED;
}

static void tell_time(const struct host *asked, const unsigned char *ping)
{
    unsigned char pong[NODE_LINK_PONG_BYTES];
    num_pings++;
    memcpy(pong, ping, NODE_LINK_PING_BYTES);
    memcpy(pong + 8, ping, NODE_LINK_PING_BYTES);
    bytes_put_u64(pong + 16, bytes_get_u64(ping) + 1000);
    node_link_send(asked->node_link, NODE_LINK_CLOCK, 0, pong, sizeof(pong));
}

void host_send(struct host *asked, enum node_link_kind kind, uint32_t rank, const void *data,
               size_t bytes)
{
    if (kind == NODE_LINK_CLOCK)
        tell_time(asked, data);
    if (kind == NODE_LINK_FETCH)
        CHECK(node_fetch_answer(&node, asked->node_link, &localities[rank - FIRST], -1, 0, data,
                                bytes));
    if (kind == NODE_LINK_PART_HERE) {
        num_here++;
        node_fetch_remove_part(&localities[rank - FIRST]);
    }
}

static struct host *host_at(void *context, uint32_t i)
{
    return i == 0 ? &host : NULL;
}

static void over(void *context)
{
    num_over++;
}

static void said(void *context, const char *text)
{
    num_said++;
}

static const char *part(const char *of, uint32_t rank)
{
    static char path[80];
    snprintf(path, sizeof(path), "%s.%u.part", of, (unsigned)rank);
    return path;
}

static void put(const char *path, const void *data, size_t bytes)
{
    int made = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK_INT(write(made, data, bytes), bytes);
    close(made);
}

/* Whether PATH has just these bytes. */
static bool has(const char *path, const void *data, size_t bytes)
{
    static unsigned char read_bytes[MOST_BYTES + 1];
    int made = open(path, O_RDONLY);
    ssize_t got = made >= 0 ? read(made, read_bytes, sizeof(read_bytes)) : -1;
    if (made >= 0)
        close(made);
    return got == (ssize_t)bytes && memcmp(read_bytes, data, bytes) == 0;
}

static void remove_all(void)
{
    for (uint32_t rank = FIRST; rank < FIRST + NUM; rank++) {
        unlink(part(file, rank));
        unlink(part(far_file, rank));
    }
}

static void begin(void)
{
    const struct far_trace_handlers handlers = {NULL, host_at, over, said};
    num_over = num_said = num_here = num_pings = 0;
    num_answers = 0;
    answer.is_there = false;
    host = (struct host){.name = &host_name,
                         .node_link = (struct node_link *)&answer,
                         .is_ordered = true,
                         .stage = HOST_READY};
    for (uint32_t i = 0; i < NUM; i++) {
        struct cohort__trace_head head = {.magic = COHORT__TRACE_MAGIC,
                                          .version = COHORT__TRACE_VERSION,
                                          .key = KEY,
                                          .rank = FIRST + i,
                                          .size = 9};
        localities[i].rank = FIRST + i;
        localities[i].guarded.end = GUARDED_ENDED;
        for (size_t k = 0; k < part_bytes; k++)
            content[i][k] = (unsigned char)(k * 7 + k / 4096 + i);
        memcpy(content[i], &head, sizeof(head));
        put(part(far_file, FIRST + i), content[i], part_bytes);
    }
    CHECK_OK(cohort__loop_create(&loop));
    trace = far_trace_create(loop, file, &handlers);
    CHECK(trace);
}

static void finish(void)
{
    far_trace_close(trace);
    cohort__loop_destroy(loop);
    far_trace_destroy(trace);
    remove_all();
}

/* Hands over what is under way. False: it makes no sense. */
static bool step(void)
{
    static unsigned char data[sizeof(answer.data)];
    answer.is_there = false;
    memcpy(data, answer.data, answer.bytes);
    struct far_piece piece;
    if (answer.kind == NODE_LINK_CLOCK)
        return far_trace_take_clock(trace, &host, data, answer.bytes,
                                    host.trace.sent + 2 * UINT64_C(1000000));
    if (!far_fetch_read(&piece, &host, answer.rank, data, answer.bytes))
        return false;
    if (!piece.is_late)
        far_trace_take_piece(trace, &host, &piece);
    return true;
}

#define TEST_FAR(name) TEST_BETWEEN(name, begin(), finish())

TEST_FAR(fetch)
{
    size_t num;
    far_trace_begin(trace);
    while (answer.is_there)
        CHECK(step());
    CHECK_INT(num_pings, 16);
    CHECK(!far_trace_fetch(trace, KEY));
    while (answer.is_there)
        CHECK(step());
    CHECK_INT(num_pings, 32);
    CHECK_INT(num_over, 1);
    CHECK_INT(num_here, NUM);
    CHECK_INT(num_said, 0);
    CHECK(far_trace_fetch(trace, KEY));
    const struct trace_ping *pings = far_trace_pings(trace, &num);
    CHECK_INT(num, 2);
    CHECK_INT(pings[1].rank, FIRST);
    CHECK_INT(pings[1].arrived - pings[1].sent, 0);
    CHECK(pings[1].returned > pings[1].sent && pings[1].answered >= pings[1].sent);
    for (uint32_t i = 0; i < NUM; i++) {
        CHECK(has(part(file, FIRST + i), content[i], part_bytes));
        CHECK_INT(access(part(far_file, FIRST + i), F_OK), -1);
    }
}

/* One is here, since the folder is shared; that of another job is not it; and one is not there. */
TEST_FAR(not_fetched)
{
    put(part(file, FIRST), content[0], COHORT__TRACE_HEAD_BYTES);
    unlink(part(far_file, FIRST + 1));
    CHECK(!far_trace_fetch(trace, KEY));
    while (answer.is_there)
        CHECK(step());
    CHECK_INT(num_over, 1);
    CHECK_INT(num_here, 0);
    CHECK(has(part(file, FIRST), content[0], COHORT__TRACE_HEAD_BYTES));
    CHECK(has(part(far_file, FIRST), content[0], part_bytes));
    CHECK_INT(num_answers, NUM); /* which are not gone on with */
    CHECK_INT(access(part(file, FIRST + 1), F_OK), -1);
    finish();
    begin();
    struct cohort__trace_head head;
    memcpy(&head, content[1], sizeof(head));
    head.key++;
    put(part(file, FIRST + 1), &head, sizeof(head));
    CHECK(!far_trace_fetch(trace, KEY));
    while (answer.is_there)
        CHECK(step());
    CHECK_INT(num_here, 2);
    CHECK(has(part(file, FIRST + 1), content[1], part_bytes));
}

/* Lost in the middle, or given up: what has come so far goes. */
TEST(ended)
{
    for (int is_lost = 0; is_lost < 2; is_lost++) {
        begin();
        CHECK(!far_trace_fetch(trace, KEY));
        while (host.trace.copy.at == 0)
            CHECK(step());
        CHECK_INT(access(part(file, FIRST), F_OK), 0);
        if (is_lost) {
            host.node_link = NULL;
            CHECK(far_trace_fetch(trace, KEY));
        } else {
            CHECK(far_trace_give_up(trace));
            CHECK(!far_trace_give_up(trace));
            CHECK_INT(num_over, 1);
            CHECK_INT(num_said, 1);
            CHECK(step()); /* it is late */
        }
        CHECK_INT(access(part(file, FIRST), F_OK), -1);
        CHECK(has(part(far_file, FIRST), content[0], part_bytes));
        finish();
    }
}

TEST_FAR(copy)
{
    struct trace_part_copy part_copy;
    CHECK_OK(trace_part_copy_init(&part_copy, file, KEY, FIRST, 10000));
    CHECK_INT(trace_part_copy_take(&part_copy, content[0], 100), COHORT_ERR_PROTOCOL);
    CHECK_FAILS(trace_part_copy_take(&part_copy, content[1], 5000), COHORT_ERR_PROTOCOL,
                "the part of locality 4 is one of another job");
    CHECK_INT(access(part(file, FIRST), F_OK), -1);
    CHECK_OK(trace_part_copy_take(&part_copy, content[0], 9000));
    CHECK_FAILS(trace_part_copy_take(&part_copy, content[0], 1001), COHORT_ERR_PROTOCOL,
                "too long");
    trace_part_copy_fini(&part_copy, false);
    CHECK_INT(access(part(file, FIRST), F_OK), -1);
    CHECK_OK(trace_part_copy_init(&part_copy, "/nowhere/trace", KEY, FIRST, 10000));
    CHECK_INT(trace_part_copy_take(&part_copy, content[0], 9000), COHORT_ERR_SYSTEM);
    trace_part_copy_fini(&part_copy, false);
}

/* Answers to what was not asked. */
TEST_FAR(wrong)
{
    far_trace_begin(trace);
    answer.data[3] ^= 1;
    CHECK(!step());
    finish();
    begin();
    CHECK(!far_trace_fetch(trace, KEY));
    while (answer.kind == NODE_LINK_CLOCK)
        CHECK(step());
    answer.rank++;
    CHECK(!step());
}

/* Whatever a daemon sends: it is refused, or the fetching comes to its end, and what is here is a
 * part of the job. */
TEST(damaged)
{
    struct cohort__random random = cohort__random_seeded(4712);
    const uint64_t rounds = test_rounds(1000, 100);
    part_bytes = 9000;
    for (uint64_t round = 0; round < rounds; round++) {
        begin();
        CHECK(!far_trace_fetch(trace, KEY));
        bool makes_sense = true;
        while (answer.is_there && makes_sense) {
            uint64_t dice = cohort__random_below(&random, 60);
            if (dice < 4)
                answer.data[cohort__random_below(&random, 24)] ^=
                    (unsigned char)(1 << cohort__random_below(&random, 8));
            else if (dice == 5)
                answer.bytes = cohort__random_below(&random, answer.bytes + 1);
            else if (dice == 6)
                answer.rank = (uint32_t)cohort__random_below(&random, FIRST + NUM);
            else if (dice == 7)
                answer.kind = answer.kind == NODE_LINK_CLOCK ? NODE_LINK_FETCHED : NODE_LINK_CLOCK;
            makes_sense = step();
        }
        if (!makes_sense) { /* the host is lost then */
            host.node_link = NULL;
            CHECK(far_trace_fetch(trace, KEY));
        }
        for (uint32_t rank = FIRST; rank < FIRST + NUM; rank++)
            CHECK(access(part(file, rank), F_OK) != 0 ||
                  trace_part_is_here(part(file, rank), KEY, rank));
        CHECK(!makes_sense || num_over == 1);
        finish();
    }
}

int main(int argc, char **argv)
{
    CHECK(mkdtemp(folder));
    snprintf(file, sizeof(file), "%s/trace", folder);
    snprintf(far_file, sizeof(far_file), "%s/far", folder);
    CHECK_INT(setenv("COHORT_TRACE", far_file, 1), 0);
    int status = tests_run(argc, argv);
    rmdir(folder);
    return status;
}
