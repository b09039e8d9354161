/* SPDX-License-Identifier: Apache-2.0 */
/* Shift, hop by hop. The blocks of all sites move at the same time. In each hop every site sends
 * its block to one site and receives that of another one, or keeps its block. */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh.h"
#include "collectives/algo/pattern/wrap.h"

/* What this site does in one hop. If it keeps its block, both are this site. Else none is. */
struct hop {
    uint32_t to;
    uint32_t from;
};

enum { PHASE = 1 };

static uint32_t count_moves(const struct cohort__request *request, const struct hop *hops,
                            uint32_t num_hops)
{
    uint32_t num_moves = 0;
    for (uint32_t hop = 0; hop < num_hops; hop++)
        num_moves += hops[hop].to != request->this_site;
    return num_moves;
}

/* A block is received in the place of the one before the last, after that one has been sent on. */
static void moves_append(struct cohort__plan_builder *builder,
                         const struct cohort__request *request, const struct hop *hops,
                         uint32_t num_moves)
{
    uint32_t places[2] = {cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes)};
    uint32_t at = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    uint32_t last_send = COHORT__NO_STEP, last_recv = COHORT__NO_STEP;
    if (num_moves > 1)
        places[1] = cohort__plan_tmp(builder, request->bytes);
    for (uint32_t hop = 0, left = num_moves; left > 0; hop++) {
        if (hops[hop].to == request->this_site)
            continue;
        uint32_t place = places[--left % 2];
        uint32_t recv = cohort__plan_recv(builder, PHASE, hops[hop].from, hop, &place, 1);
        uint32_t send = cohort__plan_send(builder, PHASE, hops[hop].to, hop, &at, 1);
        cohort__plan_after(builder, send, last_recv);
        if (num_moves - left > 2)
            cohort__plan_after(builder, recv, last_send);
        at = place;
        last_recv = recv;
        last_send = send;
    }
}

/* Moves the block from IN to OUT over NUM_HOPS hops, which must be the same number at all sites.
 * TMP: a block at a site that moves in two hops or more. Received blocks take turns in it and
 * OUT. */
static void hops_build(struct cohort__plan_builder *builder, const struct cohort__request *request,
                       const struct hop *hops, uint32_t num_hops)
{
    uint32_t num_moves = count_moves(request, hops, num_hops);
    if (num_moves > 0)
        moves_append(builder, request, hops, num_moves);
    else
        cohort__plan_copy(builder, PHASE,
                          cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes),
                          cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes));
}

/* The cost of NUM_HOPS hops in which all sites move. */
static struct cohort__cost hops_cost(const struct cohort__request *request, uint32_t num_hops)
{
    double bytes = num_hops * (double)request->bytes;
    return (struct cohort__cost){.startups = num_hops,
                                 .bytes = bytes,
                                 .messages = (double)num_hops * request->num_sites,
                                 .moved = bytes * request->num_sites,
                                 .memory = num_hops > 1 ? (double)request->bytes : 0};
}

/* Shift, direct: one message from each site i to site i + q, modulo N.
 * Cost: t_s + t_w m. TMP: none.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.6.2: what a hypercube
 * with E-cube routing needs. */
static void direct_build(struct cohort__plan_builder *builder,
                         const struct cohort__request *request)
{
    struct hop hop = {
        .to = cohort__wrap_after(request->this_site, request->shift, request->num_sites),
        .from = cohort__wrap_before(request->this_site, request->shift, request->num_sites)};
    hops_build(builder, request, &hop, 1);
}

static struct cohort__cost direct_cost(const struct cohort__request *request)
{
    return hops_cost(request, request->shift > 0);
}

const struct cohort__algorithm cohort__shift_direct = {
    .collective = COHORT__SHIFT,
    .name = "direct",
    .build = direct_build,
    .cost = direct_cost,
};

/* Shift, ring: min(q, N - q) hops to a neighbour, the shorter way round.
 * Cost: (t_s + t_w m) min(q, N - q). TMP: a block.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.6. */
