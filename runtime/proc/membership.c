/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/membership.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/names/home.h"
#include "runtime/names/limits.h"
#include "runtime/names/numbers.h"

void cohort__membership_ref(struct cohort__membership *membership)
{
    atomic_fetch_add_explicit(&membership->refs, 1, memory_order_relaxed);
}

void cohort__membership_unref(struct cohort__membership *membership)
{
    if (!membership || atomic_fetch_sub_explicit(&membership->refs, 1, memory_order_acq_rel) != 1)
        return;
    free(membership->settings);
    free(membership->name);
    free(membership);
}

static struct cohort__membership *membership_create(uint64_t instance, uint32_t num_sites,
                                                    uint32_t home, const void *name, size_t bytes)
{
    struct cohort__membership *membership =
        calloc(1, sizeof(*membership) + num_sites * sizeof(membership->locality_of[0]) +
                      num_sites / 8 + 1);
    char *copy = malloc(bytes + 1);
    if (!membership || !copy) {
        free(membership);
        free(copy);
        cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u sites", (unsigned)num_sites);
        return NULL;
    }
    memcpy(copy, name, bytes);
    copy[bytes] = '\0'; /* for messages */
    membership->instance = instance;
    membership->num_sites = num_sites;
    membership->home = home;
    membership->name = copy;
    membership->name_bytes = bytes;
    atomic_init(&membership->refs, 1);
    return membership;
}

/* Reads a run of COUNT localities from LOCALITY on, each with EACH sites. FIRST is the first of
 * these sites. */
static cohort_status read_run(struct cohort__membership *membership, uint32_t size, uint64_t first,
                              uint64_t count, uint64_t each, uint64_t locality)
{
    uint64_t left = membership->num_sites - first;
    if (count == 0 || each == 0 || locality >= size || count > size - locality ||
        count > left / each)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "a map with %llu sites in each of %llu localities from locality %llu on",
                           (unsigned long long)each, (unsigned long long)count,
                           (unsigned long long)locality);
    for (uint64_t i = 0; i < count * each; i++)
        membership->locality_of[first + i] = (uint32_t)(locality + i / each);
    return COHORT_OK;
}

static cohort_status read_each(const struct cohort__unpacked *unpacked, uint32_t size,
                               struct cohort__membership *membership)
{
    const void *data;
    size_t bytes;
    cohort_status status =
        cohort__get_bytes(unpacked, cohort__unpacked_root(unpacked), "localities", &data, &bytes);
    const unsigned char *table = data;
    if (!status && bytes != (size_t)membership->num_sites * COHORT__MAP_SITE_BYTES)
        status = cohort_fail(COHORT_ERR_PROTOCOL,
                             "a map with %zu bytes for the localities of %u "
                             "sites",
                             bytes, (unsigned)membership->num_sites);
    for (uint32_t site = 0; !status && site < membership->num_sites; site++) {
        const uint32_t locality = (uint32_t)table[2 * site] << 8 | table[2 * site + 1];
        membership->locality_of[site] = locality;
        if (locality >= size)
            status = cohort_fail(COHORT_ERR_PROTOCOL, "a map with site %u in locality %u",
                                 (unsigned)site, (unsigned)locality);
    }
    return status;
}

static cohort_status read_runs(const struct cohort__unpacked *unpacked, uint32_t size,
                               struct cohort__membership *membership)
{
    const struct cohort__value *runs;
    uint32_t num;
    uint64_t site = 0;
    cohort_status status =
        cohort__get_array(unpacked, cohort__unpacked_root(unpacked), "runs", &runs, &num);
    for (uint32_t i = 0; !status && i < num; i += 3) {
        uint64_t values[3] = {0};
        for (uint32_t k = 0; !status && k < 3; k++)
            status = cohort__element_unsigned(unpacked, runs, i + k, INT32_MAX, &values[k]);
        if (!status)
            status = read_run(membership, size, site, values[0], values[1], values[2]);
        site += values[0] * values[1];
    }
    if (!status && site != membership->num_sites)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "a map of %llu sites, not %u",
                             (unsigned long long)site, (unsigned)membership->num_sites);
    return status;
}

static cohort_status read_localities(const struct cohort__unpacked *unpacked, uint32_t size,
                                     struct cohort__membership *membership)
{
    bool has_runs;
    cohort_status status =
        cohort__has_field(unpacked, cohort__unpacked_root(unpacked), "runs", &has_runs);
    if (status)
        return status;
    return has_runs ? read_runs(unpacked, size, membership) : read_each(unpacked, size, membership);
}

static cohort_status set_settings(struct cohort__membership *membership,
                                  const struct cohort__bytes *settings)
{
    if (settings->bytes == 0)
        return COHORT_OK;
    if (settings->bytes > COHORT__SETTINGS_BYTES_MAX)
        return cohort_fail(COHORT_ERR_PROTOCOL, "a map with %zu bytes of settings",
                           settings->bytes);
    membership->settings = malloc(settings->bytes);
    if (!membership->settings)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for settings");
    memcpy(membership->settings, settings->data, settings->bytes);
    membership->settings_bytes = settings->bytes;
    return COHORT_OK;
}

cohort_status cohort__membership_read(struct cohort__membership **ret_membership,
                                      const struct cohort__registry_words *words,
                                      const struct cohort__unpacked *unpacked, uint32_t home,
                                      uint32_t size)
{
    if (words->number != COHORT__NO_NUMBER && words->number >= COHORT__NUM_NUMBERS)
        return cohort_fail(COHORT_ERR_PROTOCOL, "a map with number %u", (unsigned)words->number);
    struct cohort__membership *membership = membership_create(
        words->instance, words->num_sites, home, words->name.data, words->name.bytes);
    if (!membership)
        return COHORT_ERR_NO_MEMORY;
    membership->number = words->number;
    membership->value = words->value;
    cohort_status status = read_localities(unpacked, size, membership);
    if (!status)
        status = set_settings(membership, &words->settings);
    if (status)
        cohort__membership_unref(membership);
    else
        *ret_membership = membership;
    return status;
}
