/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/salesman_search.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct {
    uint32_t num;
    uint32_t distances[SALESMAN_CITIES_MAX][SALESMAN_CITIES_MAX];
    uint32_t nearest[SALESMAN_CITIES_MAX]; /* the least distance from each city */
} map;

/* The best tour that is known in this process. */
static struct {
    pthread_mutex_t lock; /* no task suspends with it */
    struct salesman_tour tour;
    _Atomic uint32_t length; /* of it: what is longer is left out */
} best = {.lock = PTHREAD_MUTEX_INITIALIZER, .length = UINT32_MAX};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The finalizer of SplitMix64: any two numbers that differ give unlike ones. */
static uint64_t mix(uint64_t number)
{
    number += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

void salesman_init(uint32_t num_cities, uint64_t seed)
{
    enum { FARTHEST = 1000 };
    map.num = num_cities;
    for (uint32_t from = 0; from < num_cities; from++) {
        map.nearest[from] = UINT32_MAX;
        for (uint32_t to = 0; to < num_cities; to++) {
            uint64_t number = mix(mix(seed) + (uint64_t)from * SALESMAN_CITIES_MAX + to);
            map.distances[from][to] = 1 + (uint32_t)(number % FARTHEST);
            if (to != from)
                map.nearest[from] = least(map.nearest[from], map.distances[from][to]);
        }
    }
}

static bool has(const struct salesman_tour *tour, uint32_t city)
{
    for (uint32_t i = 0; i < tour->num; i++)
        if (tour->cities[i] == city)
            return true;
    return false;
}

bool salesman_tour_extend(const struct salesman_tour *tour, uint32_t city,
                          struct salesman_tour *ret_tour)
{
    if (has(tour, city))
        return false;
    *ret_tour = *tour;
    ret_tour->length += map.distances[tour->cities[tour->num - 1]][city];
    ret_tour->cities[ret_tour->num++] = (uint8_t)city;
    if (ret_tour->num == map.num)
        ret_tour->length += map.distances[city][0];
    return true;
}

uint32_t salesman_tour_length(const struct salesman_tour *tour)
{
    struct salesman_tour again = {.num = 1};
    if (tour->num != map.num || tour->cities[0] != 0)
        return 0;
    for (uint32_t i = 1; i < map.num; i++)
        if (tour->cities[i] >= map.num || !salesman_tour_extend(&again, tour->cities[i], &again))
            return 0;
    return again.length;
}

cohort_status salesman_tour_check(const struct salesman_tour *tour)
{
    struct salesman_tour again = {.num = 1};
    bool is_right = tour->num >= 1 && tour->num <= map.num && tour->cities[0] == 0;
    for (uint32_t i = 1; is_right && i < tour->num; i++)
        is_right =
            tour->cities[i] < map.num && salesman_tour_extend(&again, tour->cities[i], &again);
    return is_right && again.length == tour->length
               ? COHORT_OK
               : cohort_fail(COHORT_ERR_PROTOCOL, "these are not the first cities of a tour");
}

bool salesman_offer(const struct salesman_tour *tour)
{
    pthread_mutex_lock(&best.lock);
    bool is_best = tour->length < best.length;
    if (is_best) {
        best.tour = *tour;
        best.length = tour->length;
    }
    pthread_mutex_unlock(&best.lock);
    return is_best;
}

bool salesman_best(struct salesman_tour *ret_tour)
{
    pthread_mutex_lock(&best.lock);
    bool is_any = best.length < UINT32_MAX;
    if (is_any)
        *ret_tour = best.tour;
    pthread_mutex_unlock(&best.lock);
    return is_any;
}

/* What a tour that begins with TOUR takes at least: each city that is left costs the way from it,
 * and so does the last one. */
static uint32_t at_least(const struct salesman_tour *tour)
{
    uint32_t length = tour->length;
    if (tour->num == map.num)
        return length;
    length += map.nearest[tour->cities[tour->num - 1]];
    for (uint32_t city = 1; city < map.num; city++)
        if (!has(tour, city))
            length += map.nearest[city];
    return length;
}

bool salesman_search(const struct salesman_tour *beginning, struct salesman_tour *ret_best)
{
    struct salesman_tour next;
    bool is_any = false;
    if (at_least(beginning) >= atomic_load_explicit(&best.length, memory_order_relaxed) ||
        cohort_cancelled())
        return false;
    if (beginning->num == map.num) {
        is_any = salesman_offer(beginning);
        if (is_any)
            *ret_best = *beginning;
        return is_any;
    }
    for (uint32_t city = 1; city < map.num; city++)
        if (salesman_tour_extend(beginning, city, &next) && salesman_search(&next, ret_best))
            is_any = true;
    return is_any;
}

uint32_t salesman_exact(void)
{
    const uint32_t others = map.num - 1; /* all but city 0, which are bits 0, 1, ... of a set */
    const size_t num_sets = (size_t)1 << others;
    uint32_t shortest = UINT32_MAX;
    /* The shortest way from city 0 through a set to its city `last`. */
    uint32_t *ways = malloc(num_sets * others * sizeof(*ways));
    if (!ways)
        return UINT32_MAX;
    for (size_t set = 1; set < num_sets; set++)
        for (uint32_t last = 0; last < others; last++) {
            size_t before = set & ~((size_t)1 << last);
            uint32_t way = before ? UINT32_MAX : map.distances[0][last + 1];
            for (uint32_t city = 0; before && set != before && city < others; city++)
                if (before & (size_t)1 << city)
                    way = least(way,
                                ways[before * others + city] + map.distances[city + 1][last + 1]);
            ways[set * others + last] = way;
            if (set == num_sets - 1)
                shortest = least(shortest, way + map.distances[last + 1][0]);
        }
    free(ways);
    return shortest;
}
