/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/stencil_site.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/heat.h"
#include "examples/pgm.h"
#include "examples/share.h"

/* The sites are a grid, and each has a rectangle of the plate. For a step a site needs its
 * neighbours' edges as its border. The cells within need no border, so they are computed while the
 * edges are in flight:
 *
 *     exchange of the edges -- begin
 *     step of the cells within
 *     exchange of the edges -- end
 *     step of the cells along the edges
 *
 * After the last step site 0 gathers the rectangles and draws them. */

enum edge { ABOVE, BELOW, LEFT, RIGHT, NUM_EDGES };

struct stencil {
    struct site *site;
    const struct stencil_options *options;
    uint32_t grid_rows;
    uint32_t grid_columns;
    struct heat now;
    struct heat next;
    /* What is sent to the neighbours and received from them. It has the same places in edges_out
     * and in edges_in. */
    cohort_neighbour neighbours[NUM_EDGES];
    enum edge edges[NUM_EDGES];
    size_t num_neighbours;
    double *edges_out;
    double *edges_in;
    double *mine;      /* the rectangle without its border */
    double *all;       /* site 0: all of them, one behind the other */
    struct heat plate; /* site 0: put together */
    size_t *counts;    /* of cells, of each site */
};

/* Chooses the grid of all sites that is the nearest to a square. */
static void choose_grid(struct stencil *stencil)
{
    uint32_t num_sites = stencil->site->num_sites;
    uint32_t rows = 1;
    for (uint32_t i = 1; i * i <= num_sites; i++)
        if (num_sites % i == 0)
            rows = i;
    stencil->grid_rows = rows;
    stencil->grid_columns = num_sites / rows;
}

/* Where on the plate the rectangle of site INDEX is. */
static void find_place(const struct stencil *stencil, uint32_t index, size_t *ret_column,
                       size_t *ret_row, size_t *ret_width, size_t *ret_height)
{
    uint32_t column = index % stencil->grid_columns;
    uint32_t row = index / stencil->grid_columns;
    *ret_column = share_begin(stencil->options->width, stencil->grid_columns, column);
    *ret_width = share_size(stencil->options->width, stencil->grid_columns, column);
    *ret_row = share_begin(stencil->options->height, stencil->grid_rows, row);
    *ret_height = share_size(stencil->options->height, stencil->grid_rows, row);
}

static void add_neighbour(struct stencil *stencil, enum edge edge, uint32_t site, size_t offset)
{
    size_t count = edge == ABOVE || edge == BELOW ? stencil->now.width : stencil->now.height;
    stencil->edges[stencil->num_neighbours] = edge;
    stencil->neighbours[stencil->num_neighbours++] =
        (cohort_neighbour){.site = site, .offset = offset, .count = count};
}

static void find_neighbours(struct stencil *stencil)
{
    uint32_t index = stencil->site->index;
    uint32_t columns = stencil->grid_columns;
    size_t width = stencil->now.width;
    size_t height = stencil->now.height;
    if (index >= columns)
        add_neighbour(stencil, ABOVE, index - columns, 0);
    if (index + columns < stencil->site->num_sites)
        add_neighbour(stencil, BELOW, index + columns, width);
    if (index % columns > 0)
        add_neighbour(stencil, LEFT, index - 1, 2 * width);
    if (index % columns + 1 < columns)
        add_neighbour(stencil, RIGHT, index + 1, 2 * width + height);
}

static cohort_status allocate(struct stencil *stencil)
{
    struct site *site = stencil->site;
    size_t width = stencil->now.width;
    size_t height = stencil->now.height;
    size_t all = site->index == 0 ? (size_t)stencil->options->width * stencil->options->height : 0;
    cohort_status status =
        site_allocate(site, heat_cells(width, height), sizeof(double), &stencil->now.cells);
    if (!status)
        status =
            site_allocate(site, heat_cells(width, height), sizeof(double), &stencil->next.cells);
    if (!status)
        status = site_allocate(site, 2 * (width + height), sizeof(double), &stencil->edges_out);
    if (!status)
        status = site_allocate(site, 2 * (width + height), sizeof(double), &stencil->edges_in);
    if (!status)
        status = site_allocate(site, width * height, sizeof(double), &stencil->mine);
    if (!status)
        status = site_allocate(site, all, sizeof(double), &stencil->all);
    if (!status)
        status = site_allocate(site, site->num_sites, sizeof(size_t), &stencil->counts);
    if (!status && all)
        status = site_allocate(site, heat_cells(stencil->plate.width, stencil->plate.height),
                               sizeof(double), &stencil->plate.cells);
    return status;
}