static uint32_t ring_count_hops(const struct cohort__request *request)
{
    uint32_t back = request->num_sites - request->shift;
    return request->shift < back ? request->shift : back;
}

static void ring_build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    uint32_t num_sites = request->num_sites, this_site = request->this_site;
    uint32_t num_hops = ring_count_hops(request);
    bool is_forward = num_hops == request->shift;
    uint32_t one = num_sites > 1;
    uint32_t after = cohort__wrap_after(this_site, one, num_sites);
    uint32_t before = cohort__wrap_before(this_site, one, num_sites);
    struct hop *hops = calloc(num_hops + (size_t)1, sizeof(*hops));
    if (!hops) {
        cohort__plan_builder_fail(builder);
        return;
    }
    for (uint32_t hop = 0; hop < num_hops; hop++)
        hops[hop] =
            (struct hop){.to = is_forward ? after : before, .from = is_forward ? before : after};
    hops_build(builder, request, hops, num_hops);
    free(hops);
}

static struct cohort__cost ring_cost(const struct cohort__request *request)
{
    return hops_cost(request, ring_count_hops(request));
}

const struct cohort__algorithm cohort__shift_ring = {
    .collective = COHORT__SHIFT,
    .name = "ring",
    .build = ring_build,
    .cost = ring_cost,
};

/* Shift, mesh, over the rows and columns of cohort__mesh_square, with C sites in a row and R rows.
 * With q = a C + b, blocks first move b columns forward in their row. Those that have passed its
 * end, which are now in the first b columns, move one row forward. Then all move a rows forward.
 * Rows and columns are rings, and blocks go round the shorter way.
 * Cost: (t_s + t_w m)(min(b, C - b) + (b > 0) + min(a, R - a)): at most C/2 + R/2 + 1 hops, which
 * is sqrt(N) + 1 for a square. If there is one row, since N is prime, it is a ring. TMP: a block.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.6.1. */
enum { COLUMN = 0, ROW = 1 }; /* the coordinates */

/* A move in one dimension, the shorter way round. */
struct walk {
    uint32_t num_hops;
    bool is_forward;
};

static struct walk walk_of(uint32_t distance, uint32_t extent)
{
    struct walk walk = {.num_hops = distance, .is_forward = distance <= extent - distance};
    if (!walk.is_forward)
        walk.num_hops = extent - distance;
    return walk;
}

static struct hop hop_in(const struct cohort__mesh *mesh, uint32_t site, uint32_t dimension,
                         bool is_forward)
{
    uint32_t extent = mesh->extents[dimension];
    uint32_t place = cohort__mesh_coordinate(mesh, site, dimension);
    uint32_t one = extent > 1;
    uint32_t after =
        cohort__mesh_move(mesh, site, dimension, cohort__wrap_after(place, one, extent));
    uint32_t before =
        cohort__mesh_move(mesh, site, dimension, cohort__wrap_before(place, one, extent));
    return (struct hop){.to = is_forward ? after : before, .from = is_forward ? before : after};
}

static uint32_t mesh_hops(const struct cohort__request *request, const struct cohort__mesh *mesh,
                          struct hop *hops)
{
    uint32_t site = request->this_site;
    uint32_t columns = request->shift % mesh->extents[COLUMN];
    struct walk in_row = walk_of(columns, mesh->extents[COLUMN]);
    struct walk in_column = walk_of(request->shift / mesh->extents[COLUMN], mesh->extents[ROW]);
    uint32_t num_hops = 0;
    for (uint32_t i = 0; i < in_row.num_hops; i++)
        hops[num_hops++] = hop_in(mesh, site, COLUMN, in_row.is_forward);
    if (cohort__mesh_coordinate(mesh, site, COLUMN) < columns)
        hops[num_hops++] = hop_in(mesh, site, ROW, true);
    else
        hops[num_hops++] = (struct hop){.to = site, .from = site};
    for (uint32_t i = 0; i < in_column.num_hops; i++)
        hops[num_hops++] = hop_in(mesh, site, ROW, in_column.is_forward);
    return num_hops;
}

