/* SPDX-License-Identifier: Apache-2.0 */
/* Scan, hypercube: prefix sums. A site keeps its result and the total of its subcube. In step k it
 * exchanges totals with the site whose number differs in bit k. The upper site adds what it gets to
 * its result, from the left. Both sites add what they get to their totals. The lower site's total
 * is always on the left, so the operation need not commute. If N is no power of two, steps without
 * a partner are left out. Then only the totals of sites that have no sites after them are
 * incomplete. A total that only such sites would need is not sent.
 * Cost: (t_s + t_w m) ceil(log N), and two reductions a step. TMP: two blocks.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4: the prefix-sum operation. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"

enum { PHASE = 1, TAG = 0, NUM_USERS = 3 };

/* A block of TMP, and the steps that have used its contents. */
struct buffer {
    uint32_t block;
    bool exists;
    uint32_t users[NUM_USERS];
    uint32_t num_users;
};

struct prefix {
    struct cohort__plan_builder *builder;
    const struct cohort__request *request;
    bool is_exclusive;
    struct buffer buffers[2];
    uint32_t total;       /* a block */
    uint32_t total_step;  /* the step that made it */
    struct buffer *holds; /* the total; NULL: the total is in IN */
    uint32_t result;      /* a block: OUT */
    uint32_t result_step; /* that made it; COHORT__NO_STEP: there is no result yet */
    uint32_t result_read; /* the step that has read it since, or COHORT__NO_STEP */
};

static void use(struct buffer *buffer, uint32_t step)
{
    if (buffer)
        buffer->users[buffer->num_users++] = step;
}

/* The buffer that does not hold the total. */
static struct buffer *buffer_take(struct prefix *self)
{
    struct buffer *buffer = &self->buffers[self->holds == &self->buffers[0]];
    if (!buffer->exists)
        buffer->block = cohort__plan_tmp(self->builder, self->request->bytes);
    buffer->exists = true;
    return buffer;
}

/* STEP writes to BUFFER, so it waits for all steps that have used it. */
static void buffer_write(struct prefix *self, struct buffer *buffer, uint32_t step)
{
    for (uint32_t i = 0; i < buffer->num_users; i++)
        cohort__plan_after(self->builder, step, buffer->users[i]);
    buffer->num_users = 0;
}

/* TO = LEFT op RIGHT after the steps A and B. */
static uint32_t reduce_append(struct prefix *self, uint32_t to, uint32_t left, uint32_t right,
                              uint32_t a, uint32_t b)
{
    uint32_t reduce = cohort__plan_reduce(self->builder, PHASE, to, left, right);
    cohort__plan_after(self->builder, reduce, a);
    cohort__plan_after(self->builder, reduce, b);
    return reduce;
}

/* Adds the total of the lower site, which is in ARRIVED after RECV, to the result, from the
 * left. */
static uint32_t result_append(struct prefix *self, uint32_t arrived, uint32_t recv)
{
    bool is_first = self->result_step == COHORT__NO_STEP;
    uint32_t own =
        is_first ? cohort__plan_range(self->builder, COHORT__SPACE_IN, 0, self->request->bytes)
                 : self->result;
    uint32_t reduce = reduce_append(self, self->result, arrived, own, recv, self->result_step);
    cohort__plan_after(self->builder, reduce, self->result_read);
    self->result_read = COHORT__NO_STEP;
    self->result_step = reduce;
    return reduce;
}

/* Makes the new total in BUFFER. ARRIVED may be in BUFFER, too. READER is the step that also reads
 * ARRIVED. */
static void total_append(struct prefix *self, struct buffer *buffer, uint32_t arrived,
                         uint32_t recv, uint32_t reader, bool is_upper)
{
    uint32_t left = is_upper ? arrived : self->total;
    uint32_t right = is_upper ? self->total : arrived;
    uint32_t reduce = reduce_append(self, buffer->block, left, right, recv, self->total_step);
    cohort__plan_after(self->builder, reduce, reader);
    use(self->holds, reduce);
    if (arrived == self->result) {
        buffer_write(self, buffer, reduce);
        self->result_read = reduce;
    }
    buffer->num_users = 0;
    self->holds = buffer;
    self->total = buffer->block;
    self->total_step = reduce;
}

static void send_append(struct prefix *self, uint32_t partner)
{
    uint32_t send = cohort__plan_send(self->builder, PHASE, partner, TAG, &self->total, 1);
    cohort__plan_after(self->builder, send, self->total_step);
    use(self->holds, send);
}

