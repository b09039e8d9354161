/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_SHARES_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_SHARES_H

#include "collectives/algo/pattern/levels.h"

/* Composed rows with many leaders: in each of the largest subgroups several members of the last
 * tier lead. A block is cut into shares; those who lead the same one do the top's part with it. So
 * the localities of a host work and send at the same time. There are as many shares as the smallest
 * tier has members, so nobody leads two.
 * Source: Bayatpour et al., Scalable Reduction Collectives with Data Partitioning-based
 * Multi-Leader Design (SC 2017). */
struct cohort__shares {
    struct cohort__levels *levels;
    uint32_t tier;              /* whose members lead */
    uint32_t level;             /* of the subgroups in each of which they are */
    uint32_t num;               /* shares */
    struct cohort__part *parts; /* of each member of this site's tier: its share, or nothing */
};

/* Whether the machine of REQUEST has several members in each tier below the top. */
bool cohort__shares_accepts(const struct cohort__request *request);
extern const char cohort__shares_needs[];

/* What a row does on its way: in the tiers below the last one, with a whole block; in the last one,
 * and at the top, with shares; and back. COHORT__NUM_COLLECTIVES: nothing. */
struct cohort__shares_ways {
    enum cohort__collective below_up, up, top, down, below_down;
};

/* The stages of such a row. */
void cohort__shares_stages(const struct cohort__request *request,
                           const struct cohort__shares_ways *ways,
                           struct cohort__stages *ret_stages);

/* For a site of LEVELS that is in the last tier. False: there is no memory, and the builder knows.
 */
bool cohort__shares_init(struct cohort__shares *shares, struct cohort__levels *levels);

/* The same where a share is not a part of one block, but the blocks of the sites that a member of
 * the last tier leads: see below. */
bool cohort__shares_init_blocks(struct cohort__shares *shares, struct cohort__levels *levels);
void cohort__shares_fini(struct cohort__shares *shares);

/* This site's share; without bytes if it leads none. */
const struct cohort__part *cohort__shares_own(const struct cohort__shares *shares);

/* Whether this site is in the same one of the largest subgroups as the root. */
bool cohort__shares_is_with_root(const struct cohort__shares *shares);

/* Appends COLLECTIVE among those who lead this site's share, IN and OUT of which are its bytes
 * alone. Of a rooted one the root is the leader in the root's subgroup. Does nothing at a site that
 * leads none. */
uint32_t cohort__shares_top(const struct cohort__shares *shares, enum cohort__collective collective,
                            struct cohort__area in, struct cohort__area out, uint32_t after);

/* Reduces what the members of this site's tier have at IN, a whole block. Sets *RET_OWN to where
 * this site's share is. */
uint32_t cohort__shares_reduce_scatter(const struct cohort__shares *shares, struct cohort__area in,
                                       struct cohort__area *ret_own, uint32_t after);

/* Gathers the shares of this site's tier, each from its place in a block at OUT, in that of all
 * members. */
uint32_t cohort__shares_all_gather(const struct cohort__shares *shares, struct cohort__area out,
                                   uint32_t after);

/* Whether the largest subgroups are all alike, of consecutive sites, with several
 * members of the last tier each; and not more than a part may have pieces. */
bool cohort__shares_blocks_accepts(const struct cohort__request *request);
extern const char cohort__shares_blocks_needs[];

/* The bytes of a share, and of those of all largest subgroups that one member needs at the top. */
size_t cohort__shares_blocks_bytes(const struct cohort__request *request);
size_t cohort__shares_blocks_top_bytes(const struct cohort__request *request);

/* The stages of such a row, an all_gather or a reduce_scatter. */
void cohort__shares_blocks_stages(const struct cohort__request *request,
                                  struct cohort__levels_way below_up,
                                  struct cohort__levels_way below_down,
                                  struct cohort__stages *ret_stages);

/* In this site's tier: for each of the largest subgroups an all_gather of the share that has come
 * from there, into the blocks of all sites at OUT. AT has a share for each; this site's own is at
 * OWN, after step AFTER. Sets RET_ENDS, one for each, to steps after which that part is done. */
void cohort__shares_gather_blocks(const struct cohort__shares *shares, struct cohort__area own,
                                  struct cohort__area at, struct cohort__area out, uint32_t after,
                                  uint32_t *ret_ends);

/* In this site's tier: for each of the largest subgroups a reduce_scatter of its blocks, among
 * those of all sites at IN, to its share at AT. */
uint32_t cohort__shares_scatter_blocks(const struct cohort__shares *shares, struct cohort__area in,
                                       struct cohort__area at, uint32_t after);

/* Gathers them at the root, in the root's tier: what each member has at OWN to its place in a block
 * at OUT. */
uint32_t cohort__shares_gather(const struct cohort__shares *shares, struct cohort__area own,
                               struct cohort__area out, uint32_t after);

#endif
