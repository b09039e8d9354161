/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/network.h"

#include <stdio.h>
#include <string.h>

#include "collectives/plan/partition.h"

/* A site of a torus has a link up and a link down in each dimension. A host has a link up and a
 * link down. */
enum { UP = 0, DOWN = 1, DIRECTIONS = 2 };

static cohort_status wrong(const char *name, uint32_t num_sites, const char *why)
{
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "network '%s' of %u sites: %s", name, num_sites,
                       why);
}

/* Reads digits at *TEXT, which moves behind them. 0 if there are none or the number is too
 * large. */
static uint32_t read_number(const char **text)
{
    uint64_t value = 0;
    for (; **text >= '0' && **text <= '9' && value <= UINT32_MAX; (*text)++)
        value = 10 * value + (uint64_t)(**text - '0');
    return value <= UINT32_MAX ? (uint32_t)value : 0;
}

static struct cohort__network torus(struct cohort__mesh mesh, uint32_t num_sites)
{
    uint64_t links = (uint64_t)num_sites * mesh.num_dimensions * DIRECTIONS;
    return (struct cohort__network){.kind = COHORT__NETWORK_TORUS,
                                    .num_sites = num_sites,
                                    .mesh = mesh,
                                    .num_shared = links,
                                    .num_links = links};
}

static cohort_status read_mesh(struct cohort__network *ret_network, const char *name,
                               uint32_t num_sites)
{
    const char *text = name + strlen("mesh:");
    struct cohort__mesh mesh = {0};
    uint64_t sites = 1;
    do {
        if (mesh.num_dimensions == COHORT__MESH_MAX_DIMENSIONS)
            return wrong(name, num_sites, "too many dimensions");
        uint32_t extent = read_number(&text);
        if (extent == 0 || (sites *= extent) > num_sites)
            return wrong(name, num_sites, "the extents' product has to be the number of sites");
        mesh.extents[mesh.num_dimensions++] = extent;
    } while (*text++ == 'x');
    if (text[-1] != '\0' || sites != num_sites)
        return wrong(name, num_sites,
                     "mesh:AxBxC, where the extents' product is the number of sites");
    *ret_network = torus(mesh, num_sites);
    return COHORT_OK;
}

static cohort_status read_hosts(struct cohort__network *ret_network, const char *name,
                                uint32_t num_sites)
{
    const char *text = name + strlen("hosts:");
    uint32_t num_hosts = read_number(&text);
    if (*text || num_hosts == 0 || num_hosts > num_sites)
        return wrong(name, num_sites, "hosts:H, with 1 to as many hosts as sites");
    uint64_t links = (uint64_t)num_hosts * DIRECTIONS;
    *ret_network = (struct cohort__network){.kind = COHORT__NETWORK_HOSTS,
                                            .num_sites = num_sites,
                                            .num_hosts = num_hosts,
                                            .num_shared = links,
                                            .num_links = links + (uint64_t)num_sites * num_sites};
    return COHORT_OK;
}

static cohort_status read_hypercube(struct cohort__network *ret_network, const char *name,
                                    uint32_t num_sites, bool is_gray)
{
    struct cohort__mesh cube = {0};
    if (num_sites & (num_sites - 1))
        return wrong(name, num_sites, "a hypercube has a power of two sites");
    for (uint32_t sites = num_sites; sites > 1; sites /= 2)
        cube.extents[cube.num_dimensions++] = 2;
    *ret_network = torus(cube, num_sites);
    ret_network->is_gray = is_gray;
    return COHORT_OK;
}

cohort_status cohort__network_init(struct cohort__network *ret_network, const char *name,
                                   uint32_t num_sites)
{
    if (strcmp(name, "ring") == 0)
        *ret_network =
            torus((struct cohort__mesh){.num_dimensions = 1, .extents = {num_sites}}, num_sites);
    else if (strcmp(name, "mesh") == 0)
        *ret_network = torus(cohort__mesh_square(num_sites), num_sites);
    else if (strcmp(name, "full") == 0)
        *ret_network = (struct cohort__network){.kind = COHORT__NETWORK_FULL,
                                                .num_sites = num_sites,
                                                .num_links = (uint64_t)num_sites * num_sites};
    else if (strcmp(name, "hypercube") == 0)
        return read_hypercube(ret_network, name, num_sites, false);
    else if (strcmp(name, "hypercube:gray") == 0)
        return read_hypercube(ret_network, name, num_sites, true);
    else if (strncmp(name, "mesh:", strlen("mesh:")) == 0)
        return read_mesh(ret_network, name, num_sites);
    else if (strncmp(name, "hosts:", strlen("hosts:")) == 0)
        return read_hosts(ret_network, name, num_sites);
    else
        return wrong(name, num_sites,
                     "there is none but ring, mesh, mesh:AxB, hypercube, hypercube:gray, full and "
                     "hosts:H");
    return COHORT_OK;
}

