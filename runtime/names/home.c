/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/names/home.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/text.h"
#include "runtime/names/limits.h"

struct member {
    uint16_t locality_plus_1; /* 0: has not joined */
    bool left;
    uint32_t sequence; /* the locality's number of the join */
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

/* Where SITE has joined. */
static uint32_t locality_at(const struct creation *creation, uint32_t site)
{
    return creation->members[site].locality_plus_1 - 1u;
}

/* Agreements and shrinkings of the sites of an instance that live. A site can't leave the instance
 * before its own call is complete. So one that has left, and has not joined, never will. */

static struct creation *gathering_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct creation, gathering);
}

static struct creation *failure_of(struct cohort__map_node *node)
{
    return COHORT_CONTAINER_OF(node, struct creation, failure);
}

/* How much of its name a gathering shares with the same one of those who know different numbers of
 * deaths: their names end with that number. */
static size_t shared_bytes(const struct name *name)
{
    return name->bytes < sizeof(uint64_t) ? name->bytes : name->bytes - sizeof(uint64_t);
}

static uint64_t hash_of(const struct name *name)
{
    return cohort__hash_bytes(name->text, shared_bytes(name));
}

static bool is_same(const struct cohort__map_node *node, const void *key)
{
    const struct name *left = COHORT_CONTAINER_OF(node, struct creation, failure)->name;
    const struct name *right = key;
    return left->bytes == right->bytes && memcmp(left->text, right->text, shared_bytes(right)) == 0;
}

/* CREATION, which gathers the sites of an instance, has just failed. */
static void home_gathering_failed(struct creation *creation)
{
    if (!creation->of)
        return;
    cohort__list_remove(&creation->gathering);
    cohort__map_insert(&creation->of->failures, &creation->failure, hash_of(creation->name));
}

/* It has failed for some of its sites before the latest deaths. They will not come again, so it has
 * failed for the others, too. */
static void fail_as_before(struct creation *creation)
{
    const struct cohort__map *failures = &creation->of->failures;
    if (failures->num_nodes == 0)
        return;
    struct cohort__map_node *node =
        cohort__map_find(failures, hash_of(creation->name), is_same, creation->name);
    if (!node)
        return;
    creation->failed = failure_of(node)->failed;
    memcpy(creation->text, failure_of(node)->text, sizeof(creation->text));
    home_gathering_failed(creation);
}

static struct name *home_name_find(struct cohort__registry_home *home, const char *text,
                                   size_t bytes);
/* The one of NAME that is alive as INSTANCE. NULL: none. */
static struct creation *home_find_alive(const struct name *name, uint64_t instance)
{
    for (struct cohort__list *link = name->creations.next; link != &name->creations;
         link = link->next) {
        struct creation *creation = COHORT_CONTAINER_OF(link, struct creation, link);
        if (creation->instance == instance && instance != 0)
            return creation;
    }
    return NULL;
}

/* CREATION, which is new, is one of the sites of the instance that REQUEST names, if any. */
static void home_gathering_enter(struct cohort__registry_home *home, struct creation *creation,
                                 const struct cohort__registry_request *request)
{
    struct name *name =
        request->of ? home_name_find(home, request->of_name, request->of_name_bytes) : NULL;
    struct creation *alive = name ? home_find_alive(name, request->of) : NULL;
    if (!alive)
        return;
    creation->of = alive;
    cohort__list_push_back(&alive->gatherings, &creation->gathering);
    fail_as_before(creation);
}

/* CREATION gathers the sites of an instance no more. */
static void home_gathering_leave(struct creation *creation)
{
    if (creation->of && creation->failed)
        cohort__map_remove(&creation->of->failures, &creation->failure);
    else if (creation->of)
        cohort__list_remove(&creation->gathering);
    creation->of = NULL;
}

/* One of those of ALIVE, whichever. NULL: there is none. */
static struct creation *some_gathering(struct creation *alive)
{
    if (!cohort__list_is_empty(&alive->gatherings))
        return gathering_of(alive->gatherings.next);
    struct cohort__map_node *node = cohort__map_some(&alive->failures);
    return node ? failure_of(node) : NULL;
}

/* Those that gather the sites of ALIVE do so no more. */
static void home_gatherings_orphan(struct creation *alive)
{
    struct creation *creation;
    while ((creation = some_gathering(alive)))
        home_gathering_leave(creation);
}

static bool home_has_joined(const struct creation *creation, uint32_t site)
{
    if (site < creation->num_members)
        return creation->members[site].locality_plus_1 != 0;
    for (uint32_t i = 0; i < creation->num_told; i++)
        if (creation->told[i] == site)
            return true;
    return false;
}

static bool home_is_dead(const struct cohort__registry_home *home, uint32_t rank)
{
    return rank < COHORT__HOME_LAUNCHER && home->dead[rank / 64] >> rank % 64 & 1;
}

/* The first site that has left by itself, and has not joined. The gathering's sites are those that
 * live, in their order. False: there is none, or CREATION is of those who know another number of
 * deaths than the home does; then they end it by themselves. */
