/* SPDX-License-Identifier: Apache-2.0 */
/* Particles that fly over a square without borders, whose cells are spread over all sites:
 *
 *     cohortrun -n 4 particles --particles 10000 --steps 100
 *
 * After each step a site gives away what has left its cells. It knows where that flies to; nobody
 * knows from where something comes. So this is a sparse exchange, cohort_all_to_all_sparse.
 *
 * Places and velocities are whole numbers that wrap around, so where a particle is in the end is
 * known without flying, and each site compares. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "examples/command.h"
#include "examples/share.h"
#include "examples/sites.h"

/* The square is 2^32 times 2^32, in a grid of 64 times 64 cells. */
enum { CELL_BITS = 26, GRID = 64, NUM_CELLS = GRID * GRID };

struct options {
    uint32_t particles, steps;
};

struct particle {
    uint32_t number;
    uint32_t x, y, speed_x, speed_y;
};

/* A site's particles. */
struct swarm {
    struct site *site;
    struct particle *list;
    size_t num, room;
    struct particle *leaving;    /* room for as many, sorted by the site that they fly to */
    cohort_site_object *parcels; /* one for each site */
    size_t *ends;                /* of the parcel for each site, in `leaving` */
    uint64_t num_moved;
};

static uint32_t mix(uint32_t number, uint32_t salt)
{
    uint64_t word = ((uint64_t)salt << 32 | number) * UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ word >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(word >> 32);
}

/* Most are slow, and one of 16 is so fast that it may come to any cell. */
static uint32_t speed(uint32_t number, uint32_t salt)
{
    uint32_t any = mix(number, salt);
    return number % 16 == 0 ? any : any % (1U << 24) - (1U << 23);
}

static struct particle particle_at(uint32_t number, uint32_t step)
{
    struct particle particle = {.number = number,
                                .x = mix(number, 1),
                                .y = mix(number, 2),
                                .speed_x = speed(number, 3),
                                .speed_y = speed(number, 4)};
    particle.x += step * particle.speed_x;
    particle.y += step * particle.speed_y;
    return particle;
}

/* Whose cell it is in: sites have as many cells, in the order of the grid's rows. */
static uint32_t owner(const struct swarm *swarm, const struct particle *particle)
{
    uint64_t cell = (particle->y >> CELL_BITS) * GRID + (particle->x >> CELL_BITS);
    return (uint32_t)(cell * swarm->site->num_sites / NUM_CELLS);
}

static cohort_status make_room(struct swarm *swarm, size_t num)
{
    if (num <= swarm->room)
        return COHORT_OK;
    size_t room = num + num / 2;
    struct particle *list = realloc(swarm->list, room * sizeof(*list));
    if (list)
        swarm->list = list;
    struct particle *leaving = list ? realloc(swarm->leaving, room * sizeof(*leaving)) : NULL;
    if (!leaving)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "site %" PRIu32 ": no memory for %zu particles",
                           swarm->site->index, room);
    swarm->leaving = leaving;
    swarm->room = room;
    return COHORT_OK;
}

static cohort_status add(struct swarm *swarm, const void *particles, size_t num)
{
    cohort_status status = make_room(swarm, swarm->num + num);
    if (status)
        return status;
    memcpy(swarm->list + swarm->num, particles, num * sizeof(struct particle));
    swarm->num += num;
    return COHORT_OK;
}

/* Moves those that have left out of the list, and returns for how many sites there are some. */
static size_t pack(struct swarm *swarm)
{
    uint32_t num_sites = swarm->site->num_sites, me = swarm->site->index;
    size_t num_stay = 0, num_parcels = 0, begin = 0;
    memset(swarm->ends, 0, num_sites * sizeof(*swarm->ends));
    for (size_t i = 0; i < swarm->num; i++)
        if (owner(swarm, &swarm->list[i]) != me)
            swarm->ends[owner(swarm, &swarm->list[i])]++;
    for (uint32_t site = 0; site < num_sites; site++) {
        size_t num = swarm->ends[site];
        if (num > 0)
            swarm->parcels[num_parcels++] =
                (cohort_site_object){site, {swarm->leaving + begin, num * sizeof(struct particle)}};
        swarm->ends[site] = begin;
        begin += num;
    }
    for (size_t i = 0; i < swarm->num; i++) {
        uint32_t site = owner(swarm, &swarm->list[i]);
        if (site == me)
            swarm->list[num_stay++] = swarm->list[i];
        else
            swarm->leaving[swarm->ends[site]++] = swarm->list[i];
    }
    swarm->num_moved += swarm->num - num_stay;
    swarm->num = num_stay;
    return num_parcels;
}

