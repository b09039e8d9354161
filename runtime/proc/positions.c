/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/positions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/proc/peer.h"

struct entry {
    struct cohort__position position;
    uint32_t rank;
};

static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->position.host != b->position.host)
        return a->position.host < b->position.host ? -1 : 1;
    if (a->position.domain != b->position.domain)
        return a->position.domain < b->position.domain ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int compare_cores(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->position.cores != b->position.cores)
        return a->position.cores < b->position.cores ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* The hosts are known. ENTRIES has room for all localities. */
static void find_cores(struct cohort__process *process, const struct cohort__position *positions,
                       struct entry *entries)
{
    uint32_t size = process->options.size, first = 0;
    for (uint32_t rank = 0; rank < size; rank++)
        entries[rank] = (struct entry){positions[process->hosts[rank]], rank};
    qsort(entries, size, sizeof(*entries), compare_cores);
    for (uint32_t i = 0; i < size; i++) {
        uint64_t cores = entries[i].position.cores;
        if (cores != entries[first].position.cores)
            first = i;
        uint32_t rank = entries[i].rank;
        process->cores[rank] = cores == 0 ? process->hosts[rank] : entries[first].rank;
    }
}

cohort_status cohort__positions_set(struct cohort__process *process,
                                    const struct cohort__position *positions)
{
    uint32_t size = process->options.size;
    struct entry *entries = malloc(size * sizeof(*entries));
    if (!entries)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the positions of %u localities",
                           (unsigned)size);
    for (uint32_t rank = 0; rank < size; rank++)
        entries[rank] = (struct entry){positions[rank], rank};
    qsort(entries, size, sizeof(*entries), compare);
    uint32_t host = 0, domain = 0; /* the first entries of this host, and of this domain */
    for (uint32_t i = 0; i < size; i++) {
        bool is_same_host = entries[i].position.host == entries[host].position.host;
        if (!is_same_host)
            host = i;
        if (!is_same_host || entries[i].position.domain != entries[domain].position.domain)
            domain = i;
        process->hosts[entries[i].rank] = entries[host].rank;
        process->domains[entries[i].rank] = entries[domain].rank;
    }
    find_cores(process, positions, entries);
    free(entries);
    return COHORT_OK;
}

const uint32_t *cohort__positions_cores(const struct cohort__process *process)
{
    return process->cores;
}

const uint32_t *cohort__positions_hosts(const struct cohort__process *process)
{
    return process->hosts;
}

const uint32_t *cohort__positions_domains(const struct cohort__process *process)
{
    return process->domains;
}

/* Named levels ------------------------------------------------------------------------------- */

/* What LOCALITY says; it is valid. */
static struct cohort__named_levels levels_of(const struct cohort__word *texts, uint32_t locality)
{
    struct cohort__named_levels levels = {0};
    (void)!cohort__named_levels_read(texts[locality].text, texts[locality].bytes, &levels);
    return levels;
}

static cohort_status check_names(const struct cohort__word *texts, uint32_t size)
{
    const struct cohort__named_levels first = levels_of(texts, 0);
    for (uint32_t locality = 1; locality < size; locality++) {
        const struct cohort__named_levels other = levels_of(texts, locality);
        if (cohort__named_levels_fit(&first, &other))
            continue;
        char lists[2][COHORT__NAMED_LEVELS_LIST];
        cohort__named_levels_list(&first, lists[0]);
        cohort__named_levels_list(&other, lists[1]);
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "COHORT_LEVELS has %s at locality 0, and %s at locality %u: all "
                           "localities need the same levels in the same order",
                           lists[0], lists[1], (unsigned)locality);
    }
    return COHORT_OK;
}

struct member {
    struct cohort__word group;
    uint32_t locality;
};

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    size_t bytes = a->group.bytes < b->group.bytes ? a->group.bytes : b->group.bytes;
    int order = memcmp(a->group.text, b->group.text, bytes);
    if (order != 0)
        return order;
    if (a->group.bytes != b->group.bytes)
        return a->group.bytes < b->group.bytes ? -1 : 1;
    return a->locality < b->locality ? -1 : a->locality > b->locality;
}

