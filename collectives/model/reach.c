/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/reach.h"

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
