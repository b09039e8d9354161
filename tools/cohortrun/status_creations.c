/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: finds communicators that are being created, and names that look like theirs. */
#include <stdlib.h>
#include <string.h>

#include "cohort/status.h"
#include "runtime/base/error.h"
#include "tools/share/likeness.h"
#include "tools/cohortrun/status_private.h"

/* For so many creations a name like theirs is looked for, among so many. */
enum { MAX_NAMELESS = 64, MAX_NAMES = 4096 };

struct entry {
    uint32_t rank;
    const struct look_join *join;
};

static int compare_kinds(const struct look_join *a, const struct look_join *b)
{
    int result = strcmp(a->name, b->name);
    if (result == 0 && a->num_sites != b->num_sites)
        result = a->num_sites < b->num_sites ? -1 : 1;
    if (result == 0)
        result = (int)a->kind - (int)b->kind;
    return result || a->parent == b->parent ? result : a->parent < b->parent ? -1 : 1;
}

static uint32_t site_of(const struct look_join *join)
{
    return join->parent ? join->of_site : join->site;
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int result = compare_kinds(a->join, b->join);
    const uint32_t site_a = site_of(a->join), site_b = site_of(b->join);
    if (result == 0 && site_a != site_b)
        result = site_a < site_b ? -1 : 1;
    return result;
}

static int compare_futures(const void *left, const void *right)
{
    const struct status_future *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->future < b->future ? -1 : a->future > b->future;
}

const struct status_future *status_find_future(const struct status_index *index, uint32_t rank,
                                               uint64_t future)
{
    const struct status_future key = {.rank = rank, .future = future};
    return bsearch(&key, index->futures, index->num_futures, sizeof(key), compare_futures);
}

/* Which tasks wait for a creation: those whose wait has the future of a join. */
static void find_creators(struct status_model *model)
{
    const struct status_job *job = model->job;
    struct status_index *index = model->index;
    qsort(index->futures, index->num_futures, sizeof(*index->futures), compare_futures);
    for (uint32_t rank = 0; rank < job->num; rank++) {
        const struct look *look = job->localities[rank].look;
        for (uint32_t i = 0; look && look->num_joins > 0 && i < look->num_waits; i++) {
            const struct look_wait *wait = &look->waits[i];
            const struct status_future *future =
                wait->kind == COHORT__WAIT_PLAIN || wait->kind == COHORT__WAIT_CREATION
                    ? status_find_future(index, rank, wait->what)
                    : NULL;
            if (future)
                future->join->wait = wait;
        }
    }
}

/* The joins of one creation: the first NUM of ENTRIES. */
static cohort_status fill_creation(struct status_index *index, struct status_creation *creation,
                                   const struct entry *entries, uint32_t num)
{
    const uint64_t kinds = COHORT__WAIT_KINDS - 1;
    const struct look_join *first = entries[0].join;
    *creation = (struct status_creation){.name = first->name,
                                         .num_sites = first->num_sites,
                                         .kind = first->kind,
                                         .parent = first->parent};
    creation->joins = status_allocate(num, sizeof(*creation->joins));
    if (!creation->joins)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < num; i++) {
        const struct look_join *join = entries[i].join;
        if (i > 0 && site_of(join) == site_of(entries[i - 1].join))
            continue;
        struct status_join *to = &creation->joins[creation->num_joins++];
        *to = (struct status_join){site_of(join), entries[i].rank, join->age, NULL};
        if (join->future)
            index->futures[index->num_futures++] =
                (struct status_future){entries[i].rank, join->future & ~kinds, creation, to};
        creation->age = join->age > creation->age ? join->age : creation->age;
    }
    creation->lacks_last = !creation->parent && creation->num_joins < creation->num_sites &&
                           creation->joins[creation->num_joins - 1].site + 1 == creation->num_joins;
    return COHORT_OK;
}

static cohort_status group_joins(struct status_model *model, struct entry *entries, uint32_t num)
{
    cohort_status status = COHORT_OK;
    qsort(entries, num, sizeof(*entries), compare_entries);
    for (uint32_t i = 0, end; i < num && !status; i = end) {
        end = i + 1;
        while (end < num && compare_kinds(entries[i].join, entries[end].join) == 0)
            end++;
        status = fill_creation(model->index, &model->creations[model->num_creations++], &entries[i],
                               end - i);
    }
    return status;
}

