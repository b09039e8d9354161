/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: what all waits come to, by locality, task and collective. */
#include "tools/trace/sums.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/base/ledger_format.h"
#include "tools/trace/keyed.h"
#include "tools/trace/absent.h"

/* Which element of a list is meant by two numbers. */
struct place {
    struct keyed keyed;
    uint32_t at;
};

struct summing {
    struct sums *sums;
    const struct model *model;
    const struct sums_options *options;
    const struct wait *wait;
    struct cohort__map pairs, tasks, calls, absent;
    bool has_failed;
};

/* The place of a new or an old element in *LIST of *NUM. NULL: no memory. */
static void *element(struct summing *summing, struct cohort__map *map, uint64_t first,
                     uint64_t second, void **list, uint32_t *num, size_t bytes, bool *ret_is_new)
{
    struct place *place = keyed_get(map, sizeof(*place), first, second, ret_is_new);
    if (place && !*ret_is_new)
        return (char *)*list + place->at * bytes;
    if (place && (*num & (*num - 1)) == 0) {
        void *larger = realloc(*list, (*num ? 2 * (size_t)*num : 1) * bytes);
        *list = larger ? larger : *list;
        place = larger ? place : NULL;
    }
    if (!place) {
        summing->has_failed = true;
        return NULL;
    }
    place->at = (*num)++;
    return memset((char *)*list + place->at * bytes, 0, bytes);
}

static struct sum_pair *pair_of(struct summing *summing, uint32_t maker, uint32_t waiter)
{
    bool is_new;
    void *list = summing->sums->pairs;
    struct sum_pair *pair = element(summing, &summing->pairs, maker, waiter, &list,
                                    &summing->sums->num_pairs, sizeof(*pair), &is_new);
    summing->sums->pairs = list;
    if (pair && is_new)
        *pair = (struct sum_pair){.maker = maker, .waiter = waiter};
    return pair;
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0;
    for (; *text; text++)
        hash = cohort__hash_mix(hash, (unsigned char)*text);
    return hash;
}

/* Names that are equal in two localities are the same text only by chance. */
static struct sum_task *task_of(struct summing *summing, uint32_t number)
{
    bool is_new;
    const struct task *task = &summing->model->tasks[number];
    void *list = summing->sums->tasks;
    struct sum_task *sum = element(summing, &summing->tasks, hash_text(task->function), task->rank,
                                   &list, &summing->sums->num_tasks, sizeof(*sum), &is_new);
    summing->sums->tasks = list;
    if (sum && is_new)
        *sum = (struct sum_task){.function = task->function, .rank = task->rank};
    return sum;
}

static struct sum_call *call_of(struct summing *summing, const struct generation *generation)
{
    bool is_new;
    void *list = summing->sums->calls;
    struct sum_call *sum = element(summing, &summing->calls, hash_text(generation->communicator),
                                   hash_text(generation->name), &list, &summing->sums->num_calls,
                                   sizeof(*sum), &is_new);
    summing->sums->calls = list;
    if (!sum || !is_new)
        return sum;
    *sum = (struct sum_call){.communicator = generation->communicator,
                             .name = generation->name,
                             .last_site = NONE,
                             .num_sites = generation->num_sites};
    sum->lasts = calloc(generation->num_sites ? generation->num_sites : 1, sizeof(*sum->lasts));
    summing->has_failed |= !sum->lasts;
    return sum;
}

static void add_absent(struct summing *summing, uint32_t call, uint32_t site, uint64_t ns)
{
    bool is_new;
    const struct model *model = summing->model;
    struct sums *sums = summing->sums;
    const struct generation *generation = &model->generations[model->calls[call].generation];
    const struct sum_call *of = call_of(summing, generation);
    if (!of)
        return;
    void *list = sums->absent;
    struct sum_absent *sum = element(summing, &summing->absent, (uint64_t)(of - sums->calls), site,
                                     &list, &sums->num_absent, sizeof(*sum), &is_new);
    sums->absent = list;
    if (!sum)
        return;
    uint64_t number = generation->number;
    if (is_new)
        *sum = (struct sum_absent){generation->communicator,
                                   generation->name,
                                   site,
                                   model_rank(model, call, site),
                                   number,
                                   number,
                                   0};
    sum->first = number < sum->first ? number : sum->first;
    sum->last = number > sum->last ? number : sum->last;
    sum->ns += ns;
}