static bool find_gone(const struct cohort__registry_home *home, const struct creation *creation,
                      uint32_t *ret_site)
{
    const struct creation *alive = creation->of;
    uint32_t rank = 0, gone = UINT32_MAX;
    for (uint32_t site = 0; site < alive->num_sites; site++) {
        if (home_is_dead(home, locality_at(alive, site)))
            continue;
        if (gone == UINT32_MAX && alive->members[site].left && !home_has_joined(creation, rank))
            gone = site;
        rank++;
    }
    *ret_site = gone;
    return gone != UINT32_MAX && rank == creation->num_sites;
}

/* Whether those who were to gather in CREATION, which has failed, hear so. Where they know fewer
 * deaths than the home, some may come again instead: what they are told follows the deaths. */
static bool home_gathering_hears(const struct cohort__registry_home *home,
                                 const struct creation *creation)
{
    const struct creation *alive = creation->of;
    uint32_t num_living = 0;
    for (uint32_t site = 0; alive && site < alive->num_sites; site++)
        num_living += !home_is_dead(home, locality_at(alive, site));
    return !alive || num_living == creation->num_sites;
}

static cohort_status home_tell_failed(const struct name *name, struct creation *creation,
                                      struct cohort__list *outbox);

/* A site has joined CREATION. If one of those that are to gather has left and can't come any more,
 * the gathering fails. */
static cohort_status home_gathering_joined(struct cohort__registry_home *home,
                                           struct creation *creation, struct cohort__list *outbox)
{
    const struct creation *alive = creation->of;
    uint32_t site;
    if (!alive || alive->num_gone == 0 || creation->failed || creation->instance ||
        !find_gone(home, creation, &site))
        return COHORT_OK;
    creation->failed = COHORT_ERR_GONE;
    snprintf(creation->text, sizeof(creation->text),
             "communicator \"%.60s\": site %u (locality %u) has left the communicator, and can't "
             "take part",
             alive->name->text, site, locality_at(alive, site));
    return home_tell_failed(creation->name, creation, outbox);
}

/* The same where a site has left ALIVE. */
static cohort_status home_gatherings_left(struct cohort__registry_home *home,
                                          struct creation *alive, struct cohort__list *outbox)
{
    cohort_status status = COHORT_OK;
    struct cohort__list *next;
    for (struct cohort__list *link = alive->gatherings.next; link != &alive->gatherings;
         link = next) {
        next = link->next; /* it may fail */
        cohort_status here = home_gathering_joined(home, gathering_of(link), outbox);
        status = status ? status : here;
    }
    return status;
}

static void home_name_destroy(struct cohort__registry_home *home, struct name *name);
static void home_creation_destroy(struct creation *creation);

/* ALIVE ends: what its sites have not completed is forgotten. */
static void home_gatherings_end(struct cohort__registry_home *home, struct creation *alive)
{
    struct creation *creation;
    while ((creation = some_gathering(alive))) {
        struct name *name = creation->name;
        home_creation_destroy(creation);
        if (cohort__list_is_empty(&name->creations))
            home_name_destroy(home, name);
    }
}

/* The sites of those who have died have left CREATION, which has just come alive. */
static void home_leave_all_dead(struct cohort__registry_home *home, struct creation *creation)
{
    for (uint32_t site = 0; home->view > 0 && site < creation->num_sites; site++) {
        uint32_t rank = locality_at(creation, site);
        if (!home_is_dead(home, rank))
            continue;
        creation->members[site].left = true;
        creation->num_left++;
        cohort__numbers_return(&home->numbers, creation->instance, creation->number, rank);
    }
}

static cohort_status home_end(struct cohort__registry_home *home, struct creation *creation,
                              struct cohort__list *outbox);

/* Locality RANK's sites have left CREATION. */
static cohort_status leave_dead(struct cohort__registry_home *home, struct creation *creation,
                                uint32_t rank, struct cohort__list *outbox)
{
    for (uint32_t site = 0; site < creation->num_sites; site++) {
        struct member *member = &creation->members[site];
        if (member->locality_plus_1 == rank + 1 && !member->left) {
            member->left = true;
            creation->num_left++;
        }
    }
    return creation->num_left < creation->num_sites ? COHORT_OK : home_end(home, creation, outbox);
}

/* Whether a user has given it. Else it is that of a child: it goes on behind a 0. */
static bool home_is_of_user(const struct name *name)
{
    return !memchr(name->text, '\0', name->bytes);
}

/* The first error; what can be done is done. */
static cohort_status forget_dead(struct cohort__registry_home *home, struct name *name,
                                 uint32_t rank, struct cohort__list *outbox)
{
    cohort_status status = COHORT_OK;
    struct cohort__list *next;
    for (struct cohort__list *link = name->creations.next; link != &name->creations; link = next) {
        struct creation *creation = COHORT_CONTAINER_OF(link, struct creation, link);
        cohort_status here = COHORT_OK;
        next = link->next;
        if (creation->instance)
            here = leave_dead(home, creation, rank, outbox);
        else if (home_is_of_user(name))
            home_creation_destroy(creation);
        status = status ? status : here;
    }
    return status;
}

