/* SPDX-License-Identifier: Apache-2.0 */
/* A correct pair of plans passes. With a mistake in any one place it does not pass, and the message
 * names the place. */
#include "tests/support/plan_check.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

enum { BYTES = 8, MAX_ITEMS = 16 };
enum { IN, OUT, TMP, OUT_END, NUM_BLOCKS };
enum { RECV, REDUCE, SEND, COPY, NUM_STEPS };

/* A plan whose arrays can be changed. */
struct broken {
    struct cohort__plan plan;
    struct cohort__block blocks[MAX_ITEMS];
    uint32_t refs[MAX_ITEMS];
    struct cohort__step steps[MAX_ITEMS];
    uint32_t successors[MAX_ITEMS];
    uint32_t table[MAX_ITEMS];
};

/* Two sites. Each receives the other's IN in TMP, reduces it with its own IN to OUT, and copies the
 * second half of OUT from TMP. */
static void broken_init(struct broken *broken, uint32_t site)
{
    struct cohort__plan_builder *builder = NULL;
    struct cohort__plan *plan = NULL;
    CHECK_OK(cohort__plan_builder_create(&builder, "pair", 2, site));
    uint32_t in = cohort__plan_range(builder, COHORT__SPACE_IN, 0, BYTES);
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, BYTES);
    uint32_t tmp = cohort__plan_tmp(builder, BYTES);
    uint32_t end = cohort__plan_range(builder, COHORT__SPACE_OUT, BYTES, BYTES);
    CHECK_INT(cohort__plan_recv(builder, 1, 1 - site, 3, &tmp, 1), RECV);
    CHECK_INT(cohort__plan_reduce(builder, 1, out, in, tmp), REDUCE);
    CHECK_INT(cohort__plan_send(builder, 1, 1 - site, 3, &in, 1), SEND);
    CHECK_INT(cohort__plan_copy(builder, 1, end, tmp), COPY);
    cohort__plan_after(builder, REDUCE, RECV);
    cohort__plan_after(builder, COPY, RECV);
    CHECK_OK(cohort__plan_finish(builder, &plan));
    broken->plan = *plan;
    memcpy(broken->blocks, plan->blocks, plan->num_blocks * sizeof(plan->blocks[0]));
    memcpy(broken->refs, plan->block_refs, plan->num_block_refs * sizeof(plan->block_refs[0]));
    memcpy(broken->steps, plan->steps, plan->num_steps * sizeof(plan->steps[0]));
    memcpy(broken->successors, plan->successors, plan->num_successors * sizeof(uint32_t));
    memcpy(broken->table, plan->recv_table, (plan->recv_mask + 1) * sizeof(uint32_t));
    broken->plan.blocks = broken->blocks;
    broken->plan.block_refs = broken->refs;
    broken->plan.steps = broken->steps;
    broken->plan.successors = broken->successors;
    broken->plan.recv_table = broken->table;
    cohort__plan_unref(plan);
}

static uint32_t *ref(struct broken *broken, uint32_t step, uint32_t index)
{
    return &broken->refs[broken->steps[step].first_block + index];
}

/* Makes the only successor of RECV, at INDEX, a successor of EARLIER, which has none. */
static void move_edge(struct broken *broken, uint32_t index, uint32_t earlier)
{
    uint32_t first = broken->steps[RECV].first_successor;
    if (index == 0) {
        uint32_t moved = broken->successors[first];
        broken->successors[first] = broken->successors[first + 1];
        broken->successors[first + 1] = moved;
    }
    broken->steps[RECV].num_successors = 1;
    broken->steps[earlier].first_successor = first + 1;
    broken->steps[earlier].num_successors = 1;
}

static void drop_edge(struct broken *broken, uint32_t step)
{
    uint32_t first = broken->steps[RECV].first_successor;
    broken->successors[first] = step == REDUCE ? COPY : REDUCE;
    broken->steps[RECV].num_successors = 1;
    broken->steps[step].num_waits = 0;
}

static void no_defect(struct broken *broken)
{
}

static void unknown_kind(struct broken *broken)
{
    broken->steps[COPY].kind = COHORT__STEP_ROUTE + 1;
}

