/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/plan_run.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"

enum { RUBBISH = 0xa5, MOST_MEMBERS = 64 };

/* A message from a SEND to a RECV. */
struct message {
    uint32_t source;
    uint32_t send;
    uint32_t target;
    uint32_t recv;
    uint8_t *payload; /* NULL: to be fetched from the sender's blocks */
};

struct site {
    const struct cohort__plan *plan;
    const uint8_t *in;
    uint8_t *out;
    uint8_t *tmp;
    uint8_t *check;
    uint32_t *waits;
    uint32_t num_left;                  /* steps that are not done */
    bool *is_started;                   /* for each RECV, MEET and READ that waits */
    uint8_t *notes[COHORT__PLAN_NOTES]; /* that it has left; NULL: not yet */
    struct message **arrived;           /* for each RECV that has not started yet */
};

/* Something that may happen next: a message arrives, or a step starts. */
struct event {
    struct message *message;
    uint32_t site;
    uint32_t step;
};

struct runner {
    const struct plan_run *run;
    struct cohort__random random;
    struct site *sites;
    struct event *events;
    size_t num_events;
    size_t num_left; /* steps that are not done */
};

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);
    if (!memory)
        abort();
    return memory;
}

static const struct cohort__block *step_block(const struct site *site,
                                              const struct cohort__step *step, uint32_t index)
{
    return &site->plan->blocks[site->plan->block_refs[step->first_block + index]];
}

static const uint8_t *read_address(const struct site *site, const struct cohort__block *block)
{
    const uint8_t *base = block->space == COHORT__SPACE_IN    ? site->in
                          : block->space == COHORT__SPACE_OUT ? site->out
                          : block->space == COHORT__SPACE_TMP ? site->tmp
                                                              : site->check;
    return base + block->offset;
}

/* IN must not be written to. The plan check ensures that it never is. */
static uint8_t *write_address(const struct site *site, const struct cohort__block *block)
{
    uint8_t *base = block->space == COHORT__SPACE_OUT   ? site->out
                    : block->space == COHORT__SPACE_TMP ? site->tmp
                                                        : site->check;
    return base + block->offset;
}

static size_t pack_block(const struct site *site, const struct cohort__block *block, uint8_t *to)
{
    const uint8_t *from = read_address(site, block);
    for (uint32_t i = 0; i < block->count; i++)
        memcpy(to + i * block->bytes, from + i * block->stride, block->bytes);
    return block->count * block->bytes;
}

static size_t unpack_block(const struct site *site, const struct cohort__block *block,
                           const uint8_t *from)
{
    uint8_t *to = write_address(site, block);
    for (uint32_t i = 0; i < block->count; i++)
        memcpy(to + i * block->stride, from + i * block->bytes, block->bytes);
    return block->count * block->bytes;
}

/* The bytes of the blocks of a SEND. */
static uint8_t *pack(const struct site *site, const struct cohort__step *step)
{
    uint8_t *bytes = allocate(step->bytes, 1);
    size_t place = 0;
    for (uint32_t i = 0; i < step->num_blocks; i++)
        place += pack_block(site, step_block(site, step, i), bytes + place);
    return bytes;
}

static void unpack(const struct site *site, const struct cohort__step *step, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < step->num_blocks; i++)
        bytes += unpack_block(site, step_block(site, step, i), bytes);
}

static void event_add(struct runner *self, struct event event)
{
    self->events[self->num_events++] = event;
}

static void step_done(struct runner *self, uint32_t index, uint32_t step)
{
    struct site *site = &self->sites[index];
    const struct cohort__step *done = &site->plan->steps[step];
    self->num_left--;
    site->num_left--;
    for (uint32_t i = 0; i < done->num_successors; i++) {
        uint32_t next = site->plan->successors[done->first_successor + i];
        if (--site->waits[next] == 0)
            event_add(self, (struct event){.site = index, .step = next});
    }
}

static void message_free(struct message *message)
{
    if (message)
        free(message->payload);
    free(message);
}

/* The SEND and the RECV are both complete. */
static void message_done(struct runner *self, struct message *message)
{
    struct site *source = &self->sites[message->source];
    struct site *target = &self->sites[message->target];
    bool is_fetched = !message->payload;
    if (is_fetched)
        message->payload = pack(source, &source->plan->steps[message->send]);
    unpack(target, &target->plan->steps[message->recv], message->payload);
    step_done(self, message->target, message->recv);
    if (is_fetched)
        step_done(self, message->source, message->send);
    message_free(message);
}

