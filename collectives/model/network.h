/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_NETWORK_H
#define COHORT_COLLECTIVES_MODEL_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "collectives/algo/pattern/mesh.h"

/* The network between the sites in a simulation: directed links, and one route for each ordered
 * pair of sites. A link carries one message at a time. The opposite direction is a separate
 * link. */
enum cohort__network_kind {
    COHORT__NETWORK_TORUS, /* rings in each dimension: ring, mesh, hypercube. A route goes through
                            * the dimensions in order, the lowest first. In each it goes the shorter
                            * way round, or upwards if both ways are equal. In the hypercube this is
                            * E-cube routing */
    COHORT__NETWORK_FULL,  /* a link for each ordered pair */
    COHORT__NETWORK_HOSTS, /* consecutive sites share a host, divided as by partition.h. Inside a
                            * host it is full. Between hosts a route takes the link up from one and
                            * the link down to the other; the switch between them has no limit */
};

struct cohort__network {
    enum cohort__network_kind kind;
    uint32_t num_sites;
    struct cohort__mesh mesh; /* TORUS */
    bool is_gray;             /* TORUS: site i is at place i XOR i/2 (Gray code), so that in a
                               * hypercube consecutive sites are joined by links */
    uint32_t num_hosts;       /* HOSTS */
    uint64_t num_shared;      /* links 0 .. num_shared - 1 may be on several routes; each other
                               * link, up to num_links, is only on the route between its two
                               * sites */
    uint64_t num_links;
};

/* The most characters of the name of a network or a link, including the NUL. */
enum { COHORT__LINK_NAME_BYTES = 40 };

/* Makes the network called NAME: "ring"; "mesh" (as square as possible) or "mesh:AxBxC" (with these
 * extents, dimension 0 first); "hypercube", or "hypercube:gray" for sites in Gray code; "full";
 * "hosts:H". num_sites >= 1. Errors: BAD_PARAMETER if there is no such network, or none with this
 * number of sites. The message says which networks are possible. */
cohort_status cohort__network_init(struct cohort__network *ret_network, const char *name,
                                   uint32_t num_sites);

/* Whether both sites are on one host. Always false except for HOSTS. */
bool cohort__network_is_inside(const struct cohort__network *network, uint32_t from, uint32_t to);

/* An iterator over the links of a route. */
struct cohort__route {
    const struct cohort__network *network;
    uint32_t at;
    uint32_t to;
    uint32_t dimension; /* TORUS: the current one; else: how many links are done */
    uint32_t stride;    /* of the current dimension */
};

struct cohort__route cohort__route_begin(const struct cohort__network *network, uint32_t from,
                                         uint32_t to);

/* The next link. False at the end. */
bool cohort__route_next(struct cohort__route *route, uint64_t *ret_link);

/* "3->4" from site to site, "host 2->switch", "switch->host 3". */
void cohort__link_name(const struct cohort__network *network, uint64_t link,
                       char ret_name[COHORT__LINK_NAME_BYTES]);

#endif