static void wrong_phase(struct broken *broken)
{
    broken->steps[COPY].phase = 4;
}

static void wrong_site(struct broken *broken)
{
    broken->plan.this_site = 1;
}

static void peer_is_self(struct broken *broken)
{
    broken->steps[SEND].peer = 0;
}

static void peer_out_of_range(struct broken *broken)
{
    broken->steps[SEND].peer = 2;
}

static void other_tag(struct broken *broken)
{
    broken->steps[SEND].tag++;
}

static void other_phase(struct broken *broken)
{
    broken->steps[SEND].phase = 2;
}

static void send_becomes_join(struct broken *broken)
{
    broken->steps[SEND].kind = COHORT__STEP_JOIN;
    broken->steps[SEND].num_blocks = 0;
    broken->steps[SEND].bytes = 0;
}

static void recv_becomes_zero(struct broken *broken)
{
    broken->steps[RECV].kind = COHORT__STEP_ZERO;
    broken->table[0] = broken->table[1] = 0;
}

static void sends_twice(struct broken *broken)
{
    broken->steps[NUM_STEPS] = broken->steps[SEND];
    broken->steps[NUM_STEPS].num_successors = 0;
    broken->plan.num_steps++;
}

static void sends_less(struct broken *broken)
{
    broken->blocks[IN].bytes = BYTES / 2;
    broken->steps[SEND].bytes = BYTES / 2;
    broken->steps[REDUCE].kind = COHORT__STEP_COPY;
    broken->steps[REDUCE].num_blocks = 2;
    *ref(broken, REDUCE, 1) = TMP;
}

static void bytes_differ_from_blocks(struct broken *broken)
{
    broken->steps[SEND].bytes++;
}

static void operands_differ(struct broken *broken)
{
    broken->blocks[IN].bytes = BYTES / 2;
    broken->steps[SEND].bytes = BYTES / 2;
}

static void reduces_pieces(struct broken *broken)
{
    broken->blocks[IN].count = 2;
    broken->blocks[IN].bytes = BYTES / 2;
    broken->blocks[IN].stride = BYTES / 2;
}

static void missing_operand(struct broken *broken)
{
    broken->steps[REDUCE].num_blocks = 2;
}

static void blocks_out_of_range(struct broken *broken)
{
    broken->steps[COPY].first_block = broken->plan.num_block_refs - 1;
}

static void no_such_block(struct broken *broken)
{
    *ref(broken, COPY, 1) = NUM_BLOCKS;
}

static void beyond_tmp(struct broken *broken)
{
    broken->plan.tmp_bytes--;
}

static void beyond_out(struct broken *broken)
{
    broken->blocks[OUT_END].offset++;
}

static void offset_overflows(struct broken *broken)
{
    broken->blocks[IN].offset = SIZE_MAX - 2;
}

static void unknown_space(struct broken *broken)
{
    broken->blocks[OUT_END].space = 3;
}

static void no_such_successor(struct broken *broken)
{
    broken->successors[0] = NUM_STEPS;
}

static void successors_out_of_range(struct broken *broken)
{
    broken->steps[SEND].first_successor = broken->plan.num_successors;
    broken->steps[SEND].num_successors = 1;
}

static void wrong_waits(struct broken *broken)
{
    broken->steps[COPY].num_waits++;
}

static void waits_for_itself(struct broken *broken)
{
    move_edge(broken, 1, COPY);
}

/* Site 0 sends only after it has received. test_message_cycle makes site 1 do the same. */
static void sends_after_recv(struct broken *broken)
{
    broken->successors[broken->steps[RECV].first_successor + 1] = SEND;
    broken->steps[SEND].num_waits = 1;
    broken->steps[COPY].num_waits = 0;
}

static void reduces_too_early(struct broken *broken)
{
    drop_edge(broken, REDUCE);
}

static void copies_too_early(struct broken *broken)
{
    drop_edge(broken, COPY);
}

static void writes_in(struct broken *broken)
{
    *ref(broken, COPY, 0) = IN;
}

static void writes_same_out(struct broken *broken)
{
    *ref(broken, COPY, 0) = OUT;
}

static void writes_overlapping_out(struct broken *broken)
{
    broken->blocks[OUT_END].offset--;
}

