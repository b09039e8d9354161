/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-alls from neighbour to neighbour, in one dimension of MESH after the other. The sites of a
 * dimension are a ring. A site sends all that it has for the others there as one message to the
 * next site. That one takes its own part and passes the rest on.
 *
 * At any time a site has num_sites blocks. They are ordered by a site number whose coordinates are
 * the source's in the dimensions that are done, and the target's in the others. So the blocks with
 * one coordinate, which a step sends or receives, are one strided block. At the end the order is
 * that of the sources, so nothing is rearranged. The blocks for the site itself are copied from
 * dimension to dimension.
 *
 * BOTH_WAYS: blocks go forwards to the nearer half of the others, and backwards to the other
 * half. */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/mesh.h"
#include "collectives/algo/pattern/wrap.h"

enum { PHASE = 1 };

/* The sites that differ from this one in one coordinate only, and what goes between them. */
struct line {
    uint32_t extent;
    uint32_t this_rank;
    uint32_t this_site;
    uint32_t stride;      /* between the numbers of sites of neighbouring ranks */
    size_t bytes;         /* from one rank to another */
    size_t forward;       /* where the part of TMP for what is passed on begins */
    uint32_t *to, *from;  /* by rank: what goes there, what comes from there */
    uint32_t *first_send; /* room for the blocks of a message */
};

/* The steps of one direction that the next dimension waits for. */
struct ends {
    uint32_t steps[3];
    uint32_t num_steps;
};

/* How many of the other sites are reached in one direction. */
static uint32_t reach_of(uint32_t extent, bool both_ways, bool is_forward)
{
    if (!both_ways)
        return is_forward ? extent - 1 : 0;
    return is_forward ? extent / 2 : (extent - 1) / 2;
}

/* The TMP of one direction, in `bytes` of a line. What is received in a round is passed on in the
 * next round, while another message arrives. */
static size_t forward_units(uint32_t reach)
{
    return reach > 1 ? 2 * (size_t)reach - 3 : 0;
}

static uint32_t rank_at(const struct line *line, uint32_t distance, bool is_forward)
{
    return is_forward ? cohort__wrap_after(line->this_rank, distance, line->extent)
                      : cohort__wrap_before(line->this_rank, distance, line->extent);
}

static uint32_t site_at(const struct line *line, uint32_t distance, bool is_forward)
{
    uint32_t first = line->this_site - line->this_rank * line->stride;
    return first + rank_at(line, distance, is_forward) * line->stride;
}

static uint32_t first_send_append(struct cohort__plan_builder *builder, const struct line *line,
                                  bool is_forward, uint32_t reach)
{
    for (uint32_t i = 0; i < reach; i++)
        line->first_send[i] = line->to[rank_at(line, 1 + i, is_forward)];
    return cohort__plan_send(builder, PHASE, site_at(line, 1, is_forward), 1, line->first_send,
                             reach);
}

/* What is passed on takes turns in two places, the first of them at FORWARD. */
static struct ends direction_append(struct cohort__plan_builder *builder, const struct line *line,
                                    bool is_forward, uint32_t reach, size_t forward, uint32_t after)
{
    struct ends ends = {.num_steps = 0};
    uint32_t next = site_at(line, 1, is_forward), previous = site_at(line, 1, !is_forward);
    uint32_t send = COHORT__NO_STEP, recv = COHORT__NO_STEP, passed_on = 0;
    for (uint32_t round = 1; round <= reach; round++) {
        size_t left = (reach - round) * line->bytes;
        size_t place = forward + (round % 2 ? 0 : (reach - 1) * line->bytes);
        uint32_t arriving[2] = {line->from[rank_at(line, round, !is_forward)]};
        uint32_t arrival, last_recv = recv;
        if (round < reach)
            arriving[1] = cohort__plan_range(builder, COHORT__SPACE_TMP, place, left);
        arrival =
            cohort__plan_recv(builder, PHASE, previous, round, arriving, round < reach ? 2 : 1);
        cohort__plan_after(builder, arrival, round > 2 ? send : after);
        if (round == 1)
            send = first_send_append(builder, line, is_forward, reach);
        else
            send = cohort__plan_send(builder, PHASE, next, round, &passed_on, 1);
        cohort__plan_after(builder, send, round == 1 ? after : last_recv);
        if (round == 1 || round == reach)
            ends.steps[ends.num_steps++] = send;
        recv = arrival;
        passed_on = arriving[1];
    }
    if (reach > 0)
        ends.steps[ends.num_steps++] = recv;
    return ends;
}