cohort_status cohort__registry_home_died(struct cohort__registry_home *home, uint32_t rank,
                                         struct cohort__list *outbox)
{
    cohort_status status = COHORT_OK;
    struct cohort__map_node *node, *next;
    home->view++;
    if (rank < COHORT__HOME_LAUNCHER)
        home->dead[rank / 64] |= UINT64_C(1) << rank % 64;
    cohort__numbers_died(&home->numbers, rank);
    for (node = cohort__map_first(&home->names); node; node = next) {
        struct name *name = COHORT_CONTAINER_OF(node, struct name, node);
        next = cohort__map_next(&home->names, node);
        size_t num = home->names.num_nodes;
        cohort_status here = forget_dead(home, name, rank, outbox);
        status = status ? status : here;
        if (home->names.num_nodes < num) /* others have ended with it, perhaps the next one */
            next = cohort__map_some(&home->names);
        if (cohort__list_is_empty(&name->creations)) {
            if (next == node)
                next = cohort__map_next(&home->names, node);
            home_name_destroy(home, name);
        }
    }
    return status;
}

_Static_assert(3 * COHORT__MAP_RUNS_MOST + 32 <= COHORT__UNPACK_MAX_VALUES,
               "a map of so many runs is one message");

enum { MOST_FAILED = 8 }; /* under one name */

struct cohort__registry_letter *
cohort__registry_letter_add(struct cohort__list *outbox, const uint32_t *ranks, uint32_t num_ranks)
{
    struct cohort__registry_letter *letter =
        calloc(1, sizeof(*letter) + num_ranks * sizeof(letter->ranks[0]));
    if (!letter)
        return NULL;
    memcpy(letter->ranks, ranks, num_ranks * sizeof(letter->ranks[0]));
    letter->num_ranks = num_ranks;
    cohort__list_push_back(outbox, &letter->link);
    return letter;
}

void cohort__registry_letter_destroy(struct cohort__registry_letter *letter)
{
    if (!letter)
        return;
    cohort__packer_fini(&letter->packer);
    free(letter);
}

#define OF(type) (1U << COHORT__REGISTRY_##type)
#define WORD(kinds, member, most)                                                                  \
    COHORT__FIELD_OF(kinds, struct cohort__registry_words, member, most)
static const struct cohort__field fields[] = {
    WORD(0, type, COHORT__REGISTRY_REVOKED),
    WORD(OF(JOIN) | OF(LEAVE) | OF(REFUSE) | OF(MAP) | OF(WITHDRAW) | OF(REVOKE), name, UINT32_MAX),
    WORD(OF(JOIN) | OF(LEAVE) | OF(REFUSE) | OF(WITHDRAW) | OF(REVOKE) | OF(REVOKED), site,
         INT32_MAX),
    WORD(OF(JOIN) | OF(LEAVE) | OF(MAP) | OF(END) | OF(RETURN) | OF(REVOKE) | OF(REVOKED), instance,
         UINT64_MAX),
    WORD(OF(MAP) | OF(RETURN), number, UINT32_MAX),
    WORD(OF(REFUSE) | OF(BROKEN), status, 0),
    WORD(OF(REFUSE) | OF(BROKEN), text, UINT32_MAX),
    WORD(OF(JOIN) | OF(WITHDRAW), sequence, UINT32_MAX),
    WORD(OF(JOIN) | OF(WITHDRAW), failed, 0),
    WORD(OF(JOIN) | OF(WITHDRAW), terms, UINT32_MAX),
    WORD(OF(JOIN) | OF(MAP), num_sites, INT32_MAX),
    WORD(OF(JOIN) | OF(MAP), settings, UINT32_MAX),
    WORD(OF(JOIN), view, UINT32_MAX),
    WORD(OF(JOIN), agrees, 1),
    WORD(OF(JOIN) | OF(MAP), value, UINT64_MAX),
    WORD(OF(JOIN), of, UINT64_MAX),
    WORD(OF(JOIN), of_name, UINT32_MAX),
};
const struct cohort__schema cohort__registry_words =
    COHORT__SCHEMA(struct cohort__registry_words, fields, 0);

void cohort__registry_home_init(struct cohort__registry_home *home, uint32_t rank, uint32_t size)
{
    bool is_only = rank == COHORT__HOME_LAUNCHER;
    home->rank = rank;
    home->view = 0;
    memset(home->dead, 0, sizeof(home->dead));
    home->num_instances = 0;
    cohort__map_init(&home->names);
    cohort__numbers_init(&home->numbers, is_only ? 0 : rank, is_only ? 1 : size,
                         COHORT__NUM_NUMBERS);
}

static void home_creation_destroy(struct creation *creation)
{
    home_gathering_leave(creation);
    home_gatherings_orphan(creation);
    cohort__map_fini(&creation->failures);
    cohort__list_remove(&creation->link);
    free(creation->terms);
    free(creation->settings);
    free(creation->told);
    free(creation);
}

static void home_name_destroy(struct cohort__registry_home *home, struct name *name)
{
    struct cohort__list *link;
    while (!cohort__list_is_empty(&name->creations)) {
        link = name->creations.next;
        home_creation_destroy(COHORT_CONTAINER_OF(link, struct creation, link));
    }
    cohort__map_remove(&home->names, &name->node);
    free(name);
}

void cohort__registry_home_fini(struct cohort__registry_home *home)
{
    struct cohort__map_node *node;
    while ((node = cohort__map_some(&home->names)))
        home_name_destroy(home, COHORT_CONTAINER_OF(node, struct name, node));
    cohort__map_fini(&home->names);
    cohort__numbers_fini(&home->numbers);
}