static void leaves_out_a_gap(struct broken *broken)
{
    broken->blocks[OUT_END].offset++;
    broken->plan.out_bytes++;
}

static void leaves_out_the_end(struct broken *broken)
{
    broken->plan.out_bytes++;
}

static void reads_unwritten_tmp(struct broken *broken)
{
    broken->blocks[NUM_BLOCKS] = broken->blocks[TMP];
    broken->blocks[NUM_BLOCKS].offset += BYTES;
    broken->plan.num_blocks++;
    broken->plan.tmp_bytes += BYTES;
    *ref(broken, COPY, 1) = NUM_BLOCKS;
}

static void copies_onto_itself(struct broken *broken)
{
    *ref(broken, COPY, 1) = OUT_END;
}

static void writes_a_byte_twice(struct broken *broken)
{
    broken->blocks[OUT_END].count = 2;
    broken->blocks[OUT_END].bytes = BYTES / 2;
    broken->blocks[OUT_END].stride = 1;
}

static const struct {
    const char *name;
    void (*break_it)(struct broken *broken);
    const char *message;
} defects[] = {
    {"unknown_kind", unknown_kind, "site 0, step 3 (unknown kind"},
    {"wrong_phase", wrong_phase, "step 3 (COPY, phase 4): no such phase"},
    {"wrong_site", wrong_site, "plan 0 of 2 is for site 1 of 2"},
    {"peer_is_self", peer_is_self, "no such peer"},
    {"peer_out_of_range", peer_out_of_range, "no such peer"},
    {"other_tag", other_tag, "site 0, step 2 (SEND, phase 1, peer 1, tag 4): nobody receives it"},
    {"other_phase", other_phase, "nobody receives it"},
    {"send_becomes_join", send_becomes_join,
     "site 1, step 0 (RECV, phase 1, peer 0, tag 3): "
     "nobody sends it"},
    {"recv_becomes_zero", recv_becomes_zero, "site 1, step 2"},
    {"sends_twice", sends_twice, "sends what another step sends as well"},
    {"sends_less", sends_less, "sends 4 bytes, the receiver expects 8"},
    {"bytes_differ_from_blocks", bytes_differ_from_blocks, "its blocks have 8 bytes, the step 9"},
    {"operands_differ", operands_differ, "block 1 has 4 bytes, the step 8"},
    {"reduces_pieces", reduces_pieces, "block 1 is not contiguous"},
    {"missing_operand", missing_operand, "has 2 blocks"},
    {"blocks_out_of_range", blocks_out_of_range, "its blocks are out of range"},
    {"no_such_block", no_such_block, "block 1 does not exist"},
    {"beyond_tmp", beyond_tmp, "block 0 is out of bounds"},
    {"beyond_out", beyond_out, "block 0 is out of bounds"},
    {"offset_overflows", offset_overflows, "out of bounds"},
    {"unknown_space", unknown_space, "out of bounds"},
    {"no_such_successor", no_such_successor, "successor 0 does not exist"},
    {"successors_out_of_range", successors_out_of_range, "its successors are out of range"},
    {"wrong_waits", wrong_waits, "waits for 2 steps, but follows 1"},
    {"waits_for_itself", waits_for_itself, "site 0, step 3 (COPY, phase 1): never starts"},
    {"reduces_too_early", reduces_too_early, "byte 0 of TMP"},
    {"copies_too_early", copies_too_early, "byte 0 of TMP"},
    {"writes_in", writes_in, "step 3 (COPY, phase 1): writes byte 0 of IN"},
    {"writes_same_out", writes_same_out, "byte 0 of OUT, which step"},
    {"writes_overlapping_out", writes_overlapping_out, "byte 7 of OUT, which step"},
    {"leaves_out_a_gap", leaves_out_a_gap, "site 0: byte 8 of OUT is written by no step"},
    {"leaves_out_the_end", leaves_out_the_end, "site 0: byte 16 of OUT is written by no step"},
    {"reads_unwritten_tmp", reads_unwritten_tmp, "reads byte 8 of TMP, which no step before it"},
    {"copies_onto_itself", copies_onto_itself, "writes byte 8 of OUT, which step 3 touches"},
    {"writes_a_byte_twice", writes_a_byte_twice, "writes byte 9 of OUT, which step 3 touches"},
};