static cohort_status send_start(struct runner *self, uint32_t index, uint32_t step)
{
    struct site *site = &self->sites[index];
    const struct cohort__step *send = &site->plan->steps[step];
    uint32_t recv =
        cohort__plan_find_recv(self->sites[send->peer].plan, send->phase, index, send->tag);
    if (recv == COHORT__NO_STEP)
        return cohort_fail(COHORT_ERR_PROTOCOL, "site %u, step %u: nobody receives it", index,
                           step);
    struct message *message = allocate(1, sizeof(*message));
    *message = (struct message){
        .source = index, .send = step, .target = send->peer, .recv = recv, .payload = NULL};
    if (cohort__random_below(&self->random, 2) == 0) {
        message->payload = pack(site, send);
        step_done(self, index, step);
    }
    event_add(self, (struct event){.message = message});
    return COHORT_OK;
}

static void recv_start(struct runner *self, uint32_t index, uint32_t step)
{
    struct site *site = &self->sites[index];
    const struct cohort__step *recv = &site->plan->steps[step];
    uint8_t *rubbish = allocate(recv->bytes, 1);
    memset(rubbish, RUBBISH, recv->bytes);
    unpack(site, recv, rubbish);
    free(rubbish);
    site->is_started[step] = true;
    if (site->arrived[step]) {
        message_done(self, site->arrived[step]);
        site->arrived[step] = NULL;
    }
}

/* COHORT__STEP_OP_MIN. */
static void minimum(void *to, const void *left, const void *right, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += sizeof(int16_t)) {
        int16_t a, b;
        memcpy(&a, (const uint8_t *)left + i, sizeof(a));
        memcpy(&b, (const uint8_t *)right + i, sizeof(b));
        memcpy((uint8_t *)to + i, a < b ? &a : &b, sizeof(a));
    }
}

/* COPY, REDUCE, ZERO, JOIN, GUARD. */
static void local_run(struct runner *self, uint32_t index, uint32_t step)
{
    struct site *site = &self->sites[index];
    const struct cohort__step *local = &site->plan->steps[step];
    uint8_t *bytes = allocate(local->bytes, 1);
    plan_run_op *op = local->op == COHORT__STEP_OP_MIN ? minimum : self->run->op;
    if (local->kind == COHORT__STEP_REDUCE)
        op(write_address(site, step_block(site, local, 0)),
           read_address(site, step_block(site, local, 1)),
           read_address(site, step_block(site, local, 2)), local->bytes);
    if (local->kind == COHORT__STEP_COPY)
        pack_block(site, step_block(site, local, 1), bytes);
    if (local->kind == COHORT__STEP_COPY || local->kind == COHORT__STEP_ZERO)
        unpack_block(site, step_block(site, local, 0), bytes);
    free(bytes);
    if (local->kind != COHORT__STEP_GUARD || self->run->guard(site->check))
        step_done(self, index, step);
}

/* Meetings --------------------------------------------------------------------------------- */

/* A meeting, as all its members see it. */
struct meeting {
    struct runner *runner;
    const struct cohort__plan *plan; /* of one of them */
    const struct cohort__step *step;
    uint32_t steps[MOST_MEMBERS]; /* by rank */
};

static uint32_t find_meeting(const struct cohort__plan *plan, uint32_t tag)
{
    uint32_t step = 0;
    while (plan->steps[step].kind != COHORT__STEP_MEET || plan->steps[step].tag != tag)
        step++;
    return step;
}

static const uint8_t *meeting_in(const struct meeting *meeting, uint32_t rank)
{
    const struct site *site = &meeting->runner->sites[cohort__plan_member(meeting->plan, rank)];
    return read_address(site, step_block(site, &site->plan->steps[meeting->steps[rank]], 1));
}

/* Where it puts BYTES. Ends the test if there is no room for them. */
static uint8_t *meeting_out(const struct meeting *meeting, uint32_t rank, size_t bytes)
{
    const struct site *site = &meeting->runner->sites[cohort__plan_member(meeting->plan, rank)];
    const struct cohort__block *block =
        step_block(site, &site->plan->steps[meeting->steps[rank]], 0);
    if (block->bytes != bytes)
        abort();
    return write_address(site, block);
}

/* The root of a scatter may have its block already where it is. */
static bool leaves_in_place(const struct meeting *meeting, uint32_t rank)
{
    const struct site *site = &meeting->runner->sites[cohort__plan_member(meeting->plan, rank)];
    return rank == meeting->step->peer &&
           step_block(site, &site->plan->steps[meeting->steps[rank]], 0)->bytes == 0;
}

/* Rank TARGET gets block BLOCK of the first NUM ranks, reduced. */
static void meeting_reduce(const struct meeting *meeting, uint32_t target, uint32_t num,
                           uint32_t block)
{
    size_t bytes = meeting->step->bytes, offset = block * bytes;
    plan_run_op *op = meeting->step->op == COHORT__STEP_OP_MIN ? minimum : meeting->runner->run->op;
    uint8_t *to = meeting_out(meeting, target, bytes);
    memcpy(to, meeting_in(meeting, 0) + offset, bytes);
    for (uint32_t rank = 1; rank < num; rank++)
        op(to, to, meeting_in(meeting, rank) + offset, bytes);
}

