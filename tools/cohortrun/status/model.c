/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: who waits for whom in a job, from looks at its localities. */
#include "tools/cohortrun/status/model.h"

#include <stdlib.h>
#include <string.h>

#include "cohort/status.h"
#include "runtime/base/error.h"
#include "tools/share/likeness.h"

/* What a task that joins a creation waits for. */
struct status_future {
    uint32_t rank;
    uint64_t future;
    struct status_creation *creation;
    struct status_join *join;
};

struct status_index {
    struct status_entry *sites;   /* by instance and number of the site */
    struct status_entry *by_task; /* by locality and task */
    uint32_t num_sites;
    const struct cohort__group_line **groups; /* by instance, each once */
    uint32_t num_groups;
    struct status_future *futures; /* of creations, by locality and address */
    uint32_t num_futures;
    struct status_comm **comms; /* of the model, by instance */
    uint32_t num_comms;
};

void *status_allocate(size_t num, size_t bytes)
{
    return calloc(num ? num : 1, bytes);
}

static int order(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

/* The index ---------------------------------------------------------------------------------- */

static int compare_sites(const void *left, const void *right)
{
    const struct status_entry *a = left, *b = right;
    int result = order(a->site->instance, b->site->instance);
    return result ? result : order(a->site->site, b->site->site);
}

static int compare_tasks(const void *left, const void *right)
{
    const struct status_entry *a = left, *b = right;
    int result = order(a->rank, b->rank);
    return result ? result : order(a->site->task, b->site->task);
}

static int compare_groups(const void *left, const void *right)
{
    const struct cohort__group_line *const *a = left, *const *b = right;
    return order((*a)->instance, (*b)->instance);
}

static int compare_comms(const void *left, const void *right)
{
    const struct status_comm *const *a = left, *const *b = right;
    return order((*a)->instance, (*b)->instance);
}

static int compare_ages(const void *left, const void *right)
{
    const struct status_comm *a = left, *b = right;
    uint64_t age_a = a->age == STATUS_NEVER ? 0 : a->age;
    uint64_t age_b = b->age == STATUS_NEVER ? 0 : b->age;
    int result = order(age_b, age_a);
    return result ? result : order(a->instance, b->instance);
}

static void fill_index(struct status_index *index, const struct status_job *job)
{
    for (uint32_t rank = 0; rank < job->num; rank++) {
        const struct look *look = job->localities[rank].look;
        for (uint32_t i = 0; look && i < look->num_sites; i++)
            index->sites[index->num_sites++] = (struct status_entry){rank, &look->sites[i]};
        for (uint32_t i = 0; look && i < look->num_groups; i++)
            index->groups[index->num_groups++] = &look->groups[i];
    }
    memcpy(index->by_task, index->sites, index->num_sites * sizeof(*index->sites));
    qsort(index->sites, index->num_sites, sizeof(*index->sites), compare_sites);
    qsort(index->by_task, index->num_sites, sizeof(*index->by_task), compare_tasks);
    qsort(index->groups, index->num_groups, sizeof(*index->groups), compare_groups);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < index->num_groups; i++)
        if (kept == 0 || index->groups[kept - 1]->instance != index->groups[i]->instance)
            index->groups[kept++] = index->groups[i];
    index->num_groups = kept;
}

static cohort_status make_index(struct status_model *model)
{
    const struct status_job *job = model->job;
    size_t num_sites = 0, num_groups = 0;
    for (uint32_t rank = 0; rank < job->num; rank++) {
        const struct look *look = job->localities[rank].look;
        num_sites += look ? look->num_sites : 0;
        num_groups += look ? look->num_groups : 0;
    }
    struct status_index *index = model->index = status_allocate(1, sizeof(*index));
    if (!index)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    index->sites = status_allocate(num_sites, sizeof(*index->sites));
    index->by_task = status_allocate(num_sites, sizeof(*index->by_task));
    index->groups = status_allocate(num_groups, sizeof(*index->groups));
    if (!index->sites || !index->by_task || !index->groups)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    fill_index(index, job);
    return COHORT_OK;
}

/* The communicator INSTANCE. NULL: no locality says anything of it. */
static const struct cohort__group_line *find_group(const struct status_index *index,
                                                   uint64_t instance)
{
    const struct cohort__group_line key = {.instance = instance}, *at = &key;
    const struct cohort__group_line **found =
        bsearch(&at, index->groups, index->num_groups, sizeof(at), compare_groups);
    return found ? *found : NULL;
}