static bool name_equal(const struct cohort__map_node *node, const void *key)
{
    const struct name *name = COHORT_CONTAINER_OF(node, struct name, node);
    const struct cohort__registry_request *request = key;
    return name->bytes == request->name_bytes &&
           memcmp(name->text, request->name, name->bytes) == 0;
}

static struct name *home_name_find(struct cohort__registry_home *home, const char *text,
                                   size_t bytes)
{
    const struct cohort__registry_request request = {.name = text, .name_bytes = bytes};
    struct cohort__map_node *node =
        cohort__map_find(&home->names, cohort__hash_bytes(text, bytes), name_equal, &request);
    return node ? COHORT_CONTAINER_OF(node, struct name, node) : NULL;
}

static struct name *find_name(struct cohort__registry_home *home,
                              const struct cohort__registry_request *request)
{
    return home_name_find(home, request->name, request->name_bytes);
}

static struct name *name_create(struct cohort__registry_home *home,
                                const struct cohort__registry_request *request)
{
    struct name *name = calloc(1, sizeof(*name) + request->name_bytes + 1);
    if (!name)
        return NULL;
    name->bytes = request->name_bytes;
    memcpy(name->text, request->name, request->name_bytes);
    cohort__list_init(&name->creations);
    cohort__map_insert(&home->names, &name->node,
                       cohort__hash_bytes(request->name, request->name_bytes));
    return name;
}

/* A program may try again and again in vain, with a site that never comes. So only so many attempts
 * are kept for those that come late: whoever is behind by more belongs to a later one. */
static void forget_old_failures(struct name *name)
{
    struct creation *oldest = NULL;
    uint32_t num = 0;
    for (struct cohort__list *link = name->creations.next; link != &name->creations;
         link = link->next) {
        struct creation *creation = COHORT_CONTAINER_OF(link, struct creation, link);
        if (creation->failed && num++ == 0)
            oldest = creation;
    }
    if (num > MOST_FAILED)
        home_creation_destroy(oldest);
}

static struct creation *creation_create(struct name *name,
                                        const struct cohort__registry_request *request)
{
    forget_old_failures(name);
    struct creation *creation =
        calloc(1, sizeof(*creation) + request->num_sites * sizeof(creation->members[0]));
    if (!creation)
        return NULL;
    creation->terms = malloc(request->terms_bytes + 1);
    if (!creation->terms) {
        free(creation);
        return NULL;
    }
    memcpy(creation->terms, request->terms, request->terms_bytes);
    creation->terms_bytes = request->terms_bytes;
    creation->num_sites = creation->num_members = request->num_sites;
    creation->value = UINT64_MAX;
    creation->name = name;
    cohort__list_init(&creation->gatherings);
    cohort__map_init(&creation->failures);
    creation->first_site = request->site;
    cohort__list_push_back(&name->creations, &creation->link);
    return creation;
}

/* The same creation, which has failed, with room for more sites, because a join says that there are
 * more. Where there is no memory for that, those that come are noted one by one. */
static struct creation *creation_grow(struct creation *creation, uint32_t num_sites)
{
    struct creation *grown = NULL;
    if (creation->num_members == creation->num_sites)
        grown = calloc(1, sizeof(*grown) + num_sites * sizeof(grown->members[0]));
    creation->num_sites = num_sites;
    if (!grown)
        return creation;
    home_gathering_leave(creation);
    memcpy(grown, creation,
           sizeof(*creation) + creation->num_members * sizeof(creation->members[0]));
    grown->num_members = num_sites;
    cohort__list_init(&grown->gatherings);
    cohort__map_init(&grown->failures);
    cohort__list_insert_after(&creation->link, &grown->link);
    cohort__list_remove(&creation->link);
    free(creation);
    return grown;
}

/* One that has failed since there is no memory for its sites, so that all of them are told. NULL:
 * there is no memory for that either. */
static struct creation *creation_refuse(struct name *name,
                                        const struct cohort__registry_request *request)
{
    struct creation *creation = calloc(1, sizeof(*creation));
    if (!creation)
        return NULL;
    creation->num_sites = request->num_sites;
    creation->first_site = request->site;
    creation->failed = COHORT_ERR_NO_MEMORY;
    creation->name = name;
    cohort__list_init(&creation->gatherings);
    cohort__map_init(&creation->failures);
    snprintf(creation->text, sizeof(creation->text),
             "communicator \"%.60s\": site %u of locality %u joins, but there is no memory for %u "
             "sites where the name is kept",
             name->text, request->site, request->source, request->num_sites);
    cohort__list_push_back(&name->creations, &creation->link);
    return creation;
}

/* Notes that SITE of locality SOURCE has joined. */
static cohort_status note_joined(struct creation *creation,
                                 const struct cohort__registry_request *request)
{
    const uint32_t site = request->site;
    if (site < creation->num_members) {
        creation->members[site].locality_plus_1 = (uint16_t)(request->source + 1);
        creation->members[site].sequence = request->sequence;
    } else {
        uint32_t *told = realloc(creation->told, (creation->num_told + 1) * sizeof(*told));
        if (!told)
            return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory to refuse site %u", site);
        creation->told = told;
        told[creation->num_told++] = site;
    }
    creation->num_joined++;
    return COHORT_OK;
}