static void release(struct stencil *stencil)
{
    free(stencil->now.cells);
    free(stencil->next.cells);
    free(stencil->edges_out);
    free(stencil->edges_in);
    free(stencil->mine);
    free(stencil->all);
    free(stencil->plate.cells);
    free(stencil->counts);
}

static cohort_status prepare(struct stencil *stencil)
{
    size_t column, row, width, height;
    const struct stencil_options *options = stencil->options;
    choose_grid(stencil);
    if (stencil->grid_rows > options->height || stencil->grid_columns > options->width)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "a grid of %" PRIu32 " x %" PRIu32 " sites needs more cells than "
                           "--width %" PRIu32 " --height %" PRIu32,
                           stencil->grid_columns, stencil->grid_rows, options->width,
                           options->height);
    find_place(stencil, stencil->site->index, &column, &row, &width, &height);
    stencil->now = stencil->next = (struct heat){.width = width, .height = height};
    stencil->plate = (struct heat){.width = options->width, .height = options->height};
    cohort_status status = allocate(stencil);
    if (status)
        return status;
    find_neighbours(stencil);
    /* The border of the plate stays as it is, in both. */
    heat_start(&stencil->now, column, row, options->width, options->height);
    heat_start(&stencil->next, column, row, options->width, options->height);
    return COHORT_OK;
}

/* Copies the cells of EDGE to CELLS. IS_BORDER: copies CELLS to the border beyond EDGE. */
static void copy_edge(struct stencil *stencil, enum edge edge, double *cells, bool is_border)
{
    const struct heat *heat = &stencil->now;
    size_t beyond = is_border ? 1 : 0;
    bool is_row = edge == ABOVE || edge == BELOW;
    size_t last = (is_row ? heat->height : heat->width) + beyond;
    size_t line = edge == ABOVE || edge == LEFT ? 1 - beyond : last;
    for (size_t i = 0; i < (is_row ? heat->width : heat->height); i++) {
        double *cell = is_row ? &heat_row(heat, line)[i + 1] : &heat_row(heat, i + 1)[line];
        if (is_border)
            *cell = cells[i];
        else
            cells[i] = *cell;
    }
}

/* The step of the cells that do not need the border. The others follow in step_edges. */
static void step_within(struct stencil *stencil)
{
    const struct heat *heat = &stencil->now;
    if (heat->width > 2 && heat->height > 2)
        heat_step(heat, &stencil->next, 2, heat->height - 1, 2, heat->width - 1);
}

static void step_edges(struct stencil *stencil)
{
    const struct heat *heat = &stencil->now;
    heat_step(heat, &stencil->next, 1, 1, 1, heat->width);
    heat_step(heat, &stencil->next, heat->height, heat->height, 1, heat->width);
    heat_step(heat, &stencil->next, 1, heat->height, 1, 1);
    heat_step(heat, &stencil->next, 1, heat->height, heat->width, heat->width);
}

static cohort_status step(struct stencil *stencil)
{
    struct site *site = stencil->site;
    const cohort_neighbour *neighbours = stencil->neighbours;
    size_t num = stencil->num_neighbours;
    for (size_t i = 0; i < num; i++)
        copy_edge(stencil, stencil->edges[i], stencil->edges_out + neighbours[i].offset, false);
    cohort_future *exchange =
        cohort_exchange(site->comm, stencil->edges_out, neighbours, num, stencil->edges_in,
                        neighbours, num, COHORT_DOUBLE, COHORT_AUTO_GENERATION);
    step_within(stencil);
    cohort_status status = cohort_await(exchange);
    if (status)
        return status;
    for (size_t i = 0; i < num; i++)
        copy_edge(stencil, stencil->edges[i], stencil->edges_in + neighbours[i].offset, true);
    step_edges(stencil);
    struct heat now = stencil->now;
    stencil->now = stencil->next;
    stencil->next = now;
    return COHORT_OK;
}

/* Site 0 gets the cells of all sites. */
static cohort_status collect(struct stencil *stencil)
{
    const struct heat *plate = &stencil->plate;
    size_t column, row, width, height;
    size_t mine = stencil->now.width * stencil->now.height;
    for (size_t y = 0; y < stencil->now.height; y++)
        memcpy(stencil->mine + y * stencil->now.width, heat_row(&stencil->now, y + 1) + 1,
               stencil->now.width * sizeof(double));
    for (uint32_t i = 0; i < stencil->site->num_sites; i++) {
        find_place(stencil, i, &column, &row, &width, &height);
        stencil->counts[i] = width * height;
    }
    cohort_status status = site_gather(stencil->site, stencil->mine, mine, stencil->all,
                                       stencil->counts, COHORT_DOUBLE);
    const double *from = stencil->all;
    for (uint32_t i = 0; !status && plate->cells && i < stencil->site->num_sites; i++) {
        find_place(stencil, i, &column, &row, &width, &height);
        for (size_t y = 0; y < height; y++, from += width)
            memcpy(heat_row(plate, row + y + 1) + column + 1, from, width * sizeof(double));
    }
    return status;
}