/* The lowest one that has never called is charged, and all are named. */
static void add_missing(struct summing *summing, const struct blame *blame, uint64_t ns)
{
    const struct model *model = summing->model;
    uint32_t maker = model_rank(model, blame->lacks, blame->site);
    struct sum_pair *pair = maker == NONE ? NULL : pair_of(summing, maker, summing->wait->rank);
    if (pair)
        pair->ns += ns;
    for (uint32_t site = blame->site; site != NONE && !summing->has_failed;
         site = absent_next(model, blame->lacks, site + 1))
        add_absent(summing, blame->lacks, site, ns);
}

/* How much of what begins at BEGIN and ends at END is to be summed up. */
static uint64_t within(const struct summing *summing, uint64_t begin, uint64_t end)
{
    uint64_t from = summing->options->from, to = summing->options->to;
    begin = begin > from ? begin : from;
    end = end < to ? end : to;
    return end > begin ? end - begin : 0;
}

static void add_task(struct summing *summing, const struct blame *blame, uint64_t ns)
{
    uint32_t maker = summing->model->tasks[blame->task].rank, waiter = summing->wait->rank;
    struct sum_pair *pair = pair_of(summing, maker, waiter);
    struct sum_task *task = task_of(summing, blame->task);
    if (pair)
        pair->ns += ns;
    if (task)
        task->made += ns;
    if (maker == waiter)
        summing->sums->by_own += ns;
}

static void add(void *context, const struct blame *blame)
{
    struct summing *summing = context;
    uint64_t ns = within(summing, blame->at, blame->at + blame->ns);
    if (ns == 0)
        return;
    summing->sums->by[blame->kind] += ns;
    if (blame->kind == BLAME_TASK)
        add_task(summing, blame, ns);
    if (blame->kind == BLAME_MISSING)
        add_missing(summing, blame, ns);
    if (blame->call == NONE)
        return;
    const struct call *call = &summing->model->calls[blame->call];
    struct sum_call *sum = call_of(summing, &summing->model->generations[call->generation]);
    if (sum && (blame->kind == BLAME_TASK || blame->kind == BLAME_MISSING))
        sum->late += ns;
    else if (sum && blame->kind == BLAME_OPERATION)
        sum->operation += ns;
}

/* A yield waits for nothing. */
static void add_waits(struct summing *summing)
{
    const struct model *model = summing->model;
    for (uint32_t i = 0; i < model->num_waits && !summing->has_failed; i++) {
        const struct wait *wait = summing->wait = &model->waits[i];
        uint64_t ns = within(summing, wait->begin, wait->end);
        if (wait->what == COHORT__WAIT_YIELD || ns == 0)
            continue;
        struct sum_task *task = wait->task == NONE ? NULL : task_of(summing, wait->task);
        if (task)
            task->waited += ns;
        summing->sums->waited += ns;
        blame_wait(model, i, summing->options->directly, add, summing);
    }
}

/* Nobody was the last one if a site that was waited for has never called, or has called without the
 * block that was waited for. */
static bool has_last(const struct model *model, const struct generation *generation)
{
    const bool is_whole = generation->num_calls >= generation->num_sites;
    for (uint32_t i = 0; i < generation->num_calls; i++) {
        const uint32_t number = generation->calls[i];
        const struct call *call = &model->calls[number];
        const uint64_t end = call->ended ? call->ended : model->end;
        if ((call->ended == 0 || call->has_failed) &&
            (!is_whole || absent_sender(model, number, end) != NONE))
            return false;
    }
    return true;
}

