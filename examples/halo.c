/* SPDX-License-Identifier: Apache-2.0 */
/* A box of cells without borders, spread over a grid of sites in three dimensions:
 *
 *     cohortrun -n 4 halo --size 48 --steps 20
 *
 * In each step a cell becomes a mean of itself and of the six cells next to it. A site's array has
 * room for the ghost cells around its own. Its six faces are layouts of that array, so all that is
 * between two steps is one cohort_exchange_layouts. Read `exchange` and `find_faces` first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "examples/command.h"
#include "examples/share.h"
#include "examples/sites.h"

enum { DIMS = 3, FACES = 2 * DIMS };

struct options {
    uint32_t size, steps;
};

/* A part of the box, with a ghost cell on either side of each dimension. */
struct part {
    size_t first[DIMS]; /* in the box */
    size_t cells[DIMS];
    size_t sizes[DIMS]; /* of the array */
    size_t num;         /* of cells without ghosts */
};

struct halo {
    struct site *site;
    size_t size;           /* of the box */
    uint32_t grid[DIMS];   /* sites along each dimension */
    struct part part;      /* this site's */
    double *now, *next;    /* its array, before and after a step */
    cohort_layout *inside; /* its cells without ghosts */
    cohort_layout *faces[DIMS];
    cohort_layout_neighbour to[FACES], from[FACES];
};

/* Where the sites are ----------------------------------------------------------------------- */

/* The grid whose faces are the smallest. */
static void choose_grid(struct halo *halo)
{
    uint32_t num = halo->site->num_sites;
    uint64_t least = UINT64_MAX;
    for (uint32_t x = 1; x <= num; x++)
        for (uint32_t y = 1; num % x == 0 && y <= num / x; y++) {
            uint32_t z = num / x / y;
            uint64_t cuts = (uint64_t)x + y + z;
            if (num / x % y != 0 || cuts >= least)
                continue;
            least = cuts;
            memcpy(halo->grid, (uint32_t[]){x, y, z}, sizeof(halo->grid));
        }
}

static void place_of(const struct halo *halo, uint32_t index, uint32_t place[DIMS])
{
    for (size_t dim = DIMS; dim-- > 0; index /= halo->grid[dim])
        place[dim] = index % halo->grid[dim];
}

static struct part part_of(const struct halo *halo, uint32_t index)
{
    struct part part = {.num = 1};
    uint32_t place[DIMS];
    place_of(halo, index, place);
    for (size_t dim = 0; dim < DIMS; dim++) {
        part.first[dim] = share_begin(halo->size, halo->grid[dim], place[dim]);
        part.cells[dim] = share_size(halo->size, halo->grid[dim], place[dim]);
        part.sizes[dim] = part.cells[dim] + 2;
        part.num *= part.cells[dim];
    }
    return part;
}

/* The site next to this one along DIM, around the box. */
static uint32_t next_to(const struct halo *halo, size_t dim, uint32_t step)
{
    uint32_t place[DIMS];
    place_of(halo, halo->site->index, place);
    place[dim] = (place[dim] + step) % halo->grid[dim];
    return (place[0] * halo->grid[1] + place[1]) * halo->grid[2] + place[2];
}

/* The faces of a dimension are one layout, at four places: the outermost cells at either end, and
 * the ghosts beyond them. Where both neighbours are the same site, blocks are matched in their
 * order: what goes down first comes from above first. */
static cohort_status find_faces(struct halo *halo)
{
    const struct part *part = &halo->part;
    cohort_status status = COHORT_OK;
    for (size_t dim = 0; !status && dim < DIMS; dim++) {
        size_t starts[DIMS] = {1, 1, 1}, counts[DIMS], stride = 1;
        memcpy(counts, part->cells, sizeof(counts));
        starts[dim] = 0;
        counts[dim] = 1;
        status = cohort_layout_create_box(&halo->faces[dim], DIMS, part->sizes, starts, counts);
        for (size_t inner = dim + 1; inner < DIMS; inner++)
            stride *= part->sizes[inner];
        uint32_t below = next_to(halo, dim, halo->grid[dim] - 1), above = next_to(halo, dim, 1);
        size_t last = part->cells[dim] * stride;
        const cohort_layout *face = halo->faces[dim];
        halo->to[2 * dim] = (cohort_layout_neighbour){below, stride, face};
        halo->to[2 * dim + 1] = (cohort_layout_neighbour){above, last, face};
        halo->from[2 * dim] = (cohort_layout_neighbour){above, last + stride, face};
        halo->from[2 * dim + 1] = (cohort_layout_neighbour){below, 0, face};
    }
    return status;
}

/* Steps -------------------------------------------------------------------------------------- */

static double *cell_at(double *cells, const struct part *part, size_t x, size_t y, size_t z)
{
    return cells + (x * part->sizes[1] + y) * part->sizes[2] + z;
}

