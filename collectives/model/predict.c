/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/predict.h"

#include "collectives/algo/pattern/crossing.h"

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double part(double amount, double all)
{
    return all <= 0 || amount >= all ? 1 : amount / all;
}

/* The logarithm, linear between powers of two: it is the same on any machine. */
static double levels_of(double value)
{
    double levels = 0;
    for (; value >= 2; value /= 2)
        levels += 1;
    return value > 1 ? levels + value - 1 : levels;
}

/* How many bytes have to leave a place: all places together, and the one that has most. */
static void find_least(const struct cohort__request *request, double num_places, double *ret_moved,
                       double *ret_bytes)
{
    const double sites = request->num_sites, bytes = (double)request->bytes;
    const double others = sites - sites / num_places;
    switch (request->collective) {
    case COHORT__GATHER:
    case COHORT__SCATTER:
        *ret_moved = *ret_bytes = others * bytes;
        return;
    case COHORT__ALL_GATHER:
    case COHORT__REDUCE_SCATTER:
        *ret_moved = (num_places - 1) * sites * bytes;
        *ret_bytes = others * bytes;
        return;
    case COHORT__ALL_TO_ALL:
        *ret_moved = sites * others * bytes;
        *ret_bytes = sites / num_places * others * bytes;
        return;
    default: /* a block, or none */
        *ret_moved = (num_places - 1) * bytes;
        *ret_bytes = bytes;
        return;
    }
}

/* A tree's sites send directly within each of NUM_GROUPS groups, and little between them. */
static double part_direct(double num_sites, double num_places, double num_groups)
{
    double sites = num_sites / num_groups, places = num_places / num_groups;
    return places > 1 && sites > 1 ? (sites - sites / places) / (sites - 1) : 0;
}

