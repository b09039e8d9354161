/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/tally.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/text.h"
#include "runtime/wire/schema.h"

/* Keeps the order. What is above the last one of a full list is dropped. */
static void insert(struct cohort__tally_list *list, struct cohort__tally_site site)
{
    uint32_t place = list->num;
    while (place > 0 && list->sites[place - 1].site > site.site)
        place--;
    if (place == COHORT__TALLY_LISTED)
        return;
    list->num += list->num < COHORT__TALLY_LISTED;
    memmove(&list->sites[place + 1], &list->sites[place],
            (list->num - 1 - place) * sizeof(list->sites[0]));
    list->sites[place] = site;
}

/* What the lowest site has called is the name of the call. */
static void take_name(struct cohort__tally *tally, uint32_t site, const char *name)
{
    if (!name[0] || (tally->name[0] && tally->namer < site))
        return;
    tally->namer = site;
    snprintf(tally->name, sizeof(tally->name), "%s", name);
}

void cohort__tally_add(struct cohort__tally *tally, uint32_t site, enum cohort__vote vote,
                       const char *name, bool is_alone)
{
    struct cohort__tally_site listed = {site, vote};
    tally->num[vote]++;
    if (cohort__vote_is_missing(vote))
        insert(&tally->missing, listed);
    else if (vote == COHORT__VOTE_OK)
        insert(&tally->ok, listed);
    tally->is_alone |= is_alone;
    take_name(tally, site, name);
}

void cohort__tally_merge(struct cohort__tally *tally, const struct cohort__tally *other)
{
    for (uint32_t vote = 0; vote < COHORT__NUM_VOTES; vote++)
        tally->num[vote] += other->num[vote];
    for (uint32_t i = 0; i < other->missing.num; i++)
        insert(&tally->missing, other->missing.sites[i]);
    for (uint32_t i = 0; i < other->ok.num; i++)
        insert(&tally->ok, other->ok.sites[i]);
    tally->is_alone |= other->is_alone;
    take_name(tally, other->namer, other->name);
}

static uint32_t num_missing(const struct cohort__tally *tally)
{
    uint32_t num = 0;
    for (uint32_t vote = 0; cohort__vote_is_missing((enum cohort__vote)vote); vote++)
        num += tally->num[vote];
    return num;
}

bool cohort__tally_refuses(const struct cohort__tally *tally)
{
    bool has_all = num_missing(tally) == 0 && tally->num[COHORT__VOTE_WAITS] == 0;
    return !(has_all && tally->num[COHORT__VOTE_OK] > 0 && !tally->is_alone);
}

/* The text ------------------------------------------------------------------------------------ */

static const char *const reasons[] = {
    [COHORT__VOTE_NOT_CALLED] = "not called yet",
    [COHORT__VOTE_LEFT_OUT] = "left out",
    [COHORT__VOTE_GONE] = "has left",
};

/* What goes between a site of a list of ALL, of which MORE are not listed, and the next one. */
static const char *between(uint32_t index, uint32_t listed, uint32_t more)
{
    bool is_last = index + 1 == listed;
    bool is_next_last = index + 2 == listed && more == 0;
    return is_last ? "" : is_next_last ? " and " : ", ";
}

/* Neighbours in the list of one locality and with one reason share the brackets. */
static void append_missing(struct cohort__text *text, const struct cohort__tally *tally,
                           const uint32_t *locality_of)
{
    const struct cohort__tally_list *list = &tally->missing;
    uint32_t more = num_missing(tally) - list->num;
    for (uint32_t i = 0; i < list->num; i++) {
        const struct cohort__tally_site *site = &list->sites[i], *next = site + 1;
        bool is_shared = i + 1 < list->num && next->vote == site->vote &&
                         locality_of[next->site] == locality_of[site->site];
        cohort__text_append(text, "%" PRIu32, site->site);
        if (!is_shared)
            cohort__text_append(text, " (locality %" PRIu32 ", %s)", locality_of[site->site],
                                reasons[site->vote]);
        cohort__text_append(text, "%s", between(i, list->num, more));
    }
    if (more > 0)
        cohort__text_append(text, " and %" PRIu32 " more", more);
}

static void append_ok(struct cohort__text *text, const struct cohort__tally *tally)
{
    const struct cohort__tally_list *list = &tally->ok;
    uint32_t more = tally->num[COHORT__VOTE_OK] - list->num;
    for (uint32_t i = 0; i < list->num; i++)
        cohort__text_append(text, "%" PRIu32 "%s", list->sites[i].site,
                            between(i, list->num, more));
    if (more > 0)
        cohort__text_append(text, " and %" PRIu32 " more", more);
}

