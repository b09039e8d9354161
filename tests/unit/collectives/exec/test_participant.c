/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/participant.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/comm/endpoint_life.h"
#include "collectives/comm/inbox.h"
#include "collectives/exec/attendance.h"
#include "collectives/exec/meeting.h"
#include "runtime/base/container.h"
#include "runtime/task/future.h"
#include "tests/support/test.h"
#include "tests/unit/collectives/comm/new_membership.h"
#include "tests/unit/runtime/proc/fake_net.h"

/* Meetings of the sites of one locality, whose communicator has sites in others, too. Their numbers
 * are not their ranks. A call is two meetings, as it will be in a plan: it enters both when it
 * starts, and is ready for each when the test says so. In the first meeting the sites give rank 1
 * their numbers; in the second one they add them up. */
enum { NUM_SITES = 5, NUM_LOCAL = 3, MEETINGS = 2, GATHER = 0, SUM = 1, ROOT = 1, MAX_TOLD = 64 };

static const uint32_t locality_of[NUM_SITES] = {1, 0, 2, 0, 0};
static const uint32_t local[NUM_LOCAL] = {1, 3, 4};

static struct fake_net fake;
static struct cohort__group *group;
static struct cohort_comm *comms[NUM_LOCAL];

struct meeting_of_call {
    struct cohort__participant participant;
    struct cohort__item item; /* gets it ready */
    int64_t in;
    int64_t out[NUM_LOCAL];
    bool is_over;
};

struct call {
    struct cohort__operation operation; /* first */
    struct meeting_of_call meetings[MEETINGS];
    cohort_future *future;
    uint32_t num_over;
    bool has_ended;
};

/* The meetings in the order in which their participants were told. */
static struct {
    uint64_t generation;
    uint32_t index;
} told[MAX_TOLD];
static unsigned num_told;

/* The call ----------------------------------------------------------------------------------- */

static void over(struct call *call, struct meeting_of_call *meeting)
{
    CHECK(!meeting->is_over);
    meeting->is_over = true;
    if (++call->num_over == MEETINGS)
        cohort__operation_ended(&call->operation);
}

static void on_told(struct cohort__participant *participant, const struct cohort__error *error)
{
    struct meeting_of_call *meeting =
        COHORT_CONTAINER_OF(participant, struct meeting_of_call, participant);
    struct call *call = (struct call *)participant->operation;
    CHECK(num_told < MAX_TOLD);
    told[num_told].generation = call->operation.generation;
    told[num_told++].index = participant->index;
    if (error) { /* the other meetings fail as well; this one is over already */
        cohort__operation_fail(&call->operation, error);
        cohort__participant_tell_outside(participant);
    }
    cohort__participant_leave(participant);
    over(call, meeting);
}

static void on_start(struct cohort__operation *operation)
{
    struct call *call = (struct call *)operation;
    for (unsigned i = 0; i < MEETINGS && !operation->failure.status; i++) {
        struct cohort__refusal refusal = {0};
        cohort__participant_enter(&call->meetings[i].participant, &refusal);
        operation->are_all_told |= refusal.is_told;
        if (refusal.error.status)
            cohort__operation_fail(operation, &refusal.error);
        cohort__error_fini(&refusal.error);
    }
}

/* What it has not entered, and what fails with it, is over. */
static void on_fail(struct cohort__operation *operation)
{
    struct call *call = (struct call *)operation;
    struct meeting_of_call *now[MEETINGS];
    unsigned num = 0;
    for (unsigned i = 0; i < MEETINGS; i++) {
        struct meeting_of_call *meeting = &call->meetings[i];
        if (!meeting->is_over && cohort__participant_fail(&meeting->participant))
            now[num++] = meeting;
    }
    for (unsigned i = 0; i < num; i++) {
        cohort__participant_leave(&now[i]->participant);
        over(call, now[i]);
    }
}

static void on_message(struct cohort__operation *operation, struct cohort__message *message)
{
    CHECK_INT(message->kind, COHORT__KIND_ERROR);
    cohort__operation_fail(operation, &message->error);
    cohort__message_release(message);
}

static void on_answer(struct cohort__operation *operation, uint32_t site,
                      enum cohort__answer answer)
{
    cohort__participant_answered(&((struct call *)operation)->meetings[SUM].participant, site,
                                 answer);
}