static cohort_status exchange(struct swarm *swarm)
{
    struct site *site = swarm->site;
    cohort_site_objects arrived;
    size_t num_parcels = pack(swarm);
    cohort_status status = cohort_await(cohort_all_to_all_sparse(
        site->comm, swarm->parcels, num_parcels, &arrived, COHORT_AUTO_GENERATION));
    for (size_t i = 0; !status && i < arrived.num; i++)
        status = add(swarm, arrived.list[i].object.data,
                     arrived.list[i].object.bytes / sizeof(struct particle));
    cohort_site_objects_fini(&arrived);
    return status;
}

static cohort_status fly(struct swarm *swarm, uint32_t steps)
{
    cohort_status status = COHORT_OK;
    for (uint32_t step = 0; !status && step < steps; step++) {
        for (size_t i = 0; i < swarm->num; i++) {
            swarm->list[i].x += swarm->list[i].speed_x;
            swarm->list[i].y += swarm->list[i].speed_y;
        }
        status = exchange(swarm);
    }
    return status;
}

/* Each site makes a share of the particles, wherever they are, and gives them to their owners. */
static cohort_status begin(struct swarm *swarm, const struct options *options)
{
    struct site *site = swarm->site;
    size_t first = share_begin(options->particles, site->num_sites, site->index);
    size_t num = share_size(options->particles, site->num_sites, site->index);
    cohort_status status = make_room(swarm, num + 1);
    if (!status)
        status = site_allocate(site, site->num_sites, sizeof(*swarm->ends), &swarm->ends);
    if (!status)
        status = site_allocate(site, site->num_sites, sizeof(*swarm->parcels), &swarm->parcels);
    if (status)
        return status;
    for (size_t i = 0; i < num; i++)
        swarm->list[swarm->num++] = particle_at((uint32_t)(first + i), 0);
    return exchange(swarm);
}

/* All particles are there, each at its place and with its owner. */
static cohort_status check(struct swarm *swarm, const struct options *options)
{
    struct site *site = swarm->site;
    uint64_t mine[] = {swarm->num, 0, 0, swarm->num_moved}, all[4];
    for (size_t i = 0; i < swarm->num; i++) {
        struct particle want = particle_at(swarm->list[i].number, options->steps);
        mine[1] += want.number;
        mine[2] +=
            memcmp(&want, &swarm->list[i], sizeof(want)) != 0 || owner(swarm, &want) != site->index;
    }
    cohort_status status = cohort_await(cohort_all_reduce(site->comm, mine, all, 4, COHORT_UINT64,
                                                          COHORT_SUM, COHORT_AUTO_GENERATION));
    uint64_t num = options->particles;
    if (!status && (all[0] != num || all[1] != num * (num - 1) / 2 || all[2] > 0))
        status = cohort_fail(COHORT_ERR_FAILED,
                             "%" PRIu64 " particles instead of %" PRIu64 ", %" PRIu64
                             " at a wrong place",
                             all[0], num, all[2]);
    if (!status && site->index == 0)
        printf("particles: %" PRIu64 ", sites: %" PRIu32 ", steps: %" PRIu32 "\n"
               "moved to another site: %" PRIu64 " times\n"
               "check: each is where it should be\n",
               num, site->num_sites, options->steps, all[3]);
    return status;
}

static cohort_status run(struct site *site)
{
    const struct options *options = site->work;
    struct swarm swarm = {.site = site};
    cohort_status status = begin(&swarm, options);
    if (!status)
        status = fly(&swarm, options->steps);
    if (!status)
        status = check(&swarm, options);
    free(swarm.list);
    free(swarm.leaving);
    free(swarm.parcels);
    free(swarm.ends);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.particles = 10000, .steps = 100};
    uint32_t sites = 0;
    const struct command_option rows[] = {
        {"sites", "N", "tasks of the whole job that take part; 4 for each locality",
         .number = &sites, .min = 1, .max = NUM_CELLS},
        {"particles", "N", "in all; 10000", .number = &options.particles, .min = 1,
         .max = 100000000},
        {"steps", "N", "of time; 100", .number = &options.steps, .max = 1000000},
    };
    const struct command command = {
        .name = "particles",
        .about = "Lets particles fly over cells that are spread over all sites.\n"
                 "Compares with where each of them has to be in the end.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    const struct sites_program program = {
        .name = "particles", .run = run, .work = &options, .num_sites = sites};
    return sites_run(argc, argv, &program);
}