static cohort_status refuse(struct cohort__list *outbox, const struct name *name, uint32_t rank,
                            uint32_t site, cohort_status status, const char *text)
{
    return cohort__registry_letter_write(
        outbox, &rank, 1,
        &(struct cohort__registry_words){.type = COHORT__REGISTRY_REFUSE,
                                         .name = {name->text, name->bytes},
                                         .site = site,
                                         .status = status,
                                         .text = {text, strlen(text)}});
}

static cohort_status tell_ended(struct cohort__list *outbox, const uint32_t *ranks,
                                uint32_t num_ranks, uint64_t instance)
{
    return cohort__registry_letter_write(
        outbox, ranks, num_ranks,
        &(struct cohort__registry_words){.type = COHORT__REGISTRY_END, .instance = instance});
}

/* How many sites from FIRST on are in the same locality. */
static uint32_t run_length(const struct creation *creation, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < creation->num_sites &&
           creation->members[end].locality_plus_1 == creation->members[first].locality_plus_1)
        end++;
    return end - first;
}

/* Consecutive localities that each have the same number of consecutive sites. Usually all
 * localities together are one run. */
struct run {
    uint32_t num_localities;
    uint32_t num_sites; /* of each locality */
    uint32_t locality;  /* the first */
};

static struct run run_at(const struct creation *creation, uint32_t site)
{
    struct run run = {1, run_length(creation, site), locality_at(creation, site)};
    for (site += run.num_sites; site < creation->num_sites; site += run.num_sites) {
        bool follows = locality_at(creation, site) == (uint64_t)run.locality + run.num_localities;
        if (!follows || run_length(creation, site) != run.num_sites)
            break;
        run.num_localities++;
    }
    return run;
}

/* At most one more than MOST. */
static uint32_t count_runs(const struct creation *creation, uint32_t most)
{
    uint32_t num = 0;
    for (uint32_t site = 0; site < creation->num_sites && num <= most; num++) {
        struct run run = run_at(creation, site);
        site += run.num_localities * run.num_sites;
    }
    return num;
}

/* It fits in a message. */
static bool may_have_table(const struct creation *creation)
{
    return creation->num_sites <= COHORT__MAP_SITES_MAX;
}

static void pack_runs(struct cohort__packer *packer, const struct creation *creation, uint32_t num)
{
    cohort__pack_text(packer, "runs");
    cohort__pack_array(packer, 3 * num);
    for (uint32_t site = 0; site < creation->num_sites;) {
        struct run run = run_at(creation, site);
        cohort__pack_unsigned(packer, run.num_localities);
        cohort__pack_unsigned(packer, run.num_sites);
        cohort__pack_unsigned(packer, run.locality);
        site += run.num_localities * run.num_sites;
    }
}

static void pack_each(struct cohort__packer *packer, const struct creation *creation)
{
    const size_t bytes = (size_t)creation->num_sites * COHORT__MAP_SITE_BYTES;
    unsigned char *table = may_have_table(creation) ? malloc(bytes) : NULL;
    if (!table) {
        packer->status = COHORT_ERR_NO_MEMORY;
        return;
    }
    for (uint32_t site = 0; site < creation->num_sites; site++) {
        const uint32_t locality = locality_at(creation, site);
        table[2 * site] = (unsigned char)(locality >> 8);
        table[2 * site + 1] = (unsigned char)locality;
    }
    cohort__pack_field_bytes(packer, "localities", table, bytes);
    free(table);
}

static void pack_localities(struct cohort__packer *packer, const struct creation *creation)
{
    const uint32_t most = may_have_table(creation) ? COHORT__MAP_RUNS_MAX : COHORT__MAP_RUNS_MOST;
    const uint32_t num_runs = count_runs(creation, most);
    if (num_runs <= most)
        pack_runs(packer, creation, num_runs);
    else
        pack_each(packer, creation);
}

static cohort_status tell_map(struct cohort__list *outbox, const struct name *name,
                              const struct creation *creation, const uint32_t *ranks,
                              uint32_t num_ranks)
{
    struct cohort__registry_letter *letter = cohort__registry_letter_add(outbox, ranks, num_ranks);
    if (!letter)
        return COHORT_ERR_NO_MEMORY;
    struct cohort__packer *packer = &letter->packer;
    cohort__pack_map(packer, 8);
    cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_MAP);
    cohort__pack_field_bytes(packer, "name", name->text, name->bytes);
    cohort__pack_field_unsigned(packer, "instance", creation->instance);
    cohort__pack_field_unsigned(packer, "num_sites", creation->num_sites);
    cohort__pack_field_bytes(packer, "settings", creation->settings, creation->settings_bytes);
    cohort__pack_field_unsigned(packer, "number", creation->number);
    cohort__pack_field_unsigned(packer, "value", creation->value);
    pack_localities(packer, creation);
    return packer->status;
}

