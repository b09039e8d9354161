/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETINGS_H
#define COHORT_COLLECTIVES_EXEC_MEETINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/comm/arenas.h"
#include "collectives/comm/commons.h"
#include "collectives/comm/group.h"
#include "collectives/comm/team.h"
#include "runtime/base/copier.h"
#include "runtime/base/list.h"

/* All meetings of a subgroup of a group, as its annex. Any thread; what is in it is private to the
 * meeting*.c and to attendance.c, and changes with the lock held. */
struct cohort__meetings {
    struct cohort__annex base;  /* first */
    struct cohort__watch watch; /* looks at the board, if there is a team */
    pthread_mutex_t lock;
    /* By generation and index: those that do not move, failed ones, too. */
    struct cohort__list current;
    struct cohort__list moving;
    struct cohort__list spare;
    struct cohort__members sites; /* the site of each rank */
    uint32_t *own_sites;          /* memory for these; NULL: they are the group's */
    uint32_t num_local;           /* sites of this locality */
    struct cohort__group *group;
    /* The localities of this host. NULL: all sites are in this one. With a team, each site's rank
     * is its number. */
    struct cohort__team *team;
    struct cohort__copier copier; /* copies to the board */
    struct cohort__arena arena;   /* this locality's on the board */
    uint64_t last_ended;          /* the highest number of one that has ended, see board.h */
    uint64_t last_gathered;       /* that of the latest to which all sites here have come */
};

/* What those above do with them. */
struct cohort__meetings_hooks {
    void (*left)(struct cohort__annex *annex, const struct cohort_comm *comm);
    bool (*look)(struct cohort__watch *watch);
};

/* Those of a subgroup of GROUP. NULL: there are none yet. */
static inline struct cohort__meetings *cohort__meetings_find(struct cohort__group *group,
                                                             enum cohort__subgroup subgroup)
{
    return (struct cohort__meetings *)atomic_load_explicit(&group->meetings[subgroup],
                                                           memory_order_acquire);
}

/* The same, made by the first call. NULL: they can't be made; the error is set. */
struct cohort__meetings *cohort__meetings_make(struct cohort__group *group,
                                               enum cohort__subgroup subgroup,
                                               const struct cohort__meetings_hooks *hooks);

/* How many bytes this locality has in memory of its arena on GROUP's board, which it must have, and
 * on all boards. Any thread. */
void cohort__meetings_arena(struct cohort__group *group, size_t *ret_bytes, size_t *ret_all_bytes);

#endif