const struct status_entry *status_find_sites(const struct status_index *index, uint64_t instance,
                                             uint32_t *ret_num)
{
    uint32_t low = 0, high = index->num_sites, end;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (index->sites[middle].site->instance < instance)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < index->num_sites && index->sites[end].site->instance == instance;)
        end++;
    *ret_num = end - low;
    return &index->sites[low];
}

/* Sites -------------------------------------------------------------------------------------- */

static const struct look_wait *collective_wait(const struct status_job *job,
                                               const struct status_entry *entry)
{
    const struct look_wait *wait =
        look_find_wait(job->localities[entry->rank].look, entry->site->task);
    return wait && wait->kind == COHORT__WAIT_COLLECTIVE ? wait : NULL;
}

/* Whether the task of ENTRY may wait in a collective of ENTRY's communicator, by what is known. */
static const struct look_wait *own_wait(const struct status_job *job,
                                        const struct status_entry *entry)
{
    const struct look_wait *wait = collective_wait(job, entry);
    const struct look_pending *pending =
        wait ? look_find_pending(job->localities[entry->rank].look, wait) : NULL;
    return !pending || pending->instance == entry->site->instance ? wait : NULL;
}

const struct look_worker *status_find_busy(const struct look *look)
{
    const struct look_worker *busy = NULL;
    for (uint32_t i = 0; i < look->num_workers; i++)
        if (look_is_busy(&look->workers[i]) && (!busy || look->workers[i].age > busy->age))
            busy = &look->workers[i];
    return busy;
}

/* What a task does that does not wait. */
static void find_fate(const struct look *look, struct status_site *site)
{
    site->worker = status_find_busy(look);
    site->fate = site->worker ? STATUS_COMPUTES : STATUS_RUNS;
    site->age = site->worker ? site->worker->age : STATUS_NEVER;
}

/* What the task of a site does. */
static struct status_site describe_site(const struct status_job *job,
                                        const struct status_entry *entry)
{
    const struct status_locality *locality = &job->localities[entry->rank];
    const struct look *look = locality->look;
    struct status_site site = {.site = entry->site->site,
                               .rank = entry->rank,
                               .last_called = entry->site->last_called,
                               .age = STATUS_NEVER};
    site.wait = look_find_wait(look, entry->site->task);
    if (site.wait && site.wait->kind == COHORT__WAIT_YIELD)
        site.wait = NULL; /* it runs */
    if (locality->end) {
        site.fate = STATUS_ENDED;
    } else if (look->is_stopped) {
        site.fate = STATUS_STOPPED;
        site.worker = site.wait ? NULL : status_find_busy(look);
    } else if (look->stage >= COHORT__LEDGER_RETURNED) {
        site.fate = STATUS_RETURNED;
        site.age = look->stage_age;
    } else if (site.wait) {
        site.fate = STATUS_WAITS;
        site.age = site.wait->age;
    } else {
        find_fate(look, &site);
    }
    return site;
}

/* Communicators ------------------------------------------------------------------------------ */

/* The sites of one instance that are there. */
struct range {
    const struct status_entry *sites;
    uint32_t num; /* lines, of which a damaged ledger may have several of a site */
    uint64_t lowest, highest;
};

static struct range next_range(const struct status_index *index, uint32_t first)
{
    struct range range = {.sites = &index->sites[first], .lowest = UINT64_MAX};
    for (uint32_t i = first; i < index->num_sites; i++) {
        const struct cohort__site_line *site = index->sites[i].site;
        if (site->instance != range.sites[0].site->instance)
            break;
        range.lowest = site->last_called < range.lowest ? site->last_called : range.lowest;
        range.highest = site->last_called > range.highest ? site->last_called : range.highest;
        range.num++;
    }
    return range;
}

static void miss(struct status_comm *comm, struct status_site site)
{
    comm->missing[comm->num_listed++] = site;
    comm->num_missing++;
}

