/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/predict.h"

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

struct cohort__placement cohort__placement_of(const struct cohort__machine *machine)
{
    return (struct cohort__placement){
        .num_sites = cohort__machine_num_sites(machine),
        .num_localities = cohort__machine_num_subgroups(machine, COHORT__LEVEL_LOCALITY),
        .largest = cohort__machine_largest(machine, COHORT__LEVEL_LOCALITY),
        .is_contiguous = cohort__machine_keeps_order(machine, COHORT__LEVEL_LOCALITY),
    };
}

/* How many sites can work at the same time. */
static double num_at_work(const struct cohort__parameters *parameters,
                          const struct cohort__placement *placement, enum cohort__scope scope)
{
    double workers = parameters->workers;
    if (scope == COHORT__SCOPE_LOCALITIES)
        workers *= placement->num_localities;
    workers = smaller(smaller(workers, parameters->cores), placement->num_sites);
    return workers > 1 ? workers : 1;
}

void cohort__predict_amounts(const struct cohort__parameters *parameters,
                             const struct cohort__placement *placement, enum cohort__scope scope,
                             const struct cohort__cost *cost, double ret_amounts[COHORT__NUM_TERMS])
{
    double at_work = num_at_work(parameters, placement, scope);
    ret_amounts[COHORT__TERM_CALL] = 1;
    ret_amounts[COHORT__TERM_STARTUP] = cost->startups;
    ret_amounts[COHORT__TERM_BYTE] = cost->bytes;
    ret_amounts[COHORT__TERM_REDUCED] = cost->reduced;
    ret_amounts[COHORT__TERM_SITE] = placement->num_sites / at_work;
    ret_amounts[COHORT__TERM_MESSAGE] = cost->messages / at_work;
    ret_amounts[COHORT__TERM_MOVED] = cost->moved / at_work;
    ret_amounts[COHORT__TERM_COMBINED] = cost->combined / at_work;
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

/* Whether so many sites, which meet in SCOPE, take turns on the cores. */
static bool share_cores(const struct cohort__parameters *parameters, enum cohort__scope scope,
                        uint32_t num_sites)
{
    return scope == COHORT__SCOPE_LOCALITIES && num_sites * parameters->workers > parameters->cores;
}

static double sites_position(const struct cohort__parameters *parameters, enum cohort__scope scope,
                             uint32_t num_sites)
{
    double position = knot_position(num_sites, 1, 1, COHORT__KNOTS_SITES - 1);
    unsigned below = (unsigned)position;
    bool is_between = position > below && share_cores(parameters, scope, num_sites) &&
                      !share_cores(parameters, scope, 2u << below);
    return is_between ? below + 1 : position;
}

double cohort__predict_factor(const struct cohort__parameters *parameters, enum cohort__scope scope,
                              uint32_t row, uint32_t num_sites, size_t bytes)
{
    const int8_t *factors = parameters->factors[scope][row];
    double x = sites_position(parameters, scope, num_sites);
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

/* The time if all sites met in SCOPE. */
static double predict_scope(const struct cohort__parameters *parameters,
                            const struct cohort__placement *placement, enum cohort__scope scope,
                            uint32_t row, const struct cohort__request *request,
                            const struct cohort__cost *cost)
{
    double amounts[COHORT__NUM_TERMS], time = 0;
    cohort__predict_amounts(parameters, placement, scope, cost, amounts);
    for (unsigned term = 0; term < COHORT__NUM_TERMS; term++)
        time += parameters->terms[scope][term] * amounts[term];
    return row >= COHORT__MAX_ROWS
               ? time
               : time * cohort__predict_factor(parameters, scope, row, request->num_sites,
                                               request->bytes);
}

/* The fraction of the messages that leave a locality. A tree over localities whose sites have
 * consecutive numbers has about one edge to each locality except the first. Other algorithms have
 * partners anywhere. */
static double remote_part(const struct cohort__placement *placement, bool is_tree)
{
    double sites = placement->num_sites, localities = placement->num_localities;
    if (placement->num_localities <= 1)
        return 0;
    if (is_tree && placement->is_contiguous)
        return (localities - 1) / (sites - 1);
    return (sites - sites / localities) / (sites - 1);
}

double cohort__predict(const struct cohort__parameters *parameters,
                       const struct cohort__placement *placement, uint32_t row,
                       const struct cohort__request *request, const struct cohort__cost *cost)
{
    double remote = remote_part(placement, row < cohort__num_algorithms &&
                                               cohort__algorithms[row]->hierarchical);
    double time = 0;
    if (remote < 1)
        time += (1 - remote) *
                predict_scope(parameters, placement, COHORT__SCOPE_TASKS, row, request, cost);
    if (remote > 0)
        time += remote *
                predict_scope(parameters, placement, COHORT__SCOPE_LOCALITIES, row, request, cost);
    return time;
}
