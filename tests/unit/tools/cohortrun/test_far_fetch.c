/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/far_fetch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/ledger.h"
#include "runtime/base/ledger_read.h"
#include "runtime/base/random.h"
#include "tests/support/test.h"
#include "tools/cohortrun/host.h"
#include "tools/cohortrun/node_link.h"
#include "tools/cohortrun/status/look.h"

/* cohortrun's half and the daemon's, with a connection in between that holds one message. The
 * daemon's localities are two that write one ledger: this process. */

enum { FIRST = 4, NUM = 2, LINES = 20000 };

static struct host host;
static const struct host_name host_name = {.name = "b", .first = FIRST, .num = NUM};
static struct locality localities[NUM];
static struct node_fetch node;
static int memory;
static uint32_t slot;

static struct {
    bool is_there;
    uint32_t rank;
    size_t bytes;
    unsigned char data[NODE_FETCH_ANSWER_BYTES + NODE_FETCH_PIECE_BYTES];
} answer;

void node_link_send(struct node_link *node_link, enum node_link_kind kind, uint32_t rank,
                    const void *data, size_t bytes)
{
    CHECK(kind == NODE_LINK_FETCHED && bytes <= sizeof(answer.data));
    answer.is_there = true;
    answer.rank = rank;
    answer.bytes = bytes;
    memcpy(answer.data, data, bytes);
}

void host_send(struct host *asked, enum node_link_kind kind, uint32_t rank, const void *data,
               size_t bytes)
{
    CHECK_INT(kind, NODE_LINK_FETCH);
    CHECK(node_fetch_answer(&node, asked->node_link, &localities[rank - FIRST], memory, slot, data,
                            bytes));
}

static void begin(void)
{
    answer.is_there = false;
    host = (struct host){.name = &host_name,
                         .node_link = (struct node_link *)&answer,
                         .is_ordered = true,
                         .stage = HOST_READY};
    for (uint32_t i = 0; i < NUM; i++)
        localities[i].rank = FIRST + i;
    far_fetch_begin(&host, NODE_FETCH_LOOK);
}

static bool read_answer(struct far_piece *ret_piece)
{
    static unsigned char data[sizeof(answer.data)]; /* the next answer comes meanwhile */
    memcpy(data, answer.data, answer.bytes);
    answer.is_there = false;
    return far_fetch_read(ret_piece, &host, answer.rank, data, answer.bytes);
}

static bool is_asked(void)
{
    return host.fetches[NODE_FETCH_LOOK].is_asked;
}

/* Fetches what there is of RANK, in three pieces. */
static struct look *fetch(uint32_t rank)
{
    struct look *look = NULL;
    struct far_piece piece;
    char *copy = NULL;
    size_t bytes = 0, num = 0;
    do {
        CHECK(answer.is_there && read_answer(&piece));
        CHECK(!piece.is_late && piece.what == NODE_FETCH_LOOK);
        CHECK(piece.rank == rank && piece.at == bytes && piece.kind != NODE_FETCH_NONE);
        copy = realloc(copy, bytes + piece.bytes);
        CHECK(copy);
        memcpy(copy + bytes, piece.data, piece.bytes);
        bytes += piece.bytes;
        num++;
        /* The look does not change between its pieces. */
        cohort__ledger_enter_stage(COHORT__LEDGER_RETURNED, COHORT_OK);
        far_fetch_go_on(&host, NODE_FETCH_LOOK, piece.kind == NODE_FETCH_LAST);
    } while (piece.kind == NODE_FETCH_MORE);
    CHECK_INT(num, 3);
    CHECK_OK(look_make(&look, copy, bytes));
    free(copy);
    return look;
}

TEST(pieces)
{
    static struct cohort__site_line *lines[LINES];
    for (uint64_t i = 0; i < LINES; i++) {
        lines[i] = cohort__ledger_take(COHORT__LEDGER_SITES);
        CHECK(lines[i]);
        lines[i]->task = UINT64_MAX;
        lines[i]->last_called = UINT64_MAX - i;
        memset(lines[i]->padding, 1, sizeof(lines[i]->padding));
        lines[i]->instance = UINT64_MAX - i;
    }
    cohort__ledger_enter_stage(COHORT__LEDGER_RUNNING, COHORT_OK);
    begin();
    for (uint32_t rank = FIRST; rank < FIRST + NUM; rank++) {
        CHECK(is_asked());
        struct look *look = fetch(rank);
        CHECK_INT(look->num_sites, LINES);
        for (uint64_t i = 0; i < LINES; i++)
            CHECK(look->sites[i].instance == look->sites[i].last_called);
        CHECK_INT(look->stage, rank == FIRST ? COHORT__LEDGER_RUNNING : COHORT__LEDGER_RETURNED);
        look_destroy(look);
    }
    CHECK(!is_asked() && !answer.is_there);
    CHECK(!node.look); /* which needs no memory any more */
    for (uint64_t i = 0; i < LINES; i++)
        cohort__ledger_give_back(COHORT__LEDGER_SITES, lines[i]);
}