/* Sets GROUP_OF to the lowest locality of each one's group at LEVEL. MEMBERS has room for all. */
static void find_groups(const struct cohort__word *texts, uint32_t size, uint32_t level,
                        struct member *members, uint32_t *group_of)
{
    for (uint32_t i = 0; i < size; i++)
        members[i] = (struct member){levels_of(texts, i).levels[level].group, i};
    qsort(members, size, sizeof(*members), compare_members);
    for (uint32_t i = 0, first = 0; i < size; i++) {
        if (!cohort__words_are_equal(members[i].group, members[first].group))
            first = i;
        group_of[members[i].locality] = members[first].locality;
    }
}

/* What is together in FINER, which is the level before, or the hosts, must be so in GROUP_OF. */
static cohort_status check_nesting(const struct cohort__word *texts, uint32_t size, uint32_t level,
                                   const uint32_t *finer, const uint32_t *group_of)
{
    uint32_t apart = 0;
    while (apart < size && group_of[apart] == group_of[finer[apart]])
        apart++;
    if (apart == size)
        return COHORT_OK;
    const struct cohort__named_levels here = levels_of(texts, apart);
    const struct cohort__named_level *own = &here.levels[level];
    const struct cohort__word other = levels_of(texts, finer[apart]).levels[level].group;
    char where[COHORT__NAMED_LEVEL_NAME + COHORT__NAMED_LEVEL_GROUP + 5] = "on one host";
    if (level > 0)
        snprintf(where, sizeof(where), "in %.*s=%.*s", (int)own[-1].name.bytes, own[-1].name.text,
                 (int)own[-1].group.bytes, own[-1].group.text);
    return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                       "COHORT_LEVELS has %.*s=%.*s at locality %u, and %.*s=%.*s at locality %u, "
                       "but both are %s: what is together there must be so in each later level",
                       (int)own->name.bytes, own->name.text, (int)other.bytes, other.text,
                       (unsigned)finer[apart], (int)own->name.bytes, own->name.text,
                       (int)own->group.bytes, own->group.text, (unsigned)apart, where);
}

static cohort_status name_level(struct cohort__process *process, const struct cohort__word *texts,
                                struct member *members)
{
    uint32_t size = process->options.size, level = process->num_named_levels;
    const struct cohort__word name = levels_of(texts, 0).levels[level].name;
    const uint32_t *finer = level == 0 ? process->hosts : process->named_levels[level - 1].group_of;
    uint32_t *group_of = malloc(size * sizeof(*group_of));
    if (!group_of)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the levels of %u localities",
                           (unsigned)size);
    find_groups(texts, size, level, members, group_of);
    snprintf(process->named_levels[level].name, sizeof(process->named_levels[level].name), "%.*s",
             (int)name.bytes, name.text);
    process->named_levels[level].group_of = group_of;
    process->num_named_levels++;
    return check_nesting(texts, size, level, finer, group_of);
}

cohort_status cohort__positions_name_levels(struct cohort__process *process,
                                            const struct cohort__word *texts)
{
    uint32_t size = process->options.size, num = levels_of(texts, 0).num;
    cohort_status status = check_names(texts, size);
    if (status || num == 0)
        return status;
    struct member *members = malloc(size * sizeof(*members));
    if (!members)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the levels of %u localities",
                           (unsigned)size);
    for (uint32_t level = 0; !status && level < num; level++)
        status = name_level(process, texts, members);
    free(members);
    return status;
}

uint32_t cohort__positions_num_levels(const struct cohort__process *process)
{
    return process->num_named_levels;
}

const char *cohort__positions_level_name(const struct cohort__process *process, uint32_t level)
{
    return process->named_levels[level].name;
}

const uint32_t *cohort__positions_level(const struct cohort__process *process, uint32_t level)
{
    return process->named_levels[level].group_of;
}