static void mesh_build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    size_t most = mesh.extents[COLUMN] / 2 + mesh.extents[ROW] / 2 + (size_t)1;
    struct hop *hops = calloc(most, sizeof(*hops));
    if (!hops) {
        cohort__plan_builder_fail(builder);
        return;
    }
    uint32_t num_hops = mesh_hops(request, &mesh, hops);
    hops_build(builder, request, hops, num_hops);
    free(hops);
}

/* Only the first `columns` sites of each row make the hop to the next row, if there are several
 * rows. */
static struct cohort__cost mesh_cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    uint32_t columns = request->shift % mesh.extents[COLUMN];
    uint32_t num_hops = walk_of(columns, mesh.extents[COLUMN]).num_hops +
                        walk_of(request->shift / mesh.extents[COLUMN], mesh.extents[ROW]).num_hops;
    struct cohort__cost cost = hops_cost(request, num_hops);
    if (columns > 0 && mesh.extents[ROW] > 1) {
        double moving = (double)columns * mesh.extents[ROW];
        cost.startups++;
        cost.bytes += (double)request->bytes;
        cost.messages += moving;
        cost.moved += moving * (double)request->bytes;
        cost.memory = (double)request->bytes;
    }
    return cost;
}

const struct cohort__algorithm cohort__shift_mesh = {
    .collective = COHORT__SHIFT,
    .name = "mesh",
    .build = mesh_build,
    .cost = mesh_cost,
};

/* Shift, hypercube. Site x is node gray(x) = x XOR x/2 of a hypercube, so that the ring of sites
 * goes along its links. q is a sum of powers of two, and the shift is a sequence of shifts by
 * these. A shift by 1 is one hop. A shift by 2^k, k > 0, is two hops, since gray(x) and gray(x +
 * 2^k) differ in bit k - 1 and one other. The hop of bit k - 1 comes first. In each hop every link
 * carries at most one message in each direction.
 * Cost: (t_s + t_w m)(2 s - (q odd)) with s powers in q, at most 2 log N - 1. TMP: a block.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.6.2. */
enum { MAX_HOPS = 64 };

static uint32_t gray(uint32_t site)
{
    return site ^ site >> 1;
}

static uint32_t site_of_gray(uint32_t node)
{
    for (uint32_t distance = 1; distance < 32; distance *= 2)
        node ^= node >> distance;
    return node;
}

static uint32_t hypercube_hops(const struct cohort__request *request, struct hop *hops)
{
    uint32_t num_sites = request->num_sites, site = request->this_site;
    uint32_t num_hops = 0;
    for (uint32_t power = 1; power < num_sites; power *= 2) {
        uint32_t bit = power / 2; /* 0 for a shift by 1 */
        uint32_t across = site_of_gray(gray(site) ^ bit);
        uint32_t source = cohort__wrap_before(site, power, num_sites);
        if (!(request->shift & power))
            continue;
        if (bit != 0)
            hops[num_hops++] = (struct hop){.to = across, .from = across};
        hops[num_hops++] = (struct hop){.to = cohort__wrap_after(across, power, num_sites),
                                        .from = site_of_gray(gray(source) ^ bit)};
    }
    return num_hops;
}

static void hypercube_build(struct cohort__plan_builder *builder,
                            const struct cohort__request *request)
{
    struct hop hops[MAX_HOPS];
    uint32_t num_hops = hypercube_hops(request, hops);
    hops_build(builder, request, hops, num_hops);
}

static struct cohort__cost hypercube_cost(const struct cohort__request *request)
{
    struct hop hops[MAX_HOPS];
    return hops_cost(request, hypercube_hops(request, hops));
}

const struct cohort__algorithm cohort__shift_hypercube = {
    .collective = COHORT__SHIFT,
    .name = "hypercube",
    .needs = cohort__needs_power_of_two,
    .accepts = cohort__is_power_of_two,
    .build = hypercube_build,
    .cost = hypercube_cost,
};
