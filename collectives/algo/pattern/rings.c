/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/rings.h"

#include "collectives/algo/pattern/wrap.h"

/* This site's ring in one dimension. Each coordinate stands for a range of `stride` pieces. */
struct ring {
    uint32_t extent;
    uint32_t coordinate; /* this site's */
    uint32_t stride;
    uint32_t base; /* the first piece of coordinate 0 */
    uint32_t next; /* sites */
    uint32_t previous;
    unsigned phase;
};

static struct ring ring_of(const struct cohort__rings *rings, uint32_t dimension)
{
    const struct cohort__mesh *mesh = &rings->mesh;
    uint32_t site = rings->this_site;
    uint32_t extent = mesh->extents[dimension];
    uint32_t stride = cohort__mesh_stride(mesh, dimension);
    uint32_t coordinate = cohort__mesh_coordinate(mesh, site, dimension);
    return (struct ring){
        .extent = extent,
        .coordinate = coordinate,
        .stride = stride,
        .base = site - site % stride - coordinate * stride,
        .next = cohort__mesh_move(mesh, site, dimension, (coordinate + 1) % extent),
        .previous = cohort__mesh_move(mesh, site, dimension, (coordinate + extent - 1) % extent),
        .phase = rings->phase};
}

/* The first piece of the site that is DISTANCE before this one. */
static uint32_t first_piece(const struct ring *ring, uint32_t distance)
{
    return ring->base +
           cohort__wrap_before(ring->coordinate, distance % ring->extent, ring->extent) *
               ring->stride;
}

static uint32_t range_before(struct cohort__plan_builder *builder, const struct ring *ring,
                             const struct cohort__vector *vector, uint32_t distance)
{
    return cohort__vector_block(builder, vector, first_piece(ring, distance), ring->stride);
}

/* In step k a site receives the pieces of the k-th site before it. It sends what it received in the
 * step before, or in step 1 its own. Returns the first RECV. */
static uint32_t ring_gather(struct cohort__plan_builder *builder, const struct ring *ring,
                            const struct cohort__vector *all, uint32_t own)
{
    uint32_t first_recv = cohort__plan_num_steps(builder);
    for (uint32_t k = 1; k < ring->extent; k++) {
        uint32_t block = range_before(builder, ring, all, k);
        cohort__plan_recv(builder, ring->phase, ring->previous, k, &block, 1);
    }
    for (uint32_t k = 1; k < ring->extent; k++) {
        uint32_t block = k == 1 ? own : range_before(builder, ring, all, k - 1);
        uint32_t send = cohort__plan_send(builder, ring->phase, ring->next, k, &block, 1);
        if (k > 1)
            cohort__plan_after(builder, send, first_recv + k - 2);
    }
    return first_recv;
}

/* The first SEND of a dimension comes after the RECVs of all lower dimensions. */
static void all_after(struct cohort__plan_builder *builder, const struct cohort__rings *rings,
                      uint32_t num_dimensions, const uint32_t *first_recvs, uint32_t send)
{
    for (uint32_t d = 0; d < num_dimensions; d++)
        for (uint32_t k = 1; k < rings->mesh.extents[d]; k++)
            cohort__plan_after(builder, send, first_recvs[d] + k - 1);
}

/* A RECV writes where the reduce_scatter has sent from, so it comes after that SEND. Except the
 * very first SEND, which was from IN. */
static void sends_before(struct cohort__plan_builder *builder, const struct cohort__rings *rings,
                         uint32_t dimension, uint32_t first_recv)
{
    uint32_t first = rings->first_dimension == dimension ? 2 : 1;
    for (uint32_t k = first; k < rings->mesh.extents[dimension]; k++)
        cohort__plan_after(builder, first_recv + k - 1, rings->first_sends[dimension] + k - 1);
}

void cohort__rings_all_gather(struct cohort__plan_builder *builder,
                              const struct cohort__rings *rings, const struct cohort__vector *all,
                              uint32_t own, uint32_t ready, uint32_t placed)
{
    uint32_t first_recvs[COHORT__MESH_MAX_DIMENSIONS];
    for (uint32_t d = 0; d < rings->mesh.num_dimensions; d++) {
        struct ring ring = ring_of(rings, d);
        if (d > 0 && ring.extent > 1)
            own = range_before(builder, &ring, all, 0);
        first_recvs[d] = ring_gather(builder, &ring, all, own);
        if (rings->has_sends)
            sends_before(builder, rings, d, first_recvs[d]);
        if (ring.extent == 1)
            continue;
        uint32_t first_send = first_recvs[d] + ring.extent - 1;
        cohort__plan_after(builder, first_send, d == 0 ? ready : placed);
        all_after(builder, rings, d, first_recvs, first_send);
    }
}