static uint32_t host_of(const struct cohort__network *network, uint32_t site)
{
    struct cohort__range all = {.first = 0, .count = network->num_sites};
    return cohort__partition_find(all, network->num_hosts, site);
}

bool cohort__network_is_inside(const struct cohort__network *network, uint32_t from, uint32_t to)
{
    return network->kind == COHORT__NETWORK_HOSTS && host_of(network, from) == host_of(network, to);
}

static uint32_t place_of(const struct cohort__network *network, uint32_t site)
{
    return network->is_gray ? site ^ site >> 1 : site;
}

static uint32_t site_at(const struct cohort__network *network, uint32_t place)
{
    for (uint32_t distance = 1; network->is_gray && distance < 32; distance *= 2)
        place ^= place >> distance;
    return place;
}

struct cohort__route cohort__route_begin(const struct cohort__network *network, uint32_t from,
                                         uint32_t to)
{
    return (struct cohort__route){.network = network,
                                  .at = place_of(network, from),
                                  .to = place_of(network, to),
                                  .stride = 1};
}

static bool torus_next(struct cohort__route *route, uint64_t *ret_link)
{
    const struct cohort__mesh *mesh = &route->network->mesh;
    if (route->at == route->to)
        return false;
    for (;; route->stride *= mesh->extents[route->dimension++]) {
        uint32_t extent = mesh->extents[route->dimension];
        uint32_t at = route->at / route->stride % extent;
        uint32_t to = route->to / route->stride % extent;
        if (at == to)
            continue;
        uint32_t upwards = to > at ? to - at : extent - (at - to);
        bool is_up = upwards <= extent - upwards;
        uint32_t next = is_up ? (at + 1 == extent ? 0 : at + 1) : (at == 0 ? extent : at) - 1;
        *ret_link = ((uint64_t)route->at * mesh->num_dimensions + route->dimension) * DIRECTIONS +
                    (is_up ? UP : DOWN);
        route->at = route->at - at * route->stride + next * route->stride;
        return true;
    }
}

bool cohort__route_next(struct cohort__route *route, uint64_t *ret_link)
{
    const struct cohort__network *network = route->network;
    if (network->kind == COHORT__NETWORK_TORUS)
        return torus_next(route, ret_link);
    if (route->at == route->to)
        return false;
    if (network->kind == COHORT__NETWORK_HOSTS) {
        uint32_t from = host_of(network, route->at), to = host_of(network, route->to);
        if (from != to) {
            *ret_link = route->dimension == 0 ? DIRECTIONS * (uint64_t)from + UP
                                              : DIRECTIONS * (uint64_t)to + DOWN;
            if (route->dimension++ == 1)
                route->at = route->to;
            return true;
        }
    }
    *ret_link = network->num_shared + (uint64_t)route->at * network->num_sites + route->to;
    route->at = route->to;
    return true;
}

static void torus_link_name(const struct cohort__network *network, uint64_t link,
                            char ret_name[COHORT__LINK_NAME_BYTES])
{
    const struct cohort__mesh *mesh = &network->mesh;
    uint32_t dimension = (uint32_t)(link / DIRECTIONS % mesh->num_dimensions);
    uint32_t place = (uint32_t)(link / DIRECTIONS / mesh->num_dimensions);
    uint32_t extent = mesh->extents[dimension];
    uint32_t at = cohort__mesh_coordinate(mesh, place, dimension);
    uint32_t next = (link % DIRECTIONS == UP ? at + 1 : at + extent - 1) % extent;
    snprintf(ret_name, COHORT__LINK_NAME_BYTES, "%u->%u", site_at(network, place),
             site_at(network, cohort__mesh_move(mesh, place, dimension, next)));
}

void cohort__link_name(const struct cohort__network *network, uint64_t link,
                       char ret_name[COHORT__LINK_NAME_BYTES])
{
    uint64_t direct = link - network->num_shared;
    if (network->kind == COHORT__NETWORK_TORUS)
        torus_link_name(network, link, ret_name);
    else if (link >= network->num_shared)
        snprintf(ret_name, COHORT__LINK_NAME_BYTES, "%u->%u",
                 (unsigned)(direct / network->num_sites), (unsigned)(direct % network->num_sites));
    else if (link % DIRECTIONS == UP)
        snprintf(ret_name, COHORT__LINK_NAME_BYTES, "host %u->switch",
                 (unsigned)(link / DIRECTIONS));
    else
        snprintf(ret_name, COHORT__LINK_NAME_BYTES, "switch->host %u",
                 (unsigned)(link / DIRECTIONS));
}