/* Fills the cells of PART, as the box has them at the beginning. */
static void start(double *cells, const struct part *part, size_t size)
{
    for (size_t x = 0; x < part->cells[0]; x++)
        for (size_t y = 0; y < part->cells[1]; y++)
            for (size_t z = 0; z < part->cells[2]; z++) {
                uint64_t place =
                    ((part->first[0] + x) * size + part->first[1] + y) * size + part->first[2] + z;
                uint64_t word = (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
                *cell_at(cells, part, x + 1, y + 1, z + 1) = (double)(word >> 40) / 0x1p24;
            }
}

static void step(const struct part *part, const double *now, double *next)
{
    size_t row = part->sizes[2], plane = row * part->sizes[1];
    for (size_t x = 1; x <= part->cells[0]; x++)
        for (size_t y = 1; y <= part->cells[1]; y++)
            for (size_t z = 1; z <= part->cells[2]; z++) {
                size_t i = x * plane + y * row + z;
                next[i] = (2 * now[i] + (now[i - 1] + now[i + 1]) + (now[i - row] + now[i + row]) +
                           (now[i - plane] + now[i + plane])) /
                          8;
            }
}

/* The ghosts become what the neighbours have. */
static cohort_status exchange(struct halo *halo)
{
    struct site *site = halo->site;
    return cohort_await(cohort_exchange_layouts(site->comm, halo->now, halo->to, FACES, halo->now,
                                                halo->from, FACES, COHORT_DOUBLE,
                                                COHORT_AUTO_GENERATION));
}

static cohort_status run_steps(struct halo *halo, uint32_t steps)
{
    cohort_status status = COHORT_OK;
    for (uint32_t i = 0; !status && i < steps; i++) {
        status = exchange(halo);
        step(&halo->part, halo->now, halo->next);
        double *now = halo->next;
        halo->next = halo->now;
        halo->now = now;
    }
    return status;
}

/* The result --------------------------------------------------------------------------------- */

/* The same by one site, without an exchange: the ghosts are copied. */
static void run_alone(const struct part *part, double **now, double **next, uint32_t steps)
{
    size_t size = part->cells[0];
    start(*now, part, size);
    for (uint32_t i = 0; i < steps; i++) {
        for (size_t a = 1; a <= size; a++)
            for (size_t b = 1; b <= size; b++) {
                *cell_at(*now, part, 0, a, b) = *cell_at(*now, part, size, a, b);
                *cell_at(*now, part, size + 1, a, b) = *cell_at(*now, part, 1, a, b);
                *cell_at(*now, part, a, 0, b) = *cell_at(*now, part, a, size, b);
                *cell_at(*now, part, a, size + 1, b) = *cell_at(*now, part, a, 1, b);
                *cell_at(*now, part, a, b, 0) = *cell_at(*now, part, a, b, size);
                *cell_at(*now, part, a, b, size + 1) = *cell_at(*now, part, a, b, 1);
            }
        step(part, *now, *next);
        double *swap = *now;
        *now = *next;
        *next = swap;
    }
}

/* Where the cells of all sites, one site's behind the other's, are in the box, which has no
 * ghosts. */
static cohort_status find_places(const struct halo *halo, cohort_layout **ret_layout)
{
    const size_t sizes[DIMS] = {halo->size, halo->size, halo->size};
    const uint32_t num_sites = halo->site->num_sites;
    cohort_layout_part *parts = NULL;
    cohort_status status = site_allocate(halo->site, num_sites, sizeof(*parts), &parts);
    cohort_layout *layout;
    uint32_t num = 0;
    for (; !status && num < num_sites; num++) {
        struct part part = part_of(halo, num);
        status = cohort_layout_create_box(&layout, DIMS, sizes, part.first, part.cells);
        if (status)
            break;
        parts[num].layout = layout;
    }
    if (!status)
        status = cohort_layout_create_parts(ret_layout, parts, num_sites);
    while (num > 0)
        cohort_layout_unref((cohort_layout *)parts[--num].layout);
    free(parts);
    return status;
}

static cohort_status compare(const struct halo *halo, const double *box, uint32_t steps,
                             double *ret_mean)
{
    size_t size = halo->size, edge = size + 2;
    const struct part whole = {.cells = {size, size, size}, .sizes = {edge, edge, edge}};
    double *now = NULL, *next = NULL, sum = 0;
    cohort_status status = site_allocate(halo->site, edge * edge * edge, sizeof(double), &now);
    if (!status)
        status = site_allocate(halo->site, edge * edge * edge, sizeof(double), &next);
    if (!status)
        run_alone(&whole, &now, &next, steps);
    for (size_t i = 0; !status && i < size * size * size; i++) {
        size_t x = i / size / size, y = i / size % size, z = i % size;
        const double *want = cell_at(now, &whole, x + 1, y + 1, z + 1);
        sum += box[i];
        if (memcmp(&box[i], want, sizeof(*want)) != 0)
            status = cohort_fail(COHORT_ERR_FAILED,
                                 "check failed: cell %zu, %zu, %zu is %.17g instead of %.17g", x, y,
                                 z, box[i], *want);
    }
    *ret_mean = sum / (double)(size * size * size);
    free(now);
    free(next);
    return status;
}

/* Site 0 gets all cells, and what it finds is the status of all sites. They go from the inside of
 * each site's array to their places in the box. */
static cohort_status finish(struct halo *halo, uint32_t steps)
{
    struct site *site = halo->site;
    size_t num_all = site->index == 0 ? halo->size * halo->size * halo->size : 0, *counts = NULL;
    double *box = NULL, mean = 0;
    cohort_call_options options = {.in_layout = halo->inside};
    cohort_layout *places = NULL;
    cohort_status status = site_allocate(site, num_all, sizeof(double), &box);
    if (!status)
        status = site_allocate(site, site->num_sites, sizeof(*counts), &counts);
    for (uint32_t i = 0; !status && i < site->num_sites; i++)
        counts[i] = part_of(halo, i).num;
    if (!status && site->index == 0)
        status = find_places(halo, &places);
    options.out_layout = places;
    if (!status)
        status = cohort_comm_next_call(site->comm, &options);
    if (!status)
        status = site_gather(site, halo->now, halo->part.num, box, counts, COHORT_DOUBLE);
    if (!status) {
        cohort_status judged = site->index == 0 ? compare(halo, box, steps, &mean) : COHORT_OK;
        status = site_agree(site, judged, NULL, 0);
    }
    if (!status && site->index == 0)
        printf("box: %zu x %zu x %zu cells, %" PRIu32 " steps\n"
               "sites: %" PRIu32 " in %" PRIu32 " localities, a grid of %" PRIu32 " x %" PRIu32
               " x %" PRIu32 "\n"
               "mean: %.6f\n"
               "check: equal to one site's, bit for bit\n",
               halo->size, halo->size, halo->size, steps, site->num_sites, cohort_num_localities(),
               halo->grid[0], halo->grid[1], halo->grid[2], mean);
    cohort_layout_unref(places);
    free(box);
    free(counts);
    return status;
}

/* A site ------------------------------------------------------------------------------------- */

static cohort_status prepare(struct halo *halo)
{
    choose_grid(halo);
    for (size_t dim = 0; dim < DIMS; dim++)
        if (halo->grid[dim] > halo->size)
            return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                               "%" PRIu32 " sites along a dimension need more cells than --size "
                               "%zu",
                               halo->grid[dim], halo->size);
    halo->part = part_of(halo, halo->site->index);
    const struct part *part = &halo->part;
    size_t num = part->sizes[0] * part->sizes[1] * part->sizes[2];
    cohort_status status = site_allocate(halo->site, num, sizeof(double), &halo->now);
    if (!status)
        status = site_allocate(halo->site, num, sizeof(double), &halo->next);
    if (!status)
        status = cohort_layout_create_box(&halo->inside, DIMS, part->sizes,
                                          (const size_t[]){1, 1, 1}, part->cells);
    if (!status)
        status = find_faces(halo);
    if (!status)
        start(halo->now, part, halo->size);
    return status;
}