void cohort__tally_describe(const struct cohort__tally *tally, uint64_t generation,
                            const uint32_t *locality_of, char *bytes, size_t capacity)
{
    struct cohort__text text = {.bytes = bytes, .capacity = capacity};
    uint32_t missing = num_missing(tally), num_sites = 0;
    for (uint32_t vote = 0; vote < COHORT__NUM_VOTES; vote++)
        num_sites += tally->num[vote];
    cohort__text_append(&text, "generation %" PRIu64 "%s%s: %" PRIu32 " of %" PRIu32 " sites",
                        generation, tally->name[0] ? " " : "", tally->name, num_sites - missing,
                        num_sites);
    if (missing > 0) {
        cohort__text_append(&text, ", missing ");
        append_missing(&text, tally, locality_of);
    }
    if (tally->num[COHORT__VOTE_OK] > 0) {
        cohort__text_append(&text, "; complete at ");
        append_ok(&text, tally);
    }
}

/* Messages ------------------------------------------------------------------------------------ */

#define FIELD(member, most) COHORT__FIELD(struct cohort__tally, member, most)
static const struct cohort__field site[] = {
    COHORT__FIELD(struct cohort__tally_site, site, INT32_MAX),
    COHORT__FIELD(struct cohort__tally_site, vote, COHORT__NUM_VOTES - 1),
};
static const struct cohort__schema site_schema = COHORT__SCHEMA(struct cohort__tally_site, site, 0);
static const struct cohort__field fields[] = {
    FIELD(num, INT32_MAX),
    COHORT__ARRAY(struct cohort__tally, missing.sites, missing.num, &site_schema),
    COHORT__ARRAY(struct cohort__tally, ok.sites, ok.num, &site_schema),
    FIELD(is_alone, 1),
    FIELD(namer, INT32_MAX),
    COHORT__CHARS(struct cohort__tally, name),
};
static const struct cohort__schema schema = COHORT__SCHEMA(struct cohort__tally, fields, 0);

void cohort__tally_pack(const struct cohort__tally *tally, struct cohort__packer *packer)
{
    cohort__schema_pack(packer, &schema, tally);
}

/* Whether LIST, which has no more than COUNTED sites, has sites of NUM_SITES in their order, with
 * votes from FIRST to LAST. */
static bool is_list(const struct cohort__tally_list *list, uint32_t counted, uint32_t num_sites,
                    enum cohort__vote first, enum cohort__vote last)
{
    bool is_right = list->num <= counted;
    for (uint32_t i = 0; is_right && i < list->num; i++) {
        const struct cohort__tally_site *site_at = &list->sites[i];
        is_right = site_at->site < num_sites && site_at->vote >= first && site_at->vote <= last &&
                   (i == 0 || site_at->site > site_at[-1].site);
    }
    return is_right;
}

static cohort_status check(const struct cohort__tally *tally, uint32_t num_sites)
{
    uint64_t sum = 0;
    for (uint32_t vote = 0; vote < COHORT__NUM_VOTES; vote++)
        sum += tally->num[vote];
    if (sum > num_sites || tally->namer >= num_sites)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "vote of a peer: %" PRIu64 " sites, of %" PRIu32
                           ", in the name of site %" PRIu32,
                           sum, num_sites, tally->namer);
    if (!is_list(&tally->missing, num_missing(tally), num_sites, COHORT__VOTE_NOT_CALLED,
                 COHORT__VOTE_GONE) ||
        !is_list(&tally->ok, tally->num[COHORT__VOTE_OK], num_sites, COHORT__VOTE_OK,
                 COHORT__VOTE_OK))
        return cohort_fail(COHORT_ERR_PROTOCOL, "vote of a peer: its lists of sites make no sense");
    return COHORT_OK;
}

cohort_status cohort__tally_unpack(struct cohort__tally *ret_tally, const void *data, size_t bytes,
                                   uint32_t num_sites)
{
    struct cohort__tally tally = {0};
    cohort_status status = cohort__schema_unpack(&schema, data, bytes, "vote of a peer", &tally);
    if (!status)
        status = check(&tally, num_sites);
    if (!status)
        *ret_tally = tally;
    return status;
}