/* The blocks with coordinate RANK, in a buffer of num_sites blocks. */
static uint32_t coordinate_block(struct cohort__plan_builder *builder,
                                 const struct cohort__request *request, const struct line *line,
                                 struct cohort__block buffer, uint32_t rank)
{
    size_t piece = line->stride * request->bytes;
    return cohort__plan_block(
        builder, (struct cohort__block){.space = buffer.space,
                                        .count = request->num_sites / (line->stride * line->extent),
                                        .offset = buffer.offset + rank * piece,
                                        .bytes = piece,
                                        .stride = line->extent * piece});
}

/* One whole dimension. If IS_MORE, returns the step after which it is over. */
static uint32_t line_append(struct cohort__plan_builder *builder, const struct line *line,
                            bool both_ways, bool is_more, uint32_t after)
{
    uint32_t copy =
        cohort__plan_copy(builder, PHASE, line->from[line->this_rank], line->to[line->this_rank]);
    cohort__plan_after(builder, copy, after);
    size_t forward = line->forward;
    struct ends ends[2];
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t reach = reach_of(line->extent, both_ways, i == 0);
        ends[i] = direction_append(builder, line, i == 0, reach, forward, after);
        forward += forward_units(reach) * line->bytes;
    }
    if (!is_more)
        return COHORT__NO_STEP;
    uint32_t end = cohort__plan_join(builder, PHASE);
    cohort__plan_after(builder, end, copy);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < ends[i].num_steps; k++)
            cohort__plan_after(builder, end, ends[i].steps[k]);
    return end;
}

static size_t forward_bytes(const struct cohort__request *request, const struct cohort__mesh *mesh,
                            bool both_ways)
{
    size_t most = 0;
    for (uint32_t d = 0; d < mesh->num_dimensions; d++) {
        uint32_t extent = mesh->extents[d];
        size_t units = forward_units(reach_of(extent, both_ways, true)) +
                       forward_units(reach_of(extent, both_ways, false));
        size_t bytes = units * (request->num_sites / extent) * request->bytes;
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Blocks start in IN. After that they are in TMP and OUT in turn, and after the last dimension in
 * OUT. */
static void mesh_append(struct cohort__plan_builder *builder, const struct cohort__request *request,
                        const struct cohort__mesh *mesh, bool both_ways, uint32_t *ranks)
{
    uint32_t num = mesh->num_dimensions, after = COHORT__NO_STEP;
    size_t all = request->num_sites * request->bytes;
    uint32_t tmp = cohort__plan_tmp(builder, num > 1 ? all : 0);
    uint32_t forward = cohort__plan_tmp(builder, forward_bytes(request, mesh, both_ways));
    struct cohort__block buffers[2] = {{.space = COHORT__SPACE_OUT},
                                       cohort__plan_get_block(builder, tmp)};
    struct cohort__block from, to = {.space = COHORT__SPACE_IN};
    for (uint32_t d = 0; d < num; d++) {
        uint32_t extent = mesh->extents[d];
        struct line line = {.extent = extent,
                            .this_rank = cohort__mesh_coordinate(mesh, request->this_site, d),
                            .this_site = request->this_site,
                            .stride = cohort__mesh_stride(mesh, d),
                            .bytes = request->num_sites / extent * request->bytes,
                            .forward = cohort__plan_get_block(builder, forward).offset,
                            .to = ranks,
                            .from = ranks + extent,
                            .first_send = ranks + 2 * extent};
        from = buffers[(num - 1 - d) % 2];
        for (uint32_t rank = 0; rank < extent; rank++) {
            line.to[rank] = coordinate_block(builder, request, &line, to, rank);
            line.from[rank] = coordinate_block(builder, request, &line, from, rank);
        }
        after = line_append(builder, &line, both_ways, d + 1 < num, after);
        to = from;
    }
}

static void lines_build(struct cohort__plan_builder *builder, const struct cohort__request *request,
                        struct cohort__mesh mesh, bool both_ways)
{
    uint32_t *ranks = calloc(3 * (size_t)request->num_sites, sizeof(*ranks));
    if (ranks)
        mesh_append(builder, request, &mesh, both_ways, ranks);
    else
        cohort__plan_builder_fail(builder);
    free(ranks);
}

/* A dimension of e sites costs e - 1 messages. They have N/e blocks for each of e - 1, e - 2 .. 1
 * sites (both ways: about half as many). TMP: N blocks if there are several dimensions, and two of
 * the messages that are passed on. Both directions share the one port of a site. */
static struct cohort__cost lines_cost(const struct cohort__request *request,
                                      struct cohort__mesh mesh, bool both_ways)
{
    struct cohort__cost cost = {.memory = (double)forward_bytes(request, &mesh, both_ways)};
    for (uint32_t d = 0; d < mesh.num_dimensions; d++) {
        double unit = (double)(request->num_sites / mesh.extents[d]) * (double)request->bytes;
        for (int is_forward = 0; is_forward <= 1; is_forward++) {
            double reach = reach_of(mesh.extents[d], both_ways, is_forward);
            cost.startups += reach;
            cost.bytes += unit * reach * (reach + 1) / 2;
        }
    }
    if (mesh.num_dimensions > 1)
        cost.memory += cohort__cost_tmp(1, request->num_sites * request->bytes);
    cost.messages = cost.startups * request->num_sites;
    cost.moved = cost.bytes * request->num_sites;
    return cost;
}

static void one_way_build(struct cohort__plan_builder *builder,
                          const struct cohort__request *request, struct cohort__mesh mesh)
{
    lines_build(builder, request, mesh, false);
}

static struct cohort__cost one_way_cost(const struct cohort__request *request,
                                        struct cohort__mesh mesh)
{
    return lines_cost(request, mesh, false);
}

/* All-to-all, ring. A site sends all that it has for others as one message to the next site. A site
 * that gets a message takes its own part, which is the first one, and passes the rest on, in N-1
 * rounds.
 * Cost: (t_s + t_w m N/2)(N-1), which is optimal on a ring. TMP: 2 N - 5 blocks.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.5.1. */
const struct cohort__algorithm cohort__all_to_all_ring = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "ring",
    .mesh = cohort__mesh_line,
    .build_on = one_way_build,
    .cost_on = one_way_cost,
};

/* All-to-all, ring in both directions, as all_to_all_ring. Blocks for the nearer half of the
 * others go forwards, those for the other half backwards, in about N/2 rounds each.
 * Cost: about (t_s + t_w m N/4)(N-1) if a site has one port, half of that if it has one for each
 * neighbour. TMP: up to 2 N - 8 blocks.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.5.1, with the links
 * used both ways. */
static void both_ways_build(struct cohort__plan_builder *builder,
                            const struct cohort__request *request, struct cohort__mesh mesh)
{
    lines_build(builder, request, mesh, true);
}

static struct cohort__cost both_ways_cost(const struct cohort__request *request,
                                          struct cohort__mesh mesh)
{
    return lines_cost(request, mesh, true);
}

const struct cohort__algorithm cohort__all_to_all_bidirectional_ring = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "bidirectional_ring",
    .mesh = cohort__mesh_line,
    .build_on = both_ways_build,
    .cost_on = both_ways_cost,
};

