/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_GROUP_H
#define COHORT_COLLECTIVES_COMM_GROUP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collectives/comm/actor.h"
#include "collectives/comm/commons.h"
#include "collectives/plan/machine.h"
#include "runtime/base/hash.h"
#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/base/tree.h"
#include "runtime/proc/boards.h"
#include "runtime/proc/registry.h"

struct cohort__message;
struct cohort_comm;

/* Sites of a group that meet. Their ranks are numbers from 0 on, in the order of the sites. */
enum cohort__subgroup {
    COHORT__SUBGROUP_ALL,      /* a rank is the number of the site */
    COHORT__SUBGROUP_LOCALITY, /* those of this locality only */
    COHORT__NUM_SUBGROUPS,
};

/* What an upper unit keeps for a group: it is made when it is first needed, and destroyed with the
 * group. It is the first field of a larger struct. */
struct cohort__annex {
    void (*destroy)(struct cohort__annex *annex);
    /* In the endpoint's turn: COMM's site has left. Or NULL. */
    void (*left)(struct cohort__annex *annex, const struct cohort_comm *comm);
};

/* What can end all calls of a group. */
enum cohort__standing {
    COHORT__STANDING_WHOLE,   /* only that it is revoked: all of its sites are in this locality */
    COHORT__STANDING_SPREAD,  /* a death, too */
    COHORT__STANDING_REVOKED, /* it is revoked: the membership has by whom */
};

/* The sites of one instance of a communicator, as one locality sees them: which locality each site
 * is in, and the endpoints that are here. A group stays until all sites, in all localities, have
 * left, since an endpoint that has left still answers. Then it is freed with the last reference, or
 * at the end of the last turn of an endpoint, whichever comes later. Most of it is fixed; any
 * thread that has a reference, or is in the turn of one of its endpoints, may use it. */
struct cohort__group {
    struct cohort__map_node node; /* by instance */
    struct cohort__list retired;  /* in the inbox's list of groups to be freed */
    /* One while there are sites anywhere that have not left. One for each thread that uses the
     * group, except in the turn of an endpoint that has not left. */
    _Atomic uint32_t refs;
    struct cohort__actor_home home; /* of endpoints that have left */
    bool has_ended;                 /* all sites have left; under the inbox's lock */
    struct cohort__commons *commons;
    struct cohort__membership *membership;
    uint32_t rank;            /* of this locality */
    bool is_whole;            /* all sites are in this locality */
    bool has_board;           /* several localities, which all share memory */
    _Atomic uint8_t standing; /* enum cohort__standing */
    bool has_notes; /* several localities are on this host, and can leave each other notes */
    struct cohort__machine *machine; /* localities, domains, hosts */
    struct cohort__members local;    /* the sites of this locality */
    uint32_t num_localities;         /* in which the group has sites */
    uint32_t max_local_sites;        /* in any of the localities */
    char name[COHORT__NAME_BYTES_MAX + 1];
    struct cohort__group_line *line; /* of the ledger */
    void *_Atomic tuning;            /* belongs to coll, from malloc; NULL: none yet */
    pthread_mutex_t lock;            /* of `unclaimed`, and to make an annex */
    struct cohort__tree unclaimed;   /* messages for endpoints that are not made yet, by site */
    /* NULL: none yet. */
    struct cohort__annex *_Atomic meetings[COHORT__NUM_SUBGROUPS]; /* exec's */
    struct cohort__annex *_Atomic noticeboard;
    struct cohort__annex *_Atomic verdicts;    /* what is in them is under `lock` */
    _Atomic uint32_t num_left;                 /* endpoints of this locality that have left */
    struct cohort__actor *_Atomic endpoints[]; /* by site; NULL: elsewhere, or not made yet */
};

cohort_status cohort__group_create(struct cohort__group **ret_group,
                                   struct cohort__commons *commons, const char *name,
                                   struct cohort__membership *membership);

/* Adds a reference. The caller must be sure that the group exists. */
static inline void cohort__group_ref(struct cohort__group *group)
{
    atomic_fetch_add(&group->refs, 1);
}

/* Gives a reference back. Has the group freed, with its endpoints, if nothing else holds it. NULL
 * is fine. */
void cohort__group_unref(struct cohort__group *group);

/* Frees it with its endpoints. */
void cohort__group_destroy(struct cohort__group *group);

/* Whether SITE is in this locality. */
static inline bool cohort__group_is_local(const struct cohort__group *group, uint32_t site)
{
    return group->membership->locality_of[site] == group->rank;
}

/* The lowest site of a locality. INDEX is below num_localities. */
static inline uint32_t cohort__group_first_site(const struct cohort__group *group, uint32_t index)
{
    return cohort__machine_members(group->machine, COHORT__LEVEL_LOCALITY, index).sites[0];
}

/* The localities of this host, by their numbers in the machine. */
struct cohort__children cohort__group_host_localities(const struct cohort__group *group);

/* How many of its hosts share the same cores, at most. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__group_hosts_sharing(const struct cohort__group *group, uint32_t *ret_sharing);

/* The turn by which the leaders of subgroups are chosen, as cohort__machine_leader takes it. */
static inline uint64_t cohort__group_turn(const struct cohort__group *group)
{
    return cohort__hash_u64(group->membership->instance);
}

/* SITE has revoked it. For the inbox, which sees to it that only the first one counts. */
void cohort__group_revoke(struct cohort__group *group, uint32_t site);

/* It is revoked: drops what was kept for endpoints that are not made. */
void cohort__group_drop_unclaimed(struct cohort__group *group);

/* Hands MESSAGE, which it takes, to the endpoint of SITE, which is in this locality. */
void cohort__group_deliver(struct cohort__group *group, uint32_t site,
                           struct cohort__message *message);

/* The endpoint of SITE is ready. From now on messages reach it. */
void cohort__group_add(struct cohort__group *group, uint32_t site, struct cohort__actor *endpoint);

#endif