static int compare_ranks(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* The localities of CREATION, each once. The caller frees the array. */
static uint32_t *localities(const struct creation *creation, uint32_t *ret_num)
{
    uint32_t *ranks = malloc(creation->num_sites * sizeof(*ranks));
    if (!ranks)
        return NULL;
    uint32_t num = 0;
    for (uint32_t site = 0; site < creation->num_sites; site += run_length(creation, site))
        ranks[num++] = locality_at(creation, site);
    qsort(ranks, num, sizeof(*ranks), compare_ranks);
    uint32_t num_unique = 0;
    for (uint32_t i = 0; i < num; i++)
        if (num_unique == 0 || ranks[num_unique - 1] != ranks[i])
            ranks[num_unique++] = ranks[i];
    *ret_num = num_unique;
    return ranks;
}

/* No locality of CREATION, of the NUM in RANKS, is told of its instance. */
static void die_again(struct cohort__registry_home *home, struct creation *creation,
                      const uint32_t *ranks, uint32_t num)
{
    for (uint32_t i = 0; i < num && creation->number != COHORT__NO_NUMBER; i++)
        cohort__numbers_return(&home->numbers, creation->instance, creation->number, ranks[i]);
    creation->instance = 0;
}

/* All sites have joined: the creation becomes an instance, unless it only AGREES. */
static cohort_status come_alive(struct cohort__registry_home *home, const struct name *name,
                                struct creation *creation, bool agrees, struct cohort__list *outbox)
{
    creation->instance = cohort__instance_of(home->rank, ++home->num_instances);
    uint32_t num = 0;
    uint32_t *ranks = localities(creation, &num);
    cohort_status status = ranks ? COHORT_OK : COHORT_ERR_NO_MEMORY;
    creation->number = COHORT__NO_NUMBER;
    if (!status && num > 1 && !agrees)
        creation->number = cohort__numbers_lend(&home->numbers, creation->instance, ranks, num);
    if (!status)
        status = tell_map(outbox, name, creation, ranks, num);
    if (status)
        die_again(home, creation, ranks, num);
    else
        home_leave_all_dead(home, creation);
    free(ranks);
    return status;
}

/* All sites have left: the instance ends. Those who have died need not be told, but may be. */
static cohort_status home_end(struct cohort__registry_home *home, struct creation *creation,
                              struct cohort__list *outbox)
{
    uint32_t num;
    home_gatherings_end(home, creation);
    uint32_t *ranks = localities(creation, &num);
    cohort_status status = ranks ? COHORT_OK : COHORT_ERR_NO_MEMORY;
    if (!status)
        status = tell_ended(outbox, ranks, num, creation->instance);
    free(ranks);
    home_creation_destroy(creation);
    return status;
}

/* The site has left the instance. If it was the last one, the instance ends. A second call for the
 * same site does nothing. */
static cohort_status leave(struct cohort__registry_home *home, struct name *name,
                           const struct cohort__registry_request *request,
                           struct cohort__list *outbox)
{
    uint64_t instance = request->instance;
    struct creation *creation = NULL;
    struct cohort__list *link = name->creations.next;
    for (; link != &name->creations; link = link->next) {
        creation = COHORT_CONTAINER_OF(link, struct creation, link);
        if (creation->instance == instance)
            break;
    }
    if (link == &name->creations || instance == 0 || request->site >= creation->num_sites)
        return COHORT_OK;
    struct member *member = &creation->members[request->site];
    if (member->left || member->locality_plus_1 != request->source + 1)
        return COHORT_OK;
    member->left = true;
    creation->num_gone++;
    return ++creation->num_left < creation->num_sites ? home_gatherings_left(home, creation, outbox)
                                                      : home_end(home, creation, outbox);
}

/* CREATION has just failed: tells all sites that have joined so far. Sites that join later are told
 * at that time. */
static cohort_status home_tell_failed(const struct name *name, struct creation *creation,
                                      struct cohort__list *outbox)
{
    home_gathering_failed(creation);
    cohort_status status = COHORT_OK;
    for (uint32_t site = 0; !status && site < creation->num_members; site++)
        if (creation->members[site].locality_plus_1)
            status = refuse(outbox, name, locality_at(creation, site), site, creation->failed,
                            creation->text);
    return status;
}

/* The site can't take part. */
static cohort_status fail_as_it_says(const struct name *name, struct creation *creation,
                                     const struct cohort__registry_request *request,
                                     struct cohort__list *outbox)
{
    creation->failed = request->failed;
    snprintf(creation->text, sizeof(creation->text),
             "communicator \"%.60s\": site %u of locality %u can't join: %.*s", name->text,
             request->site, request->source,
             (int)(request->terms_bytes < 480 ? request->terms_bytes : 480), request->terms);
    return home_tell_failed(name, creation, outbox);
}

/* The terms differ. */
static cohort_status fail_as_different(const struct name *name, struct creation *creation,
                                       const struct cohort__registry_request *request,
                                       struct cohort__list *outbox)
{
    uint32_t first = creation->first_site;
    creation->failed = COHORT_ERR_MISMATCH;
    snprintf(creation->text, sizeof(creation->text),
             "communicator \"%.60s\": site %u of locality %u joins with %.*s, "
             "site %u of locality %u with %.*s",
             name->text, request->site, request->source,
             (int)(request->terms_bytes < 110 ? request->terms_bytes : 110), request->terms, first,
             locality_at(creation, first),
             (int)(creation->terms_bytes < 110 ? creation->terms_bytes : 110), creation->terms);
    return home_tell_failed(name, creation, outbox);
}

enum { MISSING_LISTED = 8 };

/* Appends ", missing 5, 9 and 33", the first few of them. */
static void append_missing(const struct creation *creation, char *text, size_t capacity)
{
    uint32_t num = creation->num_sites - creation->num_joined, listed = 0;
    size_t used = strlen(text);
    for (uint32_t site = 0; site < creation->num_sites && listed < MISSING_LISTED; site++) {
        if (creation->members[site].locality_plus_1)
            continue;
        const char *between = listed == 0 ? ", missing" : listed + 1 == num ? " and" : ",";
        used += (size_t)snprintf(text + used, capacity - used, "%s %u", between, site);
        listed++;
    }
    if (num > listed)
        snprintf(text + used, capacity - used, " and %u more", num - listed);
}

/* A site waits no longer. */
static cohort_status fail_as_withdrawn(const struct name *name, struct creation *creation,
                                       const struct cohort__registry_request *request,
                                       struct cohort__list *outbox)
{
    char *text = creation->text;
    const size_t capacity = sizeof(creation->text);
    creation->failed = request->failed;
    snprintf(text, capacity, "communicator \"%.60s\": %u of %u sites have joined", name->text,
             creation->num_joined, creation->num_sites);
    append_missing(creation, text, capacity);
    size_t used = strlen(text);
    const bool is_late = request->failed == COHORT_ERR_TIMEOUT; /* else they are not the cause */
    if (is_late && request->returned && request->returned[0])
        used += (size_t)snprintf(
            text + used, capacity - used, "; programs that have returned: %s %.120s",
            strpbrk(request->returned, ",-") ? "localities" : "locality", request->returned);
    used += (size_t)snprintf(text + used, capacity - used,
                             "; site %u of locality %u waits no longer: ", request->site,
                             request->source);
    cohort__text_shorten(text + used, capacity - used, request->terms, request->terms_bytes);
    return home_tell_failed(name, creation, outbox);
}

/* Whether REQUEST is of a site that waits in CREATION, since the join that it names. */
static bool waits_for(const struct creation *creation,
                      const struct cohort__registry_request *request)
{
    if (creation->instance || creation->failed || request->site >= creation->num_sites)
        return false;
    const struct member *member = &creation->members[request->site];
    return member->locality_plus_1 == request->source + 1 && member->sequence == request->sequence;
}

cohort_status cohort__registry_home_withdraw(struct cohort__registry_home *home,
                                             const struct cohort__registry_request *request,
                                             struct cohort__list *outbox)
{
    struct name *name = find_name(home, request);
    struct cohort__list *link = name ? name->creations.next : NULL;
    for (; name && link != &name->creations; link = link->next) {
        struct creation *creation = COHORT_CONTAINER_OF(link, struct creation, link);
        if (waits_for(creation, request))
            return fail_as_withdrawn(name, creation, request, outbox);
    }
    return COHORT_OK;
}

/* The creation that SITE's join belongs to: the oldest one that is not alive and that it has not
 * joined yet. NULL: a new one is needed. *ret_duplicate: the site is in a creation that is alive or
 * pending. */
static struct creation *creation_for(struct name *name, uint32_t site, bool *ret_duplicate)
{
    *ret_duplicate = false;
    for (struct cohort__list *link = name->creations.next; link != &name->creations;
         link = link->next) {
        struct creation *creation = COHORT_CONTAINER_OF(link, struct creation, link);
        bool joined = home_has_joined(creation, site);
        if (!joined && !creation->instance)
            return creation;
        if (joined && !creation->failed && !creation->members[site].left) {
            *ret_duplicate = true;
            return creation;
        }
    }
    return NULL;
}

static bool matches(const struct creation *creation, const struct cohort__registry_request *request)
{
    return creation->num_sites == request->num_sites &&
           creation->terms_bytes == request->terms_bytes &&
           memcmp(creation->terms, request->terms, request->terms_bytes) == 0;
}

static cohort_status refuse_duplicate(struct cohort__list *outbox, const struct name *name,
                                      const struct creation *creation,
                                      const struct cohort__registry_request *request)
{
    char text[256];
    snprintf(text, sizeof(text),
             "communicator \"%.60s\": site %u of locality %u joins, but locality %u has this "
             "site already",
             name->text, request->site, request->source, locality_at(creation, request->site));
    return refuse(outbox, name, request->source, request->site, COHORT_ERR_DUPLICATE_SITE, text);
}

/* When site 0 joins: all sites will use its settings. */
static cohort_status keep_settings(struct creation *creation,
                                   const struct cohort__registry_request *request)
{
    if (request->site != 0 || request->settings_bytes == 0)
        return COHORT_OK;
    creation->settings = malloc(request->settings_bytes);
    if (!creation->settings)
        return COHORT_ERR_NO_MEMORY;
    memcpy(creation->settings, request->settings, request->settings_bytes);
    creation->settings_bytes = request->settings_bytes;
    return COHORT_OK;
}

/* There is no memory to go on, at REQUEST's join. */
static cohort_status fail_for_memory(const struct name *name, struct creation *creation,
                                     const struct cohort__registry_request *request,
                                     struct cohort__list *outbox)
{
    creation->failed = COHORT_ERR_NO_MEMORY;
    snprintf(creation->text, sizeof(creation->text),
             "communicator \"%.60s\": site %u of locality %u joins as the %u. of %u sites, but "
             "there is no memory for that where the name is kept",
             name->text, request->site, request->source,
             creation->num_joined + !home_has_joined(creation, request->site), creation->num_sites);
    return home_tell_failed(name, creation, outbox);
}

/* Makes the site a member of CREATION. A failed creation is destroyed once all its sites have been
 * told, and hear it. */
static cohort_status enter(struct cohort__registry_home *home, const struct name *name,
                           struct creation *creation,
                           const struct cohort__registry_request *request,
                           struct cohort__list *outbox)
{
    cohort_status status = COHORT_OK;
    if (!creation->failed && request->failed)
        status = fail_as_it_says(name, creation, request, outbox);
    else if (!creation->failed && !matches(creation, request))
        status = fail_as_different(name, creation, request, outbox);
    if (!status && !creation->failed && keep_settings(creation, request))
        status = fail_for_memory(name, creation, request, outbox);
    if (request->num_sites > creation->num_sites)
        creation = creation_grow(creation, request->num_sites); /* it has failed */
    if (!status)
        status = note_joined(creation, request);
    if (status)
        return status;
    creation->value &= request->value;
    bool complete = creation->num_joined == creation->num_sites;
    if (creation->failed)
        status =
            refuse(outbox, name, request->source, request->site, creation->failed, creation->text);
    else if (complete && come_alive(home, name, creation, request->agrees, outbox))
        status = fail_for_memory(name, creation, request, outbox);
    else if (!complete)
        status = home_gathering_joined(home, creation, outbox);
    if (creation->instance)
        home_gathering_leave(creation); /* it is a communicator by now */
    if (complete && (creation->failed ? home_gathering_hears(home, creation) : request->agrees))
        home_creation_destroy(creation);
    return status;
}

cohort_status cohort__registry_home_join(struct cohort__registry_home *home,
                                         const struct cohort__registry_request *request,
                                         struct cohort__list *outbox)
{
    if (request->site >= request->num_sites)
        return cohort_fail(COHORT_ERR_PROTOCOL, "a join of site %u of %u sites", request->site,
                           request->num_sites);
    if (request->settings_bytes > COHORT__SETTINGS_BYTES_MAX)
        return cohort_fail(COHORT_ERR_PROTOCOL, "a join of site %u with %zu bytes of settings",
                           request->site, request->settings_bytes);
    struct name *name = find_name(home, request);
    if (!name)
        name = name_create(home, request);
    if (!name)
        return COHORT_ERR_NO_MEMORY;
    cohort_status status = COHORT_OK;
    if (request->instance)
        status = leave(home, name, request, outbox);
    /* Who has sent it hears of the death, or has by now, and ends the join by itself. */
    bool is_old = home_is_of_user(name) && request->view < home->view;
    if (is_old) {
        if (cohort__list_is_empty(&name->creations))
            home_name_destroy(home, name);
        return status;
    }
    bool duplicate = false;
    struct creation *creation = status ? NULL : creation_for(name, request->site, &duplicate);
    if (!status && !creation) {
        creation = creation_create(name, request);
        if (creation)
            home_gathering_enter(home, creation, request);
    }
    if (!status && !creation)
        creation = creation_refuse(name, request);
    if (!status && !creation)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "no memory to refuse site %u", request->site);
    else if (!status)
        status = duplicate ? refuse_duplicate(outbox, name, creation, request)
                           : enter(home, name, creation, request, outbox);
    if (cohort__list_is_empty(&name->creations))
        home_name_destroy(home, name);
    return status;
}