/* All-to-all, mesh, over the rows and columns of cohort__mesh_square. First among the sites of a
 * row: the blocks for a whole column go together. Then among the sites of a column. Each is a ring
 * as in all_to_all_ring.
 * Cost: (2 t_s + t_w m N)(sqrt(N) - 1) for a square; a ring if N is prime. TMP: up to 3 N blocks.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.5.2. */
static struct cohort__mesh square(uint32_t num_sites)
{
    struct cohort__mesh mesh = cohort__mesh_square(num_sites);
    if (mesh.extents[1] == 1)
        mesh.num_dimensions = 1;
    return mesh;
}

const struct cohort__algorithm cohort__all_to_all_mesh = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "mesh",
    .mesh = square,
    .build_on = one_way_build,
    .cost_on = one_way_cost,
};

/* All-to-all, mesh of many dimensions, one for each prime factor of N. It does in one dimension
 * after the other what all_to_all_mesh does in two.
 * Cost: (t_s + t_w m N/2) sum(e - 1) over the factors e. TMP: up to 3 N blocks.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.5.2 and 4.5.3, of
 * which this is the general case. */
const struct cohort__algorithm cohort__all_to_all_mesh_nd = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "mesh_nd",
    .mesh = cohort__mesh_of_factors,
    .build_on = one_way_build,
    .cost_on = one_way_cost,
};

/* All-to-all, hypercube. In step i a site exchanges with site XOR 2^i the half of its blocks that
 * is for the other half of the hypercube. It is the mesh whose extents are all 2.
 * Cost: (t_s + t_w m N/2) log N: few messages, but log N / 2 times the bytes. TMP: N blocks.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.5.3. */
const struct cohort__algorithm cohort__all_to_all_hypercube = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "hypercube",
    .needs = cohort__needs_power_of_two,
    .accepts = cohort__is_power_of_two,
    .mesh = cohort__mesh_of_factors,
    .build_on = one_way_build,
    .cost_on = one_way_cost,
};