static cohort_status check_pair(void (*break_first)(struct broken *broken),
                                void (*break_second)(struct broken *broken))
{
    struct broken first, second;
    broken_init(&first, 0);
    broken_init(&second, 1);
    break_first(&first);
    break_second(&second);
    return plan_check((struct cohort__plan *[]){&first.plan, &second.plan}, 2);
}

TEST(good)
{
    CHECK_OK(check_pair(no_defect, no_defect));
    CHECK_OK(plan_check(NULL, 0));
}

TEST(defects)
{
    for (size_t i = 0; i < NUM_OF(defects); i++) {
        cohort_status status = check_pair(defects[i].break_it, no_defect);
        if (status != COHORT_ERR_BAD_PARAMETER)
            FAIL("%s is not found", defects[i].name);
        CHECK_CONTAINS(cohort_error_message(), defects[i].message);
    }
}

/* The caller's blocks may have gaps. */
static void may_have_a_gap(struct broken *broken)
{
    leaves_out_a_gap(broken);
    broken->plan.has_gaps = true;
}

TEST(gaps)
{
    struct cohort__plan_builder *builder = NULL;
    struct cohort__plan *plan = NULL;
    CHECK_OK(check_pair(may_have_a_gap, no_defect));
    CHECK_OK(cohort__plan_builder_create(&builder, "gaps", 1, 0));
    cohort__plan_set_gaps(builder);
    cohort__plan_zero(builder, 1, cohort__plan_range(builder, COHORT__SPACE_OUT, 1, 7));
    CHECK_OK(cohort__plan_finish(builder, &plan));
    CHECK_OK(plan_check(&plan, 1));
    cohort__plan_unref(plan);
}

/* Each dependency is correct alone. Only together do they form a cycle. */
static void sends_after_recv_only(struct broken *broken)
{
    sends_after_recv(broken);
    *ref(broken, COPY, 1) = IN;
}

TEST(message_cycle)
{
    CHECK_OK(check_pair(sends_after_recv_only, no_defect));
    CHECK_OK(check_pair(no_defect, sends_after_recv_only));
    CHECK_FAILS(check_pair(sends_after_recv_only, sends_after_recv_only), COHORT_ERR_BAD_PARAMETER,
                "never starts: deadlock");
}

/* Two sites that send first and then receive. This is correct only with memory for messages under
 * way. */
TEST(needs_memory)
{
    struct cohort__plan *plans[2];
    for (uint32_t site = 0; site < 2; site++) {
        struct cohort__plan_builder *builder = NULL;
        CHECK_OK(cohort__plan_builder_create(&builder, "unsafe", 2, site));
        uint32_t in = cohort__plan_range(builder, COHORT__SPACE_IN, 0, BYTES);
        uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, BYTES);
        uint32_t send = cohort__plan_send(builder, 1, 1 - site, 0, &in, 1);
        cohort__plan_after(builder, cohort__plan_recv(builder, 1, 1 - site, 0, &out, 1), send);
        CHECK_OK(cohort__plan_finish(builder, &plans[site]));
    }
    CHECK_FAILS(plan_check(plans, 2), COHORT_ERR_BAD_PARAMETER, "never starts: deadlock");
    cohort__plan_unref(plans[0]);
    cohort__plan_unref(plans[1]);
}

/* A write to IN is a mistake even if it is ordered after all steps that read IN. */
TEST(writes_in_later)
{
    struct cohort__plan_builder *builder = NULL;
    struct cohort__plan *plan = NULL;
    CHECK_OK(cohort__plan_builder_create(&builder, "later", 1, 0));
    uint32_t in = cohort__plan_range(builder, COHORT__SPACE_IN, 0, BYTES);
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, BYTES);
    uint32_t copy = cohort__plan_copy(builder, 1, out, in);
    cohort__plan_after(builder, cohort__plan_zero(builder, 1, in), copy);
    CHECK_OK(cohort__plan_finish(builder, &plan));
    CHECK_FAILS(plan_check(&plan, 1), COHORT_ERR_BAD_PARAMETER,
                "step 1 (ZERO, phase 1): writes byte 0 of IN");
    cohort__plan_unref(plan);
}

