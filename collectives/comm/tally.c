/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/tally.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/text.h"

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

static void pack_list(struct cohort__packer *packer, const char *key,
                      const struct cohort__tally_list *list)
{
    cohort__pack_text(packer, key);
    cohort__pack_array(packer, 2 * list->num);
    for (uint32_t i = 0; i < list->num; i++) {
        cohort__pack_unsigned(packer, list->sites[i].site);
        cohort__pack_unsigned(packer, list->sites[i].vote);
    }
}

void cohort__tally_pack(const struct cohort__tally *tally, struct cohort__packer *packer)
{
    cohort__pack_map(packer, 6);
    cohort__pack_text(packer, "num");
    cohort__pack_array(packer, COHORT__NUM_VOTES);
    for (uint32_t vote = 0; vote < COHORT__NUM_VOTES; vote++)
        cohort__pack_unsigned(packer, tally->num[vote]);
    pack_list(packer, "missing", &tally->missing);
    pack_list(packer, "ok", &tally->ok);
    cohort__pack_field_bool(packer, "alone", tally->is_alone);
    cohort__pack_field_unsigned(packer, "namer", tally->namer);
    cohort__pack_field_text(packer, "name", tally->name);
}

/* What is read, and what it has to fit. */
struct reading {
    const struct cohort__unpacked *unpacked;
    const struct cohort__value *map;
    struct cohort__tally *tally;
    uint32_t num_sites;
};

static cohort_status read_counts(const struct reading *reading)
{
    const struct cohort__value *array;
    uint32_t num;
    uint64_t value, sum = 0;
    cohort_status status = cohort__get_array(reading->unpacked, reading->map, "num", &array, &num);
    if (!status && num != COHORT__NUM_VOTES)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "vote of a peer: %u counts", num);
    for (uint32_t vote = 0; !status && vote < COHORT__NUM_VOTES; vote++) {
        status =
            cohort__element_unsigned(reading->unpacked, array, vote, reading->num_sites, &value);
        reading->tally->num[vote] = status ? 0 : (uint32_t)value;
        sum += reading->tally->num[vote];
    }
    if (!status && sum > reading->num_sites)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "vote of a peer: %" PRIu64 " sites", sum);
    return status;
}

/* Of votes from FIRST to LAST. */
static cohort_status read_list(const struct reading *reading, const char *key,
                               enum cohort__vote first, enum cohort__vote last,
                               struct cohort__tally_list *list)
{
    const struct cohort__value *array;
    uint32_t num, counted = 0;
    uint64_t site = 0, vote = 0;
    cohort_status status = cohort__get_array(reading->unpacked, reading->map, key, &array, &num);
    for (uint32_t i = first; i <= last; i++)
        counted += reading->tally->num[i];
    if (!status && (num % 2 != 0 || num / 2 > COHORT__TALLY_LISTED || num / 2 > counted))
        status = cohort_fail(COHORT_ERR_PROTOCOL, "vote of a peer: %u sites are %s", num / 2, key);
    for (uint32_t i = 0; !status && i < num / 2; i++) {
        status = cohort__element_unsigned(reading->unpacked, array, 2 * i, reading->num_sites - 1,
                                          &site);
        if (!status)
            status = cohort__element_unsigned(reading->unpacked, array, 2 * i + 1, last, &vote);
        if (!status && vote < first)
            status = cohort_fail(COHORT_ERR_PROTOCOL, "vote of a peer: %" PRIu64, vote);
        if (!status)
            insert(list, (struct cohort__tally_site){(uint32_t)site, (uint32_t)vote});
    }
    return status;
}

static cohort_status read_name(const struct reading *reading)
{
    struct cohort__tally *tally = reading->tally;
    const char *name;
    size_t bytes;
    uint64_t namer;
    cohort_status status =
        cohort__get_bool(reading->unpacked, reading->map, "alone", &tally->is_alone);
    if (!status)
        status = cohort__get_unsigned(reading->unpacked, reading->map, "namer",
                                      reading->num_sites - 1, &namer);
    if (!status)
        status = cohort__get_text(reading->unpacked, reading->map, "name", &name, &bytes);
    if (status)
        return status;
    tally->namer = (uint32_t)namer;
    snprintf(tally->name, sizeof(tally->name), "%.*s", (int)(bytes < 200 ? bytes : 200), name);
    return COHORT_OK;
}

cohort_status cohort__tally_unpack(struct cohort__tally *ret_tally, const void *data, size_t bytes,
                                   uint32_t num_sites)
{
    struct cohort__unpacked *unpacked;
    struct cohort__tally tally = {0};
    cohort_status status = cohort__unpack(&unpacked, data, bytes, "vote of a peer");
    if (status)
        return status;
    const struct reading reading = {unpacked, cohort__unpacked_root(unpacked), &tally, num_sites};
    status = read_counts(&reading);
    if (!status)
        status = read_list(&reading, "missing", COHORT__VOTE_NOT_CALLED, COHORT__VOTE_GONE,
                           &tally.missing);
    if (!status)
        status = read_list(&reading, "ok", COHORT__VOTE_OK, COHORT__VOTE_OK, &tally.ok);
    if (!status)
        status = read_name(&reading);
    cohort__unpacked_destroy(unpacked);
    if (!status)
        *ret_tally = tally;
    return status;
}