/* All of which a call lies in the time to be summed up, or the first one before and the last one
 * behind it. */
static void add_generations(struct summing *summing)
{
    const struct model *model = summing->model;
    for (uint32_t i = 0; i < model->num_generations && !summing->has_failed; i++) {
        const struct generation *generation = &model->generations[i];
        if (generation->num_calls == 0)
            continue;
        const struct call *first = &model->calls[generation->calls[0]],
                          *last_call = &model->calls[generation->calls[generation->num_calls - 1]];
        if (first->at > summing->options->to || last_call->at < summing->options->from)
            continue;
        struct sum_call *sum = call_of(summing, generation);
        if (!sum || summing->has_failed)
            continue;
        uint32_t last = last_call->site;
        sum->num++;
        if (has_last(model, generation) && last < sum->num_sites &&
            ++sum->lasts[last] > sum->num_last) {
            sum->num_last = sum->lasts[last];
            sum->last_site = last;
        }
    }
}

static int by_pair(const void *left, const void *right)
{
    const struct sum_pair *a = left, *b = right;
    return a->ns != b->ns         ? (a->ns < b->ns) - (a->ns > b->ns)
           : a->maker != b->maker ? (a->maker > b->maker) - (a->maker < b->maker)
                                  : (a->waiter > b->waiter) - (a->waiter < b->waiter);
}

static int by_task(const void *left, const void *right)
{
    const struct sum_task *a = left, *b = right;
    uint64_t of_a = a->made + a->waited / 1000, of_b = b->made + b->waited / 1000;
    return of_a != of_b ? (of_a < of_b) - (of_a > of_b) : (a->rank > b->rank) - (a->rank < b->rank);
}

static int by_call(const void *left, const void *right)
{
    const struct sum_call *a = left, *b = right;
    uint64_t of_a = a->late + a->operation, of_b = b->late + b->operation;
    return of_a != of_b ? (of_a < of_b) - (of_a > of_b) : (a->num < b->num) - (a->num > b->num);
}

static int by_absent(const void *left, const void *right)
{
    const struct sum_absent *a = left, *b = right;
    return a->ns != b->ns ? (a->ns < b->ns) - (a->ns > b->ns)
                          : (a->site > b->site) - (a->site < b->site);
}

cohort_status sums_init(struct sums *sums, const struct model *model,
                        const struct sums_options *options)
{
    struct summing summing = {.sums = sums, .model = model, .options = options};
    *sums = (struct sums){0};
    cohort__map_init(&summing.pairs);
    cohort__map_init(&summing.tasks);
    cohort__map_init(&summing.calls);
    cohort__map_init(&summing.absent);
    add_waits(&summing);
    add_generations(&summing);
    keyed_free(&summing.pairs);
    keyed_free(&summing.tasks);
    keyed_free(&summing.calls);
    keyed_free(&summing.absent);
    if (summing.has_failed) {
        sums_fini(sums);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the sums");
    }
    if (sums->num_pairs > 0)
        qsort(sums->pairs, sums->num_pairs, sizeof(*sums->pairs), by_pair);
    if (sums->num_tasks > 0)
        qsort(sums->tasks, sums->num_tasks, sizeof(*sums->tasks), by_task);
    if (sums->num_calls > 0)
        qsort(sums->calls, sums->num_calls, sizeof(*sums->calls), by_call);
    if (sums->num_absent > 0)
        qsort(sums->absent, sums->num_absent, sizeof(*sums->absent), by_absent);
    return COHORT_OK;
}

void sums_fini(struct sums *sums)
{
    for (uint32_t i = 0; i < sums->num_calls; i++)
        free(sums->calls[i].lasts);
    free(sums->pairs);
    free(sums->tasks);
    free(sums->calls);
    free(sums->absent);
    *sums = (struct sums){0};
}