struct cohort__reach cohort__reach_of(const struct cohort__algorithm *algorithm,
                                      const struct cohort__request *request,
                                      const struct cohort__cost *cost, double num_places,
                                      bool is_contiguous)
{
    const double sites = request->num_sites;
    if (num_places <= 1)
        return (struct cohort__reach){0};
    if (!algorithm || !algorithm->hierarchical || !is_contiguous) {
        double any = (sites - sites / num_places) / (sites - 1);
        return (struct cohort__reach){any, any, any, any};
    }
    double moved, bytes;
    double uppermost = levels_of(num_places) / levels_of(sites);
    double messages = (num_places - 1) / (sites - 1);
    if (algorithm->direct)
        messages = larger(messages, part_direct(sites, num_places, request->arity));
    find_least(request, num_places, &moved, &bytes);
    return (struct cohort__reach){
        .startups = uppermost,
        .bytes = larger(uppermost, part(bytes, cost->bytes)),
        .messages = messages,
        .moved = larger(messages, part(moved, cost->moved)),
    };
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

struct cohort__placement cohort__placement_of(const struct cohort__machine *machine)
{
    uint32_t hosts = cohort__machine_find(machine, "host");
    bool has_hosts = hosts < cohort__machine_num_levels(machine);
    return (struct cohort__placement){
        .num_sites = cohort__machine_num_sites(machine),
        .num_localities = cohort__machine_num_subgroups(machine, COHORT__LEVEL_LOCALITY),
        .num_hosts = has_hosts ? cohort__machine_num_subgroups(machine, hosts) : 1,
        .largest = cohort__machine_largest(machine, COHORT__LEVEL_LOCALITY),
        .is_contiguous = cohort__machine_keeps_order(machine, COHORT__LEVEL_LOCALITY) &&
                         (!has_hosts || cohort__machine_keeps_order(machine, hosts)),
    };
}

uint32_t cohort__placement_sharing(const struct cohort__placement *placement)
{
    uint32_t most = placement->num_hosts;
    return placement->sharing <= 1 || most <= 1 ? 1
           : placement->sharing < most          ? placement->sharing
                                                : most;
}

/* How many sites can work at the same time, if AT_ONCE such placements share the cores. */
static double num_at_work(const struct cohort__parameters *parameters,
                          const struct cohort__placement *placement, enum cohort__distance distance,
                          double at_once)
{
    double workers = parameters->workers, cores = parameters->cores;
    uint32_t sharing = cohort__placement_sharing(placement);
    if (distance != COHORT__DISTANCE_TASKS)
        workers *= placement->num_localities;
    if (distance == COHORT__DISTANCE_HOSTS)
        cores *= (placement->num_hosts + sharing - 1) / sharing;
    workers = smaller(at_once * smaller(workers, placement->num_sites), cores);
    return workers > 1 ? workers : 1;
}

/* Each of AT_ONCE placements has that cost. */
static void find_amounts(const struct cohort__parameters *parameters,
                         const struct cohort__placement *placement, enum cohort__distance distance,
                         double at_once, const struct cohort__cost *cost,
                         double ret_amounts[COHORT__NUM_TERMS])
{
    double share = at_once / num_at_work(parameters, placement, distance, at_once);
    ret_amounts[COHORT__TERM_CALL] = 1;
    ret_amounts[COHORT__TERM_STARTUP] = cost->startups;
    ret_amounts[COHORT__TERM_BYTE] = cost->bytes;
    ret_amounts[COHORT__TERM_REDUCED] = cost->reduced;
    ret_amounts[COHORT__TERM_SITE] = placement->num_sites * share;
    ret_amounts[COHORT__TERM_MESSAGE] = cost->messages * share;
    ret_amounts[COHORT__TERM_MOVED] = cost->moved * share;
    ret_amounts[COHORT__TERM_COMBINED] = cost->combined * share;
}

void cohort__predict_amounts(const struct cohort__parameters *parameters,
                             const struct cohort__placement *placement,
                             enum cohort__distance distance, const struct cohort__cost *cost,
                             double ret_amounts[COHORT__NUM_TERMS])
{
    find_amounts(parameters, placement, distance, 1, cost, ret_amounts);
}

/* (log2(VALUE) - FIRST) / UNIT, limited to 0 .. LAST. The logarithm is linear between powers of
 * two. */
static double knot_position(double value, int first, int unit, int last)
{
    double position = -first;
    if (value < 1)
        return 0;
    for (; value >= 2; value /= 2)
        position += 1;
    position = (position + value - 1) / unit;
    return position < 0 ? 0 : smaller(position, last);
}

/* Whether so many sites, which meet at DISTANCE, take turns on the cores. */
static bool share_cores(const struct cohort__parameters *parameters, enum cohort__distance distance,
                        uint32_t num_sites)
{
    return distance == COHORT__DISTANCE_LOCALITIES &&
           num_sites * parameters->workers > parameters->cores;
}

static double sites_position(const struct cohort__parameters *parameters,
                             enum cohort__distance distance, uint32_t num_sites)
{
    double position = knot_position(num_sites, 1, 1, COHORT__KNOTS_SITES - 1);
    unsigned below = (unsigned)position;
    bool is_between = position > below && share_cores(parameters, distance, num_sites) &&
                      !share_cores(parameters, distance, 2u << below);
    return is_between ? below + 1 : position;
}

double cohort__predict_factor(const struct cohort__parameters *parameters,
                              enum cohort__distance distance, uint32_t row, uint32_t num_sites,
                              size_t bytes)
{
    const int8_t *factors = parameters->factors[distance][row];
    double x = sites_position(parameters, distance, num_sites);
    double y = knot_position((double)bytes, 3, 3, COHORT__KNOTS_BYTES - 1);
    unsigned column = (unsigned)x, line = (unsigned)y;
    double factor = 0;
    for (unsigned i = 0; i < 4; i++) {
        double to_x = i & 1 ? x - column : 1 - (x - column);
        double to_y = i & 2 ? y - line : 1 - (y - line);
        if (to_x * to_y > 0)
            factor += to_x * to_y *
                      cohort__factor_ratio(
                          factors[(column + (i & 1)) * COHORT__KNOTS_BYTES + line + (i >> 1)]);
    }
    return factor;
}

static double part_of(const struct cohort__reach *reach, enum cohort__term term)
{
    switch (term) {
    case COHORT__TERM_STARTUP:
        return reach->startups;
    case COHORT__TERM_BYTE:
    case COHORT__TERM_REDUCED:
        return reach->bytes;
    case COHORT__TERM_MOVED:
    case COHORT__TERM_COMBINED:
        return reach->moved;
    default:
        return reach->messages;
    }
}

/* The time of what reaches DISTANCE and no further, if AT_ONCE such calls shared the cores. */
static double predict_distance(const struct cohort__parameters *parameters,
                               const struct cohort__placement *placement,
                               enum cohort__distance distance, double at_once, uint32_t row,
                               const struct cohort__request *request,
                               const struct cohort__cost *cost, const struct cohort__reach *reach,
                               const struct cohort__reach *further)
{
    double amounts[COHORT__NUM_TERMS], time = 0;
    find_amounts(parameters, placement, distance, at_once, cost, amounts);
    for (unsigned i = 0; i < COHORT__NUM_TERMS; i++) {
        enum cohort__term term = (enum cohort__term)i;
        time += parameters->terms[distance][term] * amounts[term] *
                (part_of(reach, term) - part_of(further, term));
    }
    return row >= COHORT__MAX_ROWS
               ? time
               : time * cohort__predict_factor(parameters, distance, row, request->num_sites,
                                               request->bytes);
}

/* The blocks of a shift that leave their subgroup of LEVEL. */
static struct cohort__reach leaving(const struct cohort__request *request, uint32_t level)
{
    if (level == cohort__machine_num_levels(request->machine))
        return (struct cohort__reach){0};
    struct cohort__crossing crossing = cohort__crossing_of(request->machine, level, request->shift);
    double part = (double)crossing.num_leaving / crossing.num_sites;
    return (struct cohort__reach){part, part, part, part};
}

/* The work of all places on a host, and on the hosts that share its cores, is done by these
 * cores. And all places that send to other hosts at once share their host's link. */
double cohort__predict_stage(const struct cohort__parameters *parameters,
                             const struct cohort__placement *placement,
                             const struct cohort__stage *stage, uint32_t row,
                             const struct cohort__request *request, const struct cohort__cost *cost)
{
    bool is_tasks = stage->distance == COHORT__DISTANCE_TASKS;
    bool is_far = stage->distance == COHORT__DISTANCE_HOSTS;
    double at_once = stage->at_once;
    const struct cohort__placement place = {
        .num_sites = stage->num_sites,
        .num_localities = is_tasks ? 1 : stage->num_sites,
        .num_hosts = is_far ? stage->num_sites : 1,
        .largest = is_tasks ? stage->num_sites : 1,
        .is_contiguous = true,
        .sharing = is_far ? placement->sharing : 0,
    };
    const struct cohort__reach all = {1, 1, 1, 1}, none = {0};
    struct cohort__cost shared = *cost;
    if (is_far)
        shared.bytes *= at_once;
    else
        at_once *= cohort__placement_sharing(placement);
    return predict_distance(parameters, &place, stage->distance, at_once, row, request, &shared,
                            &all, &none);
}

double cohort__predict_copies(const struct cohort__parameters *parameters,
                              const struct cohort__placement *placement, double at_once,
                              double bytes)
{
    const struct cohort__placement leader = {.num_sites = 1, .num_localities = 1, .num_hosts = 1};
    const uint32_t gather = cohort__algorithm_row(COHORT__GATHER, "linear");
    const uint32_t num_sites = 1u << COHORT__KNOTS_SITES; /* the most that are measured */
    at_once *= cohort__placement_sharing(placement);
    return parameters->terms[COHORT__DISTANCE_TASKS][COHORT__TERM_MOVED] * bytes * at_once /
           num_at_work(parameters, &leader, COHORT__DISTANCE_TASKS, at_once) *
           cohort__predict_factor(parameters, COHORT__DISTANCE_TASKS, gather, num_sites,
                                  (size_t)(at_once * bytes) / num_sites);
}

/* Sites that share memory in several localities, several in each: those of each locality meet, and
 * then the localities on a board. */
static bool meets_in_two(const struct cohort__placement *placement, uint32_t row)
{
    return row < cohort__num_algorithms && cohort__algorithms[row]->shared &&
           placement->num_localities > 1 && placement->largest > 1;
}

/* A call of the operation takes as long as combining so many bytes more. Measured: 15 to 29 ns
 * where 16 sites in each of 2 or 4 localities, or 8 in 4, reduce blocks of 8 bytes. The factors of
 * a row have the calls of sites in one locality in them. */
static const double bytes_of_call = 400;

/* One of the two, with NUM_BLOCKS after each other where the row's own cost has one, and NUM_CALLS
 * more calls of the operation. */
static double predict_meeting(const struct cohort__parameters *parameters,
                              const struct cohort__placement *placement,
                              const struct cohort__stage *stage, double num_blocks,
                              double num_calls, uint32_t row, const struct cohort__request *like)
{
    struct cohort__request request = *like;
    request.num_sites = stage->num_sites;
    request.bytes = stage->bytes;
    struct cohort__cost cost = cohort__algorithm_cost(cohort__algorithms[row], &request);
    cost.bytes *= num_blocks;
    cost.reduced *= num_blocks;
    cost.moved *= num_blocks;
    cost.combined = cost.combined * num_blocks + num_calls * bytes_of_call;
    return cohort__predict_stage(parameters, placement, stage, row, &request, &cost);
}

/* Blocks are as long as makes the bytes right that the sites of a locality write, and that a
 * locality brings to the board. But what its sites bring to a reduction is reduced one after the
 * other, by each locality. */
static double predict_meetings(const struct cohort__parameters *parameters,
                               const struct cohort__placement *placement, uint32_t row,
                               const struct cohort__request *request)
{
    const size_t tasks = placement->largest, all = placement->num_sites;
    const size_t element = cohort__request_element(request);
    struct cohort__stage locality = {.distance = COHORT__DISTANCE_TASKS,
                                     .num_sites = placement->largest,
                                     .at_once = placement->num_localities,
                                     .bytes = request->bytes};
    struct cohort__stage host = {.distance = COHORT__DISTANCE_LOCALITIES,
                                 .num_sites = placement->num_localities,
                                 .at_once = 1,
                                 .bytes = request->bytes};
    double num_blocks = 1, num_calls = 0;
    switch (request->collective) {
    case COHORT__BROADCAST:
    case COHORT__BARRIER:
        break;
    case COHORT__ALL_TO_ALL:
        locality.bytes = request->bytes * all / tasks;
        host.bytes = request->bytes * tasks * tasks;
        break;
    case COHORT__GATHER:
    case COHORT__SCATTER:
    case COHORT__ALL_GATHER:
        locality.bytes = request->bytes * all / tasks;
        host.bytes = request->bytes * tasks;
        break;
    case COHORT__REDUCE_SCATTER:
        locality.bytes = request->bytes * all / tasks / element * element;
        host.bytes = request->bytes * tasks;
        num_blocks = (double)tasks;
        num_calls = (double)(tasks * (all - tasks)); /* for blocks of the other localities */
        break;
    case COHORT__SHIFT:
        host.bytes = request->bytes * tasks;
        break;
    default: /* other reductions */
        num_blocks = (double)tasks;
        break;
    }
    return predict_meeting(parameters, placement, &locality, 1, num_calls, row, request) +
           predict_meeting(parameters, placement, &host, num_blocks, 0, row, request);
}

double cohort__predict(const struct cohort__parameters *parameters,
                       const struct cohort__placement *placement, uint32_t row,
                       const struct cohort__request *request, const struct cohort__cost *cost)
{
    if (meets_in_two(placement, row))
        return predict_meetings(parameters, placement, row, request);
    const struct cohort__algorithm *algorithm =
        row < cohort__num_algorithms ? cohort__algorithms[row] : NULL;
    /* How much goes as far as a distance, or further. */
    struct cohort__reach reaches[COHORT__NUM_DISTANCES + 1] = {
        [COHORT__DISTANCE_TASKS] = {1, 1, 1, 1},
        [COHORT__DISTANCE_LOCALITIES] = cohort__reach_of(
            algorithm, request, cost, placement->num_localities, placement->is_contiguous),
        [COHORT__DISTANCE_HOSTS] = cohort__reach_of(algorithm, request, cost, placement->num_hosts,
                                                    placement->is_contiguous),
    };
    if (request->collective == COHORT__SHIFT && request->machine && cost->startups <= 1) {
        /* Each block goes straight to its target. */
        reaches[COHORT__DISTANCE_LOCALITIES] = leaving(request, COHORT__LEVEL_LOCALITY);
        reaches[COHORT__DISTANCE_HOSTS] =
            leaving(request, cohort__machine_find(request->machine, "host"));
    }
    double time = 0;
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++)
        time += predict_distance(parameters, placement, (enum cohort__distance)distance, 1, row,
                                 request, cost, &reaches[distance], &reaches[distance + 1]);
    return time;
}