/* Those that are not there between NEXT and END. NUM_ABSENT of them have been listed so far. */
static void miss_absent(struct status_comm *comm, uint32_t *num_absent, uint64_t next, uint64_t end)
{
    for (; next < end && *num_absent < STATUS_MAX_MISSING; next++, (*num_absent)++)
        miss(comm, (struct status_site){.site = (uint32_t)next,
                                        .rank = STATUS_NOWHERE,
                                        .fate = STATUS_LEFT,
                                        .age = STATUS_NEVER});
    comm->num_missing += next < end ? end - next : 0;
}

/* What SITE says of whom it waits for in GENERATION. NULL: nothing. */
static const struct look_account *
find_account(const struct look *look, const struct cohort__site_line *site, uint64_t generation)
{
    for (uint32_t i = 0; i < look->num_accounts; i++)
        if (look->accounts[i].instance == site->instance && look->accounts[i].site == site->site &&
            look->accounts[i].generation == generation)
            return &look->accounts[i];
    return NULL;
}

static void fill_comm(struct status_comm *comm, const struct status_job *job,
                      const struct range *range)
{
    uint64_t next = 0; /* site */
    uint32_t num_absent = 0;
    for (uint32_t i = 0; i < range->num; i++) {
        const struct status_entry *entry = &range->sites[i];
        const struct look_wait *wait = own_wait(job, entry);
        if (entry->site->site < next)
            continue;
        miss_absent(comm, &num_absent, next, entry->site->site);
        next = (uint64_t)entry->site->site + 1;
        if (entry->site->last_called < comm->generation) {
            miss(comm, describe_site(job, entry));
            continue;
        }
        comm->num_come++;
        comm->num_waiting += wait != NULL;
        if (!comm->account)
            comm->account =
                find_account(job->localities[entry->rank].look, entry->site, comm->generation);
        if (wait && (comm->age == STATUS_NEVER || wait->age > comm->age))
            comm->age = wait->age;
    }
    miss_absent(comm, &num_absent, next, comm->num_sites);
}

/* One more communicator, of which the sites of RANGE are there. */
static cohort_status add_comm(struct status_model *model, const struct range *range)
{
    const uint64_t instance = range->sites[0].site->instance;
    const struct cohort__group_line *group = find_group(model->index, instance);
    const uint32_t last = range->sites[range->num - 1].site->site;
    struct status_comm comm = {.instance = instance,
                               .name = group ? group->name : "?",
                               .num_sites = group ? group->num_sites : last + 1,
                               .age = STATUS_NEVER,
                               .generation = range->lowest < range->highest ? range->lowest + 1
                                                                            : range->highest};
    comm.missing = status_allocate((size_t)range->num + STATUS_MAX_MISSING, sizeof(*comm.missing));
    if (!comm.missing)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    fill_comm(&comm, model->job, range);
    model->comms[model->num_comms++] = comm;
    return COHORT_OK;
}

static bool is_incomplete(const struct range *range)
{
    return range->lowest < range->highest;
}

static const struct status_comm *find_comm(const struct status_index *index, uint64_t instance)
{
    const struct status_comm wanted = {.instance = instance}, *at = &wanted;
    struct status_comm **comm =
        bsearch(&at, index->comms, index->num_comms, sizeof(at), compare_comms);
    return comm ? *comm : NULL;
}

/* Whether a site that is missing in COMM has died: then its calls fail, and do not wait. */
static bool has_dead(const struct status_comm *comm)
{
    for (uint32_t i = 0; i < comm->num_listed; i++)
        if (comm->missing[i].fate == STATUS_ENDED)
            return true;
    return false;
}

/* The only incomplete communicator that TASK may wait in. */
static const struct status_comm *find_only(const struct status_model *model, uint32_t rank,
                                           uint64_t task)
{
    const struct status_index *index = model->index;
    const struct cohort__site_line key_site = {.task = task};
    const struct status_entry key = {rank, &key_site};
    const struct status_comm *only = NULL;
    const struct status_entry *entry =
        bsearch(&key, index->by_task, index->num_sites, sizeof(key), compare_tasks);
    while (entry && entry > index->by_task && compare_tasks(entry - 1, &key) == 0)
        entry--;
    for (; entry && entry < index->by_task + index->num_sites && compare_tasks(entry, &key) == 0;
         entry++) {
        const struct status_comm *comm = find_comm(index, entry->site->instance);
        if (!comm || comm->num_missing == 0 || has_dead(comm) ||
            entry->site->last_called < comm->generation || comm == only)
            continue;
        if (only)
            return NULL;
        only = comm;
    }
    return only;
}