static uint32_t on_find_absent(const struct cohort__operation *operation)
{
    return cohort__participant_absent(&((struct call *)operation)->meetings[SUM].participant);
}

static void on_release(struct cohort__operation *operation)
{
    ((struct call *)operation)->has_ended = true;
}

static const struct cohort__operation_handlers handlers = {
    .start = on_start,
    .message = on_message,
    .fail = on_fail,
    .answer = on_answer,
    .find_absent = on_find_absent,
    .release = on_release,
};

static void run_ready(struct cohort__actor *actor, struct cohort__item *item)
{
    cohort__participant_ready(
        &COHORT_CONTAINER_OF(item, struct meeting_of_call, item)->participant);
}

static void prepare(struct call *call, unsigned index, uint32_t rank)
{
    struct meeting_of_call *meeting = &call->meetings[index];
    meeting->in = local[rank];
    meeting->item.run = run_ready;
    meeting->participant = (struct cohort__participant){
        .operation = &call->operation,
        .told = on_told,
        .terms =
            {
                .kind =
                    &cohort__movement_kinds[index == GATHER ? COHORT__GATHER : COHORT__ALL_REDUCE],
                .count = 1,
                .element = sizeof(int64_t),
                .stride = sizeof(int64_t),
                .datatype = COHORT_INT64,
                .op = index == GATHER ? NULL : COHORT_SUM,
                .root = ROOT,
            },
        .subgroup = COHORT__SUBGROUP_LOCALITY,
        .rank = cohort__machine_rank(group->machine, COHORT__LEVEL_LOCALITY, local[rank]),
        .index = index,
        .phase = 1,
    };
    CHECK_INT(meeting->participant.rank, rank);
}

/* The call of GENERATION by the site of RANK. COUNT tells different calls apart. */
static void call_with(struct call *call, uint64_t generation, uint32_t rank, uint64_t count)
{
    memset(call, 0, sizeof(*call));
    CHECK((call->future = cohort__future_create()));
    call->operation = (struct cohort__operation){
        .handlers = &handlers,
        .comm = comms[rank],
        .future = call->future,
        .generation = generation,
        .signature = {.datatype = COHORT_INT64, .count = count},
    };
    call->operation.fingerprint = cohort__fingerprint(&call->operation.signature);
    for (unsigned i = 0; i < MEETINGS; i++)
        prepare(call, i, rank);
    cohort__operation_call(&call->operation);
}

/* All local sites call GENERATION. */
static void call_all(struct call calls[NUM_LOCAL], uint64_t generation)
{
    for (uint32_t rank = 0; rank < NUM_LOCAL; rank++)
        call_with(&calls[rank], generation, rank, 1);
}

/* The buffers are only known now. */
static void ready(struct call *call, unsigned index)
{
    struct meeting_of_call *meeting = &call->meetings[index];
    meeting->participant.in = (unsigned char *)&meeting->in;
    meeting->participant.out = (unsigned char *)meeting->out;
    cohort__endpoint_post(call->operation.comm, &meeting->item);
}

static void ready_all(struct call calls[NUM_LOCAL], unsigned index)
{
    for (uint32_t rank = 0; rank < NUM_LOCAL; rank++)
        ready(&calls[rank], index);
}

/* Checks that the call ended without an error, with the right results. */
static void check_done(struct call calls[NUM_LOCAL])
{
    for (uint32_t rank = 0; rank < NUM_LOCAL; rank++) {
        CHECK(calls[rank].has_ended);
        CHECK_OK(cohort_await(calls[rank].future));
        CHECK_INT(calls[rank].meetings[SUM].out[0], 1 + 3 + 4);
        for (uint32_t from = 0; from < NUM_LOCAL; from++)
            CHECK_INT(calls[rank].meetings[GATHER].out[from], rank == ROOT ? local[from] : 0);
    }
}

static void check_failed(struct call *call, cohort_status status, const char *text)
{
    CHECK(call->has_ended);
    CHECK_FAILS(cohort_await(call->future), status, text);
}

/* Nothing of these calls is left that would hinder later ones. */
static void check_goes_on(uint64_t generation)
{
    struct call calls[NUM_LOCAL];
    call_all(calls, generation);
    ready_all(calls, SUM);
    ready_all(calls, GATHER);
    check_done(calls);
}