/* What is wrong with the plans of test_notes, where site 0 leaves a note for sites 1 and 2. */
struct note_defect {
    const char *message; /* NULL: nothing is wrong */
    uint32_t reader;     /* that the note is for */
    uint32_t num_sharers;
    uint32_t posts;  /* of site 0 */
    uint32_t reads;  /* of site 2 */
    uint32_t number; /* of the note that is read */
    size_t offset;
    bool reads_first; /* site 0 posts after a READ of what site 1 posts after its READ */
};

static struct cohort__plan *note_plan(const struct note_defect *defect, uint32_t site)
{
    static const uint32_t sites[] = {0, 1, 2};
    struct cohort__plan_builder *builder = NULL;
    struct cohort__plan *plan = NULL;
    CHECK_OK(cohort__plan_builder_create(&builder, "notes", 3, site));
    uint32_t in = cohort__plan_range(builder, COHORT__SPACE_IN, 0, BYTES);
    uint32_t post = COHORT__NO_STEP, read = COHORT__NO_STEP;
    for (uint32_t i = 0; site == 0 && i < defect->posts; i++)
        post = cohort__plan_post(builder, 1, 0, defect->reader, sites, defect->num_sharers, &in, 1);
    for (uint32_t i = 0; site > 0 && i < (site == 2 ? defect->reads : 1); i++)
        read = cohort__plan_read(builder, 1, defect->number, 0, defect->offset,
                                 cohort__plan_range(builder, COHORT__SPACE_OUT, i * 4, 4),
                                 COHORT__NO_BLOCK);
    if (defect->reads_first && site == 1)
        cohort__plan_after(builder, cohort__plan_post(builder, 1, 1, 0, sites, 2, &in, 1), read);
    if (defect->reads_first && site == 0)
        cohort__plan_after(builder, post,
                           cohort__plan_read(builder, 1, 1, 1, 0,
                                             cohort__plan_range(builder, COHORT__SPACE_OUT, 0, 4),
                                             COHORT__NO_BLOCK));
    CHECK_OK(cohort__plan_finish(builder, &plan));
    return plan;
}

TEST(notes)
{
    static const struct note_defect cases[] = {
        {NULL, COHORT__EVERYBODY, 3, 1, 1, 0, 4, false},
        {"site 2, step 0 (READ, phase 1): the note is not for this site", 1, 3, 1, 1, 0, 0, false},
        {"the note is not for this site", COHORT__EVERYBODY, 2, 1, 1, 0, 0, false},
        {"(READ, phase 1): nobody posts it, or twice", COHORT__EVERYBODY, 3, 2, 1, 0, 0, false},
        {"nobody posts it, or twice", COHORT__EVERYBODY, 3, 1, 1, 2, 0, false},
        {"nobody posts it, or twice", COHORT__EVERYBODY, 3, 1, 1, COHORT__PLAN_NOTES, 0, false},
        {"site 2, step 1 (READ, phase 1): reads a note twice", COHORT__EVERYBODY, 3, 1, 2, 0, 0,
         false},
        {"(POST, phase 1): 1 sites read it, not 2", COHORT__EVERYBODY, 3, 1, 0, 0, 0, false},
        {"the note has only 8 bytes", COHORT__EVERYBODY, 3, 1, 1, 0, 5, false},
        {"block 1 is out of bounds", COHORT__EVERYBODY, 3, 1, 1, 0, SIZE_MAX, false},
        {"never starts: deadlock", COHORT__EVERYBODY, 3, 1, 1, 0, 0, true},
    };
    for (size_t i = 0; i < NUM_OF(cases); i++) {
        struct cohort__plan *plans[3];
        for (uint32_t site = 0; site < 3; site++)
            plans[site] = note_plan(&cases[i], site);
        CHECK_INT(plan_check(plans, 3), cases[i].message ? COHORT_ERR_BAD_PARAMETER : COHORT_OK);
        if (cases[i].message)
            CHECK_CONTAINS(cohort_error_message(), cases[i].message);
        for (uint32_t site = 0; site < 3; site++)
            cohort__plan_unref(plans[site]);
    }
}