static void order_comms(struct status_model *model)
{
    struct status_index *index = model->index;
    qsort(model->comms, model->num_comms, sizeof(*model->comms), compare_ages);
    for (uint32_t i = 0; i < model->num_comms; i++)
        index->comms[i] = &model->comms[i];
    index->num_comms = model->num_comms;
    qsort(index->comms, index->num_comms, sizeof(*index->comms), compare_comms);
}

static cohort_status allocate_comms(struct status_model *model)
{
    struct status_index *index = model->index;
    uint32_t num = 0;
    for (uint32_t i = 0; i < index->num_sites; i++)
        num += i == 0 || index->sites[i].site->instance != index->sites[i - 1].site->instance;
    model->comms = status_allocate(num, sizeof(*model->comms));
    index->comms = status_allocate(num, sizeof(*index->comms));
    return model->comms && index->comms ? COHORT_OK
                                        : cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
}

/* Whether a task waits in a collective that can only be of RANGE, so far as is known. */
static bool has_unexplained(const struct status_model *model, const struct range *range)
{
    for (uint32_t i = 0; i < range->num; i++) {
        const struct status_entry *entry = &range->sites[i];
        const struct look_wait *wait = own_wait(model->job, entry);
        const struct look *look = model->job->localities[entry->rank].look;
        if (entry->site->last_called == range->highest && wait &&
            (look_find_pending(look, wait) || !find_only(model, entry->rank, entry->site->task)))
            return true;
    }
    return false;
}

/* First those of which some sites have called more than others. Then those that all have called,
 * if a task waits that the first ones do not explain. */
static cohort_status find_comms(struct status_model *model)
{
    const struct status_index *index = model->index;
    struct range range;
    cohort_status status = allocate_comms(model);
    for (uint32_t i = 0; i < index->num_sites && !status; i += range.num) {
        range = next_range(index, i);
        if (is_incomplete(&range))
            status = add_comm(model, &range);
    }
    if (status)
        return status;
    order_comms(model);
    for (uint32_t i = 0; i < index->num_sites && !status; i += range.num) {
        range = next_range(index, i);
        if (!is_incomplete(&range) && range.highest > 0 && has_unexplained(model, &range))
            status = add_comm(model, &range);
    }
    order_comms(model);
    return status;
}

/* Whether sites of COMM go on without it: what is missing in it is of a call that has failed. */
static bool is_given_up(const struct status_model *model, const struct status_comm *comm)
{
    if (comm->num_waiting > 0)
        return false;
    for (uint32_t i = 0; i < model->num_creations; i++)
        if (model->creations[i].parent == comm->instance)
            return true;
    return has_dead(comm);
}

static void drop_given_up(struct status_model *model)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < model->num_comms; i++)
        if (is_given_up(model, &model->comms[i]))
            free(model->comms[i].missing);
        else
            model->comms[kept++] = model->comms[i];
    model->num_comms = kept;
    order_comms(model);
}

static void find_namesakes(struct status_model *model)
{
    for (uint32_t i = 0; i < model->num_comms; i++)
        for (uint32_t k = 0; k < model->index->num_groups; k++)
            model->comms[i].is_ambiguous |=
                model->index->groups[k]->instance != model->comms[i].instance &&
                strcmp(model->index->groups[k]->name, model->comms[i].name) == 0;
}

/* Communicators that are being created ------------------------------------------------------- */

/* For so many creations a name like theirs is looked for, among so many. */
enum { MAX_NAMELESS = 64, MAX_NAMES = 4096 };

struct joined {
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

static int compare_joined(const void *left, const void *right)
{
    const struct joined *a = left, *b = right;
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

/* The join that has FUTURE in locality RANK. NULL: none. */
static const struct status_future *find_future(const struct status_index *index, uint32_t rank,
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
                    ? find_future(index, rank, wait->what)
                    : NULL;
            if (future)
                future->join->wait = wait;
        }
    }
}

/* The joins of one creation: the first NUM of ENTRIES. */
static cohort_status fill_creation(struct status_index *index, struct status_creation *creation,
                                   const struct joined *entries, uint32_t num)
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