/* The group ---------------------------------------------------------------------------------- */

static void open_all(void)
{
    struct cohort__inbox *inbox;
    struct cohort__membership *membership = new_membership(NUM_SITES, locality_of);
    fake_net_open(&fake, 0);
    membership->home = 1; /* another locality */
    CHECK_OK(cohort__inbox_get(fake.process, &inbox));
    CHECK_OK(cohort__inbox_group(inbox, "parted", membership, &group));
    for (uint32_t rank = 0; rank < NUM_LOCAL; rank++) {
        CHECK_OK(cohort__endpoint_create(&comms[rank], group, local[rank]));
        cohort__inbox_add(inbox, comms[rank]);
        cohort__group_add(group, comms[rank]->this_site, &comms[rank]->actor);
    }
    num_told = 0;
}

/* Those of all sites of the group are never needed. */
static void close_all(void)
{
    CHECK(!atomic_load(&group->meetings[COHORT__SUBGROUP_ALL]));
    fake_net_close(&fake);
}

/* Cases -------------------------------------------------------------------------------------- */

#define TEST_OPEN(name) TEST_BETWEEN(name, open_all(), close_all())

/* Several generations are entered. They become ready in reverse order, and are over in that. */
TEST_OPEN(in_reverse)
{
    enum { GENERATIONS = 3 };
    struct call calls[GENERATIONS][NUM_LOCAL];
    for (unsigned i = 0; i < GENERATIONS; i++)
        call_all(calls[i], i + 1);
    for (unsigned i = GENERATIONS; i-- > 0;)
        for (unsigned index = MEETINGS; index-- > 0;) {
            unsigned before = num_told;
            ready(&calls[i][2], index);
            ready(&calls[i][0], index);
            CHECK_INT(num_told, before);
            ready(&calls[i][1], index);
            CHECK_INT(num_told, before + NUM_LOCAL);
            CHECK_INT(told[before].generation, i + 1);
            CHECK_INT(told[before].index, index);
        }
    for (unsigned i = 0; i < GENERATIONS; i++)
        check_done(calls[i]);
}

/* The others are ready before the last site enters. */
TEST_OPEN(entered_last)
{
    struct call calls[NUM_LOCAL];
    for (uint32_t rank = 0; rank + 1 < NUM_LOCAL; rank++)
        call_with(&calls[rank], 1, rank, 1);
    for (unsigned index = 0; index < MEETINGS; index++) /* before all have entered */
        for (uint32_t rank = 0; rank + 1 < NUM_LOCAL; rank++)
            ready(&calls[rank], index);
    CHECK_INT(num_told, 0);
    call_with(&calls[NUM_LOCAL - 1], 1, NUM_LOCAL - 1, 1);
    CHECK_INT(num_told, 0);
    ready(&calls[NUM_LOCAL - 1], GATHER);
    CHECK_INT(num_told, NUM_LOCAL);
    ready(&calls[NUM_LOCAL - 1], SUM);
    check_done(calls);
}

/* Site 4 leaves out generation 1, in which the others wait, ready or not. All meetings of that call
 * fail, and the next call goes on, even though it has entered only one of its meetings when it
 * finds that. */
TEST_OPEN(left_out)
{
    struct call first[NUM_LOCAL], second[NUM_LOCAL];
    call_with(&first[0], 1, 0, 1);
    call_with(&first[1], 1, 1, 1);
    ready(&first[0], SUM);
    call_with(&second[0], 2, 0, 1); /* it is in all meetings of generation 1 */
    CHECK(!first[0].has_ended && !first[1].has_ended);
    call_with(&second[2], 2, 2, 1);
    check_failed(&first[0], COHORT_ERR_MOVED_PAST, "site 4 (locality 0) has left out");
    check_failed(&first[1], COHORT_ERR_MOVED_PAST, "site 4 (locality 0) has left out");
    call_with(&second[1], 2, 1, 1);
    ready_all(second, GATHER);
    ready_all(second, SUM);
    check_done(second);
    check_goes_on(3);
}