/* The sites of the communicator that live, and have not called. The joins are by site, too. */
static cohort_status find_missing(const struct status_model *model,
                                  struct status_creation *creation)
{
    const struct status_index *index = model->index;
    const struct look_group *group = status_find_group(index, creation->parent);
    uint32_t num, next = 0;
    const struct status_entry *entries = status_find_sites(index, creation->parent, &num);
    if (group)
        creation->name = group->name;
    creation->missing = status_allocate(num, sizeof(*creation->missing));
    if (!creation->missing)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < num; i++) {
        const uint32_t site = entries[i].site->site;
        while (next < creation->num_joins && creation->joins[next].site < site)
            next++;
        const bool has_come = next < creation->num_joins && creation->joins[next].site == site;
        const bool is_again = i > 0 && entries[i - 1].site->site == site;
        if (!has_come && !is_again && !model->job->localities[entries[i].rank].end)
            creation->missing[creation->num_missing++] =
                status_describe_site(model->job, &entries[i]);
    }
    return COHORT_OK;
}

/* Localities that join no more. */
static cohort_status find_returned(const struct status_job *job, struct status_creation *creation)
{
    creation->returned = status_allocate(job->num, sizeof(*creation->returned));
    if (!creation->returned)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    for (uint32_t rank = 0; rank < job->num; rank++) {
        const struct look *look = job->localities[rank].look;
        bool has_joined = false;
        for (uint32_t i = 0; i < creation->num_joins; i++)
            has_joined |= creation->joins[i].rank == rank;
        if (!has_joined && look && look->stage >= COHORT__LEDGER_RETURNED)
            creation->returned[creation->num_returned++] = rank;
    }
    return COHORT_OK;
}

/* Names -------------------------------------------------------------------------------------- */

/* Keeps a name that is closer than the one that is known. */
static void offer(struct status_creation *creation, unsigned *best, const char *name,
                  uint32_t num_sites, bool is_pending)
{
    const bool is_same = strcmp(name, creation->name) == 0;
    const unsigned distance = likeness_distance(name, creation->name, 255);
    if (distance < *best && (is_same || likeness_is_close(name, creation->name))) {
        *best = distance;
        creation->alike = name;
        creation->alike_sites = num_sites;
        creation->is_alike_pending = is_pending;
    }
}

/* A name that waits for sites, too, is more likely than one that exists. */
static void find_alike(struct status_model *model, struct status_creation *creation)
{
    const struct status_index *index = model->index;
    unsigned best = 255;
    for (uint32_t i = 0; i < model->num_creations && i < MAX_NAMES; i++)
        if (&model->creations[i] != creation && model->creations[i].kind == COHORT__JOIN_NAME)
            offer(creation, &best, model->creations[i].name, model->creations[i].num_sites, true);
    if (creation->alike)
        return;
    for (uint32_t i = 0; i < index->num_groups && i < MAX_NAMES; i++)
        if (strcmp(index->groups[i]->name, creation->name) != 0)
            offer(creation, &best, index->groups[i]->name, index->groups[i]->num_sites, false);
}

/* ------------------------------------------------------------------------------------------- */

cohort_status status_find_creations(struct status_model *model)
{
    const struct status_job *job = model->job;
    uint32_t num = 0;
    for (uint32_t rank = 0; rank < job->num; rank++)
        num += job->localities[rank].look ? job->localities[rank].look->num_joins : 0;
    struct entry *entries = status_allocate(num, sizeof(*entries));
    model->creations = status_allocate(num, sizeof(*model->creations));
    model->index->futures = status_allocate(num, sizeof(*model->index->futures));
    if (!entries || !model->creations || !model->index->futures) {
        free(entries);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    }
    num = 0;
    for (uint32_t rank = 0; rank < job->num; rank++) {
        const struct look *look = job->localities[rank].look;
        for (uint32_t i = 0; look && i < look->num_joins; i++)
            entries[num++] = (struct entry){rank, &look->joins[i]};
    }
    cohort_status status = group_joins(model, entries, num);
    find_creators(model);
    for (uint32_t i = 0; i < model->num_creations && !status; i++)
        if (model->creations[i].parent)
            status = find_missing(model, &model->creations[i]);
    for (uint32_t i = 0; i < model->num_creations && i < MAX_NAMELESS && !status; i++) {
        if (!model->creations[i].parent)
            status = find_returned(job, &model->creations[i]);
        if (model->creations[i].kind == COHORT__JOIN_NAME)
            find_alike(model, &model->creations[i]);
    }
    free(entries);
    return status;
}

void status_free_creations(struct status_model *model)
{
    for (uint32_t i = 0; i < model->num_creations; i++) {
        free(model->creations[i].joins);
        free(model->creations[i].returned);
        free(model->creations[i].missing);
    }
    free(model->creations);
}