static cohort_status group_joins(struct status_model *model, struct joined *entries, uint32_t num)
{
    cohort_status status = COHORT_OK;
    qsort(entries, num, sizeof(*entries), compare_joined);
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
    const struct cohort__group_line *group = find_group(index, creation->parent);
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
            creation->missing[creation->num_missing++] = describe_site(model->job, &entries[i]);
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

static cohort_status find_creations(struct status_model *model)
{
    const struct status_job *job = model->job;
    uint32_t num = 0;
    for (uint32_t rank = 0; rank < job->num; rank++)
        num += job->localities[rank].look ? job->localities[rank].look->num_joins : 0;
    struct joined *entries = status_allocate(num, sizeof(*entries));
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
            entries[num++] = (struct joined){rank, &look->joins[i]};
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

static void free_creations(struct status_model *model)
{
    for (uint32_t i = 0; i < model->num_creations; i++) {
        free(model->creations[i].joins);
        free(model->creations[i].returned);
        free(model->creations[i].missing);
    }
    free(model->creations);
}

/* Groups ------------------------------------------------------------------------------------- */

/* A wait, by places that are the same in all processes. */
struct place {
    const struct cohort__module_line *module; /* that the caller is in; NULL: none */
    uint64_t caller;                          /* in its file */
    uint64_t function;
    uint32_t rank;
    const struct look_wait *wait;
};

/* Other hosts may have other files at the same path. */
static int compare_modules(const struct cohort__module_line *a, const struct cohort__module_line *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    int result = strcmp(a->path, b->path);
    return result ? result : memcmp(a->build_id, b->build_id, sizeof(a->build_id));
}

static int compare_places(const struct place *a, const struct place *b)
{
    int result = order(a->caller, b->caller);
    if (result == 0)
        result = order(a->function, b->function);
    if (result == 0)
        result = order(a->wait->kind, b->wait->kind);
    return result ? result : compare_modules(a->module, b->module);
}

static int compare_placed(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    int result = compare_places(a, b);
    return result ? result : order(a->rank, b->rank);
}

static int compare_sizes(const void *left, const void *right)
{
    const struct status_group *a = left, *b = right;
    int result = order(b->num, a->num);
    return result ? result : order(b->age, a->age);
}

static struct place make_place(const struct look *look, uint32_t rank, const struct look_wait *wait)
{
    const struct cohort__module_line *caller = look_find_module(look, wait->caller);
    const struct cohort__module_line *function = look_find_module(look, wait->function);
    return (struct place){.module = caller,
                          .caller = wait->caller - (caller ? caller->bias : 0),
                          .function = wait->function - (function ? function->bias : 0),
                          .rank = rank,
                          .wait = wait};
}

static void merge(struct status_model *model, const struct place *places, uint32_t num)
{
    struct status_group *group = NULL;
    for (uint32_t i = 0; i < num; i++) {
        const struct place *place = &places[i];
        const bool is_new = i == 0 || compare_places(place, place - 1) != 0;
        if (is_new) {
            group = &model->groups[model->num_groups++];
            *group = (struct status_group){.rank = place->rank, .wait = place->wait};
        }
        group->num++;
        group->num_localities += is_new || place->rank != place[-1].rank;
        group->age = place->wait->age > group->age ? place->wait->age : group->age;
    }
    qsort(model->groups, model->num_groups, sizeof(*model->groups), compare_sizes);
}

static cohort_status find_groups(struct status_model *model)
{
    const struct status_job *job = model->job;
    uint32_t num = 0;
    for (uint32_t rank = 0; rank < job->num; rank++)
        num += job->localities[rank].look ? job->localities[rank].look->num_waits : 0;
    struct place *places = status_allocate(num, sizeof(*places));
    model->groups = status_allocate(num, sizeof(*model->groups));
    if (!places || !model->groups) {
        free(places);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    }
    num = 0;
    for (uint32_t rank = 0; rank < job->num; rank++) {
        const struct look *look = job->localities[rank].look;
        for (uint32_t i = 0; look && i < look->num_waits; i++)
            if (look->waits[i].kind != COHORT__WAIT_YIELD) /* they run */
                places[num++] = make_place(look, rank, &look->waits[i]);
    }
    qsort(places, num, sizeof(*places), compare_placed);
    merge(model, places, num);
    free(places);
    return COHORT_OK;
}

/* The model ---------------------------------------------------------------------------------- */

cohort_status status_model_create(struct status_model **ret_model, const struct status_job *job)
{
    struct status_model *model = status_allocate(1, sizeof(*model));
    if (!model)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    model->job = job;
    cohort_status status = make_index(model);
    if (!status)
        status = find_comms(model);
    if (!status)
        status = find_creations(model);
    if (!status)
        drop_given_up(model);
    if (!status)
        status = find_groups(model);
    if (!status)
        status = status_find_cycles(model);
    if (status) {
        status_model_destroy(model);
        return status;
    }
    find_namesakes(model);
    *ret_model = model;
    return COHORT_OK;
}

void status_model_destroy(struct status_model *model)
{
    if (!model)
        return;
    for (uint32_t i = 0; i < model->num_comms; i++)
        free(model->comms[i].missing);
    free(model->comms);
    free_creations(model);
    free(model->groups);
    free(model->cycles);
    if (model->index) {
        free(model->index->sites);
        free(model->index->by_task);
        free(model->index->groups);
        free(model->index->futures);
        free(model->index->comms);
    }
    free(model->index);
    free(model);
}

static const struct status_entry *find_site(const struct status_index *index, uint64_t instance,
                                            uint32_t site)
{
    const struct cohort__site_line wanted = {.instance = instance, .site = site};
    const struct status_entry key = {.site = &wanted};
    return bsearch(&key, index->sites, index->num_sites, sizeof(key), compare_sites);
}

/* The task of the site that a get or a set waits for: the one that has called last there. */
static void find_peer(const struct status_model *model, struct status_target *target)
{
    const struct look_pending *pending = target->pending;
    const struct status_entry *entry =
        pending->peer != UINT32_MAX ? find_site(model->index, pending->instance, pending->peer)
                                    : NULL;
    if (!entry)
        return;
    const struct look *look = model->job->localities[entry->rank].look;
    target->has_peer = true;
    target->peer = (struct status_task){entry->rank, look_find_wait(look, entry->site->task)};
}

/* Whether PEER's locality has a get that SET may end by, whoever waits for that: so it may end
 * though all tasks there wait. */
static bool may_be_got(const struct status_model *model, const struct look_pending *set,
                       struct status_task peer)
{
    const struct look *look = model->job->localities[peer.rank].look;
    for (uint32_t i = 0; i < look->num_pendings; i++) {
        const struct look_pending *other = &look->pendings[i];
        const bool is_there = other->instance == set->instance && other->site == set->peer;
        const bool is_for_it = other->kind == COHORT__WAIT_GET && other->number == set->number &&
                               (other->peer == set->site || other->peer == UINT32_MAX);
        if (is_there && (other->has_more || is_for_it))
            return true;
    }
    return false;
}

/* Whether the peer of a get or a set can keep it from ending. */
static bool needs_peer(const struct status_model *model, const struct status_target *target)
{
    const struct look_pending *pending = target->pending;
    return pending->kind == COHORT__WAIT_SET
               ? pending->needs_all && !may_be_got(model, pending, target->peer)
               : !pending->has_come;
}

/* The task of the other locality that works on the call. */
static void find_serving(const struct status_model *model, uint32_t rank,
                         struct status_target *target)
{
    const struct look_pending *pending = target->pending;
    const struct look *look =
        pending->peer < model->job->num ? model->job->localities[pending->peer].look : NULL;
    if (look)
        target->serving =
            (struct status_task){pending->peer, look_find_serving(look, rank, pending->number)};
}

/* A call that is known waits for those that are missing in its generation or an earlier one. */
static const struct status_comm *find_awaited(const struct status_model *model,
                                              const struct look_pending *pending)
{
    const struct status_comm *comm = find_comm(model->index, pending->instance);
    return comm && comm->generation <= pending->number ? comm : NULL;
}

struct status_target status_model_target(const struct status_model *model, struct status_task task)
{
    struct status_target target = {0};
    const struct look_wait *wait = task.wait;
    const struct cohort__group_line *group = NULL;
    const struct status_future *future = NULL;
    target.pending = look_find_pending(model->job->localities[task.rank].look, wait);
    if (target.pending && wait->kind != COHORT__WAIT_REMOTE)
        group = find_group(model->index, target.pending->instance);
    if (target.pending && wait->kind == COHORT__WAIT_REMOTE)
        find_serving(model, task.rank, &target);
    else if (target.pending && wait->kind != COHORT__WAIT_COLLECTIVE)
        find_peer(model, &target);
    else if (wait->kind == COHORT__WAIT_COLLECTIVE)
        target.comm = target.pending ? find_awaited(model, target.pending)
                                     : find_only(model, task.rank, wait->task);
    else if (wait->kind == COHORT__WAIT_TASK || wait->kind == COHORT__WAIT_MUTEX)
        target.task = wait->what;
    else if (wait->kind == COHORT__WAIT_SEVERAL)
        target.inputs = look_find_inputs(model->job->localities[task.rank].look, wait);
    else if (wait->kind == COHORT__WAIT_PLAIN || wait->kind == COHORT__WAIT_CREATION)
        future = find_future(model->index, task.rank, wait->what);
    target.creation = future ? future->creation : NULL;
    target.name = group ? group->name : target.comm ? target.comm->name : NULL;
    return target;
}

/* Those that have not called what TARGET, a collective, is. A call that may end without some of
 * them goes on unless all are stuck. */
static uint64_t follow_missing(const struct status_model *model, const struct status_target *target,
                               status_visit_edge *visit, void *context)
{
    const struct status_comm *comm = target->comm;
    const struct look_pending *pending = target->pending;
    const uint64_t generation = pending ? pending->number : comm->generation;
    uint32_t num, num_sites = 0, num_visited = 0;
    const struct status_entry *entries = status_find_sites(model->index, comm->instance, &num);
    for (uint32_t i = 0; i < num; i++)
        if (model->job->localities[entries[i].rank].end)
            return 0; /* it fails */
    for (uint32_t i = 0; i < num; i++) {
        if (i > 0 && entries[i].site->site == entries[i - 1].site->site)
            continue;
        num_sites++;
        if (entries[i].site->last_called >= generation)
            continue;
        const struct status_site site = describe_site(model->job, &entries[i]);
        visit(context, &(struct status_edge){{site.rank, site.wait}, true});
        num_visited++;
    }
    if (pending && pending->needs_all)
        return 1;
    return num_sites == comm->num_sites ? num_visited : 0;
}

static uint64_t follow_survivors(const struct status_creation *creation, status_visit_edge *visit,
                                 void *context)
{
    for (uint32_t i = 0; i < creation->num_missing; i++) {
        const struct status_site *site = &creation->missing[i];
        visit(context, &(struct status_edge){{site->rank, site->wait}, true});
    }
    return 1;
}

/* A combinator can't go on if fewer of its inputs may end than it wants; a scope or a range ends
 * with the last of its tasks. */
static uint64_t follow_inputs(const struct status_model *model, uint32_t rank,
                              const struct look_inputs *inputs, status_visit_edge *visit,
                              void *context)
{
    const struct look *look = model->job->localities[rank].look;
    for (uint32_t i = 0; i < inputs->num_listed; i++)
        visit(context, &(struct status_edge){{rank, &look->listed[inputs->first + i]}, false});
    for (uint32_t i = 0; inputs->scope && i < look->num_waits; i++)
        if (look->waits[i].scope == inputs->scope || look->waits[i].range == inputs->scope)
            visit(context, &(struct status_edge){{rank, &look->waits[i]}, false});
    return inputs->wanted <= inputs->num ? inputs->num - inputs->wanted + 1 : 0;
}

uint64_t status_follow(const struct status_model *model, struct status_task task,
                       status_visit_edge *visit, void *context)
{
    const struct status_target target = status_model_target(model, task);
    struct status_edge only = {.task = target.serving};
    if (target.comm)
        return follow_missing(model, &target, visit, context);
    if (target.creation && target.creation->parent)
        return follow_survivors(target.creation, visit, context);
    if (target.inputs)
        return follow_inputs(model, task.rank, target.inputs, visit, context);
    if (target.has_peer && needs_peer(model, &target))
        only = (struct status_edge){target.peer, true};
    else if (target.task)
        only.task = (struct status_task){
            task.rank, look_find_wait(model->job->localities[task.rank].look, target.task)};
    /* One that waits since then may be another one, in the memory of one that was seen and has
     * ended. */
    if (target.task && only.task.wait && only.task.wait->age < task.wait->seen)
        return 0;
    if (!only.task.wait && !only.is_site)
        return 0;
    visit(context, &only);
    return 1;
}