/* A participant fails before it is ready, when the others are. */
TEST_OPEN(failed_before_ready)
{
    struct call calls[NUM_LOCAL], later[NUM_LOCAL];
    call_all(calls, 1);
    call_all(later, 2);
    for (unsigned index = 0; index < MEETINGS; index++) {
        ready(&calls[0], index);
        ready(&calls[1], index);
    }
    CHECK(cohort__actor_turn_begin(&comms[2]->actor));
    cohort__operation_fail_with(&calls[2].operation, COHORT_ERR_FAILED, "no luck");
    cohort__actor_turn_end(&comms[2]->actor);
    for (uint32_t rank = 0; rank < NUM_LOCAL; rank++)
        check_failed(&calls[rank], COHORT_ERR_FAILED, "no luck");
    ready_all(later, GATHER);
    ready_all(later, SUM);
    check_done(later);
}

/* A participant gets ready when its meeting has failed, and it has not been told yet. */
TEST_OPEN(ready_too_late)
{
    struct call calls[NUM_LOCAL];
    call_all(calls, 1);
    ready(&calls[0], SUM);
    ready(&calls[1], SUM);
    CHECK(cohort__actor_turn_begin(&comms[2]->actor)); /* so site 4 is told when that ends */
    cohort__operation_fail_with(&calls[0].operation, COHORT_ERR_FAILED, "no luck");
    CHECK(!calls[2].has_ended);
    cohort__participant_ready(&calls[2].meetings[SUM].participant);
    CHECK(!calls[2].has_ended);
    cohort__actor_turn_end(&comms[2]->actor);
    for (uint32_t rank = 0; rank < NUM_LOCAL; rank++)
        check_failed(&calls[rank], COHORT_ERR_FAILED, "no luck");
    check_goes_on(2);
}

/* Site 1 leaves the communicator. It fails what it is in, and what the others open later. */
TEST_OPEN(leaves)
{
    struct call first[NUM_LOCAL], second[NUM_LOCAL];
    call_all(first, 1);
    call_with(&second[1], 2, 1, 1);
    cohort__endpoint_leave(comms[0]);
    check_failed(&first[0], COHORT_ERR_CANCELLED, "has left"); /* its own */
    check_failed(&first[1], COHORT_ERR_GONE, "has left");
    check_failed(&first[2], COHORT_ERR_GONE, "has left");
    check_failed(&second[1], COHORT_ERR_GONE, "site 1 (locality 0) has left");
    call_with(&second[2], 2, 2, 1);
    check_failed(&second[2], COHORT_ERR_GONE, "site 1 (locality 0) has left");
}

/* The sites call different things. The texts name sites, not ranks. */
TEST_OPEN(mismatch)
{
    struct call calls[NUM_LOCAL];
    call_with(&calls[1], 1, 1, 1);
    call_with(&calls[2], 1, 2, 2);
    check_failed(&calls[1], COHORT_ERR_MISMATCH, "site 3 called");
    check_failed(&calls[2], COHORT_ERR_MISMATCH, "site 4 called");
    call_with(&calls[0], 1, 0, 1);
    check_failed(&calls[0], COHORT_ERR_MISMATCH, "site 4 called");
    ready(&calls[0], SUM); /* site 1 was told before it called, and is in no meeting */
    check_goes_on(2);
}

static void check_awaited(const struct cohort__participant *participant, const char *expected)
{
    char text[256] = "";
    cohort__participant_describe(participant, "", text, 0, sizeof(text));
    CHECK_TEXT(text, expected);
}

/* Who has not come and who is not ready are named as sites. One that is not ready asks nobody. */
TEST_OPEN(missing)
{
    struct call calls[NUM_LOCAL];
    bool asks;
    call_with(&calls[0], 1, 0, 1);
    call_with(&calls[1], 1, 1, 1);
    const struct cohort__participant *asker = &calls[0].meetings[SUM].participant;
    CHECK(cohort__participant_ask(asker, &asks) && !asks);
    ready(&calls[0], SUM);
    check_awaited(asker, " waits for site 3 (locality 0), no answer yet;"
                         " waits for site 4 (locality 0), no answer yet;");
    CHECK(cohort__participant_ask(asker, &asks) && asks);
    ready(&calls[1], SUM);
    check_awaited(asker, " waits for site 4 (locality 0), not called yet;");
    CHECK_INT(cohort__participant_absent(asker), 4);
    call_with(&calls[2], 1, 2, 1);
    ready_all(calls, GATHER);
    ready(&calls[2], SUM);
    check_done(calls);
}