static cohort_status check(const struct heat *plate, const struct heat *serial)
{
    for (size_t row = 1; row <= plate->height; row++)
        for (size_t x = 1; x <= plate->width; x++) {
            const double *got = &heat_row(plate, row)[x];
            const double *want = &heat_row(serial, row)[x];
            if (memcmp(got, want, sizeof(*got)) != 0)
                return cohort_fail(COHORT_ERR_FAILED,
                                   "check failed: column %zu of row %zu is %.17g instead of %.17g",
                                   x - 1, row - 1, *got, *want);
        }
    return COHORT_OK;
}

/* Compares with the same at one site, where the whole plate is one rectangle. */
static cohort_status compare(const struct stencil *stencil)
{
    const struct heat *plate = &stencil->plate;
    struct heat now = {.width = plate->width, .height = plate->height};
    struct heat next = now;
    size_t cells = heat_cells(plate->width, plate->height);
    cohort_status status = site_allocate(stencil->site, cells, sizeof(double), &now.cells);
    if (!status)
        status = site_allocate(stencil->site, cells, sizeof(double), &next.cells);
    if (!status) {
        heat_start(&now, 0, 0, plate->width, plate->height);
        heat_start(&next, 0, 0, plate->width, plate->height);
    }
    for (uint32_t i = 0; !status && i < stencil->options->steps; i++) {
        heat_step(&now, &next, 1, plate->height, 1, plate->width);
        struct heat before = now;
        now = next;
        next = before;
    }
    if (!status)
        status = check(plate, &now);
    free(now.cells);
    free(next.cells);
    return status;
}

static cohort_status draw(const struct stencil *stencil)
{
    const struct heat *plate = &stencil->plate;
    uint8_t *samples = NULL;
    cohort_status status = site_allocate(stencil->site, plate->width * plate->height, 1, &samples);
    if (status)
        return status;
    for (size_t y = 0; y < plate->height; y++)
        for (size_t x = 0; x < plate->width; x++)
            samples[y * plate->width + x] = (uint8_t)(255 * heat_row(plate, y + 1)[x + 1] + 0.5);
    struct pgm picture = {
        .width = plate->width, .height = plate->height, .maxval = 255, .samples = samples};
    status = pgm_write(stencil->options->out, &picture);
    pgm_fini(&picture);
    return status;
}

static void report(const struct stencil *stencil)
{
    const struct heat *plate = &stencil->plate;
    double sum = 0;
    for (size_t y = 1; y <= plate->height; y++)
        for (size_t x = 1; x <= plate->width; x++)
            sum += heat_row(plate, y)[x];
    printf("plate: %zu x %zu cells, %" PRIu32 " steps\n", plate->width, plate->height,
           stencil->options->steps);
    printf("sites: %" PRIu32 " in %" PRIu32 " localities, a grid of %" PRIu32 " x %" PRIu32 "\n",
           stencil->site->num_sites, cohort_num_localities(), stencil->grid_columns,
           stencil->grid_rows);
    printf("temperature: %.6f in the mean\n", sum / (double)(plate->width * plate->height));
    printf("check: equal to one site's, bit for bit\n");
}

/* Site 0 compares and draws. The status of that is the status of all sites. */
static cohort_status finish(struct stencil *stencil)
{
    bool is_first = stencil->site->index == 0;
    cohort_status status = is_first ? compare(stencil) : COHORT_OK;
    if (is_first && !status)
        status = draw(stencil);
    status = site_agree(stencil->site, status, NULL, 0);
    if (is_first && !status)
        report(stencil);
    return status;
}

cohort_status stencil_site_run(struct site *site)
{
    struct stencil stencil = {.site = site, .options = site->work};
    cohort_status status = prepare(&stencil);
    for (uint32_t i = 0; !status && i < stencil.options->steps; i++)
        status = step(&stencil);
    if (!status)
        status = collect(&stencil);
    if (!status)
        status = finish(&stencil);
    release(&stencil);
    return status;
}