/* PASSES_ON: there are sites after both that need their total. In an exclusive scan, the first
 * result is what arrives. */
static void recv_append(struct prefix *self, uint32_t partner, bool passes_on)
{
    bool is_upper = partner < self->request->this_site;
    bool is_result = is_upper && self->is_exclusive && self->result_step == COHORT__NO_STEP;
    struct buffer *buffer = is_result && !passes_on ? NULL : buffer_take(self);
    uint32_t arrived = is_result ? self->result : buffer->block;
    uint32_t recv = cohort__plan_recv(self->builder, PHASE, partner, TAG, &arrived, 1);
    uint32_t reader = COHORT__NO_STEP;
    if (is_result) {
        self->result_step = recv;
    } else {
        buffer_write(self, buffer, recv);
        if (is_upper)
            reader = result_append(self, arrived, recv);
        use(buffer, reader);
    }
    if (passes_on)
        total_append(self, buffer, arrived, recv, reader, is_upper);
}

static void steps_append(struct prefix *self)
{
    uint32_t num_sites = self->request->num_sites;
    uint32_t this_site = self->request->this_site;
    for (uint32_t k = 0; k < cohort__log2_ceiling(num_sites); k++) {
        uint32_t partner = this_site ^ 1U << k;
        uint64_t end = ((uint64_t)(this_site >> k >> 1) + 1) << k << 1; /* of both subcubes */
        bool passes_on = end < num_sites;
        if (partner >= num_sites)
            continue;
        if (partner > this_site || passes_on)
            send_append(self, partner);
        if (partner < this_site || passes_on)
            recv_append(self, partner, passes_on);
    }
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct prefix self = {.builder = builder,
                          .request = request,
                          .is_exclusive = request->collective == COHORT__EXCLUSIVE_SCAN,
                          .total_step = COHORT__NO_STEP,
                          .result_step = COHORT__NO_STEP,
                          .result_read = COHORT__NO_STEP};
    self.total = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    self.result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
    steps_append(&self);
    if (!self.is_exclusive && request->this_site == 0)
        cohort__alone_append(builder, request);
}

/* In step k, `cubes` is the number of whole subcubes of 2^(k+1) sites that have sites after them.
 * `upper` is the number of upper sites: 1 << k of each whole cube, and those of a last one that is
 * cut off. */
static struct cohort__cost scan_cost(const struct cohort__request *request)
{
    bool is_exclusive = request->collective == COHORT__EXCLUSIVE_SCAN;
    uint64_t num_sites = request->num_sites;
    uint32_t num_steps = cohort__log2_ceiling(request->num_sites);
    uint32_t num_buffers = num_sites > 4 ? 2 : num_sites > 1U + is_exclusive;
    double size = (double)request->bytes;
    struct cohort__cost cost = {.startups = num_steps, .memory = num_buffers * (size + 64)};
    for (uint32_t k = 0; k < num_steps; k++) {
        uint64_t half = UINT64_C(1) << k;
        uint64_t rest = num_sites % (2 * half);
        uint64_t upper = num_sites / (2 * half) * half + (rest > half ? rest - half : 0);
        uint64_t cubes = (num_sites - 1) / (2 * half);
        uint64_t first_results = is_exclusive ? (num_sites - 1 + half) / (2 * half) : 0;
        cost.messages += (double)(upper + cubes * half);
        cost.combined += (double)(upper - first_results + 2 * half * cubes) * size;
    }
    double reductions = is_exclusive ? 2.0 * num_steps - 2 : 2.0 * num_steps - 1;
    cost.reduced = num_steps > 0 ? reductions * size : 0;
    cost.bytes = cost.startups * size;
    cost.moved = cost.messages * size;
    return cost;
}

const struct cohort__algorithm cohort__scan_hypercube = {
    .collective = COHORT__SCAN,
    .name = "hypercube",
    .build = build,
    .cost = scan_cost,
};

/* Exclusive scan, hypercube: the scan without a site's own block. Site 0 gets nothing. The
 * last site's block is not sent. */
const struct cohort__algorithm cohort__exclusive_scan_hypercube = {
    .collective = COHORT__EXCLUSIVE_SCAN,
    .name = "hypercube",
    .build = build,
    .cost = scan_cost,
};