/* What RANK gets where all get something. */
static void meeting_get(const struct meeting *meeting, uint32_t rank)
{
    size_t bytes = meeting->step->bytes;
    uint32_t num = meeting->plan->num_members, shift = meeting->step->peer;
    switch ((enum cohort__collective)meeting->step->collective) {
    case COHORT__ALL_GATHER:
        for (uint32_t from = 0; from < num; from++)
            memcpy(meeting_out(meeting, rank, num * bytes) + from * bytes,
                   meeting_in(meeting, from), bytes);
        break;
    case COHORT__ALL_TO_ALL:
        for (uint32_t from = 0; from < num; from++)
            memcpy(meeting_out(meeting, rank, num * bytes) + from * bytes,
                   meeting_in(meeting, from) + rank * bytes, bytes);
        break;
    case COHORT__ALL_REDUCE:
        meeting_reduce(meeting, rank, num, 0);
        break;
    case COHORT__REDUCE_SCATTER:
        meeting_reduce(meeting, rank, num, rank);
        break;
    case COHORT__SCAN:
        meeting_reduce(meeting, rank, rank + 1, 0);
        break;
    case COHORT__EXCLUSIVE_SCAN:
        if (rank > 0)
            meeting_reduce(meeting, rank, rank, 0);
        break;
    case COHORT__SHIFT:
        memcpy(meeting_out(meeting, rank, bytes), meeting_in(meeting, (rank + num - shift) % num),
               bytes);
        break;
    default: /* those with a root, see meeting_move */
        break;
    }
}

static void meeting_move(const struct meeting *meeting)
{
    size_t bytes = meeting->step->bytes;
    uint32_t root = meeting->step->peer, num = meeting->plan->num_members;
    if (bytes == 0)
        return;
    if (meeting->step->collective == COHORT__REDUCE) {
        meeting_reduce(meeting, root, num, 0);
        return;
    }
    for (uint32_t rank = 0; rank < num; rank++) {
        if (meeting->step->collective == COHORT__GATHER)
            memcpy(meeting_out(meeting, root, num * bytes) + rank * bytes,
                   meeting_in(meeting, rank), bytes);
        else if (meeting->step->collective == COHORT__SCATTER && !leaves_in_place(meeting, rank))
            memcpy(meeting_out(meeting, rank, bytes), meeting_in(meeting, root) + rank * bytes,
                   bytes);
        else if (meeting->step->collective == COHORT__BROADCAST && rank != root)
            memcpy(meeting_out(meeting, rank, bytes), meeting_in(meeting, root), bytes);
        else
            meeting_get(meeting, rank);
    }
}

/* The last member to start moves the data. */
static void meeting_start(struct runner *self, uint32_t index, uint32_t step)
{
    const struct cohort__plan *plan = self->sites[index].plan;
    struct meeting meeting = {.runner = self, .plan = plan, .step = &plan->steps[step]};
    if (plan->num_members > MOST_MEMBERS)
        abort();
    self->sites[index].is_started[step] = true;
    for (uint32_t rank = 0; rank < plan->num_members; rank++) {
        const struct site *site = &self->sites[cohort__plan_member(plan, rank)];
        meeting.steps[rank] = find_meeting(site->plan, meeting.step->tag);
        if (!site->is_started[meeting.steps[rank]])
            return;
    }
    meeting_move(&meeting);
    for (uint32_t rank = 0; rank < plan->num_members; rank++)
        step_done(self, cohort__plan_member(plan, rank), meeting.steps[rank]);
}

/* Notes ------------------------------------------------------------------------------------ */

static void note_read(struct runner *self, uint32_t index, uint32_t step)
{
    struct site *site = &self->sites[index];
    const struct cohort__step *read = &site->plan->steps[step];
    const uint8_t *note =
        self->sites[read->peer].notes[read->tag] + step_block(site, read, 1)->offset;
    plan_run_op *op = read->op == COHORT__STEP_OP_MIN ? minimum : self->run->op;
    if (read->num_blocks == 3)
        op(write_address(site, step_block(site, read, 0)),
           read_address(site, step_block(site, read, 2)), note, read->bytes);
    else
        unpack_block(site, step_block(site, read, 0), note);
    step_done(self, index, step);
}

static void read_start(struct runner *self, uint32_t index, uint32_t step)
{
    const struct cohort__step *read = &self->sites[index].plan->steps[step];
    if (self->sites[read->peer].notes[read->tag])
        note_read(self, index, step);
    else
        self->sites[index].is_started[step] = true;
}