/* A host that is lost, or is told to end, is not asked. */
TEST(not_ready)
{
    begin();
    answer.is_there = false;
    host.stage = HOST_DISMISSED;
    far_fetch_begin(&host, NODE_FETCH_LOOK);
    CHECK(!answer.is_there && !is_asked());
    host.stage = HOST_LOST;
    host.node_link = NULL;
    far_fetch_begin(&host, NODE_FETCH_LOOK);
    CHECK(!answer.is_there && !is_asked());
}

/* The answer to what was asked before is late, also when the same is asked once more. */
TEST(late)
{
    struct far_piece piece;
    begin();
    far_fetch_stop(&host, NODE_FETCH_LOOK);
    CHECK(read_answer(&piece) && piece.is_late);
    begin();
    far_fetch_begin(&host, NODE_FETCH_LOOK);
    answer.data[1]--;
    CHECK(read_answer(&piece) && piece.is_late && is_asked());
    answer.data[1]++;
    CHECK(read_answer(&piece) && !piece.is_late);
}

/* There is nothing: of the first locality it is said why, and then of the next one. */
TEST(none)
{
    struct far_piece piece;
    const int is_there = memory;
    memory = -1;
    begin();
    for (uint32_t rank = FIRST; rank < FIRST + NUM; rank++) {
        CHECK(read_answer(&piece));
        CHECK(piece.kind == NODE_FETCH_NONE && piece.rank == rank);
        CHECK(piece.bytes == strlen("its daemon has no ledger"));
        CHECK(memcmp(piece.data, "its daemon has no ledger", piece.bytes) == 0);
        far_fetch_go_on(&host, NODE_FETCH_LOOK, true);
    }
    CHECK(!is_asked());
    memory = is_there;
}

/* What no daemon says; and what no cohortrun asks for. */
TEST(nonsense)
{
    struct far_piece piece;
    static const struct {
        size_t at;
        unsigned char value;
    } wrong[] = {{0, NODE_FETCH_NUM_WHATS}, {1, 2}, {5, NODE_FETCH_NUM_KINDS}};
    for (size_t i = 0; i < NUM_OF(wrong); i++) {
        begin();
        answer.data[wrong[i].at] = wrong[i].value;
        CHECK(!read_answer(&piece));
    }
    begin();
    answer.rank++;
    CHECK(!read_answer(&piece));
    begin();
    answer.data[5] = NODE_FETCH_MORE; /* for ever */
    answer.bytes = NODE_FETCH_ANSWER_BYTES;
    CHECK(!read_answer(&piece));
    answer.bytes--;
    CHECK(!read_answer(&piece));
    unsigned char question[NODE_FETCH_QUESTION_BYTES + 1] = {NODE_FETCH_LOOK};
    answer.is_there = false;
    CHECK(!node_fetch_answer(&node, NULL, &localities[0], memory, slot, question,
                             NODE_FETCH_QUESTION_BYTES + 1));
    CHECK(!node_fetch_answer(&node, NULL, &localities[0], memory, slot, question,
                             NODE_FETCH_QUESTION_BYTES - 1));
    question[0] = NODE_FETCH_NUM_WHATS;
    CHECK(!node_fetch_answer(&node, NULL, &localities[0], memory, slot, question,
                             NODE_FETCH_QUESTION_BYTES));
    CHECK(!answer.is_there);
    for (unsigned char what = 0; what < NODE_FETCH_NUM_WHATS; what++) {
        memset(question, 0xff, sizeof(question)); /* a place that there is not */
        question[0] = what;
        CHECK(node_fetch_answer(&node, NULL, &localities[0], memory, slot, question,
                                NODE_FETCH_QUESTION_BYTES));
        CHECK(answer.is_there && answer.data[5] == NODE_FETCH_NONE);
    }
}

int main(int argc, char **argv)
{
    cohort__ledger_introduce(FIRST, NUM, 1, 0);
    CHECK_OK(cohort__ledger_find(getpid(), &memory, &slot));
    int status = tests_run(argc, argv);
    node_fetch_fini(&node);
    close(memory);
    return status;
}
