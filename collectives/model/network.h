/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_NETWORK_H
#define COHORT_COLLECTIVES_MODEL_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "collectives/algo/pattern/mesh.h"

/* What lies between the sites in a simulation: directed links, and one route for each ordered pair
 * of sites. A link carries one message at a time; a link in the other direction is another one. */
enum cohort__network_kind {
    COHORT__NETWORK_TORUS, /* rings in each dimension: ring, mesh, hypercube. A route goes through
                              the dimensions in order, the lowest first, each the shorter way
                              round, upwards where both are equal: E-cube in the hypercube */
    COHORT__NETWORK_FULL,  /* a link for each ordered pair */
    COHORT__NETWORK_HOSTS, /* consecutive sites share a host, as partition has them; full inside;
                              between hosts, by the link up from one and the link down to the other;
                              what joins them has no limit */
};

struct cohort__network {
    enum cohort__network_kind kind;
    uint32_t num_sites;
    struct cohort__mesh mesh; /* TORUS */
    bool is_gray;             /* TORUS: site i is at place i XOR i/2, so that in a hypercube the
                                 ring of sites goes along links */
    uint32_t num_hosts;       /* HOSTS */
    uint64_t num_shared;      /* links 0 .. num_shared - 1 may be on several routes; the others, up
                                 to num_links, are on one only: between their two sites */
    uint64_t num_links;
};

/* The most characters of a network's name, and of a link's, with the 0. */
enum { COHORT__LINK_NAME_BYTES = 40 };

/* By NAME: "ring"; "mesh" (as square as can be), "mesh:AxBxC" (of these extents, dimension 0
 * first); "hypercube", with "hypercube:gray" for sites in Gray code; "full"; "hosts:H". num_sites
 * >= 1. Errors: BAD_PARAMETER where there is no such network, or none of so many sites; the message
 * says what there is. */
cohort_status cohort__network_init(struct cohort__network *ret_network, const char *name,
                                   uint32_t num_sites);

/* Whether both sites are on one host; false but for HOSTS. */
bool cohort__network_is_inside(const struct cohort__network *network, uint32_t from, uint32_t to);

/* A way through the network, link by link. */
struct cohort__route {
    const struct cohort__network *network;
    uint32_t at;
    uint32_t to;
    uint32_t dimension; /* TORUS: where it goes on; else: how many links are behind */
    uint32_t stride;    /* of that dimension */
};

struct cohort__route cohort__route_begin(const struct cohort__network *network, uint32_t from,
                                         uint32_t to);

/* The next link; false at the end. */
bool cohort__route_next(struct cohort__route *route, uint64_t *ret_link);

/* "3->4" from site to site, "host 2->switch", "switch->host 3". */
void cohort__link_name(const struct cohort__network *network, uint64_t link,
                       char ret_name[COHORT__LINK_NAME_BYTES]);

#endif