/* Those who wait for it read it now; the others when they start. */
static void post_start(struct runner *self, uint32_t index, uint32_t step)
{
    struct site *site = &self->sites[index];
    const struct cohort__step *post = &site->plan->steps[step];
    const struct cohort__sharers *sharers = &site->plan->notes[post->tag];
    site->notes[post->tag] = pack(site, post);
    step_done(self, index, step);
    for (uint32_t i = 0; i < sharers->num; i++) {
        uint32_t other = site->plan->sharers[sharers->first + i];
        const struct cohort__plan *plan = self->sites[other].plan;
        for (uint32_t k = 0; k < plan->num_steps; k++)
            if (plan->steps[k].kind == COHORT__STEP_READ && plan->steps[k].peer == index &&
                plan->steps[k].tag == post->tag && self->sites[other].is_started[k])
                note_read(self, other, k);
    }
}

static cohort_status event_run(struct runner *self, struct event event)
{
    if (event.message) {
        struct site *target = &self->sites[event.message->target];
        if (target->is_started[event.message->recv])
            message_done(self, event.message);
        else if (target->arrived[event.message->recv])
            message_free(event.message); /* sent twice: there will be steps that can't start */
        else
            target->arrived[event.message->recv] = event.message;
        return COHORT_OK;
    }
    unsigned kind = self->sites[event.site].plan->steps[event.step].kind;
    if (kind == COHORT__STEP_SEND)
        return send_start(self, event.site, event.step);
    if (kind == COHORT__STEP_RECV)
        recv_start(self, event.site, event.step);
    else if (kind == COHORT__STEP_MEET)
        meeting_start(self, event.site, event.step);
    else if (kind == COHORT__STEP_POST)
        post_start(self, event.site, event.step);
    else if (kind == COHORT__STEP_READ)
        read_start(self, event.site, event.step);
    else
        local_run(self, event.site, event.step);
    return COHORT_OK;
}

static void site_init(struct runner *self, uint32_t index)
{
    const struct cohort__plan *plan = self->run->plans[index];
    struct site *site = &self->sites[index];
    *site = (struct site){
        .plan = plan,
        .num_left = plan->num_steps,
        .in = self->run->in[index],
        .out = self->run->out[index],
        .check = self->run->check ? self->run->check[index] : NULL,
        .tmp = allocate(plan->tmp_bytes, 1),
        .waits = allocate(plan->num_steps, sizeof(*site->waits)),
        .is_started = allocate(plan->num_steps, sizeof(*site->is_started)),
        .arrived = allocate(plan->num_steps, sizeof(*site->arrived)),
    };
    memset(site->tmp, RUBBISH, plan->tmp_bytes);
    for (uint32_t i = 0; i < plan->num_steps; i++) {
        site->waits[i] = plan->steps[i].num_waits;
        if (site->waits[i] == 0)
            event_add(self, (struct event){.site = index, .step = i});
    }
}

static void site_fini(struct site *site)
{
    for (uint32_t i = 0; i < site->plan->num_steps; i++)
        message_free(site->arrived[i]);
    for (uint32_t i = 0; i < COHORT__PLAN_NOTES; i++)
        free(site->notes[i]);
    free(site->tmp);
    free(site->waits);
    free(site->is_started);
    free(site->arrived);
}

cohort_status plan_run(const struct plan_run *run)
{
    struct runner self = {.run = run};
    cohort_status status = COHORT_OK;
    self.random = cohort__random_seeded(run->seed);
    for (uint32_t i = 0; i < run->num_sites; i++)
        self.num_left += run->plans[i]->num_steps;
    self.sites = allocate(run->num_sites, sizeof(*self.sites));
    self.events = allocate(2 * self.num_left, sizeof(*self.events));
    for (uint32_t i = 0; i < run->num_sites; i++)
        site_init(&self, i);
    while (self.num_events > 0) {
        size_t next = cohort__random_below(&self.random, self.num_events);
        struct event event = self.events[next];
        self.events[next] = self.events[--self.num_events];
        if (status == COHORT_OK)
            status = event_run(&self, event);
        else
            message_free(event.message);
    }
    if (status == COHORT_OK && self.num_left > 0)
        status = cohort_fail(COHORT_ERR_STATE, "%zu steps never start or end", self.num_left);
    for (uint32_t i = 0; i < run->num_sites && run->ret_is_done; i++)
        run->ret_is_done[i] = self.sites[i].num_left == 0;
    for (uint32_t i = 0; i < run->num_sites; i++)
        site_fini(&self.sites[i]);
    free(self.sites);
    free(self.events);
    return status;
}