static cohort_status run(struct site *site)
{
    const struct options *options = site->work;
    struct halo halo = {.site = site, .size = options->size};
    cohort_status status = prepare(&halo);
    if (!status)
        status = run_steps(&halo, options->steps);
    if (!status)
        status = finish(&halo, options->steps);
    free(halo.now);
    free(halo.next);
    cohort_layout_unref(halo.inside);
    for (size_t dim = 0; dim < DIMS; dim++)
        cohort_layout_unref(halo.faces[dim]);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.size = 48, .steps = 20};
    uint32_t sites = 0;
    const struct command_option rows[] = {
        {"sites", "N", "tasks of the whole job that take part; 4 for each locality",
         .number = &sites, .min = 1, .max = SITES_MAX},
        {"size", "N", "the box has N x N x N cells; 48", .number = &options.size, .min = 1,
         .max = 1024},
        {"steps", "N", "of time; 20", .number = &options.steps, .max = 1000000},
    };
    const struct command command = {
        .name = "halo",
        .about = "Lets the cells of a box even out, spread over a grid of sites in three "
                 "dimensions\nwith ghost cells. Compares with the same at one site, bit for bit.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    const struct sites_program program = {
        .name = "halo", .run = run, .work = &options, .num_sites = sites};
    return sites_run(argc, argv, &program);
}
