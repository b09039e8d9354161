/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, by trees, on a mesh of C columns and R rows. First an all-gather in each row, so that
 * all sites of a row have all that the row has. Then each site is the root of a scatter in its
 * column, of the blocks from its whole row. The all-gather is by doubling: in the step of k = 1, 2,
 * 4 .. a site sends what it has to the k-th site before it. The scatters of a column go together,
 * by Bruck's rounds. N = C R is as square as the factors of N allow, and rows are the shorter ones.
 * With a prime N there is nothing to gather.
 * Cost: ceil(log C) + ceil(log R) messages, (C - 1) N blocks in the first phase, whose messages
 * double, and about C R/2 log R in the second. It sends more bytes than all_to_all/bruck.c without
 * fewer messages: it is here to be compared with. TMP: (C - 1) N + 2 (R - 3) C blocks.
 * Source: the text on all-to-all algorithms that we were given. It counts log N steps, too, but
 * takes a scatter from one root. */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/mesh.h"
#include "collectives/algo/pattern/subplans.h"
#include "collectives/algo/pattern/wrap.h"
#include "collectives/plan/embed.h"

enum { GATHER = 1, SCATTER = 2, MAX_PIECES = 3 };

/* The matrix row of this site is in IN. The matrix row of the d-th site after it, round its mesh
 * row, is row d - 1 of TMP. */
struct tree {
    const struct cohort__request *request;
    struct cohort__plan_builder *builder;
    uint32_t num_columns;
    uint32_t num_rows;
    uint32_t column;
    uint32_t row;
    size_t row_bytes; /* of IN */
    size_t gathered;  /* where TMP begins */
};

/* What embedding the scatters needs. */
struct arrays {
    uint32_t *sites;
    /* For each rank MAX_PIECES to be sent and one to be received. */
    uint32_t *blocks;
    /* For each rank one to be sent, then for each one to be received. */
    struct cohort__block_list *lists;
};

static void tree_init(struct tree *self, const struct cohort__request *request,
                      struct cohort__plan_builder *builder)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    *self = (struct tree){.request = request,
                          .builder = builder,
                          .num_columns = mesh.extents[1],
                          .num_rows = mesh.extents[0],
                          .column = request->this_site % mesh.extents[1],
                          .row = request->this_site / mesh.extents[1],
                          .row_bytes = request->num_sites * request->bytes};
}

static uint32_t gathered_rows(const struct tree *self, uint32_t first, uint32_t count)
{
    return cohort__plan_range(self->builder, COHORT__SPACE_TMP,
                              self->gathered + first * self->row_bytes, count * self->row_bytes);
}

/* Returns the step after which all rows are there. */
static uint32_t gather(struct tree *self)
{
    struct cohort__plan_builder *builder = self->builder;
    uint32_t num_columns = self->num_columns, first = self->request->this_site - self->column;
    uint32_t send = COHORT__NO_STEP, recv = COHORT__NO_STEP, end;
    uint32_t tmp = cohort__plan_tmp(builder, (num_columns - 1) * self->row_bytes);
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, self->row_bytes);
    self->gathered = cohort__plan_get_block(builder, tmp).offset;
    for (uint64_t distance = 1; distance < num_columns; distance *= 2) {
        uint32_t k = (uint32_t)distance;
        uint32_t count = k < num_columns - k ? k : num_columns - k;
        uint32_t arriving = gathered_rows(self, k - 1, count);
        uint32_t leaving[2] = {own, count > 1 ? gathered_rows(self, 0, count - 1) : own};
        uint32_t last_recv = recv, last_send = send;
        recv = cohort__plan_recv(builder, GATHER,
                                 first + cohort__wrap_after(self->column, k, num_columns), k,
                                 &arriving, 1);
        send = cohort__plan_send(builder, GATHER,
                                 first + cohort__wrap_before(self->column, k, num_columns), k,
                                 leaving, count > 1 ? 2 : 1);
        cohort__plan_after(builder, send, last_recv);
        cohort__plan_after(builder, send, last_send);
    }
    if (num_columns <= 2)
        return recv;
    end = cohort__plan_join(builder, GATHER);
    cohort__plan_after(builder, end, recv);
    cohort__plan_after(builder, end, send);
    return end;
}