cohort_status cohort__registry_home_leave(struct cohort__registry_home *home,
                                          const struct cohort__registry_request *request,
                                          struct cohort__list *outbox)
{
    struct name *name = find_name(home, request);
    if (!name)
        return COHORT_OK; /* it was told before, by a join */
    cohort_status status = leave(home, name, request, outbox);
    if (cohort__list_is_empty(&name->creations))
        home_name_destroy(home, name);
    return status;
}

static cohort_status tell_revoked(struct cohort__list *outbox, const uint32_t *ranks,
                                  uint32_t num_ranks, uint64_t instance, uint32_t site)
{
    return cohort__registry_letter_write(
        outbox, ranks, num_ranks,
        &(struct cohort__registry_words){
            .type = COHORT__REGISTRY_REVOKED, .instance = instance, .site = site});
}

cohort_status cohort__registry_home_revoke(struct cohort__registry_home *home,
                                           const struct cohort__registry_request *request,
                                           struct cohort__list *outbox)
{
    struct name *name = find_name(home, request);
    struct creation *creation = name ? home_find_alive(name, request->instance) : NULL;
    bool is_first = creation && creation->revoked_by == 0;
    if (creation && request->site >= creation->num_sites)
        return cohort_fail(COHORT_ERR_PROTOCOL, "a revocation by site %u of %u sites",
                           request->site, creation->num_sites);
    if (!is_first)
        return tell_revoked(outbox, &request->source, 1, request->instance,
                            creation ? creation->revoked_by - 1 : request->site);
    uint32_t num;
    uint32_t *ranks = localities(creation, &num);
    cohort_status status = ranks ? COHORT_OK : COHORT_ERR_NO_MEMORY;
    if (!status)
        status = tell_revoked(outbox, ranks, num, request->instance, request->site);
    if (!status)
        creation->revoked_by = request->site + 1;
    free(ranks);
    return status;
}
