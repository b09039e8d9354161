/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: counts the tasks of a job by where they wait. */
#include <stdlib.h>
#include <string.h>

#include "cohort/status.h"
#include "runtime/base/error.h"
#include "tools/cohortrun/status_private.h"

/* A wait, by places that are the same in all processes. */
struct entry {
    const struct look_module *module; /* that the caller is in; NULL: none */
    uint64_t caller;                  /* in its file */
    uint64_t function;
    uint32_t rank;
    const struct look_wait *wait;
};

static int order(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

/* Other hosts may have other files at the same path. */
static int compare_modules(const struct look_module *a, const struct look_module *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    int result = strcmp(a->path, b->path);
    return result ? result : memcmp(a->build_id, b->build_id, sizeof(a->build_id));
}

static int compare_places(const struct entry *a, const struct entry *b)
{
    int result = order(a->caller, b->caller);
    if (result == 0)
        result = order(a->function, b->function);
    if (result == 0)
        result = order(a->wait->kind, b->wait->kind);
    return result ? result : compare_modules(a->module, b->module);
}

static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int result = compare_places(a, b);
    return result ? result : order(a->rank, b->rank);
}

static int compare_groups(const void *left, const void *right)
{
    const struct status_group *a = left, *b = right;
    int result = order(b->num, a->num);
    return result ? result : order(b->age, a->age);
}

static struct entry make_entry(const struct look *look, uint32_t rank, const struct look_wait *wait)
{
    const struct look_module *caller = look_find_module(look, wait->caller);
    const struct look_module *function = look_find_module(look, wait->function);
    return (struct entry){.module = caller,
                          .caller = wait->caller - (caller ? caller->bias : 0),
                          .function = wait->function - (function ? function->bias : 0),
                          .rank = rank,
                          .wait = wait};
}

static void merge(struct status_model *model, const struct entry *entries, uint32_t num)
{
    struct status_group *group = NULL;
    for (uint32_t i = 0; i < num; i++) {
        const struct entry *entry = &entries[i];
        const bool is_new = i == 0 || compare_places(entry, entry - 1) != 0;
        if (is_new) {
            group = &model->groups[model->num_groups++];
            *group = (struct status_group){.rank = entry->rank, .wait = entry->wait};
        }
        group->num++;
        group->num_localities += is_new || entry->rank != entry[-1].rank;
        group->age = entry->wait->age > group->age ? entry->wait->age : group->age;
    }
    qsort(model->groups, model->num_groups, sizeof(*model->groups), compare_groups);
}

cohort_status status_find_groups(struct status_model *model)
{
    const struct status_job *job = model->job;
    uint32_t num = 0;
    for (uint32_t rank = 0; rank < job->num; rank++)
        num += job->localities[rank].look ? job->localities[rank].look->num_waits : 0;
    struct entry *entries = status_allocate(num, sizeof(*entries));
    model->groups = status_allocate(num, sizeof(*model->groups));
    if (!entries || !model->groups) {
        free(entries);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    }
    num = 0;
    for (uint32_t rank = 0; rank < job->num; rank++) {
        const struct look *look = job->localities[rank].look;
        for (uint32_t i = 0; look && i < look->num_waits; i++)
            if (look->waits[i].kind != COHORT__WAIT_YIELD) /* they run */
                entries[num++] = make_entry(look, rank, &look->waits[i]);
    }
    qsort(entries, num, sizeof(*entries), compare);
    merge(model, entries, num);
    free(entries);
    return COHORT_OK;
}
