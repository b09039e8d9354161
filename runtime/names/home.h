/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NAMES_HOME_H
#define COHORT_RUNTIME_NAMES_HOME_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/names/limits.h"
#include "runtime/names/numbers.h"
#include "runtime/wire/schema.h"

/* The home's half of the name registry: the state of the names whose home is here. It does not use
 * the transport: it turns incoming messages into outgoing ones, in an outbox. One thread at a
 * time. */
struct cohort__registry_home {
    uint32_t rank; /* of this locality, or COHORT__HOME_LAUNCHER: instance numbers begin with it */
    uint32_t view; /* how many deaths are known */
    uint64_t dead[COHORT__HOME_LAUNCHER / 64]; /* a bit for each locality */
    uint64_t num_instances;
    struct cohort__map names;
    struct cohort__numbers numbers;
};

/* For locality RANK of SIZE; or COHORT__HOME_LAUNCHER, which has all numbers for itself. */
void cohort__registry_home_init(struct cohort__registry_home *home, uint32_t rank, uint32_t size);
void cohort__registry_home_fini(struct cohort__registry_home *home);

/* A letter to be sent. The outbox is a list of them, in order. */
struct cohort__registry_letter {
    struct cohort__list link;
    struct cohort__packer packer;
    uint32_t num_ranks; /* to how many localities it goes */
    uint32_t ranks[];
};

/* A JOIN, LEAVE, WITHDRAW or REVOKE of locality SOURCE. */
struct cohort__registry_request {
    uint32_t source;
    const char *name;
    size_t name_bytes;
    const char *terms;
    size_t terms_bytes;
    const void *settings;
    size_t settings_bytes;
    uint32_t site;
    uint32_t num_sites;
    uint64_t instance;    /* the instance that was left, or 0; or is revoked */
    cohort_status failed; /* if it isn't COHORT_OK, TERMS has the reason; of a WITHDRAW: why */
    uint32_t sequence;    /* of a JOIN: the locality's number of it; of a WITHDRAW: of which */
    const char *returned; /* of a WITHDRAW: whose programs have returned, as text; or "" */
    uint32_t view;        /* of a JOIN: how many deaths the locality knew */
    bool agrees;          /* of a JOIN: no instance is to be made, all get the AND of the values */
    uint64_t value;
    /* Of a JOIN: all sites that live of this instance, with this name, gather. 0: none. */
    uint64_t of;
    const char *of_name;
    size_t of_name_bytes;
};
cohort_status cohort__registry_home_join(struct cohort__registry_home *home,
                                         const struct cohort__registry_request *request,
                                         struct cohort__list *outbox);
cohort_status cohort__registry_home_leave(struct cohort__registry_home *home,
                                          const struct cohort__registry_request *request,
                                          struct cohort__list *outbox);

/* A REVOKE: all localities of the instance are told that the site has revoked it. If another site
 * has done so before, or it has ended, only the sender is told, by which site. */
cohort_status cohort__registry_home_revoke(struct cohort__registry_home *home,
                                           const struct cohort__registry_request *request,
                                           struct cohort__list *outbox);

/* A WITHDRAW: the site waits no longer. All that have joined with it are told, and those that join
 * later. Does nothing if all have joined by now, or if that has failed anyway: then an answer is on
 * its way, and the site may even have joined anew. */
cohort_status cohort__registry_home_withdraw(struct cohort__registry_home *home,
                                             const struct cohort__registry_request *request,
                                             struct cohort__list *outbox);

/* Locality RANK has died, as the next one, and all others have been told. Its sites have left all
 * instances, and it has given back the numbers of all of them; so of those that come alive later,
 * since it had joined before. What is pending or has failed under a name that a user gives is
 * forgotten: nobody knows whether the dead one was to join, so the localities end all such joins
 * when they hear of the death, and a JOIN of an older view comes from one that has not heard of it
 * yet. Children of communicators stay: the localities know which of them a death concerns. */
cohort_status cohort__registry_home_died(struct cohort__registry_home *home, uint32_t rank,
                                         struct cohort__list *outbox);

/* The kinds of registry messages, field "type". */
enum cohort__registry_type {
    COHORT__REGISTRY_JOIN = 1, /* name, site, sequence, num_sites, terms, settings, instance,
                                * failed, view, agrees, value, of, of_name */
    COHORT__REGISTRY_LEAVE,    /* name, site, instance */
    COHORT__REGISTRY_REFUSE,   /* name, site, status, text */
    COHORT__REGISTRY_MAP,      /* name, instance, num_sites, settings, runs: [localities, sites,
                                * locality, ...]. Each run is a number of consecutive localities,
                                * the number of sites in each of them, and the first of these
                                * localities; in the order of the sites. If that were too many,
                                * instead localities: of each site, as bytes, the higher one first.
                                * number: of its notes */
    COHORT__REGISTRY_END,      /* instance */
    COHORT__REGISTRY_BROKEN,   /* status, text: joins are not reliable any more */
    COHORT__REGISTRY_RETURN,   /* instance, number: that locality uses its notes no more */
    COHORT__REGISTRY_WITHDRAW, /* name, site, sequence, failed, terms */
    COHORT__REGISTRY_REVOKE,   /* name, site, instance */
    COHORT__REGISTRY_REVOKED,  /* instance, site: that one has revoked it */
};

/* What is in letters, each of which has what its type has. A MAP has also its localities, which
 * are read by themselves. */
struct cohort__registry_words {
    uint32_t type;
    struct cohort__bytes name;
    uint32_t site;
    uint64_t instance;
    uint32_t number;
    int status;
    struct cohort__bytes text;
    uint32_t sequence;
    int failed;
    struct cohort__bytes terms;
    uint32_t num_sites;
    struct cohort__bytes settings;
    uint32_t view;
    bool agrees;
    uint64_t value;
    uint64_t of;
    struct cohort__bytes of_name;
};
extern const struct cohort__schema cohort__registry_words;

/* Appends an empty letter to OUTBOX, for the NUM_RANKS localities in RANKS. NULL where memory ran
 * out. */
struct cohort__registry_letter *
cohort__registry_letter_add(struct cohort__list *outbox, const uint32_t *ranks, uint32_t num_ranks);
void cohort__registry_letter_destroy(struct cohort__registry_letter *letter);

/* The same with WORDS in it. The letter is there where they could not be packed, too. */
static inline cohort_status
cohort__registry_letter_write(struct cohort__list *outbox, const uint32_t *ranks,
                              uint32_t num_ranks, const struct cohort__registry_words *words)
{
    struct cohort__registry_letter *letter = cohort__registry_letter_add(outbox, ranks, num_ranks);
    if (!letter)
        return COHORT_ERR_NO_MEMORY;
    cohort__schema_pack(&letter->packer, &cohort__registry_words, words);
    return letter->packer.status;
}

#endif