/* The memory of one dimension of a reduce_scatter. */
struct ring_memory {
    const struct cohort__vector *in; /* what this site contributes */
    /* For partial results, may be `in`; NULL: where they arrive. */
    const struct cohort__vector *out;
    uint32_t result; /* block for the last result; COHORT__NO_STEP: in `out` */
    uint32_t buffers[2];
};

static size_t largest_range(const struct ring *ring, const struct cohort__vector *vector)
{
    size_t largest = 0;
    for (uint32_t k = 0; k < ring->extent; k++) {
        size_t bytes = cohort__vector_bytes(vector, first_piece(ring, k), ring->stride);
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

/* Whether what arrives needs a buffer. It does if `out` has the data that it is reduced with. */
static bool has_buffers(const struct ring_memory *memory)
{
    return !memory->out || memory->out == memory->in;
}

/* How many buffers a ring of EXTENT sites needs for what arrives. HAS_RESULT: the last piece to
 * arrive needs none. */
static uint32_t rings_num_buffers(uint32_t extent, bool has_result)
{
    uint32_t num_buffers = extent - 1 - has_result;
    return num_buffers < 2 ? num_buffers : 2;
}

static void memory_init(struct ring_memory *memory, struct cohort__plan_builder *builder,
                        const struct ring *ring)
{
    bool has_result = memory->result != COHORT__NO_STEP;
    if (has_buffers(memory))
        for (uint32_t i = 0; i < rings_num_buffers(ring->extent, has_result); i++)
            memory->buffers[i] = cohort__plan_tmp(builder, largest_range(ring, memory->in));
}

/* The block in which step K's range arrives, and the block to which it is then reduced. */
static uint32_t arrival_of(struct cohort__plan_builder *builder, const struct ring *ring,
                           const struct ring_memory *memory, uint32_t k)
{
    if (k + 1 == ring->extent && memory->result != COHORT__NO_STEP)
        return memory->result;
    if (!has_buffers(memory))
        return range_before(builder, ring, memory->out, k + 1);
    struct cohort__block buffer = cohort__plan_get_block(builder, memory->buffers[(k - 1) % 2]);
    return cohort__plan_range(
        builder, COHORT__SPACE_TMP, buffer.offset,
        cohort__vector_bytes(memory->in, first_piece(ring, k + 1), ring->stride));
}

static uint32_t result_of(struct cohort__plan_builder *builder, const struct ring *ring,
                          const struct ring_memory *memory, uint32_t k)
{
    bool is_last = k + 1 == ring->extent;
    if (!memory->out || (is_last && memory->result != COHORT__NO_STEP))
        return arrival_of(builder, ring, memory, k);
    return range_before(builder, ring, memory->out, k + 1);
}

/* A buffer is free when the REDUCE from it is done. If its result stays in it, it is free when the
 * SEND is done. */
static void buffers_before(struct cohort__plan_builder *builder, const struct ring *ring,
                           const struct ring_memory *memory, uint32_t first_recv)
{
    uint32_t num_steps = ring->extent - 1;
    bool has_result = memory->result != COHORT__NO_STEP;
    uint32_t first_free = memory->out ? first_recv + num_steps : first_recv + 2 * num_steps + 1;
    if (has_buffers(memory))
        for (uint32_t k = 3; k + has_result <= num_steps; k++)
            cohort__plan_after(builder, first_recv + k - 1, first_free + k - 3);
}

/* In step k a site sends the partly reduced pieces of the k-th site before it, and receives those
 * of the site before that one. Returns the last REDUCE. The SENDs begin at *RET_FIRST_SEND. Only
 * RECVs may start before AFTER. */
static uint32_t ring_reduce(struct cohort__plan_builder *builder, const struct ring *ring,
                            const struct ring_memory *memory, uint32_t after,
                            uint32_t *ret_first_send)
{
    uint32_t num_steps = ring->extent - 1;
    uint32_t first_recv = cohort__plan_num_steps(builder);
    uint32_t first_reduce = first_recv + num_steps;
    uint32_t first_send = first_reduce + num_steps;
    for (uint32_t k = 1; k <= num_steps; k++) {
        uint32_t block = arrival_of(builder, ring, memory, k);
        cohort__plan_recv(builder, ring->phase, ring->previous, k, &block, 1);
    }
    for (uint32_t k = 1; k <= num_steps; k++) {
        uint32_t left = arrival_of(builder, ring, memory, k);
        uint32_t right = range_before(builder, ring, memory->in, k + 1);
        uint32_t result = result_of(builder, ring, memory, k);
        cohort__plan_reduce(builder, ring->phase, result, left, right);
        cohort__plan_after(builder, first_reduce + k - 1, first_recv + k - 1);
        cohort__plan_after(builder, first_reduce + k - 1, after);
    }
    for (uint32_t k = 1; k <= num_steps; k++) {
        uint32_t block = k == 1 ? range_before(builder, ring, memory->in, 1)
                                : result_of(builder, ring, memory, k - 1);
        cohort__plan_send(builder, ring->phase, ring->next, k, &block, 1);
        cohort__plan_after(builder, first_send + k - 1, k == 1 ? after : first_reduce + k - 2);
    }
    buffers_before(builder, ring, memory, first_recv);
    *ret_first_send = first_send;
    return first_reduce + num_steps - 1;
}

uint32_t cohort__rings_reduce_scatter(struct cohort__plan_builder *builder,
                                      struct cohort__rings *rings, const struct cohort__vector *in,
                                      const struct cohort__vector *all, uint32_t result)
{
    struct ring_memory memory = {.in = in, .out = all};
    struct cohort__vector held; /* what this site has after the first dimension */
    uint32_t after = COHORT__NO_STEP;
    rings->first_dimension = cohort__mesh_last_dimension(&rings->mesh);
    rings->has_sends = true;
    for (uint32_t d = rings->first_dimension + 1; d-- > 0;) {
        struct ring ring = ring_of(rings, d);
        memory.result = !all && d == 0 ? result : COHORT__NO_STEP;
        if (!memory.out && d > 0) {
            held = cohort__vector_in_tmp(builder, in, first_piece(&ring, 0), ring.stride);
            memory.result = range_before(builder, &ring, &held, 0);
        }
        memory_init(&memory, builder, &ring);
        after = ring_reduce(builder, &ring, &memory, after, &rings->first_sends[d]);
        if (!all)
            memory.out = &held;
        memory.in = memory.out;
    }
    return after;
}

struct cohort__cost cohort__rings_all_gather_cost(const struct cohort__mesh *mesh,
                                                  const struct cohort__vector *all)
{
    struct cohort__cost cost = {0};
    for (uint32_t d = 0; d < mesh->num_dimensions; d++) {
        uint32_t num_steps = mesh->extents[d] - 1;
        cost.startups += num_steps;
        cost.bytes +=
            num_steps * (double)cohort__vector_bytes(all, 0, cohort__mesh_stride(mesh, d));
    }
    cost.messages = all->num_pieces * cost.startups;
    cost.moved = (all->num_pieces - 1.0) * (double)all->bytes;
    return cost;
}

/* Buffers take turns, see rings_num_buffers. */
static double reduce_scatter_memory(const struct cohort__mesh *mesh,
                                    const struct cohort__vector *in, bool in_place)
{
    enum { ALIGNMENT = 64 };
    uint32_t first = cohort__mesh_last_dimension(mesh);
    double memory = 0;
    for (uint32_t d = 0; d <= first; d++) {
        bool has_result = !in_place && (d == 0 || d == first);
        uint32_t num_blocks = rings_num_buffers(mesh->extents[d], has_result);
        if (in_place && d == first)
            num_blocks = 0;
        if (!in_place && d == first && d > 0)
            num_blocks++;
        size_t bytes = cohort__vector_bytes(in, 0, cohort__mesh_stride(mesh, d));
        memory += num_blocks * (double)(bytes + ALIGNMENT);
    }
    return memory;
}

struct cohort__cost cohort__rings_reduce_scatter_cost(const struct cohort__mesh *mesh,
                                                      const struct cohort__vector *in,
                                                      bool in_place)
{
    struct cohort__cost cost = cohort__rings_all_gather_cost(mesh, in);
    cost.reduced = cost.bytes;
    cost.combined = cost.moved;
    if (in->num_pieces > 1)
        cost.memory = reduce_scatter_memory(mesh, in, in_place);
    return cost;
}
