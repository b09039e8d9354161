/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NAMES_HOME_PRIVATE_H
#define COHORT_RUNTIME_NAMES_HOME_PRIVATE_H

#include "runtime/names/home.h"

/* Between the home*.c: home.c (creations from their first join to their end), home_death.c, and
 * home_gathering.c (those of the sites of an instance). */

struct member {
    uint32_t locality_plus_1; /* 0: has not joined */
    bool left;
};

/* One creation under a name. It is first pending. Then it is either failed, until all of its sites
 * have been told so or there are too many that have failed, or alive as an instance, until all of
 * its sites have left. */
struct creation {
    struct cohort__list link;
    uint64_t instance; /* 0: not alive */
    uint32_t number;   /* lent to it; COHORT__NO_NUMBER: none */
    cohort_status failed;
    char text[640];      /* why it has failed */
    uint32_t first_site; /* the site that `terms` came from */
    uint32_t num_sites;
    uint32_t num_members; /* that there is room for; fewer than sites only if it has failed */
    uint32_t *told; /* sites beyond these that have joined, and were told that it has failed */
    uint32_t num_told;
    uint32_t num_joined;
    uint32_t num_left;
    uint32_t revoked_by; /* the site + 1; 0: none */
    char *terms;
    size_t terms_bytes;
    uint64_t value; /* the AND of those that have joined */
    struct name *name;
    /* Of an agreement, or a shrinking: the instance whose sites that live gather; else NULL. */
    struct creation *of;
    struct cohort__list gathering;   /* in `gatherings` of that, while it is pending */
    struct cohort__map_node failure; /* in `failures` of that, once it has failed */
    struct cohort__list gatherings;  /* of this one's sites, that are pending */
    struct cohort__map failures; /* the same, that have failed; by name without number of deaths */
    uint32_t num_gone;           /* sites that have left by themselves */
    void *settings;              /* those of site 0, once it has joined */
    size_t settings_bytes;
    struct member members[];
};

struct name {
    struct cohort__map_node node;
    struct cohort__list creations; /* oldest first */
    size_t bytes;
    char text[];
};

struct name *cohort__home_name_find(struct cohort__registry_home *home, const char *text,
                                    size_t bytes);
void cohort__home_name_destroy(struct cohort__registry_home *home, struct name *name);
/* Whether a user has given it. Else it is that of a child: it goes on behind a 0. */
bool cohort__home_is_of_user(const struct name *name);

void cohort__home_creation_destroy(struct creation *creation);
bool cohort__home_has_joined(const struct creation *creation, uint32_t site);
/* The one of NAME that is alive as INSTANCE. NULL: none. */
struct creation *cohort__home_find_alive(const struct name *name, uint64_t instance);
/* CREATION has just failed: tells all sites that have joined so far. Sites that join later are told
 * at that time. */
cohort_status cohort__home_tell_failed(const struct name *name, struct creation *creation,
                                       struct cohort__list *outbox);
/* All sites have left: the instance ends. */
cohort_status cohort__home_end(struct cohort__registry_home *home, struct creation *creation,
                               struct cohort__list *outbox);

/* home_death.c. The sites of those who have died have left CREATION, which has just come alive. */
bool cohort__home_is_dead(const struct cohort__registry_home *home, uint32_t rank);
void cohort__home_leave_all_dead(struct cohort__registry_home *home, struct creation *creation);

/* home_gathering.c. CREATION, which is new, is one of the sites of the instance that REQUEST names,
 * if any. _failed: it has just failed. _leave: it is so no more. _orphan: nor are those of ALIVE.
 */
void cohort__home_gathering_enter(struct cohort__registry_home *home, struct creation *creation,
                                  const struct cohort__registry_request *request);
void cohort__home_gathering_failed(struct creation *creation);
void cohort__home_gathering_leave(struct creation *creation);
void cohort__home_gatherings_orphan(struct creation *alive);
/* A site has joined CREATION, or, _left, has left ALIVE. If one of those that are to gather has
 * left and can't come any more, the gathering fails. */
cohort_status cohort__home_gathering_joined(struct cohort__registry_home *home,
                                            struct creation *creation, struct cohort__list *outbox);
cohort_status cohort__home_gatherings_left(struct cohort__registry_home *home,
                                           struct creation *alive, struct cohort__list *outbox);
/* ALIVE ends: what its sites have not completed is forgotten. */
void cohort__home_gatherings_end(struct cohort__registry_home *home, struct creation *alive);

#endif