/* The blocks for SITE in COUNT gathered rows from FIRST on. */
static uint32_t gathered_column(const struct tree *self, uint32_t first, uint32_t count,
                                uint32_t site)
{
    return cohort__plan_block(
        self->builder, (struct cohort__block){.space = COHORT__SPACE_TMP,
                                              .count = count,
                                              .offset = self->gathered + first * self->row_bytes +
                                                        site * self->request->bytes,
                                              .bytes = self->request->bytes,
                                              .stride = self->row_bytes});
}

/* What goes to a site of this column: the blocks from all sites of this row, in their order. */
static uint32_t pieces_for(const struct tree *self, uint32_t site, uint32_t *ret_pieces)
{
    size_t bytes = self->request->bytes;
    uint32_t before = self->column, after = self->num_columns - 1 - self->column;
    uint32_t num_pieces = 0;
    if (before > 0)
        ret_pieces[num_pieces++] = gathered_column(self, after, before, site);
    ret_pieces[num_pieces++] =
        cohort__plan_range(self->builder, COHORT__SPACE_IN, site * bytes, bytes);
    if (after > 0)
        ret_pieces[num_pieces++] = gathered_column(self, 0, after, site);
    return num_pieces;
}

static bool arrays_init(struct arrays *arrays, const struct tree *self)
{
    size_t num_rows = self->num_rows;
    *arrays = (struct arrays){
        .sites = calloc(num_rows, sizeof(*arrays->sites)),
        .blocks = calloc((MAX_PIECES + 1) * num_rows, sizeof(*arrays->blocks)),
        .lists = calloc(2 * num_rows, sizeof(*arrays->lists)),
    };
    return arrays->sites && arrays->blocks && arrays->lists;
}

static void arrays_fill(struct arrays *arrays, const struct tree *self)
{
    size_t bytes = self->num_columns * self->request->bytes;
    for (uint32_t row = 0; row < self->num_rows; row++) {
        uint32_t *to = &arrays->blocks[(size_t)row * (MAX_PIECES + 1)];
        uint32_t *from = to + MAX_PIECES;
        arrays->sites[row] = row * self->num_columns + self->column;
        *from = cohort__plan_range(self->builder, COHORT__SPACE_OUT, row * bytes, bytes);
        arrays->lists[row] = (struct cohort__block_list){
            .blocks = to, .num_blocks = pieces_for(self, arrays->sites[row], to)};
        arrays->lists[self->num_rows + row] =
            (struct cohort__block_list){.blocks = from, .num_blocks = 1};
    }
}

static void scatter(struct tree *self, uint32_t after)
{
    struct cohort__request request = {.num_sites = self->num_rows,
                                      .this_site = self->row,
                                      .bytes = self->num_columns * self->request->bytes};
    struct cohort__plan *subplan = NULL;
    struct arrays arrays;
    if (arrays_init(&arrays, self)) {
        arrays_fill(&arrays, self);
        cohort__algorithm_plan(&cohort__all_to_all_bruck, &request, &subplan);
    }
    if (subplan) {
        struct cohort__embedding embedding = {.sites = arrays.sites,
                                              .block_map = arrays.lists,
                                              .phase = SCATTER,
                                              .after = after,
                                              .recv_after = COHORT__NO_STEP};
        cohort__plan_embed(self->builder, subplan, &embedding);
    } else {
        cohort__plan_builder_fail(self->builder);
    }
    cohort__plan_unref(subplan);
    free(arrays.sites);
    free(arrays.blocks);
    free(arrays.lists);
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct tree self;
    tree_init(&self, request, builder);
    scatter(&self, gather(&self));
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    uint32_t num_columns = mesh.extents[1], num_sites = request->num_sites;
    struct cohort__cost gathers = {.startups = cohort__log2_ceiling(num_columns),
                                   .bytes =
                                       (num_columns - 1.0) * num_sites * (double)request->bytes};
    gathers.messages = gathers.startups * num_sites;
    gathers.moved = gathers.bytes * num_sites;
    gathers.memory = cohort__cost_tmp(1, (size_t)(num_columns - 1) * num_sites * request->bytes);
    return cohort__cost_then(
        gathers, cohort__cost_at_once(
                     cohort__all_to_all_bruck_cost(mesh.extents[0], num_columns * request->bytes),
                     num_columns));
}

const struct cohort__algorithm cohort__all_to_all_tree = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "tree",
    .replicates = true,
    .build = build,
    .cost = cost,
};
